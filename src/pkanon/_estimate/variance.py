"""The variance of linear functions of a table: one formula, one fallback (docs/why/theory.md 7).

Let y be the released counts, b_v how much one released row in cell v adds, and w_u the weight of cell u. An unbiased
estimate of the variance of ``sum w x_hat`` is

    table        sum_v y_v b_v^2 - sum_u x_hat_u w_u^2
    population   n/(n - 1) (sum_v y_v b_v^2 - (sum w x_hat)^2 / n)

With survey weights, the sums of ``y b^2`` and of ``x_hat w^2`` count squared weights. If the weight is itself randomised, the
functions are those of the larger table that has it as an axis (weighing.py).

A number that was rounded at random to a point (an attribute with ``points``) varies too. About a population this is in the
sums already. About the table it is added: at most a quarter of the squared difference of the weights on both sides.

In sparse tables this estimate can be negative. It is then replaced by the variance that people spread evenly over all
possible cells would have. For a cell of a value-symmetric design that is the error predicted before any data exist. It
overstates more often than not. The nearest table without negative cells is closer to the estimate, but its variance
understates. About a population, one more person is added, whom the sample could have missed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .._errors import InputError, PlanError
from .._schema import Points
from .channel import Channel
from .linear import Functions, Grouped, Listed
from .tabulate import rows_at

if TYPE_CHECKING:
    from .reconstruction import Reconstruction

People: TypeAlias = Literal["disjoint", "same"]
"""How the people of several releases are related: nobody is in two of them, or the same people are in all."""
LARGEST_JOINT = 2**22
"""Cells of a table that is counted only because it holds two others."""
ROUNDING = 1e-12
"""A variance is the difference of two sums; below this share of them it is rounding error."""


def variances(table: Reconstruction, functions: Functions) -> tuple[Counts, NDArray[np.bool_]]:
    """The variance of each function, never negative, and where it had to be predicted."""
    table, functions = _carried(table, functions)
    estimated, size = estimated_variances(table, functions)
    # where all rows agree, the sums themselves are rounding errors, of numbers as large as the weights
    least = ROUNDING**2 * functions.spread**2 * float(table.squares.sum())
    usable = estimated > np.maximum(ROUNDING * size, least)
    if usable.all():
        return estimated, ~usable
    predicted = _evenly(table, functions)
    return np.where(usable, estimated, predicted), ~usable & (predicted > 0)


def estimated_variances(table: Reconstruction, functions: Functions) -> tuple[Counts, Counts]:
    """The unbiased estimates, which can be negative, and the scale of the sums whose differences they are."""
    table, functions = _carried(table, functions)
    products, size = functions.products(table.squares)
    if table.about == "population":
        return table.sample_factor * (products - functions.values(table.unbiased) ** 2 / max(table.rows, 1)), size
    return products - functions.squares(table.unbiased_squares) + rounding_variances(table, functions), size


def rounding_variances(table: Reconstruction, functions: Functions) -> Counts | float:
    """An upper limit of the variance that rounding to points adds to each function, estimated."""
    pointed = {
        axis: len(attribute.domain)
        for axis, attribute in enumerate(table.attributes)
        if isinstance(attribute.domain, Points)
    }
    if not pointed:
        return 0.0
    people = table.unbiased_squares
    found = []
    for weights in functions.written():
        most = np.zeros(weights.shape)
        for axis, points in pointed.items():
            steps = np.diff(np.moveaxis(weights, axis + 1, -1)[..., :points], axis=-1) ** 2 / 4
            below, above = np.insert(steps, 0, 0.0, axis=-1), np.insert(steps, points - 1, 0.0, axis=-1)
            np.moveaxis(most, axis + 1, -1)[..., :points] += np.maximum(below, above)
        found.append((most * people).reshape(len(weights), -1).sum(1))
    return np.asarray(np.maximum(np.concatenate(found), 0.0))


def _carried(table: Reconstruction, functions: Functions) -> tuple[Reconstruction, Functions]:
    """The table that was counted, and the functions of it."""
    if table.weighing is None:
        return table, functions
    return table.weighing.table, table.weighing.functions(functions)


def _evenly(table: Reconstruction, functions: Functions) -> Counts:
    """The variance if people were spread evenly over all possible cells."""
    total = float(table.squares.sum())
    people = table.evenly * total
    products, size = functions.products(table.channel.forward(people))
    noise = products - functions.squares(table.channel.collapse(people))
    noise = np.where(noise > ROUNDING * size, noise, np.where(np.isnan(noise), np.nan, 0.0))
    if table.about == "population":
        noise = noise + functions.spread**2 * total / max(table.rows, 1)
    return noise


def covariance(table: Reconstruction, weights: Counts) -> Counts:
    """The covariance matrix of the functions with these weights, without bias; it may be indefinite."""
    if table.weighing is not None:
        return covariance(table.weighing.table, table.weighing.weights(weights))
    listed = Listed(table.channel, weights)
    if table.about == "population":
        rows = max(table.rows, 1)
        result = listed.covariances(table.squares, table.unbiased, lambda values: np.outer(values, values) / rows)
        return table.sample_factor * result
    result = listed.covariances(table.squares, table.unbiased_squares, None)
    result[np.diag_indices(len(result))] += rounding_variances(table, listed)
    return result


def group_covariance(table: Reconstruction, grouped: Grouped) -> Counts:
    """The covariance of the two functions of ``grouped`` in each group, without bias."""
    if table.weighing is not None:
        return group_covariance(table.weighing.table, table.weighing.grouped(grouped))
    products = grouped.pair_products(table.squares)[:, 0, 1]
    if table.about == "population":
        values = grouped.each(table.unbiased)
        return np.asarray(table.sample_factor * (products - values[:, 0] * values[:, 1] / max(table.rows, 1)))
    product = Grouped(grouped.channel, grouped.groups, grouped.shown, (grouped.weights[0] * grouped.weights[1],))
    return np.asarray(products - product.values(table.unbiased_squares))


def between(first: Reconstruction, one: Counts, second: Reconstruction, two: Counts, people: People | None) -> float:
    """The covariance of a function of one table with a function of another, without bias.

    Of one release (``people`` is None or tells of others): about the population from the released rows; about the table
    only if no block randomises attributes of both, when there is none. Of two releases nobody shares there is none. Of two
    releases of the same people there is none about the table, for the noise of one knows nothing of the other; about the
    population it is that of the people, who are the same sample.
    """
    if first.same_release(second):
        return _within_release(first, one, second, two)
    if people == "disjoint" or first.about == "table":
        return 0.0
    joint, product = _product(first, one, second, two)
    values = [float((weights * table.unbiased).sum()) for table, weights in ((first, one), (second, two))]
    met = float((product * joint.unbiased_squares).sum())
    return first.sample_factor * (met - values[0] * values[1] / max(first.rows, 1))


def _within_release(first: Reconstruction, one: Counts, second: Reconstruction, two: Counts) -> float:
    if first.about == "table":
        if any(set(block.attributes) & set(second.names) for block in first.channel.blocks):
            names = dict.fromkeys((*first.names, *second.names))
            raise InputError(
                f"How these two numbers vary together is read from the table of {', '.join(names)}, which has "
                f"{math.prod(first.joint_sizes(list(names))):,} cells; the limit is {LARGEST_JOINT:,}. Ask for numbers of fewer "
                'attributes, or about="population".'
            )
        return 0.0
    rows = []
    for table, weights in ((first, one), (second, two)):
        carried = table.channel.inverse_transpose(np.asarray(weights, float))
        columns = [table.source.codes[name] for name in table.channel.sizes]
        found = rows_at(carried, columns)
        rows.append(found if table.source.weights is None else found * table.source.weights)
    return first.sample_factor * float(rows[0] @ rows[1] - rows[0].sum() * rows[1].sum() / max(first.rows, 1))


def _product(first: Reconstruction, one: Counts, second: Reconstruction, two: Counts) -> tuple[Reconstruction, Counts]:
    """The table of the attributes of both, from the release that tells more of it, and the product of both weights."""
    names = list(dict.fromkeys((*first.names, *second.names)))
    for attribute in first.attributes:
        if attribute.name in second.names and second.attributes[second.names.index(attribute.name)] != attribute:
            raise InputError(
                f"'{attribute.name}' has other values in the second release, so the sampling error that both share is not known."
            )
    found: dict[float, Reconstruction] = {}
    for table in (first, second):
        if set(names) <= table.source.codes.keys() and math.prod(table.joint_sizes(names)) <= LARGEST_JOINT:
            try:
                Channel(table.source.blocks, names).check_invertible()
            except PlanError:
                continue
            found.setdefault(Channel(table.source.blocks, names).error_factor, table)
    if not found:
        raise InputError(
            f"The sampling error that both releases share is read from the table of {', '.join(names)}, which neither "
            f'release has, or which has more than {LARGEST_JOINT:,} cells. Ask for numbers of fewer attributes, or about="table".'
        )
    joint = found[min(found)].with_names(names)
    product: Counts = np.ones(joint.counts.shape)
    for table, weights in ((first, one), (second, two)):
        own = [name for name in names if name in table.names]
        array = np.transpose(weights, [table.names.index(name) for name in own])
        product = product * array.reshape([a.size if a.name in own else 1 for a in joint.attributes])
    return joint, product


def variance_if(table: Reconstruction, functions: Functions, people: Counts) -> Counts:
    """The variance of each function if ``people``, extra axes included, were the truth."""
    products, _ = functions.products(table.channel.forward(people))
    whole = table.channel.collapse(people)
    if table.about == "population":
        known = functions.values(whole) ** 2 / max(table.rows, 1)
        return np.maximum(table.sample_factor * (products - known), 0.0)
    return np.maximum(products - functions.squares(whole), 0.0)


def spread_whole(channel: Channel, counts: Counts) -> Counts:
    """A table with the extra axes of a matrix block, every cell evenly over what is possible along them."""
    possible = channel.possible_whole.astype(float)
    extra = tuple(range(counts.ndim, possible.ndim))
    if not extra:
        return counts
    return np.asarray(
        counts.reshape(*counts.shape, *[1] * len(extra))
        * possible
        / np.maximum(possible.sum(extra, keepdims=True), 1.0)
    )
