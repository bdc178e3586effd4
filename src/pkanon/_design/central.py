"""The differential privacy of the shuffled release as a whole, as a target (docs/why/theory.md 9).

Central epsilon falls with the budget of the rows, and has an upper bound for every plan. A search finds the
budget that just meets the target; the promise is the bound of the finished plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from .._blocks import Block
from .._errors import TargetError
from .._plan import Number, central_epsilon, central_first, checked_delta, exact
from .search import Search
from .target import budget, check_records

LOOSEST = 20
"""The largest local epsilon that is tried. At least a share e^-epsilon of the rows says nothing about its people, and hides
the others; e^-20 is 2 rows in a billion, so that shuffling hides almost nothing."""
LOWEST = 1e-6
"""The local epsilon that a search starts from where the target itself is not low enough: floors may need all of it."""
CLOSE = 1e-4
"""How closely the local epsilon is searched for, as a share of it. Central epsilon grows about as e^(epsilon/2): at the
loosest, 20, by 10 times this share of itself, which is 0.1%."""
NEAR = 0.02
"""The same for the least local epsilon that a floor allows: a point to start from, found by ten halvings of log(20/1e-6)."""
TINY = 1e-300
"""Stands for 0 where a logarithm is taken."""

PROOFS = 5
"""How often the search aims lower because some other pair of rows turned out worse than the first."""

_central_epsilon = lru_cache(maxsize=2)(central_epsilon)
"""The finished plan is checked again, whoever made it."""

Design = Callable[[Fraction], tuple[list[Block], str | None]]


@dataclass(frozen=True)
class CentralTarget:
    """At most this epsilon, at this delta, for a release of ``records`` rows."""

    epsilon: Fraction
    delta: float
    records: int

    loosest = LOOSEST

    @classmethod
    def of(cls, epsilon: Number | None, delta: float | None, records: int, *, hidden: bool) -> CentralTarget | None:
        """The target, None if none is asked for; refuses one that nothing can meet."""
        if epsilon is None:
            if delta is not None:
                raise TargetError("delta goes with central_epsilon; ask for both or for neither.")
            return None
        if hidden:
            raise TargetError("A central epsilon is not computed for a hidden record count; ask for one of the two.")
        check_records(records)
        number = exact(epsilon, "central_epsilon", up=False)
        if number <= 0:
            raise TargetError(f"central_epsilon = {epsilon} cannot be met: it must be above 0.")
        return cls(number, checked_delta(delta, int(records)), int(records))

    def meet(
        self, design: Design, limit: Fraction, fixed: Sequence[Block], free: bool
    ) -> tuple[list[Block], str | None]:
        """The blocks of the largest budget within ``limit`` whose release has at most this central epsilon."""
        best = design(limit)
        if self._first([*fixed, *best[0]]) <= self.epsilon and self._reached([*fixed, *best[0]]) <= self.epsilon:
            return best
        if not free:
            raise TargetError(self._beyond(self._reached(fixed)))

        @cache
        def design_for(epsilon: float) -> tuple[list[Block], str | None] | None:
            try:
                return design(Fraction(math.exp(2 * epsilon)))
            except TargetError:
                return None  # floors that need more than that

        # one pair of rows leads the search, and the proof, over all pairs, takes as long as many looks: it comes last
        aim = float(self.epsilon)
        for _ in range(PROOFS):
            result = self._nearest(design_for, aim, fixed, math.log(budget(limit)))
            reached = self._reached([*fixed, *result[0]])
            if reached <= self.epsilon:
                return result
            aim *= float(self.epsilon) / reached * (1 - CLOSE)
        raise TargetError(self._beyond(reached))

    def _nearest(
        self,
        design_for: Callable[[float], tuple[list[Block], str | None] | None],
        aim: float,
        fixed: Sequence[Block],
        top: float,
    ) -> tuple[list[Block], str | None]:
        """The blocks of the largest budget, up to e^top, for which the first pair of rows has at most this epsilon."""
        search = Search(design_for, lambda result: math.log(max(self._first([*fixed, *result[0]]), TINY) / aim))
        # central epsilon is never above the local one: a design with the target for its local epsilon is low enough
        for start in math.log(aim), math.log(LOWEST):
            result = search.between(start, top, CLOSE)
            if result is not None:
                return result
        least = search.first(start, top, NEAR)
        result = search.between(least, top, CLOSE)
        if result is not None:
            return result
        smallest = design_for(math.exp(least))
        raise TargetError(self._beyond(self._reached([*fixed, *(smallest[0] if smallest else [])])))

    def _first(self, blocks: Sequence[Block]) -> float:
        return central_first(blocks, self.records, self.delta)

    def _reached(self, blocks: Sequence[Block]) -> float:
        ordered = sorted(blocks, key=lambda block: block.attributes)
        return _central_epsilon(tuple(ordered), self.records, self.delta)

    def check(self, blocks: Sequence[Block]) -> None:
        """Raise unless the finished blocks, all of them, meet what was asked for."""
        reached = self._reached(blocks)
        if reached > self.epsilon:
            raise TargetError(f"The plan that was made misses its target; please report it. {self._beyond(reached)}")

    def _beyond(self, reached: float) -> str:
        return f"central_epsilon = {float(self.epsilon):g} cannot be met; the nearest reachable is {reached:.4g}."
