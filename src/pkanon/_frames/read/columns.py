"""The handling of a column by its role: coded, checked for repetition, or passed on.

Each kind of column takes its values batch by batch and counts what is wrong with them, so that one
message can name every column at fault and the number of rows. Columns with the role ``drop`` have no
object here: nothing ever looks at them. The number itself is told only where ``exact`` counts were asked for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._schema import Attribute, Bins, Codes, Points, Range, Schema, code_dtype
from ..border import guarded, rows
from .coder import Coder
from .convert import Conversion, conversion
from .numbering import EMPTY, FAULTY, UNLISTED
from .textformat import AS_TEXT, Reading

Missing = Callable[[], NDArray[np.bool_]]

_MOST_KEPT = 2**12
"""Values of an attribute whose coder is kept for the next table: what it looks codes up in is small then."""


class Column(Protocol):
    """A column that is read."""

    attribute: Attribute

    @property
    def reading(self) -> Reading:
        """How a text file is asked for it."""

    def conversion(self, dtype: pl.DataType) -> Conversion:
        """The expressions that prepare a column of this polars type."""

    def take(self, values: pl.Series, how: Conversion, missing: Missing) -> None:
        """The next rows, converted; ``missing`` tells where nothing was entered."""

    def complaints(self, *, exact: bool) -> list[str]:
        """What is wrong with the column after the last row, one sentence each."""

    def tally(self) -> list[Any]:
        """What :meth:`complaints` is made of: counts and rules, for whoever reads the table in parts."""

    def add(self, tally: Sequence[Any]) -> None:
        """Count what another part of the table counted."""


def columns_of(schema: Schema, *, unrounded: bool = False) -> list[Column]:
    """The columns of a private table that are read; ``unrounded``: numbers are placed between points, not rounded to them."""
    return _columns(
        schema, {"randomise": partial(_private_column, unrounded=unrounded), "pass": PassedColumn, "id": IdColumn}
    )


def released_columns_of(schema: Schema) -> list[Column]:
    """The columns of a released table; it has no others."""
    return _columns(schema, {"randomise": _released_column, "pass": PassedColumn})


def _columns(schema: Schema, makers: Mapping[str, Callable[[Attribute], Column]]) -> list[Column]:
    return [makers[attribute.role](attribute) for attribute in schema.attributes if attribute.role in makers]


class CodedColumn:
    """A randomised attribute: values to codes. ``way_out`` says what to do about values that are not listed."""

    def __init__(self, attribute: Attribute, coder: Coder, way_out: str) -> None:
        self.attribute, self.coder, self.way_out = attribute, coder, way_out
        self._pieces: list[Codes] = []
        self._missing = self._unlisted = self._faulty = 0
        self._fault, self._fatal = "", False

    @property
    def reading(self) -> Reading:
        return self.coder.reading

    def conversion(self, dtype: pl.DataType) -> Conversion:
        return self.coder.conversion(dtype)

    def take(self, values: pl.Series, how: Conversion, missing: Missing) -> None:
        marked = self.coder.marked(values, missing)
        if marked.dtype.kind == "i" and marked.min(initial=0) < 0:
            absent, unlisted, faulty = marked == EMPTY, marked == UNLISTED, marked == FAULTY
            self._missing += int(np.count_nonzero(absent))
            self._unlisted += int(np.count_nonzero(unlisted))
            if count := int(np.count_nonzero(faulty)):
                self._faulty += count
                self._fault, self._fatal = how.fault, self._fatal or how.fatal
            # Where a code is None the complaints refuse the table, so what stands there instead is never seen.
            marked[absent] = (self.attribute.missing_code or 0) << self.coder.shift
            marked[unlisted | faulty] = (self.coder.other_code or 0) << self.coder.shift
        self._pieces.append(marked.astype(self._dtype, copy=False))

    @property
    def _dtype(self) -> np.dtype[np.unsignedinteger[Any]]:
        return np.dtype(np.uint32) if self.coder.shift else np.dtype(code_dtype(self.attribute.size))

    def complaints(self, *, exact: bool) -> list[str]:
        sentences = []
        column = f"Column '{self.attribute.name}':"
        if self._missing and self.attribute.missing_code is None:
            sentences.append(
                f'{column} {rows(self._missing, "have", exact=exact)} no value; declare missing = "value" or complete the data.'
            )
        if self._faulty and (self.coder.other_code is None or self._fatal):
            sentences.append(
                f"{column} {rows(self._faulty, exact=exact)} {self._fault}; correct the data or the schema."
            )
        if self._unlisted and self.coder.other_code is None:
            sentences.append(
                f"{column} {rows(self._unlisted, exact=exact)} a value that the schema does not list; {self.way_out}"
            )
        return sentences

    def tally(self) -> list[Any]:
        return [self._missing, self._unlisted, self._faulty, self._fault, self._fatal]

    def add(self, tally: Sequence[Any]) -> None:
        missing, unlisted, faulty, fault, fatal = tally
        self._missing += missing
        self._unlisted += unlisted
        self._faulty += faulty
        self._fault, self._fatal = self._fault or fault, self._fatal or fatal

    @property
    def others(self) -> int:
        """How many rows held something unlisted and were taken as ``other``."""
        return self._unlisted + self._faulty if self.coder.other_code is not None else 0

    def codes(self) -> Codes:
        """All codes, in the order of the rows; to be called once."""
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return np.empty(0, self._dtype)
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _private_column(attribute: Attribute, *, unrounded: bool = False) -> CodedColumn:
    match attribute.domain:
        case Points():
            widen = "declare points as low and as high as values can be"
        case Bins():
            widen = 'declare bins that hold it, or open them (open = "both")'
        case Range():
            widen = "declare a wider range"
        case _:
            widen = "list it"
    other = "" if isinstance(attribute.domain, Points) else ' declare other = "..." for it,'
    return CodedColumn(
        attribute,
        _coder(attribute, unrounded),
        f"{widen},{other} name it under missing_values if it means missing, or correct the data.",
    )


_coders: dict[tuple[int, bool], Coder] = {}


def _coder(attribute: Attribute, unrounded: bool) -> Coder:
    """Made once for an attribute of few values, and gone with it: making one takes much of the time of a small table."""
    if attribute.size > _MOST_KEPT:
        return Coder.of(attribute, unrounded=unrounded)
    key = id(attribute), unrounded  # not the attribute: two are equal if their values are equal in Python, 1 and 1.0
    if key not in _coders:
        made = Coder.of(attribute, unrounded=unrounded)
        weakref.finalize(attribute, _coders.pop, key, None).atexit = False
        _coders[key] = made
    return _coders[key]


def _released_column(attribute: Attribute) -> CodedColumn:
    return CodedColumn(attribute, Coder.of_released(attribute), "this table was not released with this schema.")


class _KeptColumn:
    """A column whose values are kept as they are read, or in its declared type where that is not text."""

    reading = AS_TEXT

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        self._pieces: list[pl.Series] = []
        self._faulty = 0
        self._fault = ""

    def conversion(self, dtype: pl.DataType) -> Conversion:
        if self.attribute.type == "text":
            return Conversion(pl.col(self.attribute.name), self._nothing(dtype), "")
        attribute = self.attribute
        return conversion(attribute.name, dtype, attribute.type, attribute.missing_values, attribute.notation)

    def _nothing(self, dtype: pl.DataType) -> pl.Expr:
        column = pl.col(self.attribute.name)
        nothing = column.is_null()
        if dtype.is_float():
            nothing |= column.is_nan()
        if isinstance(dtype, pl.String):
            nothing |= column.is_in(["", *self.attribute.missing_values])
        return nothing.fill_null(True)

    def take(self, values: pl.Series, how: Conversion, missing: Missing) -> None:
        self._pieces.append(values)
        if how.fault and values.null_count():
            self._faulty += int(np.count_nonzero(values.is_null().to_numpy() & ~missing()))
            self._fault = how.fault

    def complaints(self, *, exact: bool) -> list[str]:
        if not self._faulty:
            return []
        return [
            f"Column '{self.attribute.name}': {rows(self._faulty, exact=exact)} {self._fault}; correct the data or the schema."
        ]

    def tally(self) -> list[Any]:
        return [self._faulty, self._fault]

    def add(self, tally: Sequence[Any]) -> None:
        faulty, fault, *_ = tally
        self._faulty += faulty
        self._fault = self._fault or fault

    def values(self) -> pl.Series:
        """All values, in the order of the rows."""
        frames: Sequence[pl.DataFrame] = [piece.to_frame() for piece in self._pieces]
        mixed = f"Column '{self.attribute.name}' holds values of several types; convert it to one type."
        return guarded(mixed, pl.concat, frames, how="vertical_relaxed").to_series()

    def handed_over(self) -> pl.Series:
        """The values since the last call; they are not kept."""
        values = self.values()
        self._pieces = []
        return values


class PassedColumn(_KeptColumn):
    """A column that is released as it is."""


class IdColumn(_KeptColumn):
    """A column that must be there in every row; different in each, unless its schema has one row of each person drawn."""

    def __init__(self, attribute: Attribute) -> None:
        super().__init__(attribute)
        self._missing = 0
        self.repeated_elsewhere: Callable[[], int] | None = None
        """Who compares the ids, where they are not kept here."""

    def take(self, values: pl.Series, how: Conversion, missing: Missing) -> None:
        super().take(values, how, missing)
        self._missing += int(np.count_nonzero(missing()))

    def complaints(self, *, exact: bool) -> list[str]:
        sentences = super().complaints(exact=exact)
        name = self.attribute.name
        if self._missing:
            sentences.append(
                f"The id column '{name}': {rows(self._missing, 'have', exact=exact)} no id; complete them."
            )
        kept = bool(self._pieces) or self.repeated_elsewhere is not None
        if sentences or self.attribute.repeats != "refuse" or not kept:
            return sentences
        if again := guarded(f"The id column '{name}' cannot be compared.", self._repeated):
            sentences.append(repeated_ids(name, again, exact=exact))
        return sentences

    def tally(self) -> list[Any]:
        return [*super().tally(), self._missing]

    def add(self, tally: Sequence[Any]) -> None:
        super().add(tally)
        self._missing += tally[-1]

    def persons(self) -> NDArray[np.int64]:
        """Whose each row is: the number of the first row with the same id."""
        failure = f"The id column '{self.attribute.name}' cannot be compared."
        return guarded(failure, _first_rows, self.values()).to_numpy().astype(np.int64)

    def _repeated(self) -> int:
        if self.repeated_elsewhere is not None:
            return self.repeated_elsewhere()
        values = self.values()
        return 0 if values.n_unique() == len(values) else int(values.is_duplicated().sum())


def repeated_ids(name: str, again: int, *, exact: bool) -> str:
    """That ``again`` rows share an id with another."""
    return (
        f"The id column '{name}' repeats: {rows(again, 'share', exact=exact)} an id with another, and one row per person is "
        'required; join the rows of each person, or write repeats = "one at random" in the schema to draw one of them.'
    )


def _first_rows(ids: pl.Series) -> pl.Series:
    return pl.DataFrame({"id": ids}).with_row_index("row").select(pl.col("row").min().over("id")).to_series()
