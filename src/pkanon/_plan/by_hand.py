"""One column corrected by hand: the formula with the numbers of a plan, for readers who have nothing installed.

For an attribute that is kept with probability rho and else drawn from shares w (transitions.py), with n released rows of which
y have a value and ``q = (1 - rho) w`` of that value:

    estimate = (y - q n) / rho
    error    = sqrt((y (1 - q)^2 + (n - y) q^2) / rho^2 - estimate)

which is the unbiased estimate and its standard error about the people in the table (docs/why/theory.md 7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._schema import Attribute
from .transitions import Mixture, channels

if TYPE_CHECKING:
    from .plan import Plan

MOST_VALUES = 30
"""Values of a column that somebody would still correct by hand."""


@dataclass(frozen=True)
class ByHand:
    """A column that can be corrected by hand: with the same numbers for each value, or a q of its own."""

    attribute: Attribute
    mixture: Mixture

    def q(self, code: int) -> float:
        """How often the value with this code appears by replacement."""
        return float(self.mixture.becomes[code])

    def estimate(self, y: float, n: float, code: int) -> float:
        """How many people have the value of which ``y`` of ``n`` rows were released."""
        return (y - self.q(code) * n) / self.mixture.rho

    def error(self, y: float, n: float, code: int) -> float:
        """The standard error of :meth:`estimate`; not a number where the formula gives none."""
        q, rho = self.q(code), self.mixture.rho
        variance = (y * (1 - q) ** 2 + (n - y) * q**2) / rho**2 - self.estimate(y, n, code)
        return math.sqrt(variance) if variance >= 0 else math.nan


def by_hand(plan: Plan, types: Sequence[str] = ("text", "integer")) -> ByHand | None:
    """The first column that somebody can correct by hand, with released values of these ``types``; None if there is none.

    A column whose values are all treated alike is preferred.
    """
    found = [
        ByHand(attribute, channel.mixture)
        for attribute, channel in ((plan.schema.attribute(name), channel) for name, channel in channels(plan).items())
        if channel.mixture is not None
        and abs(channel.mixture.rho) > 1e-9
        and attribute.size <= MOST_VALUES
        and attribute.released_type in types
    ]
    return min(found, key=lambda one: not one.mixture.uniform, default=None)
