"""A table that has been opened, and frames of four libraries as such tables. Files: formats/; which is which: opening.py.

pandas, pyarrow and duckdb are recognised by the name of an object's class and never imported: whoever
passes one has imported it already. Their data come over through the Arrow C stream, a few rows at a
time where the library can slice, so that the table is never in memory twice.

The index of a pandas frame is not a column and is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import polars as pl

from ..._errors import DataError, EnvironmentFailure
from ..border import Unreadable, guarded, guarded_steps
from .labels import Labels, as_texts
from .textformat import AS_TEXT, Reading

if TYPE_CHECKING:
    from .textfile import TextFile

Kind: TypeAlias = Literal["polars", "pandas", "pyarrow", "duckdb"]
Batches: TypeAlias = Iterator[tuple[pl.DataFrame, float]]
"""Some rows at a time, in order, each with the share of the table read so far."""

BATCH = 1 << 17
"""Rows of a frame handled together."""

_LONG_BATCH = 1 << 20
"""Rows of a frame without texts: little is done to each."""

_NOT_CONVERTED = "The table cannot be converted to polars columns."
_NOT_COLLECTED = "The lazy query failed; collect it to see why."


class Parts(Protocol):
    """The files of a table in several."""

    def batches(self, columns: Sequence[str], readings: Mapping[str, Reading] | None) -> Batches:
        """As :meth:`Source.batches`."""

    def likely_rows(self) -> float | None:
        """As :meth:`Source.likely_rows`."""


class Source(NamedTuple):
    """A table that has been opened: the names of its columns, and a way to read some of them.

    ``headed`` is the file whose first line names the columns, where that line might as well be a person's row.
    ``labels`` are the texts that a file has for the codes of its columns, in the order of the codes: public metadata of the
    file. ``gaps`` are columns for which the file says that some codes mean missing; those codes are read as null.
    ``ordinal`` are labelled columns whose codes the file calls an order. ``untyped``: a text may stand for a number or a
    date, because the file has no better way to write it. ``parts`` are the files of a table in several, ``expected`` says
    about how many rows there are where that is cheap to know.
    """

    kind: Kind
    names: tuple[str, ...]
    read: Callable[[Sequence[str]], Batches]
    text: TextFile | None = None
    headed: Path | None = None
    labels: Mapping[str, Labels] = MappingProxyType({})
    gaps: frozenset[str] = frozenset()
    ordinal: frozenset[str] = frozenset()
    untyped: bool = False
    parts: Parts | None = None
    expected: Callable[[], float | None] = lambda: None

    def likely_rows(self) -> float | None:
        """About how many rows there are; None if only reading them would tell."""
        if self.parts is not None:
            return self.parts.likely_rows()
        return self.text.likely_rows() if self.text is not None else self.expected()

    def labelled(self, frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        """The frame with labels instead of codes in those of ``columns`` that have labels."""
        changes = [as_texts(frame[name], self.labels[name]) for name in columns if name in self.labels]
        return frame.with_columns(changes) if changes else frame

    def batches(self, columns: Sequence[str], readings: Mapping[str, Reading] | None = None) -> Batches:
        """These ``columns`` (a text file gives all of them), some rows at a time.

        ``readings`` says how columns of a text file are read; as text where it is silent. A value
        that does not fit raises :class:`Unreadable`. Without ``readings`` every value fits, and what
        still cannot be read is the file's own fault.
        """
        if self.parts is not None:
            yield from self.parts.batches(columns, readings)
            return
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


def collected(lazy: pl.LazyFrame, message: str, total: int, batch: int | None = None) -> Batches:
    """A query on a file of ``total`` rows, ``batch`` rows at a time or as polars likes; ``message`` says what is wrong if it fails."""
    done = 0
    steps = guarded(message, lazy.collect_batches, chunk_size=batch, maintain_order=True)
    for frame in guarded_steps(DataError, message, steps):
        done += frame.height
        yield frame, min(done / total, 1.0) if total else 1.0
    if done != total:  # a signal that somebody else handles makes polars stop early, and so does a panic of its threads
        guarded(message, lazy.collect)
        raise EnvironmentFailure("Reading the table stopped before its end; run it again, undisturbed.")


def sliced(rows: int, cut: Callable[[int, int], pl.DataFrame], batch: int = BATCH) -> Batches:
    """A table that can be cut, so many rows at a time."""
    for start in range(0, rows, batch):
        size = min(batch, rows - start)
        yield guarded(_NOT_CONVERTED, cut, start, size), (start + size) / rows


def _of_polars(table: Any) -> Source:
    def read(columns: Sequence[str]) -> Batches:
        chosen = table
        if table.columns != columns:
            chosen = pl.DataFrame([table.get_column(name) for name in columns])  # a query would take ten times as long
        long = table.height > BATCH and not any(isinstance(each, (pl.String, pl.Categorical)) for each in chosen.dtypes)
        return sliced(table.height, chosen.slice, _LONG_BATCH if long else BATCH)

    return Source("polars", tuple(table.columns), read)


def _of_lazy(table: Any) -> Source:
    def read(columns: Sequence[str]) -> Batches:
        # as a whole, not in batches: the number of rows is not known before, so nobody would miss a lost batch
        frame = guarded(_NOT_COLLECTED, table.select(columns).collect)
        return sliced(frame.height, frame.slice)

    return Source("polars", tuple(table.collect_schema().names()), read)


def _of_pandas(table: Any) -> Source:
    def column(name: str, start: int, size: int) -> pl.Series:
        mixed = f"Column '{name}' holds values of several types; convert it to one type."
        return guarded(mixed, _series_of_pandas, name, table[name].iloc[start : start + size])

    def read(columns: Sequence[str]) -> Batches:
        return sliced(len(table), lambda start, size: pl.DataFrame([column(name, start, size) for name in columns]))

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
        return sliced(table.num_rows, lambda start, size: pl.DataFrame(selected.slice(start, size)))

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
        frame = guarded(failure, pl.DataFrame, Stream(guarded(failure, table.project, quoted)))
        return sliced(frame.height, frame.slice)

    return Source("duckdb", tuple(table.columns), read)


class Stream:
    """A relation as the stream of record batches that it gives, and no more.

    Polars remembers the class of everything that it makes a frame of until the program ends. Duckdb's own class would then
    outlive duckdb, which prints a page about leaks as the last thing that a user sees.
    """

    def __init__(self, relation: Any):
        self._relation = relation

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._relation.__arrow_c_stream__(requested_schema)


FRAMES: dict[tuple[str, str], Callable[[Any], Source]] = {
    ("polars", "DataFrame"): _of_polars,
    ("polars", "LazyFrame"): _of_lazy,
    ("pandas", "DataFrame"): _of_pandas,
    ("pyarrow", "Table"): _of_pyarrow,
    ("pyarrow", "RecordBatch"): _of_pyarrow,
    ("pyarrow", "RecordBatchReader"): _of_reader,
    ("duckdb", "DuckDBPyRelation"): _of_duckdb,
    ("_duckdb", "DuckDBPyRelation"): _of_duckdb,
}


def class_name(kind: type) -> tuple[str, str]:
    """The package and the name of a class."""
    return kind.__module__.partition(".")[0], kind.__name__
