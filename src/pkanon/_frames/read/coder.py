"""One attribute's values to codes: how a text file is read, how its column is converted, which code each value gets.

A coder knows its attribute and nothing of the data: the same value has the same code in every table,
batch and kind of frame. ``Attribute.code`` is the definition; this is the same for many values at once.

The values of a released table are labels: a bin is its label, ``other`` is one more value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._schema import PLAIN_NOTATION, Attribute, Bins, Domain, Listed, Notation, Points, Range, Value
from .convert import Conversion, conversion, of_categories
from .numbering import EMPTY, FAULTY, Marked, Numbering, as_number, merging, numbering, places
from .textformat import Reading
from .texts import TextCodes

_INTEGERS: tuple[tuple[pl.DataType, int, int], ...] = (
    (pl.UInt8(), 0, 2**8 - 1),
    (pl.Int16(), -(2**15), 2**15 - 1),
    (pl.Int32(), -(2**31), 2**31 - 1),
    (pl.Int64(), -(2**63), 2**63 - 1),
)


_MOST_LISTED = 2**12
"""Texts of a type that polars reads about as fast as plain texts."""


@dataclass(frozen=True, eq=False)
class Coder:
    """Values of one randomised attribute to codes and marks.

    ``type_name`` is the type of the column that is read, ``missing_values`` are texts that mean missing. ``other_code`` is
    the code of whatever is not listed (None: it is refused); ``extra`` is one more value, with the code after the last.
    ``merged`` are raw values with the code of the declared value that they become, ``notation`` says how texts are written.
    ``unrounded``: numbers are not rounded to points but placed between them.
    """

    name: str
    type_name: str
    domain: Domain
    missing_values: tuple[str, ...] = ()
    other_code: int | None = None
    extra: Value | None = None
    merged: Mapping[Value, int] = field(default_factory=dict)
    notation: Notation = PLAIN_NOTATION
    unrounded: bool = False
    _last: list[tuple[pl.DataType, Conversion]] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(cls, attribute: Attribute, *, unrounded: bool = False) -> Coder:
        """For the column of a private table."""
        return cls(
            attribute.name,
            attribute.type,
            _domain(attribute),
            missing_values=attribute.missing_values,
            other_code=attribute.other_code,
            merged=attribute.merged_codes,
            notation=attribute.notation,
            unrounded=unrounded and isinstance(attribute.domain, Points),
        )

    @property
    def shift(self) -> int:
        """How many bits of a number that is given out are a part of the way to the next code."""
        return self.domain.bits if self.unrounded and isinstance(self.domain, Points) else 0

    @classmethod
    def of_released(cls, attribute: Attribute) -> Coder:
        """For the column of a released table: its values are the labels, null is the missing one, all else is refused."""
        domain = _domain(attribute)
        exact = Listed(domain.values) if isinstance(domain, Points) else domain  # points are released as they are
        return cls(attribute.name, attribute.released_type, exact, extra=attribute.other)

    @cached_property
    def reading(self) -> Reading:
        """How a text file is read: in the smallest type that holds every declared value."""
        texts = [text for text in self.missing_values if text]  # an empty field is missing anyway
        missing = texts[0] if texts else None
        # A field that swallowed a line end is no listed value, unless such a thing is listed.
        listed = self._texts if self.type_name == "text" else texts
        as_text = Reading(pl.String(), takes_anything=self.other_code is not None or any("\n" in t for t in listed))
        match self.type_name:
            case "text" if self.other_code is None and len(listed) <= _MOST_LISTED:
                return as_text._replace(listed=pl.Enum(list(listed)))
            case "text" | "date":  # polars' own reader takes 31/12/2024 for a date, too
                return as_text
            case _ if self.notation != PLAIN_NOTATION:
                return as_text
            case _ if len(texts) > 1:  # polars knows one missing text per column
                return as_text
            case "integer":
                return Reading(self._integer, missing)
            case "number":
                return Reading(pl.Float64(), missing)
            case _:
                return Reading(pl.Boolean(), missing)

    def conversion(self, dtype: pl.DataType) -> Conversion:
        """How a column of this polars type comes to be numbered; kept for the next table, which mostly has the same type."""
        for known, how in self._last:
            if known == dtype:
                return how
        how = self._conversion(dtype)
        self._last[:] = [(dtype, how)]
        return how

    def _conversion(self, dtype: pl.DataType) -> Conversion:
        if self.type_name == "text":
            if isinstance(dtype, pl.Enum):
                return of_categories(self.name, numbered=self._text_codes.are_numbered(dtype))
            return conversion(self.name, dtype, "text", ())  # texts that mean missing are marked with the others
        return conversion(self.name, dtype, self.type_name, self.missing_values, self.notation)

    def marked(self, values: pl.Series, missing: Callable[[], NDArray[np.bool_]]) -> Marked:
        """Codes and marks of converted values; ``missing`` says where nothing was entered, if asked."""
        if self.type_name == "text":
            return self._text_codes.marked(values)
        plain = _plain(values)
        if not plain.null_count():
            return self._numbering(plain.to_numpy())
        codes = self._numbering(plain.fill_null(0).to_numpy()).astype(np.int32)  # with room for marks
        codes[plain.is_null().to_numpy()] = FAULTY
        codes[missing()] = EMPTY
        return codes

    @cached_property
    def _numbering(self) -> Numbering:
        if isinstance(self.domain, Listed) and self.merged:
            return merging(self.domain, self.merged)
        if self.unrounded and isinstance(self.domain, Points):
            return places(self.domain)
        return numbering(self.domain, self.extra)

    @cached_property
    def _text_codes(self) -> TextCodes:
        return TextCodes(self._texts)

    @cached_property
    def _texts(self) -> dict[str, int]:
        """Every text with a meaning."""
        labels = [str(label) for label in self.domain.labels()]
        if self.extra is not None:
            labels.append(str(self.extra))
        codes = {label: code for code, label in enumerate(labels)}
        codes |= {str(raw): code for raw, code in self.merged.items()}
        return codes | dict.fromkeys(self.missing_values, EMPTY)

    @property
    def _integer(self) -> pl.DataType:
        """The smallest type that holds every integer with a code."""
        if self.other_code is not None:
            return pl.Int64()
        ends = [as_number(raw) for raw in self.merged]
        if self.extra is not None:
            ends.append(as_number(self.extra))
        match self.domain:
            case Bins() as bins:
                if bins.open != "none":
                    return pl.Int64()
                ends += [as_number(bins.edges[0]), as_number(bins.edges[-1])]
            case Points():
                return pl.Int64()
            case Listed(values):
                ends += [as_number(value) for value in values]
            case Range(low, high):
                ends += [low, high]
        return next(dtype for dtype, first, last in _INTEGERS if first <= min(ends) and max(ends) <= last)


def _domain(attribute: Attribute) -> Domain:
    assert attribute.domain is not None  # only randomised attributes have codes
    return attribute.domain


def _plain(values: pl.Series) -> pl.Series:
    """The numbers that stand for the values in polars."""
    if isinstance(values.dtype, pl.Date):
        return values.to_physical()
    return values.cast(pl.UInt8) if isinstance(values.dtype, pl.Boolean) else values
