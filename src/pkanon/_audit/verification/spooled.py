"""What is kept of the rows of a large file while they are read for the first time.

Codes of a Parquet file are not kept, for its columns are soon read again; those of a text file go to a temporary file. Columns that
were released as they are stay in memory.
"""

from __future__ import annotations

import itertools
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import polars as pl

from ..._errors import EnvironmentFailure
from ..._estimate import StoredCodes
from ..._frames import Batch
from ..._schema import Codes, Schema, code_dtype


def width(schema: Schema) -> int:
    """Bytes of codes in a row."""
    return sum(dtype.itemsize for dtype in _dtypes(schema).values())


def _dtypes(schema: Schema) -> dict[str, np.dtype[Any]]:
    return {attribute.name: np.dtype(code_dtype(attribute.size)) for attribute in schema.randomised}


class Passed:
    """Takes rows while they are read, and keeps the columns that were released as they are."""

    def __init__(self) -> None:
        self.frames: list[pl.DataFrame] = []

    def begin(self) -> None:
        """The first row comes next."""
        self.frames.clear()

    def take(self, batch: Batch) -> None:
        """The next rows."""
        if batch.passed is not None:
            self.frames.append(batch.passed)

    def repeated(self, name: str) -> int:
        """No released column is an id."""
        raise LookupError(name)

    @property
    def frame(self) -> pl.DataFrame | None:
        """The columns, if there are any."""
        return pl.concat(self.frames) if self.frames else None


class Spooled(StoredCodes, Passed):
    """The codes of a text file, which takes long to read, in a temporary file without a name. They are public, as the file is."""

    def __init__(self, schema: Schema) -> None:
        StoredCodes.__init__(self, [attribute.name for attribute in schema.randomised], 0)
        Passed.__init__(self)
        self._dtypes = _dtypes(schema)
        with self._with_room():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as there is somebody to read it
        weakref.finalize(self, self._file.close)
        self._batches: list[tuple[int, int]] = []
        """Where each starts, and how many rows it has: one column after the other."""

    def begin(self) -> None:
        """The first row comes next."""
        super().begin()
        self._file.seek(0)
        self._batches, self.rows = [], 0

    def take(self, batch: Batch) -> None:
        """The next rows."""
        super().take(batch)
        self._batches.append((self._file.tell(), batch.rows))
        self.rows += batch.rows
        with self._with_room():
            for name, dtype in self._dtypes.items():
                self._file.write(batch.codes[name].astype(dtype, copy=False).tobytes())
            self._file.flush()

    @contextmanager
    def _with_room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            size = sum(dtype.itemsize for dtype in self._dtypes.values())
            raise EnvironmentFailure(
                f"There is no room for a temporary file of the codes, {size} B a row: {error.strerror}. "
                "TMPDIR names another folder for it."
            ) from None

    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        """Some columns, some rows at a time; at least one piece."""
        for start, rows in self._batches or [(0, 0)]:
            yield tuple(self._column(name, start, rows) for name in names)

    def _column(self, name: str, start: int, rows: int) -> Codes:
        before = itertools.takewhile(lambda other: other != name, self._dtypes)
        self._file.seek(start + rows * sum(self._dtypes[other].itemsize for other in before))
        found: Codes = np.frombuffer(self._file.read(rows * self._dtypes[name].itemsize), self._dtypes[name])
        return found
