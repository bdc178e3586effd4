"""Confidence intervals for one cell that are honest also where hardly any row stands behind it.

An estimate is a sum over released rows. Where few rows decide it, it is skewed and moves in steps.
Where it is not (skewness below SKEWED, variance above FEW steps squared), the interval is the familiar
estimate plus or minus z standard errors; if fewer than SCARCE released rows are expected in the cell and
the variance in the nearest possible table is larger, with the mean of both variances. Otherwise the limits are the values c under which the
estimate would be just too far off: variance v and third moment t are those of a table with c people in
the cell (a score interval), and the normal quantile is corrected for skewness (Cornish and Fisher),

    estimate - c = z sqrt(v(c)) + (z^2 - 1)/6 t(c)/v(c)      at the lower limit, -z at the upper one.

With a variance below FEW steps squared the limits are also moved out by half a step, as in exact
intervals for counts: the interval then covers at least as often as it says. A step is what one released
row of the cell adds to its estimate; ``variance / step^2`` counts noise rows where all attributes of
the table are one unit. docs/theory.md 7 has the measured coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .._errors import InputError

FEW = 10.0
SCARCE = 20.0
SKEWED = 1 / math.sqrt(50)
PIECE = 2**14
"""Cells solved for at a time: what is worked on stays in the cache."""
_STEPS = 14
"""Each gains about half again as many digits as there were; beyond ten they do not matter."""


@dataclass(frozen=True)
class Moments:
    """Second and third moments of each cell's estimate, as functions of how many people are in the cell.

    ``step``: what one released row of the cell adds. ``expected``: how many such rows are expected.
    ``others_2``, ``others_3``: what one person elsewhere adds on average, ``own_2``, ``own_3``: what one in the cell
    adds to ``sum_v B[v, j]^2`` and to the same with cubes. ``sampled``: people are themselves a sample.
    """

    step: Counts
    expected: Counts
    others_2: Counts
    others_3: Counts
    own_2: Counts
    own_3: Counts
    total: float
    sampled: bool

    def variance(self, c: Counts) -> Counts:
        """Of the estimate, with c people in the cell."""
        certain = c * c / self.total if self.sampled else c  # known of each person: a share, or 0 or 1
        return np.maximum(self._sum(self.others_2, self.own_2, c) - certain, 0.0)

    def third(self, c: Counts) -> Counts:
        """The third central moment of the estimate, with c people in the cell."""
        cubes = self._sum(self.others_3, self.own_3, c)
        if not self.sampled:
            return np.asarray(cubes - (3 * self.own_2 - 2) * c)
        share = c / self.total
        return np.asarray(cubes - 3 * share * self._sum(self.others_2, self.own_2, c) + 2 * share * share * c)

    def _sum(self, others: Counts, own: Counts, c: Counts) -> Counts:
        return np.asarray(others * np.maximum(self.total - c, 0.0) + own * c)

    def of(self, cells: tuple[NDArray[np.intp], ...]) -> Moments:
        """The same for some cells."""
        return Moments(
            step=self.step[cells],
            expected=self.expected[cells],
            others_2=self.others_2[cells],
            others_3=self.others_3[cells],
            own_2=self.own_2[cells],
            own_3=self.own_3[cells],
            total=self.total,
            sampled=self.sampled,
        )


def normal_quantile(level: float) -> float:
    """z with ``level`` of a normal distribution between -z and z."""
    if not (isinstance(level, (int, float)) and level > 0 and (1 + level) / 2 < 1):
        raise InputError(f"A confidence level lies between 0 and 1, such as 0.95; it cannot be {level}.")
    return NormalDist().inv_cdf((1 + level) / 2)


def wald(estimate: Counts, error: Counts, level: float) -> tuple[Counts, Counts]:
    """Plus or minus z standard errors."""
    z = normal_quantile(level)
    return estimate - z * error, estimate + z * error


def honest(estimate: Counts, error: Counts, reference: Counts, moments: Moments, level: float) -> tuple[Counts, Counts]:
    """Limits of each cell; ``reference`` is a table without negative cells, near the truth."""
    variance = moments.variance(reference)
    known = variance > 0
    steps = np.divide(variance, moments.step**2, out=np.full_like(variance, np.inf), where=known)
    skewness = np.divide(moments.third(reference), variance**1.5, out=np.zeros_like(variance), where=known)
    # few released rows estimate their own variance badly, and too small as often as too large
    steadied = np.sqrt(np.maximum(error**2 + variance, 2 * error**2) / 2)
    low, high = wald(estimate, np.where(moments.expected < SCARCE, steadied, error), level)
    few = (np.abs(skewness) >= SKEWED) | (steps < FEW)
    cells = np.flatnonzero(few)
    for start in range(0, len(cells), PIECE):
        piece = np.unravel_index(cells[start : start + PIECE], few.shape)
        low[piece], high[piece] = _score(estimate[piece], moments.of(piece), steps[piece] < FEW, level)
    return low, high


def _score(estimate: Counts, moments: Moments, coarse: NDArray[np.bool_], level: float) -> tuple[Counts, Counts]:
    z = normal_quantile(level)
    half = np.where(coarse, np.abs(moments.step) / 2, 0.0)
    skew = (z * z - 1) / 6

    def distance(c: Counts, sign: float) -> Counts:
        at = np.maximum(c, 0.0)
        variance = moments.variance(at)
        ratio = np.divide(moments.third(at), variance, out=np.zeros_like(at), where=variance > 0)
        return sign * z * np.sqrt(variance) + skew * ratio + sign * half

    def limit(sign: float) -> Counts:
        """The c with ``estimate - c = distance(c)``."""
        reach = np.abs(distance(estimate, sign)) + np.abs(distance(np.zeros_like(estimate), sign))
        far = estimate - sign * 2 * (reach + z * z * np.maximum(np.abs(moments.step), moments.own_2))
        return _root(lambda c: estimate - c - distance(c, sign), estimate, far)

    return limit(1.0), limit(-1.0)


def _root(function: Callable[[Counts], Counts], near: Counts, far: Counts) -> Counts:
    """Where ``function`` changes its sign between ``near`` and ``far``: the false position, Illinois variant."""
    at_near, at_far = function(near), function(far)
    middle = far
    for _ in range(_STEPS):
        apart = at_far - at_near
        middle = np.where(apart != 0, near - at_near * (far - near) / np.where(apart != 0, apart, 1.0), near)
        at_middle = function(middle)
        beyond = at_middle * at_far > 0
        # the end that stays has its value halved, or it would stay for ever
        at_near = np.where(beyond, at_near / 2, at_middle)
        at_far = np.where(beyond, at_middle, at_far / 2)
        near, far = np.where(beyond, near, middle), np.where(beyond, middle, far)
    return middle


def ratio(
    above: Counts,
    above_limits: tuple[Counts, Counts],
    below: Counts,
    below_limits: tuple[Counts, Counts],
    correlation: Counts,
) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    """Limits of above / below from the limits of both (MOVER; Donner and Zou 2012), and where they are finite.

    With normal limits this is Fieller's interval. Where the denominator cannot be told from zero
    nothing bounds the ratio.
    """

    def root(up: Counts, down: Counts, sign: float) -> tuple[Counts, NDArray[np.bool_]]:
        # (above - r below)^2 = up^2 + r^2 down^2 - 2 r correlation up down
        a = below**2 - down**2
        b = above * below - correlation * up * down
        inside = np.maximum(b * b - a * (above**2 - up**2), 0.0)
        bounded = (a > 0) & (below > 0)
        return np.divide(b + sign * np.sqrt(inside), a, out=np.full_like(b, np.nan), where=bounded), bounded

    low, fits_low = root(above - above_limits[0], below_limits[1] - below, -1.0)
    high, fits_high = root(above_limits[1] - above, below - below_limits[0], 1.0)
    return low, high, fits_low & fits_high
