"""The value-symmetric mechanism with the least error for a workload, at a given budget (docs/why/theory.md 8).

With f(S) = lo (1 + (e^eps - 1) t_S), 0 <= t_S <= 1, the eigenvalues are linear in (lo t, lo) and the error
is a sum of ``coefficient / lam_T^2``: a convex program as long as no eigenvalue changes its sign. A conic
solver finds t; everything that is promised is then computed from the integers it is rounded to.

Eigenvalues are positive, or where that pays at small eps negative for odd numbers of units with more than
two values. Floors keep small tables at least as good as in the paper's design; they are added where
they are violated, which is seldom. Larger tables do not count in a workload of small ones, so their eigenvalues may come
out near zero by accident. Wishes move them away from it, on the side where they are, which costs very little.

Units that the problem cannot tell apart (same size, same coefficients, same floors) can be swapped in a solution,
and the mean of all swapped solutions is as good (convexity). So t depends only on how many of them survive, and one
unknown serves all sets that are alike: 13 instead of 4,096 for 12 yes-no questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._blocks import Agreement
from .._schema import Unit
from .budget import SLACK
from .paper import log_odds
from .target import budget
from .workload import Table

LARGEST_EPSILON = 30.0
"""Of one block: beyond it floats cannot hold the probabilities."""
SMALL_EPSILON = 3.0
"""Below it negative eigenvalues are tried too."""
TINY = 1e-290
"""The smallest scale of an eigenvalue or of its square that a float divides by without overflow."""
MARGIN = 1e-6
"""Floors are asked for with this share to spare, because rounding to integers takes a little of it."""
WISH_COST = 0.01
"""What the wishes may add to the error of the workload, as a share of it."""
WISH_PARTS = (1.0, 0.5, 0.1)
"""The shares of a wish that are tried, if the whole of it costs more."""
NOUGHT = 1e-3
"""An eigenvalue below this share of its wish is zero but for rounding."""
ROUNDS = 12
"""In the second half of them, or where many are violated, all floors are asked for at once."""
MOST_WORK = 5e9
"""Multiplications for one problem, all attempts and sign patterns together: some 20 seconds. It is not the clock that stops
the solver, so that the same question has the same plan, however busy the machine."""
MOST_STEPS, FEWEST_STEPS = 200, 8
"""Steps of the solver: it is stopped after so many, and a problem for which there is less work left than for a few is not tried."""
SHRINKS = (0.0, 1e-4, 3e-4, 1e-3, 3e-3)
"""Shares by which the budget shrinks where the solver gets stuck; rounding to words spends the whole of it again."""
SOLVED, UNFINISHED = ("Solved", "AlmostSolved"), ("InsufficientProgress", "MaxIterations")
"""The solver's words for a solution, and for a point that may be near one."""


@dataclass(frozen=True)
class Problem:
    """Units of these sizes share a budget; ``coefficients[T] / lam_T^2`` is to be small, ``floors[T]`` bounds |lam_T|.

    ``wishes[T]`` bounds |lam_T| too, if that costs very little.
    """

    sizes: tuple[int, ...]
    epsilon: float
    coefficients: Mapping[int, float]
    floors: Mapping[int, float]
    wishes: Mapping[int, float] = field(default_factory=dict)

    @property
    def masks(self) -> range:
        """Every set of units."""
        return range(2 ** len(self.sizes))

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        """Rows S, columns units: whether the unit is in S."""
        return np.array([[mask >> bit & 1 for bit in range(len(self.sizes))] for mask in self.masks], bool)

    def alike(self) -> NDArray[np.int64]:
        """For every set of units the first one that the problem cannot tell from it."""
        by_mask = [
            np.array([numbers.get(mask, 0.0) for mask in self.masks]) for numbers in (self.coefficients, self.floors)
        ]
        kinds = [(size, *(f"{numbers[1 << bit]:.9g}" for numbers in by_mask)) for bit, size in enumerate(self.sizes)]
        first: dict[tuple[int, ...], int] = {}
        places = [[bit for bit, kind in enumerate(kinds) if kind == one] for one in dict.fromkeys(kinds)]
        counts = (tuple(sum(mask >> bit & 1 for bit in bits) for bits in places) for mask in self.masks)
        firsts = np.array([first.setdefault(count, mask) for mask, count in enumerate(counts)])
        same = all(np.allclose(numbers, numbers[firsts], rtol=1e-8, atol=0) for numbers in by_mask)
        return firsts if same else np.arange(len(self.masks))

    def characters(self, masks: Sequence[int]) -> NDArray[np.float64]:
        """Rows T, columns S: lam_T is the sum over S of q_S times this."""
        factors = np.where(self._kept, 1.0, -1.0 / (np.array(self.sizes) - 1.0))
        return np.array(
            [factors[:, [bit for bit in range(len(self.sizes)) if mask >> bit & 1]].prod(axis=1) for mask in masks]
        )

    def cells(self) -> NDArray[np.float64]:
        """cnt_S: how many values agree with a given one on exactly S, as a share of all values."""
        sizes = np.array(self.sizes, float)
        return np.asarray(np.where(self._kept, 1 / sizes, (sizes - 1) / sizes).prod(axis=1))

    def eigenvalues(self, t: NDArray[np.float64], masks: Sequence[int]) -> NDArray[np.float64]:
        """lam_T of the mechanism with these t."""
        gain = math.expm1(self.epsilon) * self.cells() * t
        return np.asarray(self.characters(masks) @ gain / (1 + gain.sum()))

    def objective(self, t: NDArray[np.float64]) -> float:
        """The error to minimise."""
        masks = list(self.coefficients)
        values = self.eigenvalues(t, masks)
        with np.errstate(divide="ignore", over="ignore"):
            return float((np.array(list(self.coefficients.values())) / values**2).sum())


def coefficients(tables: Sequence[Table]) -> dict[int, float]:
    """How much ``1 / lam_T^2`` counts, for every set T of units; nothing for the empty set, whose eigenvalue is 1."""
    result: dict[int, float] = {}
    for table in tables:
        for chosen in _subsets(table.mask):
            if chosen:
                dimension = math.prod(cells - 1 for unit, cells in table.cells.items() if chosen >> unit & 1)
                result[chosen] = result.get(chosen, 0.0) + table.weight * table.fixed * dimension
    return {mask: value for mask, value in result.items() if value > 0}


def _subsets(mask: int) -> list[int]:
    """All subsets of a set of bits."""
    subsets, subset = [0], mask
    while subset:
        subsets.append(subset)
        subset = (subset - 1) & mask
    return subsets


class Infeasible(Exception):
    """No mechanism keeps the floors."""


@dataclass
class _Work:
    """What is left of the multiplications for one problem."""

    left: float


def solve(problem: Problem) -> NDArray[np.float64] | None:
    """t of the best mechanism with positive eigenvalues, or at small eps with alternating ones; None if none was found.

    Raises Infeasible where the solver has shown that no mechanism of these signs keeps the floors.
    """
    masks = sorted(set(problem.coefficients) | set(problem.floors))
    patterns = [dict.fromkeys(masks, 1.0)]
    many = sum(1 << bit for bit, size in enumerate(problem.sizes) if size > 2)
    if problem.epsilon < SMALL_EPSILON and many:
        # two values are told apart as well by keeping as by avoiding: exchanging them turns one into the other
        patterns.append({mask: -1.0 if (mask & many).bit_count() % 2 else 1.0 for mask in masks})
    work = _Work(MOST_WORK)
    solutions: list[tuple[NDArray[np.float64], dict[int, float]]] = []
    impossible = 0
    for signs in patterns:
        try:
            t = _with_floors(problem, signs, work)
        except Infeasible:
            impossible += 1
        else:
            solutions += [(t, signs)] if t is not None else []
    if impossible == len(patterns):
        raise Infeasible
    if not solutions:
        return None
    best, signs = min(solutions, key=lambda one: problem.objective(one[0]))
    return _with_wishes(problem, signs, best, work) if problem.wishes else best


def _with_wishes(
    problem: Problem, signs: Mapping[int, float], t: NDArray[np.float64], work: _Work
) -> NDArray[np.float64]:
    """Fulfil the wishes with the signs that eigenvalues have anyway: all of them, those that are missed, or a part of these."""
    masks = list(problem.wishes)
    values = problem.eigenvalues(t, masks)
    missed = {mask: problem.wishes[mask] for mask, value in zip(masks, values) if abs(value) < problem.wishes[mask]}
    if not missed:
        return t
    own = {mask: 1.0 if value >= 0 else -1.0 for mask, value in zip(masks, values)}
    # what is zero but for rounding may as well have the other sign
    turned = {
        mask: -own[mask] if abs(value) < NOUGHT * problem.wishes[mask] else own[mask]
        for mask, value in zip(masks, values)
    }
    spent = sum(problem.coefficients.values())  # what the objective has even without any noise
    most = (problem.objective(t) - spent) * (1 + WISH_COST) + spent
    for wishes in (problem.wishes, *({mask: part * missed[mask] for mask in missed} for part in WISH_PARTS)):
        more = replace(problem, floors={**problem.floors, **wishes}, wishes={})
        for side in (own, turned) if turned != own else (own,):
            with suppress(Infeasible):
                better = _with_floors(more, {**signs, **side}, work)
                if better is not None and problem.objective(better) <= most:
                    return better
    return t


def _with_floors(problem: Problem, signs: Mapping[int, float], work: _Work) -> NDArray[np.float64] | None:
    """Solve, see which floors are violated, add them, and again."""
    active: dict[int, float] = {}
    masks = list(problem.floors)
    for attempt in range(ROUNDS):
        t = _solve_stubbornly(problem, signs, active, work)
        if t is None or not masks:
            return t
        values = problem.eigenvalues(t, masks)
        violated = {
            mask: problem.floors[mask]
            for mask, value in zip(masks, values)
            if signs[mask] * value < problem.floors[mask] * (1 + MARGIN / 2)
        }
        stuck = not violated.keys() - active.keys()
        if stuck and all(signs[mask] * value >= problem.floors[mask] for mask, value in zip(masks, values)):
            return t
        if len(active) == len(masks):
            return None
        many = len(violated) > len(masks) / 4 or attempt >= ROUNDS // 2
        active = dict(problem.floors) if stuck or many else active | violated
    return None


def _solve_stubbornly(
    problem: Problem, signs: Mapping[int, float], floors: Mapping[int, float], work: _Work
) -> NDArray[np.float64] | None:
    """Solve; where the solver gets stuck, try slightly smaller budgets, which hardly change t."""
    close = []
    impossible = 0
    for shrink in SHRINKS:
        t, status = _solve_once(replace(problem, epsilon=problem.epsilon * (1 - shrink)), signs, floors, work)
        if t is not None and status in SOLVED:
            return t
        if t is not None:
            close.append(t)
        impossible += status == "PrimalInfeasible"
    if impossible == len(SHRINKS):
        raise Infeasible
    return min(close, key=problem.objective, default=None)


def _solve_once(
    problem: Problem, signs: Mapping[int, float], floors: Mapping[int, float], work: _Work
) -> tuple[NDArray[np.float64] | None, str]:
    """(t, or None if the solver did not come near it; the solver's word for it)."""
    import clarabel
    from scipy import sparse

    gain = math.expm1(problem.epsilon)
    alike = problem.alike()
    firsts, kind = np.unique(alike, return_inverse=True)
    count = len(firsts)
    share = np.bincount(kind, problem.cells())
    terms = [mask for mask in problem.coefficients if alike[mask] == mask]
    bounded = {int(alike[mask]): least for mask, least in floors.items()}
    step = count * (len(terms) + len(bounded)) ** 2
    if FEWEST_STEPS * step > work.left:
        return None, "too large"
    # eigenvalues are counted in units of the paper's, whose sizes they share; otherwise the problem is badly scaled
    odds = math.exp(log_odds(problem.epsilon, problem.sizes))
    rho = odds / (1 + odds)
    scale = {mask: rho ** mask.bit_count() for mask in [*terms, *bounded]}
    costs = np.array([problem.coefficients[mask] / max(scale[mask] ** 2, TINY) for mask in terms])
    costs *= np.bincount(kind)[kind][terms]
    if min(scale.values()) < TINY or not np.isfinite(costs.sum()):
        return None, "too small"
    rows = {
        mask: np.bincount(kind, row * problem.cells()) * signs[mask] * gain / scale[mask]
        for mask, row in zip(scale, problem.characters(list(scale)))
    }
    unknowns = count + 1 + len(terms)  # v_S = lo t_S, lo (both times the number of values), and s_T >= 1 / lam_T^2
    each, term = np.arange(count), np.arange(len(terms))
    ones = np.ones(count)
    # one row that sums to 1; v_S >= 0; v_S <= lo
    entries = [
        (np.append(share * gain, 1.0), np.zeros(count + 1, int), np.arange(count + 1)),
        (-ones, 1 + each, each),
        (ones, 1 + count + each, each),
        (-ones, 1 + count + each, np.full(count, count)),
    ]
    limits = [np.ones(1), np.zeros(2 * count)]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * count)]
    height = 1 + 2 * count
    if bounded:
        bounds = -np.array([rows[mask] for mask in bounded])
        down, across = np.nonzero(bounds)
        entries.append((bounds[down, across], height + down, across))
        limits.append(-np.array([least / scale[mask] * (1 + MARGIN) for mask, least in bounded.items()]))
        cones.append(clarabel.NonnegativeConeT(len(bounded)))
        height += len(bounded)
    # s^(1/3) lam^(2/3) >= 1: three rows each
    entries.append((-np.ones(len(terms)), height + 3 * term, count + 1 + term))
    eigenvalues = -np.array([rows[mask] for mask in terms]).ravel()
    entries.append((eigenvalues, np.repeat(height + 3 * term + 1, count), np.tile(each, len(terms))))
    limits.append(np.tile([0.0, 0.0, 1.0], len(terms)))
    cones += [clarabel.PowerConeT(1 / 3)] * len(terms)
    values, down, across = (np.concatenate(parts) for parts in zip(*entries))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = min(MOST_STEPS, int(work.left / step))
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((unknowns, unknowns)),
        np.concatenate([np.zeros(count + 1), costs / costs.sum()]),
        sparse.csc_matrix((values, (down, across)), shape=(height + 3 * len(terms), unknowns)),
        np.concatenate(limits),
        cones,
        settings,
    ).solve()
    work.left -= step * solution.iterations
    # a solver that could not finish may have come close; whether it did is checked by whoever uses t
    x, status = np.array(solution.x), str(solution.status)
    if status not in (*SOLVED, *UNFINISHED) or not np.isfinite(x).all() or x[count] <= 0:
        return None, status
    return np.asarray(np.clip(x[:count] / x[count], 0.0, 1.0)[kind]), status


def rounded(units: Sequence[Unit], t: NDArray[np.float64], limit: Fraction) -> Agreement | None:
    """The mechanism in whole words with R^2 <= limit, R = largest f over smallest; None if 64 bits do not come near."""
    cells = [
        math.prod(unit.size - 1 for bit, unit in enumerate(units) if not mask >> bit & 1) for mask in range(len(t))
    ]
    low, high = float(t.min()), float(t.max())
    if high <= low:
        return None
    # from 0 to 1, so that R = 1 + gain but for rounding: whatever the solver left of the budget is spent
    exact = [Fraction((float(share) - low) / (high - low)) for share in t]
    whole = Fraction(math.expm1(budget(limit)))
    gain = whole
    for _ in range(20):
        weights = [count * (1 + gain * share) for count, share in zip(cells, exact)]
        total = sum(weights)
        sets = [max(1, round(2**64 * weight / total)) for weight in weights]
        largest = max(range(len(sets)), key=sets.__getitem__)
        sets[largest] += 2**64 - sum(sets)
        block = Agreement(tuple(units), tuple(sets))
        ratio = block.epsilon_ratio
        assert ratio is not None  # every set has a word
        if ratio**2 <= limit and SLACK * (ratio**2 - 1) >= limit - 1:
            return block
        gain *= min(whole / (ratio - 1), Fraction(2)) * (1 - Fraction(1, 10**9)) if ratio > 1 else 2
        gain = Fraction(float(gain))
    return None
