"""One attribute's values to codes: what to ask a text file for, which expression, which code for what.

A coder knows its attribute and nothing of the data: the same value has the same code in every table,
batch and kind of frame. ``Attribute.code`` is the definition; this is the same for many values at once.

For a table that was released already, the values are the labels: a bin is its label, ``other`` is one
more value, null is the missing one, and nothing else is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._schema import Attribute, Bins, Domain, Listed, Range
from .convert import Conversion, conversion
from .numbering import FAULTY, MISSING, Marked, Numbering, as_number, numbering
from .textfile import Reading
from .texts import TextCodes

_INTEGERS: tuple[tuple[pl.DataType, int, int], ...] = (
    (pl.UInt8(), 0, 2**8 - 1),
    (pl.Int16(), -(2**15), 2**15 - 1),
    (pl.Int32(), -(2**31), 2**31 - 1),
    (pl.Int64(), -(2**63), 2**63 - 1),
)


@dataclass(frozen=True)
class Coder:
    """Values of one randomised attribute to codes and marks."""

    attribute: Attribute
    released: bool = False

    @property
    def domain(self) -> Domain:
        """The declared values."""
        assert self.attribute.domain is not None  # only randomised attributes have codes
        return self.attribute.domain

    @property
    def type_name(self) -> str:
        """The type of the column that is read."""
        return self.attribute.released_type if self.released else self.attribute.type

    @property
    def missing_values(self) -> tuple[str, ...]:
        """Texts that mean missing."""
        return () if self.released else self.attribute.missing_values

    @property
    def other_code(self) -> int | None:
        """The code of whatever is not listed; None: it is refused."""
        return None if self.released else self.attribute.other_code

    @cached_property
    def reading(self) -> Reading:
        """What a text file is asked for: the smallest type that takes every declared value."""
        texts = [text for text in self.missing_values if text]  # an empty field is missing anyway
        missing = texts[0] if texts else None
        # A field that swallowed a line end is no listed value, unless such a thing is listed.
        listed = self._texts if self.type_name == "text" else texts
        as_text = Reading(pl.String(), takes_anything=self.other_code is not None or any("\n" in t for t in listed))
        match self.type_name:
            case "text" | "date":  # polars' own reader takes 31/12/2024 for a date, too
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
        """How a column of this polars type comes to be numbered."""
        name = self.attribute.name
        if self.type_name == "text":
            if isinstance(dtype, pl.Enum):
                return Conversion(pl.col(name), pl.col(name).is_null(), "")
            return conversion(name, dtype, "text", ())  # texts that mean missing are marked with the others
        return conversion(name, dtype, self.type_name, self.missing_values)

    def marked(self, values: pl.Series, missing: Callable[[], NDArray[np.bool_]]) -> Marked:
        """Codes and marks of converted values; ``missing`` says where nothing was entered, if asked."""
        if self.type_name == "text":
            return self._text_codes.marked(values)
        plain = _plain(values)
        if not plain.null_count():
            return self._numbering(plain.to_numpy())
        found = self._numbering(plain.fill_null(0).to_numpy()).astype(np.int32)  # with room for marks
        found[plain.is_null().to_numpy()] = FAULTY
        found[missing()] = MISSING
        return found

    @cached_property
    def _numbering(self) -> Numbering:
        return numbering(self.domain, self.attribute.other if self.released else None)

    @cached_property
    def _text_codes(self) -> TextCodes:
        return TextCodes(self._texts)

    @cached_property
    def _texts(self) -> dict[str, int]:
        """Every text with a meaning."""
        labels = [str(label) for label in self.domain.labels()]
        if self.released and self.attribute.other is not None:
            labels.append(str(self.attribute.other))
        return {label: code for code, label in enumerate(labels)} | dict.fromkeys(self.missing_values, MISSING)

    @property
    def _integer(self) -> pl.DataType:
        """The smallest type that holds every integer with a code."""
        if self.other_code is not None:
            return pl.Int64()
        ends = [] if self.attribute.other is None else [as_number(self.attribute.other)]
        match self.domain:
            case Bins() as bins:
                if bins.open != "none":
                    return pl.Int64()
                ends += [as_number(bins.edges[0]), as_number(bins.edges[-1])]
            case Listed(values):
                ends += [as_number(value) for value in values]
            case Range(low, high):
                ends += [low, high]
        return next(dtype for dtype, first, last in _INTEGERS if first <= min(ends) and max(ends) <= last)


def _plain(values: pl.Series) -> pl.Series:
    """The numbers that stand for the values in polars."""
    if isinstance(values.dtype, pl.Date):
        return values.to_physical()
    return values.cast(pl.UInt8) if isinstance(values.dtype, pl.Boolean) else values
