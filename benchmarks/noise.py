"""What a trusted curator's noise costs, by formula: sensitivities, scales and expected L1 errors.

Neighbouring tables differ in one person's row and have equally many rows, as in docs/why/theory.md 9. In each table of
counts one person leaves a cell and enters another: two counts change by one.
"""

from __future__ import annotations

import math


def sensitivities(tables: int) -> tuple[int, float]:
    """How far a replaced row moves the counts of so many tables: L1 and L2 distance, at most."""
    return 2 * tables, math.sqrt(2 * tables)


def laplace_size(scale: float) -> float:
    """E|X| of the discrete Laplace (two-sided geometric) law, P(x) proportional to exp(-|x|/scale)."""
    return 1 / math.sinh(1 / scale)


def laplace_deviation(scale: float) -> float:
    """Its standard deviation."""
    return 1 / (math.sqrt(2) * math.sinh(1 / (2 * scale)))


def normal_size(deviation: float) -> float:
    """E|X| of a normal law with mean 0; a discrete one has less, by a share of 1 / (12 deviation^2)."""
    return deviation * math.sqrt(2 / math.pi)


def summed_l1(cells: int, all_cells: int, deviation: float, records: int) -> float:
    """The L1 error of a table of ``cells`` summed from a histogram of ``all_cells`` noisy counts."""
    return cells * normal_size(deviation * math.sqrt(all_cells / cells)) / records


def gaussian_delta(epsilon: float, deviation: float, distance: float) -> float:
    """The exact delta of normal noise (Balle and Wang 2018) on values that move by ``distance``."""
    half, slope = distance / (2 * deviation), epsilon * deviation / distance
    return _below(half - slope) - math.exp(epsilon) * _below(-half - slope)


def gaussian_scale(epsilon: float, delta: float, distance: float) -> float:
    """The least deviation of normal noise that is (epsilon, delta)-private, to a millionth."""
    low, high = 0.0, distance
    while gaussian_delta(epsilon, high, distance) > delta:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(epsilon, middle, distance) > delta else (low, middle)
    return high


SELECTING = {"MST": 1 / 3, "AIM": 0.1}
"""The share of its budget (zero-concentrated) that a synthesiser spends on choosing tables; AIM at most."""


def replacing(selecting: float) -> float:
    """How many times the budget that a mechanism states for an added row it spends on a replaced one.

    Counts then move by the root of 2 instead of 1 in L2, which costs 2 times. The score of a choice, an L1 distance of counts,
    moves by 2 instead of 1, which costs 4 times.
    """
    return 2 * (1 - selecting) + 4 * selecting


def _below(value: float) -> float:
    """The normal distribution function, exact in its lower tail."""
    return math.erfc(-value / math.sqrt(2)) / 2
