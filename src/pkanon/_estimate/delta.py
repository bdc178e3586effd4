"""The delta method: numbers computed from linear functions of a table, with their slopes.

Counts, sums and differences are linear functions. Products, ratios and roots are linear to first order. A number carries
its value, its value from the unbiased table, and its slope in each linear function. Slopes are taken at the unbiased
table, because errors belong to it. Arrays may hold many numbers at once; slopes then have one more axis, the functions.

A number also records whether it is linear or a quotient, and of which numbers: counts, shares and ratios have better
intervals than their slopes alone would give. And it records by which numbers it was divided: a number over one that may be
zero cannot be trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._blocks import Counts


@dataclass(frozen=True, eq=False)
class Derived:
    """Numbers: their ``value``, the ``unbiased`` value and the ``slopes``; NaN where there is no value.

    ``linear``: the number is ``slopes`` times the functions, plus ``offset``. ``above`` and ``below``: the number is
    ``above / below + offset``. ``factors``: the number is their product. ``divisors``: the numbers that it was divided by.
    """

    value: Counts
    unbiased: Counts
    slopes: Counts
    linear: bool = False
    above: Derived | None = None
    below: Derived | None = None
    offset: float = 0.0
    factors: tuple[Derived, ...] = ()
    divisors: tuple[Derived, ...] = ()

    @classmethod
    def constant(cls, number: float, like: Counts) -> Derived:
        """The same number everywhere; ``like`` gives the shape of the slopes."""
        value = np.full(like.shape[:-1], float(number))
        return cls(value, value, np.zeros(like.shape), linear=True, offset=float(number))

    def __add__(self, other: Derived) -> Derived:
        values = self.value + other.value, self.unbiased + other.unbiased, self.slopes + other.slopes
        if self.linear and other.linear:
            return Derived(*values, linear=True, offset=self.offset + other.offset)
        for term, constant in ((self, other), (other, self)):
            if constant.is_constant and term.below is not None:
                offset = term.offset + constant.offset
                return Derived(*values, above=term.above, below=term.below, offset=offset, divisors=term.divisors)
        return Derived(*values, divisors=self.divisors + other.divisors)

    def __neg__(self) -> Derived:
        return self.times(-1.0)

    def __sub__(self, other: Derived) -> Derived:
        return self + -other

    def __mul__(self, other: Derived) -> Derived:
        for term, constant in ((self, other), (other, self)):
            if constant.is_constant:
                return term.times(constant.offset)
        slopes = self.unbiased[..., None] * other.slopes + other.unbiased[..., None] * self.slopes
        values = self.value * other.value, self.unbiased * other.unbiased
        return Derived(*values, slopes, factors=(self, other), divisors=self.divisors + other.divisors)

    def times(self, factor: float) -> Derived:
        """The number times a constant."""
        above = None if self.above is None else self.above.times(factor)
        factors = (self.factors[0].times(factor), *self.factors[1:]) if self.factors else ()
        scaled = replace(self, value=factor * self.value, unbiased=factor * self.unbiased, slopes=factor * self.slopes)
        return replace(scaled, offset=factor * self.offset, above=above, factors=factors)

    def over(self, other: Derived, *, positive: bool = False) -> Derived:
        """The quotient; NaN where the denominator is zero or, if ``positive``, not above zero."""
        if other.is_constant:
            return self.times(1 / other.offset if other.offset else np.nan)
        values = []
        for above, below in ((self.value, other.value), (self.unbiased, other.unbiased)):
            divisor = np.where((below > 0) if positive else (below != 0), below, np.nan)
            values.append((above / divisor, divisor))
        unbiased, divisor = values[1]
        slopes = (self.slopes - unbiased[..., None] * other.slopes) / divisor[..., None]
        divisors = (*self.divisors, *other.divisors, other)
        return Derived(values[0][0], unbiased, slopes, above=self, below=other, divisors=divisors)

    def sqrt(self) -> Derived:
        """The square root; NaN where negative."""
        value, root = (np.sqrt(np.where(x >= 0, x, np.nan)) for x in (self.value, self.unbiased))
        derivative = np.where(root > 0, 0.5 / np.where(root > 0, root, 1.0), np.where(np.isnan(root), np.nan, 0.0))
        return Derived(value, root, derivative[..., None] * self.slopes, divisors=self.divisors)

    def log(self) -> Derived:
        """The natural logarithm; NaN where not above zero."""
        value, unbiased = (np.where(x > 0, x, np.nan) for x in (self.value, self.unbiased))
        return Derived(np.log(value), np.log(unbiased), self.slopes / unbiased[..., None], divisors=self.divisors)

    def exp(self) -> Derived:
        """The exponential."""
        value, unbiased = np.exp(self.value), np.exp(self.unbiased)
        return Derived(value, unbiased, unbiased[..., None] * self.slopes, divisors=self.divisors)

    def power(self, exponent: float) -> Derived:
        """The number to a constant power; NaN where that is not a number."""
        with np.errstate(invalid="ignore", divide="ignore"):
            value, unbiased = self.value**exponent, self.unbiased**exponent
            slope = exponent * self.unbiased ** (exponent - 1)
        value, unbiased, slope = (np.where(np.isfinite(x), x, np.nan) for x in (value, unbiased, slope))
        return Derived(value, unbiased, slope[..., None] * self.slopes, divisors=self.divisors)

    def carried(self, carry: Callable[[Counts], Counts]) -> Derived:
        """The same number as one of other functions: ``carry`` maps slopes to slopes."""
        above, below = (None if part is None else part.carried(carry) for part in (self.above, self.below))
        factors, divisors = (tuple(part.carried(carry) for part in parts) for parts in (self.factors, self.divisors))
        return replace(self, slopes=carry(self.slopes), above=above, below=below, factors=factors, divisors=divisors)

    def all_slopes(self) -> list[Counts]:
        """Its slopes, and those of the parts that it is a quotient or a product of, or was divided by."""
        parts = (part for part in (self.above, self.below, *self.factors, *self.divisors) if part is not None)
        return [self.slopes, *(slopes for part in parts for slopes in part.all_slopes())]

    @property
    def is_positive(self) -> bool:
        """Whether it adds up what is never negative, such as people, or is a quotient or a product of such sums.

        Its slopes must be weights of cells.
        """
        if self.linear:
            return self.offset == 0 and bool((self.slopes >= 0).all())
        parts = self.factors if self.above is None or self.below is None else (self.above, self.below)
        return self.offset == 0 and bool(parts) and all(part.is_positive for part in parts)

    @property
    def of_sums(self) -> bool:
        """Whether it is a quotient of two sums over people, and a constant."""
        return all(part is not None and part.is_sum for part in (self.above, self.below))

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum over people."""
        return self.linear and self.offset == 0

    @property
    def parts(self) -> tuple[Derived, Derived] | None:
        """The two numbers of which it is the quotient."""
        if self.above is None or self.below is None or self.offset:
            return None
        return self.above, self.below

    @property
    def is_constant(self) -> bool:
        """Whether the number does not depend on the table."""
        return self.linear and not self.slopes.any()
