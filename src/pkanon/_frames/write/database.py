"""The released table to a new table of a database: PostgreSQL, DuckDB or SQLite, a piece at a time, in one transaction.

All rows are there when it ends, or no table. A table that exists is never touched. Texts and bins are texts, dates are dates (in
SQLite texts such as 2026-01-31, truth values 0 and 1), a missing answer is NULL. An address holds no password, and neither the
address nor what a server says is ever repeated.
"""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import polars as pl

from ..._errors import EnvironmentFailure, InputError, PkanonError, missing_package
from ..border import FOREIGN
from ..read import DATABASE_SUFFIXES, TableFile, connected_postgres, identifier, is_address
from .output import Frames

_TYPES = {
    "postgres": {"whole": "bigint", "number": "double precision", "truth": "boolean", "date": "date", "text": "text"},
    "duckdb": {"whole": "BIGINT", "number": "DOUBLE", "truth": "BOOLEAN", "date": "DATE", "text": "VARCHAR"},
    "sqlite": {"whole": "INTEGER", "number": "REAL", "truth": "INTEGER", "date": "TEXT", "text": "TEXT"},
}
_PIECE = 2**16
"""Rows that are sent together."""


def is_database(place: object) -> bool:
    """Whether a place is a database, by its address or its ending."""
    return is_address(place) or Path(str(place)).suffix.lower() in DATABASE_SUFFIXES


def write_table(frame: pl.DataFrame | Frames, place: str | Path, table: str, told: Callable[[float], None]) -> None:
    """Writes a table that does not exist yet into a database, which may be new; ``told`` hears which share is done."""
    if not table or "\0" in table:
        raise InputError("The table of a database needs a name: table= (--table).")
    pieces = _counted(frame, told)
    if is_address(place):
        TableFile(str(place))  # refuses an address with a password
        _to_postgres(frame.schema, pieces, frame.height, str(place), table)
        return
    path = Path(place)
    suffix = path.suffix.lower()
    if suffix not in DATABASE_SUFFIXES:
        raise InputError(f"{path} is no database; one ends in {', '.join(DATABASE_SUFFIXES)}, or is postgresql://.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"Cannot write {path}: its folder does not exist; create it first.")
    is_new = not path.exists()
    write = _to_duckdb if (suffix == ".duckdb" if is_new else _is_duckdb(path)) else _to_sqlite
    try:
        write(frame.schema, pieces, frame.height, path, table)
    except BaseException:
        if is_new:
            for left in (path, *(path.with_name(path.name + end) for end in (".wal", "-journal", "-wal", "-shm"))):
                with suppress(OSError):
                    left.unlink(missing_ok=True)
        raise


def _counted(frame: pl.DataFrame | Frames, told: Callable[[float], None]) -> Iterator[pl.DataFrame]:
    done = 0
    for piece in frame.pieces() if isinstance(frame, Frames) else iter((frame,)):
        for part in piece.iter_slices(_PIECE):
            yield part.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
            done += part.height
            told(done / max(frame.height, 1))


def _columns(schema: pl.Schema, kind: str) -> str:
    return ", ".join(f"{identifier(name)} {_TYPES[kind][_family(dtype)]}" for name, dtype in schema.items())


def _family(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "whole"
    if dtype.is_float():
        return "number"
    return "truth" if isinstance(dtype, pl.Boolean) else "date" if isinstance(dtype, pl.Date) else "text"


def _exists(where: str, table: str) -> InputError:
    return InputError(f"{where} has a table '{table}' already, which is never overwritten; choose another name.")


def _refused(where: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"{where} did not take the table to its end; nothing was written. Look whether this user may create tables, and at the "
        "space on its disk."
    )


def _to_postgres(schema: pl.Schema, pieces: Iterator[pl.DataFrame], rows: int, address: str, table: str) -> None:
    where, name = "The database", identifier(*table.split("."))
    failure: PkanonError
    with closing(connected_postgres(address)) as connection:
        try:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(f"CREATE TABLE {name} ({_columns(schema, 'postgres')})")
                with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv, ENCODING 'UTF8')") as copy:
                    for piece in pieces:
                        copy.write(_texts(piece).write_csv(include_header=False))
                if cursor.rowcount != rows:
                    raise _refused(where)
            return
        except PkanonError:
            raise
        except FOREIGN as error:
            state = str(getattr(error, "sqlstate", None) or "")
            failure = _exists(where, table) if state == "42P07" else _refused(where)
            if connection.broken:
                failure = EnvironmentFailure(
                    "The database broke off the connection; nothing was written. Run it again."
                )
    raise failure


def _texts(piece: pl.DataFrame) -> pl.DataFrame:
    """What COPY cannot take in another form than polars writes it."""
    others = [name for name, dtype in piece.schema.items() if dtype.is_nested() or isinstance(dtype, pl.Binary)]
    return piece.with_columns(pl.col(others).map_elements(repr, return_dtype=pl.String)) if others else piece


def _to_duckdb(schema: pl.Schema, pieces: Iterator[pl.DataFrame], rows: int, path: Path, table: str) -> None:
    try:
        duckdb: Any = importlib.import_module("duckdb")
    except ImportError:
        duckdb = None
    if duckdb is None:
        raise missing_package("Writing DuckDB files needs the package duckdb", "databases")
    failure: PkanonError
    try:
        with closing(duckdb.connect(str(path))) as connection:
            found = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
            if (table,) in found:
                raise _exists(str(path), table)
            connection.begin()
            connection.execute(f"CREATE TABLE {identifier(table)} ({_columns(schema, 'duckdb')})")
            for piece in pieces:
                connection.from_arrow(_Stream(piece)).insert_into(identifier(table))
            written = connection.execute(f"SELECT count(*) FROM {identifier(table)}").fetchone()[0]
            if written != rows:
                raise _refused(str(path))
            connection.commit()
        return
    except PkanonError:
        raise
    except FOREIGN:
        failure = _refused(str(path))
    raise failure


class _Stream:
    """A data frame as record batches; duckdb looks at nothing else of it."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def _to_sqlite(schema: pl.Schema, pieces: Iterator[pl.DataFrame], rows: int, path: Path, table: str) -> None:
    failure: PkanonError
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            found = connection.execute("SELECT lower(name) FROM sqlite_master").fetchall()
            if (table.lower(),) in found:
                raise _exists(str(path), table)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"CREATE TABLE {identifier(table)} ({_columns(schema, 'sqlite')})")
            places = ", ".join("?" * len(schema))
            for piece in pieces:
                dated = piece.with_columns(pl.col(pl.Date).cast(pl.String))
                connection.executemany(f"INSERT INTO {identifier(table)} VALUES ({places})", dated.iter_rows())
            if connection.execute(f"SELECT count(*) FROM {identifier(table)}").fetchone()[0] != rows:
                raise _refused(str(path))
            connection.execute("COMMIT")
        return
    except PkanonError:
        raise
    except FOREIGN:
        failure = _refused(str(path))
    raise failure


def _is_duckdb(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"
