"""What an adversary with the private table gets out of the release. For the internal edition only."""

from __future__ import annotations

from collections.abc import Sequence

from .._audit import Attack
from .drawing import share_mark, share_scale
from .markup import Html, bullets, element, label, paragraph, plural, table, together
from .subject import Subject, percent

MOST_COLUMNS = 12
"""Sets of columns whose unique rows are listed."""


def attacks(subject: Subject, found: Attack) -> Html:
    """The attack of the custodian's own side, against the promise."""
    parts = [
        paragraph(
            "The adversary of this section knows the private table and the plan; nobody else could do as well. Whose "
            "a row of the release is, nobody knows, so hits were counted in rehearsals: the table was randomised "
            "again with the same plan and fresh keys."
        ),
        paragraph(element("strong", f"{found}.")) if subject.certificate.claims else Html(""),
        table(["check", "kept", "what was found"], [[one.name, _kept(one.kept), one.text] for one in found.checks]),
        _links(subject, found),
        _guesses(subject, found),
        _classical(found),
        bullets(found.notes),
    ]
    return together(*parts)


def _kept(kept: bool) -> str:
    return "yes" if kept else "NO"


def _links(subject: Subject, found: Attack) -> Html:
    if found.links is None:
        return Html("")
    links, line = found.links, found.line if subject.certificate.claims else None
    drawn_shares = [share for one in links.bins for share in (one.hit_rate, *one.interval())]
    ends = share_scale([*drawn_shares, *([line] if line else [])])
    rows = [
        element(
            "tr",
            element("th", percent(one.stated), scope="row"),
            element("td", share_mark(one.hit_rate, *one.interval(), ends, line)),
            element("td", f"{one.rows:,}", cls="n"),
            element("td", percent(one.hit_rate), cls="n"),
        )
        for one in links.bins
    ]
    head = element(
        "tr",
        element("th", "confidence stated", scope="col"),
        element("th", "guesses that were right", scope="col"),
        element("th", "guesses", scope="col", cls="n"),
        element("th", "hit rate", scope="col", cls="n"),
    )
    drawn = element("table", element("thead", head), element("tbody", *rows), cls="bars")
    whole = links.whole
    against = f" The dashed red line is 1/k = {percent(line)}." if line else ""
    axis = (
        f" The axis goes from {percent(ends[0])} to {percent(ends[1])}, and each faint line is ten times the one before. The "
        "blue mark is the hit rate, the black line across it its 95% interval."
    )
    note = (
        f"{plural(links.rehearsals, 'rehearsal')}, {whole.rows:,} guesses, {whole.hits:,} right. In the release "
        f"itself the mean confidence of a guess is {percent(links.stated)}, the highest "
        f"{percent(links.highest)}.{axis}{against}"
    )
    return together(
        element("h3", "Whose is a row?"),
        element("figure", drawn, element("figcaption", note)),
    )


def _guesses(subject: Subject, found: Attack) -> Html:
    if not found.guesses:
        return Html("")
    claims = subject.certificate.claims
    rows = [
        [
            label(one.attribute),
            percent(one.commonest),
            percent(one.others),
            percent(one.released),
            percent(one.bound) if claims and one.bound is not None else "",
        ]
        for one in found.guesses
    ]
    return together(
        element("h3", "What is a person's answer?"),
        paragraph(
            "How often an answer is guessed by somebody who knows all others of that person: by naming the commonest "
            "value, from what is true of everybody else, and with the release. Only the last step is what the "
            "release adds."
        ),
        table(
            ["column", "commonest value", "from everybody else", "with the release", "at most"],
            rows,
            numbers=[1, 2, 3, 4],
        ),
    )


def _named(columns: Sequence[str]) -> str:
    return " x ".join(columns) if len(columns) <= 4 else f"{len(columns)} columns together"


def _classical(found: Attack) -> Html:
    alike = found.resemblance
    most = sorted(alike.uniques, key=lambda one: -one.private)[:MOST_COLUMNS]
    rows = [[label(_named(one.columns)), f"{one.private:,}", f"{one.published:,}"] for one in most]
    return together(
        element("h3", "Classical measures"),
        paragraph(
            f"{percent(alike.equal)} of the released rows equal some private row; {percent(alike.equal_independent)} "
            f"would if columns were independent, and {percent(alike.equal_private)} of the private rows equal another "
            "one. Such rows are no links: in a randomised table they also arise by chance."
        ),
        table(["unique rows on", "private", "released"], rows, numbers=[1, 2]),
    )
