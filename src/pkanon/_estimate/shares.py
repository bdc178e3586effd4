"""Shares of all people, or of the people of a group, for every cell of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .linear import BATCH, Listed
from .uncertainty import share_limits
from .variance import ROUNDING, variances

if TYPE_CHECKING:
    from .reconstruction import Reconstruction


@dataclass(frozen=True)
class Shares:
    """Shares of the people, or of a group of them, per cell; ``bounded`` where the group's size is certain enough."""

    shares: Counts
    standard_errors: Counts
    low: Counts
    high: Counts
    bounded: NDArray[np.bool_]


def shares(table: Reconstruction, given: Sequence[str], level: float) -> Shares:
    """Each cell's share of the people with the same values of ``given``; of all people if none is named."""
    if not given and not (table.weighted and table.about == "population"):
        # the number of people is known
        scale = 1 / table.total if table.total else np.nan
        low, high = (limit * scale for limit in table.interval(level))
        return Shares(table.counts * scale, table.standard_errors * abs(scale), low, high, np.ones(low.shape, bool))
    summed = tuple(axis for axis, name in enumerate(table.names) if name not in given)
    below, group = (counts.sum(summed, keepdims=True) for counts in (table.counts, table.unbiased))
    spread, limits = _group(table, given, group, level)
    common = _covariance(table, given, group)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(below != 0, table.counts / below, np.nan)
        unbiased = np.where(group != 0, table.unbiased / group, np.nan)
        own = table.standard_errors**2
        variance = own - 2 * unbiased * common + unbiased**2 * spread**2
        size = own + np.abs(2 * unbiased * common) + unbiased**2 * spread**2
    weak = ~(variance > ROUNDING * size) & table.channel.possible & np.isfinite(unbiased)
    variance[weak] = _written_out(table, summed, np.argwhere(weak), unbiased[weak])
    errors = np.sqrt(np.maximum(variance, 0.0)) / np.abs(np.where(group != 0, group, np.nan))
    found = share_limits(
        table,
        table.unbiased,
        table.possible_limits(level),
        table.standard_errors,
        np.broadcast_to(group, table.counts.shape),
        limits,
        spread,
        common,
    )
    low, high, bounded = found.low, found.high, found.bounded
    low, high = np.fmin(low, share), np.fmax(high, share)  # nothing bounds the share of a group that may be empty
    impossible = ~table.channel.possible
    low[impossible], high[impossible], errors[impossible] = 0.0, 0.0, 0.0
    return Shares(share, errors, low, high, bounded | impossible)


def _group(
    table: Reconstruction, given: Sequence[str], group: Counts, level: float
) -> tuple[Counts, tuple[Counts, Counts]]:
    """Standard errors and limits of the sizes of the groups."""
    if given:
        sizes = table.marginal(*(name for name in table.names if name in given))
        low, high = (limit.reshape(group.shape) for limit in sizes.possible_limits(level))
        return sizes.standard_errors.reshape(group.shape), (low, high)
    everybody = table.linear(1.0)
    low, high = (np.full(group.shape, limit) for limit in everybody.interval(level))
    return np.full(group.shape, everybody.standard_error), (low, high)


def _covariance(table: Reconstruction, given: Sequence[str], group: Counts) -> Counts:
    """Per cell the covariance of its estimate and of its group's."""
    products = table.channel.product_inverse(table.squares, table.names, given)
    if table.about == "population":
        return np.asarray(table.unsampled * (products - table.unbiased * group / max(table.rows, 1)))
    return np.asarray(products - table.unbiased_squares)


def _written_out(table: Reconstruction, summed: tuple[int, ...], places: NDArray[np.intp], shares: Counts) -> Counts:
    """The variance of cell less share times group, for a few cells."""
    found = [np.zeros(0)]
    batch = max(BATCH // max(table.released.size, 1), 1)
    for start in range(0, len(places), batch):
        piece = places[start : start + batch]
        weights = np.zeros((len(piece), *table.counts.shape))
        for one, place, share in zip(weights, piece, shares[start : start + batch]):
            one[tuple(slice(None) if axis in summed else code for axis, code in enumerate(place))] -= share
            one[tuple(place)] += 1.0
        found.append(variances(table, Listed(table.channel, weights))[0])
    return np.concatenate(found)
