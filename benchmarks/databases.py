"""From a table of a database to a release, and back into a new table: PostgreSQL, DuckDB, SQLite.

    python benchmarks/databases.py                   print the table
    python benchmarks/databases.py --write           also put it into docs/results/scale.md
    python benchmarks/databases.py --rows 100000     fewer rows

Rows are drawn from the embedded table. Every step is a command in a process of its own: its processor time is counted (not that of
a PostgreSQL server) and its peak memory. In the end the new table is compared with the release, row by row. PostgreSQL is
a server in a temporary folder, started and stopped here.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import duckdb
import postgres
import psycopg

import pkanon as pk
from report import put
from scale import measured

MEMORY = "100MB"


def in_postgres(table: pl.DataFrame, address: str) -> None:
    """The table on a server."""
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE people ({', '.join(f'{name} text' for name in table.columns)})")
        with cursor.copy("COPY people FROM STDIN (FORMAT csv)") as copy:
            copy.write(table.write_csv(include_header=False))


def in_duckdb(table: pl.DataFrame, place: str) -> None:
    """The table in a file of DuckDB."""
    file = f"{place}.csv"
    table.write_csv(file)
    with duckdb.connect(place) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_csv(?, all_varchar = true)", [file])
    Path(file).unlink()


def in_sqlite(table: pl.DataFrame, place: str) -> None:
    """The table in a file of SQLite."""
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(f"CREATE TABLE people ({', '.join(f'{name} TEXT' for name in table.columns)})")
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * table.width)})", table.iter_rows())
        connection.commit()


def rows_of(place: str) -> list[tuple[str, ...]]:
    """The rows of the new table, as they stand there."""
    question = "SELECT * FROM released"
    if place.startswith("postgresql:"):
        with psycopg.connect(place) as server:
            return server.execute(question).fetchall()
    if place.endswith(".duckdb"):
        with duckdb.connect(place) as file:
            return file.execute(question).fetchall()
    with closing(sqlite3.connect(place)) as connection:
        return connection.execute(question).fetchall()


def line(name: str, place: str, plan: Path, out: Path) -> str:
    """A release and an export, measured and compared."""
    pkanon = [sys.executable, "-m", "pkanon"]
    there = [*pkanon, "release", place, "--query", "people", "--plan", str(plan), "-o", str(out), "--memory", MEMORY]
    clock, used, peak = measured(there)
    clock_back, used_back, peak_back = measured([*pkanon, "export", str(out), place, "--table", "released"])
    if rows_of(place) != pk.open_release(out).table.cast(pl.String).rows():
        raise SystemExit(f"{name} holds other rows than the release")
    cells = (
        f"{used:.1f}",
        f"{clock:.1f}",
        f"{peak:,.0f}",
        f"{used_back:.1f}",
        f"{clock_back:.1f}",
        f"{peak_back:,.0f}",
    )
    return f"| {name} | {' | '.join(cells)} |"


def measure(rows: int) -> str:
    """The table of the page."""
    table = pk.demo_table()
    table = table[np.random.default_rng(1).integers(0, table.height, rows)].cast(pl.String)
    lines = [
        "| | to a release, CPU s | s | peak MB | into a table, CPU s | s | peak MB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    with tempfile.TemporaryDirectory() as name, postgres.cluster() as server:
        folder = Path(name)
        pk.plan(pk.demo_schema(), records=rows, k=20).save(folder / "plan.json")
        places: dict[str, tuple[Callable[[pl.DataFrame, str], None], str]] = {
            "PostgreSQL": (in_postgres, server.url),
            "DuckDB": (in_duckdb, str(folder / "people.duckdb")),
            "SQLite": (in_sqlite, str(folder / "people.sqlite")),
        }
        for number, (database, (fill, place)) in enumerate(places.items()):
            fill(table, place)
            lines.append(line(database, place, folder / "plan.json", folder / str(number)))
            print(lines[-1], file=sys.stderr, flush=True)
    versions = f"polars {pl.__version__}, psycopg {psycopg.__version__}, duckdb {duckdb.__version__}"
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {versions}"
    about = (
        f"{rows:,} rows x {table.width} columns with `--memory {MEMORY}`, {machine}. The new tables hold the rows of the "
        "releases, in their order."
    )
    return f"{about}\n\n" + "\n".join(lines)


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    report = measure(asked.rows)
    print(report)
    if asked.write:
        put("databases", report, page="scale.md")


if __name__ == "__main__":
    main()
