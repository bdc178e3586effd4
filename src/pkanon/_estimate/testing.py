"""Tests of one number: a value is rejected at 5% if and only if it lies outside the 95% interval, and so at every level.

The p-value of a value is 1 less the smallest level whose interval holds it. Where the interval is plus or minus z standard
errors, this is the usual z test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

FARTHEST = 8.0
"""Standard errors: 2 in 10^15 lie farther out, and levels closer to 1 cannot be told from 1."""
_STEPS = 60
_CLOSE = 1e-11

Limits = Callable[[float], tuple[float, float]]


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

    def rejected(self, level: float = 0.95) -> bool:
        """Whether ``null`` is rejected at 1 - ``level``."""
        return self.p_value < 1 - level

    @property
    def sentence(self) -> str:
        """What was found, in words; "differs" is said at the level of 95%."""
        if math.isnan(self.p_value):
            return "The number has no error, so nothing can be tested."
        verdict = "differs from" if self.rejected() else "is not shown to differ from"
        return (
            f"The estimate {short(self.estimate)} ± {short(self.standard_error)} {verdict} {short(self.null)}: "
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


def inverted(limits: Limits, low: float, high: float, null: float) -> float:
    """How many standard errors of a normal variable ``null`` is away: the z whose interval just reaches it.

    ``limits`` gives the interval at a level; ``low`` and ``high`` are what every interval holds. Negative above them.
    """
    if math.isnan(low) or math.isnan(high) or math.isnan(null):
        return math.nan
    if low <= null <= high:
        return 0.0
    side = 0 if null < low else 1

    def beyond(z: float) -> float:
        """How far the limit is from reaching null; negative once it does."""
        limit = limits(level_of(z))[side]
        return limit - null if side == 0 else null - limit

    near, far = 1e-9, FARTHEST
    at_near, at_far = beyond(near), beyond(far)
    sign = 1.0 if side == 0 else -1.0
    if at_near <= 0:
        return 0.0
    if at_far > 0:
        return sign * math.inf
    for step in range(_STEPS):
        middle = near + at_near * (far - near) / (at_near - at_far) if step % 3 else (near + far) / 2
        at_middle = beyond(middle)
        if at_middle > 0:
            near, at_near, at_far = middle, at_middle, at_far / 2
        else:
            far, at_far, at_near = middle, at_middle, at_near / 2
        if far - near < _CLOSE * far or at_middle == 0:
            break
    return sign * far


def short(number: float) -> str:
    """A number with about four digits."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def p_text(p: float) -> str:
    """A p-value as it is printed."""
    return "p < 1e-15" if p < 1e-15 else f"p = {p:.3g}"
