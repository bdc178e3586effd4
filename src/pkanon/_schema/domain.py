"""The ways to say which values an attribute can take: listed, binned, an integer range, or points that numbers are rounded to.

A domain numbers its values 0, 1, 2, ... in the declared order and never looks at data. Values are
Python objects of the attribute's type: ``str``, ``int``, ``float``, ``bool`` or ``datetime.date``.
Codes for "everything else" and for "missing" are the attribute's business, not the domain's.
"""

from __future__ import annotations

import bisect
import datetime as dt
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, TypeAlias

from .._errors import SchemaError

Value: TypeAlias = str | int | float | bool | dt.date
Edge: TypeAlias = int | float | dt.date
TypeName: TypeAlias = Literal["text", "integer", "number", "boolean", "date"]
OpenEnd: TypeAlias = Literal["none", "low", "high", "both"]

TYPES: tuple[str, ...] = ("text", "integer", "number", "boolean", "date")
OPEN_ENDS: tuple[str, ...] = ("none", "low", "high", "both")
INT64 = range(-(2**63), 2**63)
"""Integers outside this range cannot be stored in a column."""


def check_value(value: Any, type_name: str, where: str) -> Value:
    """``value`` as the Python object its type calls for, or an error that names ``where``."""
    if type_name == "text" and isinstance(value, str):
        if value == "":
            raise SchemaError(
                f'{where}: an empty text cannot be a value; declare it under missing_values with missing = "value".'
            )
        if "\0" in value:
            raise SchemaError(f"{where}: a value holds a NUL character, which text files cannot carry.")
        return value
    if type_name == "boolean" and isinstance(value, bool):
        return value
    if type_name == "integer" and isinstance(value, int) and not isinstance(value, bool):
        if value not in INT64:
            raise SchemaError(f"{where}: {value} does not fit in 64 bits.")
        return value
    if type_name == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
        number = float(value)
        if not math.isfinite(number):
            raise SchemaError(f"{where}: {value} is not a finite number.")
        return number + 0.0  # -0.0 and 0.0 are one value
    if type_name == "date":
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return value
        if isinstance(value, str):
            try:
                return dt.date.fromisoformat(value)
            except ValueError:
                pass
    raise SchemaError(f"{where}: {value!r} is not of type {type_name}.")


def check_values(values: Sequence[Any], type_name: str, where: str) -> tuple[Value, ...]:
    """:func:`check_value` of each."""
    if type_name == "text" and set(map(type, values)) <= {str} and all(values) and "\0" not in "".join(values):
        return tuple(values)
    return tuple(check_value(value, type_name, where) for value in values)


def value_to_text(value: Value) -> str:
    """The text that plan files hold: exact, and the same in every language."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)


def texts_of(values: Sequence[Value]) -> list[str]:
    """:func:`value_to_text` of each."""
    if set(map(type, values)) <= {str}:
        return list(values)  # type: ignore[arg-type]  # they are texts
    return [value_to_text(value) for value in values]


def value_from_text(text: str, type_name: str, where: str) -> Value:
    """The inverse of :func:`value_to_text`."""
    try:
        if type_name == "integer":
            return check_value(int(text), type_name, where)
        if type_name == "number":
            return check_value(float(text), type_name, where)
    except ValueError:
        raise SchemaError(f"{where}: {text!r} is not of type {type_name}.") from None
    if type_name == "boolean":
        if text not in ("true", "false"):
            raise SchemaError(f"{where}: {text!r} is not of type boolean.")
        return text == "true"
    return check_value(text, type_name, where)


@dataclass(frozen=True)
class Listed:
    """Values in the order they were declared."""

    values: tuple[Value, ...]

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _codes(self) -> dict[Value, int]:
        return {value: code for code, value in enumerate(self.values)}

    def code(self, value: Any) -> int | None:
        """The code of ``value``; None when it is not listed."""
        return self._codes.get(value)

    def label(self, code: int) -> Value:
        """What is released for ``code``."""
        return self.values[code]

    def labels(self) -> Iterator[Value]:
        """What is released for each code, in order."""
        return iter(self.values)


@dataclass(frozen=True)
class Points(Listed):
    """Rising numbers; a number between two of them is rounded at random to one, so that its expectation is the number.

    Before it is rounded, a number is a place: its code among the points and its part of the way to the next one, in units of
    ``2**-bits``. Numbers beyond an open end are moved to the last point there.
    """

    open: OpenEnd = "none"

    @property
    def bits(self) -> int:
        """How finely the way from one point to the next is divided: places, other and missing codes fit in 31 bits."""
        return 30 - (len(self.values) + 1).bit_length()

    def code(self, value: Any) -> int | None:
        """The code of the point that is nearest to ``value``; None when it lies outside."""
        number, numbers = float(value), [float(point) for point in self.values]  # type: ignore[arg-type]  # numbers by type
        if not math.isfinite(number):
            return None
        if number < numbers[0]:
            return 0 if self.open in ("low", "both") else None
        if number > numbers[-1]:
            return len(numbers) - 1 if self.open in ("high", "both") else None
        below = min(bisect.bisect_right(numbers, number), len(numbers) - 1) - 1
        way = (number - numbers[below]) / (numbers[below + 1] - numbers[below])
        return below + int(round(way * 2**self.bits) >= 2 ** (self.bits - 1))


@dataclass(frozen=True)
class Range:
    """Every integer from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __len__(self) -> int:
        return self.high - self.low + 1

    def code(self, value: Any) -> int | None:
        """The code of ``value``; None when it lies outside."""
        return value - self.low if self.low <= value <= self.high else None

    def label(self, code: int) -> int:
        """What is released for ``code``."""
        return self.low + code

    def labels(self) -> Iterator[int]:
        """What is released for each code, in order."""
        return iter(range(self.low, self.high + 1))


@dataclass(frozen=True)
class Bins:
    """Intervals ``[edge, next edge)``, with an open bin below and above where declared.

    Codes run from the lowest bin to the highest. What is released is the label of the bin.
    """

    edges: tuple[Edge, ...]
    open: OpenEnd = "none"
    names: tuple[str, ...] = field(default=())

    @property
    def opens_low(self) -> bool:
        """Whether everything below the first edge is a bin."""
        return self.open in ("low", "both")

    @property
    def opens_high(self) -> bool:
        """Whether everything from the last edge on is a bin."""
        return self.open in ("high", "both")

    def __len__(self) -> int:
        return len(self.edges) - 1 + self.opens_low + self.opens_high

    def code(self, value: Any) -> int | None:
        """The code of the bin that holds ``value``; None outside all bins."""
        position = bisect.bisect_right(self.edges, value)
        if position == 0 and not self.opens_low:
            return None
        if position == len(self.edges) and not self.opens_high:
            return None
        return position - 1 + self.opens_low

    def label(self, code: int) -> str:
        """What is released for ``code``."""
        return self._labels[code]

    def labels(self) -> Iterator[str]:
        """What is released for each code, in order."""
        return iter(self._labels)

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return self.names or self.default_names()

    def limits(self, below: Edge | None = None, above: Edge | None = None) -> list[tuple[Edge | None, Edge | None]]:
        """Lower and upper end of each bin; those of open bins are ``below`` and ``above``, None if there is no end."""
        outer_low = (below,) if self.opens_low else ()
        outer_high = (above,) if self.opens_high else ()
        return list(itertools.pairwise((*outer_low, *self.edges, *outer_high)))

    def default_names(self) -> tuple[str, ...]:
        """The labels used when the schema gives none: "0-4", "5-9", ..., "90+"."""
        closed = tuple(_interval(a, b) for a, b in zip(self.edges, self.edges[1:]))
        below = (_below(self.edges[0]),) if self.opens_low else ()
        above = (_above(self.edges[-1]),) if self.opens_high else ()
        return below + closed + above


def _interval(start: Edge, stop: Edge) -> str:
    if isinstance(start, dt.date) and isinstance(stop, dt.date):
        last = stop - dt.timedelta(days=1)
        return str(start) if start == last else f"{start} to {last}"
    if isinstance(start, int) and isinstance(stop, int):
        if start == stop - 1:
            return str(start)
        return f"{start}-{stop - 1}" if start >= 0 else f"{start} to {stop - 1}"
    return f"[{_plain(start)}, {_plain(stop)})"


def _below(edge: Edge) -> str:
    return f"before {edge}" if isinstance(edge, dt.date) else f"<{_plain(edge)}"


def _above(edge: Edge) -> str:
    return f"{edge} or later" if isinstance(edge, dt.date) else f"{_plain(edge)}+"


def _plain(edge: Edge) -> str:
    return str(int(edge)) if isinstance(edge, float) and edge.is_integer() else str(edge)


MOST_BINS = 2**31


def equal_edges(start: Edge, stop: Edge, width: float, where: str) -> tuple[Edge, ...]:
    """Edges from ``start`` to ``stop`` in steps of ``width`` (days for dates), computed exactly."""
    if isinstance(start, dt.date) and isinstance(stop, dt.date):
        days = equal_edges(0, (stop - start).days, width, where)
        return tuple(start + dt.timedelta(days=int(day)) for day in days if not isinstance(day, dt.date))
    first, last, step = (Decimal(str(number)) for number in (start, stop, width))
    if not step > 0 or not last > first:
        raise SchemaError(f"{where}: bins need start < stop and a positive width.")
    if last - first > step * MOST_BINS:
        raise SchemaError(
            f"{where}: bins of width {width} from {start} to {stop} are too many; the limit is 2^31 values."
        )
    count, rest = divmod(last - first, step)
    if rest:
        raise SchemaError(
            f"{where}: the width {width} does not divide the span from {start} to {stop}; give edges instead."
        )
    kind = int if isinstance(start, int) else float
    return tuple(kind(first + index * step) for index in range(int(count) + 1))


def equal_width(edges: Sequence[Edge]) -> float | int | None:
    """The common width of the bins where :func:`equal_edges` gives exactly these edges, else None."""
    first, second, last = edges[0], edges[1], edges[-1]
    width: float | int
    whole: float | int
    if isinstance(first, dt.date) and isinstance(second, dt.date) and isinstance(last, dt.date):
        width, whole = (second - first).days, (last - first).days
    elif isinstance(first, int) and isinstance(second, int) and isinstance(last, int):
        width, whole = second - first, last - first
    else:
        width, whole = (float(Decimal(str(edge)) - Decimal(str(first))) for edge in (second, last))
    if not math.isclose(whole, width * (len(edges) - 1), rel_tol=1e-6):
        return None  # such a width may need billions of edges
    try:
        return width if equal_edges(first, last, width, "") == tuple(edges) else None
    except SchemaError:
        return None
