"""One cross-tabulation, reconstructed: counts, standard errors, intervals, linear functions (docs/theory.md 7).

Errors can be about two things, and every result says which:

    table        the people who are in the release; chance is the randomisation alone
    population   the population they are a random sample of; sampling error is added

With y the released counts, B the inverse of the transition matrix and w a weight per cell, the estimate
is ``sum w x_hat``, x_hat = B^T y, and its variance is estimated without bias by

    table        sum_v y_v (B w)_v^2 - sum_u x_hat_u w_u^2
    population   n/(n - 1) (sum_v y_v (B w)_v^2 - (sum w x_hat)^2 / n)

With survey weights y counts weights, and squared weights take its place in the first sums. The first
formula can fall below zero in sparse tables; a cell then has the variance that was predicted before any
data existed, and is flagged. A linear function then has the variance it would have in the nearest table
without negative cells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._blocks import Block, Counts
from .._errors import InputError, did_you_mean
from .._progress import Progress, quiet
from .._schema import Attribute, Codes, Schema
from .channel import Channel
from .em import Convergence, maximum_likelihood
from .interval import Moments, honest, ratio, wald
from .quantity import Quantity
from .simplex import nearest
from .tabulate import check_size, tabulate

Method: TypeAlias = Literal["inverse", "simplex", "em"]
About: TypeAlias = Literal["table", "population"]

METHODS: dict[str, str] = {
    "inverse": "unbiased; cells may be negative",
    "simplex": "the nearest table without negative cells",
    "em": "the most likely table",
}
ROUNDING = 1e-12
"""A variance is a difference of two sums; below this share of them it is rounding."""
ABOUT: dict[str, str] = {
    "table": "the people in this table",
    "population": "the population they were sampled from",
}


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Estimated counts, one axis per attribute.

    ``released`` are the raw counts (with the axes that a matrix block adds), ``squares`` the same with squared
    survey weights, ``rows`` how many rows were counted.
    """

    attributes: tuple[Attribute, ...]
    method: Method
    about: About
    rows: int
    counts: Counts = field(repr=False)
    channel: Channel = field(repr=False)
    released: Counts = field(repr=False)
    squares: Counts = field(repr=False)
    convergence: Convergence | None = None

    @classmethod
    def of(
        cls,
        schema: Schema,
        blocks: Sequence[Block],
        codes: Mapping[str, Codes],
        names: Sequence[str],
        *,
        method: str = "inverse",
        about: str = "table",
        weights: NDArray[np.float64] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """The cross-tabulation of ``names`` from released ``codes``."""
        if method not in METHODS:
            raise InputError(f"There is no method '{method}'. {did_you_mean(str(method), list(METHODS))}")
        if about not in ABOUT:
            raise InputError(f"Errors can be about the 'table' or the 'population', not '{about}'.")
        channel = Channel(blocks, names)
        check_size(channel.sizes)
        channel.check_invertible()
        columns = [codes[name] for name in channel.sizes]
        released = tabulate(columns, list(channel.sizes.values()), weights=weights)
        squares = released if weights is None else tabulate(columns, list(channel.sizes.values()), weights=weights**2)
        convergence = None
        if method == "inverse":
            counts = channel.inverse(released)
        elif method == "simplex":
            counts = nearest(channel.inverse(released), float(released.sum()), channel.possible)
        else:
            whole, convergence = maximum_likelihood(channel, released, progress=progress)
            counts = channel.collapse(whole)
        return cls(
            attributes=tuple(schema.attribute(name) for name in names),
            method=cast(Method, method),
            about=cast(About, about),
            rows=len(columns[0]),
            counts=counts,
            channel=channel,
            released=released,
            squares=squares,
            convergence=convergence,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes of the table, in the order of its axes."""
        return self.channel.names

    @property
    def weighted(self) -> bool:
        """Whether rows count by a survey weight."""
        return self.squares is not self.released

    @cached_property
    def total(self) -> float:
        """How many people (or which total of weights) there are."""
        return float(self.released.sum())

    @cached_property
    def unbiased(self) -> Counts:
        """The estimate by the inverse, whatever the method."""
        return self.counts if self.method == "inverse" else self.channel.inverse(self.released)

    @cached_property
    def _unbiased_squares(self) -> Counts:
        return self.channel.inverse(self.squares) if self.weighted else self.unbiased

    @cached_property
    def nearest_whole(self) -> Counts:
        """A table without negative cells, extra axes included."""
        whole = self.channel.inverse_whole(self.released) if self.channel.extra else self.unbiased
        return nearest(whole, self.total, self.channel.possible_whole)

    @cached_property
    def _plug_in(self) -> Counts:
        """The estimated variance of each cell, before the fallback."""
        return self._covered(self.names, self.names, self.unbiased, self.unbiased)

    def _covered(self, first: Collection[str], second: Collection[str], a: Counts, b: Counts) -> Counts:
        """Per cell the covariance of the estimates ``a`` and ``b`` of the marginals ``first`` and ``second``.

        The marginal of ``first`` must include that of ``second``.
        """
        products = self.channel.product_inverse(self.squares, first, second)
        if self.about == "population":
            return self._unsampled * (products - a * b / max(self.rows, 1))
        return products - self._marginal(self._unbiased_squares, first)

    @property
    def _unsampled(self) -> float:
        return self.rows / (self.rows - 1) if self.rows > 1 else 1.0

    def _marginal(self, counts: Counts, names: Collection[str]) -> Counts:
        """Summed over the other axes, which stay with length 1."""
        summed = tuple(axis for axis, name in enumerate(self.names) if name not in names)
        return counts.sum(summed, keepdims=True) if summed else counts

    @cached_property
    def predicted_error(self) -> float:
        """The root mean squared error of a cell, as predicted from the plan."""
        cells = max(int(self.channel.possible.sum()), 1)
        total = float(self.squares.sum())
        # a cell that was not seen in a sample could have had one person
        sampling = total / max(self.rows, 1) if self.about == "population" else 0.0
        return math.sqrt(max(total * (self.channel.error_factor - 1) / cells, 0.0) + sampling)

    @cached_property
    def fallback(self) -> NDArray[np.bool_]:
        """Where the variance could not be estimated and the predicted one is used."""
        return (self._plug_in <= 0) & self.channel.possible & (self.predicted_error > 0)

    @cached_property
    def standard_errors(self) -> Counts:
        """The standard error of each cell; of the unbiased estimate, whatever the method."""
        errors = np.sqrt(np.maximum(self._plug_in, 0.0))
        errors[self.fallback] = self.predicted_error
        errors[~self.channel.possible] = 0.0
        return errors

    def interval(self, level: float = 0.95) -> tuple[Counts, Counts]:
        """(low, high) of each cell.

        For ``em`` and ``simplex``: the interval of the unbiased estimate after that was moved into what is possible
        (0 to the total), cut off there and widened where needed to hold the estimate. It covers at least as often.
        """
        low, high = self._limits_of(level, possible=self.method != "inverse")
        if self.method != "inverse":
            low = np.minimum(np.clip(low, 0.0, self.total), self.counts)
            high = np.maximum(np.clip(high, 0.0, self.total), self.counts)
        return low.copy(), high.copy()

    @cached_property
    def _limits(self) -> dict[tuple[float, bool], tuple[Counts, Counts]]:
        """Limits that were computed before."""
        return {}

    def _limits_of(self, level: float, *, possible: bool = False) -> tuple[Counts, Counts]:
        """Limits around the unbiased estimate, or around the nearest possible value of it."""
        if (level, possible) not in self._limits:
            centre = np.clip(self.unbiased, 0.0, self.total) if possible else self.unbiased
            self._limits[level, possible] = self._limits_around(centre, level)
        return self._limits[level, possible]

    def _limits_around(self, centre: Counts, level: float) -> tuple[Counts, Counts]:
        if self.weighted or self.total == 0:
            return wald(centre, self.standard_errors, level)
        reference = self.channel.collapse(self.nearest_whole)
        low, high = honest(centre, self.standard_errors, reference, self._moments(reference), level)
        for limit in (low, high):
            limit[~self.channel.possible] = 0.0
        return low, high

    def _moments(self, reference: Counts) -> Moments:
        expected = self.channel.forward(self.nearest_whole)
        elsewhere = np.maximum(self.total - reference, 1.0)
        shape, names = self.counts.shape, self.names
        own = [np.broadcast_to(self.channel.own_moment(power), shape) for power in (2, 3)]
        others = [
            (self.channel.product_inverse(expected, *[names] * power) - own[power - 2] * reference) / elsewhere
            for power in (2, 3)
        ]
        return Moments(
            step=np.broadcast_to(self.channel.step, shape),
            expected=self.channel.collapse(expected),
            others_2=np.maximum(others[0], 0.0),
            others_3=others[1],
            own_2=own[0],
            own_3=own[1],
            total=self.total,
            sampled=self.about == "population",
        )

    def near_zero(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Where the interval holds zero: nobody may be there."""
        return (self.interval(level)[0] <= 0) & self.channel.possible

    def linear(self, weights: ArrayLike) -> Quantity:
        """``sum weights * counts`` with its standard error; ``weights`` has the shape of the table."""
        try:
            array = np.broadcast_to(np.asarray(weights, float), self.counts.shape)
        except ValueError:
            raise InputError(f"Weights must be numbers in the shape of the table, {self.counts.shape}.") from None
        if not np.isfinite(array).all():
            raise InputError("Weights must be finite numbers.")
        value, unbiased = (float((array * counts).sum()) for counts in (self.counts, self.unbiased))
        return Quantity(value, unbiased, array, self.variance_of)

    def variance_of(self, weights: Counts) -> float:
        """The variance of a linear function; never negative."""
        carried = self.channel.inverse_transpose(weights[None])[0]
        products = float((self.squares * carried**2).sum())
        if self.about == "population":
            known = float((weights * self.unbiased).sum()) ** 2 / max(self.rows, 1)
        else:
            known = float((weights**2 * self._unbiased_squares).sum())
        variance = products - known
        # where all rows say the same, the sums themselves are rounding, of numbers as large as the weights
        least = ROUNDING**2 * float(np.abs(weights).max(initial=0.0)) ** 2 * float(self.squares.sum())
        if variance > max(ROUNDING * products, least):
            return self._unsampled * variance if self.about == "population" else variance
        return self._variance_nearby(weights, carried)

    def variances_of(self, weights: Counts) -> Counts:
        """The variances of several linear functions, one per entry of the first axis."""
        return np.array([self.variance_of(one) for one in weights])

    def covariance(self, weights: Counts) -> Counts:
        """The covariance matrix of several linear functions, one per entry of the first axis; may be indefinite."""
        carried = self.channel.inverse_transpose(weights).reshape(len(weights), -1)
        flat = weights.reshape(len(weights), -1)
        products = (carried * self.squares.ravel()) @ carried.T
        if self.about == "population":
            values = flat @ self.unbiased.ravel()
            return np.asarray(self._unsampled * (products - np.outer(values, values) / max(self.rows, 1)))
        return np.asarray(products - (flat * self._unbiased_squares.ravel()) @ flat.T)

    def _variance_nearby(self, weights: Counts, carried: Counts) -> float:
        """The exact variance if the nearest table without negative cells were the truth."""
        people = self.nearest_whole
        products = float((self.channel.forward(people) * carried**2).sum())
        near = self.channel.collapse(people)
        if self.about == "population":
            known = float((weights * near).sum()) ** 2 / self.total if self.total else 0.0
        else:
            known = float((weights**2 * near).sum())
        mean_weight = float(self.squares.sum()) / self.total if self.total else 0.0
        return mean_weight * (products - known) if products - known > ROUNDING * products else 0.0

    def shares(self, given: Sequence[str] = (), level: float = 0.95) -> Shares:
        """Each cell's share of the people with the same values of ``given``; of all people if none is named."""
        given = as_names(given)
        for name in given:
            if name not in self.names:
                raise InputError(f"The table has no attribute '{name}'. {did_you_mean(name, self.names)}")
        if not given and not (self.weighted and self.about == "population"):
            # the number of people is known
            scale = 1 / self.total if self.total else math.nan
            low, high = (limit * scale for limit in self.interval(level))
            return Shares(self.counts * scale, self.standard_errors * abs(scale), low, high, np.ones(low.shape, bool))
        below, exact = self._marginal(self.counts, given), self._marginal(self.unbiased, given)
        possible = self.method != "inverse"
        limits = self._limits_of(level, possible=possible)
        common = self._covered(self.names, given, self.unbiased, exact)
        if given:
            group = self.marginal(*(name for name in self.names if name in given))
            spread = group.standard_errors.reshape(below.shape)
            low, high = (limit.reshape(below.shape) for limit in group._limits_of(level, possible=possible))
        else:
            spread = np.sqrt(np.maximum(self._covered((), (), exact, exact), 0.0))
            low, high = wald(exact, spread, level)
        group_limits = (low, high)
        errors = self.standard_errors
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(below != 0, self.counts / below, np.nan)
            variance = errors**2 - 2 * share * common + share**2 * spread**2
            share_error = np.sqrt(np.maximum(variance, 0.0)) / np.abs(below)
            correlation = np.clip(np.nan_to_num(common / (errors * spread)), -1.0, 1.0)
        above, beneath = self.unbiased, np.broadcast_to(exact, errors.shape)
        if possible:
            above, beneath = (np.clip(centre, 0.0, self.total) for centre in (above, beneath))
        low, high, bounded = ratio(above, limits, beneath, group_limits, correlation)
        low, high = np.where(bounded, low, 0.0), np.where(bounded, high, 1.0)
        if self.method != "inverse":
            low, high = np.fmin(np.clip(low, 0.0, 1.0), share), np.fmax(np.clip(high, 0.0, 1.0), share)
        impossible = ~self.channel.possible
        low[impossible], high[impossible], share_error[impossible] = 0.0, 0.0, 0.0
        return Shares(share, share_error, low, high, bounded | impossible)

    def marginal(self, *names: str) -> Self:
        """The table of some of its attributes, added up over the others."""
        channel = Channel(self.channel.blocks, names)
        whole = list(self.channel.sizes)
        released, squares = (_marginal_of(y, whole, list(channel.sizes)) for y in (self.released, self.squares))
        return type(self)(
            attributes=tuple(self.attributes[self.names.index(name)] for name in names),
            method=self.method,
            about=self.about,
            rows=self.rows,
            counts=_marginal_of(self.counts, list(self.names), list(names)),
            channel=channel,
            released=released,
            squares=squares if self.weighted else released,
            convergence=self.convergence,
        )


@dataclass(frozen=True)
class Shares:
    """Shares of the people, or of a group of them, per cell; ``bounded`` where the group's size is certain enough."""

    shares: Counts
    standard_errors: Counts
    low: Counts
    high: Counts
    bounded: NDArray[np.bool_]


def as_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of attributes; a single one need not be in a list."""
    return (names,) if isinstance(names, str) else tuple(names)


def _marginal_of(counts: Counts, names: list[str], kept: list[str]) -> Counts:
    summed = counts.sum(tuple(axis for axis, name in enumerate(names) if name not in kept))
    order = [name for name in names if name in kept]
    return np.transpose(summed, [order.index(name) for name in kept])
