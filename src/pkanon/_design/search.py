"""Where a falling line crosses zero, with as few looks at it as possible: every look is a design."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")

FAR = 50.0
"""What counts as infinitely far off, on a logarithmic scale."""


class Search(Generic[Found]):
    """Looks at ``design(e^x)``, whose ``excess`` falls through zero, and keeps the last x on the good side.

    ``excess(design)`` is the logarithm of what is reached over what is wanted, at most 0 if good. ``design`` returns None
    for what cannot be made, which is never good.
    """

    def __init__(
        self,
        design: Callable[[float], Found | None],
        excess: Callable[[Found], float],
        told: Callable[[int], None] | None = None,
    ) -> None:
        self.design, self.excess, self.told = design, excess, told
        self.best: tuple[float, Found] | None = None
        self.looks = 0

    def look(self, x: float) -> float:
        """The excess at x."""
        made = self.design(math.exp(x))
        self.looks += 1
        if self.told is not None:
            self.told(self.looks)
        if made is None:
            return FAR
        excess = min(max(self.excess(made), -FAR), FAR)
        if excess <= 0 and (self.best is None or excess > self.best[0]):
            self.best = excess, made
        return excess

    def between(self, good: float, bad: float, close: float) -> Found | None:
        """The design nearest to zero on the good side, its x to within ``close``; None if even ``good`` is not."""
        from scipy.optimize import brentq

        at_good = self.look(good)
        if at_good > 0:
            return None
        at_bad = self.look(bad)
        if at_bad > 0:
            known = {good: at_good, bad: at_bad}
            brentq(lambda x: known[x] if x in known else self.look(x), min(good, bad), max(good, bad), xtol=close)
        assert self.best is not None
        return self.best[1]
