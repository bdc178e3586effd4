"""The names of the columns of results, written down in one place, and words that several results say.

An estimated number takes four columns: its value, its standard error and the limits of its interval, which carry the
level: ``estimate``, ``std_error``, ``low_95``, ``high_95``. Where a row holds several numbers, a prefix tells them apart:
``proportion``, ``proportion_std_error``, ``proportion_low_95``, ``proportion_high_95``. Limits that hold on
average over cells say so: ``low_95_on_average_over_cells``. A last column, ``flag``, has what must be said
of a row; where its numbers need flags of their own (SQL), each has one: ``count_flag``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from .._schema import MISSING_LABEL


class Columns(NamedTuple):
    """The four columns of an estimated number."""

    value: str
    std_error: str
    low: str
    high: str

    @classmethod
    def of(cls, value: str, level: float, *, prefix: str = "") -> Columns:
        """The columns of the number called ``value``; ``prefix`` stands before the names of the other three."""
        limits = (f"{prefix}{end}_{percent(level)}" for end in ("low", "high"))
        return cls(value, f"{prefix}std_error", *limits)

    @classmethod
    def named(cls, name: str, level: float) -> Columns:
        """The columns of one of several numbers: all four begin with its name."""
        return cls.of(name, level, prefix=f"{name}_")

    @property
    def flag(self) -> str:
        """The name of a column of flags that belong to this number alone."""
        return f"{self.std_error.removesuffix('std_error')}flag"


def average_columns(level: float) -> tuple[str, str]:
    """The names of the limits that hold on average over cells."""
    low, high = (f"{end}_{percent(level)}_on_average_over_cells" for end in ("low", "high"))
    return low, high


def percent(level: float) -> str:
    """A level as people write it: 0.95 is 95."""
    return f"{100 * level:g}"


def interval_title(level: float) -> str:
    """The title of a column of intervals in a table for people to read."""
    return f"{percent(level)}% interval"


def free_names(names: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """Names of columns that do not collide with those of results: an underscore is added where they would."""
    columns: dict[str, str] = {}
    for name in names:
        free = name
        while free in taken or free in columns.values():
            free += "_"
        columns[name] = free
    return columns


def merged_remark(merged: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """Which values were put together, in a few words: the labels of groups by attribute, and values that count as missing."""
    groups = {name: [label for label in found if label != MISSING_LABEL] for name, found in merged.items()}
    absent = {name: found[MISSING_LABEL] for name, found in merged.items() if MISSING_LABEL in found}
    parts = []
    for words, listed in (("merged", groups), ("counted as missing", absent)):
        named = [f"{name} ({', '.join(values)})" for name, values in listed.items() if values]
        parts += [f"{words}: {', '.join(named)}"] if named else []
    return "; ".join(parts)


def sentence(words: str) -> str:
    """A few words as a sentence of their own; nothing stays nothing."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""
