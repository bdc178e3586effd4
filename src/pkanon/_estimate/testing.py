"""Tests of one number: a value is rejected at 5% if and only if it lies outside the 95% interval.

The p-value of a value is 1 less the level whose interval just reaches it. Where the interval is plus or minus z standard
errors, this is the usual z test. Intervals of counts of very few people need not lie inside those of a higher level, because
they are corrected for skewness; of several such levels the one next to 95% counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

FARTHEST = 8.0
"""Standard errors: 2 in 10^15 lie farther out, and levels closer to 1 cannot be told from 1."""
_NEAREST = 1e-6
_STRIDE = 1.5
_STEPS = 60
_CLOSE = 1e-9

Limits: TypeAlias = Callable[[float], tuple[float, float]]
_Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Test:
    """Whether a number may have a certain value.

    Attributes
    ----------
    null
        The value that is tested.
    estimate, standard_error
        The number.
    statistic
        How many standard errors the estimate lies from ``null``, on the scale of its interval; of a chi-square test, chi-square.
    p_value
        The chance of an estimate at least as far off, if ``null`` were the truth.
    name
        What ``statistic`` is: z or chi-square.
    flag
        What must be said beside the number, such as ``small group``; None if there is nothing.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"sex": ["F", "F", "F", "M"] * 250}), plan, randomness=pk.Seeded(7))
    >>> print(release.crosstab("sex").proportion({"sex": "F"}).test(0.5))
    The estimate 0.7574 ± 0.01362 differs from 0.5: z = 18.89, p < 1e-15.
    """

    __test__ = False  # a class of ours, not one that pytest should collect

    null: float
    estimate: float
    standard_error: float
    statistic: float
    p_value: float
    name: str = "z"
    flag: str | None = None

    def rejected(self, level: float = 0.95) -> bool:
        """Whether ``null`` is rejected at 1 - ``level``."""
        return self.p_value < 1 - level

    @property
    def sentence(self) -> str:
        """What was found, in words; "differs" is said at the level of 95%."""
        if math.isnan(self.p_value):
            return "The number has no error, so nothing can be tested."
        flag = "" if self.flag is None else f" ({self.flag})"
        verdict = "differs from" if self.rejected() else "is not shown to differ from"
        return (
            f"The estimate {short(self.estimate)} ± {short(self.standard_error)}{flag} {verdict} {short(self.null)}: "
            f"{self.name} = {self.statistic:.4g}, {p_text(self.p_value)}."
        )

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        """The sentence, as a notebook shows it."""
        return f"<p>{self.sentence}</p>"


def two_sided(z: float) -> float:
    """The chance that a normal variable lies farther from its mean than z standard deviations."""
    return math.erfc(abs(z) / math.sqrt(2))


def level_of(z: float) -> float:
    """The level of an interval of plus or minus z."""
    return 2 * NormalDist().cdf(z) - 1


def inverted(limits: Limits, value: float, null: float) -> float:
    """How many standard errors of a normal variable ``null`` is away: the z whose interval just reaches it.

    ``limits`` gives the interval at a level, which holds ``value``. Negative if ``null`` is larger.
    """
    if math.isnan(value) or math.isnan(null):
        return math.nan
    if null == value:
        return 0.0
    side = 0 if null < value else 1

    def beyond(z: float) -> float:
        """How far the limit is from reaching null; negative once it does."""
        limit = limits(level_of(z))[side]
        return limit - null if side == 0 else null - limit

    sign = 1.0 if side == 0 else -1.0
    outside, inside = _bracket(beyond)
    if outside is None:
        return 0.0
    if inside is None:
        return sign * math.inf
    (near, at_near), (far, at_far) = outside, inside
    moved = 0
    for step in range(1, _STEPS):  # the false position, Illinois variant; by halves in between, for limits that jump
        middle = near + at_near * (far - near) / (at_near - at_far) if step % 4 else (near + far) / 2
        at_middle = beyond(middle)
        if at_middle > 0:
            near, at_near, at_far = middle, at_middle, at_far / (2 if moved == 1 else 1)
            moved = 1
        else:
            far, at_far, at_near = middle, at_middle, at_near / (2 if moved == -1 else 1)
            moved = -1
        if far - near < _CLOSE * far or abs(at_middle) < _CLOSE * abs(null - value):
            return sign * middle
    return sign * far


def _bracket(beyond: Callable[[float], float]) -> tuple[_Point | None, _Point | None]:
    """The last z whose interval does not reach, and the next that does, from that of 95% on; None: there is none."""
    z = NormalDist().inv_cdf(0.975)
    at = beyond(z)
    point = z, at
    if at > 0:
        while z < FARTHEST:
            z = min(z * _STRIDE, FARTHEST)
            last, point = point, (z, beyond(z))
            if not point[1] > 0:
                return last, point
        return point, None
    while z > _NEAREST:
        z = max(z / _STRIDE, _NEAREST)
        last, point = point, (z, beyond(z))
        if point[1] > 0:
            return point, last
    return None, point


def short(number: float) -> str:
    """A number with about four digits."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def p_text(p: float) -> str:
    """A p-value as it is printed."""
    return "p < 1e-15" if p < 1e-15 else f"p = {p:.3g}"
