"""Columns as numbers without a schema: equal values have equal numbers, in one table or in several.

Values are compared as texts ("7" and "07" differ), codes by their labels. A missing value (null, NaN) is a value
of its own. Where all values are numbers, their numbers rise with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from ..border import guarded
from .check import absent_columns, check_header
from .opening import open_source
from .textformat import PLAIN, TextFormat

_FAILURE = "The columns cannot be compared; convert each to text, numbers or dates of one type."


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Columns by name, each an array of whole numbers below ``sizes[name]``; ``numeric`` are the columns of numbers."""

    columns: dict[str, NDArray[np.int64]] = field(repr=False)
    sizes: dict[str, int]
    numeric: frozenset[str]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))


def coded_tables(
    tables: Sequence[object], columns: Sequence[str] | None = None, text: TextFormat = PLAIN
) -> list[CodedTable]:
    """Some columns of tables (those that all of them have, if None) with common numbers."""
    sources = [open_source(table, text) for table in tables]
    names = list(dict.fromkeys(columns)) if columns is not None else []
    for source in sources:
        check_header(source, names)
    if columns is None:
        names = [name for name in sources[0].names if all(name in source.names for source in sources)]
        if not names:
            raise DataError("The tables have no column in common; name the columns alike.")
    if absent := [sentence for source in sources for sentence in absent_columns(source, names)]:
        raise DataError("\n".join(absent))
    frames = []
    for source in sources:
        parts = [
            guarded(_FAILURE, _texts, source.labelled(frame.select(names), names)) for frame, _ in source.batches(names)
        ]
        frames.append(pl.concat(parts) if parts else pl.DataFrame())
    if any(frame.height == 0 for frame in frames):
        raise DataError("The table has no rows.")
    coded = {name: guarded(_FAILURE, _numbered, [frame[name] for frame in frames]) for name in names}
    numeric = frozenset(name for name, (_, _, is_numeric) in coded.items() if is_numeric)
    sizes = {name: size for name, (_, size, _) in coded.items()}
    return [
        CodedTable({name: codes[i] for name, (codes, _, _) in coded.items()}, sizes, numeric)
        for i in range(len(frames))
    ]


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    return frame.with_columns(pl.col(floats).fill_nan(None)).cast(pl.String)


def _numbered(columns: Sequence[pl.Series]) -> tuple[list[NDArray[np.int64]], int, bool]:
    """The numbers of each column, how many there are, and whether they are in the order of numbers."""
    name = columns[0].name
    different = pl.concat([column.unique() for column in columns]).unique().sort()
    numbers = different.cast(pl.Float64, strict=False)
    numeric = different.null_count() == 0 and numbers.null_count() == 0 and bool(numbers.is_finite().all())
    if numeric:
        different = different.gather(numbers.arg_sort())
    places = pl.DataFrame({name: different, "\0place": np.arange(len(different), dtype=np.int64)})
    found = [
        column.to_frame()
        .join(places, on=name, how="left", nulls_equal=True, maintain_order="left")["\0place"]
        .to_numpy()
        for column in columns
    ]
    return found, len(different), numeric
