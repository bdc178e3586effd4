"""The rows that would be released if two attributes were independent in the population; with survey weights too.

What is independent is the weighted table, for that is what stands for the population: ``t_ij = T p_i p_j``, T the total of the
weights. In the rows themselves the two attributes are then related where weights depend on both. How noisy a weighted cell is
depends on the weights of its people, not on its total alone. So the table of people under independence, the weight as one more
axis, is

    N_ijw = t_ij q(w | ij) / sum_w r_w q(w | ij)

with r_w the number of the weight w. It has weighted independence exactly. q, the shares of the weights among the people of a cell, is
not part of the hypothesis and comes from the data: the nearest table without negative cells, and PRIOR people more per cell (times
the error factor of the table, for noise makes a row tell less) whose weights depend on each attribute by itself,
``q(w) prod_a q(w | a) / q(w)``. If all weights are equal, q does not matter, and this is the table without weights.

A passed weight is no axis. The variance is that of sums of squared weights (variance.py), so the same is done with them:
``t_ij`` times the sum of squares over the sum of weights in the cell.
"""

from __future__ import annotations

import numpy as np

from ..._blocks import Counts
from ..reconstruction import Reconstruction
from ..simplex import nearest
from ..tabulate import tabulate_codes
from ..variance import spread_whole
from ..weighing import Weighing

PRIOR = 5.0


def counted(table: Reconstruction) -> Reconstruction:
    """The table that was counted: no value merged, the weight as one more axis if it is randomised."""
    return table.whole if table.whole.weighing is None else table.whole.weighing.table


def lifted(table: Reconstruction, weights: Counts) -> Counts:
    """The weights of functions of a table, as functions of the one that was counted."""
    if table.grouping is not None:
        weights = table.grouping.spread(weights)
    return weights if table.whole.weighing is None else table.whole.weighing.weights(weights)


def people_if_independent(table: Reconstruction, shares: Counts) -> Counts:
    """The people of the table that was counted, extra axes included, if its cells had the shares ``shares``.

    With a passed weight, their squared weights.
    """
    totals = table.total * shares
    if table.grouping is not None:
        totals = table.grouping.shared_out(totals)
    if not table.weighted:
        return spread_whole(table.channel, totals)
    if table.whole.weighing is not None:
        return spread_whole(counted(table).channel, _by_weight(table.whole.weighing, totals))
    return spread_whole(table.channel, _squared(table.whole, totals))


def uncertainty(table: Reconstruction, people: Counts, carried: Counts) -> Counts:
    """The variance of the estimated variance of functions, over its square, as far as the weights in a cell are estimates.

    ``carried`` is how much a released row adds to each function, one per entry of the first axis. Zero without weights.
    """
    if not table.weighted:
        return np.zeros(len(carried))
    larger = counted(table)
    channel = larger.channel
    variances = (carried**2 * channel.forward(people)).reshape(len(carried), -1).sum(1)
    adds = channel.forward_transpose(carried**2)  # by one person, or one squared weight
    extra = tuple(range(1 + len(channel.names), adds.ndim))
    adds = adds.mean(extra) if extra else adds
    inside = channel.collapse(people)
    if table.whole.weighing is not None:
        numbers = table.whole.weighing.numbers
        prior = PRIOR * channel.error_factor
        own = channel.collapse(larger.nearest_whole).sum(-1, keepdims=True) + prior
        scale = inside.sum(-1, keepdims=True) / own  # a person counts as this many of those under independence
        totals = inside @ numbers
        mean = np.divide((adds * inside).sum(-1), totals, out=np.zeros(adds.shape[:-1]), where=totals > 0)
        moved = channel.inverse_transpose(scale * (adds - mean[..., None] * numbers))
        # those from whom the weights were estimated
        seen = spread_whole(channel, np.divide(inside, scale, out=np.zeros(inside.shape), where=scale > 0))
        found = (moved**2 * channel.forward(seen)).reshape(len(carried), -1).sum(1)
        return np.asarray(found / variances**2)
    weights = larger.source.weights
    assert weights is not None
    ratio, below = _ratios(larger)
    moved, less = (
        channel.inverse_transpose(adds * (inside / (ratio * below) * each)) for each in (np.ones(ratio.shape), ratio)
    )
    second, third, fourth = (
        tabulate_codes(larger.source.codes, channel.sizes, weights=weights**power) for power in (2, 3, 4)
    )
    found = (fourth * moved**2 - 2 * third * moved * less + second * less**2).reshape(len(carried), -1).sum(1)
    return np.asarray(np.maximum(found, 0.0) / variances**2)


def _by_weight(weighing: Weighing, totals: Counts) -> Counts:
    """People with these totals of weights, the weight as the last axis."""
    table, numbers = weighing.table, weighing.numbers
    *names, weight = table.names
    prior = PRIOR * table.channel.error_factor
    alone = table.marginal(weight)
    all_people = nearest(alone.unbiased, table.total, alone.possible) + alone.possible * prior / alone.possible.sum()
    everywhere = all_people / all_people.sum()
    alike = np.broadcast_to(everywhere, table.counts.shape)
    for axis, name in enumerate(names):
        pair = table.marginal(name, weight)
        people = nearest(pair.unbiased, table.total, pair.possible) + prior * everywhere
        given = people / people.sum(1, keepdims=True)
        shape = [1] * (len(names) + 1)
        shape[axis], shape[-1] = given.shape
        alike = alike * np.divide(given, everywhere, out=np.zeros_like(given), where=everywhere > 0).reshape(shape)
    alike = np.where(table.possible, alike, 0.0)
    sums = alike.sum(-1, keepdims=True)
    alike = np.where(sums > 0, alike / np.where(sums > 0, sums, 1.0), everywhere)
    people = table.channel.collapse(table.nearest_whole) + prior * alike
    # of few people the large weights are seen too rarely: to first order, the ratio of sums over w has this bias
    seen = (people @ numbers)[..., None]
    people = people * (
        1 + np.divide(table.channel.error_factor * numbers, seen, out=np.zeros(people.shape), where=seen > 0)
    )
    means = (people @ numbers)[..., None]
    people, means = np.where(means > 0, people, everywhere), np.where(means > 0, means, everywhere @ numbers)
    return np.asarray(totals[..., None] * people / means)


def _squared(table: Reconstruction, totals: Counts) -> Counts:
    """The squared weights of people with these totals of weights."""
    ratio, below = _ratios(table)
    weights = table.source.weights
    assert weights is not None
    first, second, third = (float((weights**power).sum()) for power in (1, 2, 3))
    # of few people the large weights are seen too rarely: to first order, the ratio of sums of powers has this bias
    unseen = table.channel.error_factor * (third * first / second**2 - 1) * ratio / below
    return np.asarray(totals * ratio * (1 + unseen))


def _ratios(table: Reconstruction) -> tuple[Counts, Counts]:
    """The sum of squared weights over that of weights in every cell, and the latter, ``PRIOR`` people included."""
    prior = PRIOR * table.channel.error_factor
    sums, squares = table.total, float(table.squares.sum())
    person, ratio = sums / table.rows, squares / sums

    def ratios(part: Reconstruction, alike: Counts) -> tuple[Counts, Counts]:
        above = nearest(part.unbiased_squares, squares, part.possible) + prior * person * alike
        below = nearest(part.unbiased, sums, part.possible) + prior * person
        return above / below, below

    alike: Counts = np.full(table.counts.shape, ratio)
    for axis, name in enumerate(table.names):
        along = [-1 if other == axis else 1 for other in range(alike.ndim)]
        alike = alike * (ratios(table.marginal(name), np.full(1, ratio))[0] / ratio).reshape(along)
    return ratios(table, alike)
