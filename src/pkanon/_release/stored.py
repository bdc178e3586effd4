"""A release whose rows are on a disk: nothing is loaded before it is needed, and counts read the columns of the table alone.

Columns of codes that were read stay in memory while all of them together would take little of it (``ROOM``); larger ones are
read again for every question, a piece at a time. Whatever wants the whole table (``table``) has it in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from .._errors import DataError
from .._estimate import StoredCodes
from .._frames import Kind, ReleasedFile
from .._plan import Plan
from .._schema import Codes, code_dtype
from .certificate import Certificate, data_digest
from .folder import read_folder
from .released import Release

if TYPE_CHECKING:
    from .._frames import Frames

ROOM = 2**28
"""Bytes of codes that are kept in memory."""


class Rows(Protocol):
    """Released rows on a disk."""

    @property
    def codes(self) -> StoredCodes:
        """The codes of the randomised attributes."""

    def passed(self) -> pl.DataFrame | None:
        """All rows of the columns that were released as they are."""

    def pieces(self) -> Iterator[tuple[Mapping[str, Codes], pl.DataFrame | None]]:
        """All columns, some rows at a time."""


class StoredRelease(Release):
    """A release of rows on a disk."""

    if not TYPE_CHECKING:

        @cached_property
        def passed(self) -> pl.DataFrame | None:
            return self._rows.passed()

    @classmethod
    def of(
        cls, plan: Plan, certificate: Certificate, rows: Rows, kind: Kind = "polars", dropped: tuple[str, ...] = ()
    ) -> StoredRelease:
        """The release of these rows."""
        made = cls(plan, certificate, rows.codes, None, kind, dropped)
        made.__dict__.pop("passed")  # so that it is read when it is asked for
        made.__dict__["_rows"] = rows
        return made

    def _frames(self, *, narrow: bool) -> pl.DataFrame | Frames:
        from .._frames import Frames, decode

        schema, rows = self.plan.schema, self.__dict__["_rows"]

        def pieces() -> Iterator[pl.DataFrame]:
            for codes, passed in rows.pieces():
                yield decode(schema, codes, passed, narrow=narrow)

        one = next(pieces(), None)
        if one is None:  # a hidden count can come to no rows
            return super()._frames(narrow=narrow)
        return Frames(one[:1], self.rows, pieces)


class FileCodes(StoredCodes):
    """The codes in a file of released rows."""

    def __init__(self, file: ReleasedFile, plan: Plan, rows: int, name: Path) -> None:
        attributes = plan.schema.randomised
        super().__init__([attribute.name for attribute in attributes], rows)
        self._file, self._name = file, name
        self._dtypes: dict[str, Any] = {a.name: code_dtype(a.size) for a in attributes}
        self._keeps = rows * sum(np.dtype(dtype).itemsize for dtype in self._dtypes.values()) <= ROOM
        self._kept: dict[str, Codes] = {}

    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        """Some columns, some rows at a time; at least one piece."""
        if not self._keeps:
            yield from self._read(names)
            return
        if absent := [name for name in names if name not in self._kept]:
            whole, start = [np.empty(self.rows, self._dtypes[name]) for name in absent], 0
            for columns in self._read(absent):
                stop = start + len(columns[0])
                for column, piece in zip(whole, columns):
                    column[start:stop] = piece
                start = stop
            self._kept |= dict(zip(absent, whole))
        yield tuple(self._kept[name] for name in names)

    def _read(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        done = 0
        for batch in self._file.batches(names):
            done += batch.rows
            if done <= self.rows:
                yield tuple(batch.codes[name] for name in names)
        if done != self.rows:
            raise DataError(f"{self._name} has {done:,} rows, but its certificate is for {self.rows:,}.")
        if not done:
            yield tuple(np.empty(0, self._dtypes[name]) for name in names)


class FileRows:
    """The rows in a file."""

    def __init__(self, name: Path, plan: Plan, rows: int) -> None:
        self._file = ReleasedFile(name, plan.schema)
        self._plan = plan
        self.rows = self._file.rows
        """How many there are; None if only reading them would tell."""
        self._codes = FileCodes(self._file, plan, rows, name)

    @property
    def codes(self) -> StoredCodes:
        """The codes of the randomised attributes."""
        return self._codes

    def passed(self) -> pl.DataFrame | None:
        """All rows of the columns that were released as they are."""
        names = [attribute.name for attribute in self._plan.schema.passed]
        if not names:
            return None
        found = [batch.passed for batch in self._file.batches(names) if batch.passed is not None]
        return pl.concat(found) if found else None

    def pieces(self) -> Iterator[tuple[Mapping[str, Codes], pl.DataFrame | None]]:
        """All columns, some rows at a time."""
        schema = self._plan.schema
        for batch in self._file.batches([a.name for a in (*schema.randomised, *schema.passed)]):
            yield batch.codes, batch.passed


def open_release(path: str | Path) -> Release:
    """The release in a folder, or in a Parquet file that was taken out of one.

    Nothing is loaded before it is needed, so a release may be larger than memory. Refused: a plan or certificate that is
    damaged, a certificate that claims something else than its plan supports, and files that are not those of the data package.
    A Parquet file alone has no data package: all its rows are compared with its certificate. :func:`verify` checks everything.

    Parameters
    ----------
    path
        The folder, or the Parquet file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release.save(Path(folder, "out"))
    ...     pk.open_release(Path(folder, "out"))
    <Release of 1,000 rows of 1 attribute: k = 20, epsilon = 1.9812>
    """
    data, plan, certificate = read_folder(path)
    rows = FileRows(data, plan, certificate.rows)
    if 0 in (rows.rows, certificate.rows) and plan.count_noise is None:
        raise DataError(
            f"{data} has no rows, which only a hidden record count can come to; do not rely on this release."
        )
    if rows.rows not in (None, certificate.rows):
        raise DataError(f"{data} has {rows.rows:,} rows, but its certificate is for {certificate.rows:,}.")
    if not Path(path).is_dir() and data_digest(plan, rows.codes) != certificate.digests["data"]:
        raise DataError(
            f"{data} does not hold the rows that its certificate was written for; do not rely on this release."
        )
    return StoredRelease.of(plan, certificate, rows)
