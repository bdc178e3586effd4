"""One owner of uncertainty: the standard error and the interval of every number computed from a table.

A number (delta.py) is computed from linear functions (linear.py). Its interval depends only on the kind of number. So a
cell, a count, a share and the answer to a query agree if they are the same number.

    a count of people, times any factor          honest also where few rows decide it (interval.py)
    a share: part of a group, over the group     from the intervals of both (MOVER)
    a mean over a group                          from its error and the interval of the group's size (the same formula)
    a ratio of two counts, shares or such sums   from the intervals of both (MOVER); without a limit where it has none
    anything else                                plus or minus z standard errors; of sums steadied where rows are scarce

One rule for small groups. A group is small if its size is not certain: the interval of the size, at the level asked,
reaches zero or twice the size. Nothing but the values themselves then bounds a share or a mean of the group: its interval
goes from the least to the largest value that it can have, and it is flagged. So is a mean that may be anything for other
reasons. A share or a mean, and its interval, is always
cut to what it can have, and flagged if the whole interval was outside. It has no value where the estimated size of its group
is not positive.

A function that does not vary along some attributes is taken from the smaller table without them. A function that picks a
single cell has the error and the interval of that cell. A sum of numbers from tables that stay apart (joint.py) has limits
as far away as those of its parts say, by the same rule as for standard errors (MOVER).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .delta import Derived
from .flags import Flags
from .interval import (
    certain,
    function_limits,
    holding,
    normal_quantile,
    positive_ratio,
    ratio,
    share_limits,
    wald,
    within,
)
from .linear import Grouped
from .variance import ROUNDING, People, between, estimated_variances, group_covariance, variances

if TYPE_CHECKING:
    from .reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class Basis:
    """The linear functions behind some numbers, in every group shown of a table whose first axes are the groups."""

    table: Reconstruction
    groups: tuple[str, ...]
    shown: NDArray[np.intp]
    weights: tuple[Counts, ...]

    def derived(self, place: int) -> Derived:
        """The function at this place, as a number."""
        slopes = np.zeros((len(self.shown), len(self.weights)))
        slopes[:, place] = 1.0
        value, unbiased = (each[:, place] for each in (self._values, self._unbiased))
        return Derived(value, unbiased, slopes, linear=True)

    @cached_property
    def _grouped(self) -> Grouped:
        return Grouped(self.table.channel, self.groups, self.shown, self.weights)

    @cached_property
    def _values(self) -> Counts:
        return self._grouped.each(self.table.counts)

    @cached_property
    def _unbiased(self) -> Counts:
        return self._grouped.each(self.table.unbiased) if self.table.confined else self._values

    def reduced(self, number: Derived) -> Reduced:
        """A linear number on the smallest table that determines it."""
        if number not in self._reductions:
            self._reductions[number] = Reduced.of(self.table, self.linear(number.slopes))
        return self._reductions[number]

    @cached_property
    def _reductions(self) -> WeakKeyDictionary[Derived, Reduced]:
        """Numbers that were reduced before: an error and an interval ask for the same."""
        return WeakKeyDictionary()

    def mean(self, number: Derived) -> Mean | None:
        """The number as a mean over people; None if it is none in any group."""
        if not number.of_sums:
            return None
        assert number.above is not None
        assert number.below is not None
        if number not in self._means:
            self._means[number] = Mean.of(*(self.linear(part.slopes) for part in (number.above, number.below)))
        found = self._means[number]
        return found if found.is_mean.any() else None

    @cached_property
    def _means(self) -> WeakKeyDictionary[Derived, Mean]:
        """Means that were recognised before."""
        return WeakKeyDictionary()

    def ratio(self, number: Derived) -> tuple[Derived, Derived] | None:
        """The two numbers of which it is a ratio, if neither can be negative."""
        parts = number.parts
        return parts if parts is not None and number.carried(self._on_cells).is_positive else None

    def _on_cells(self, slopes: Counts) -> Counts:
        """Slopes in functions as weights of cells."""
        return self.linear(slopes).weights[0].reshape(1, -1)

    def linearised(self, slopes: Counts) -> Grouped:
        """Each number to first order, as one function in its group."""
        return replace(self._grouped, slopes=slopes)

    def linear(self, slopes: Counts) -> Grouped:
        """One function, combined with slopes that are the same in every group."""
        total = sum((slope * weights for slope, weights in zip(slopes[0], self.weights)), np.zeros((1,)))
        return replace(self._grouped, weights=(np.asarray(total),))


@dataclass(frozen=True, eq=False)
class Single(Basis):
    """The basis of one number: every cell is a function."""

    @classmethod
    def of(cls, table: Reconstruction) -> Single:
        """The basis of numbers from this table."""
        return cls(table, (), np.zeros(1, np.intp), ())

    def function(self, weights: Counts) -> Derived:
        """The linear function with a weight per cell."""
        value, unbiased = (np.array([(weights * x).sum()]) for x in (self.table.counts, self.table.unbiased))
        return Derived(value, unbiased, weights.reshape(1, -1), linear=True)

    def _on_cells(self, slopes: Counts) -> Counts:
        return slopes

    def linearised(self, slopes: Counts) -> Grouped:
        return self.linear(slopes)

    def linear(self, slopes: Counts) -> Grouped:
        return Grouped(self.table.channel, (), self.shown, (slopes[0].reshape(self.table.counts.shape),))


@dataclass(frozen=True, eq=False)
class Joint:
    """The basis of numbers from several tables: slopes are those of all parts, one after the other.

    ``people`` says how the people of different releases are related; None: all parts are of one release.
    """

    parts: tuple[Single, ...]
    people: People | None

    @cached_property
    def places(self) -> list[slice]:
        """Where the slopes of each part are."""
        ends = np.cumsum([0, *(part.table.counts.size for part in self.parts)])
        return [slice(int(start), int(stop)) for start, stop in itertools.pairwise(ends)]

    @property
    def about(self) -> str:
        """What errors are about."""
        return self.parts[0].table.about

    @property
    def shown(self) -> NDArray[np.intp]:
        """One number."""
        return self.parts[0].shown

    def ratio(self, number: Derived) -> tuple[Derived, Derived] | None:
        """The two numbers of which it is a ratio, if neither can be negative."""
        return number.parts if number.is_positive else None

    def part(self, number: Derived, place: int) -> Derived:
        """The linear part of a number that the table at this place adds, as a number of that table."""
        basis, slopes = self.parts[place], number.slopes[:, self.places[place]]
        return basis.function(slopes.reshape(basis.table.counts.shape))

    def only(self, number: Derived) -> tuple[Single, Derived] | None:
        """The one table that a number comes from, and the number there; None if it comes from several."""
        used = [
            place
            for place, where in enumerate(self.places)
            if any(slopes[:, where].any() for slopes in number.all_slopes())
        ]
        if len(used) > 1:
            return None
        place = self.places[used[0] if used else 0]
        return self.parts[used[0] if used else 0], number.carried(lambda slopes: slopes[:, place])

    def apart(self, number: Derived) -> _Apart:
        """The sum of the parts of a number, to first order."""
        if number not in self._sums:
            self._sums[number] = _Apart.of(self, number)
        return self._sums[number]

    @cached_property
    def _sums(self) -> WeakKeyDictionary[Derived, _Apart]:
        """Numbers that were taken apart before."""
        return WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class _Apart:
    """A sum of linear functions of tables that stay apart: each reduced, their errors, and how they are correlated."""

    parts: list[Reduced]
    values: Counts
    errors: Counts
    correlation: Counts

    @classmethod
    def of(cls, basis: Joint, number: Derived) -> _Apart:
        used = [place for place, where in enumerate(basis.places) if number.slopes[:, where].any()]
        numbers = [basis.part(number, place) for place in used]
        parts = [basis.parts[place].reduced(each) for place, each in zip(used, numbers)]
        errors = np.array([float(part.errors[0]) for part in parts])
        correlation = np.eye(len(parts))
        for i, first in enumerate(parts):
            for j, second in enumerate(parts[:i]):
                weights = first.weights, second.weights
                found = between(first.table, weights[0], second.table, weights[1], basis.people)
                scale = errors[i] * errors[j]
                correlation[i, j] = correlation[j, i] = min(max(found / scale, -1.0), 1.0) if scale else 0.0
        return cls(parts, np.array([float(each.unbiased[0]) for each in numbers]), errors, correlation)

    def reach(self, distances: Counts) -> float:
        """How far a sum moves if its parts move by these distances, or standard errors."""
        moved = float(distances @ self.correlation @ distances)
        # correlations are estimates; where they would leave nothing, they are not used
        return math.sqrt(moved) if moved > ROUNDING * float(distances @ distances) else float(np.abs(distances).sum())

    def limits(self, level: float) -> tuple[float, float]:
        """(low, high), less the value."""
        limits = [part.limits(level) for part in self.parts]
        low, high = (np.array([float(limit[side][0]) for limit in limits]) for side in (0, 1))
        return -self.reach(self.values - low), self.reach(high - self.values)


@dataclass(frozen=True, eq=False)
class Mean:
    """What a quotient is in each group: ``below`` counts people, ``above`` adds up a number of each of them.

    ``least`` and ``largest`` are the extremes of that number, between which the mean must lie; infinite where the quotient
    is no mean. ``factor``: the mean is this times a share; NaN where it is not.
    """

    above: Grouped
    below: Grouped
    is_mean: NDArray[np.bool_]
    least: Counts
    largest: Counts
    factor: Counts

    @classmethod
    def of(cls, above: Grouped, below: Grouped) -> Mean:
        shape = above.channel.shape
        possible = above.channel.possible.reshape(math.prod(shape[: len(above.groups)]), -1)[above.shown]
        part, whole = (np.where(possible, g.rows(g.shown)[0], 0.0) for g in (above, below))
        inside = whole == 1
        is_mean = (inside | (whole == 0)).all(1) & inside.any(1) & (inside | (part == 0)).all(1)
        least = np.where(is_mean, np.where(inside, part, np.inf).min(1, initial=np.inf), -np.inf)
        largest = np.where(is_mean, np.where(inside, part, -np.inf).max(1, initial=-np.inf), np.inf)
        factor = np.take_along_axis(part, np.argmax(part != 0, axis=1)[:, None], axis=1)
        factor = np.where(factor == 0, 1.0, factor)
        shares = is_mean & ((part == 0) | (part == factor)).all(1)
        return cls(above, below, is_mean, least, largest, np.where(shares, factor[:, 0], np.nan))


def values(basis: Basis | Joint, number: Derived) -> Counts:
    """The value of each number; that of a mean, a share or a ratio is cut to what it can be."""
    return np.clip(number.value, *span(basis, number))


def span(basis: Basis | Joint, number: Derived) -> tuple[Counts, Counts]:
    """The least and the largest value that each number can have: of a mean, a share, a ratio of what is not negative; else infinite."""
    least = np.full(number.value.shape, -np.inf if basis.ratio(number) is None else 0.0)
    largest = np.full(number.value.shape, np.inf)
    if isinstance(basis, Joint):
        only = basis.only(number)
        return span(*only) if only is not None else (least, largest)
    mean = basis.mean(number)
    if mean is None:
        return least, largest
    return np.maximum(mean.least + number.offset, least), mean.largest + number.offset


def flags(basis: Basis | Joint, number: Derived, level: float) -> Flags:
    """What must be said of each number.

    Of a count of people, and of the count that a share is made of: whether the interval reaches zero, and whether the error had to
    be predicted. Of every number that was divided by another one, such as the size of a group: whether that one is uncertain.
    Of a mean and a share: whether all of its interval was cut off.
    """
    if isinstance(basis, Joint):
        only = basis.only(number)
        if only is not None:
            return flags(*only, level)
    groups = len(basis.shown)
    found = Flags.none(groups)
    if groups == 0:
        return found
    for divisor in number.divisors:
        found.small[:] |= small(basis, divisor, level)
    mean = None if isinstance(basis, Joint) else basis.mean(number)
    ratio = limits_of_ratio(basis, number, level)
    if ratio is not None:
        are_ratios = ratio[2] if mean is None else ratio[2] & ~mean.is_mean
        found.near_zero[:] |= are_ratios & (ratio[0] <= 0)
    if isinstance(basis, Joint):
        return found
    if mean is not None:
        low, high, beyond = _limits_of_mean(basis, number, mean, standard_errors(basis, number), level)
        found.beyond[:] = mean.is_mean & beyond & ~np.isnan(number.value)
        # a mean that may be anything, although the group is large enough: nothing is known of it either
        whole = (
            (low <= mean.least + number.offset) & (high >= mean.largest + number.offset) & (mean.least < mean.largest)
        )
        found.small[:] |= mean.is_mean & np.isnan(mean.factor) & whole
    part = number if number.linear else number.above
    if part is not None and number.offset == 0 and (number.linear or mean is not None):
        counted = basis.linear(part.slopes).factors() > 0
        if mean is not None:
            counted &= mean.factor > 0
        if counted.any():
            reduced = basis.reduced(part)
            low = np.minimum(reduced.limits(level)[0], part.value)
            found.near_zero[:] |= counted & (low <= 0)
            found.predicted[:] = counted & reduced.predicted
            found.impossible[:] = counted & reduced.impossible
    return found


def small(basis: Basis | Joint, size: Derived, level: float) -> NDArray[np.bool_]:
    """Where a number is not certain enough to divide by: the group is small that it counts."""
    if len(basis.shown) == 0 or size.is_constant:
        return np.zeros(len(basis.shown), bool)
    if isinstance(basis, Joint):
        only = basis.only(size)
        if only is not None:
            return small(*only, level)
    if isinstance(basis, Joint) or not size.linear or size.offset:
        limits = intervals(basis, size, standard_errors(basis, size), level)
        sign = np.sign(size.unbiased)
        return ~certain(
            sign * size.unbiased, (np.minimum(*(sign * x for x in limits)), np.maximum(*(sign * x for x in limits)))
        )
    reduced = basis.reduced(size)
    return ~certain(*_size(basis.table, size.unbiased, reduced.limits(level), reduced.positive))


def _size(
    table: Reconstruction, centre: Counts, limits: tuple[Counts, Counts], positive: NDArray[np.bool_]
) -> tuple[Counts, tuple[Counts, Counts]]:
    """A denominator and its limits; one that can have either sign is taken without it."""
    if table.confined:
        centre = np.where(positive, np.clip(centre, 0.0, table.total), centre)
    turned = (centre < 0) & ~positive
    low, high = limits
    return np.where(turned, -centre, centre), (np.where(turned, -high, low), np.where(turned, -low, high))


def standard_errors(basis: Basis | Joint, number: Derived) -> Counts:
    """The standard error of each number; NaN where the unbiased number is NaN."""
    if len(basis.shown) == 0:
        return np.zeros(0)
    if isinstance(basis, Joint):
        only = basis.only(number)
        if only is not None:
            return standard_errors(*only)
        apart = basis.apart(number)
        return np.array([apart.reach(apart.errors)])
    if number.linear:
        return basis.reduced(number).errors
    variance, _ = variances(basis.table, basis.linearised(number.slopes))
    return np.where(np.isfinite(number.unbiased), np.sqrt(variance), np.nan)


def intervals(basis: Basis | Joint, number: Derived, errors: Counts, level: float) -> tuple[Counts, Counts]:
    """(low, high) of each number, around its unbiased value and widened where needed to hold the value."""
    if len(basis.shown) == 0:
        return np.zeros(0), np.zeros(0)
    if isinstance(basis, Joint):
        only = basis.only(number)
        if only is not None:
            return intervals(*only, errors, level)
        low, high = wald(number.unbiased, errors, level)
        if number.linear:
            low, high = (number.unbiased + side for side in basis.apart(number).limits(level))
        return _ratios_too(basis, number, level, holding(low, high, number.value))
    if number.linear:
        low, high = (limit + number.offset for limit in basis.reduced(number).limits(level))
        return holding(low, high, number.value)
    low, high = _ratios_too(basis, number, level, holding(*wald(number.unbiased, errors, level), number.value))
    mean = basis.mean(number)
    if mean is None:
        return low, high
    value = values(basis, number)
    limits = _limits_of_mean(basis, number, mean, errors, level)[:2]
    ends = zip(
        (np.fmin, np.fmax), limits, (low, high)
    )  # a group without a value has the limits of all that it could be
    low, high = (np.where(mean.is_mean, widened(limit, value), plain) for widened, limit, plain in ends)
    return low, high


def limits_of_ratio(
    basis: Basis | Joint, number: Derived, level: float
) -> tuple[Counts, Counts, NDArray[np.bool_]] | None:
    """Limits of ratios of two numbers that are not negative, from those of both, and where they are its limits.

    None: the numbers are no such ratios. A ratio of products, such as an odds ratio, has them only where what it is divided
    by is not certain.
    """
    parts = basis.ratio(number)
    if parts is None:
        return None
    used = np.ones(len(basis.shown), bool)
    if not all(part.is_sum or part.of_sums for part in parts):
        used = small(basis, parts[1], level)
        if not used.any():
            return None
    errors = [standard_errors(basis, part) for part in parts]
    known = np.all([np.isfinite(part.unbiased) & np.isfinite(e) for part, e in zip(parts, errors)], axis=0)
    above, below = (np.where(known, np.clip(part.unbiased, *span(basis, part)), 0.0) for part in parts)
    ends = [
        tuple(np.where(known, end, np.nan) for end in _around(intervals(basis, part, error, level), part.unbiased))
        for part, error in zip(parts, errors)
    ]
    scales = [float(np.nanmedian(error)) if known.any() else 1.0 for error in errors]
    first, second = (part.times(1 / scale if scale else 1.0) for part, scale in zip(parts, scales))
    with np.errstate(divide="ignore", invalid="ignore"):
        both, apart = (standard_errors(basis, each) ** 2 for each in (first + second, first - second))
        covariance = (both - apart) / 4 * math.prod(scale if scale else 1.0 for scale in scales)
        correlation = np.clip(np.nan_to_num(covariance / (errors[0] * errors[1])), -1.0, 1.0)
    return *positive_ratio(above, (ends[0][0], ends[0][1]), below, (ends[1][0], ends[1][1]), correlation), used


def _ratios_too(
    basis: Basis | Joint, number: Derived, level: float, plain: tuple[Counts, Counts]
) -> tuple[Counts, Counts]:
    """Limits of numbers of which some may be ratios; ``plain`` are those of all others."""
    found = limits_of_ratio(basis, number, level)
    if found is None:
        return plain
    limits = _around((found[0], found[1]), values(basis, number))
    return np.where(found[2], limits[0], plain[0]), np.where(found[2], limits[1], plain[1])


def _around(limits: tuple[Counts, Counts], value: Counts) -> tuple[Counts, Counts]:
    """Limits widened where needed to hold the value, if there is one."""
    return np.fmin(limits[0], value), np.fmax(limits[1], value)


def _limits_of_mean(
    basis: Basis, number: Derived, mean: Mean, errors: Counts, level: float
) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    """Limits of the numbers that are means over a group, or shares of it; and where nothing of them was possible."""
    assert number.above is not None
    assert number.below is not None
    group = basis.reduced(number.below)
    size, size_limits = number.below.unbiased, group.limits(level)
    both = group_covariance(basis.table, replace(mean.above, weights=(mean.above.weights[0], mean.below.weights[0])))
    # any mean m: m plus (above - m below) / below, whose numerator is 0, give or take z errors
    centre = np.nan_to_num(number.unbiased - number.offset)
    error = np.nan_to_num(np.abs(size) * errors)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.nan_to_num((both - centre * group.errors**2) / (error * group.errors))
    reach = normal_quantile(level) * error
    part = np.zeros_like(size), (-reach, reach), *_size(basis.table, size, size_limits, group.positive)
    low, high, bounded = ratio(*part, np.clip(correlation, -1.0, 1.0))
    low, high = np.where(bounded, low + centre, mean.least), np.where(bounded, high + centre, mean.largest)
    low, high, beyond = within(low, high, mean.least, mean.largest)
    are_shares = ~np.isnan(mean.factor)
    if are_shares.any():
        scale = np.where(are_shares, mean.factor, 1.0)
        reduced = basis.reduced(number.above)
        ends = [limit / scale for limit in reduced.limits(level)]
        shares = share_limits(
            basis.table,
            number.above.unbiased / scale,
            (np.minimum(*ends), np.maximum(*ends)),
            reduced.errors / np.abs(scale),
            size,
            size_limits,
            group.errors,
            both / scale,
        )
        ends = [np.clip(limit * scale, mean.least, mean.largest) for limit in (shares.low, shares.high)]
        low, high = np.where(are_shares, np.minimum(*ends), low), np.where(are_shares, np.maximum(*ends), high)
        beyond = np.where(are_shares, shares.beyond, beyond)
    # of a number that everybody has, nothing is cut off
    return low + number.offset, high + number.offset, beyond & (mean.least < mean.largest)


@dataclass(frozen=True, eq=False)
class Reduced:
    """One function in each group, on the smallest table that determines it: its errors and limits.

    ``cell``: the cell that the function picks, times ``factor``; -1 where it sums several cells.
    """

    table: Reconstruction
    function: Grouped
    cell: NDArray[np.intp]
    factor: Counts

    @classmethod
    def of(cls, table: Reconstruction, function: Grouped) -> Reduced:
        rows = function.rows(function.shown)[0]
        if ((rows != 0).sum(1) == 1).all():  # cells as they are, also where another table has the same people in a cell
            return cls._with_cells(table, replace(function, slopes=None))
        shape = table.counts.shape
        impossible = ~table.channel.possible  # NaN: cells that cannot occur may have any weight
        weights = np.where(impossible, np.nan, np.broadcast_to(function.weights[0], shape))
        axes = list(range(len(function.groups)))
        for axis in range(len(function.groups), len(shape)):
            low, high = (edge.reduce(weights, axis=axis, keepdims=True) for edge in (np.fmin, np.fmax))
            if not (low < high).any() and (len(axes) > 0 or axis < len(shape) - 1):
                weights = high
            else:
                axes.append(axis)
        if len(axes) < len(shape):
            table = table.marginal(*(table.names[axis] for axis in axes))
        weights = np.nan_to_num(weights.reshape(table.counts.shape))
        return cls._with_cells(table, Grouped(table.channel, function.groups, function.shown, (weights,)))

    @classmethod
    def _with_cells(cls, table: Reconstruction, function: Grouped) -> Reduced:
        rows = function.rows(function.shown)[0]
        first = np.argmax(rows != 0, axis=1)
        single = (rows != 0).sum(1) == 1
        factor = np.where(single, rows[np.arange(len(rows)), first], 1.0)
        return cls(table, function, np.where(single, function.shown * rows.shape[1] + first, -1), factor)

    @property
    def weights(self) -> Counts:
        """The weights of the function in a table without groups."""
        weights: Counts = np.broadcast_to(self.function.weights[0], self.table.counts.shape)
        return weights

    @cached_property
    def errors(self) -> Counts:
        """Standard errors."""
        several = self.cell < 0
        if several.all():  # no need of the errors of all cells
            return np.sqrt(self._variances[0])
        result = self.table.standard_errors.ravel()[self.cell] * np.abs(self.factor)
        if several.any():
            result[several] = np.sqrt(self._variances[0])
        return result

    @cached_property
    def _variances(self) -> tuple[Counts, NDArray[np.bool_]]:
        """Variances where several cells are summed, and where they were predicted."""
        return variances(self.table, self._several)

    @property
    def predicted(self) -> NDArray[np.bool_]:
        """Where the variance could not be estimated and the predicted one is used."""
        several = self.cell < 0
        if several.all():
            return self._variances[1]
        result = self.table.fallback.ravel()[self.cell]
        if several.any():
            result[several] = self._variances[1]
        return np.asarray(result)

    @cached_property
    def _rows(self) -> Counts:
        """The weights in each group, of the cells that can occur."""
        shape = self.table.counts.shape
        grouped = math.prod(shape[: len(self.function.groups)])
        possible = self.table.channel.possible.reshape(grouped, -1)[self.function.shown]
        return np.where(possible, self.function.rows(self.function.shown)[0], 0.0)

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Where the function is a sum of what is never negative."""
        return np.asarray((self._rows >= 0).all(1))

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """Where the function adds up nothing: cells that cannot occur."""
        return np.asarray((self._rows == 0).all(1))

    @property
    def plug_in(self) -> Counts:
        """The estimated variances, before any fallback."""
        return estimated_variances(self.table, self.function)[0]

    @cached_property
    def _several(self) -> Grouped:
        """The function in the groups where it sums several cells."""
        return replace(self.function, shown=self.function.shown[self.cell < 0])

    def limits(self, level: float) -> tuple[Counts, Counts]:
        """(low, high) around the unbiased value; within the possible range if the method keeps its table there."""
        several = self.cell < 0
        if several.all():
            return function_limits(self.table, self._several, self.errors, level)
        low, high = (limit.ravel()[self.cell] * self.factor for limit in self.table.cell_limits(level))
        low, high = np.minimum(low, high), np.maximum(low, high)
        if several.any():
            low[several], high[several] = function_limits(self.table, self._several, self.errors[several], level)
        return low, high
