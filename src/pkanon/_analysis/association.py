"""Are two attributes related, and how strongly? A corrected test, Cramer's V and mutual information.

All of it is about the population. With p the estimated shares and d = (p_ij - p_i p_j) / sqrt(p_i p_j),
Pearson's statistic is ``n sum d^2``. Randomisation makes d noisier than sampling alone, and differently
in every direction, so the statistic is not chi-square distributed: under independence it is a weighted
sum of squares with C, the covariance of d, as weights. The correction of Rao and Scott (second order)
scales it to ``sum d^2 tr C / tr C^2`` on ``(tr C)^2 / tr C^2`` degrees of freedom. C is that of
independent attributes, so no estimate in the cells enters it.

The noise adds tr C to ``sum d^2`` on average; Cramer's V takes it off again (without randomisation this
is Bergsma's correction). Mutual information is that of the nearest table without negative cells; its
bias and error are those seen in REPEATS repetitions of the release drawn from that table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._blocks.base import Counts
from .._errors import InputError
from .._estimate import Reconstruction, nearest, normal_quantile

LARGEST = 4096
"""Cells; the covariance of all of them is held in memory."""
REPEATS = 200


@dataclass(frozen=True)
class Measure:
    """A strength of association: 0 if there is none, with its standard error."""

    value: float
    standard_error: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high), not below zero."""
        z = normal_quantile(level)
        return max(self.value - z * self.standard_error, 0.0), max(self.value + z * self.standard_error, 0.0)


@dataclass(frozen=True)
class Association:
    """The relation of two attributes in the population.

    ``chi_square`` on ``degrees_of_freedom`` (corrected, not a whole number), its ``p_value`` under independence,
    ``cramers_v`` (0 to 1) and ``mutual_information`` (nats).
    """

    attributes: tuple[str, str]
    chi_square: float
    degrees_of_freedom: float
    p_value: float
    cramers_v: Measure
    mutual_information: Measure


def associate(table: Reconstruction) -> Association:
    """The association of the two attributes of a table."""
    if len(table.names) != 2:
        raise InputError(f"An association is between two attributes; the table has {len(table.names)}.")
    first, second = table.names
    if table.counts.size > LARGEST:
        raise InputError(
            f"The table of {first} and {second} has {table.counts.size:,} cells; associations are computed up to "
            f"{LARGEST:,}. Release with fewer values."
        )
    if table.weighted:
        raise InputError("An association is computed from rows of equal weight; leave out the weights.")
    about = replace(table, about="population", method="inverse", counts=table.unbiased)
    n = about.total
    if n < 2:
        raise InputError("An association needs at least two rows.")
    rows, columns = (
        nearest(about.marginal(name).counts, n, about.marginal(name).channel.possible) / n for name in table.names
    )
    independent = np.outer(rows, columns)
    used = (independent > 0) & about.channel.possible
    smaller = min(int((rows > 0).sum()), int((columns > 0).sum())) - 1
    if smaller < 1:
        single = first if int((rows > 0).sum()) < 2 else second
        raise InputError(
            f"Only one value of '{single}' can be told from zero in this release, so nothing can be said about how it is "
            "related to another attribute."
        )
    d, covariance = _deviations(about, rows, columns, independent, used)
    raw, noise, squared = float(d @ d), float(np.trace(covariance)), float((covariance**2).sum())
    freedom = noise**2 / squared
    statistic = raw * noise / squared
    from scipy.special import chdtrc

    return Association(
        attributes=(first, second),
        chi_square=statistic,
        degrees_of_freedom=freedom,
        p_value=float(chdtrc(freedom, statistic)),
        cramers_v=_cramers_v(d, covariance, noise, squared, smaller),
        mutual_information=_mutual_information(about),
    )


def _deviations(
    table: Reconstruction, rows: Counts, columns: Counts, independent: Counts, used: NDArray[np.bool_]
) -> tuple[Counts, Counts]:
    """d of every cell that can occur, and its covariance if the attributes were independent."""
    n, shape = table.total, table.counts.shape
    shares = table.counts / n
    d = (shares - np.outer(shares.sum(1), shares.sum(0)))[used] / np.sqrt(independent[used])
    i, j = np.nonzero(used)
    weights = np.zeros((len(i), *shape))
    weights[np.arange(len(i)), i, j] = 1.0
    weights[np.arange(len(i)), i, :] -= columns[j][:, None]
    weights[np.arange(len(i)), :, j] -= rows[i][:, None]
    weights /= (n * np.sqrt(independent[used]))[:, None, None]
    carried = table.channel.inverse_transpose(weights).reshape(len(i), -1)
    whole = n * independent
    people = whole.reshape(*shape, *[1] * len(table.channel.extra)) * np.ones(tuple(table.channel.sizes.values()))
    people = people * (n / float(people.sum()))  # within a bundle, spread evenly over what is not in the table
    expected = table.channel.forward(people).ravel()
    values = weights.reshape(len(i), -1) @ whole.ravel()
    covariance = (carried * expected) @ carried.T - np.outer(values, values) / n
    return d, covariance


def _cramers_v(d: Counts, covariance: Counts, noise: float, squared: float, smaller: int) -> Measure:
    strength = max(float(d @ d) - noise, 0.0)
    spread = math.sqrt(max(4 * float(d @ covariance @ d), 0.0) + 2 * squared)
    value = min(math.sqrt(strength / smaller), 1.0)
    # the error of a root: by its slope, or near zero by the root of the error
    error = min(spread / (2 * value * smaller) if value else math.inf, math.sqrt(spread / smaller))
    return Measure(value, error)


def _mutual_information(table: Reconstruction) -> Measure:
    """Of the nearest table without negative cells, less the bias that repetitions from it show."""
    draw = np.random.default_rng(0)  # repetitions are a calculation, not a release: the same every time
    channel, n = table.channel, table.total
    whole = table.nearest_whole
    seen = _information(channel.collapse(whole))
    expected = channel.forward(whole).ravel()
    expected = np.maximum(expected, 0.0) / expected.sum()
    repeated = []
    for _ in range(REPEATS):
        released = draw.multinomial(int(n), expected).reshape(whole.shape).astype(float)
        repeated.append(
            _information(channel.collapse(nearest(channel.inverse_whole(released), n, channel.possible_whole)))
        )
    bias = float(np.mean(repeated)) - seen
    return Measure(max(seen - bias, 0.0), float(np.std(repeated)))


def _information(counts: Counts) -> float:
    shares = counts / counts.sum()
    product = np.outer(shares.sum(1), shares.sum(0))
    cells = shares > 0
    return float((shares[cells] * np.log(shares[cells] / product[cells])).sum())
