"""Codes to the table that is released: columns in the order of the schema, in the declared types.

Texts and bins are polars Enums whose categories are the labels in the order of their codes, so that
codes turn into a column without touching a text. Integers are 64 bits, numbers doubles, dates days.
The code of the missing value becomes null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from ..._schema import Attribute, Codes, Range, Schema
from ..read import as_number

_TYPES: dict[str, tuple[type[np.generic], pl.DataType]] = {
    "integer": (np.int64, pl.Int64()),
    "number": (np.float64, pl.Float64()),
    "boolean": (np.bool_, pl.Boolean()),
    "date": (np.int32, pl.Date()),
}

_FEW = 10_000
"""Values of a column; loading masked arrays takes as long as a list of as many."""
_OF_NUMPY: dict[np.dtype[Any], pl.DataType] = {
    np.dtype(own): theirs
    for own, theirs in (
        *((np.bool_, pl.Boolean()), (np.float64, pl.Float64())),
        *((np.int8, pl.Int8()), (np.int16, pl.Int16()), (np.int32, pl.Int32()), (np.int64, pl.Int64())),
        *((np.uint8, pl.UInt8()), (np.uint16, pl.UInt16()), (np.uint32, pl.UInt32()), (np.uint64, pl.UInt64())),
    )
}


def decode(
    schema: Schema, codes: Mapping[str, Codes], passed: pl.DataFrame | None, *, narrow: bool = False
) -> pl.DataFrame:
    """The released table of these codes; ``passed`` holds the columns that are released as they are.

    ``narrow``: whole numbers in the smallest type that holds them all, on their way to a file. A text
    file shows no difference; for a typed one :func:`wide_types` says what to make of them.
    """
    columns = []
    for attribute in schema.attributes:
        if attribute.role == "randomise":
            columns.append(_column(attribute, codes[attribute.name], narrow=narrow))
        elif attribute.role == "pass":
            if passed is None:
                raise DataError(f"The column '{attribute.name}' is passed on by the schema but is missing here.")
            columns.append(passed[attribute.name])
    if len({len(column) for column in columns}) > 1:
        raise DataError("The columns of the table are not of one length.")
    return pl.DataFrame(columns)


def decode_attributes(attributes: Iterable[Attribute], codes: Mapping[str, Codes]) -> pl.DataFrame:
    """The values of some randomised attributes, one column each."""
    return pl.DataFrame([_column(attribute, codes[attribute.name], narrow=False) for attribute in attributes])


def wide_types(schema: Schema) -> dict[str, pl.DataType]:
    """The columns that ``decode(narrow=True)`` gives in a smaller type than the one they are released in."""
    return {a.name: released_dtype(a) for a in schema.randomised if a.released_type == "integer"}


def released_dtype(attribute: Attribute) -> pl.DataType:
    """The polars type of a randomised attribute's released column."""
    if attribute.released_type == "text":
        return pl.Enum([str(label) for label in attribute.labels() if label is not None])
    return _TYPES[attribute.released_type][1]


def as_column(name: str, values: NDArray[Any]) -> pl.Series:
    """Numbers or truth values as a column. A few go through a list: to look at an array, polars loads masked arrays first."""
    if len(values) > _FEW:
        return pl.Series(name, values)
    return pl.Series(name, values.tolist(), dtype=_OF_NUMPY[values.dtype])


def _column(attribute: Attribute, codes: Codes, *, narrow: bool) -> pl.Series:
    if len(codes) and int(codes.max()) >= attribute.size:
        raise DataError(f"attribute '{attribute.name}' has {attribute.size:,} codes; a larger one was given.")
    dtype = released_dtype(attribute)
    absent = codes == attribute.missing_code if attribute.missing_code is not None else np.zeros(0, bool)
    if absent.any() and isinstance(dtype, pl.Enum):
        codes = np.where(
            absent, codes.dtype.type(0), codes
        )  # Arrow files refuse a code without a category, under a null too
    values = as_column(attribute.name, _values(attribute, codes))
    if absent.any():
        values = values.to_frame().select(pl.when(~as_column("", absent)).then(pl.col(attribute.name))).to_series()
    if isinstance(dtype, pl.Enum):
        return values.cat.to(dtype)
    return values if narrow and attribute.released_type == "integer" else values.cast(dtype)


def _values(attribute: Attribute, codes: Codes) -> NDArray[Any]:
    """What stands in the column before its type is set; anything where the value is missing."""
    if attribute.released_type == "text":
        return codes
    stored = _smallest(attribute) if attribute.released_type == "integer" else _TYPES[attribute.released_type][0]
    if isinstance(attribute.domain, Range):
        values = _counted_on(codes, attribute.domain.low, stored)
        if attribute.other is not None:
            values[codes == attribute.other_code] = as_number(attribute.other)
        return values
    numbers = [as_number(label) for label in attribute.labels() if label is not None]
    if attribute.released_type == "integer" and numbers == list(range(int(numbers[0]), int(numbers[0]) + len(numbers))):
        return _counted_on(codes, int(numbers[0]), stored)
    table = np.array([*numbers, 0] if attribute.missing_code is not None else numbers, stored)
    return table.take(codes, mode="clip")  # clip: the codes were checked


def _counted_on(codes: Codes, low: int, stored: type[np.generic]) -> NDArray[Any]:
    """low + code. Integers wrap around, so a difference that does not fit in the type does no harm to a sum that does."""
    values: NDArray[Any] = codes.astype(stored)
    if low:
        values += np.array(low, stored)
    return values


def _smallest(attribute: Attribute) -> type[np.signedinteger[Any]]:
    """The smallest signed type that holds every whole number the attribute releases."""
    if isinstance(attribute.domain, Range):
        ends = [attribute.domain.low, attribute.domain.high]
        ends += [] if attribute.other is None else [int(as_number(attribute.other))]
    else:
        ends = [int(as_number(label)) for label in attribute.labels() if label is not None]
    types = (np.int8, np.int16, np.int32, np.int64)
    return next(t for t in types if np.iinfo(t).min <= min(ends) and max(ends) <= np.iinfo(t).max)
