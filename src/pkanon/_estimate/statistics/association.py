"""Are two attributes related, and how strongly? A test, Cramer's V and mutual information.

All of it is about the population. With p the estimated shares and d = (p_ij - p_i p_j) / sqrt(p_i p_j),
Pearson's statistic is ``n sum d^2``. Randomisation makes d noisier than sampling alone, and differently
in every direction; with C its covariance under independence, ``d' C^+ d`` is chi-square distributed on the
rank of C degrees of freedom. C is that of independent attributes, so no estimate in the cells enters it;
without randomisation it is a projection over n, and the test is Pearson's.

The noise adds tr C to ``sum d^2`` on average; Cramer's V subtracts it, as Bergsma (2013) does for sampling alone. Its
limits are those values under which ``sum d^2`` would be just too large or too small: its distribution is that of a
quadratic form, skewed where noise is large, matched in three moments (:class:`Strength`). The test weighs directions
by their noise and V does not, so the test may see what V alone does not see. Their answers agree all the same: the
lower limit of V is above zero if and only if the test rejects independence at that level. It is at least the smallest
V of all deviations that the test does not reject, ``(d - e)' C^+ (d - e)`` at most the quantile of chi-square; and V
is at least the smallest one with that distance at most its mean, the degrees of freedom. Without randomisation the
latter changes nothing. Mutual information is that of the nearest table without negative cells, less its mean over
REPEATS simulated releases of independent attributes.

Where values are merged or people left out (grouping.py), p are shares of the people shown, and C is that of the whole
table: how many people are shown is estimated too, and the noise of those left out counts.

With survey weights p are shares of the total of weights, and all of this is about the weighted table, a linear
function of the one that was counted. C is its covariance if the weighted table were independent; independence.py says
in which table that is. Weights are no numbers of rows: rows of unequal weight make C larger, and the test is that of
a design (Wald), not Pearson's with weights for counts. As far as C then rests on estimated weights, the reference is
Hotelling's instead of chi-square. Mutual information is left out: its mean under independence is simulated from
counts of equal rows, and rows with passed weights cannot be drawn anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._errors import InputError
from ..interval import normal_quantile
from ..reconstruction import Reconstruction
from ..simplex import nearest
from ..testing import short
from .independence import counted, lifted, people_if_independent, uncertainty

LARGEST = 4096
"""Cells; the covariance of all of them is held in memory."""
REPEATS = 200
RANK = 1e-9
"""Directions whose variance is below this share of the largest one cannot vary."""
STRAIGHT = 1e-4
"""A distribution of a lower skewness is taken for a normal one: its quantiles then differ by less than 1e-4 standard deviations."""
KNOWN = 1e-9
"""Variances with a squared relative error below this count as known."""


@dataclass(frozen=True)
class Measure:
    """A strength of association: 0 if there is none, with its standard error.

    Attributes
    ----------
    value, standard_error
        The estimate and its error.
    largest
        The largest value that is possible.

    Examples
    --------
    >>> import pkanon as pk
    >>> low, high = pk.Measure(0.02, standard_error=0.02, largest=1.0).interval(0.95)
    >>> low, round(high, 3)
    (0.0, 0.059)
    """

    value: float
    standard_error: float
    largest: float = math.inf
    _relation: Relation | None = field(default=None, repr=False, compare=False)
    _strength: Strength | None = field(default=None, repr=False, compare=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high) at the confidence ``level``, not below zero and not above the largest there can be.

        The lower limit of Cramer's V is above zero if and only if the test of independence rejects at that level (of 0.7
        or more).
        """
        reach = normal_quantile(level) * self.standard_error
        low, high, least = self.value - reach, self.value + reach, 0.0
        if self._strength is not None:
            low, high = self._strength.limits(level)
        low, high = max(low, 0.0), min(max(high, self.value), self.largest)
        if self._relation is None:
            return low, high
        if not self._relation.p_value < 1 - level:
            return 0.0, high
        if self._strength is not None:
            least = self._strength.scale * self._relation.least(self._relation.quantile(level))
        return min(max(low, least), self.value), high

    def __str__(self) -> str:
        return f"{short(self.value)} ± {short(self.standard_error)}"

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    def _repr_html_(self) -> str:
        """The number with its error and its interval, as a notebook shows it."""
        low, high = self.interval()
        return f"<p>{self} (95% interval: {short(low)} to {short(high)})</p>"


@dataclass(frozen=True, eq=False)
class Relation:
    """Deviations from independence along the directions in which they can vary, and the variance of each."""

    deviations: Counts
    variances: Counts
    rest: float = math.inf
    """Degrees of freedom of the estimated variances; without weights they are known."""

    @classmethod
    def of(cls, d: Counts, covariance: Counts, uncertainty: Callable[[Counts], float] | None = None) -> Relation:
        """From all deviations and their covariance.

        ``uncertainty`` gives the squared relative error of the variances along some directions, on average.
        """
        values, vectors = np.linalg.eigh(covariance)
        large = values > RANK * values[-1]
        directions = vectors[:, large].T
        share = 0.0 if uncertainty is None else uncertainty(directions)
        return cls(directions @ d, values[large], 2 / share if share > KNOWN else math.inf)

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return len(self.variances)

    @cached_property
    def statistic(self) -> float:
        """Chi-square."""
        return float((self.deviations**2 / self.variances).sum())

    @cached_property
    def p_value(self) -> float:
        """Of the test of independence."""
        from scipy.special import chdtrc, fdtrc

        if math.isinf(self.rest):
            return float(chdtrc(self.freedom, self.statistic))
        left, scale = self._hotelling
        return float(fdtrc(self.freedom, left, self.statistic / scale))

    def quantile(self, level: float) -> float:
        """What chi-square exceeds with the chance 1 - level under independence."""
        from scipy.special import chdtri, fdtri

        if math.isinf(self.rest):
            return float(chdtri(self.freedom, 1 - level))
        left, scale = self._hotelling
        return float(scale * fdtri(self.freedom, left, level))

    @property
    def _hotelling(self) -> tuple[float, float]:
        """Chi-square over the second number has the distribution F, the first number being its second degrees of freedom."""
        left = max(self.rest - self.freedom + 1, 1.0)
        return left, self.rest * self.freedom / left

    def least(self, distance: float) -> float:
        """The smallest length of deviations whose squared distance from those seen, each by its variance, is at most this."""
        if not self.statistic > distance:
            return 0.0
        a, c = self.deviations, self.variances
        low, high = (
            math.log(float(c.min()) * 1e-12),
            math.log(float(c.max()) * max(self.statistic / distance, 1.0) + 1e-300),
        )
        for _ in range(80):  # a c / (c + v) is how far each one moves; the distance falls with v
            middle = (low + high) / 2
            far = float((a**2 * c / (c + math.exp(middle)) ** 2).sum())
            low, high = (middle, high) if far > distance else (low, middle)
        v = math.exp(high)
        return float(np.linalg.norm(a * v / (c + v)))


@dataclass(frozen=True)
class Strength:
    """What is known of ``sum d^2`` less its noise: its distribution, whatever the truth is.

    With ``found`` estimating a true strength s, it has the mean s, the variance ``2 tr C^2 + 4 slope s`` and the third central
    moment ``8 tr C^3 + 24 slope^2 s``: those of a quadratic form in normal deviations with covariance C, if true deviations lie
    where the noise is ``slope``. ``squares`` and ``cubes`` are tr C^2 and tr C^3; V is ``scale`` times the root of s.
    """

    found: float
    squares: float
    cubes: float
    slope: float
    scale: float

    @classmethod
    def of(cls, found: float, covariance: Counts, own: float, scale: float) -> Strength:
        """From ``own``, the variance that the table as it is gives ``found`` by the delta method.

        It holds the noise of d three times, on average 4 tr C^2 + 4 d' S d with S the covariance at the table as it is. What is
        left tells the slope; near independence nothing can tell it, and it is drawn to that of C.
        """
        squares, noise = float((covariance**2).sum()), float(np.trace(covariance))
        apart = 4 * math.sqrt(2 * squares)
        slope = max(own - 4 * squares, 0.0) + apart * (squares / noise if noise > 0 else 0.0)
        cubes = float(((covariance @ covariance) * covariance).sum())
        return cls(found, squares, cubes, slope / (4 * max(found, 0.0) + apart) if apart > 0 else 0.0, scale)

    def spread(self, strength: float) -> float:
        """The standard deviation if this is the truth."""
        return math.sqrt(2 * self.squares + 4 * self.slope * strength)

    def limits(self, level: float) -> tuple[float, float]:
        """(low, high) of V: the truths under which what was found would be just too large, or too small.

        Less than nothing was found by chance: the upper limit is then that of nothing.
        """
        tail = (1 - level) / 2
        low = self._root(lambda strength: self.found - strength - self._reach(strength, 1 - tail))
        found = max(self.found, 0.0)
        high = self._root(lambda strength: found - strength - self._reach(strength, tail))
        return self.scale * math.sqrt(low), self.scale * math.sqrt(high)

    def _reach(self, strength: float, chance: float) -> float:
        """What the error exceeds with 1 less this chance, if this is the truth: a gamma distribution has the same three moments."""
        from scipy.special import gammaincinv, ndtri

        spread = self.spread(strength)
        skewness = (8 * self.cubes + 24 * self.slope**2 * strength) / spread**3 if spread > 0 else 0.0
        if skewness < STRAIGHT:
            return spread * float(ndtri(chance))
        shape = 4 / skewness**2
        return spread * (float(gammaincinv(shape, chance)) - shape) / math.sqrt(shape)

    def _root(self, falling: Callable[[float], float]) -> float:
        """Where a falling function is zero; zero if it is not above zero anywhere."""
        if not falling(0.0) > 0:
            return 0.0
        low, high = 0.0, max(self.found, self.spread(0.0))
        while falling(high) > 0:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if falling(middle) > 0 else (low, middle)
        return high


@dataclass(frozen=True)
class Association:
    """The relation of two attributes in the population.

    ``chi_square`` on ``degrees_of_freedom``, its ``p_value`` under independence,
    ``cramers_v`` (0 to 1) and ``mutual_information`` (nats; None with survey weights).
    """

    attributes: tuple[str, str]
    chi_square: float
    degrees_of_freedom: int
    p_value: float
    cramers_v: Measure
    mutual_information: Measure | None

    def __str__(self) -> str:
        information = self.mutual_information
        return "\n".join(
            [
                f"{self.attributes[0]} and {self.attributes[1]}: p = {self.p_value:.3g} if they were independent",
                f"  corrected chi-square {self.chi_square:.4g} on {self.degrees_of_freedom} degrees of freedom",
                f"  Cramer's V {self.cramers_v.value:.4g} ± {self.cramers_v.standard_error:.2g}",
                *(
                    []
                    if information is None
                    else [f"  mutual information {information.value:.4g} ± {information.standard_error:.2g} nats"]
                ),
            ]
        )


def associate(table: Reconstruction) -> Association:
    """The association of the two attributes of a table."""
    pair = _Pair.of(table)
    relation = pair.relation
    return Association(
        attributes=(table.names[0], table.names[1]),
        chi_square=relation.statistic,
        degrees_of_freedom=relation.freedom,
        p_value=relation.p_value,
        cramers_v=pair.cramers_v(),
        mutual_information=None
        if table.weighted
        else replace(_mutual_information(pair.table, pair.independent), _relation=relation),
    )


def cramers_v(table: Reconstruction) -> Measure:
    """Cramer's V of the two attributes of a table."""
    return _Pair.of(table).cramers_v()


@dataclass(frozen=True)
class _Pair:
    """A table of two attributes, its deviations from independence, and their covariance."""

    table: Reconstruction
    independent: Counts
    smaller: int
    d: Counts
    covariance: Counts
    carried: Counts

    @classmethod
    def of(cls, table: Reconstruction) -> _Pair:
        if len(table.names) != 2:
            raise InputError(f"An association is between two attributes; the table has {len(table.names)}.")
        first, second = table.names
        if table.counts.size > LARGEST:
            raise InputError(
                f"The table of {first} and {second} has {table.counts.size:,} cells; associations are computed up to "
                f"{LARGEST:,}. Release with fewer values."
            )
        cells = counted(table).counts.size
        if table.counts.size * cells > LARGEST**2:
            before = "before values are merged" if table.whole.weighing is None else "with the weight"
            raise InputError(
                f"The table of {first} and {second} has {cells:,} cells {before}, too many for an association. Release with fewer "
                "values."
            )
        about = _about_the_population(table)
        n = about.total
        if about.rows < 2 or (not about.weighted and n < 2):
            raise InputError("An association needs at least two rows.")
        if not n > 0:
            raise InputError(
                "The estimated total of the weights is not above zero, so there is no association to be seen."
            )
        shares = []
        for name in table.names:
            single = about.marginal(name)
            shares.append(nearest(single.counts, n, single.possible) / n)
        counts = [int((share > 0).sum()) for share in shares]
        if min(counts) < 2:
            raise InputError(
                f"Only one value of '{table.names[counts.index(min(counts))]}' has a positive estimate in this release, so "
                "nothing can be said about its relation to another attribute; choose another one."
            )
        independent = np.outer(shares[0], shares[1])
        used = (independent > 0) & about.possible
        return cls(about, independent, min(counts) - 1, *_deviations(about, shares[0], shares[1], independent, used))

    @cached_property
    def relation(self) -> Relation:
        """The deviations by the directions in which they can vary."""
        return Relation.of(self.d, self.covariance, self._uncertainty if self.table.weighted else None)

    def _own_variance(self) -> float:
        """The variance of the sum of d^2 in the table as it is: where the relation is strong, or weights differ, C says too little."""
        n, m = self.table.total, self.independent
        shares = self.table.counts / n
        used = m > 0
        apart = np.divide(shares - np.outer(shares.sum(1), shares.sum(0)), m, out=np.zeros(m.shape), where=used)
        inner = 2 * apart + apart**2  # by how much the sum falls as m grows
        rows, columns = m.sum(1), m.sum(0)
        slopes = 2 * apart - (inner @ columns)[:, None] - (rows @ inner)
        return float(self.table.variances_of((slopes - float((slopes * shares).sum()))[None] / n)[0])

    def _uncertainty(self, directions: Counts) -> float:
        people = people_if_independent(self.table, self.independent)
        carried = np.tensordot(directions, self.carried, 1)
        return float(uncertainty(self.table, people, carried).mean())

    def cramers_v(self) -> Measure:
        """V, its error and its limits."""
        scale = 1 / math.sqrt(self.smaller)
        found = float(self.d @ self.d) - float(np.trace(self.covariance))
        strength = Strength.of(found, self.covariance, self._own_variance(), scale)
        least = scale * self.relation.least(float(self.relation.freedom))
        value = min(max(math.sqrt(max(found, 0.0)) * scale, least), 1.0)
        spread = strength.spread(max(found, 0.0))
        # the error of a root: by its slope, or near zero by the root of the error
        error = min(spread / (2 * value * self.smaller) if value else math.inf, math.sqrt(spread / self.smaller))
        return Measure(value, error, 1.0, self.relation, strength)


def _deviations(
    table: Reconstruction, rows: Counts, columns: Counts, independent: Counts, used: NDArray[np.bool_]
) -> tuple[Counts, Counts, Counts]:
    """d of every cell that can occur, its covariance if the attributes were independent, and what a released row adds."""
    n, shape = table.total, table.counts.shape
    shares = table.counts / n
    d = (shares - np.outer(shares.sum(1), shares.sum(0)))[used] / np.sqrt(independent[used])
    i, j = np.nonzero(used)
    weights = np.zeros((len(i), *shape))
    weights[np.arange(len(i)), i, j] = 1.0
    weights[np.arange(len(i)), i, :] -= columns[j][:, None]
    weights[np.arange(len(i)), :, j] -= rows[i][:, None]
    if table.weighted or (table.grouping is not None and not table.grouping.complete):  # the total is not known
        weights += independent[used][:, None, None]
    weights /= (n * np.sqrt(independent[used]))[:, None, None]
    people, channel = people_if_independent(table, independent), counted(table).channel
    weights = lifted(table, weights)
    carried = channel.inverse_transpose(weights)
    flat = carried.reshape(len(i), -1)
    covariance = (flat * channel.forward(people).ravel()) @ flat.T
    if not table.weighted:  # with weights, the value of each function is zero in that table
        values = weights.reshape(len(i), -1) @ channel.collapse(people).ravel()
        covariance -= np.outer(values, values) / table.whole.total
    return d, covariance, carried


def _about_the_population(table: Reconstruction) -> Reconstruction:
    """The unbiased table, its errors about the population."""
    if table.weighing is not None and table.grouping is None:
        larger = _about_the_population(table.weighing.table)
        table = replace(table, weighing=replace(table.weighing, table=larger))
    if table.grouping is None:
        return replace(table, about="population", method="inverse", counts=table.unbiased)
    whole = _about_the_population(table.grouping.table)
    return replace(
        table,
        about="population",
        method="inverse",
        counts=table.unbiased,
        weighing=whole.weighing,
        grouping=replace(table.grouping, table=whole),
    )


def _mutual_information(table: Reconstruction, independent: Counts) -> Measure:
    """The mutual information of the nearest table without negative cells, less its mean under independence.

    The error is the larger of two: over repetitions from the nearest table, and over repetitions under independence.
    """
    draw = np.random.default_rng(0)  # repetitions are a calculation, not a release: the same every time
    channel, rows = table.channel, table.whole.total

    def found(released: Counts) -> float:
        if table.grouping is None:
            return _information(
                channel.collapse(nearest(channel.inverse_whole(released), rows, channel.possible_whole))
            )
        counts = table.grouping.collapse(channel.inverse(released))
        total = rows if table.grouping.complete else max(float(counts.sum()), 1.0)
        return _information(nearest(counts, total, table.possible))

    def repeated(people: Counts) -> NDArray[np.float64]:
        expected = np.maximum(channel.forward(people), 0.0).ravel()
        draws = (draw.multinomial(int(rows), expected / expected.sum()) for _ in range(REPEATS))
        return np.array([found(released.reshape(people.shape).astype(float)) for released in draws])

    noise, around = repeated(people_if_independent(table, independent)), repeated(table.whole.nearest_whole)
    seen = found(table.whole.released)
    return Measure(max(seen - float(noise.mean()), 0.0), max(float(noise.std()), float(around.std())))


def _information(counts: Counts) -> float:
    shares = counts / counts.sum()
    product = np.outer(shares.sum(1), shares.sum(0))
    cells = shares > 0
    return float((shares[cells] * np.log(shares[cells] / product[cells])).sum())
