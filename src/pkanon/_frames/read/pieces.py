"""A private table to codes, a piece at a time: for engines that never see the whole of it.

Each piece is a polars frame with the columns of the schema; its codes are those that the same rows have in the whole table.
What is wrong with values is counted, not raised: counts of all pieces, wherever they were read, are added up, and the
sentences are those of the whole table. Numbers of attributes with points are left between them (``unrounded``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._schema import Codes, Schema
from ..border import guarded
from .check import check_columns
from .columns import CodedColumn, Column, IdColumn, PassedColumn, columns_of, released_columns_of
from .convert import Conversion
from .source import Source


@dataclass(frozen=True)
class Piece:
    """Some rows: ``codes`` by attribute; ``passed`` are the columns released as they are, ``ids`` those that are checked."""

    rows: int
    codes: Mapping[str, Codes]
    passed: tuple[pl.Series, ...]
    ids: tuple[pl.Series, ...]


class PieceEncoder:
    """The columns of a schema, fed with one piece after the other."""

    def __init__(self, schema: Schema) -> None:
        self._columns: list[Column] = columns_of(schema, unrounded=True)

    @classmethod
    def of_released(cls, schema: Schema, names: Sequence[str]) -> PieceEncoder:
        """For some columns of a released table."""
        encoder = cls(schema)
        encoder._columns = [column for column in released_columns_of(schema) if column.attribute.name in names]
        return encoder

    @property
    def names(self) -> list[str]:
        """The columns that are read, in the order of the schema."""
        return [column.attribute.name for column in self._columns]

    def take(self, frame: pl.DataFrame) -> Piece:
        """The codes of some rows."""
        hows = [column.conversion(frame.schema[name]) for column, name in zip(self._columns, self.names)]
        changes = [how.value for how in hows if not how.unchanged]
        values = guarded("The columns cannot be converted to their types.", frame.with_columns, changes)
        for column, how in zip(self._columns, hows):
            name = column.attribute.name
            guarded(f"Column '{name}' cannot be read.", column.take, values[name], how, _missing(frame, how))
        return Piece(
            frame.height,
            {column.attribute.name: column.codes() for column in self._columns if isinstance(column, CodedColumn)},
            tuple(column.handed_over() for column in self._columns if isinstance(column, PassedColumn)),
            tuple(column.handed_over() for column in self._columns if isinstance(column, IdColumn)),
        )

    def tally(self) -> list[list[Any]]:
        """What is wrong so far: counts and rules, no values."""
        return [column.tally() for column in self._columns]

    def add(self, tally: Sequence[Sequence[Any]]) -> None:
        """Count what another encoder counted."""
        for column, counts in zip(self._columns, tally):
            column.add(counts)

    def complaints(self, *, exact: bool) -> list[str]:
        """What is wrong, one sentence each; whether ids repeat is for the engine to find out."""
        return [sentence for column in self._columns for sentence in column.complaints(exact=exact)]


def _missing(frame: pl.DataFrame, how: Conversion) -> Any:
    def missing() -> NDArray[np.bool_]:
        return frame.select(how.missing).to_series().to_numpy()

    return missing


def check_names(names: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Refuse a table whose columns are not those of the schema; the columns that it drops without naming them."""
    declared = [attribute.name for attribute in schema.attributes]
    check_columns(Source("polars", tuple(names), lambda _: iter(())), declared, others=schema.others)
    return tuple(name for name in names if name not in declared)
