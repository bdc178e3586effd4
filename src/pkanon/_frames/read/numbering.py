"""Values of a domain to codes, many at once.

A numbering takes an array of values and gives an array of integers: the code that ``Attribute.code``
gives one value, or ``UNLISTED``. (A unit has at most 2^31 codes: int32 holds them and the marks, which are negative.
Where there are no marks the type may be an unsigned one.)
Truth values count as 0 and 1 and dates as days since 1970, so that there are two kinds of arrays only:
integers and floats. Everything here depends on the declared domain and on nothing else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..._schema import INT64, Bins, Domain, Listed, Points, Range, Value

Marked: TypeAlias = NDArray[np.integer[Any]]
Numbering: TypeAlias = Callable[[NDArray[Any]], Marked]

UNLISTED = -1
EMPTY = -2
FAULTY = -3
"""Marks instead of codes: no declared value; nothing entered; not of the declared type."""

_LARGEST_TABLE = 1 << 20
"""Integers between the smallest and the largest declared one for which a table of all codes is kept."""

_EPOCH = dt.date(1970, 1, 1).toordinal()


def numbering(domain: Domain, extra: Value | None = None) -> Numbering:
    """The numbering of a domain of numbers, dates or truth values; ``extra`` is one more value, after the last."""
    match domain:
        case Points() as points:
            return _nearest(points)
        case Listed(values):
            return _listed(values if extra is None else (*values, extra))
        case Bins() as bins:
            return _binned(bins)
        case Range(low, high):
            return _ranged(low, high, cast("int | None", extra))


def merging(domain: Listed, merged: Mapping[Value, int]) -> Numbering:
    """The numbering of listed values and of raw ones, which have the code of the value that they become."""
    every = numbering(Listed((*domain.values, *merged)))
    table = compact(np.array([*range(len(domain)), *merged.values(), UNLISTED], np.int32))
    return lambda array: table.take(every(array))  # UNLISTED is -1, which takes the last place


def compact(table: Marked) -> Marked:
    """The table in 16 bits where they hold it, and the two codes that may follow its last one."""
    return table.astype(np.int16) if table.max(initial=0) + 2 < 2**15 else table


def as_number(value: Value) -> int | float:
    """How a value stands in an array."""
    if isinstance(value, dt.date):
        return value.toordinal() - _EPOCH
    assert not isinstance(value, str)  # texts are numbered by their polars categories
    return int(value) if isinstance(value, bool) else value


def _listed(values: Sequence[Value]) -> Numbering:
    numbers = np.array([as_number(value) for value in values])
    order = np.argsort(numbers).astype(np.int32)
    ascending = numbers[order]

    def codes(array: NDArray[Any]) -> Marked:
        place = np.minimum(np.searchsorted(ascending, array), len(ascending) - 1)
        return np.where(ascending[place] == array, order[place], np.int32(UNLISTED))

    if numbers.dtype.kind == "f":
        return codes
    low, high = int(ascending[0]), int(ascending[-1])
    tabled = _tabled(codes, low, high)
    unbroken = high - low + 1 == len(numbers) and bool((order == np.arange(len(order))).all())
    return _shifted(tabled, low, high) if unbroken else tabled


def _ranged(low: int, high: int, extra: int | None) -> Numbering:
    def codes(array: NDArray[Any]) -> Marked:
        # Outside the range the difference may wrap around; it is not used there.
        result = np.where((array >= low) & (array <= high), array - np.int64(low), UNLISTED).astype(np.int32)
        if extra is not None:
            result[array == extra] = high - low + 1
        return result

    tabled = _tabled(codes, low if extra is None else min(low, extra), high if extra is None else max(high, extra))
    return _shifted(tabled, low, high)


def _binned(bins: Bins) -> Numbering:
    edges = np.array([as_number(edge) for edge in bins.edges])
    # Position 0 is below the first edge, position len(edges) from the last edge on.
    of_position = np.arange(len(edges) + 1, dtype=np.int32) - (0 if bins.opens_low else 1)
    if not bins.opens_low:
        of_position[0] = UNLISTED
    if not bins.opens_high:
        of_position[-1] = UNLISTED

    if edges.dtype.kind == "f":

        def codes_of_floats(array: NDArray[Any]) -> Marked:
            result = of_position[np.searchsorted(edges, array, side="right")]
            result[~np.isfinite(array)] = UNLISTED  # infinity is no value, not even of an open bin
            return result

        return codes_of_floats
    return _tabled(
        lambda array: of_position[np.searchsorted(edges, array, side="right")], int(edges[0]), int(edges[-1])
    )


def places(points: Points) -> Numbering:
    """Numbers to places between points: the code of the point below, and the part of the way to the next one, in one integer."""
    numbers = np.array(points.values, float)
    low, high = points.open in ("low", "both"), points.open in ("high", "both")
    unit = 1 << points.bits

    def placed(array: NDArray[Any]) -> Marked:
        values = np.asarray(array, float)
        outside = ~np.isfinite(values)
        outside |= (values < numbers[0]) & (not low)
        outside |= (values > numbers[-1]) & (not high)
        inside = np.clip(np.where(outside, numbers[0], values), numbers[0], numbers[-1])
        below = np.minimum(np.searchsorted(numbers, inside, side="right"), len(numbers) - 1) - 1
        way = (inside - numbers[below]) / (numbers[below + 1] - numbers[below])
        result: Marked = (below * unit + np.rint(way * unit).astype(np.int64)).astype(np.int32)
        result[outside] = UNLISTED
        return result

    return placed


def _nearest(points: Points) -> Numbering:
    placed, bits = places(points), points.bits

    def nearest(array: NDArray[Any]) -> Marked:
        found = placed(array)
        codes: Marked = np.where(found < 0, found, (found + (1 << bits - 1)) >> bits)
        return codes

    return nearest


def _shifted(codes: Numbering, low: int, high: int) -> Numbering:
    """The same numbering where code = value - low for ``low`` .. ``high``: one subtraction if all values lie there."""

    def shifted(array: NDArray[Any]) -> Marked:
        if len(array) and array.dtype.kind in "iu":
            first, last, limits = int(array.min()), int(array.max()), np.iinfo(array.dtype)
            if low <= first and last <= high and limits.min <= low and last - low <= limits.max:
                moved = np.asarray(array - array.dtype.type(low)) if low else array
                return moved.view(f"u{array.dtype.itemsize}")  # none is negative, and nobody need look
        return codes(array)

    return shifted


def _tabled(codes: Numbering, low: int, high: int) -> Numbering:
    """The same numbering of integers by table; outside ``low`` .. ``high`` it must be constant on each side."""
    if high - low > _LARGEST_TABLE or low - 1 not in INT64 or high + 1 not in INT64:
        return lambda array: codes(array.astype(np.int64, copy=False))
    first = low - 1
    table = compact(codes(np.arange(first, high + 2, dtype=np.int64)))
    small: dict[np.dtype[Any], Marked] = {}

    def looked_up(array: NDArray[Any]) -> Marked:
        if array.dtype.itemsize > 2:
            places = np.clip(array.astype(np.int64, copy=False), first, high + 1)
            places -= first
            return table.take(places)
        # A type of 8 or 16 bits gets a table of all its values, negative ones at the end as numpy indexes them.
        if array.dtype not in small:
            limits = np.iinfo(array.dtype)
            every = np.r_[0 : limits.max + 1, limits.min : 0]
            small[array.dtype] = table[np.clip(every, first, high + 1) - first]
        return small[array.dtype].take(array, mode="wrap")

    return looked_up
