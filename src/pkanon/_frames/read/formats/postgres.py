"""A query on PostgreSQL, by psycopg, in a transaction that cannot write.

Rows come by COPY as text, some megabytes at a time, and polars reads them in the types that the query has; types that polars
has not come as texts. Who asks and how comes from the address, from the environment (PGHOST, PGUSER, PGPASSWORD,
PGPASSFILE, PGSERVICE ...) and from a service file, all read by libpq. Neither the address nor what the server says is ever
repeated in a message.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import polars as pl

from ...._errors import DataError, EnvironmentFailure, InputError, PkanonError, missing_package
from ...border import FOREIGN, guarded, guarded_steps
from ..source import Batches, Source
from .query import REFUSED, identifier, selection, within

_PIECE = 1 << 23
"""Bytes of rows that are read together."""

_NUMBERS = {20: pl.Int64(), 21: pl.Int16(), 23: pl.Int32(), 26: pl.Int64(), 700: pl.Float32(), 701: pl.Float64()}
_BOOLEAN, _NUMERIC, _DATE, _TIMESTAMP, _WITH_ZONE = 16, 1700, 1082, 1114, 1184

_UNREACHED = (
    "The database cannot be reached, or it does not let this user in; see the address, PGHOST, PGDATABASE, PGUSER, PGPASSWORD or "
    "PGPASSFILE, and the service file."
)
_BROKEN = "The database broke off the connection or gave up the query; run it again."
_FAILED = "PostgreSQL could not run the query to its end; try it in psql."
_TABLES = """\
SELECT table_schema, table_name, table_schema = current_schema() FROM information_schema.tables
WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"""


def open_postgres(address: str, query: str | None) -> Source:
    """A table of a PostgreSQL database, or what a query gives."""
    psycopg = _package()

    def connected() -> Any:
        connection = _reached(psycopg, address)
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return connection

    with closing(connected()) as connection:
        tables = guarded(_FAILED, lambda: connection.execute(_TABLES).fetchall())
        select = selection(
            query, [(name,) if here else (schema, name) for schema, name, here in tables], "The database"
        )
        cursor = _asked(connection, within(select) + " LIMIT 0")
        types = {column.name: column.type_code for column in cursor.description}
        if len(types) < len(cursor.description):
            raise InputError("The query gives two columns of one name; name them apart with AS.")

    def read(columns: Sequence[str]) -> Batches:
        chosen = ", ".join(_written(name, types[name]) for name in columns)
        with closing(connected()) as connection:
            _asked(connection, "SET LOCAL datestyle = 'ISO'")
            pieces = _pieces(connection, f"COPY ({within(select, chosen)}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')")
            for piece in guarded_steps(DataError, _FAILED, pieces):
                yield guarded(_FAILED, _frame, piece, {name: types[name] for name in columns}), 0.0

    def expected() -> float | None:
        """What the server reckons with; it may never have looked at the table."""
        with closing(connected()) as connection:
            plan = _asked(connection, f"EXPLAIN (FORMAT JSON) {within(select)}").fetchone()[0]
        return float(plan[0]["Plan"]["Plan Rows"])

    return Source("polars", tuple(types), read, expected=expected)


def connected_postgres(address: str) -> Any:
    """A connection that may write."""
    return _reached(_package(), address)


def _reached(psycopg: Any, address: str) -> Any:
    """A connection. The message of a failure may hold the address, a user's name or a host."""
    try:
        return psycopg.connect(address, application_name="pkanon")
    except psycopg.ProgrammingError:
        failure: PkanonError = InputError(
            "The address of the database cannot be read; write postgresql://user@host/database or postgresql://?service=NAME."
        )
    except FOREIGN:
        failure = EnvironmentFailure(_UNREACHED)
    raise failure


def _asked(connection: Any, statement: str) -> Any:
    """The cursor after a statement; the state that the server gives says what was wrong, its message is not looked at."""
    state = ""
    try:
        return connection.execute(statement, binary=True)  # in the protocol that takes one statement only
    except FOREIGN as error:
        state = str(getattr(error, "sqlstate", None) or "")
    if state == "42501":
        raise InputError("The user of the database may not read what the query asks for.")
    if state.startswith(("42", "22", "25", "0A", "3F")):
        raise InputError(REFUSED)
    raise EnvironmentFailure(_BROKEN)


def _pieces(connection: Any, statement: str) -> Iterator[bytes]:
    """Whole rows as text, some megabytes at a time."""
    try:
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            piece = bytearray()
            for row in copy:
                piece += row
                if len(piece) >= _PIECE:
                    yield bytes(piece)
                    piece.clear()
            if piece:
                yield bytes(piece)
        return
    except FOREIGN:
        broken = bool(connection.broken)
    raise EnvironmentFailure(_BROKEN) if broken else DataError(_FAILED)


def _written(name: str, kind: int) -> str:
    """How a column is asked for, so that polars can read it."""
    plain = identifier(name)
    if kind in _NUMBERS or kind == _DATE:
        return plain
    return f"{plain}::{ {_NUMERIC: 'float8', _TIMESTAMP: 'timestamp', _WITH_ZONE: 'timestamp'}.get(kind, 'text') }"


def _frame(piece: bytes, types: dict[str, int]) -> pl.DataFrame:
    schema = {name: _NUMBERS.get(kind) or _READ.get(kind, pl.String()) for name, kind in types.items()}
    frame = pl.read_csv(io.BytesIO(piece), has_header=False, schema=schema)
    dates = [pl.col(name).str.to_date("%Y-%m-%d") for name, kind in types.items() if kind == _DATE]
    times = [
        pl.col(name).str.to_datetime("%Y-%m-%d %H:%M:%S%.f")
        for name, kind in types.items()
        if kind in (_TIMESTAMP, _WITH_ZONE)
    ]
    return frame.with_columns(dates + times)


_READ = {_BOOLEAN: pl.Boolean(), _NUMERIC: pl.Float64()}


def _package() -> Any:
    try:
        return importlib.import_module("psycopg")
    except ImportError:
        pass
    raise missing_package("PostgreSQL needs the package psycopg", "databases")
