"""Codes to the table that is released: columns in the order of the schema, in the declared types.

Texts and bins are polars Enums whose categories are the labels in the order of their codes, so that
codes turn into a column without touching a text. Integers are 64 bits, numbers doubles, dates days.
The code of the missing value becomes null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .._errors import DataError
from .._schema import Attribute, Codes, Schema
from .._schema.domain import Range
from .numbering import as_number

PIECE = 2**16
"""Rows decoded together on their way to a file."""

_TYPES: dict[str, tuple[type[np.generic], pl.DataType]] = {
    "integer": (np.int64, pl.Int64()),
    "number": (np.float64, pl.Float64()),
    "boolean": (np.bool_, pl.Boolean()),
    "date": (np.int32, pl.Date()),
}


def decode(schema: Schema, codes: Mapping[str, Codes], passed: pl.DataFrame | None) -> pl.DataFrame:
    """The released table of these codes; ``passed`` holds the columns that are released as they are."""
    columns = []
    for attribute in schema.attributes:
        if attribute.role == "randomise":
            columns.append(_column(attribute, codes[attribute.name]))
        elif attribute.role == "pass":
            if passed is None:
                raise DataError(f"The column '{attribute.name}' is passed on by the schema but was not given.")
            columns.append(passed[attribute.name])
    if len({len(column) for column in columns}) > 1:
        raise DataError("The columns of the table are not of one length.")
    return pl.DataFrame(columns)


def decode_pieces(schema: Schema, codes: Mapping[str, Codes], passed: pl.DataFrame | None) -> Iterator[pl.DataFrame]:
    """The released table, some rows at a time."""
    rows = max(len(column) for column in codes.values())
    for start in range(0, max(rows, 1), PIECE):
        stop = start + PIECE
        piece = {name: column[start:stop] for name, column in codes.items()}
        yield decode(schema, piece, None if passed is None else passed[start:stop])


def released_dtype(attribute: Attribute) -> pl.DataType:
    """The polars type of a randomised attribute's released column."""
    if attribute.released_type == "text":
        return pl.Enum([str(label) for label in attribute.labels() if label is not None])
    return _TYPES[attribute.released_type][1]


def _column(attribute: Attribute, codes: Codes) -> pl.Series:
    if len(codes) and int(codes.max()) >= attribute.size:
        raise DataError(f"attribute '{attribute.name}' has {attribute.size:,} codes; a larger one was given.")
    values = pl.Series(attribute.name, _values(attribute, codes))
    dtype = released_dtype(attribute)
    if attribute.missing_code is not None:
        absent = codes == attribute.missing_code
        if absent.any():
            values = values.to_frame().select(pl.when(~pl.Series(absent)).then(pl.col(attribute.name))).to_series()
    return values.cat.to(dtype) if isinstance(dtype, pl.Enum) else values.cast(dtype)


def _values(attribute: Attribute, codes: Codes) -> NDArray[np.generic]:
    """What stands in the column before its type is set; anything where the value is missing."""
    if attribute.released_type == "text":
        return codes
    stored = _TYPES[attribute.released_type][0]
    if isinstance(attribute.domain, Range):
        values = codes.astype(np.int64) + attribute.domain.low
        if attribute.other is not None:
            values[codes == attribute.other_code] = as_number(attribute.other)
        return values
    numbers = [0 if label is None else as_number(label) for label in attribute.labels()]
    return np.array(numbers, stored)[codes]
