"""Confidence intervals for counts that are honest also where few rows decide them.

An estimate is a sum over released rows. Where few rows decide it, it is skewed and moves in steps. Where it does neither
(skewness below SKEWED, variance above FEW steps squared), the interval is the usual one, the estimate plus or minus z
standard errors. There, if fewer than SCARCE released rows are expected among the people counted, and the variance in the
nearest possible table is larger, the mean of both variances is used.

Otherwise it is a score interval: the limits are the values c under which the estimate would be just too far off. Variance
v and third moment t are those of a table with c such people, and the normal quantile is corrected for skewness (Cornish
and Fisher),

    estimate - c = z sqrt(v(c)) + (z^2 - 1)/6 t(c)/v(c)      at the lower limit, -z at the upper one.

With a variance below FEW steps squared, both limits also move out by half a step, as in exact intervals for counts: the
interval then covers at least as often as it says. A step is how much one released row adds to the estimate;
``variance / step^2`` counts noise rows where all attributes of the table are one unit.
docs/why/theory.md 7 has the measured coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .._errors import InputError
from .linear import Shape

FEW = 10.0
"""Steps squared: half a step is then 0.16 standard deviations, and leaving it out costs 2 x 0.9 points of coverage at 95%."""
SCARCE = 20.0
"""Rows: a variance estimated from them is off by 1/sqrt(20) = 22%, which costs about a point of coverage at 95%."""
SKEWED = 1 / math.sqrt(50)
"""The skewness of a mean of 50 exponential variables is twice that; each tail is then off by 0.4 points at 95%."""
PIECE = 2**14
"""Functions solved for at a time: the arrays stay in the cache."""
_STEPS = 14
"""Illinois steps; each multiplies the correct digits by about 1.4, so 14 give more than ten."""


def normal_quantile(level: float) -> float:
    """z with ``level`` of a normal distribution between -z and z."""
    if not (isinstance(level, (int, float)) and level > 0 and (1 + level) / 2 < 1):
        percent = isinstance(level, (int, float)) and 1 < level < 100
        hint = f" Did you mean {level / 100:g}?" if percent else ""
        raise InputError(f"A confidence level lies between 0 and 1, such as 0.95; it cannot be {level}.{hint}")
    return NormalDist().inv_cdf((1 + level) / 2)


def wald(estimate: Counts, error: Counts, level: float) -> tuple[Counts, Counts]:
    """Plus or minus z standard errors."""
    z = normal_quantile(level)
    return estimate - z * error, estimate + z * error


def holding(low: Counts, high: Counts, value: Counts) -> tuple[Counts, Counts]:
    """Limits widened where needed to hold the value; NaN where one of them is."""
    return np.minimum(low, value), np.maximum(high, value)


def within(low: Counts, high: Counts, least: Counts, largest: Counts) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    """Limits of numbers that lie between ``least`` and ``largest``, cut off there; and where nothing of an interval was left."""
    beyond = (high < least) | (low > largest)
    return np.clip(low, least, largest), np.clip(high, least, largest), beyond


def certain(size: Counts, limits: tuple[Counts, Counts]) -> NDArray[np.bool_]:
    """Where a group's size is certain enough to divide by: its interval reaches neither zero nor twice the size."""
    low, high = limits
    return (size > 0) & (size**2 > (high - size) ** 2) & (size**2 > (size - low) ** 2)


def honest(
    estimate: Counts, error: Counts, shape: Shape, sampled: bool, level: float
) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    """Limits of each count, and where they are plus or minus z standard errors; ``sampled``: the people are a sample."""
    variance = np.where(error > 0, _variance(shape, shape.people, sampled), 0.0)  # a certain number has no variance
    known = variance > 0
    steps = np.divide(variance, shape.step**2, out=np.full_like(variance, np.inf), where=known & (shape.step > 0))
    skewness = np.divide(_third(shape, shape.people, sampled), variance**1.5, out=np.zeros_like(variance), where=known)
    # few released rows estimate their own variance badly, and too small as often as too large
    steadied = np.sqrt(np.maximum(error**2 + variance, 2 * error**2) / 2)
    scarce = shape.expected < SCARCE
    low, high = wald(estimate, np.where(scarce, steadied, error), level)
    few = (np.abs(skewness) >= SKEWED) | (steps < FEW)
    places = np.flatnonzero(few)
    for start in range(0, len(places), PIECE):
        piece = places[start : start + PIECE]
        low[piece], high[piece] = _score(estimate[piece], shape.of(piece), steps[piece] < FEW, sampled, level)
    return low, high, ~few & ~scarce


def _variance(shape: Shape, c: Counts, sampled: bool) -> Counts:
    """The variance of the estimate, with c people counted."""
    certain = c * c / shape.total if sampled else c  # each person's expectation: a share, or 0 or 1
    return np.maximum(_sum(shape, shape.others_2, shape.own_2, c) - certain, 0.0)


def _third(shape: Shape, c: Counts, sampled: bool) -> Counts:
    """The third central moment of the estimate, with c people counted."""
    cubes = _sum(shape, shape.others_3, shape.own_3, c)
    if not sampled:
        return np.asarray(cubes - (3 * shape.own_2 - 2) * c)
    share = c / shape.total
    return np.asarray(cubes - 3 * share * _sum(shape, shape.others_2, shape.own_2, c) + 2 * share * share * c)


def _sum(shape: Shape, others: Counts, own: Counts, c: Counts) -> Counts:
    return np.asarray(others * np.maximum(shape.total - c, 0.0) + own * c)


def _score(
    estimate: Counts, shape: Shape, coarse: NDArray[np.bool_], sampled: bool, level: float
) -> tuple[Counts, Counts]:
    z = normal_quantile(level)
    half = np.where(coarse, np.abs(shape.step) / 2, 0.0)
    skew = (z * z - 1) / 6

    def distance(c: Counts, sign: float) -> Counts:
        at = np.maximum(c, 0.0)
        variance = _variance(shape, at, sampled)
        tilt = np.divide(_third(shape, at, sampled), variance, out=np.zeros_like(at), where=variance > 0)
        # the correction for skewness moves a limit towards the estimate, but never past it
        return sign * np.maximum(z * np.sqrt(variance) + sign * skew * tilt, 0.0) + sign * half

    def limit(sign: float) -> Counts:
        """The c with ``estimate - c = distance(c)``."""
        reach = np.abs(distance(estimate, sign)) + np.abs(distance(np.zeros_like(estimate), sign))
        far = estimate - sign * 2 * (reach + z * z * np.maximum(np.abs(shape.step), shape.own_2))
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

    With normal limits this is Fieller's interval. Nothing bounds the ratio where the denominator is not :func:`certain`.
    """
    bounded = certain(below, below_limits)

    def root(up: Counts, down: Counts, sign: float) -> Counts:
        # (above - r below)^2 = up^2 + r^2 down^2 - 2 r correlation up down
        a = below**2 - down**2
        b = above * below - correlation * up * down
        inside = np.maximum(b * b - a * (above**2 - up**2), 0.0)
        return np.divide(b + sign * np.sqrt(inside), a, out=np.full_like(b, np.nan), where=bounded & (a > 0))

    low = root(above - above_limits[0], below_limits[1] - below, -1.0)
    high = root(above_limits[1] - above, below - below_limits[0], 1.0)
    return low, high, bounded & ~np.isnan(low) & ~np.isnan(high)


def positive_ratio(
    above: Counts,
    above_limits: tuple[Counts, Counts],
    below: Counts,
    below_limits: tuple[Counts, Counts],
    correlation: Counts,
) -> tuple[Counts, Counts]:
    """Limits of above / below, two numbers that are not negative: all r for which above - r below may be zero (MOVER).

    Zero where that holds of all small r, and infinite where it holds of all large ones: where the limits of one of both reach zero.
    """
    (least, most), (smallest, largest) = above_limits, below_limits

    def root(up: Counts, down: Counts, known: NDArray[np.bool_], sign: float) -> Counts:
        # (above - r below)^2 = up^2 + r^2 down^2 - 2 r correlation up down
        up, down = np.where(known, up, 0.0), np.where(known, down, 0.0)
        a, c = below**2 - down**2, above**2 - up**2
        b = above * below - correlation * up * down
        inside = b + np.sqrt(np.maximum(b * b - a * c, 0.0))
        top, bottom = (c, inside) if sign < 0 else (inside, a)
        return np.asarray(np.divide(top, bottom, out=np.zeros_like(b), where=known & (bottom > 0)))

    finite = np.isfinite(above_limits).all(0) & np.isfinite(below_limits).all(0)
    low = root(above - least, largest - below, finite & (least > 0) & (largest > 0), -1.0)
    bounded = finite & (smallest > 0)
    high = np.where(bounded, root(most - above, below - smallest, bounded, 1.0), np.inf)
    return np.maximum(low, 0.0), np.maximum(high, 0.0)
