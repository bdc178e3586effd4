"""Each cell of a table as a share of all people, or of the people in its group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .interval import holding, share_limits, within
from .linear import BATCH, Listed
from .variance import ROUNDING, estimated_variances

if TYPE_CHECKING:
    from .grouping import Grouping
    from .reconstruction import Reconstruction
    from .weighing import Weighing


class Shares(NamedTuple):
    """The share of each cell, cut to 0 and 1; NaN where the estimated size of its group is not positive.

    ``unbiased`` are shares that are not cut, from the unbiased table. ``bounded``: where the group is not small: its size is
    certain enough to bound the share. ``beyond``: where the whole interval was outside 0 and 1 before it was cut.
    """

    shares: Counts
    standard_errors: Counts
    low: Counts
    high: Counts
    bounded: NDArray[np.bool_]
    beyond: NDArray[np.bool_]
    unbiased: Counts


def shares(table: Reconstruction, given: Sequence[str], level: float) -> Shares:
    """Each cell's share of the people with the same values of ``given``; of all people if none is named."""
    known = not table.weighted or (table.about == "table" and table.weighing is None)
    known = known and (table.grouping is None or table.grouping.complete)
    if not given and known:
        scale = 1 / table.total if table.total else np.nan
        share, unbiased = table.counts * scale, table.unbiased * scale
        low, high = (limit * scale for limit in table.cell_limits(level))
        low, high, beyond = within(low, high, np.zeros(()), np.ones(()))
        share = np.clip(share, 0.0, 1.0)
        low, high = holding(low, high, share)
        bounded = np.ones(low.shape, bool)
        return Shares(share, table.standard_errors * abs(scale), low, high, bounded, beyond, unbiased)
    summed = tuple(axis for axis, name in enumerate(table.names) if name not in given)
    size, group = (counts.sum(summed, keepdims=True) for counts in (table.counts, table.unbiased))
    group_variances, group_errors, group_limits = _group(table, given, group, level)
    covariance = _covariance(table, given, group)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(np.where(size > 0, table.counts / size, np.nan), 0.0, 1.0)
        unbiased = np.where(group > 0, table.unbiased / group, np.nan)
        own, common, of_group = _estimated(table), 2 * unbiased * covariance, unbiased**2 * group_variances
        variance = own - common + of_group
        magnitude = np.abs(own) + np.abs(common) + np.abs(of_group)
    weak = ~(variance > ROUNDING * magnitude) & table.possible & np.isfinite(unbiased)
    variance[weak] = _written_out(table, summed, np.argwhere(weak), unbiased[weak])
    errors = np.sqrt(np.maximum(variance, 0.0)) / np.where(group > 0, group, np.nan)
    limits = share_limits(
        table.whole,
        table.unbiased,
        table.cell_limits(level),
        table.standard_errors,
        np.broadcast_to(group, table.counts.shape),
        group_limits,
        group_errors,
        covariance,
    )
    # nothing bounds the share of a group that may be empty
    low, high = np.fmin(limits.low, share), np.fmax(limits.high, share)
    impossible = ~table.possible
    alone = table.possible & (table.possible.sum(summed, keepdims=True) == 1)  # the only cell that its group can have
    low, high = (np.where(alone, 1.0, limit) for limit in (low, high))
    low[impossible], high[impossible], errors[impossible] = 0.0, 0.0, 0.0
    errors[np.isnan(share) | ~(group > 0)] = np.nan  # of nobody there is no share, not even of what is impossible
    beyond = limits.beyond & ~impossible & ~np.isnan(share) & ~alone
    return Shares(share, errors, low, high, limits.bounded | impossible, beyond, unbiased)


def _group(
    table: Reconstruction, given: Sequence[str], group: Counts, level: float
) -> tuple[Counts, Counts, tuple[Counts, Counts]]:
    """The estimated variances, the standard errors and the limits of the sizes of the groups."""
    if given:
        sizes = table.marginal(*(name for name in table.names if name in given))
        low, high = (limit.reshape(group.shape) for limit in sizes.cell_limits(level))
        return _estimated(sizes).reshape(group.shape), sizes.standard_errors.reshape(group.shape), (low, high)
    everybody = table.linear(1.0)
    low, high = (np.full(group.shape, limit) for limit in everybody.interval(level))
    variance = table.covariance(np.ones((1, *table.counts.shape)))
    return variance.reshape(group.shape), np.full(group.shape, everybody.standard_error), (low, high)


def _estimated(table: Reconstruction) -> Counts:
    """The variance of each cell as it is estimated, also where that is not positive."""
    return np.where(table.fallback, table.plug_in, table.standard_errors**2)


def _covariance(table: Reconstruction, given: Sequence[str], group: Counts) -> Counts:
    """The covariance of each cell's estimate with the estimate of its group."""
    if table.grouping is not None:
        return _grouped_covariance(table, table.grouping, given)
    if table.weighing is not None:
        return _weighed_covariance(table, table.weighing, given)
    products = table.channel.product_inverse(table.squares, table.names, given)
    if table.about == "population":
        return np.asarray(table.sample_factor * (products - table.unbiased * group / max(table.rows, 1)))
    return np.asarray(products - table.unbiased_squares)


def _grouped_covariance(table: Reconstruction, grouping: Grouping, given: Sequence[str]) -> Counts:
    """The same where values are grouped: every group of ``given`` with all cells of the whole table at once.

    ``sum_v y_v b_v B[v, u]`` over released rows, b those of the group, is the inverse applied to ``y b``.
    """
    whole = grouping.table
    counted = whole if whole.weighing is None else whole.weighing.table
    result = np.zeros(table.counts.shape)
    kept = [axis for axis, name in enumerate(table.names) if name in given]
    for codes in np.ndindex(*(table.counts.shape[axis] for axis in kept)):
        place = tuple(codes[kept.index(axis)] if axis in kept else slice(None) for axis in range(result.ndim))
        group = np.zeros(result.shape)
        group[place] = 1.0
        weights = grouping.spread(group)
        carried = counted.channel.inverse_transpose(
            weights if whole.weighing is None else whole.weighing.weights(weights)
        )
        products = counted.channel.inverse(counted.squares * carried)
        if whole.weighing is not None:
            products = whole.weighing.summed(products)
        if table.about == "population":
            people = float((weights * whole.unbiased).sum())
            common = whole.sample_factor * (products - whole.unbiased * people / max(whole.rows, 1))
        else:
            common = products - whole.unbiased_squares
        result[place] = grouping.collapse(common)[place]
    return result


def _weighed_covariance(table: Reconstruction, weighing: Weighing, given: Sequence[str]) -> Counts:
    """The same where the weight is randomised: every cell and its group, written out a few at a time."""
    shape = table.counts.shape
    places = np.array(list(np.ndindex(*shape)))
    kept = [axis for axis, name in enumerate(table.names) if name in given]
    result = [np.zeros(0)]
    batch = max(BATCH // max(weighing.table.released.size, 1), 1)
    for start in range(0, len(places), batch):
        piece = places[start : start + batch]
        cell, group = np.zeros((len(piece), *shape)), np.zeros((len(piece), *shape))
        for number, place in enumerate(piece):
            cell[number][tuple(place)] = 1.0
            group[number][tuple(place[axis] if axis in kept else slice(None) for axis in range(len(shape)))] = 1.0
        both, apart = (
            estimated_variances(table, Listed(table.channel, each))[0] for each in (cell + group, cell - group)
        )
        result.append((both - apart) / 4)
    return np.concatenate(result).reshape(shape)


def _written_out(table: Reconstruction, summed: tuple[int, ...], places: NDArray[np.intp], shares: Counts) -> Counts:
    """The variance of ``cell - share * group`` for a few cells."""
    result = [np.zeros(0)]
    batch = max(BATCH // max(table.released.size, 1), 1)
    for start in range(0, len(places), batch):
        piece = places[start : start + batch]
        weights = np.zeros((len(piece), *table.counts.shape))
        for function, place, share in zip(weights, piece, shares[start : start + batch]):
            function[tuple(slice(None) if axis in summed else code for axis, code in enumerate(place))] -= share
            function[tuple(place)] += 1.0
        result.append(table.variances_of(weights))
    return np.concatenate(result)
