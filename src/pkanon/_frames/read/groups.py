"""Counting rows: how many there are, and how many of them are equal.

Values are compared as they are: in a text file as texts ("7" and "07" differ), in a frame as its
column holds them, codes by their labels. A missing value (null, NaN) is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from ..border import guarded
from .check import absent_columns, are_names, check_header
from .opening import open_source
from .source import Source
from .textformat import PLAIN, TextFormat

_ROWS_BELOW = 1000
"""Rows that are compared with the first line of a text file."""
_COUNT = "\0rows"  # a name that no column has: a header with a NUL is refused


def count_rows(table: object, *, text: TextFormat = PLAIN) -> int:
    """How many rows a table has."""
    source = open_source(table, text)
    check_header(source, ())
    return sum(frame.height for frame, _ in source.batches(source.names[:1]))


def group_sizes(table: object, columns: Sequence[str], text: TextFormat = PLAIN) -> NDArray[np.int64]:
    """How many rows are in each group of rows that agree on all of ``columns``, in any order."""
    names = list(dict.fromkeys(columns))
    source = open_source(table, text)
    check_header(source, names)
    if not set(names) <= set(source.names):
        raise DataError("\n".join(absent_columns(source, names, header=_has_header(source))))
    failure = "The columns cannot be grouped; convert each to text, numbers or dates of one type."
    counts = [
        guarded(failure, _counted, source.labelled(frame.select(names), names)) for frame, _ in source.batches(names)
    ]
    if not sum(frame.height for frame in counts):
        raise DataError("The table has no rows.")
    return guarded(failure, _sizes, counts, names)


def _has_header(source: Source) -> bool:
    """Whether the first line of a file is surely no person's row.

    It has no number and no date, a column below has nothing else, and no field of it occurs again below itself.
    """
    first = next((frame for frame, _ in source.batches(source.names)), None)
    if source.headed is None or first is None or not are_names(source.names):
        return False
    rows = first.head(_ROWS_BELOW)
    below = {name: [str(value) for value in rows[name] if value] for name in source.names}
    again = any(name in values for name, values in below.items())
    return not again and any(len(values) > 1 and not any(are_names([v]) for v in values) for values in below.values())


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    """The different rows of a batch, each with its number."""
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    return frame.with_columns(pl.col(floats).fill_nan(None)).group_by(pl.all()).agg(pl.len().alias(_COUNT))


def _sizes(counts: Sequence[pl.DataFrame], names: Sequence[str]) -> NDArray[np.int64]:
    groups = pl.concat(counts, how="vertical_relaxed").group_by(names).agg(pl.col(_COUNT).cast(pl.Int64).sum())
    return groups[_COUNT].to_numpy()
