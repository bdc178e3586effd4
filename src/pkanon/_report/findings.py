"""What the internal edition measured, for its first screen: whether the private table fits, errors, intervals, the attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._audit import Attack
from .claims import answer
from .markup import Html, bullets, element, paragraph
from .measured import Measured, held_share, summaries
from .subject import Subject, percent

LARGEST_RATIO = 8.0
"""Measured error by predicted error; if more, chance cannot be the reason: six standard errors in a column of two values."""


@dataclass(frozen=True)
class Findings:
    """What was found beside the private table: its number of ``rows``, ``tables`` against the truth, and the ``attack``.

    ``attack`` is None if none was made. ``misfit`` says why the private table is not the one that was released; "" if
    nothing speaks against it.
    """

    rows: int
    tables: Sequence[Measured]
    attack: Attack | None
    misfit: str


def findings(subject: Subject, rows: int, tables: Sequence[Measured], attack: Attack | None) -> Findings:
    """The findings, with a judgement whether the private table fits the release."""
    return Findings(rows, tables, attack, _misfit(subject, rows, tables, attack))


def fits(subject: Subject, rows: int) -> bool:
    """Whether the release can have been made of a table with so many rows."""
    return rows == subject.release.rows or subject.plan.count_noise is not None


def _misfit(subject: Subject, rows: int, tables: Sequence[Measured], attack: Attack | None) -> str:
    if not fits(subject, rows):
        return f"It has {rows:,} rows and the release has {subject.release.rows:,}."
    if attack is not None:
        return attack.misfit
    singles = [one for one in tables if len(one.reading.attributes) == 1 and one.reading.l1 > 0]
    far = max(singles, key=lambda one: one.l1 / one.reading.l1, default=None)
    if far is not None and far.l1 > LARGEST_RATIO * far.reading.l1:
        return f"The error of {far.reading.name} is {far.l1 / far.reading.l1:.0f} times the predicted one."
    return ""


def misfit_box(found: Findings) -> Html:
    """The warning above the answers; nothing if the private table fits."""
    if not found.misfit:
        return Html("")
    return element(
        "section",
        element("h2", "The private table does not fit this release."),
        paragraph(f"{found.misfit} No number of this report that was measured against it means anything."),
        cls="void",
        role="note",
    )


def measured_answer(subject: Subject, found: Findings) -> Html:
    """The fifth answer: what an attack got, and how far the estimates are from the truth."""
    question = "What did we measure against the private table?"
    if found.misfit:
        return answer(question, "It does not fit this release.", _attacked(found), style=" stop wide")
    stop = found.attack is not None and not found.attack.kept and subject.certificate.claims
    more = bullets(_errors(found.tables))
    return answer(question, _verdict(subject, found.attack), more, style=" stop wide" if stop else " wide")


def _attacked(found: Findings) -> Html:
    return paragraph("No attack was made." if found.attack is None else f"{found.attack}.", cls="more")


def _verdict(subject: Subject, attack: Attack | None) -> str:
    if attack is None:
        return "No attack was made (--no-attack)."
    failed = [one.name for one in attack.checks if not one.kept]
    if not subject.certificate.claims:
        return "An attack was made, but this release promises nothing to hold it against."
    if failed:
        return f"The attack says that the promise is NOT kept: {', '.join(failed)}."
    if attack.links is None or attack.line is None:
        return "The attack found nothing against the promise."
    return (
        "The attack found nothing against the promise: somebody with the private table named the right person for "
        f"{percent(attack.links.whole.hit_rate)} of the rows in rehearsals; at most {percent(attack.line)} is promised."
    )


def _errors(tables: Sequence[Measured]) -> list[str]:
    """How far the estimates are from the truth."""
    if not tables:
        return []
    ratios = " and ".join(f"{one.ratio:.2f} for {one.kind}" for one in summaries(tables))
    return [
        f"Measured error by predicted error: {ratios} (1 is as predicted).",
        f"{percent(held_share(tables))} of the 95% intervals hold the true number.",
    ]
