"""The differential privacy of the shuffled release as a whole, as a target (docs/why/theory.md 9).

Central epsilon falls with the budget of the rows, and has an upper bound for every plan. A search finds the
budget that just meets the target; the promise is the bound of the finished plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise

from .._blocks import Block
from .._errors import TargetError
from .._plan import (
    Number,
    central_delta,
    central_epsilon,
    checked_delta,
    exact,
    log_above,
    normal_noise,
    total_epsilon_ratio,
)
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
TINY, HUGE, VAST = 1e-300, 700.0, 1e300
"""Stand for 0 where a logarithm is taken, for infinity where an exponential is, and where a float is made."""
WASTED = 4e-3
"""The share of the noise that a quick look may leave unused; quick bounds are many times too high where few rows hide the
others. If it is more, the search goes on with looks as close as the proof."""
APART, ALIKE = 0.8, 0.05
"""Sums count as normal if their noise seems the same, but for this share, at the target and at this part of it."""
AHEAD, PLACES, NEARBY = 1.2, 6, 2e-4
"""How far beyond a first result, in logarithms of strength, and at how many places other designs are looked for; and how closely
the largest strength is searched for there, where one design often gives way to another."""
LOST = 0.9
"""An excess that no other design was found to make up for."""
FALLEN, FINEST = 0.5, 0.025
"""The excess up to which it is looked at where it falls, and how close to each other."""
LEVEL = 8e-3
"""The distance at which the excess may be level: it grows by half of that at most."""
BROAD, STEPS = 0.1, 3
"""How closely that first result is searched for, and in how many steps."""
PROOFS = 5
"""How often the search aims lower because some other pair of rows turned out worse than the first, which matrices may need."""

_central_delta = lru_cache(maxsize=2)(central_delta)
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
        if not TINY <= number <= VAST:
            raise TargetError(f"central_epsilon = {epsilon} is not a number that can be used; write it like 1 or 0.1.")
        return cls(number, checked_delta(delta, int(records)), int(records))

    def meet(
        self, design: Design, limit: Fraction, fixed: Sequence[Block], free: bool, progress: Progress = quiet
    ) -> Made:
        """The blocks of the largest budget within ``limit`` whose release has at most this central epsilon."""
        top = _strength(budget(limit))
        if not free or top == 0:
            made = design(limit)
            if self._excess([*fixed, *made[0]]) <= 0:
                return made
            raise TargetError(self._beyond([*fixed, *made[0]]))

        @cache
        def design_for(strength: float) -> Made | None:
            try:
                return design(min(Fraction(math.exp(4 * math.asinh(strength))), limit))
            except TargetError:
                if strength >= top:
                    raise  # nothing meets the other targets
                return None  # floors that need more than that

        # A quick look at each design leads the search; the proof, which takes as long as several looks, comes last.
        target, quick = self._aim, True
        aim, guess = target * (1 - CLOSE), self._guess(target)
        met: Made | None = None
        for proof in range(PROOFS):
            part = within(progress, 1 - 0.5**proof, 1 - 0.5 ** (proof + 1))
            search = self._search(design_for, aim, fixed, quick, part)
            result = self._largest(search, design_for, aim, fixed, guess, top, quick)
            if result is None:
                if met is not None or not quick:
                    break
                quick = False
                continue
            found, made = result
            guess = math.log(found)
            excess = self._excess([*fixed, *made[0]])
            if excess > 0:
                aim *= math.exp(-excess) * (1 - CLOSE)
                continue
            met = made
            if found >= top or not quick or excess >= -WASTED:
                break
            aim, quick = target * (1 - CLOSE), False
        if met is not None:
            return met
        least = design_for(math.exp(self._least(design_for, top)))
        raise TargetError(self._beyond([*fixed, *(least[0] if least else [])]))

    def _guess(self, target: float) -> float:
        """The logarithm of the strength with which a search begins."""
        # where a row says nothing or everything with even odds, the noise is 2 sinh(epsilon / 2) / sqrt(n) for a target near 0,
        # and this many times as much for others, as a and b of a summand a - e^target b are seldom large together
        more = math.exp(target) * math.sqrt((1 + math.exp(-2 * target)) / 2)
        normal = normal_noise(target, self.delta) / more * math.sqrt(self.records) / 2
        return math.log(max(normal, self._safe(target)))

    @staticmethod
    def _safe(aim: float) -> float:
        """The strength of a design with the target, or little less, for its local epsilon, which central epsilon is never above."""
        return _strength(aim * (1 - CLOSE))

    def _search(
        self,
        design_for: Callable[[float], Made | None],
        aim: float,
        fixed: Sequence[Block],
        quick: bool,
        progress: Progress,
    ) -> Search[tuple[float, Made]]:
        """For a strength, and its blocks, whose release has this central epsilon."""

        def design(strength: float) -> tuple[float, Made] | None:
            made = design_for(strength)
            return None if made is None else (strength, made)

        def excess(result: tuple[float, Made]) -> float:
            reached = central_delta([*fixed, *result[1][0]], self.records, aim, rough=quick, sought=self.delta)
            return self._over(aim, reached)

        return Search(design, excess, lambda looks: progress("planning", 1 - 0.7**looks))

    def _largest(
        self,
        search: Search[tuple[float, Made]],
        design_for: Callable[[float], Made | None],
        aim: float,
        fixed: Sequence[Block],
        guess: float,
        top: float,
        quick: bool,
    ) -> tuple[float, Made] | None:
        """The largest strength, up to ``top``, whose blocks a look finds to have at most this central epsilon, and these.

        It is searched for closely only where no other designs, at larger budgets, are good again.
        """
        most = math.log(top)
        place = self._near(search, guess, most)
        near = design_for(math.exp(place))
        several = place < most and near is not None and not self._normal([*fixed, *near[0]], aim, search.at(place))
        beyond = self._beyond_it(search, place, most) if several else None
        if beyond is not None:
            return beyond
        starts = math.log(self._safe(aim)), math.log(_strength(LOWEST)), None
        for start in starts:
            least = self._least(design_for, top) if start is None else start
            result = search.around(place, least, most, CLOSE, steady=quick)
            if result is not None:
                break
        return self._past_level(search, result, most) if several and result is not None else result

    @staticmethod
    def _near(search: Search[tuple[float, Made]], place: float, most: float) -> float:
        """A place that may be no more than ``BROAD`` away from that of the result."""
        for _ in range(STEPS):
            place = min(max(place, math.log(_strength(LOWEST))), most)
            excess = search.at(place)
            if abs(excess) <= BROAD:
                break
            place -= min(max(excess, -1.0), 1.0)
        return place

    @staticmethod
    def _beyond_it(search: Search[tuple[float, Made]], least: float, most: float) -> tuple[float, Made] | None:
        """The same, well beyond what was found: budgets beyond one that is too large may be good again, as other designs are best there."""
        step = (min(least + AHEAD, most) - least) / PLACES
        places: list[float] = []
        while len(places) < PLACES and not (places and search.at(places[-1]) > LOST):
            places.append(min(least + (len(places) + 1) * step, most))

        def good(places: Iterable[float]) -> float | None:
            return next((place for place in places if search.at(place) <= 0), None)

        found = good(reversed(places))
        # where other designs become best, the excess falls, or grows less than elsewhere for a while: there it may be good
        slow = [
            (below, above)
            for below, above in pairwise(places)
            if search.at(below) < FALLEN and search.at(above) - search.at(below) < step / 2
        ]
        if found is None and slow:
            beside, known = [sum(slow[-1]) / 2], [*slow[-1]]
            while (found := good(beside)) is None and step > 2 * FINEST:
                step /= 2
                known += beside
                lowest = min(known, key=search.at)
                if lowest == slow[-1][0]:
                    break  # it fell nowhere
                beside = [min(lowest + step / 2, most), lowest - step / 2]
        return None if found is None else search.around(found, found, min(found + AHEAD, most), NEARBY, steady=False)

    @staticmethod
    def _past_level(search: Search[tuple[float, Made]], result: tuple[float, Made], most: float) -> tuple[float, Made]:
        """The same, beyond places near a result where the excess is hardly above zero and may fall below it again."""
        place, stride = math.log(result[0]), LEVEL
        while (place := place + stride) <= most and search.at(place) <= LEVEL / 2:
            result = search.around(place, place, most, NEARBY) or result
            place, stride = max(place, math.log(result[0])), 2 * stride
        return result

    def _log_noise(self, epsilon: float, delta: float) -> float:
        """That of the noise of a normal sum with this epsilon and this delta, to which central epsilon is nearly proportional."""
        return math.log(normal_noise(epsilon, min(max(delta, min(TINY, self.delta / 2)), 1.0)))

    def _normal(self, blocks: Sequence[Block], aim: float, excess: float) -> bool:
        """Whether sums are about normal, so that central epsilon is nearly proportional to strength; the excess is that at the aim.

        Where few rows hide the others, it may be the same for weak and for strong ones.
        """
        nearer = APART * aim
        noise = self._log_noise(nearer, central_delta(blocks, self.records, nearer, rough=True))
        return abs(self._log_noise(aim, self.delta) + excess - noise) <= ALIKE

    @staticmethod
    def _least(design_for: Callable[[float], Made | None], top: float) -> float:
        """The logarithm of the least strength for which there are blocks."""
        return Search(design_for, lambda made: 0.0).first(math.log(_strength(LOWEST)), math.log(top), NEAR)

    def _excess(self, blocks: Sequence[Block]) -> float:
        """The logarithm of the noise that blocks are proved to have, over the most that the target allows."""
        local = log_above(total_epsilon_ratio(blocks))
        if local <= self._aim:
            return math.log(max(local, TINY) / self._aim)
        ordered = sorted(blocks, key=lambda block: block.attributes)
        return self._over(self._aim, _central_delta(tuple(ordered), self.records, self._aim))

    def _over(self, aim: float, reached: float) -> float:
        """The logarithm of the noise with which a normal sum reaches this delta, over the most that is allowed."""
        excess = self._log_noise(aim, reached) - self._log_noise(aim, self.delta)
        # delta decides, also where the noise seems to be the same
        return min(excess, 0.0) if reached <= self.delta else max(excess, CLOSE)

    @property
    def _aim(self) -> float:
        """The target as a float that is not above it, and small enough for an exponential."""
        nearest = float(self.epsilon)  # from 1e-300 to 1e300
        return min(nearest if nearest <= self.epsilon else math.nextafter(nearest, 0.0), HUGE)

    def check(self, blocks: Sequence[Block]) -> None:
        """Raise unless the finished blocks, all of them, meet what was asked for."""
        if self._excess(blocks) > 0:
            raise TargetError(f"The plan that was made misses its target; please report it. {self._beyond(blocks)}")

    def _beyond(self, blocks: Sequence[Block]) -> str:
        reached = central_epsilon(blocks, self.records, self.delta)
        return f"central_epsilon = {float(self.epsilon):g} cannot be met; the nearest reachable is {reached:.4g}."


def _strength(epsilon: float) -> float:
    return math.sinh(epsilon / 2)
