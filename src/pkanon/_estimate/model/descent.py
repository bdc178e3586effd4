"""Descent by limited-memory BFGS: the last steps and how the slope changed along them stand in for the curvature.

Written here because equal input must give equal output whatever the number of threads, and because a library's solver spends most
of its time waking threads for problems this small.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._blocks import Counts

MEMORY = 20
ENOUGH = 1e-4
"""The share of the decrease promised by the slope that a step must bring."""
STEEP = 0.9
"""A step is too short if the slope along it is still this share of what it was."""
MOST_TRIALS = 20
FLAT = 2e-9
"""Converged: a step that gains less than this share of the value."""


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended, after how many steps, and whether nothing more was to be gained."""

    point: Counts
    value: float
    steps: int
    converged: bool


def descend(function: Callable[[Counts], tuple[float, Counts]], start: Counts, steps: int) -> Descent:
    """The end of at most so many ``steps`` down a ``function`` that returns its value and its slopes."""
    point = start
    value, slope = function(point)
    memory: deque[tuple[Counts, Counts, float]] = deque(maxlen=MEMORY)
    for step in range(steps):
        direction = -_curved(slope, memory)
        along = float(direction @ slope)
        if along >= 0:  # rounding: start again downhill
            memory.clear()
            direction, along = -slope, -float(slope @ slope)
        if along == 0:
            return Descent(point, value, step, True)
        first = 1.0 if memory else min(1.0, 1.0 / float(np.abs(slope).sum()))
        found = _search(function, point, value, direction, along, first)
        if found is None:
            if not memory:
                return Descent(point, value, step, True)
            memory.clear()
            continue
        after, new_value, new_slope = found
        moved, turned = after - point, new_slope - slope
        product = float(moved @ turned)
        if product > 1e-12 * float(turned @ turned):
            memory.append((moved, turned, product))
        gained = value - new_value
        point, value, slope = after, new_value, new_slope
        if gained <= FLAT * max(abs(value), 1.0):
            return Descent(point, value, step + 1, True)
    return Descent(point, value, steps, False)


def _curved(slope: Counts, memory: deque[tuple[Counts, Counts, float]]) -> Counts:
    """The slope times the inverse curvature that the memory shows (two loops)."""
    result = slope.copy()
    factors = []
    for moved, turned, product in reversed(memory):
        factor = float(moved @ result) / product
        factors.append(factor)
        result -= factor * turned
    if memory:
        _, turned, product = memory[-1]
        result *= product / float(turned @ turned)
    for (moved, turned, product), factor in zip(memory, reversed(factors)):
        result += (factor - float(turned @ result) / product) * moved
    return result


def _search(
    function: Callable[[Counts], tuple[float, Counts]],
    point: Counts,
    value: float,
    direction: Counts,
    along: float,
    length: float,
) -> tuple[Counts, float, Counts] | None:
    """A step that brings enough and is not too short, by bisection (weak Wolfe conditions); None if there is none."""
    short, long = 0.0, np.inf
    best: tuple[Counts, float, Counts] | None = None
    for _ in range(MOST_TRIALS):
        after = point + length * direction
        new_value, new_slope = function(after)
        if not new_value <= value + ENOUGH * length * along:
            long = length
        else:
            best = after, new_value, new_slope
            if float(direction @ new_slope) >= STEEP * along:
                return best
            short = length
        length = (short + long) / 2 if np.isfinite(long) else 2 * length
    return best
