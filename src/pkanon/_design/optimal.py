"""The value-symmetric mechanism with the least error for a workload, at a given budget (docs/why/theory.md 8).

With f(S) = lo (1 + (e^eps - 1) t_S), 0 <= t_S <= 1, the eigenvalues are linear in (lo t, lo) and the error
is a sum of ``coefficient / lam_T^2``: a convex program as long as no eigenvalue changes its sign. A solver
finds t; everything that is promised is then computed from the integers it is rounded to.

Eigenvalues are positive, or where that pays at small eps negative for odd numbers of units with more than
two values. Floors keep small tables at least as good as in the paper's design; they are added where
they are violated, which is seldom. Larger tables do not count in a workload of small ones, so their eigenvalues may come
out near zero by accident. Wishes move them away from it, on the side where they are, which costs very little.

Up to 8 units a general conic solver is quick; beyond, one that knows how few eigenvalues there are goes first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._blocks import Agreement, agreeing_cells
from .._schema import Unit
from . import conic, interior
from .budget import SLACK
from .problem import MARGIN, Problem, Program, program
from .target import budget

LARGEST_EPSILON = 30.0
"""Of one block: beyond it floats cannot hold the probabilities."""
SMALL_EPSILON = 3.0
"""Below it negative eigenvalues are tried too."""
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
TINY_EPSILON = 1e-6
"""Below it all simple designs are the same but for rounding, and a search has nowhere to start."""
_BITS = 128
"""Of the whole numbers that stand for shares and gains while they are rounded to words; fractions would be slow."""
LARGE = 2**8
"""Sets of units: with more, the interior-point solver goes first."""


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
    large = len(problem.masks) > LARGE and problem.epsilon > TINY_EPSILON
    if large and (found := _by_interior_point(problem, patterns)) is not None:
        return found
    work = _Work(MOST_WORK)
    solutions: list[tuple[NDArray[np.float64], dict[int, float]]] = []
    impossible = 0
    for signs in patterns:
        if large and solutions:
            break  # what other signs might gain is not worth the time
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
        if t is not None and status in conic.SOLVED:
            return t
        if t is not None:
            close.append(t)
        impossible += status == conic.IMPOSSIBLE
    if impossible == len(SHRINKS):
        raise Infeasible
    return min(close, key=problem.objective, default=None)


def _solve_once(
    problem: Problem, signs: Mapping[int, float], floors: Mapping[int, float], work: _Work
) -> tuple[NDArray[np.float64] | None, str]:
    """(t, or None if the solver did not come near it; the solver's word for it)."""
    scaled = program(problem, signs, floors)
    if scaled is None:
        return None, "too small"
    step = conic.work_of_step(scaled)
    if FEWEST_STEPS * step > work.left:
        return None, "too large"
    t, status, steps = conic.minimise(scaled, min(MOST_STEPS, int(work.left / step)))
    work.left -= step * steps
    return None if t is None else t[scaled.kind], status


def _by_interior_point(problem: Problem, patterns: Sequence[Mapping[int, float]]) -> NDArray[np.float64] | None:
    """t of a large problem with all its floors at once and the best of these signs; None if none was found.

    Signs are tried in the order of what they reach without floors, and those that cannot be better than what was found are not.
    """
    starts = []
    for signs in patterns:
        scaled = program(problem, signs, problem.floors)
        start = None if scaled is None else interior.Start.of(scaled, _simple(problem, signs, scaled))
        starts += [(start, signs)] if start is not None else []
    best, least = None, math.inf
    masks = list(problem.floors)
    for start, signs in sorted(starts, key=lambda one: one[0].objective):
        t = interior.minimise(start) if start.bound < least else None
        if t is None:
            continue
        reached = interior.objective(start.program, t)
        t = t[start.program.kind]
        kept = zip(masks, problem.eigenvalues(t, masks))
        if reached < least and all(signs[mask] * value >= problem.floors[mask] for mask, value in kept):
            best, least = t, reached
    return best


def _simple(problem: Problem, signs: Mapping[int, float], scaled: Program) -> NDArray[np.float64]:
    """The paper's design, or where single eigenvalues are to be negative one that avoids the true value as much."""
    sizes = np.array(problem.sizes, float)
    spent = np.log((1 + (sizes - 1) * problem.rho) / (1 - problem.rho))
    negative = np.array([signs.get(1 << bit, 1.0) < 0 for bit in range(len(sizes))])
    logs = problem.kept @ np.where(negative, -spent, spent)
    t = np.expm1(logs - logs.min()) / np.expm1(logs.max() - logs.min())
    firsts = np.unique(scaled.kind, return_index=True)[1]
    return np.asarray(t[firsts])


def rounded(units: Sequence[Unit], t: NDArray[np.float64], limit: Fraction) -> Agreement | None:
    """The mechanism in whole words with R^2 <= limit, R = largest f over smallest; None if 64 bits do not come near."""
    cells = agreeing_cells(units)
    low, high = float(t.min()), float(t.max())
    if high <= low:
        return None
    # from 0 to 1, so that R = 1 + gain but for rounding: whatever the solver left of the budget is spent
    shares = [int((float(share) - low) / (high - low) * 2.0**_BITS) for share in t]
    whole = Fraction(math.expm1(budget(limit)))
    gain = whole
    for _ in range(20):
        unit = round(gain * 2**_BITS)
        weights = [count * (4**_BITS + unit * share) for count, share in zip(cells, shares)]
        total = sum(weights)
        sets = [max(1, ((weight << 65) + total) // (2 * total)) for weight in weights]
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
