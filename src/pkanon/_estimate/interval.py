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

The functions at the end give these intervals to counts, sums and shares of a table.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .._errors import InputError
from .linear import Grouped, Listed, Shape

if TYPE_CHECKING:
    from .reconstruction import Reconstruction

FEW = 10.0
"""Steps squared: half a step is then 0.16 standard deviations, and leaving it out costs 2 x 0.9 points of coverage at 95%."""
SCARCE = 20.0
"""Rows: a variance estimated from them is off by 1/sqrt(20) = 22%, which costs about a point of coverage at 95%."""
SKEWED = 1 / math.sqrt(50)
"""The skewness of a mean of 50 exponential variables is twice that; each tail is then off by 0.4 points at 95%."""
PIECE = 2**14
"""Functions solved for at a time: the arrays stay in the cache."""
_NEWTON = 12
"""Newton's steps to a limit; five or six are usual, and who has not arrived then is looked for between brackets."""
_MOST_STEPS = 100
"""Illinois steps. At a kink two of them halve the bracket; elsewhere each multiplies the correct digits by about 1.4."""
_ROUNDING = 1e-14
"""Rounding of a limit, relative to the numbers that it is computed from: 45 units in the last place."""


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
    low, high, plain = np.empty_like(estimate), np.empty_like(estimate), np.empty(len(estimate), bool)
    for start in range(0, len(estimate), PIECE):
        piece = slice(start, start + PIECE)
        found = _honest(estimate[piece], error[piece], shape.of(piece), sampled, level)
        low[piece], high[piece], plain[piece] = found
    return low, high, plain


def _honest(
    estimate: Counts, error: Counts, shape: Shape, sampled: bool, level: float
) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    variance = np.where(error > 0, _variance(shape, shape.people, sampled), 0.0)  # a certain number has no variance
    known = variance > 0
    steps = np.divide(variance, shape.step**2, out=np.full_like(variance, np.inf), where=known & (shape.step > 0))
    skewness = np.divide(_third(shape, shape.people, sampled), variance**1.5, out=np.zeros_like(variance), where=known)
    # few released rows estimate their own variance badly, and too small as often as too large
    steadied = np.sqrt(np.maximum(error**2 + variance, 2 * error**2) / 2)
    scarce = shape.expected < SCARCE
    low, high = wald(estimate, np.where(scarce, steadied, error), level)
    few = (np.abs(skewness) >= SKEWED) | (steps < FEW)
    if len(places := np.flatnonzero(few)):
        low[places], high[places] = _score(estimate[places], shape.of(places), steps[places] < FEW, sampled, level)
    return low, high, ~few & ~scarce


def _variance(shape: Shape, c: Counts, sampled: bool) -> Counts:
    """The variance of the estimate, with c people counted."""
    certain = np.minimum(c * c / shape.total, c) if sampled else c  # each person's expectation: a share, or 0 or 1
    return np.maximum(_sum(shape, shape.others_2, shape.own_2, c) - certain, 0.0)


def _third(shape: Shape, c: Counts, sampled: bool) -> Counts:
    """The third central moment of the estimate, with c people counted."""
    cubes = _sum(shape, shape.others_3, shape.own_3, c)
    if not sampled:
        return np.asarray(cubes - (3 * shape.own_2 - 2) * c)
    share = np.minimum(c / shape.total, 1.0)
    return np.asarray(cubes - 3 * share * _sum(shape, shape.others_2, shape.own_2, c) + 2 * share * share * c)


def _sum(shape: Shape, others: Counts, own: Counts, c: Counts) -> Counts:
    return np.asarray(others * np.maximum(shape.total - c, 0.0) + own * c)


def _score(
    estimate: Counts, shape: Shape, coarse: NDArray[np.bool_], sampled: bool, level: float
) -> tuple[Counts, Counts]:
    z = normal_quantile(level)
    half = np.where(coarse, np.abs(shape.step) / 2, 0.0)
    return _limit(estimate, shape, half, sampled, z, 1.0), _limit(estimate, shape, half, sampled, z, -1.0)


def _limit(estimate: Counts, shape: Shape, half: Counts, sampled: bool, z: float, sign: float) -> Counts:
    """The c with ``estimate - c = distance(c)``: the estimate itself if that is one, else of several the one beyond everybody.

    Nobody is below zero: there the distance is that of zero. Both moments are polynomials up to everybody, and others beyond.
    """
    limit = estimate - _distance(np.zeros_like(estimate), shape, half, sampled, z, sign)
    most = np.full_like(estimate, shape.total)
    if sign < 0:  # beyond everybody the distance grows like z sqrt(own_2 c), at first faster than c
        most = np.maximum(most, z * z / 4 * shape.own_2)
    itself = _distance(np.maximum(estimate, 0.0), shape, half, sampled, z, sign) == 0
    beyond = ~itself & (estimate - most - _distance(most, shape, half, sampled, z, sign) > 0)
    limit[itself] = estimate[itself]
    for where, others in ((~itself & ~beyond & (limit > 0), 1.0), (beyond, 0.0)):
        if not where.any():
            continue
        places = np.flatnonzero(where)
        own, some, halves = estimate[places], shape.of(places), half[places]
        far = _far(own, some, halves, sampled, z, sign)
        part = some._replace(others_2=others * some.others_2, others_3=others * some.others_3)
        start = limit[places] if others else np.maximum(own, far)
        found = _smooth_root(own, part, halves, sampled and others > 0, z, sign, start)
        error = own - found - _distance(np.maximum(found, 0.0), some, halves, sampled, z, sign)
        missed = np.flatnonzero(~((np.abs(error) <= _ROUNDING * (np.abs(own) + np.abs(found))) & (found > 0)))
        if len(missed):
            near = np.maximum(own, 0.0 if others else most[places])[missed]
            found[missed] = _bracketed(
                own[missed], some.of(missed), halves[missed], sampled, z, sign, near, far[missed]
            )
        limit[places] = found
    return limit


def _far(estimate: Counts, shape: Shape, half: Counts, sampled: bool, z: float, sign: float) -> Counts:
    """Numbers of people on the other side of the limit, which is above zero."""
    near, none = np.maximum(estimate, 0.0), np.zeros_like(estimate)
    if sign > 0:
        return none
    reach = np.abs(_distance(near, shape, half, sampled, z, sign)) + np.abs(
        _distance(none, shape, half, sampled, z, sign)
    )
    return np.asarray(near + 2 * (reach + z * z * np.maximum(np.abs(shape.step), shape.own_2)))


def _distance(c: Counts, shape: Shape, half: Counts, sampled: bool, z: float, sign: float) -> Counts:
    """How far an estimate must be from c people, who are not fewer than none, to be just too far; below them if ``sign`` is -1."""
    variance = _variance(shape, c, sampled)
    tilt = np.divide(_third(shape, c, sampled), variance, out=np.zeros_like(c), where=variance > 0)
    # the correction for skewness moves a limit towards the estimate, but never past it
    return np.asarray(sign * np.maximum(z * np.sqrt(variance) + sign * (z * z - 1) / 6 * tilt, 0.0) + sign * half)


def _smooth_root(
    estimate: Counts, shape: Shape, half: Counts, sampled: bool, z: float, sign: float, start: Counts
) -> Counts:
    """The limit by Newton's steps if both moments are polynomials, NaN or wrong where they are not."""
    total, gain_2 = shape.total, shape.own_2 - shape.others_2
    v0, t0 = shape.others_2 * total, shape.others_3 * total
    t1 = shape.own_3 - shape.others_3
    if sampled:
        v1, v2 = gain_2, -1.0 / total
        t1, t2, t3 = t1 - 3.0 * shape.others_2, -3.0 / total * gain_2, 2.0 / total**2
    else:
        v1, v2 = gain_2 - 1.0, 0.0
        t1, t2, t3 = t1 - (3.0 * shape.own_2 - 2.0), np.zeros(()), 0.0
    skew, fixed = (z * z - 1) / 6, estimate - sign * half
    c = start
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for _ in range(_NEWTON):
            variance = v0 + c * v1
            third = t0 + c * t1
            slope_v, slope_t = v1, t1
            if sampled:
                variance += c * c * v2
                third += c * c * (t2 + c * t3)
                slope_v, slope_t = v1 + 2.0 * v2 * c, t1 + c * (2.0 * t2 + 3.0 * t3 * c)
            root, tilt = np.sqrt(variance), third / variance
            error = fixed - c - (sign * z) * root - skew * tilt
            slope = 1.0 + (sign * z / 2) * slope_v / root + skew * (slope_t - tilt * slope_v) / variance
            after = c + error / slope
            np.maximum(after, c / 8, out=after)  # not past nobody
            moved = np.abs(after - c)
            c = after
            if not (moved > 1e-9 * c).any():  # the next step would change no digit
                break
    return c


def _bracketed(
    estimate: Counts,
    shape: Shape,
    half: Counts,
    sampled: bool,
    z: float,
    sign: float,
    near: Counts,
    far: Counts,
) -> Counts:
    """The limit, which is between ``near`` and ``far``: the false position, Illinois variant."""

    def error(c: Counts) -> Counts:
        return estimate - c - _distance(c, shape, half, sampled, z, sign)

    at_near, at_far = error(near), error(far)
    middle = far
    for _ in range(_MOST_STEPS):
        apart, before = at_far - at_near, middle
        middle = np.where(apart != 0, near - at_near * (far - near) / np.where(apart != 0, apart, 1.0), near)
        at_middle = error(middle)
        beyond = at_middle * at_far > 0
        # the end that stays has its value halved, or it would stay for ever
        at_near = np.where(beyond, at_near / 2, at_middle)
        at_far = np.where(beyond, at_middle, at_far / 2)
        near, far = np.where(beyond, near, middle), np.where(beyond, middle, far)
        if not ((at_middle != 0) & (np.abs(middle - before) > _ROUNDING * np.abs(middle))).any():
            break
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
        a, b, c = _fieller(above, below, up, down, correlation)
        inside = np.maximum(b * b - a * c, 0.0)
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
        a, b, c = _fieller(above, below, np.where(known, up, 0.0), np.where(known, down, 0.0), correlation)
        inside = b + np.sqrt(np.maximum(b * b - a * c, 0.0))
        top, bottom = (c, inside) if sign < 0 else (inside, a)
        return np.asarray(np.divide(top, bottom, out=np.zeros_like(b), where=known & (bottom > 0)))

    finite = np.isfinite(above_limits).all(0) & np.isfinite(below_limits).all(0)
    low = root(above - least, largest - below, finite & (least > 0) & (largest > 0), -1.0)
    bounded = finite & (smallest > 0)
    high = np.where(bounded, root(most - above, below - smallest, bounded, 1.0), np.inf)
    return np.maximum(low, 0.0), np.maximum(high, 0.0)


def _fieller(
    above: Counts, below: Counts, up: Counts, down: Counts, correlation: Counts
) -> tuple[Counts, Counts, Counts]:
    """a r^2 - 2 b r + c, which is zero where (above - r below)^2 = up^2 + r^2 down^2 - 2 r correlation up down."""
    return below**2 - down**2, above * below - correlation * up * down, above**2 - up**2


class Limits(NamedTuple):
    """Limits of shares, cut to 0 and 1.

    ``beyond`` where nothing of them was inside; ``bounded`` where the size of the group is certain enough to bound them.
    """

    low: Counts
    high: Counts
    beyond: NDArray[np.bool_]
    bounded: NDArray[np.bool_]


def share_limits(
    table: Reconstruction,
    above: Counts,
    above_limits: tuple[Counts, Counts],
    above_errors: Counts,
    below: Counts,
    below_limits: tuple[Counts, Counts],
    below_errors: Counts,
    covariance: Counts,
) -> Limits:
    """Limits of above / below, within 0 and 1: a count of people, over the size of a group that holds them all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.clip(np.nan_to_num(covariance / (above_errors * below_errors)), -1.0, 1.0)
    if table.confined:
        above, below = (np.clip(centre, 0.0, table.total) for centre in (above, below))
    low, high, bounded = ratio(above, above_limits, below, below_limits, correlation)
    low, high = np.where(bounded, low, 0.0), np.where(bounded, high, 1.0)
    return Limits(*within(low, high, np.zeros(()), np.ones(())), bounded)


def function_limits(table: Reconstruction, function: Grouped, errors: Counts, level: float) -> tuple[Counts, Counts]:
    """Limits of one function in each group, around its unbiased value.

    If the method keeps its table within the possible range, the value of a count is moved there first, and its limits are
    cut off there.
    """
    values = function.values(table.unbiased)
    factors = function.factors()
    sums = np.isnan(factors)
    low, high = wald(values, _steadied(table, function, errors, sums), level)
    if sums.all():
        return low, high
    counts = np.flatnonzero(~sums) if sums.any() else slice(None)  # of cells alone nothing needs to be copied
    counting = replace(function, shown=function.shown[counts], weights=((function.weights[0] != 0).astype(float),))
    scale = factors[counts]
    centre = values[counts] / scale
    if table.confined:
        centre = np.clip(centre, 0.0, table.total)
    limits = _count_limits(table, counting, centre, errors[counts] / np.abs(scale), level)
    ends = [(np.clip(limit, 0.0, table.total) if table.confined else limit) * scale for limit in limits]
    low[counts] = np.minimum(*ends)
    high[counts] = np.maximum(*ends)
    return low, high


def _steadied(table: Reconstruction, function: Grouped, errors: Counts, sums: NDArray[np.bool_]) -> Counts:
    """Standard errors of sums for their limits: where few rows estimate them, with the variance of the nearest table if larger."""
    places = np.flatnonzero(sums)
    if table.weighted or table.total == 0 or len(places) == 0:
        return errors
    part = replace(function, shown=function.shown[places])
    people = table.channel.collapse(table.nearest_whole)
    known = part.values(people) ** 2 / table.total if table.about == "population" else part.squares(people)
    variance = np.maximum(part.products(table.expected)[0] - known, 0.0)
    rows = replace(part, weights=((part.weights[0] != 0).astype(float),)).values(table.channel.collapse(table.expected))
    own = errors[places]
    result = errors.copy()
    result[places] = np.where(rows < SCARCE, np.sqrt(np.maximum(own**2 + variance, 2 * own**2) / 2), own)
    return result


def _count_limits(
    table: Reconstruction, counting: Grouped, centre: Counts, errors: Counts, level: float
) -> tuple[Counts, Counts]:
    """Limits of counts; a count of more than half of the people has those of all others, taken from the total."""
    if table.weighted or table.total == 0:
        return wald(centre, errors, level)
    sampled = table.about == "population"
    shape = counting.shape(table.nearest_whole, table.expected)
    low, high, _ = honest(centre, errors, shape, sampled, level)
    many = np.flatnonzero(shape.people > table.total / 2)
    if len(many):
        usual = wald(centre[many], errors[many], level)
        others = Listed(table.channel, table.channel.possible - counting.written_out(many)[0])
        shape = others.shape(table.nearest_whole, table.expected)
        left, right, plain = honest(table.total - centre[many], errors[many], shape, sampled, level)
        low[many] = np.where(plain, usual[0], table.total - right)
        high[many] = np.where(plain, usual[1], table.total - left)
    return low, high
