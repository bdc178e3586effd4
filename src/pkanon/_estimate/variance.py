"""The variance of linear functions of a table: one formula, one fallback (docs/why/theory.md 7).

Let y be the released counts, b_v how much one released row in cell v adds, and w_u the weight of cell u. An unbiased
estimate of the variance of ``sum w x_hat`` is

    table        sum_v y_v b_v^2 - sum_u x_hat_u w_u^2
    population   n/(n - 1) (sum_v y_v b_v^2 - (sum w x_hat)^2 / n)

With survey weights, the sums of ``y b^2`` and of ``x_hat w^2`` count squared weights.

In sparse tables this estimate can be negative. It is then replaced by the variance that people spread evenly over all
possible cells would have. For a cell of a value-symmetric design that is the error predicted before any data exist. It
overstates more often than not. The nearest table without negative cells is closer to the estimate, but its variance
understates. About a population, one more person is added, whom the sample could have missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .linear import Functions, Grouped, Listed

if TYPE_CHECKING:
    from .reconstruction import Reconstruction

ROUNDING = 1e-12
"""A variance is the difference of two sums; below this share of them it is rounding error."""


def variances(table: Reconstruction, functions: Functions) -> tuple[Counts, NDArray[np.bool_]]:
    """The variance of each function, never negative, and where it had to be predicted."""
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
    products, size = functions.products(table.squares)
    if table.about == "population":
        return table.sample_factor * (products - functions.values(table.unbiased) ** 2 / max(table.rows, 1)), size
    return products - functions.squares(table.unbiased_squares), size


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
    listed = Listed(table.channel, weights)
    if table.about == "population":
        rows = max(table.rows, 1)
        result = listed.covariances(table.squares, table.unbiased, lambda values: np.outer(values, values) / rows)
        return table.sample_factor * result
    return listed.covariances(table.squares, table.unbiased_squares, None)


def group_covariance(table: Reconstruction, grouped: Grouped) -> Counts:
    """The covariance of the two functions of ``grouped`` in each group, without bias."""
    products = grouped.pair_products(table.squares)[:, 0, 1]
    if table.about == "population":
        values = grouped.each(table.unbiased)
        return np.asarray(table.sample_factor * (products - values[:, 0] * values[:, 1] / max(table.rows, 1)))
    product = Grouped(grouped.channel, grouped.groups, grouped.shown, (grouped.weights[0] * grouped.weights[1],))
    return np.asarray(products - product.values(table.unbiased_squares))
