"""Does a column look as if it named persons? By its name, or by how its values are written.

Only a person can say what a number stands for: a case, a visit and a form have numbers too, and
3,000 admissions of 1,000 patients have 3,000 different ones. So nothing here gives a column a role.
What is found becomes a warning: a column without repetitions may be the id that shows one row per
person, and one with repetitions may show that rows are not persons.
"""

from __future__ import annotations

import re

import polars as pl

from .infer import Column

_IDS = frozenset(("id", "pid", "uid", "uuid", "guid", "ssn", "mrn", "bsn", "nhs"))
_PERSONS = frozenset(
    (
        *("person", "patient", "client", "customer", "citizen", "subject", "participant", "respondent", "proband"),
        *("member", "employee", "student", "pupil", "user", "insured", "taxpayer", "inhabitant", "resident"),
    )
)
_NUMBERS = frozenset(("nr", "no", "num", "number", "nummer", "code", "key", "ref"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_FEW = 50
"""A column with more different values than this is no classification that everybody shares."""
_MEAN_REPEATS = 20
"""Persons have a few rows each; values that come more often than this on average are no persons."""
_DIGITS = 5
"""Whole numbers of at least so many digits, all of one length, look like assigned numbers."""


def may_be_persons(column: Column) -> bool:
    """Whether a column with repetitions looks as if its values named persons: "id", "patient", "Customer No"."""
    size = len(column.values)
    if column.type not in ("text", "integer") or size < 3:
        return False
    words = {word.casefold() for word in _WORD.findall(column.name)}
    if words & _IDS:
        return True
    if words & _PERSONS and words <= _PERSONS | _NUMBERS:
        return size > _FEW or _MEAN_REPEATS * size >= column.rows
    return size > _FEW and _MEAN_REPEATS * size >= 2 * column.rows and _written_alike(column)


def _written_alike(column: Column) -> bool:
    """Whether values are all as long as each other and have digits, as numbers that somebody assigned."""
    texts = column.values.cast(pl.String)
    if texts.str.len_chars().n_unique() != 1:
        return False
    if column.type == "integer":
        return bool(texts.str.contains(f"^[0-9]{{{_DIGITS},}}$").all())
    return bool(texts.str.contains("[0-9]").all())
