"""A table to codes.

The table is read once, a batch at a time (taking.py). What stays in memory are the codes, one to four bytes each, and the
columns that are passed on.

A text file is first read in the smallest types that hold every declared value. That is fast, but any other value
stops the reading, without a count. The file is then read again as text, to count such values or to take them as
``other``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from ..._progress import Progress, quiet
from ..._schema import Codes, Schema
from ..border import Unreadable
from .check import check_columns
from .columns import CodedColumn, Column, IdColumn, PassedColumn, columns_of, released_columns_of
from .formats import JSON_SUFFIXES, SHEET_SUFFIXES
from .groups import count_rows
from .opening import open_source
from .place import TableFile
from .source import Kind, Source
from .taking import Batch, batch_of, taken
from .textformat import PLAIN, Reading, TextFormat, plain_suffix

READING = "reading"
"""The name of this step in progress reports."""
NO_ROWS = "The table has no rows."
SEVERAL_ROWS = (
    "The table holds several rows of some persons. Of each person one was drawn at random for the release, and nobody knows "
    "which; what compares a release with its private table needs one row per person."
)


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as codes: one array per randomised attribute, in the order of the schema. Readers do not remove them.

    ``others`` says which share of the rows was taken as ``other``, where that was any; for the custodian's
    eyes, never for a release. ``dropped`` names the columns that the schema does not. ``passed`` holds the columns that
    are released as they are, None if there are none; ``kind`` says which kind of frame came in (a file counts as polars).
    ``persons`` says whose each row is, where one row of each person is to be drawn: the number of the first row of the same
    person.
    """

    rows: int
    codes: Mapping[str, Codes]
    passed: pl.DataFrame | None
    kind: Kind
    others: Mapping[str, float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    persons: NDArray[np.int64] | None = None

    @property
    def people(self) -> int:
        """How many rows a release of the table has: one of each person, where such are drawn."""
        if self.persons is None:
            return self.rows
        return int(np.count_nonzero(self.persons == np.arange(self.rows)))

    def handed_over(self) -> tuple[dict[str, Codes], Encoded]:
        """(the codes, in a dictionary that the caller may empty; the rest of the record, without them).

        Memory is free again as soon as the caller has let go of the columns and of this record.
        """
        return dict(self.codes), replace(self, codes={})


def encode(
    table: object,
    schema: Schema,
    *,
    text: TextFormat = PLAIN,
    exact_counts: bool = False,
    allow_empty: bool = False,
    unrounded: bool = False,
    allow_repeats: bool = False,
    progress: Progress = quiet,
) -> Encoded:
    """The codes of a table; refuses every row and column that does not fit the schema.

    ``table`` is a frame of polars, pandas or pyarrow, a duckdb relation, or a file (see opening.py). The step of
    ``progress`` is called reading. Errors say that some rows are at fault, with
    ``exact_counts`` how many. A table without rows is refused unless the caller sees to it (``allow_empty``), and so is
    one with several rows of a person (``allow_repeats``).
    Numbers of an attribute with points are rounded to the nearest; ``unrounded`` gives their places between points instead.
    """
    declared = [attribute.name for attribute in schema.attributes]
    source = open_source(table, text, exact_counts=exact_counts)
    encoded = _encoded(
        source, declared, lambda: columns_of(schema, unrounded=unrounded), progress, exact_counts, schema.others
    )
    if not encoded.rows and not allow_empty:
        raise DataError(NO_ROWS)
    if encoded.people < encoded.rows and not allow_repeats:
        raise DataError(SEVERAL_ROWS)
    return encoded


class Taker(Protocol):
    """Who takes the rows of a table while it is read, so that they are never in memory all at once."""

    def begin(self) -> None:
        """The first row comes next. Whatever came before is void: a text file may be read a second time, in another way."""

    def take(self, batch: Batch) -> None:
        """The next rows."""

    def repeated(self, name: str) -> int:
        """How many rows share a value of the id column ``name`` with another."""


def encode_through(
    table: object,
    schema: Schema,
    taker: Taker,
    *,
    text: TextFormat = PLAIN,
    exact_counts: bool = False,
    progress: Progress = quiet,
) -> Encoded:
    """Like :func:`encode` with ``unrounded``, but for the rows themselves: ``taker`` gets them, the result has none.

    Nothing that was taken may be used before this returns, for rows that do not fit are refused at the end. One row of each
    person is not drawn here.
    """
    declared = [attribute.name for attribute in schema.attributes]
    source = open_source(table, text, exact_counts=exact_counts)
    return _encoded(
        source, declared, lambda: columns_of(schema, unrounded=True), progress, exact_counts, schema.others, taker
    )


def likely_rows(table: str | os.PathLike[str] | TableFile, *, text: TextFormat = PLAIN) -> float | None:
    """About how many rows a table in a file or a database has; None if only reading all of it would tell."""
    file = table if isinstance(table, TableFile) else TableFile(table)
    if not file.is_address and plain_suffix(file.path) in (".zip", *JSON_SUFFIXES, *SHEET_SUFFIXES):
        return None  # such a file is in memory as a whole when it is opened
    return open_source(file, text).likely_rows()


def count_people(table: object, schema: Schema, *, text: TextFormat = PLAIN) -> int:
    """How many rows a release of the table has: its rows, or the persons in it where one row of each is drawn."""
    if schema.repeating is None:
        return count_rows(table, text=text)
    column = IdColumn(schema.repeating)
    source = open_source(table, text)
    check_columns(source, schema.names, others=schema.others)
    rows = _read(source, [column], quiet, None)
    if complaints := column.complaints(exact=False):
        raise DataError("\n".join(complaints))
    return Encoded(rows, {}, None, source.kind, persons=column.persons()).people if rows else 0


def encode_released(
    table: object, schema: Schema, taker: Taker | None = None, *, progress: Progress = quiet
) -> Encoded:
    """The codes of a table that was released with this schema: its values are the schema's labels. It may have no rows.

    A ``taker`` gets the rows, and the result has none, as in :func:`encode_through`.
    """
    declared = [attribute.name for attribute in schema.attributes if attribute.role in ("randomise", "pass")]
    source = open_source(table, PLAIN)
    return _encoded(source, declared, lambda: released_columns_of(schema), progress, False, taker=taker)


def _encoded(
    source: Source,
    declared: Sequence[str],
    new_columns: Callable[[], list[Column]],
    progress: Progress,
    exact_counts: bool,
    undeclared: str = "refuse",
    taker: Taker | None = None,
) -> Encoded:
    check_columns(source, declared, others=undeclared)
    dropped = tuple(name for name in source.names if name not in declared)
    progress = _rising(progress)
    columns = new_columns()
    rows = None
    if source.text is not None:
        try:
            readings = {column.attribute.name: column.reading for column in columns}
            rows = _read(source, columns, progress, readings, taker)
        except Unreadable:
            columns = new_columns()  # read again below, as text
    if rows is None:
        rows = _read(source, columns, progress, None, taker)
    coded = [column for column in columns if isinstance(column, CodedColumn)]
    if rows == 0:
        none = {column.attribute.name: column.codes() for column in coded}
        return Encoded(0, none, None, source.kind, dropped=dropped)
    if complaints := [sentence for column in columns for sentence in column.complaints(exact=exact_counts)]:
        raise DataError("\n".join(complaints))
    progress(READING, 1.0)
    others = {column.attribute.name: column.others / rows for column in coded if column.others}
    if taker is not None:
        return Encoded(rows, {}, None, source.kind, others, dropped)
    codes = {column.attribute.name: column.codes() for column in coded}
    passed = [column.values() for column in columns if isinstance(column, PassedColumn)]
    drawn = [column for column in columns if isinstance(column, IdColumn) and column.attribute.repeats != "refuse"]
    persons = drawn[0].persons() if drawn else None
    return Encoded(rows, codes, pl.DataFrame(passed) if passed else None, source.kind, others, dropped, persons)


def _read(
    source: Source,
    columns: list[Column],
    progress: Progress,
    readings: Mapping[str, Reading] | None,
    taker: Taker | None = None,
) -> int:
    """Feeds every row to the columns, and on to ``taker``; how many there were."""
    rows = 0
    if taker is not None:
        taker.begin()
        for column in columns:
            if isinstance(column, IdColumn):
                column.repeated_elsewhere = partial(taker.repeated, column.attribute.name)
    for height, share in taken(source, columns, readings):
        rows += height
        if taker is not None and height:
            taker.take(batch_of(columns, height))
        progress(READING, share)
    return rows


def _rising(progress: Progress) -> Progress:
    """Passes shares on while they rise: a file that is read again does not go back to the start."""
    reached = 0.0

    def rise(step: str, done: float) -> None:
        nonlocal reached
        if done > reached:
            reached = done
            progress(step, done)

    return rise
