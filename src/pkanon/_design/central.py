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
from .._plan import Number, central_delta, central_epsilon, checked_delta, exact, normal_noise
from .._progress import Progress, quiet, within
from .search import Search
from .target import budget, check_records

LOOSEST = 20
"""The largest local epsilon that is tried. At least a share e^-epsilon of the rows says nothing about its people, and hides
the others; e^-20 is 2 rows in a billion, so that shuffling hides almost nothing."""
LOWEST = 1e-6
"""The local epsilon that a search starts from where the target itself is not low enough: floors may need all of it."""
CLOSE = 1e-4
"""How closely sinh(epsilon / 2), which central epsilon is about proportional to, is searched for, as a share of it; and how
much of the target is left for the search that states what was reached."""
NEAR = 0.02
"""The same for the least local epsilon that a floor allows: a point to start from, found by ten halvings."""
TINY, HUGE = 1e-300, 1e9
"""Stand for 0 and infinity where a logarithm is taken."""
PROOFS = 5
"""How often the search aims lower because some other pair of rows turned out worse than the first, which matrices may need."""

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
        self, design: Design, limit: Fraction, fixed: Sequence[Block], free: bool, progress: Progress = quiet
    ) -> tuple[list[Block], str | None]:
        """The blocks of the largest budget within ``limit`` whose release has at most this central epsilon."""
        if not free:
            reached = self._reached(fixed)
            if reached <= self.epsilon:
                return design(limit)
            raise TargetError(self._beyond(reached))

        @cache
        def design_for(strength: float) -> tuple[list[Block], str | None] | None:
            try:
                return design(min(Fraction(math.exp(4 * math.asinh(strength))), limit))
            except TargetError:
                if strength >= top:
                    raise  # nothing meets the other targets
                return None  # floors that need more than that

        # A quick look at each design leads the search; the proof, which takes as long as several looks, comes last.
        top = _strength(budget(limit))
        aim = float(self.epsilon) * (1 - CLOSE)
        for proof in range(PROOFS):
            result = self._nearest(
                design_for, aim, fixed, top, within(progress, 1 - 0.5**proof, 1 - 0.5 ** (proof + 1))
            )
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
        progress: Progress,
    ) -> tuple[list[Block], str | None]:
        """The blocks of the largest budget, up to ``top``, which a quick look finds to have at most this central epsilon."""
        noise = normal_noise(aim, self.delta)

        def excess(result: tuple[list[Block], str | None]) -> float:
            # in terms of the noise of a normal sum, to which central epsilon is nearly proportional
            reached = central_delta([*fixed, *result[0]], self.records, aim, rough=True)
            return math.log(normal_noise(aim, min(max(reached, TINY), 1.0)) / noise)

        search = Search(design_for, excess, lambda looks: progress("planning", 1 - 0.7**looks))
        # where a row says nothing or everything with even odds, the noise is 2 sinh(epsilon / 2) / sqrt(n)
        guess, most = math.log(noise * math.sqrt(self.records) / 2), math.log(top)
        # central epsilon is never above the local one: a design with the target for its local epsilon is low enough
        for start in math.log(_strength(aim)), math.log(_strength(LOWEST)):
            result = search.around(guess, start, most, CLOSE)
            if result is not None:
                return result
        least = search.first(start, most, NEAR)
        result = search.around(guess, least, most, CLOSE)
        if result is not None:
            return result
        smallest = design_for(math.exp(least))
        raise TargetError(self._beyond(self._reached([*fixed, *(smallest[0] if smallest else [])])))

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


def _strength(epsilon: float) -> float:
    return math.sinh(epsilon / 2)
