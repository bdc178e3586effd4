"""Values of a domain to codes, many at once.

A numbering takes an array of values and gives an array of integers: the code that ``Attribute.code``
gives one value, or ``UNLISTED``. (A unit has at most 2^31 codes: int32 holds them and the marks, which are negative.
Where there are no marks the type may be an unsigned one.)
Truth values count as 0 and 1 and dates as days since 1970, so that there are two kinds of arrays only:
integers and floats. Everything here depends on the declared domain and on nothing else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..._schema import INT64, Bins, Domain, Listed, Range, Value

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
        case Listed(values):
            return _listed(values if extra is None else (*values, extra))
        case Bins() as bins:
            return _binned(bins)
        case Range(low, high):
            return _ranged(low, high, cast("int | None", extra))


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

    def codes(given: NDArray[Any]) -> Marked:
        place = np.minimum(np.searchsorted(ascending, given), len(ascending) - 1)
        return np.where(ascending[place] == given, order[place], np.int32(UNLISTED))

    if numbers.dtype.kind == "f":
        return codes
    low, high = int(ascending[0]), int(ascending[-1])
    tabled = _tabled(codes, low, high)
    unbroken = high - low + 1 == len(numbers) and bool((order == np.arange(len(order))).all())
    return _shifted(tabled, low, high) if unbroken else tabled


def _ranged(low: int, high: int, extra: int | None) -> Numbering:
    def codes(given: NDArray[Any]) -> Marked:
        # Outside the range the difference may wrap around; it is not used there.
        found = np.where((given >= low) & (given <= high), given - np.int64(low), UNLISTED).astype(np.int32)
        if extra is not None:
            found[given == extra] = high - low + 1
        return found

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

        def codes_of_floats(given: NDArray[Any]) -> Marked:
            found = of_position[np.searchsorted(edges, given, side="right")]
            found[~np.isfinite(given)] = UNLISTED  # infinity is no value, not even of an open bin
            return found

        return codes_of_floats
    return _tabled(
        lambda given: of_position[np.searchsorted(edges, given, side="right")], int(edges[0]), int(edges[-1])
    )


def _shifted(codes: Numbering, low: int, high: int) -> Numbering:
    """The same numbering where code = value - low for ``low`` .. ``high``: one subtraction if all values lie there."""

    def shifted(given: NDArray[Any]) -> Marked:
        if len(given) and given.dtype.kind in "iu":
            first, last, limits = int(given.min()), int(given.max()), np.iinfo(given.dtype)
            if low <= first and last <= high and limits.min <= low and last - low <= limits.max:
                return np.asarray(given - given.dtype.type(low))
        return codes(given)

    return shifted


def _tabled(codes: Numbering, low: int, high: int) -> Numbering:
    """The same numbering of integers by table; outside ``low`` .. ``high`` it must be constant on each side."""
    if high - low > _LARGEST_TABLE or low - 1 not in INT64 or high + 1 not in INT64:
        return lambda given: codes(given.astype(np.int64, copy=False))
    first = low - 1
    table = compact(codes(np.arange(first, high + 2, dtype=np.int64)))
    small: dict[np.dtype[Any], Marked] = {}

    def looked_up(given: NDArray[Any]) -> Marked:
        if given.dtype.itemsize > 2:
            places = np.clip(given.astype(np.int64, copy=False), first, high + 1)
            places -= first
            return table.take(places)
        # A type of 8 or 16 bits gets a table of all its values, negative ones at the end as numpy indexes them.
        if given.dtype not in small:
            limits = np.iinfo(given.dtype)
            every = np.r_[0 : limits.max + 1, limits.min : 0]
            small[given.dtype] = table[np.clip(every, first, high + 1) - first]
        return small[given.dtype].take(given, mode="wrap")

    return looked_up
