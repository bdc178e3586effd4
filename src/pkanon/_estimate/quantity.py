"""A number estimated from a table, with its standard error.

Every such number is, or behaves like, a sum over people with a weight per cell: exactly for counts,
sums and differences, to first order for ratios, logarithms and everything made of them (the delta
method). A quantity carries those weights, so numbers from one table can be added, divided and
compared and their common errors are taken into account.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from .._blocks.base import Counts
from .._errors import InputError
from .interval import normal_quantile

Scale: TypeAlias = Literal["plain", "log", "atanh"]

_SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]] = {
    # to the scale, its derivative, back from it
    "plain": (lambda x: x, lambda x: 1.0, lambda x: x),
    "log": (math.log, lambda x: 1 / x, math.exp),
    "atanh": (math.atanh, lambda x: 1 / (1 - x * x), math.tanh),
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """An estimated number: ``value``, ``standard_error``, ``interval(level)``; ``+ - * /`` keep the errors right.

    ``scale`` is where the interval is symmetric: ratios of odds on the logarithm, correlations on atanh.
    """

    value: float
    weights: Counts = field(repr=False)
    variance_of: Callable[[Counts], float] = field(repr=False)
    scale: Scale = "plain"

    @cached_property
    def standard_error(self) -> float:
        """Its standard error."""
        if not math.isfinite(self.value):
            return math.nan
        return math.sqrt(self.variance_of(self.weights))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high): plus or minus z standard errors on its scale."""
        z = normal_quantile(level)
        to, slope, back = _SCALES[self.scale]
        try:
            middle, error = to(self.value), abs(slope(self.value)) * self.standard_error
        except (ValueError, ZeroDivisionError):  # on the border of its scale: say so on the plain one
            return self.value - z * self.standard_error, self.value + z * self.standard_error
        return back(middle - z * error), back(middle + z * error)

    def on(self, scale: Scale) -> Quantity:
        """The same number with intervals on another scale."""
        return Quantity(self.value, self.weights, self.variance_of, scale)

    def apply(self, function: Callable[[float], float], derivative: Callable[[float], float]) -> Quantity:
        """A smooth function of it."""
        return self._made(function(self.value), derivative(self.value) * self.weights)

    def sqrt(self) -> Quantity:
        """Its square root; not a number where it is negative."""
        if self.value <= 0:
            return self._made(math.nan if self.value < 0 else 0.0, np.zeros_like(self.weights))
        return self.apply(math.sqrt, lambda x: 0.5 / math.sqrt(x))

    def __add__(self, other: Quantity | float) -> Quantity:
        if isinstance(other, Quantity):
            return self._made(self.value + other.value, self.weights + self._same(other).weights)
        return self._made(self.value + other, self.weights)

    __radd__ = __add__

    def __neg__(self) -> Quantity:
        return self._made(-self.value, -self.weights)

    def __sub__(self, other: Quantity | float) -> Quantity:
        return self + -other

    def __rsub__(self, other: float) -> Quantity:
        return -self + other

    def __mul__(self, other: Quantity | float) -> Quantity:
        if isinstance(other, Quantity):
            weights = other.value * self.weights + self.value * self._same(other).weights
            return self._made(self.value * other.value, weights)
        return self._made(self.value * other, other * self.weights)

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity | float) -> Quantity:
        if not isinstance(other, Quantity):
            return self * (1 / other) if other else self._made(math.nan, np.zeros_like(self.weights))
        if other.value == 0:
            return self._made(math.nan, np.zeros_like(self.weights))
        value = self.value / other.value
        return self._made(value, (self.weights - value * self._same(other).weights) / other.value)

    def __rtruediv__(self, other: float) -> Quantity:
        return self._made(other, np.zeros_like(self.weights)) / self

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{_plain(self.value)} ± {_plain(self.standard_error)}"

    def _made(self, value: float, weights: Counts) -> Quantity:
        return Quantity(value, weights, self.variance_of)

    def _same(self, other: Quantity) -> Quantity:
        if other.variance_of != self.variance_of:
            raise InputError("Only numbers from one and the same table can be combined; take both from a larger table.")
        return other


def _plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
