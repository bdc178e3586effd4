"""The page around the sections: head, first screen, table of contents, numbered sections, printed margins.

One file: its style is inside, it needs no script, and a policy in its head forbids the browser to load anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from .claims import answers, simulated_box, void_box
from .findings import Findings, measured_answer, misfit_box
from .markup import Html, element, paragraph, plural
from .provenance import decision
from .style import STYLE, page_lines
from .subject import Subject

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
INTERNAL = "Internal: contains results computed from the private table; do not publish"

Section = tuple[str, Html]


def page(subject: Subject, sections: Sequence[Section], *, found: Findings | None = None) -> str:
    """The whole file; ``found`` is what the internal edition measured."""
    internal = found is not None
    mark = INTERNAL if internal else "" if subject.certificate.claims else "This release claims nothing"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex") if internal else Html(""),
        element("title", subject.title),
        element("style", Html(STYLE + page_lines(mark, "Release report, pkanon"))),
    )
    body = element(
        "body",
        element("div", "INTERNAL", cls="paper", aria_hidden="true") if internal else Html(""),
        _header(subject, internal),
        element(
            "main",
            void_box(subject),
            simulated_box(subject),
            misfit_box(found) if found else Html(""),
            answers(subject, measured_answer(subject, found) if found else Html("")),
            decision(),
            _contents(sections),
            *(_section(place, section) for place, section in enumerate(sections, 1)),
        ),
        _footer(subject, internal),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _header(subject: Subject, internal: bool) -> Html:
    edition = "internal edition" if internal else "external edition, made from the release alone"
    return element(
        "header",
        paragraph(INTERNAL, cls="mark") if internal else Html(""),
        paragraph(subject.organisation, cls="office") if subject.organisation else Html(""),
        element("h1", subject.title),
        paragraph(
            f"Release report, {edition}. {plural(subject.release.rows, 'row')}, "
            f"{plural(len(subject.names), 'randomised column')}, ",
            element("span", f"{subject.certificate.date}.", cls="date"),
            cls="edition",
        ),
    )


def _contents(sections: Sequence[Section]) -> Html:
    entries = [
        element("li", element("a", title, href=f"#section-{place}")) for place, (title, _) in enumerate(sections, 1)
    ]
    return element("nav", element("h2", "Contents"), element("ol", *entries), aria_label="Contents")


def _section(place: int, section: Section) -> Html:
    title, content = section
    return element("section", element("h2", f"{place}. {title}"), content, id=f"section-{place}")


def _footer(subject: Subject, internal: bool) -> Html:
    said = (
        f"{INTERNAL}."
        if internal
        else "Everything in this report was computed from the release alone: it says nothing that the published files do not say."
    )
    return element(
        "footer",
        paragraph(said),
        paragraph(f"{subject.certificate.software}. No part of this file is loaded from a network."),
    )
