"""A number estimated from a table, with its standard error and its interval.

Every such number is a sum over people with a weight per cell: exactly for counts, sums and differences, to first order
for ratios, roots and everything computed from them (delta.py). A quantity carries those weights. So numbers from one table
can be added, divided and compared, with their correlated errors taken into account.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from .._blocks import Counts
from .._errors import InputError
from .delta import Derived
from .interval import normal_quantile
from .uncertainty import Single, intervals, standard_errors

Scale: TypeAlias = Literal["plain", "log", "atanh"]

_SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]] = {
    # to the scale, its derivative, back from it
    "plain": (lambda x: x, lambda x: 1.0, lambda x: x),
    "log": (math.log, lambda x: 1 / x, lambda x: math.exp(min(x, 700.0))),  # beyond, a factor is as good as infinite
    "atanh": (math.atanh, lambda x: 1 / (1 - x * x), math.tanh),
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """An estimated number with its standard error and its interval; ``+ - * /`` keep the errors right.

    Only numbers from one and the same table can be combined. Errors belong to ``unbiased``, the number from the
    unbiased table. By another method ``value`` may lie elsewhere, and the interval is widened to hold it.

    Attributes
    ----------
    scale
        Where the interval is symmetric: ``plain``; ``log`` for ratios and deviations; ``atanh`` for correlations.
    bounds
        The least and the largest value that is possible.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 500}), plan, randomness=pk.Seeded(7))
    >>> table = release.crosstab("sex")
    >>> women, men = table.count(sex="F"), table.count(sex="M")
    >>> women - men  # the errors of both are related: twice that of one
    <Quantity 2.64 ± 27.24>
    >>> [round(limit) for limit in women.interval(0.95)]
    [475, 528]
    """

    _basis: Single = field(repr=False)
    _number: Derived = field(repr=False)
    scale: Scale = "plain"
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def value(self) -> float:
        """The estimate."""
        smallest, largest = self.bounds
        value = float(self._number.value[0])
        return min(max(value, smallest), largest)

    @property
    def unbiased(self) -> float:
        """The estimate from the unbiased table, whatever the method."""
        return float(self._number.unbiased[0])

    @property
    def weights(self) -> Counts:
        """The weight of a person in each cell, to first order."""
        weights: Counts = self._number.slopes[0].reshape(self._basis.table.counts.shape)
        return weights

    @cached_property
    def standard_error(self) -> float:
        """Its standard error."""
        if not math.isfinite(self.unbiased):
            return math.nan
        return float(standard_errors(self._basis, self._number)[0])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high) at the confidence ``level``.

        Of counts and shares it is honest in sparse tables too; else it is z standard errors on its scale.
        """
        reach = normal_quantile(level) * self.standard_error
        if self.scale == "plain":
            errors = np.array([self.standard_error])
            low, high = (float(limit[0]) for limit in intervals(self._basis, self._number, errors, level))
        else:
            low, high = self._on_scale(reach)
        smallest, largest = self.bounds
        return max(min(low, self.value), smallest), min(max(high, self.value), largest)

    def _on_scale(self, reach: float) -> tuple[float, float]:
        to, slope, back = _SCALES[self.scale]
        try:
            middle, width = to(self.unbiased), abs(slope(self.unbiased)) * reach
            return back(middle - width), back(middle + width)
        except (ArithmeticError, ValueError):  # not a point of its scale: the interval is on the plain one
            return self.unbiased - reach, self.unbiased + reach

    def on(self, scale: Scale) -> Quantity:
        """The same number with intervals on another ``scale``: ``plain``, ``log`` or ``atanh``."""
        return replace(self, scale=scale)

    def within(self, low: float, high: float) -> Quantity:
        """The same number, known to lie between ``low`` and ``high``: noise may have carried it beyond them."""
        return replace(self, bounds=(low, high))

    def sqrt(self) -> Quantity:
        """Its square root; not a number where it is negative."""
        return self._derived(self._number.sqrt())

    def __add__(self, other: Quantity | float) -> Quantity:
        return self._derived(self._number + self._same(other))

    __radd__ = __add__

    def __neg__(self) -> Quantity:
        return self._derived(-self._number)

    def __sub__(self, other: Quantity | float) -> Quantity:
        return self._derived(self._number - self._same(other))

    def __rsub__(self, other: float) -> Quantity:
        return self._derived(self._same(other) - self._number)

    def __mul__(self, other: Quantity | float) -> Quantity:
        return self._derived(self._number * self._same(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity | float) -> Quantity:
        return self._derived(self._number.over(self._same(other)))

    def __rtruediv__(self, other: float) -> Quantity:
        return self._derived(self._same(other).over(self._number))

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{_plain(self.value)} ± {_plain(self.standard_error)}"

    def _derived(self, number: Derived) -> Quantity:
        return Quantity(self._basis, number)

    def _same(self, other: Quantity | float) -> Derived:
        if not isinstance(other, Quantity):
            return Derived.constant(other, self._number.slopes)
        if other._basis is not self._basis:
            raise InputError("Only numbers from one and the same table can be combined; take both from a larger table.")
        return other._number

    def __repr__(self) -> str:
        return f"<Quantity {self}>"

    def _repr_html_(self) -> str:
        """The number with its error and its interval, as a notebook shows it."""
        if math.isnan(self.standard_error):
            return f"<p>{_plain(self.value)}, its error is not known</p>"
        low, high = self.interval(0.95)
        return f"<p>{self} (95% interval: {_plain(low)} to {_plain(high)})</p>"


def _plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
