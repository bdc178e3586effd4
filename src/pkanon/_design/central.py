"""The differential privacy of the shuffled release as a whole, as a target (docs/theory.md 9).

Central epsilon falls with the budget of the rows, and is bounded from above for every plan. So the budget is
searched for that just meets it; what is promised is the bound of the plan that comes out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .._blocks import Block
from .._errors import TargetError
from .._plan import Number, central_epsilon, checked_delta, exact
from .search import Search
from .target import budget, check_records

LOOSEST = 20
"""The largest local epsilon that is tried: beyond it shuffling hides next to nothing."""
LEAST = (1e-2, 1e-6)
"""Local epsilons that are tried for the least; the second is below anything useful."""
CLOSE = 1e-4
NEAR = 0.02
TINY = 1e-300

Design = Callable[[Fraction], tuple[list[Block], str | None]]


@dataclass(frozen=True)
class CentralTarget:
    """At most this epsilon, at this delta, for the release of so many records."""

    epsilon: Fraction
    delta: float
    records: int

    loosest = LOOSEST

    @classmethod
    def of(cls, epsilon: Number | None, delta: float | None, records: int, *, hidden: bool) -> CentralTarget | None:
        """The target, None if nothing is asked for, or the reason why nothing can meet it."""
        if epsilon is None:
            if delta is not None:
                raise TargetError("delta goes with central_epsilon; ask for both or for neither.")
            return None
        if hidden:
            raise TargetError("A central epsilon is not computed for a hidden record count; ask for one of both.")
        check_records(records)
        wanted = exact(epsilon, "central_epsilon", up=False)
        if wanted <= 0:
            raise TargetError(f"central_epsilon = {epsilon} cannot be met: it must be above 0.")
        return cls(wanted, checked_delta(delta, int(records)), int(records))

    def meet(
        self, design: Design, limit: Fraction, fixed: Sequence[Block], free: bool
    ) -> tuple[list[Block], str | None]:
        """The blocks of the largest budget within ``limit`` whose release has at most this central epsilon."""

        def reached(blocks: Sequence[Block]) -> float:
            return central_epsilon([*fixed, *blocks], self.records, self.delta)

        best = design(limit)
        if reached(best[0]) <= self.epsilon:
            return best
        if not free:
            raise TargetError(self._beyond(reached([])))

        def made(size: float) -> tuple[list[Block], str | None] | None:
            try:
                return design(Fraction(math.exp(2 * size)))
            except TargetError:
                return None  # floors that need more than that

        top = math.log(budget(limit))
        search = Search(made, lambda found: math.log(max(reached(found[0]), TINY) / float(self.epsilon)))
        for least in map(math.log, LEAST):
            found = search.between(least, top, CLOSE)
            if found is not None:
                break
        else:
            least = search.first(least, top, NEAR)
            found = search.between(least, top, CLOSE)
        if found is None:
            smallest = made(math.exp(least)) or best
            raise TargetError(self._beyond(reached(smallest[0])))
        return found

    def check(self, blocks: Sequence[Block]) -> None:
        """Raise unless the finished blocks, all of them, meet what was asked for."""
        reached = central_epsilon(blocks, self.records, self.delta)
        if reached > self.epsilon:
            raise TargetError(f"The plan that was made misses its target; please report it. {self._beyond(reached)}")

    def _beyond(self, reached: float) -> str:
        return f"central_epsilon = {float(self.epsilon):g} cannot be met; the nearest reachable is {reached:.4g}."
