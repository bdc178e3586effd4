"""A number estimated from a table, with its standard error.

Every such number is, or behaves like, a sum over people with a weight per cell: exactly for counts,
sums and differences, to first order for ratios, logarithms and everything made of them (the delta
method). A quantity carries those weights, so numbers from one table can be added, divided and
compared and their common errors are taken into account.
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
from .interval import normal_quantile

Scale: TypeAlias = Literal["plain", "log", "atanh"]

_SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]] = {
    # to the scale, its derivative, back from it
    "plain": (lambda x: x, lambda x: 1.0, lambda x: x),
    "log": (math.log, lambda x: 1 / x, lambda x: math.exp(min(x, 700.0))),  # beyond, a factor is as good as infinite
    "atanh": (math.atanh, lambda x: 1 / (1 - x * x), math.tanh),
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """An estimated number: ``value``, ``standard_error``, ``interval(level)``; ``+ - * /`` keep the errors right.

    ``unbiased`` is the same number from the unbiased table; errors belong to it and intervals are built around it.
    From a table without negative cells ``value`` may lie elsewhere, and the interval is widened to hold it.
    ``scale`` is where the interval is symmetric: ratios of odds on the logarithm, correlations on atanh.
    """

    value: float
    unbiased: float
    weights: Counts = field(repr=False)
    variance_of: Callable[[Counts], float] = field(repr=False)
    scale: Scale = "plain"
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @cached_property
    def standard_error(self) -> float:
        """Its standard error."""
        if not math.isfinite(self.unbiased):
            return math.nan
        return math.sqrt(self.variance_of(self.weights))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high): plus or minus z standard errors on its scale."""
        z, error = normal_quantile(level), self.standard_error
        to, slope, back = _SCALES[self.scale]
        try:
            middle, width = to(self.unbiased), z * abs(slope(self.unbiased)) * error
            low, high = back(middle - width), back(middle + width)
        except (ArithmeticError, ValueError):  # on or over the border of its scale: say so on the plain one
            low, high = self.unbiased - z * error, self.unbiased + z * error
        smallest, largest = self.bounds
        return max(min(low, self.value), smallest), min(max(high, self.value), largest)

    def on(self, scale: Scale) -> Quantity:
        """The same number with intervals on another scale."""
        return replace(self, scale=scale)

    def within(self, low: float, high: float) -> Quantity:
        """The same number, known to lie between two bounds: noise may have carried the estimate beyond them."""
        return replace(self, value=min(max(self.value, low), high), bounds=(low, high))

    def sqrt(self) -> Quantity:
        """Its square root; not a number where it is negative."""
        root = _root(self.unbiased)
        return self._made(_root(self.value), root, self.weights * (0.5 / root if root > 0 else 0.0))

    def __add__(self, other: Quantity | float) -> Quantity:
        if isinstance(other, Quantity):
            weights = self.weights + self._same(other).weights
            return self._made(self.value + other.value, self.unbiased + other.unbiased, weights)
        return self._made(self.value + other, self.unbiased + other, self.weights)

    __radd__ = __add__

    def __neg__(self) -> Quantity:
        return self._made(-self.value, -self.unbiased, -self.weights)

    def __sub__(self, other: Quantity | float) -> Quantity:
        return self + -other

    def __rsub__(self, other: float) -> Quantity:
        return -self + other

    def __mul__(self, other: Quantity | float) -> Quantity:
        if isinstance(other, Quantity):
            weights = other.unbiased * self.weights + self.unbiased * self._same(other).weights
            return self._made(self.value * other.value, self.unbiased * other.unbiased, weights)
        return self._made(self.value * other, self.unbiased * other, other * self.weights)

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity | float) -> Quantity:
        if not isinstance(other, Quantity):
            return self * _ratio(1.0, other)
        unbiased = _ratio(self.unbiased, other.unbiased)
        weights = (self.weights - unbiased * self._same(other).weights) / (other.unbiased or math.nan)
        return self._made(_ratio(self.value, other.value), unbiased, weights)

    def __rtruediv__(self, other: float) -> Quantity:
        return self._made(other, other, np.zeros_like(self.weights)) / self

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{_plain(self.value)} ± {_plain(self.standard_error)}"

    def _made(self, value: float, unbiased: float, weights: Counts) -> Quantity:
        return Quantity(value, unbiased, weights, self.variance_of)

    def _same(self, other: Quantity) -> Quantity:
        if other.variance_of != self.variance_of:
            raise InputError("Only numbers from one and the same table can be combined; take both from a larger table.")
        return other


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


def _root(number: float) -> float:
    return math.sqrt(number) if number >= 0 else math.nan


def _plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
