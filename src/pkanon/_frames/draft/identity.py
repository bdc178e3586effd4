"""Does a column look as if it numbered persons, or cases? By its name, or by how its values are written.

Only a person can say what a number stands for: a case, a visit and a form have numbers too, and
3,000 admissions of 1,000 patients have 3,000 different ones. So nothing here gives a column a role.
What is found becomes a warning, and the column stays undecided: one without repetitions may be the id that
shows one row per person, and one with repetitions may show that rows are not persons.
"""

from __future__ import annotations

import polars as pl

from ..._schema import PERHAPS_SEVERAL_ROWS, SEVERAL_ROWS
from .finding import Finding
from .infer import Column
from .words import CASES, IDS, NUMBERS, PERSONS, PLACES, words_in

_FEW = 50
"""A column with more different values than this is no classification that everybody shares."""
_MEAN_REPEATS = 20
"""Persons have a few rows each; values that come more often than this on average are no persons."""
_DIGITS = 5
"""Whole numbers of at least so many digits, all of one length, look like assigned numbers; texts need one digit less."""
_OFTEN = 0.1
"""Of persons, at most this share of the rows is held by those with more rows than that."""
_NEARLY_ALL = 0.98
"""A column with this share of different values looks like an id with a few repetitions."""

REPEATS = f"repeats: {SEVERAL_ROWS}"
MAY_REPEAT = "repeats: persons, or a code?"
COME_AGAIN = f"repeats: {PERHAPS_SEVERAL_ROWS}"


def identity(column: Column) -> Finding | None:
    """What somebody must look into if a column may number persons, or cases, visits, forms."""
    if column.type not in ("text", "integer"):
        return None
    words = words_in(column.name)
    if _never_twice(column):
        if words & CASES and not words & PERSONS:
            return Finding(
                "looks like a case number",
                "holds no value twice and looks like the number of a case: a case is no person, who may have several; drop it.",
            )
        return Finding(
            "different in every row",
            'holds no value twice; if it identifies persons (not cases, visits or forms), make it role = "id".',
        )
    if finding := numbered_persons(column):
        return finding
    if not words & PLACES and _written_as_numbers(column):
        return Finding(
            MAY_REPEAT,
            f"repeats, and its values are written alike, as numbers of persons are: {SEVERAL_ROWS}. If it identifies "
            'them, make it role = "id" with repeats = "one at random"; if it is a code or a measure, declare its values or bins.',
            _to_plan_for(column),
        )
    if _hardly_twice(column):
        return Finding(
            "almost unique",
            "differs in almost every row: it may be the number or name of a person with several rows (make it "
            'role = "id" with repeats = "one at random"), or a measure (declare bins).',
            _to_plan_for(column),
        )
    return None


def numbered_persons(column: Column) -> Finding | None:
    """What somebody must look into if the name of a column with repetitions says that it numbers persons."""
    if not _named_as_persons(column, words_in(column.name)):
        return None
    return Finding(
        REPEATS,
        f"repeats and looks like the number or name of a person: {SEVERAL_ROWS}. A person with g rows has g "
        'times epsilon, and no k. Make it role = "id" with repeats = "one at random" to keep one row per person.',
        _to_plan_for(column),
    )


def come_again(column: Column, *, own: bool) -> Finding | None:
    """What somebody must look into if a column that points to persons (contacts, names, texts that few rows share) repeats.

    ``own``: each value is somebody's own, such as a phone number. Others that come very often are rather those of doctors or towns.
    """
    size, present = len(column.values), column.rows - column.missing
    if size == present:
        return None
    if finding := numbered_persons(column):
        return finding
    often = int(column.counts.filter(column.counts > _MEAN_REPEATS).sum())
    if size <= _FEW or (often > _OFTEN * present and not own):
        return None
    times = "again" if own else "a few times each"
    return Finding(
        COME_AGAIN,
        f"holds values that come {times}: {PERHAPS_SEVERAL_ROWS}. Then the column that identifies them is "
        'role = "id" with repeats = "one at random".',
        _to_plan_for(column),
    )


def _to_plan_for(column: Column) -> str:
    return f"It holds {len(column.values):,} different values: with one row of each, plan for so many records."


def _never_twice(column: Column) -> bool:
    size = len(column.values)
    mostly = size > _FEW or 2 * size > column.rows  # a few answers that differ are no numbers of persons
    return size == column.rows - column.missing > 1 and mostly


def _hardly_twice(column: Column) -> bool:
    size, present = len(column.values), column.rows - column.missing
    return _FEW < size < present and size >= _NEARLY_ALL * present


def _named_as_persons(column: Column, words: frozenset[str]) -> bool:
    """Whether the name of a column with repetitions says that it numbers persons: "id", "patient", "Customer No"."""
    size, present = len(column.values), column.rows - column.missing
    if size < 3:
        return False
    seldom = _MEAN_REPEATS * size >= present
    if words & IDS:
        return words <= IDS | PERSONS | NUMBERS or seldom
    return bool(words & PERSONS) and words <= PERSONS | NUMBERS and (size > _FEW or seldom)


def _written_as_numbers(column: Column) -> bool:
    """Whether values come a few times each, are all as long as each other and have digits, as if somebody had assigned them."""
    size, present = len(column.values), column.rows - column.missing
    if size <= _FEW or _MEAN_REPEATS * size < 2 * present:
        return False
    texts = column.values.cast(pl.String)
    if texts.str.len_chars().n_unique() != 1:
        return False
    if column.type == "integer":
        return bool(texts.str.contains(f"^[0-9]{{{_DIGITS},}}$").all())
    return bool((texts.str.count_matches("[0-9]") >= _DIGITS - 1).all())
