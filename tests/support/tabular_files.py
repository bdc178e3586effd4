"""The same few people in files of every format, as other programs would have written them."""

from __future__ import annotations

import ctypes
import datetime as dt
import gzip
import sqlite3
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from pkanon._schema import Attribute, Schema

JOBS = {1: "farmer", 2: "nurse", 3: "retired", 5: "teacher"}
"""Labels of codes; nobody is retired."""
REFUSED, UNKNOWN = 8, 9
"""Codes of the job that mean missing."""

SCHEMA = Schema(
    [
        Attribute("sex", ["F", "M"]),
        Attribute("job", list(JOBS.values()), missing="value"),
        Attribute.ranged("age", 0, 99, missing="value"),
        Attribute("weight", [50.5, 70.25, 80.0]),
        Attribute.binned("born", edges=[dt.date(year, 1, 1) for year in (1900, 1950, 1990, 2030)], missing="value"),
        Attribute("member", [False, True]),
    ]
)


def people(rows: int = 60) -> pl.DataFrame:
    """People with every type of value, some of them missing."""
    jobs = ["farmer", "nurse", "teacher", None]
    days = [dt.date(1931, 2, 28), dt.date(1977, 12, 31), dt.date(2004, 2, 29), None, dt.date(1960, 1, 1)]
    return pl.DataFrame(
        {
            "sex": [("F", "M")[i % 2] for i in range(rows)],
            "job": [jobs[i % 4] for i in range(rows)],
            "age": [None if i % 7 == 3 else i % 90 for i in range(rows)],
            "weight": [(50.5, 70.25, 80.0)[i % 3] for i in range(rows)],
            "born": [days[i % 5] for i in range(rows)],
            "member": [i % 5 < 2 for i in range(rows)],
        },
        schema_overrides={"age": pl.Int64, "born": pl.Date},
    )


def with_codes(table: pl.DataFrame) -> pl.DataFrame:
    """The table with codes instead of labels, as SPSS has it: two codes for a job that is missing."""
    codes = {label: code for code, label in JOBS.items()}
    job = pl.col("job").replace_strict(codes, default=None, return_dtype=pl.Int32)
    unknown = pl.when(pl.int_range(pl.len()) % 8 < 4).then(REFUSED).otherwise(UNKNOWN)
    return table.with_columns(job.fill_null(unknown).cast(pl.Int32), pl.col("member").cast(pl.Int32))


LABELS: dict[str, dict[Any, str]] = {
    "job": {**JOBS, REFUSED: "refused", UNKNOWN: "unknown"},
    "member": {0: "false", 1: "true"},
}


def write_sav(table: pl.DataFrame, path: Path) -> None:
    import pyreadstat

    pyreadstat.write_sav(
        with_codes(table),
        str(path),
        variable_value_labels=LABELS,
        missing_ranges={"job": [{"lo": REFUSED, "hi": UNKNOWN}]},
        variable_measure={"job": "ordinal"},
        compress=path.suffix == ".zsav",
    )


def write_dta(table: pl.DataFrame, path: Path) -> None:
    import pyreadstat

    coded = with_codes(table).with_columns(
        pl.col("job").replace([REFUSED, UNKNOWN], [None, None]), pl.col("member").cast(pl.Int32)
    )
    labels = {"job": JOBS, "member": LABELS["member"]}
    pyreadstat.write_dta(coded, str(path), variable_value_labels=labels)


def write_xpt(table: pl.DataFrame, path: Path) -> None:
    import pyreadstat

    pyreadstat.write_xport(table.with_columns(pl.col("member").cast(pl.String)), str(path))


def write_por(table: pl.DataFrame, path: Path) -> None:
    import pyreadstat

    pyreadstat.write_por(table.select(pl.col("age", "weight", "born").name.to_uppercase()), str(path))


def write_sas7bdat(columns: Mapping[str, Sequence[float | None]], path: Path) -> None:
    """Numbers in a file of SAS, by the library inside pyreadstat, which writes more than pyreadstat offers."""
    import pyreadstat._readstat_writer as module

    library = ctypes.CDLL(module.__file__)
    for name in ("readstat_writer_init", "readstat_add_variable", "readstat_get_variable"):
        getattr(library, name).restype = ctypes.c_void_p
    sink_type = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    written = bytearray()

    def take(data: int, size: int, _: object) -> int:
        written.extend(ctypes.string_at(data, size))
        return size

    sink = sink_type(take)
    writer = ctypes.c_void_p(library.readstat_writer_init())
    library.readstat_set_data_writer(writer, sink)
    variables = [
        ctypes.c_void_p(library.readstat_add_variable(writer, name.encode(), 5, ctypes.c_size_t(0))) for name in columns
    ]
    rows = len(next(iter(columns.values())))
    done = library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(rows))
    for row in zip(*columns.values()):
        done |= library.readstat_begin_row(writer)
        for variable, value in zip(variables, row):
            if value is None:
                done |= library.readstat_insert_missing_value(writer, variable)
            else:
                done |= library.readstat_insert_double_value(writer, variable, ctypes.c_double(value))
        done |= library.readstat_end_row(writer)
    done |= library.readstat_end_writing(writer)
    library.readstat_writer_free(writer)
    if done:
        raise RuntimeError(f"ReadStat failed with code {done}.")
    path.write_bytes(bytes(written))


def write_xlsx(table: pl.DataFrame, path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("notes").write(0, 0, "not these")
        table.write_excel(book, worksheet="people")


def write_json_lines(table: pl.DataFrame, path: Path) -> None:
    table.write_ndjson(path)


def write_json_lines_gz(table: pl.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(table.write_ndjson().encode()))


def write_zip(table: pl.DataFrame, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", table.write_csv())


def write_sqlite(table: pl.DataFrame, path: Path) -> None:
    plain = table.with_columns(pl.col("born", "member").cast(pl.String))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE people ({', '.join(plain.columns)})")
        marks = ", ".join("?" * plain.width)
        database.executemany(f"INSERT INTO people VALUES ({marks})", plain.rows())


def write_duckdb(table: pl.DataFrame, path: Path) -> None:
    import duckdb

    with closing(duckdb.connect(str(path))) as database:
        database.register("given", table.to_arrow())
        database.execute("CREATE TABLE people AS SELECT * FROM given")


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "people.csv": lambda table, path: table.write_csv(path),
    "people.csv.gz": lambda table, path: path.write_bytes(gzip.compress(table.write_csv().encode())),
    "people.zip": write_zip,
    "people.parquet": lambda table, path: table.write_parquet(path),
    "people.feather": lambda table, path: table.write_ipc(path, compression="lz4"),
    "people.arrow": lambda table, path: table.write_ipc_stream(path),
    "people.jsonl": write_json_lines,
    "people.ndjson.gz": write_json_lines_gz,
    "people.sav": write_sav,
    "people.zsav": write_sav,
    "people.dta": write_dta,
    "people.xpt": write_xpt,
    "people.xlsx": write_xlsx,
    "people.sqlite": write_sqlite,
    "people.duckdb": write_duckdb,
    "people.db": write_duckdb,
}
"""Names of files, each with how to write it."""
