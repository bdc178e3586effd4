"""A million people in every format: written, read with a schema, compared; processor seconds and memory.

    python benchmarks/formats.py                 print the table
    python benchmarks/formats.py --write         also put it into docs/results/benchmarks.md
    python benchmarks/formats.py --rows 10000    fewer people

The export of a release to each format that can be written is measured as well. PostgreSQL is a server of its own in a
temporary folder, started and stopped here; its own processor time is not counted. Machines are shared, so the time on a clock
says little.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import postgres
import pyreadstat
import tabular_files as files

import pkanon as pk
from pkanon._frames import encode, encode_released
from pkanon._frames.write.spreadsheet import DATA, write_sheet
from report import put

SCHEMA = pk.Schema(
    [
        *files.SCHEMA.attributes,
        pk.Attribute("region", [f"region {i}" for i in range(20)]),
        pk.Attribute.ranged("children", 0, 9),
    ]
)
EXPORTS = ("rows.csv", "rows.parquet", "rows.feather", "rows.sav", "rows.zsav", "rows.dta", "rows.xlsx")

READ = """\
import re, sys, time
import numpy as np, polars as pl
import pkanon as pk
from pkanon._frames import encode
from pkanon._plan import read_plan
for package in {packages!r}:
    __import__(package)
schema = read_plan({plan!r}).schema
table = pk.TableFile({place!r}, **{options!r})
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before = peak()
start = time.process_time()
encoded = encode(table, schema)
seconds = time.process_time() - start
above = peak() - before
truth = np.load({truth!r})
assert all((encoded.codes[name] == truth[name]).all() for name in truth.files), "another table was read"
print(seconds, above)
"""
PACKAGES = {
    ".sav": "pyreadstat",
    ".dta": "pyreadstat",
    ".xlsx": "fastexcel",
    ".duckdb": "duckdb",
    "postgresql": "psycopg",
}


def people(rows: int) -> pl.DataFrame:
    """The people of the tests, and two columns more."""
    draw = np.random.default_rng(5)
    return files.people(rows).with_columns(
        region=pl.Series(draw.integers(0, 20, rows)).cast(pl.String).str.replace("^", "region "),
        children=pl.Series(draw.integers(0, 10, rows)),
    )


def read(place: str, options: dict[str, str], folder: Path, rounds: int) -> tuple[float, float]:
    """Median processor seconds and MB of reading, each time in a new process."""
    suffix = place.partition(":")[0] if ":" in place else Path(place).suffix
    package = PACKAGES.get(suffix)
    code = READ.format(
        packages=[package] if package else [],
        plan=str(folder / "plan.json"),
        place=place,
        options=options,
        truth=str(folder / "truth.npz"),
    )
    found = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{place}: {done.stderr}")
        found.append(tuple(map(float, done.stdout.split())))
    return sorted(found)[len(found) // 2]


def in_postgres(table: pl.DataFrame, server: postgres.Cluster) -> None:
    """The table on a server."""
    import psycopg

    with psycopg.connect(server.url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE people (sex text, job text, age int, weight float8, born date, member boolean, region text, "
            "children int)"
        )
        with cursor.copy("COPY people FROM STDIN (FORMAT csv)") as copy:
            copy.write(table.write_csv(include_header=False))


def measure(rows: int, rounds: int) -> str:
    """The tables of the page."""
    table = people(rows)
    plan = pk.plan(SCHEMA, records=rows, k=5, design="equal-rho")
    lines = ["| read | MB on disk | processor seconds | peak MB |", "| --- | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as name, postgres.cluster() as server:
        folder = Path(name)
        plan.save(folder / "plan.json")
        release = pk.release(table, plan)
        np.savez(folder / "truth.npz", **encode(table, SCHEMA).codes)
        for file, write in files.WRITERS.items():
            if file == "people.db":
                continue
            path = folder / file
            if path.suffix == ".xlsx":  # the writer of the tests keeps all cells in memory
                write_sheet(table, path, [])
            else:
                write(table, path)
            options = {"sheet": DATA} if path.suffix == ".xlsx" else {}
            seconds, peak = read(str(path), options, folder, rounds)
            lines.append(
                f"| {file.removeprefix('people')} | {path.stat().st_size / 1e6:,.0f} | {seconds:.1f} | {peak:,.0f} |"
            )
            print(lines[-1], file=sys.stderr, flush=True)
            path.unlink()
        in_postgres(table, server)
        seconds, peak = read(server.url, {"query": "people"}, folder, rounds)
        lines.append(f"| PostgreSQL, on this machine | | {seconds:.1f} | {peak:,.0f} |")
        lines += ["", "| export | MB on disk | processor seconds |", "| --- | ---: | ---: |"]
        for file in EXPORTS:
            start = time.process_time()
            release.export(folder / file)
            seconds = time.process_time() - start
            lines.append(f"| {Path(file).suffix} | {(folder / file).stat().st_size / 1e6:,.0f} | {seconds:.1f} |")
            again = pk.TableFile(folder / file, sheet=DATA if file.endswith(".xlsx") else None)
            read_back = encode_released(again, SCHEMA)
            if not all((read_back.codes[name] == codes).all() for name, codes in release.codes.items()):
                raise SystemExit(f"{file} holds other rows than the release")
            print(lines[-1], file=sys.stderr, flush=True)
            (folder / file).unlink()
    versions = f"polars {pl.__version__}, pyreadstat {pyreadstat.__version__}"
    about = (
        f"{rows:,} rows x {table.width} columns, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"
    )
    return f"{about}; {'medians of ' + str(rounds) + ' rounds' if rounds > 1 else 'one round'}.\n\n" + "\n".join(lines)


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    report = measure(asked.rows, asked.rounds)
    print(report)
    if asked.write:
        put("formats", report)


if __name__ == "__main__":
    main()
