"""Columns of a text file, joined before polars writes them.

polars writes a text file field by field. Where columns have few values, a run of them is one column of ready pieces of
lines, looked up in a table of all combinations: the bytes are those that polars would write for the columns apart, in a third of
the time.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

WORTH_JOINING = 2**13
"""Rows from which a table of combinations pays."""
_MOST_VALUES = 2**12
_MOST_COMBINATIONS = 2**14
_NEEDS_QUOTES = r'^$|[,"\r\n]'
"""Python and polars read this pattern alike."""


class Lines:
    """Joins columns of frames that follow each other and have the same columns."""

    def __init__(self) -> None:
        self._plain: dict[str, bool] = {}
        self._texts: dict[tuple[Any, ...], list[str]] = {}
        self._combined: dict[tuple[tuple[Any, ...], ...], pl.Enum] = {}

    def joined(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        """Columns to write without quotes or header, with which the lines are the same; None if there is nothing to join."""
        if frame.height < WORTH_JOINING or not all(map(self._needs_no_quotes, frame.iter_columns())):
            return None
        columns: list[pl.Series] = []
        shorter = False
        for run in _runs([self._coded(column) for column in frame.iter_columns()]):
            if isinstance(run, pl.Series):
                columns.append(run)
            else:
                columns.append(self._join(run).alias(str(len(columns))))
                shorter |= len(run) > 1
        return pl.DataFrame(columns) if shorter else None

    def _needs_no_quotes(self, column: pl.Series) -> bool:
        """Whether fields of this column never need quotes, or are known before they are written."""
        dtype = column.dtype
        if not isinstance(dtype, pl.Enum) or len(dtype.categories) <= _MOST_VALUES:
            return isinstance(dtype, pl.Enum) or dtype.is_numeric() or dtype in (pl.Boolean, pl.Date)
        if column.name not in self._plain:
            self._plain[column.name] = not dtype.categories.str.contains(_NEEDS_QUOTES).any()
        return self._plain[column.name]

    def _coded(self, column: pl.Series) -> _Coded | pl.Series:
        """The column as codes of fields, if it has few values."""
        dtype = column.dtype
        low = 0
        if isinstance(dtype, pl.Enum) and len(dtype.categories) <= _MOST_VALUES:
            key: tuple[Any, ...] = (column.name,)
            numbers = column.to_physical()
            if key not in self._texts:
                self._texts[key] = _fields(dtype.categories.to_list())
        elif dtype.is_integer():
            first, last = column.min(), column.max()
            if not isinstance(first, int) or not isinstance(last, int) or last - first >= _MOST_VALUES:
                return column
            low, key, numbers = first, (column.name, first, last), column
            if key not in self._texts:
                self._texts[key] = [str(number) for number in range(first, last + 1)]
        else:
            return column
        fields = self._texts[key]
        absent = numbers.is_null().to_numpy() if numbers.null_count() else None
        plain = (numbers if absent is None else numbers.fill_null(low)).to_numpy()
        codes = (plain - plain.dtype.type(low) if low else plain).astype(
            np.uint32 if len(fields) >= 2**16 else np.uint16
        )
        if absent is None:
            return _Coded(key, codes, fields)
        codes[absent] = len(fields)
        return _Coded((*key, None), codes, [*fields, ""])

    def _join(self, run: Sequence[_Coded]) -> pl.Series:
        key = tuple(coded.key for coded in run)
        if key not in self._combined:
            self._combined[key] = pl.Enum([",".join(fields) for fields in itertools.product(*(c.fields for c in run))])
        codes = run[0].codes
        for coded in run[1:]:
            codes = codes * codes.dtype.type(len(coded.fields)) + coded.codes
        return pl.Series(codes).cat.to(self._combined[key])


@dataclass(frozen=True)
class _Coded:
    """A column as codes of ``fields``, which are ready to be written; equal ``key``, equal fields."""

    key: tuple[Any, ...]
    codes: NDArray[Any]
    fields: list[str]


def _runs(columns: Sequence[_Coded | pl.Series]) -> Iterator[list[_Coded] | pl.Series]:
    """Neighbours that have few combinations, and the columns between them."""
    run: list[_Coded] = []
    for column in columns:
        if run and (isinstance(column, pl.Series) or _combinations([*run, column]) > _MOST_COMBINATIONS):
            yield run
            run = []
        if isinstance(column, pl.Series):
            yield column
        else:
            run.append(column)
    if run:
        yield run


def _combinations(run: Sequence[_Coded]) -> int:
    return math.prod(len(coded.fields) for coded in run)


def _fields(labels: Sequence[str]) -> list[str]:
    """Labels as polars writes them: in quotes where a reader needs them."""
    return ['"' + label.replace('"', '""') + '"' if re.search(_NEEDS_QUOTES, label) else label for label in labels]
