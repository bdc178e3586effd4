"""A number estimated from a table, with its standard error and its interval.

Every such number is a sum over people with a weight per cell: exactly for counts, sums and differences, to first order
for ratios, roots and everything computed from them (delta.py). A quantity carries those weights. So numbers from one table
can be added, divided and compared, with their correlated errors taken into account; so can numbers from several tables of
one release (joint.py), and of several releases once it was said how their people are related (several.py).
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
from .interval import normal_quantile, wald
from .joint import AnyBasis, common, parts_of
from .testing import FARTHEST, Test, inverted, short, two_sided
from .uncertainty import Joint, flags, intervals, limits_of_ratio, span, standard_errors, values

Scale: TypeAlias = Literal["plain", "log", "atanh"]

_SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]] = {
    # to the scale, its derivative, back from it
    "plain": (lambda x: x, lambda x: 1.0, lambda x: x),
    "log": (math.log, lambda x: 1 / x, lambda x: math.exp(min(x, 700.0))),  # beyond, a factor is as good as infinite
    "atanh": (math.atanh, lambda x: 1 / (1 - x * x), math.tanh),
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """An estimated number with its standard error and its interval; ``+ - * / **`` keep the errors right.

    Numbers from any tables of one release can be combined; those of several releases after :func:`together`. Errors
    belong to ``unbiased``, the number from the unbiased table. By another method ``value`` may lie elsewhere, and the
    interval is widened to hold it. A share or a mean is cut to what it can be; further calculations go on with the uncut number.
    Where the estimated size of a group is not positive, its shares and means are not a number. ``round`` and formats such
    as ``f"{number:.1f}"`` keep the error and the flags in sight.

    Attributes
    ----------
    scale
        Where the interval is symmetric: ``plain``; ``log`` for ratios and deviations; ``atanh`` for correlations.
    bounds
        The least and the largest value that is possible.
    digits
        The digits after the point that it was rounded to; None: it was not.

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
    >>> round(women / men, 2)
    <Quantity 1.01 ± 0.05>
    >>> print(women.test(500))
    The estimate 501.3 ± 13.62 is not shown to differ from 500: z = 0.0969, p = 0.923.
    """

    _basis: AnyBasis = field(repr=False)
    _number: Derived = field(repr=False)
    scale: Scale = "plain"
    bounds: tuple[float, float] = (-math.inf, math.inf)
    digits: int | None = None

    @property
    def value(self) -> float:
        """The estimate."""
        value = self._unrounded
        return value if self.digits is None else round(value, self.digits)

    @property
    def _unrounded(self) -> float:
        smallest, largest = self.bounds
        return min(max(self._cut, smallest), largest)

    @cached_property
    def _cut(self) -> float:
        return float(values(self._basis, self._number)[0])

    @property
    def unbiased(self) -> float:
        """The estimate from the unbiased table, whatever the method, and not cut."""
        return float(self._number.unbiased[0])

    @property
    def weights(self) -> Counts:
        """The weight of a person in each cell, to first order."""
        if isinstance(self._basis, Joint):
            raise InputError("The number comes from several tables, so there is no one table of weights.")
        weights: Counts = self._number.slopes[0].reshape(self._basis.table.counts.shape)
        return weights

    @cached_property
    def standard_error(self) -> float:
        """Its standard error; not a number where there is no value."""
        return math.nan if math.isnan(self._cut) else self._own_error

    @cached_property
    def _own_error(self) -> float:
        if not math.isfinite(self.unbiased):
            return math.nan
        return float(standard_errors(self._basis, self._number)[0])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high) at the confidence ``level``.

        Of counts and shares it is honest in sparse tables too; else it is z standard errors on its scale.
        """
        reach = normal_quantile(level) * self.standard_error
        if self.scale == "plain" or (self.scale == "log" and self._by_parts(level)):
            errors = np.array([self._own_error if math.isnan(self._cut) else self.standard_error])
            low, high = (float(limit[0]) for limit in intervals(self._basis, self._number, errors, level))
        else:
            low, high = self._on_scale(reach)
            least, most = (float(end[0]) for end in span(self._basis, self._number))
            low, high = min(max(low, least), most), min(max(high, least), most)
        smallest, largest = self.bounds
        if math.isnan(self._cut):  # nobody may be there: all that is possible
            return max(low, smallest), min(high, largest)
        return max(min(low, self._unrounded), smallest), min(max(high, self._unrounded), largest)

    def _on_scale(self, reach: float) -> tuple[float, float]:
        to, slope, back = _SCALES[self.scale]
        try:
            middle, width = to(self.unbiased), abs(slope(self.unbiased)) * reach
            return back(middle - width), back(middle + width)
        except (ArithmeticError, ValueError):  # not a point of its scale: the interval is on the plain one
            return self.unbiased - reach, self.unbiased + reach

    def test(self, null: float | None = None) -> Test:
        """Test whether it may be ``null``: 0 by default, on the scale ``log`` 1.

        The value is rejected at 5% if and only if it lies outside the 95% interval. So it is at other levels, but for
        counts of very few people.
        """
        if null is None:
            null = 1.0 if self.scale == "log" else 0.0
        if not math.isfinite(self.standard_error):
            z = math.nan
        elif not self.standard_error and math.isclose(self.unbiased, null, abs_tol=1e-9):
            z = 0.0
        elif (self.scale == "plain" and not self._is_wald) or (self.scale == "log" and self._by_parts(0.95)):
            self._check_scale(null)
            z = inverted(self.interval, self._unrounded, null)
            if (
                math.isinf(z) and self.standard_error
            ):  # beyond all levels: the tail of the usual test, or what is impossible
                z = math.copysign(max(abs(self.unbiased - null) / self.standard_error, FARTHEST), z)
        elif self._held(null):
            z = 0.0
        elif self.scale == "plain":
            z = (
                (self.unbiased - null) / self.standard_error
                if self.standard_error
                else math.copysign(math.inf, self.unbiased - null)
            )
        else:
            z = self._z_on_scale(null)
        return Test(null, self.value, self.standard_error, z, two_sided(z), flag=self.flag())

    def _held(self, null: float) -> bool:
        """Whether every interval holds a value: it lies between the estimate and the unbiased one."""
        ends = self._unrounded, min(max(self.unbiased, self.bounds[0]), self.bounds[1])
        return min(ends) <= null <= max(ends)

    @property
    def _is_wald(self) -> bool:
        """Whether intervals are plus or minus z standard errors at every level, but for those that are widened."""
        if not self._number.linear and self._number.below is None:
            return True
        if any(part.table.confined for part in parts_of(self._basis)):  # they may be cut off at some levels
            return False
        errors = np.array([self.standard_error])
        for level in (0.5, 0.95):
            ends = wald(self._number.unbiased, errors, level)
            found = intervals(self._basis, self._number, errors, level)
            if not all(np.allclose(x, y, rtol=1e-12, atol=1e-12 * self.standard_error) for x, y in zip(ends, found)):
                return False
        return True

    def _by_parts(self, level: float) -> bool:
        """Whether it is a ratio with the limits that those of both its parts give."""
        found = limits_of_ratio(self._basis, self._number, level)
        return found is not None and bool(found[2][0]) and not self._is_mean

    @property
    def _is_mean(self) -> bool:
        return math.isfinite(float(span(self._basis, self._number)[1][0]))

    def _check_scale(self, null: float) -> None:
        if self.scale == "log" and null <= 0 < self.unbiased:
            raise InputError(
                f"A ratio is above zero, so {short(null)} cannot be tested; no difference is a ratio of 1."
            )

    def _z_on_scale(self, null: float) -> float:
        to, slope, _ = _SCALES[self.scale]
        try:
            width = abs(slope(self.unbiased)) * self.standard_error
            return (to(self.unbiased) - to(null)) / width
        except (ArithmeticError, ValueError):  # not points of the scale: as on the plain one
            self._check_scale(null)
            return (self.unbiased - null) / self.standard_error if self.standard_error else math.nan

    def flag(self, level: float = 0.95) -> str | None:
        """What must be said beside the number, at the confidence ``level`` of its interval; None if there is nothing.

        ``near zero`` (of counts, shares and ratios), ``predicted error``, ``small group`` (of all that is divided by the
        size of a group or by another uncertain number), ``out of range`` (of shares and means), ``impossible``; several
        with a comma.
        """
        found = flags(self._basis, self._number, level)
        if self.scale == "log" and self.bounds[0] < 0 and not self._by_parts(level):
            # a ratio that may be zero has no place on its scale
            found.near_zero[:] |= self.unbiased <= normal_quantile(level) * self._own_error
        return found.texts()[0]

    def on(self, scale: Scale) -> Quantity:
        """The same number with intervals on another ``scale``: ``plain``, ``log`` or ``atanh``."""
        return replace(self, scale=scale)

    def within(self, low: float, high: float) -> Quantity:
        """The same number, known to lie between ``low`` and ``high``: noise may have carried it beyond them."""
        return replace(self, bounds=(low, high))

    def sqrt(self) -> Quantity:
        """Its square root; not a number where it is negative."""
        return self._derived(self._number.sqrt())

    def log(self) -> Quantity:
        """Its natural logarithm; not a number where it is not above zero."""
        return self._derived(self._number.log())

    def exp(self) -> Quantity:
        """Its exponential, with intervals on the scale ``log``."""
        return self._derived(self._number.exp()).on("log")

    def __pow__(self, exponent: float | Quantity) -> Quantity:
        if isinstance(exponent, Quantity):
            raise InputError("The exponent is a plain number; for another one write (exponent * base.log()).exp().")
        return self._derived(self._number.power(float(exponent)))

    def __add__(self, other: Quantity | float) -> Quantity:
        return self._with(other, lambda mine, theirs: mine + theirs)

    __radd__ = __add__

    def __neg__(self) -> Quantity:
        return self._derived(-self._number)

    def __sub__(self, other: Quantity | float) -> Quantity:
        return self._with(other, lambda mine, theirs: mine - theirs)

    def __rsub__(self, other: float) -> Quantity:
        return self._with(other, lambda mine, theirs: theirs - mine)

    def __mul__(self, other: Quantity | float) -> Quantity:
        return self._with(other, lambda mine, theirs: mine * theirs)

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity | float) -> Quantity:
        return self._with(other, _over)

    def __rtruediv__(self, other: float) -> Quantity:
        return self._with(other, lambda mine, theirs: _over(theirs, mine))

    def __float__(self) -> float:
        return self.value

    def __round__(self, digits: int | None = None) -> Quantity:
        return replace(self, digits=digits or 0)

    def __format__(self, form: str) -> str:
        if math.isnan(self.value):
            return f"no value{self._flagged}"
        if form:
            return f"{self.value:{form}} ± {self.standard_error:{form}}{self._flagged}"
        if self.digits is not None:
            return f"{self:,.{max(self.digits, 0)}f}"
        return f"{short(self.value)} ± {short(self.standard_error)}{self._flagged}"

    @property
    def _flagged(self) -> str:
        flag = self.flag()
        return "" if flag is None else f" ({flag})"

    def __str__(self) -> str:
        return format(self)

    def _derived(self, number: Derived) -> Quantity:
        return Quantity(self._basis, number)

    def _with(self, other: Quantity | float, combine: Callable[[Derived, Derived], Derived]) -> Quantity:
        if not isinstance(other, Quantity):
            return self._derived(combine(self._number, Derived.constant(other, self._number.slopes)))
        basis, mine, theirs = common(self._basis, self._number, other._basis, other._number)
        return Quantity(basis, combine(mine, theirs))

    def __repr__(self) -> str:
        return f"<Quantity {self}>"

    def _repr_html_(self) -> str:
        """The number with its error and its interval, as a notebook shows it."""
        if math.isnan(self.value):
            return f"<p>{self}</p>"
        if math.isnan(self.standard_error):
            return f"<p>{short(self.value)}, its error is not known{self._flagged}</p>"
        low, high = self.interval(0.95)
        return f"<p>{self} (95% interval: {short(low)} to {short(high)})</p>"


def _over(above: Derived, below: Derived) -> Derived:
    """The quotient. There is nothing to divide by where a divisor that cannot be negative, such as people or a share, is not positive."""
    return above.over(below, positive=below.is_positive)
