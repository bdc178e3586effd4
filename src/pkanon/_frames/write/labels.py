"""A word for missing answers: data frames that leave the package show them, so that nobody is lost in a grouping.

Other programs drop null when they group rows. A column with a word in it holds texts: numbers, dates and truth values become
their texts, in their order, and the word comes last.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from ..._errors import InputError
from ..._schema import MISSING_LABEL

OTHERWISE = "(no value)"
"""The word if the usual one is a value itself."""


def with_missing_label(frame: pl.DataFrame, columns: Iterable[str], label: str | None) -> pl.DataFrame:
    """The frame with ``label`` instead of null in these columns; None leaves null."""
    if label is None:
        return frame
    if not isinstance(label, str) or not label:
        raise InputError("The label of missing answers is a text that is not empty; None writes null.")
    return frame.with_columns([_labelled(frame[name], label) for name in columns if frame[name].null_count()])


def _labelled(column: pl.Series, label: str) -> pl.Series:
    if isinstance(column.dtype, pl.Enum):
        known = column.dtype.categories.to_list()
    else:
        known = column.drop_nulls().unique().sort().cast(pl.String).to_list()
    if label == MISSING_LABEL and label in known:
        label = OTHERWISE
    if label in known:
        raise InputError(f"'{label}' is a value of '{column.name}'; choose another label for missing answers.")
    return column.cast(pl.String).fill_null(label).cast(pl.Enum([*known, label]))
