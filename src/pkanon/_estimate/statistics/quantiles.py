"""Quantiles of an attribute whose values stand for numbers, with intervals by Woodruff's idea (1952).

A value x is in the interval of the q-quantile if "a share q of the people lies below x" cannot be rejected:
``L(x) = (people up to x) - q (all people)`` is a linear function of the table, so it has a standard error,
and x stays if ``|L(x)|`` is at most z of them. Inside a bin people are taken to be spread evenly.

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
from ..._schema import Bins
from ..flags import SMALL
from ..interval import normal_quantile
from ..quantity import Quantity
from ..reconstruction import Reconstruction
from ..testing import FARTHEST, Test, inverted, short, two_sided
from .conditions import Where, people_where
from .moments import Values, along
from .numbers import bin_limits

MOST_POINTS = 256
"""Values at which the distribution function is evaluated; more are thinned out evenly."""


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
    <QuantileDifference 8.779 (95%: 5.729 to 11.72)>
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
    numbers = along(table, name, values)
    table, chosen_people = people_where(table, where)
    axis = table.names.index(name)
    flat = numbers.ravel()
    order = np.argsort(flat, kind="stable")[: int((~np.isnan(flat)).sum())]
    group = chosen_people & ~np.isnan(numbers)
    small = partial(_is_small, table.linear(group.astype(float)))
    domain = table.attributes[axis].domain
    binned = isinstance(domain, Bins) and values is None
    rank = np.full(len(flat), len(flat))
    rank[order] = np.arange(len(order))
    shape = [-1 if i == axis else 1 for i in range(len(table.names))]
    # how many values, from the lowest on, are counted at each point where L is evaluated
    counted = np.unique(np.linspace(0, len(order), min(len(order) + 1, MOST_POINTS)).astype(int))
    leads = np.array([group * ((rank < count).astype(float) - q).reshape(shape) for count in counted])
    observed = _rising((table.counts * leads).reshape(len(leads), -1).sum(1))
    unbiased = (table.unbiased * leads).reshape(len(leads), -1).sum(1)
    errors = np.sqrt(table.variances_of(leads))
    if binned:
        assert isinstance(domain, Bins)
        lows, highs = bin_limits(domain)
        reached = passed = np.append(lows[:1], highs)[counted]
        chosen = slice(None)
    else:
        # a value is reached with its own people, and passed only with those of the next one
        values_in_order = flat[order]
        reached = values_in_order[np.maximum(counted - 1, 0)]
        passed = values_in_order[np.minimum(counted, len(order) - 1)]
        chosen = slice(1, None)
    if float((table.counts * group).sum()) <= 0:  # of nobody; it could be anything
        return Quantile(math.nan, lambda level: (float(reached[chosen][0]), float(passed[-1])), small)
    value = _crossing(reached[chosen], observed[chosen], binned)

    def limits(level: float) -> tuple[float, float]:
        z = normal_quantile(level)
        # up to the lower limit too few people lie below for certain, from the upper one on too many
        low = _crossing(reached[chosen], _rising(unbiased + z * errors)[chosen], binned)
        high = _crossing(passed[::-1], _rising((z * errors - unbiased)[::-1]), binned)
        return min(low, value), max(high, value)

    inner = np.flatnonzero((counted > 0) & (counted < len(order)))
    lead = table.linear(leads[inner[np.argmin(np.abs(unbiased[inner]))]]) if len(inner) else None
    return Quantile(value, limits, small, lead)


def _is_small(people: Quantity, level: float) -> bool:
    """Whether a group is small: the share of it that is in it is flagged."""
    flag = (people / people).flag(level)
    return flag is not None and SMALL in flag


def _rising(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum.accumulate(heights))


def _crossing(points: NDArray[np.float64], heights: NDArray[np.float64], between: bool) -> float:
    """The first point at which ``heights``, which never fall, reach zero; between two points by a straight line."""
    place = int(np.searchsorted(heights, -1e-9 * max(float(np.abs(heights).max()), 1e-300)))
    if place == 0 or place >= len(points) or not between:
        return float(points[min(place, len(points) - 1)])
    rise = heights[place] - heights[place - 1]
    part = -heights[place - 1] / rise if rise > 0 else 1.0
    return float(points[place - 1] + min(max(part, 0.0), 1.0) * (points[place] - points[place - 1]))
