"""The codes of the released rows, in order, column by column, in one temporary file."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl

from ..._estimate import StoredCodes
from ..._schema import Attribute, Codes, code_dtype
from .buckets import as_message, of_message
from .spool import Spool

PIECE = 2**20
"""Rows that are read together."""


class ColumnFile(StoredCodes):
    """Columns of codes, filled at any place by any thread, then read."""

    def __init__(self, folder: Path, attributes: Sequence[Attribute], rows: int) -> None:
        super().__init__([attribute.name for attribute in attributes], rows)
        self._dtypes = {a.name: np.dtype(code_dtype(a.size)).newbyteorder("<") for a in attributes}
        widths = [dtype.itemsize for dtype in self._dtypes.values()]
        self._offsets = dict(zip(self._dtypes, (rows * before for before in accumulate(widths, initial=0))))
        self._file = Spool(folder)
        weakref.finalize(self, self._file.close)

    def fill(self, start: int, codes: Mapping[str, Codes]) -> None:
        """Put some rows to their place, from row ``start`` on; those behind the last row are left out."""
        for name, dtype in self._dtypes.items():
            column = np.ascontiguousarray(codes[name][: max(self.rows - start, 0)], dtype)
            self._file.write(column, self._offsets[name] + start * dtype.itemsize)

    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        """Some columns, some rows at a time; at least one piece."""
        for start in range(0, max(self.rows, 1), PIECE):
            yield self.slice(names, start, min(start + PIECE, self.rows))

    def slice(self, names: Sequence[str], start: int, stop: int) -> tuple[Codes, ...]:
        """Some columns of the rows from ``start`` to ``stop``."""
        found = []
        for name in names:
            dtype = self._dtypes[name]
            column = np.empty(stop - start, dtype)
            self._file.read(column, self._offsets[name] + start * dtype.itemsize)
            found.append(column.astype(dtype.newbyteorder("="), copy=False))
        return tuple(found)


class PassedFile:
    """The columns that are released as they are, in order, in pieces of any length."""

    def __init__(self, folder: Path) -> None:
        self._file = Spool(folder)
        weakref.finalize(self, self._file.close)
        self._pieces: dict[int, tuple[int, int, int]] = {}
        self._end = 0

    def fill(self, start: int, frame: pl.DataFrame) -> None:
        """Put some rows to their place; one thread at a time."""
        message = as_message(frame)
        self._pieces[start] = (frame.height, self._end, len(message))
        self._file.write(message, self._end)
        self._end += len(message)

    @property
    def starts(self) -> list[tuple[int, int]]:
        """The first and the last row (not included) of each piece, in order."""
        return [(start, start + rows) for start, (rows, _, _) in sorted(self._pieces.items())]

    def piece(self, start: int) -> pl.DataFrame:
        """The piece that begins with this row."""
        _, offset, length = self._pieces[start]
        message = np.empty(length, np.uint8)
        self._file.read(message, offset)
        return of_message(message)

    def whole(self) -> pl.DataFrame:
        """All rows."""
        return pl.concat([self.piece(start) for start, _ in self.starts])
