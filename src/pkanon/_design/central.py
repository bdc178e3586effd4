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

import numpy as np

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
TINY, HUGE = 1e-300, 700.0
"""Stand for 0 where a logarithm is taken, and for infinity where an exponential is."""
WASTED = 2e-3
"""The share of the target that a quick look may leave unused; quick bounds are many times too high where few rows hide the
others. If it is more, the search goes on with looks as close as the proof."""
APART, ALIKE = 0.8, 0.05
"""Sums count as normal if their noise seems the same, but for this share, at the target and at this part of it."""
AHEAD, PLACES, NEARBY = 1.2, 7, 1e-3
"""How far beyond a first result, in logarithms of strength, and at how many places other designs are looked for; and how closely
the largest strength is searched for there, where one design often gives way to another."""
PROOFS = 5
"""How often the search aims lower because some other pair of rows turned out worse than the first, which matrices may need."""

_central_epsilon = lru_cache(maxsize=2)(central_epsilon)
"""The finished plan is checked again, whoever made it."""

Made = tuple[list[Block], str | None]
Design = Callable[[Fraction], Made]


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
    ) -> Made:
        """The blocks of the largest budget within ``limit`` whose release has at most this central epsilon."""
        if not free:
            reached = self._reached(fixed)
            if reached <= self.epsilon:
                return design(limit)
            raise TargetError(self._beyond(reached))

        @cache
        def design_for(strength: float) -> Made | None:
            try:
                return design(min(Fraction(math.exp(4 * math.asinh(strength))), limit))
            except TargetError:
                if strength >= top:
                    raise  # nothing meets the other targets
                return None  # floors that need more than that

        # A quick look at each design leads the search; the proof, which takes as long as several looks, comes last.
        top = _strength(budget(limit))
        target, quick, found, tight = min(float(self.epsilon), HUGE), True, 0.0, False
        aim = target * (1 - CLOSE)
        met: Made | None = None
        for proof in range(PROOFS):
            part = within(progress, 1 - 0.5**proof, 1 - 0.5 ** (proof + 1))
            search = self._search(design_for, aim, fixed, quick, part)
            again = met is not None or not quick
            result = self._beyond_it(search, found, top, part) if found and again else None
            if result is None and not tight:
                result = self._nearest(search, design_for, aim, top, found, quick)
            if result is None:
                if again:
                    break
                quick = False
                continue
            found, made = result
            reached = self._reached([*fixed, *made[0]])
            if reached > self.epsilon:
                aim, tight = aim * target / reached * (1 - CLOSE), False
                continue
            met, tight = made, reached >= target * (1 - WASTED)
            if found >= top or again or (tight and self._normal([*fixed, *made[0]], aim)):
                break
            aim, quick = target * (1 - CLOSE), tight
        if met is not None:
            return met
        if result is None:
            least = design_for(math.exp(self._least(design_for, top)))
            reached = self._reached([*fixed, *(least[0] if least else [])])
        raise TargetError(self._beyond(reached))

    def _search(
        self,
        design_for: Callable[[float], Made | None],
        aim: float,
        fixed: Sequence[Block],
        quick: bool,
        progress: Progress,
    ) -> Search[tuple[float, Made]]:
        """For a strength, and its blocks, whose release has this central epsilon."""
        noise, tiny = normal_noise(aim, self.delta), min(TINY, self.delta / 2)

        def design(strength: float) -> tuple[float, Made] | None:
            made = design_for(strength)
            return None if made is None else (strength, made)

        def excess(result: tuple[float, Made]) -> float:
            # in terms of the noise of a normal sum, to which central epsilon is nearly proportional
            reached = central_delta([*fixed, *result[1][0]], self.records, aim, rough=quick, sought=self.delta)
            return math.log(normal_noise(aim, min(max(reached, tiny), 1.0)) / noise)

        return Search(design, excess, lambda looks: progress("planning", 1 - 0.7**looks))

    def _nearest(
        self,
        search: Search[tuple[float, Made]],
        design_for: Callable[[float], Made | None],
        aim: float,
        top: float,
        found: float,
        quick: bool,
    ) -> tuple[float, Made] | None:
        """The largest strength, up to ``top``, whose blocks a look finds to have at most this central epsilon, and these.

        The search starts where an earlier one ended, or at the noise of a normal sum.
        """
        # where a row says nothing or everything with even odds, the noise is 2 sinh(epsilon / 2) / sqrt(n)
        noise = normal_noise(aim, self.delta)
        guess, most = math.log(found or noise * math.sqrt(self.records) / 2), math.log(top)
        # central epsilon is never above the local one: a design with the target, or little less, for its local epsilon will do
        for start in math.log(_strength(aim * (1 - CLOSE))), math.log(_strength(LOWEST)):
            result = search.around(guess, start, most, CLOSE, steady=quick)
            if result is not None:
                return result
        return search.around(guess, self._least(design_for, top), most, CLOSE, steady=quick)

    @staticmethod
    def _beyond_it(
        search: Search[tuple[float, Made]], found: float, top: float, progress: Progress
    ) -> tuple[float, Made] | None:
        """The same, well beyond what was found: budgets beyond one that is too large may be good again, as other designs are best there."""
        least, most = math.log(found), math.log(top)
        places = np.linspace(min(least + AHEAD, most), least, PLACES)[:-1]
        for number, place in enumerate(places):
            progress("planning", number / PLACES)
            if search.good(place):
                return search.around(place, place, min(place + AHEAD / (PLACES - 1), most), NEARBY, steady=False)
        return None

    def _normal(self, blocks: Sequence[Block], aim: float) -> bool:
        """Whether sums are about normal, so that central epsilon is nearly proportional to the strength of a design.

        Where few rows hide the others, it may be the same for weak and for strong ones.
        """
        noises = [
            normal_noise(epsilon, min(max(central_delta(blocks, self.records, epsilon, rough=True), TINY), 1.0))
            for epsilon in (aim, APART * aim)
        ]
        return abs(math.log(noises[0] / noises[1])) <= ALIKE

    @staticmethod
    def _least(design_for: Callable[[float], Made | None], top: float) -> float:
        """The logarithm of the least strength for which there are blocks."""
        return Search(design_for, lambda made: 0.0).first(math.log(_strength(LOWEST)), math.log(top), NEAR)

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
