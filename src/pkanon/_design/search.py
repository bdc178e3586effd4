"""Where a falling line crosses zero, with as few looks at it as possible: every look is a design."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

Found = TypeVar("Found")

FAR = 50.0
"""What counts as infinitely far off, on a logarithmic scale."""
ENOUGH = 5e-4
"""So near to zero, on the good side, a search need not go on."""


class _Enough(Exception):
    pass


class Search(Generic[Found]):
    """Looks at ``design(e^x)``, whose ``excess`` falls through zero, and keeps the last x on the good side.

    ``excess(design)`` is the logarithm of what is reached over what is wanted, at most 0 if good. ``design`` returns None
    for what cannot be made, which is never good.
    """

    def __init__(
        self,
        design: Callable[[float], Found | None],
        excess: Callable[[Found], float],
        looked: Callable[[int], None] = lambda looks: None,
    ) -> None:
        self.design, self.excess, self.looked = design, excess, looked
        self.best: tuple[float, Found] | None = None
        self.looks = 0

    def look(self, x: float) -> float:
        """The excess at x."""
        made = self.design(math.exp(x))
        self.looks += 1
        self.looked(self.looks)
        if made is None:
            return FAR
        excess = min(max(self.excess(made), -FAR), FAR)
        if excess <= 0 and (self.best is None or excess > self.best[0]):
            self.best = excess, made
        if -ENOUGH <= excess <= 0:
            raise _Enough
        return excess

    def first(self, low: float, high: float, close: float) -> float:
        """The smallest x, to within ``close``, at which anything can be made at all; at ``high`` it can."""
        if self.design(math.exp(low)) is not None:
            return low
        while high - low > close:
            middle = (low + high) / 2
            low, high = (low, middle) if self.design(math.exp(middle)) is not None else (middle, high)
        return high

    def between(self, good: float, bad: float, close: float) -> Found | None:
        """The design nearest to zero on the good side, its x to within ``close``; None if even ``good`` is not good."""
        from scipy.optimize import brentq

        with suppress(_Enough):
            at_good = self.look(good)
            if at_good > 0:
                return None
            at_bad = self.look(bad)
            if at_bad > 0:
                known = {good: at_good, bad: at_bad}
                brentq(lambda x: known[x] if x in known else self.look(x), min(good, bad), max(good, bad), xtol=close)
        assert self.best is not None
        return self.best[1]
