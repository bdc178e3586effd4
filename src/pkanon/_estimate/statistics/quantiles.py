"""Quantiles of an attribute whose values stand for numbers, with intervals by Woodruff's idea (1952).

A value x is in the interval of the q-quantile if "a share q of the people lies below x" cannot be rejected:
``L(x) = (people up to x) - q (all people)`` is a linear function of the table, so it has a standard error,
and x stays if ``|L(x)|`` is at most z of them. Inside a bin, or an interval that stands for a value, people are taken to be
spread evenly, and L is a straight line there. Where single numbers stand for values the quantile is one of them, and its interval
goes from one to another: it then holds the truth more often than it says.

The limits of a difference follow from those of both quantiles (MOVER). They are correlated as the two functions L are, each
taken where it is nearest to zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..flags import SMALL
from ..interval import normal_quantile
from ..quantity import Quantity
from ..reconstruction import Reconstruction
from ..testing import FARTHEST, Test, inverted, short, two_sided
from .conditions import Where, people_where
from .moments import Values, limits_along

MOST_POINTS = 256
"""Values at which the error of the distribution function is computed at a time; between two of them it is looked at again."""


@dataclass(frozen=True)
class _ByLimits:
    """A number that has limits and no standard error of its own."""

    value: float
    _limits: Callable[[float], tuple[float, float]] = field(repr=False)
    _small: Callable[[float], bool] = field(repr=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high) at the confidence ``level``."""
        return self._limits(level)

    @property
    def standard_error(self) -> float:
        """Half the width of the 95% interval over its z; not a number where there is no value."""
        if math.isnan(self.value):
            return math.nan
        low, high = self.interval(0.95)
        return (high - low) / (2 * normal_quantile(0.95))

    def test(self, null: float = 0.0) -> Test:
        """Test whether it may be ``null``: rejected at 5% if and only if it lies outside the 95% interval."""
        z = inverted(self.interval, self.value, null)
        if math.isinf(z) and self.standard_error:  # beyond all levels
            z = math.copysign(max(abs(self.value - null) / self.standard_error, FARTHEST), z)
        return Test(null, self.value, self.standard_error, z, two_sided(z), flag=self.flag())

    def flag(self, level: float = 0.95) -> str | None:
        """``small group`` where the size of a group is not certain at the confidence ``level``; else None."""
        return SMALL if self._small(level) else None

    def __float__(self) -> float:
        return self.value

    def __format__(self, form: str) -> str:
        write = (lambda number: format(number, form)) if form else short
        low, high = self.interval(0.95)
        value = "no value" if math.isnan(self.value) else write(self.value)
        flag = self.flag()
        return f"{value} (95%: {write(low)} to {write(high)}{'' if flag is None else f'; {flag}'})"

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def _repr_html_(self) -> str:
        """The number and its interval, as a notebook shows it."""
        return f"<p>{self}</p>"


@dataclass(frozen=True, repr=False)
class Quantile(_ByLimits):
    """An estimated quantile with its interval and its standard error; two of them have a difference.

    Attributes
    ----------
    value
        The estimate; not a number where the estimated size of its group is not positive.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute.ranged("rooms", 1, 5)]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"rooms": [1, 2, 2, 3, 4] * 200}), plan, randomness=pk.Seeded(7))
    >>> release.crosstab("rooms").quantile("rooms", 0.5)
    <Quantile 2 (95%: 2 to 2)>
    """

    _lead: Quantity | None = field(default=None, repr=False)

    def __sub__(self, other: Quantile) -> QuantileDifference:
        if not isinstance(other, Quantile):
            raise InputError("A quantile is compared with another one; with a plain number by test(number).")
        correlation = _correlation(self._lead, other._lead)

        def limits(level: float) -> tuple[float, float]:
            low, high = self.interval(level)
            other_low, other_high = other.interval(level)
            down = _apart(self.value - low, other_high - other.value, correlation)
            up = _apart(high - self.value, other.value - other_low, correlation)
            return self.value - other.value - down, self.value - other.value + up

        return QuantileDifference(
            self.value - other.value, limits, lambda level: self._small(level) or other._small(level)
        )


@dataclass(frozen=True, repr=False)
class QuantileDifference(_ByLimits):
    """The difference of two quantiles, with its interval and its test.

    Attributes
    ----------
    value
        The estimate.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 2_500, "age": [i * 37 % 80 + 10 * (i % 2) for i in range(5_000)]})
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.binned("age", start=0, stop=90, width=10)])
    >>> release = pk.release(people, pk.plan(schema, records=5_000, k=5), randomness=pk.Seeded(7))
    >>> table = release.crosstab("sex", "age")
    >>> women, men = (table.quantile("age", 0.5, {"sex": sex}) for sex in "FM")
    >>> men - women
    <QuantileDifference 8.779 (95%: 5.845 to 11.64)>
    """


def _apart(first: float, second: float, correlation: float) -> float:
    return math.sqrt(max(first**2 + second**2 - 2 * correlation * first * second, 0.0))


def _correlation(first: Quantity | None, second: Quantity | None) -> float:
    """How two linear functions are correlated; refused if nobody can know it."""
    if first is None or second is None:
        return 0.0
    errors = first.standard_error, second.standard_error
    if not all(error > 0 for error in errors):
        return 0.0
    one, two = first / errors[0], second / errors[1]
    return min(max(((one + two).standard_error ** 2 - (one - two).standard_error ** 2) / 4, -1.0), 1.0)


def quantile(table: Reconstruction, name: str, q: float, where: Where, values: Values | None = None) -> Quantile:
    """The value below which a share ``q`` of the people who meet the condition lies."""
    if not (isinstance(q, (int, float)) and 0 < q < 1):
        raise InputError(f"A quantile lies between 0 and 1, such as 0.5 for the median; it cannot be {q}.")
    below = _Below.of(table, name, q, where, values)
    small = partial(_is_small, below.table.linear(below.group.astype(float)))
    if not below.observed[-1] - below.observed[0] > 0:  # of nobody; it could be anything
        return Quantile(math.nan, lambda level: (float(below.lows[0]), float(below.highs[-1])), small)
    value = below.value

    def limits(level: float) -> tuple[float, float]:
        low, high = below.limits(normal_quantile(level))
        return min(low, value), max(high, value)

    return Quantile(value, limits, small, below.nearest)


@dataclass(frozen=True, eq=False)
class _Below:
    """L, the people up to a number less the share q of all: at the limits of every value, in order, and between them.

    ``observed`` and ``unbiased`` have one entry more than there are values: how many of them, from the lowest on, are counted.
    """

    table: Reconstruction
    group: NDArray[np.bool_]
    rank: NDArray[np.intp]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    q: float
    observed: NDArray[np.float64]
    unbiased: NDArray[np.float64]

    @classmethod
    def of(cls, table: Reconstruction, name: str, q: float, where: Where, values: Values | None) -> _Below:
        limits = limits_along(table, name, values)
        table, chosen_people = people_where(table, where)
        axis = table.names.index(name)
        lows, highs = limits.reshape(2, -1)
        numbered = np.flatnonzero(~np.isnan(lows))
        each, places = np.unique(np.stack([lows, highs], 1)[numbered], axis=0, return_inverse=True)
        rank = np.full(len(lows), len(each))
        rank[numbered] = places.ravel()  # several values may stand for the same numbers
        group = chosen_people & ~np.isnan(limits[0])
        others = tuple(other for other in range(len(table.names)) if other != axis)
        people = ((counts * group).sum(others)[numbered] for counts in (table.counts, table.unbiased))
        up_to = (np.insert(np.cumsum(np.bincount(places.ravel(), part, len(each))), 0, 0.0) for part in people)
        observed, unbiased = (counted - q * counted[-1] for counted in up_to)
        shape = [-1 if other == axis else 1 for other in range(len(table.names))]
        return cls(table, group, rank.reshape(shape), each[:, 0], each[:, 1], q, observed, unbiased)

    @property
    def values(self) -> int:
        """How many values there are."""
        return len(self.lows)

    def leads(self, counted: NDArray[np.int_]) -> NDArray[np.float64]:
        """L as weights of cells, where so many values are counted."""
        return np.array([self.group * ((self.rank < count).astype(float) - self.q) for count in counted])

    def variances(self, leads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Their variances."""
        return self.table.variances_of(leads)

    @property
    def value(self) -> float:
        """The first number at which L is zero."""
        heights = self.observed
        place = int(np.argmax(heights >= -1e-9 * max(float(np.abs(heights).max()), 1e-300)))
        if place == 0:
            return float(self.lows[0])
        rise = heights[place] - heights[place - 1]
        return self._inside(place - 1, min(max(-heights[place - 1] / rise, 0.0), 1.0) if rise > 0 else 1.0)

    def _inside(self, value: int, part: float) -> float:
        """The number at this part of the way through a value."""
        return float(self.lows[value] + part * (self.highs[value] - self.lows[value]))

    def limits(self, z: float) -> tuple[float, float]:
        """The first number at which L + z errors reaches zero, and the last at which L - z errors does."""
        first, last = self._first(z, 1), self.values - self._first(z, -1)
        low = self._inside(first - 1, self._part(first - 1, z, 1)) if first else float(self.lows[0])
        high = self._inside(last, self._part(last, z, -1)) if last < self.values else float(self.highs[-1])
        return low, high

    def _first(self, z: float, sign: int) -> int:
        """How many values are counted where sign L + z errors is first not negative; from the highest value on if sign is -1."""
        places = np.arange(self.values + 1)[::sign]
        low, high = 0, self.values
        while True:
            looked_at = np.unique(np.linspace(low, high, min(high - low + 1, MOST_POINTS)).astype(int))
            counted = places[looked_at]
            heights = sign * self.unbiased[counted] + z * np.sqrt(self.variances(self.leads(counted)))
            reached = np.flatnonzero(heights >= 0)
            found = int(reached[0]) if len(reached) else len(looked_at) - 1
            if found == 0 or looked_at[found] == looked_at[found - 1] + 1:
                return int(looked_at[found])
            low, high = int(looked_at[found - 1]), int(looked_at[found])

    def _part(self, value: int, z: float, sign: int) -> float:
        """At which part of the way through a value sign L + z errors is zero. People are spread evenly there, so L is a straight line."""
        if not self.lows[value] < self.highs[value]:
            return 0.0
        ends = self.leads(np.array([value, value + 1]))
        at = (float(variance) for variance in self.variances(np.stack([ends[0], ends.mean(0), ends[1]])))
        before, middle, after = at
        both = 2 * middle - (before + after) / 2

        def height(part: float) -> float:
            rest = 1 - part
            variance = rest * rest * before + part * part * after + 2 * part * rest * both
            between = float(rest * self.unbiased[value] + part * self.unbiased[value + 1])
            return sign * between + z * math.sqrt(max(variance, 0.0))

        near, far = (0.0, 1.0) if sign > 0 else (1.0, 0.0)
        for _ in range(60):
            part = (near + far) / 2
            near, far = (near, part) if height(part) >= 0 else (part, far)
        return (near + far) / 2

    @property
    def nearest(self) -> Quantity | None:
        """L where it is nearest to zero."""
        inner = self.unbiased[1:-1]
        if not len(inner):
            return None
        return self.table.linear(self.leads(np.array([1 + int(np.argmin(np.abs(inner)))]))[0])


def _is_small(people: Quantity, level: float) -> bool:
    """Whether a group is small: the share of it that is in it is flagged."""
    flag = (people / people).flag(level)
    return flag is not None and SMALL in flag
