"""The way to a report: from a release to one HTML file.

The external edition is made from the release alone, so it can be published with it. The internal edition also compares with
the private table; it is marked on every page, and is never written into a release folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .._audit import attack as attack_release
from .._errors import InputError, RefusedError
from .._files import write_new
from .._frames import TextFormat, encode
from .._progress import Progress, quiet
from .._release import Release, open_release
from .attacks import attacks
from .claims import limits, promise
from .columns import columns, transitions
from .designs import designs
from .findings import Findings, findings, fits
from .measured import measure, measured
from .page import Section, page
from .provenance import provenance
from .quality import charts, readability
from .recipes import recipes
from .subject import Subject

TITLE = "Randomised microdata"
LONGEST_TEXT = 300


@dataclass(frozen=True)
class Report:
    """A report as one file of HTML.

    Attributes
    ----------
    html
        The file.
    internal
        Whether it holds results computed from the private table.
    claims
        Whether the release claims anything; if not, the report says so first.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan)
    >>> pk.report(release)
    <Report, external edition>
    """

    html: str = field(repr=False)
    internal: bool
    claims: bool

    def save(self, path: str | Path) -> None:
        """Write the report to the file ``path``, which must not exist yet.

        An internal report is not written into a release folder, and only its owner may read the file.
        """
        if self.internal:
            check_internal_place(path)
        write_new(path, self.html, confidential=self.internal)

    def __repr__(self) -> str:
        return f"<Report, {'internal' if self.internal else 'external'} edition>"


def check_internal_place(path: str | Path) -> None:
    """Refuse to put an internal report where it would be published with the release."""
    if any((folder / "datapackage.json").exists() for folder in Path(path).resolve().parents):
        raise RefusedError(
            f"{path} is inside a release folder, which is published; write the internal report somewhere else."
        )


def report(
    release: Release | str | Path,
    path: str | Path | None = None,
    *,
    private: object = None,
    attack: bool = True,
    title: str | None = None,
    organisation: str | None = None,
    contact: str | None = None,
    text: TextFormat | None = None,
    progress: Progress | None = None,
) -> Report:
    """What a release promises, what it does not, and how to use it: one HTML file, for people.

    Without ``private`` it is made from the release alone and can be published with it. With ``private`` it is the internal
    edition: it adds errors against the truth, other designs and attacks, and must not be published.

    Parameters
    ----------
    release
        A release, its folder, or the Parquet file inside.
    path
        The file to write, which must not exist yet; None writes nothing.
    private
        The private table that was released, as in :func:`release`; for the internal edition.
    attack
        Whether the internal edition attacks the release too, as :func:`attack` does; that can take minutes.
    title, organisation, contact
        What the report is called, who publishes it, and whom to ask.
    text
        Delimiter and encoding, if the private table is a text file.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    Report
        The page; its ``save`` writes it to a file.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan)
    >>> pk.report(release, title="Sex of 1,000 people", organisation="Office of Examples").html.count("</section>")
    9
    """
    progress = progress or quiet
    if path is not None and private is not None:
        check_internal_place(path)
    subject = Subject(
        *_opened(release),
        title=_text(title, "title") or TITLE,
        organisation=_text(organisation, "organisation"),
        contact=_text(contact, "contact"),
    )
    sections, found = _external(subject, progress), None
    if private is not None:
        more, found = _internal(subject, private, attack, text or TextFormat(), progress)
        sections += more
    made = Report(page(subject, sections, found=found), private is not None, subject.certificate.claims)
    if path is not None:
        made.save(path)
    return made


def _opened(release: Release | str | Path) -> tuple[Release, Path | None]:
    if isinstance(release, Release):
        return release, None
    if not isinstance(release, (str, Path)):
        raise InputError(f"A report is about a release or its folder, not an object of type {type(release).__name__}.")
    place = Path(release)
    folder = place if place.is_dir() else place.parent
    return open_release(place), folder if (folder / "datapackage.json").is_file() else None


def _text(text: str | None, what: str) -> str | None:
    if text is None or not text.strip():
        return None
    if len(text) > LONGEST_TEXT:
        raise InputError(
            f"The {what} of a report has {len(text):,} characters; {LONGEST_TEXT} fit on its first screen."
        )
    return text.strip()


def _external(subject: Subject, progress: Progress) -> list[Section]:
    return [
        ("The promise", promise(subject)),
        ("What it does not cover", limits(subject)),
        ("Columns and their values", columns(subject)),
        ("What was done to an answer", transitions(subject)),
        ("Which tables can be read", readability(subject)),
        ("The columns, reconstructed", charts(subject, progress)),
        ("How to analyse the release", recipes(subject)),
        ("Where it comes from", provenance(subject)),
    ]


def _internal(
    subject: Subject, private: object, attack: bool, text: TextFormat, progress: Progress
) -> tuple[list[Section], Findings]:
    truth = encode(private, subject.plan.schema, text=text, unrounded=True, progress=progress)
    tables = measure(subject, truth, progress)
    sections = [
        ("Internal: errors against the truth", measured(subject, truth.rows, tables)),
        ("Internal: other designs", designs(subject, progress)),
    ]
    attacked = None
    if attack and fits(subject, truth.rows):
        attacked = attack_release(private, subject.release, text=text, progress=progress)
        sections.append(("Internal: attacks", attacks(subject, attacked)))
    return sections, findings(subject, truth.rows, tables, attacked)
