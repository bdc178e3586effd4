"""Counting rows: how many there are, and how few in the smallest group of equal ones.

The latter is k of a table as classical k-anonymity counts it.

Values are compared as they are: in a text file as texts ("7" and "07" differ), in a frame as its
column holds them. A missing value (null, NaN) is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ..._errors import DataError, InputError
from ..border import guarded
from .check import absent_columns, check_header
from .source import open_source
from .textopen import PLAIN, TextFormat

_COUNT = "\0rows"  # a name that no column has: a header with a NUL is refused


def count_rows(table: object, *, text: TextFormat = PLAIN) -> int:
    """How many rows a table has."""
    source = open_source(table, text)
    check_header(source, ())
    return sum(frame.height for frame, _ in source.batches(source.names[:1]))


def smallest_group(table: object, columns: Sequence[str], text: TextFormat = PLAIN) -> int:
    """The size of the smallest group of rows that agree on all of ``columns``."""
    wanted = list(dict.fromkeys([columns] if isinstance(columns, str) else columns))
    if not wanted:
        raise InputError("Name at least one column to group by.")
    source = open_source(table, text)
    check_header(source, wanted)
    if problems := absent_columns(source, wanted):
        raise DataError("\n".join(problems))
    failure = "The columns cannot be grouped; convert each to text, numbers or dates of one type."
    counts = [guarded(failure, _counted, frame.select(wanted)) for frame, _ in source.batches(wanted)]
    if not sum(frame.height for frame in counts):
        raise DataError("The table has no rows.")
    return guarded(failure, _smallest, counts, wanted)


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    """The different rows of a batch, each with its number."""
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    return frame.with_columns(pl.col(floats).fill_nan(None)).group_by(pl.all()).agg(pl.len().alias(_COUNT))


def _smallest(counts: Sequence[pl.DataFrame], wanted: Sequence[str]) -> int:
    groups = pl.concat(counts, how="vertical_relaxed").group_by(wanted).agg(pl.col(_COUNT).cast(pl.Int64).sum())
    return int(groups[_COUNT].to_numpy().min())
