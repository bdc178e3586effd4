"""Batches of a table to codes, in the order of the rows.

Each batch is converted to the declared types in one polars call, numbered, a column to each core, and forgotten.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._schema import Codes
from ..border import guarded
from .columns import CodedColumn, Column, IdColumn, PassedColumn
from .convert import Conversion
from .labels import are_meant
from .source import Source
from .textformat import Reading

_WORTH_THREADS = 1 << 15
"""Rows of a batch from which a second thread pays for its start."""


class Batch(NamedTuple):
    """Some rows: codes by attribute, the columns that are passed on or None, and the id columns by name."""

    rows: int
    codes: dict[str, Codes]
    passed: pl.DataFrame | None
    ids: dict[str, pl.Series]


def taken(source: Source, columns: list[Column], readings: Mapping[str, Reading] | None) -> Iterator[tuple[int, float]]:
    """How many rows the columns have taken, a batch at a time, and which share of the table that makes."""
    names = [column.attribute.name for column in columns]
    texts = [column.attribute.name for column in columns if _takes_labels(column, source)]
    with ExitStack() as stack:
        pool = None
        for batch, share in source.batches(names, readings):
            frame = guarded("The codes cannot be turned into their labels.", source.labelled, batch, texts)
            types = dict(zip(frame.columns, frame.dtypes))
            hows = [column.conversion(types[name]) for column, name in zip(columns, names)]
            changes = [how.value for how in hows if not how.unchanged]
            failure = "The columns cannot be converted to their types."
            few = frame.height < _WORTH_THREADS
            convert = frame.with_columns_seq if few else frame.with_columns
            values = guarded(failure, convert, changes) if changes else frame
            if pool is None and not few and not all(dtype.is_integer() for dtype in values.dtypes):
                # polars and numpy work without the lock; integers are numbered before a thread has woken up
                pool = stack.enter_context(ThreadPoolExecutor(min(len(columns), os.cpu_count() or 1)))
            for _ in (pool.map if pool and not few else map)(partial(_take, values, frame), columns, hows):
                pass
            yield frame.height, share


def batch_of(columns: Sequence[Column], rows: int) -> Batch:
    """The rows that the columns have taken last; they keep none."""
    passed = [column.handed_over() for column in columns if isinstance(column, PassedColumn)]
    return Batch(
        rows,
        {column.attribute.name: column.codes() for column in columns if isinstance(column, CodedColumn)},
        pl.DataFrame(passed) if passed else None,
        {column.attribute.name: column.handed_over() for column in columns if isinstance(column, IdColumn)},
    )


def _takes_labels(column: Column, source: Source) -> bool:
    """Whether codes of a file stand for their labels in this column."""
    labels = source.labels.get(column.attribute.name)
    if labels is None or not isinstance(column, CodedColumn):
        return labels is not None and column.attribute.type == "text"
    if column.coder.type_name == "text":
        return are_meant(labels, [str(text) for text in (*column.coder.domain.labels(), *column.coder.merged)])
    return column.coder.type_name == "boolean"


def _take(values: pl.DataFrame, frame: pl.DataFrame, column: Column, how: Conversion) -> None:
    name = column.attribute.name

    def missing() -> NDArray[np.bool_]:
        return frame.select(how.missing).to_series().to_numpy()

    guarded(f"Column '{name}' cannot be read.", column.take, values[name], how, missing)
