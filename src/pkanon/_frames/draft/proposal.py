"""What is proposed for one column: values, no entry, or no role until a person gives one.

First come the reasons why a column gets no role; only then its values are looked at, so those of such a
column are in no attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._schema import RARE_VALUES, Attribute
from ..border import rows
from ..read import Source
from .domains import MOST_LISTED, domain, merging
from .finding import Finding
from .identity import come_again, identity
from .infer import Column, Seen, Untyped, typed
from .labelled import labelled
from .personal import RARE, is_contact, personal, points_to_persons, rare, seldom_shared
from .words import survey_weight
from .writing import TIMES, Habits

_NOUNS = {
    "text": "texts",
    "integer": "whole numbers",
    "number": "numbers",
    "boolean": "truth values",
    "date": "dates",
}
_DECLARED = {"list": "listed", "range": "a range"}


@dataclass(frozen=True)
class DraftedColumn:
    """What a draft did to one column, in words that contain no value.

    Attributes
    ----------
    name
        The name of the column.
    drafted_as
        ``list``, ``range``, ``bins``, ``undecided`` or ``dropped``.
    size
        How many values or bins were proposed; 0 where none were.
    note
        What was done, and why.
    warning
        What somebody must look into, in a few words; empty if there is nothing.
    written
        How a text file writes it, where that is not 2024-12-31 and 1234.5; else empty.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> draft = pk.draft_schema(pl.DataFrame({"sex": ["F", "M"] * 10, "remark": ["called twice", None] * 10}))
    >>> [(column.name, column.drafted_as, column.size, column.warning) for column in draft.columns]
    [('sex', 'list', 2, ''), ('remark', 'undecided', 0, 'looks like free text')]
    """

    name: str
    drafted_as: str
    size: int
    note: str
    warning: str = ""
    written: str = ""


@dataclass(frozen=True)
class Proposal:
    """What becomes of a column; no attribute: it has no entry and is dropped. ``type``: None if it has none."""

    drafted: DraftedColumn
    attribute: Attribute | None
    type: str | None
    findings: tuple[Finding, ...] = ()


def proposal(source: Source, column: Seen, file: Habits) -> Proposal:
    """What becomes of a column of a file with these habits."""
    by_label = labelled(source, column)
    if isinstance(by_label, Finding):
        return _undecided(column.name, by_label, "text")
    if by_label is not None:
        attribute, note = by_label
        size = attribute.size - (attribute.missing == "value")
        return Proposal(DraftedColumn(column.name, "list", size, note), attribute, None)
    found = typed(column, file)
    if isinstance(found, Untyped):
        if not found.undecided:
            return _dropped(column.name, found.reason, None)
        unclear = Finding(
            found.reason,
            f"holds {found.reason}: the data do not show which. Set its type, its bins and how it is written.",
        )
        return _undecided(column.name, unclear, "date")
    size = len(found.values)
    if size == 0:
        return _dropped(found.name, "no values", found.type)
    if size == 1 and not found.missing:
        return _dropped(found.name, "the same value in every row", found.type)
    if finding := _seems(found):
        return _undecided(found.name, finding, found.type, found.type)
    if finding := personal(found) or identity(found) or seldom_shared(found):
        more = come_again(found, own=is_contact(finding)) if points_to_persons(found, finding) else None
        return _undecided(found.name, finding, found.type, found.type, more)
    return _declared(found)


def _dropped(name: str, reason: str, kind: str | None) -> Proposal:
    return Proposal(DraftedColumn(name, "dropped", 0, f"{reason}: dropped"), None, kind)


def _undecided(name: str, finding: Finding, kind: str, declared: str = "text", more: Finding | None = None) -> Proposal:
    findings = (finding,) if more is None else (finding, more)
    short = "; ".join(each.short for each in findings)
    drafted = DraftedColumn(name, "undecided", 0, f"{short}: undecided", short)
    return Proposal(drafted, Attribute(name, role="undecided", type=declared), kind, findings)


def _seems(column: Column) -> Finding | None:
    """Texts that somebody could make dates or numbers."""
    if column.seems is None or len(column.values) <= MOST_LISTED:
        return None
    if column.seems == TIMES:
        return Finding(
            TIMES,
            f'seems to hold {TIMES}: set type = "date", its bins and date_format, such as "%Y-%m-%d %H:%M" or '
            '"%d.%m.%Y %H:%M"; the time is left out. Or drop it.',
        )
    return Finding(column.seems, f"seems to hold {column.seems}: mend or convert them in the table, or drop it.")


def _declared(column: Column) -> Proposal:
    merged = merging(column)
    size = len(merged.column.values)
    found = f"{size:,} different {_NOUNS[column.type] if size > 1 else _NOUNS[column.type].removesuffix('s')}"
    declared = domain(merged)
    if declared is None:
        what = "values" if column.type == "text" else "bins"
        return _dropped(column.name, f"{found}; declare its {what} to keep it", column.type)
    attribute, how = declared
    count = attribute.size - bool(column.missing)
    note = f"{found}: {_DECLARED.get(how, f'{count} bins, open at both ends')}"
    written = "" if column.writing is None else column.writing.words()
    if written:
        note += f"; {written}"
    if column.missing_values:
        note += f"; signs for a missing value: {len(column.missing_values)}"
    if column.missing:
        note += f"; {rows(column.missing, 'have')} no value, which counts as one more value"
    findings = _doubts(merged.column, len(merged.spellings), listed=how != "bins")
    warning = "; ".join(finding.short for finding in findings)
    return Proposal(DraftedColumn(column.name, how, count, note, warning, written), attribute, column.type, findings)


def _doubts(column: Column, groups: int, *, listed: bool) -> tuple[Finding, ...]:
    """What somebody must look into about a column that has values all the same."""
    found = []
    if groups:
        found.append(
            Finding(
                f"near-equal labels: {groups}",
                f"has labels that differ in capitals or blanks only (groups of them: {groups}). They are merged; see that they "
                "mean the same.",
            )
        )
    if column.apart and column.missing_values:
        found.append(
            Finding(
                f"signs for missing: {column.apart}",
                f"holds numbers that stand apart ({column.apart}), as signs for a missing value do. They are in missing_values; see "
                "that they mean that.",
            )
        )
    elif column.apart:
        found.append(
            Finding(
                "a sign for missing?",
                "holds a number that looks like a sign for a missing value. If it is one, make it null in the table.",
            )
        )
    if not listed and column.type in ("integer", "number") and survey_weight(column.name):
        found.append(
            Finding(
                "looks like a survey weight",
                "looks like a survey weight, and bins shift weighted totals. Declare a few points instead, such as "
                "points = [0, 200, 800], from public knowledge.",
            )
        )
    if listed and (few := rare(column)):
        found.append(
            Finding(
                f"rare values: {few}",
                f"has values that fewer than {RARE} {RARE_VALUES} ({few} of {len(column.values)}). Unless the list of values is public, "
                "merge or remove them.",
            )
        )
    return tuple(found)
