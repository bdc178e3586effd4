"""Central (eps, delta) of a shuffled release, from above and from below (docs/why/theory.md 9).

Rows are randomised independently by a plan, then shuffled; the number of rows is public and neighbouring tables differ
in one record. The upper bound is the privacy blanket of Balle, Bell, Gascon and Nissim (2019): ``delta(eps)`` is at most the
largest ``(1/n) E[(sum over i <= M of (a_i - e^eps b_i))_+]`` over pairs of rows, M binomial(n, gamma).

    pairs.py     which pairs can be the worst, and the law of (a, b) for each
    sets.py      all pairs at once, where there are no general matrices
    positive.py  the mean positive part of the sum, from above
    lower.py     what two real neighbouring tables give away: a bound from below

Every numerical step errs upwards (downwards in lower.py). The result is a property of the plan and of the number of rows
released; whether a delta is small enough to mean anything (below 1/n) is for the caller to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..._blocks import Agreement, Block
from ..._errors import TargetError
from ..privacy import log_above, total_epsilon_ratio
from .lower import central_lower as _lower
from .normal import Spread, normal_noise
from .pairs import Blanket, Law, Vector
from .positive import Atoms, Summands, positive_part
from .sets import Sets
from .whole import check_records

__all__ = [
    "LARGEST_UNITS",
    "central_bound",
    "central_delta",
    "central_epsilon",
    "central_lower",
    "check_units",
]

LARGEST_UNITS = 12
_EXACT = 1000
"""Atoms up to which the law of a single pair is used as it is."""
_SPACING = 0.03
"""Distance of neighbouring nodes, relative to |x|: splitting adds at most 0.03^2 / 4 of the variance, 1e-4 of eps."""
_NEGLIGIBLE, _HOPELESS = 1e-9, 150.0
"""A local eps that floats can tell from 0, and whose square they can hold; others are returned as they are."""
_PRECISION = 1e-6
"""How closely the search encloses eps, relative to it, unless delta is reached closely before."""
_CALM = 20
"""A noise so many times the largest summand is nearly that of a normal sum."""
_NEAR = 5e-3
"""A step shorter than this share of eps is not worth a rough bound, which is off by some 1e-4 of eps."""
_CLOSE = 5e-4
"""The share of delta that may stay unused: some 2e-5 of eps."""
_ROOM = 3e-5
"""A share of eps, for pairs that are worse than the first one by next to nothing."""


def central_epsilon(blocks: Sequence[Block], records: int, delta: float) -> float:
    """The smallest eps for which (eps, delta) is proved here, rounded up; never above the local eps, which may be infinite."""
    _check(blocks, records)
    _check_delta(delta)
    local = log_above(total_epsilon_ratio(blocks))
    if not _NEGLIGIBLE < local < _HOPELESS:
        return local
    sets = _sets(blocks)
    if sets is None:
        return _smallest(Blanket.of(blocks), records, delta, local)

    def reached(epsilon: float, rough: bool) -> float:
        return _share(sets.at(epsilon), records, rough=rough)

    return _search(reached, sets.spread(records), records, sets.reach, delta, 0.0, local)


def central_bound(blocks: Sequence[Block], records: int, delta: float) -> float:
    """An eps for which (eps, delta) is proved at once for any number of units: often a tenth above :func:`central_epsilon`.

    All blocks together are one law, that of the corners (pairs.py), which dominates every pair.
    """
    check_records(records)
    _check_delta(delta)
    local = log_above(total_epsilon_ratio(blocks))
    if not _NEGLIGIBLE < local < _HOPELESS:
        return local
    return _smallest(Blanket.corners(blocks), records, delta, local)


def _smallest(blanket: Blanket, records: int, delta: float, local: float) -> float:
    """The smallest eps for which every pair of the blanket is within ``delta``."""
    # delta of each pair falls as eps grows: a pair that is met at some eps stays met at every larger one.
    epsilon = 0.0
    watch = _Watch(blanket, records, epsilon)
    for law in blanket.laws():
        if watch.delta(law, delta) > delta:
            share = blanket.gamma / records
            spread = Spread(share * float(law.p @ (law.a - law.b) ** 2), share * float(law.p @ law.b**2))

            def reached(epsilon: float, rough: bool, law: Law = law) -> float:
                return _Watch(blanket, records, epsilon).delta(law, 0.0, rough=rough)

            epsilon = _search(reached, spread, records, blanket.ratio, delta, epsilon, local)
            if blanket.pairs > 1:  # a little room for pairs that are worse by rounding errors only
                epsilon = min(epsilon * (1 + _ROOM), local)
            if epsilon >= local:
                return local
            watch = _Watch(blanket, records, epsilon)
            watch.delta(law, 0.0)
    return min(epsilon, local)


def central_delta(
    blocks: Sequence[Block], records: int, epsilon: float, *, rough: bool = False, sought: float = math.inf
) -> float:
    """A number not below the delta of (``epsilon``, delta); 1 where a value can tell for sure what it was.

    A ``rough`` one is some percent too high, and quick for large plans; with matrices, it is that of one pair of rows that is
    likely to be among the worst, and no proof. One that is some times what is ``sought`` may be as much too high.
    """
    _check(blocks, records)
    if not epsilon >= 0:
        raise TargetError(f"epsilon = {epsilon}: it must not be negative.")
    local = log_above(total_epsilon_ratio(blocks))
    if epsilon >= local:
        return 0.0 if local < math.inf else 1.0
    if not _NEGLIGIBLE < local < _HOPELESS:
        return min(2 * local, 1.0)  # at most e^local - 1
    sets = _sets(blocks)
    if sets is not None:
        return min(_share(sets.at(epsilon), records, rough=rough, sought=sought), 1.0)
    blanket = Blanket.of(blocks)
    watch, worst = _Watch(blanket, records, epsilon), 0.0
    for law in [blanket.first] if rough else blanket.laws():
        worst = max(worst, watch.delta(law, worst, rough=rough))
    return min(worst, 1.0)


def central_lower(blocks: Sequence[Block], records: int, delta: float) -> float:
    """An eps below which (eps, delta) is false, so that the distance to :func:`central_epsilon` can be seen.

    0 where nothing better is cheap: from 9 units on, or with large matrices.
    """
    _check(blocks, records)
    _check_delta(delta)
    return min(_lower(blocks, records, delta), log_above(total_epsilon_ratio(blocks)))


def _check(blocks: Sequence[Block], records: int) -> None:
    check_records(records)
    check_units(sum(len(block.units) for block in blocks))


def check_units(units: int) -> None:
    """Refuse more units than a central epsilon is computed for."""
    if not 1 <= units <= LARGEST_UNITS:
        raise TargetError(
            f"The plan has {units} units; a central epsilon is computed for 1 to {LARGEST_UNITS}. Bundle some attributes."
        )


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise TargetError(f"delta = {delta}: it must lie between 0 and 1, both excluded.")


def _sets(blocks: Sequence[Block]) -> Sets | None:
    """All sets of units at once, where there is more than one pair of rows and each is told by such a set."""
    several = any(isinstance(block, Agreement) and len(block.units) > 1 for block in blocks)
    return Sets.of(blocks) if several else None


def _share(
    summands: Summands, records: int, enough: float = 0.0, *, rough: bool = False, sought: float = math.inf
) -> float:
    """delta of the worst pair of rows; if it is no more than ``enough``, or as :func:`positive_part` says, perhaps a rough bound."""
    bound = positive_part(summands, records, enough * records * (1 - 1e-9), rough=rough, sought=sought * records)
    return bound / records * (1 + 1e-12)


def _search(
    reached: Callable[[float, bool], float],
    spread: Spread,
    records: int,
    largest: float,
    delta: float,
    low: float,
    local: float,
) -> float:
    """An eps at which the bound ``reached`` is at most ``delta``, given that it is not at ``low``.

    A normal sum gives the first guess; then its noise is corrected by what was found there. Where the ``largest``
    a or e^eps b is no small part of the noise, the bound is rough as long as steps are long. Whatever is returned was reached, or
    is the local eps. A rough bound above ``delta`` tells only where to look next: where few rows hide the others it may be
    many times too high.
    """
    goal = delta * (1 - _CLOSE / 2)
    missed, high = low, local
    x = spread.epsilon(goal, local)
    was_rough = rough = records * spread.noise(x) < _CALM * largest * math.exp(x)
    last, tilt = (0.0, 0.0), 0.0
    for _ in range(100):
        if not low < x < high:
            x = (low + high) / 2
        # never closer to an end than a part of the precision asked for
        margin = min(_PRECISION / 4 * x, (high - low) / 4)
        x = min(max(x, low + margin), high - margin)
        now = reached(x, rough)
        if now <= delta:
            high = x
        else:
            low = x
        narrow = high - low <= _PRECISION * high
        if not rough and (narrow or delta * (1 - _CLOSE) <= now <= delta):
            break
        found = math.log(normal_noise(x, min(max(now, 1e-300), 1.0)) / spread.noise(x))
        if x != last[0] and rough == was_rough:
            tilt = (found - last[1]) / (x - last[0])
        last, was_rough = (x, found), rough
        step = spread.epsilon(goal, local, found - tilt * x, tilt) - x
        if rough and (narrow or (tilt and abs(step) <= _NEAR * x)):
            rough, low = False, missed
        x += step
    return high


@dataclass
class _Watch:
    """Pairs at one eps. It remembers what it has bounded, so as to skip pairs that are no worse.

    A law whose summand is smaller in convex order has the smaller bound. All have the same mean, so the order is that of
    ``c -> E[(X - c)_+]``; if that is exceeded by at most s anywhere, then ``E[S_+]`` is by at most n gamma s (replace the
    summands one by one: the second derivative of a mean of positive parts has mass 1). Laws are put on common nodes by
    a split between neighbours that keeps the mean, where the comparison is finite and exact.
    """

    blanket: Blanket
    records: int
    epsilon: float
    nodes: Vector | None = None
    known: list[tuple[Vector, float]] = field(default_factory=list)

    def delta(self, law: Law, enough: float, *, rough: bool = False) -> float:
        """A bound for this pair; if it is no more than ``enough``, perhaps not the best one."""
        factor = math.exp(self.epsilon)
        x, size, p = law.a - factor * law.b, law.a + factor * law.b, law.p
        if x.max() <= 0 or (self.blanket.pairs == 1 and len(x) <= _EXACT):
            return self._bound(x, p, size, enough, rough)
        if self.nodes is None:
            first = self.blanket.first
            scale = math.sqrt(float(first.p @ (first.a - factor * first.b) ** 2))
            # the floor is for plans whose first pair cannot be told apart
            self.nodes = _nodes(factor, self.blanket.ratio, max(scale, 1e-4 * (self.blanket.ratio - 1)))
        weights = _split(x, p, self.nodes)
        curve = _excess(self.nodes, weights)
        # sums of positive numbers: off by at most as many last bits as there are terms
        noise = self.blanket.gamma * len(self.nodes) * 2.0**-52 * float(curve.max())
        for other, reached in self.known:
            slack = self.blanket.gamma * max(float((curve - other).max()), 0.0) + noise
            if reached + slack <= enough:
                return reached + slack
        used = weights > 0
        sizes = _split(x, p * size, self.nodes)[used] / weights[used]
        reached = self._bound(self.nodes[used], weights[used], sizes, enough, rough)
        if len(self.known) < 16:
            self.known.append((curve, reached))
        return reached

    def _bound(self, x: Vector, p: Vector, size: Vector, enough: float, rough: bool) -> float:
        if x.max() <= 0:  # so is the sum, unless x was rounded to 0
            blur = 2.0**-50 * float(size.max())
            return self.blanket.gamma * blur if x.max() > -blur else 0.0
        return _share(Atoms(x, p, size, self.blanket.gamma), self.records, enough, rough=rough)


def _nodes(factor: float, ratio: float, scale: float) -> Vector:
    """Where X = a - factor b may be put: dense near 0, then in constant proportion, from end to end."""
    low, high = 1 - factor * ratio, ratio - factor
    unit = 0.3 * scale
    first, last = math.asinh(low / unit) / _SPACING, math.asinh(high / unit) / _SPACING
    inner = unit * np.sinh(_SPACING * np.arange(math.ceil(first) + 1, math.floor(last)))
    return np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]])


def _split(x: Vector, p: Vector, nodes: Vector) -> Vector:
    """Move each atom to the two nodes beside it, so that its mean stays."""
    right = np.clip(np.searchsorted(nodes, x), 1, len(nodes) - 1)
    share = np.clip((x - nodes[right - 1]) / (nodes[right] - nodes[right - 1]), 0.0, 1.0)
    return np.asarray(
        np.bincount(right, p * share, len(nodes)) + np.bincount(right - 1, p * (1 - share), len(nodes)), float
    )


def _excess(nodes: Vector, p: Vector) -> Vector:
    """E[(X - c)_+] at every node c >= 0, E[(c - X)_+] at the others: they differ by c - E X, and this one is smaller."""
    beyond, until = np.cumsum(p[::-1])[::-1], np.cumsum(p)
    right = np.append(np.cumsum((beyond[1:] * np.diff(nodes))[::-1])[::-1], 0.0)
    left = np.append(0.0, np.cumsum(until[:-1] * np.diff(nodes)))
    return np.where(nodes >= 0, right, left)
