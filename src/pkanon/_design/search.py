"""Root search for a decreasing function that is expensive to evaluate: each evaluation makes a design.

Returns the best design on the safe side: the one nearest to the target that does not miss it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Result = TypeVar("Result")

FAR = 50.0
"""The excess of a design that cannot be made, or is further off than e^50: the root search needs finite numbers."""
ENOUGH = 5e-4
"""A search ends as soon as a good design is within 0.05% of the target. Errors fall with the root of the number of
records, so 0.05% of an error is 0.1% of the records, which is what :func:`records_needed` promises."""


LEVEL = 4e-3
"""Where an excess may be level, a search ends with a good x and a bad one within 0.4% of each other."""


@dataclass(frozen=True)
class Search(Generic[Result]):
    """``design(e^x)`` is made for some x; its ``excess`` falls through zero as x goes from the bad end to the good one.

    ``excess(result)`` is the logarithm of reached over asked: good designs have at most 0. ``design`` returns None if
    no design can be made, which is never good. ``looked`` is called with the number of designs made so far.
    """

    design: Callable[[float], Result | None]
    excess: Callable[[Result], float]
    looked: Callable[[int], None] = lambda looks: None
    known: dict[float, tuple[float, Result | None]] = field(default_factory=dict, init=False)

    def between(self, good: float, bad: float, close: float) -> Result | None:
        """The design nearest to zero on the good side, its x to within ``close``; None if even ``good`` is not good."""
        from scipy.optimize import brentq

        looks = self.known

        def excess_at(x: float) -> float:
            excess = self._look(x)[0]
            return 0.0 if -ENOUGH <= excess <= 0 else excess  # at a zero the root search stops

        at_good = excess_at(good)
        if at_good > 0:
            return None
        if at_good < 0 < excess_at(bad):
            brentq(excess_at, min(good, bad), max(good, bad), xtol=close)
        return max((look for look in looks.values() if look[0] <= 0), key=lambda look: look[0])[1]

    def around(self, guess: float, low: float, high: float, close: float, *, steady: bool = True) -> Result | None:
        """The same for an excess that is good at low x, and a search that starts at a guess: the largest x that is good.

        If it is ``steady``, it grows about as fast as x, and one just below zero ends the search. Otherwise it may be level
        there for long: steps of growing length lead to where it is not.
        """
        # the first x beyond the guess that is known not to be good, if there is one
        looks = sorted((x, look[0]) for x, look in self.known.items() if guess < x <= high and look[0] > 0)[:1]
        good, bad, stride = low, looks[0][0] if looks else math.inf, LEVEL
        best: Result | None = None
        level = False
        x = min(max(guess, low), high)
        while True:
            excess, result = self._look(x)
            looks.append((x, excess))
            if excess <= 0:
                good, best = x, result
            else:
                bad = x
            level = level or -ENOUGH <= excess <= 0
            if (level and steady) or bad - good <= (LEVEL if level else close) or x == (high if excess <= 0 else low):
                return best
            if level:
                x, stride = min(good + stride, (good + bad) / 2, high), 2 * stride
                continue
            x = min(max(self._next(looks, close), good), bad, high)
            if x in (good, bad) and x in (place for place, _ in looks):
                x = (good + min(bad, high)) / 2

    @staticmethod
    def _next(looks: Sequence[tuple[float, float]], close: float) -> float:
        """Where the last two looks, or else a slope of 1, put an excess just below 0."""
        x, excess = looks[-1]
        slope = 1.0
        if len(looks) > 1 and abs(x - looks[-2][0]) > close / 10:
            slope = min(max((excess - looks[-2][1]) / (x - looks[-2][0]), 0.2), 5.0)
        return x - (excess + ENOUGH / 2) / slope

    def at(self, x: float) -> float:
        """The excess at x."""
        return self._look(x)[0]

    def first(self, low: float, high: float, close: float) -> float:
        """The smallest x, to within ``close``, at which a design can be made; at ``high`` one can."""
        if self.design(math.exp(low)) is not None:
            return low
        while high - low > close:
            middle = (low + high) / 2
            low, high = (low, middle) if self.design(math.exp(middle)) is not None else (middle, high)
        return high

    def _look(self, x: float) -> tuple[float, Result | None]:
        """(the excess at x, the design)."""
        if x not in self.known:
            result = self.design(math.exp(x))
            self.known[x] = (FAR if result is None else min(max(self.excess(result), -FAR), FAR)), result
            self.looked(len(self.known))
        return self.known[x]
