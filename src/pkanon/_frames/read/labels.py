"""Value labels: what SPSS and Stata call the texts that a file has for the codes of a column.

They are metadata of the file, written down before anybody answered, so they may be the values of an attribute: a schema
that says text gets the labels, one that says integer or number gets the codes. A code without a label is read as its digits.
A schema that lists codes as texts, and no label, gets them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

import polars as pl

Labels: TypeAlias = Mapping[float | str, str]
"""Codes to labels, in the order of the codes."""


def as_texts(column: pl.Series, labels: Labels) -> pl.Series:
    """The labels of a column's codes."""
    if isinstance(column.dtype, pl.Null):
        return column
    plain = with_whole_numbers(column)
    digits = plain if isinstance(plain.dtype, pl.String) else plain.cast(pl.String)
    codes = pl.Series(list(labels)).cast(column.dtype)
    return column.replace_strict(codes, pl.Series(list(labels.values())), default=digits, return_dtype=pl.String)


def are_meant(labels: Labels, listed: Collection[str]) -> bool:
    """Whether a schema that lists these texts means the labels, and not the codes themselves."""
    codes = {code if isinstance(code, str) else f"{code:g}" for code in labels}
    return not codes & set(listed) or bool(set(labels.values()) & set(listed))


def labelled_texts(labels: Labels) -> list[str]:
    """The different labels, in the order of their codes."""
    return list(dict.fromkeys(labels.values()))


def all_labelled(values: pl.Series, labels: Labels) -> bool:
    """Whether every one of these codes has a label; null is no code."""
    present = values.drop_nulls()
    return bool(present.is_in(pl.Series(list(labels)).cast(values.dtype).implode()).all())


def with_whole_numbers(column: pl.Series) -> pl.Series:
    """A column of doubles as integers if all of them are whole: formats that know doubles only mean integers then."""
    if not isinstance(column.dtype, pl.Float64):
        return column
    plain = column.fill_nan(None)
    whole = (plain == plain.floor()) & (plain.abs() <= 2.0**53)
    return plain.cast(pl.Int64) if whole.all(ignore_nulls=True) else plain
