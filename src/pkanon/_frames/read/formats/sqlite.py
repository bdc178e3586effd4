"""A query on an SQLite file, by the standard library, on a connection that cannot write.

Any cell of SQLite may hold any type. So the file is asked first which types a column holds: whole numbers, numbers, or
texts; a mixture with texts is read as texts. Dates are texts there, and a schema may say that they are dates.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import polars as pl

from ...._errors import DataError, InputError
from ...border import guarded, guarded_as
from ..source import BATCH, Batches, Source
from .query import REFUSED, identifier, selection, within

_ALLOWED = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_TYPES = ("integer", "real", "text", "blob")


def open_sqlite(path: Path, query: str | None) -> Source:
    """A table of an SQLite file, or what a query gives."""
    damaged = f"{path} is not a complete SQLite database, or another program keeps it locked."

    if not _is_complete(path):
        raise DataError(damaged)

    def connected() -> sqlite3.Connection:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        connection = guarded(damaged, sqlite3.connect, address, uri=True)
        connection.set_authorizer(_authorised)
        return connection

    with closing(connected()) as connection:
        listed = (
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite|_%' ESCAPE '|'"
        )
        tables = guarded(damaged, lambda: connection.execute(listed + " ORDER BY name").fetchall())
        select = selection(query, tables, str(path))
        cursor = guarded_as(InputError, REFUSED, connection.execute, within(select) + " LIMIT 0")
        names = tuple(str(column[0]) for column in cursor.description)

    def read(columns: Sequence[str]) -> Batches:
        failed = f"{path} cannot be read to its end, or a text in it is not UTF-8."
        with closing(connected()) as connection:
            total, types = guarded(failed, _types, connection, select, columns)
            chosen = ", ".join(_cast(name, types[name]) for name in columns)
            cursor = guarded(failed, connection.execute, within(select, chosen))
            done = 0
            while rows := guarded(failed, cursor.fetchmany, BATCH):
                done += len(rows)
                frame = guarded(failed, pl.DataFrame, rows, schema=types, orient="row")
                yield frame, min(done / total, 1.0) if total else 1.0

    def expected() -> float:
        with closing(connected()) as connection:
            return float(guarded(damaged, lambda: connection.execute(within(select, "count(*)")).fetchone()[0]))

    return Source("polars", names, read, untyped=True, expected=expected)


def _is_complete(path: Path) -> bool:
    """Whether the file has all its pages: SQLite would fill up the last one with zeros."""
    with path.open("rb") as file:
        header = file.read(100)
    size = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    return path.stat().st_size >= pages * (65_536 if size == 1 else size)


def _authorised(action: int, one: str | None, two: str | None, *_: str | None) -> int:
    """Whether a statement may do this: read, and nothing else."""
    if action not in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and two == "load_extension"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _types(connection: sqlite3.Connection, select: str, columns: Sequence[str]) -> tuple[int, dict[str, pl.DataType]]:
    """How many rows there are, and the type of each column."""
    asked = ", ".join(f"max(typeof({identifier(name)}) = '{kind}')" for name in columns for kind in _TYPES)
    count, *answers = connection.execute(within(select, f"count(*), {asked}")).fetchone()
    types: dict[str, pl.DataType] = {}
    for place, name in enumerate(columns):
        whole, real, text, blob = answers[len(_TYPES) * place : len(_TYPES) * (place + 1)]
        types[name] = (
            pl.Binary()
            if blob
            else pl.String()
            if text
            else pl.Float64()
            if real
            else pl.Int64()
            if whole
            else pl.Null()
        )
    return int(count), types


def _cast(name: str, dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.String):
        return f"CAST({identifier(name)} AS TEXT)"
    return f"CAST({identifier(name)} AS REAL)" if isinstance(dtype, pl.Float64) else identifier(name)
