"""Where a table comes from: one way to read frames of four libraries and files of two formats.

pandas, pyarrow and duckdb are recognised by the name of an object's class and never imported: whoever
passes one has imported it already. Their data come over through the Arrow C stream, a few rows at a
time where the library can slice, so that the table is never in memory twice.

The index of a pandas frame is not a column and is ignored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from ..._errors import DataError, EnvironmentFailure, InputError
from ..border import Unreadable, guarded, guarded_steps
from .textfile import AS_TEXT, Reading, TextFile, open_text
from .textopen import TEXT_SUFFIXES, TextFormat, plain_suffix

Kind: TypeAlias = Literal["polars", "pandas", "pyarrow", "duckdb"]
Batches: TypeAlias = Iterator[tuple[pl.DataFrame, float]]
"""Some rows at a time, in order, each with the share of the table read so far."""

BATCH = 1 << 17
"""Rows of a frame handled together."""

PARQUET_SUFFIXES = (".parquet", ".pq")
ACCEPTED = (
    "a polars DataFrame or LazyFrame, a pandas DataFrame, a pyarrow Table or RecordBatchReader, a duckdb relation, "
    "or the path of a file: " + ", ".join(TEXT_SUFFIXES) + " (also .gz), " + ", ".join(PARQUET_SUFFIXES)
)
_NOT_CONVERTED = "The table cannot be converted to polars columns."
_NOT_COLLECTED = "The lazy query failed; collect it to see why."


@dataclass(frozen=True)
class Source:
    """A table that has been opened: the names of its columns, and a way to read some of them."""

    kind: Kind
    names: tuple[str, ...]
    read: Callable[[Sequence[str]], Batches]
    text: TextFile | None = None

    def batches(self, columns: Sequence[str], readings: Mapping[str, Reading] | None = None) -> Batches:
        """These ``columns`` (a text file gives all of them), some rows at a time.

        ``readings`` says how columns of a text file are read; as text where it is silent. A value
        that does not fit raises :class:`Unreadable`. Without ``readings`` every value fits, and what
        still cannot be read is the file's own fault.
        """
        if self.text is None:
            yield from self.read(columns)
            return
        how = {name: (readings or {}).get(name, AS_TEXT) for name in self.names}
        try:
            yield from self.text.batches(how)
            return
        except Unreadable:
            if readings is not None:
                raise
        raise DataError(self.text.diagnosis())


def open_source(table: object, text: TextFormat, *, exact_counts: bool = False) -> Source:
    """The table as a source; refuses what is not a table.

    ``exact_counts``: errors say how many rows are at fault, not only that some are.
    """
    if isinstance(table, (str, os.PathLike)):
        return _open_path(Path(table), text, exact_counts)
    opener = next((_OPENERS[key] for key in map(_class_name, type(table).__mro__) if key in _OPENERS), None)
    if opener is None:
        raise InputError(f"A table is {ACCEPTED}; got an object of type {type(table).__name__}.")
    source = guarded("The names of the table's columns cannot be read.", opener, table)
    if not all(isinstance(name, str) for name in source.names):
        raise DataError("The names of the table's columns must be texts; rename those that are not.")
    return source


def _open_path(path: Path, text: TextFormat, exact_counts: bool) -> Source:
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the path of one file.")
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    suffix = plain_suffix(path)
    if suffix in TEXT_SUFFIXES:
        file = open_text(path, text, exact_counts=exact_counts)
        return Source("polars", file.names, lambda columns: file.batches({}), file)
    if suffix in PARQUET_SUFFIXES:
        return _parquet(path)
    excel = " Save a spreadsheet as CSV first." if suffix in (".xlsx", ".xls", ".ods") else ""
    endings = ", ".join((*TEXT_SUFFIXES, *PARQUET_SUFFIXES))
    raise InputError(f"{path} has an unknown ending; a file ends in {endings} (texts also in .gz).{excel}")


def _parquet(path: Path) -> Source:
    damaged = f"{path} is not a complete Parquet file."
    lazy = guarded(damaged, pl.scan_parquet, path, glob=False, hive_partitioning=False)
    names = guarded(damaged, lazy.collect_schema).names()
    total = guarded(damaged, lazy.select(pl.len()).collect).item()
    return Source("polars", tuple(names), lambda columns: _collected(lazy.select(columns), damaged, total))


def _collected(lazy: pl.LazyFrame, message: str, total: int) -> Batches:
    done = 0
    steps = guarded(message, lazy.collect_batches, maintain_order=True)
    for frame in guarded_steps(DataError, message, steps):
        done += frame.height
        yield frame, min(done / total, 1.0) if total else 1.0
    if done != total:  # a signal that somebody else handles makes polars stop early
        raise EnvironmentFailure("Reading the table stopped before its end; run it again, undisturbed.")


def _sliced(rows: int, cut: Callable[[int, int], pl.DataFrame]) -> Batches:
    for start in range(0, rows, BATCH):
        size = min(BATCH, rows - start)
        yield guarded(_NOT_CONVERTED, cut, start, size), (start + size) / rows


def _of_polars(table: Any) -> Source:
    return Source("polars", tuple(table.columns), lambda columns: _sliced(table.height, table.select(columns).slice))


def _of_lazy(table: Any) -> Source:
    def read(columns: Sequence[str]) -> Batches:
        # as a whole, not in batches: the number of rows is not known before, so nobody would miss a lost batch
        frame = guarded(_NOT_COLLECTED, table.select(columns).collect)
        return _sliced(frame.height, frame.slice)

    return Source("polars", tuple(table.collect_schema().names()), read)


def _of_pandas(table: Any) -> Source:
    def column(name: str, start: int, size: int) -> pl.Series:
        mixed = f"Column '{name}' holds values of several types; convert it to one type."
        return guarded(mixed, _series_of_pandas, name, table[name].iloc[start : start + size])

    def read(columns: Sequence[str]) -> Batches:
        return _sliced(len(table), lambda start, size: pl.DataFrame([column(name, start, size) for name in columns]))

    return Source("pandas", tuple(table.columns), read)


def _series_of_pandas(name: str, column: Any) -> pl.Series:
    try:
        return pl.Series(name, column)
    except ImportError:
        pass  # without pyarrow, polars converts numpy columns only
    values = column.astype(object).to_numpy(copy=True)
    values[column.isna().to_numpy()] = None
    return pl.Series(name, values.tolist())


def _of_pyarrow(table: Any) -> Source:
    def read(columns: Sequence[str]) -> Batches:
        selected = table.select(list(columns))
        return _sliced(table.num_rows, lambda start, size: pl.DataFrame(selected.slice(start, size)))

    return Source("pyarrow", tuple(table.schema.names), read)


def _of_reader(table: Any) -> Source:
    def read(columns: Sequence[str]) -> Batches:
        frames = (pl.DataFrame(batch.select(list(columns))) for batch in table)
        for frame in guarded_steps(DataError, "The record batches cannot be read to their end.", frames):
            yield frame, 0.0

    return Source("pyarrow", tuple(table.schema.names), read)


def _of_duckdb(table: Any) -> Source:
    def read(columns: Sequence[str]) -> Batches:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        # One query for all columns: another run of it might give the rows in another order.
        failure = "The duckdb relation cannot be read."
        frame = guarded(failure, pl.DataFrame, _Stream(guarded(failure, table.project, quoted)))
        return _sliced(frame.height, frame.slice)

    return Source("duckdb", tuple(table.columns), read)


class _Stream:
    """A relation as the stream of record batches that it gives, and no more.

    Polars remembers the class of everything that it makes a frame of until the program ends. Duckdb's own class would then
    outlive duckdb, which prints a page about leaks as the last thing that a user sees.
    """

    def __init__(self, relation: Any):
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


_OPENERS: dict[tuple[str, str], Callable[[Any], Source]] = {
    ("polars", "DataFrame"): _of_polars,
    ("polars", "LazyFrame"): _of_lazy,
    ("pandas", "DataFrame"): _of_pandas,
    ("pyarrow", "Table"): _of_pyarrow,
    ("pyarrow", "RecordBatch"): _of_pyarrow,
    ("pyarrow", "RecordBatchReader"): _of_reader,
    ("duckdb", "DuckDBPyRelation"): _of_duckdb,
    ("_duckdb", "DuckDBPyRelation"): _of_duckdb,
}


def _class_name(kind: type) -> tuple[str, str]:
    return kind.__module__.partition(".")[0], kind.__name__
