"""A query on a DuckDB file, on a connection that cannot write and reaches no other file and no network."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from ...._errors import InputError, missing_package
from ...border import guarded, guarded_as
from ..source import Batches, Source, Stream, collected
from .query import REFUSED, identifier, selection, within

_AS_THEY_ARE = (
    "INT",
    "BIGINT",
    "DOUBLE",
    "FLOAT",
    "DECIMAL",
    "BOOLEAN",
    "DATE",
    "TIMESTAMP",
    "VARCHAR",
    "ENUM",
    "BLOB",
)
_MEMORY = "2GB"
"""What duckdb keeps of the file in memory; by itself it would take most of what there is."""
_ENDS = ("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT")


def open_duckdb(path: Path, query: str | None) -> Source:
    """A table of a DuckDB file, or what a query gives."""
    duckdb = _package()
    damaged = f"{path} is not a complete DuckDB database, or another program keeps it locked, or this duckdb is too old for it."

    def connected() -> Any:
        config = {
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": _MEMORY,
        }
        return guarded(damaged, duckdb.connect, str(path), read_only=True, config=config)

    with closing(connected()) as connection:
        listed = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
        tables = guarded(damaged, lambda: connection.execute(listed).fetchall())
        select = selection(query, [each[1:] if each[0] == "main" else each for each in tables], str(path))
        if len(guarded_as(InputError, REFUSED, connection.extract_statements, within(select))) != 1:
            raise InputError(REFUSED)
        columns = guarded_as(InputError, REFUSED, lambda: connection.execute(f"DESCRIBE {within(select)}").fetchall())
        types = {str(name): str(kind) for name, kind, *_ in columns}

    def read(columns: Sequence[str]) -> Batches:
        failed = f"The query cannot be run to its end on {path}; try it in duckdb."
        chosen = ", ".join(_cast(name, types[name]) for name in columns)
        with closing(connected()) as connection:
            total = guarded(failed, counted, connection)
            relation = guarded(failed, connection.sql, within(select, chosen))
            yield from collected(guarded(failed, pl.scan_arrow_c_stream, Stream(relation)), failed, total)

    def counted(connection: Any) -> int:
        return int(connection.execute(within(select, "count(*)")).fetchall()[0][0])

    def expected() -> float:
        with closing(connected()) as connection:
            return guarded(damaged, counted, connection)

    return Source("polars", tuple(types), read, expected=expected)


def _cast(name: str, kind: str) -> str:
    """A column as it is, or as text where polars has no such type."""
    plain = identifier(name)
    if kind.endswith("]") or kind.startswith("INTERVAL") or not (kind.startswith(_AS_THEY_ARE) or kind.endswith(_ENDS)):
        return f"CAST({plain} AS VARCHAR) AS {plain}"
    return plain


def _package() -> Any:
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        pass
    raise missing_package("Reading DuckDB files needs the package duckdb", "databases")
