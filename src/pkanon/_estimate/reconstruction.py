"""One cross-tabulation, reconstructed: counts, standard errors, intervals, linear functions (docs/why/theory.md 7).

Errors can be about two things, and every result says which:

    table        the people who are in the release; chance is the randomisation alone
    population   the population they are a random sample of; sampling error is added

Errors and intervals are those of variance.py and interval.py, for cells as for every other number (uncertainty.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._blocks import Block, Counts
from .._errors import InputError, did_you_mean
from .._progress import Progress, quiet
from .._schema import Attribute, Codes, Groups, Schema
from .channel import Channel
from .interval import function_limits, holding, normal_quantile
from .linear import Listed, cells
from .method import Convergence
from .methods import METHODS
from .model import NAME as MODEL
from .model import model_of
from .shares import Shares, shares
from .simplex import nearest
from .source import Kept, Source
from .stored import number_of_rows
from .tabulate import check_size, tabulate_codes
from .variance import covariance, estimated_variances, variances

if TYPE_CHECKING:
    from .grouping import Grouping
    from .quantity import Quantity
    from .uncertainty import Single
    from .weighing import Weighing

About: TypeAlias = Literal["table", "population"]

ABOUT: dict[str, str] = {
    "table": "the people in this table",
    "population": "the population they were sampled from",
}
KINDS = ("each", "average")
"""What an interval holds for: each cell, or on average over cells."""
MOST_LEVELS = 8
"""Levels whose limits are kept: a test asks for many in turn."""


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction:
    """Estimated counts, one axis per attribute.

    ``released`` are the raw counts (with the axes that a matrix block adds), ``squares`` the same with squared
    survey weights, ``rows`` how many rows were counted, ``source`` those rows, ``notes`` how the method
    found the table. ``weighing`` is there if a randomised attribute is the weight, ``grouping`` if values are merged or
    left out. Then ``channel`` is that of the whole table, and ``released`` and ``squares`` are added up in the groups.
    """

    attributes: tuple[Attribute, ...]
    method: str
    about: About
    rows: int
    counts: Counts
    channel: Channel
    released: Counts
    squares: Counts
    source: Source
    convergence: Convergence | None = None
    weighing: Weighing | None = None
    grouping: Grouping | None = None
    notes: tuple[str, ...] = ()

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
        weights: NDArray[np.float64] | tuple[str, Counts] | None = None,
        groups: Mapping[str, Groups] | None = None,
        kept: Kept | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """The cross-tabulation of ``names`` from released ``codes``; :meth:`Release.crosstab` calls it.

        Parameters
        ----------
        schema, blocks
            Those of the plan.
        codes
            One array per randomised attribute.
        names
            The attributes of the table, in the order of its axes.
        method, about, progress
            As in :meth:`Release.crosstab`.
        weights
            A survey weight per row; or a randomised attribute that is one, and the number of each of its values. None: every
            row counts once.
        groups
            Values that are shown as one or left out, by attribute.
        kept
            What methods computed from these rows for other tables, and add to.
        """
        more: dict[str, Any] = {"method": method, "about": about, "kept": kept, "progress": progress}
        if groups:
            # in the order in which the axes will be arranged, so that nothing is turned around
            order = sorted(names, key=lambda name: name in groups and not groups[name].apart)
            apart = cls.of(schema, blocks, codes, order, weights=weights, **more)
            return apart._in_groups(groups, tuple(names))
        if isinstance(weights, tuple):
            from .weighing import Weighing

            name, numbers = weights
            if name in names:
                raise InputError(f"'{name}' is the weight; it cannot be an attribute of the table too.")
            whole = cls.of(schema, blocks, codes, (*names, name), **more)
            return cls._weighed(Weighing(whole, numbers))
        if method not in METHODS:
            raise InputError(f"There is no method '{method}'. {did_you_mean(str(method), list(METHODS))}")
        if about not in ABOUT:
            raise InputError(f"Errors can be about the 'table' or the 'population', not '{about}'.")
        channel = Channel(blocks, names)
        check_size(channel.sizes)
        channel.check_invertible()
        released = tabulate_codes(codes, channel.sizes, weights=weights)
        squares = released if weights is None else tabulate_codes(codes, channel.sizes, weights=weights**2)
        source = Source(schema, tuple(blocks), codes, weights, kept={} if kept is None else kept)
        made = METHODS[method].fit(channel, released, source, progress)
        return cls(
            attributes=tuple(schema.attribute(name) for name in names),
            method=method,
            about=cast(About, about),
            rows=number_of_rows(codes),
            counts=made.counts,
            channel=channel,
            released=released,
            squares=squares,
            source=source,
            convergence=made.convergence,
            notes=made.notes,
        )

    @classmethod
    def _weighed(cls, weighing: Weighing) -> Self:
        """The table of all attributes but the weight, every person counted by it."""
        whole = weighing.table
        names = whole.names[:-1]
        channel = Channel(whole.channel.blocks, names)
        numbers = weighing.along(whole.released)
        axes = list(whole.channel.sizes), list(channel.sizes)
        released, squares = (_marginal_of(whole.released * numbers**power, *axes) for power in (1, 2))
        return cls(
            attributes=whole.attributes[:-1],
            method=whole.method,
            about=whole.about,
            rows=whole.rows,
            counts=weighing.summed(whole.counts),
            channel=channel,
            released=released,
            squares=squares,
            source=whole.source,
            convergence=whole.convergence,
            weighing=weighing,
            notes=whole.notes,
        )

    def _in_groups(self, groups: Mapping[str, Groups], shown: tuple[str, ...] | None = None) -> Self:
        """The same people with some values shown as one or left out, by attribute; ``shown`` is the order of the axes."""
        from .grouping import Axis, Grouping

        axes = {attribute.name: Axis.of(attribute, groups.get(attribute.name)) for attribute in self.attributes}
        return self._shown(Grouping.of(self, axes, shown or self.names))

    def _shown(self, grouping: Grouping) -> Self:
        """The table that a grouping shows."""
        whole = grouping.table
        released = grouping.collapse(whole.channel.collapse(whole.released))
        return replace(
            self,
            attributes=grouping.attributes,
            counts=grouping.values(whole.counts),
            channel=whole.channel,
            released=released,
            squares=grouping.collapse(whole.channel.collapse(whole.squares)) if whole.weighted else released,
            weighing=whole.weighing,
            grouping=grouping,
        )

    @property
    def whole(self) -> Reconstruction:
        """The table with every value apart: the one that was estimated."""
        return self if self.grouping is None else self.grouping.table

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes of the table, in the order of its axes."""
        return self.channel.names if self.grouping is None else self.grouping.shown

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells can occur at all: forbidden combinations cannot."""
        return self.channel.possible if self.grouping is None else self.grouping.possible

    @property
    def released_counts(self) -> Counts:
        """How many released rows are in each cell."""
        return self.channel.collapse(self.released) if self.grouping is None else self.released

    @property
    def weighted(self) -> bool:
        """Whether rows count by a survey weight."""
        return self.squares is not self.released

    @property
    def confined(self) -> bool:
        """Whether the method keeps its table, and so all intervals, within the possible range."""
        return not METHODS[self.method].unbiased

    @cached_property
    def total(self) -> float:
        """How many people (or which total of weights) there are; estimated if the weight is randomised or some are left out."""
        if self.grouping is not None:
            return self.whole.total if self.grouping.complete else float(self.counts.sum())
        return float(self.released.sum() if self.weighing is None else self.counts.sum())

    @cached_property
    def unbiased(self) -> Counts:
        """The estimate by the inverse, whatever the method."""
        if self.grouping is not None:
            return self.grouping.values(self.whole.unbiased) if self.confined else self.counts
        if self.weighing is not None:
            return self.weighing.summed(self.weighing.table.unbiased)
        return self.channel.inverse(self.released) if self.confined else self.counts

    @cached_property
    def unbiased_squares(self) -> Counts:
        """The estimate by the inverse of squared survey weights; of people if there are none."""
        if self.weighing is not None:
            return self.weighing.summed(self.weighing.table.unbiased, power=2)
        return self.channel.inverse(self.squares) if self.weighted else self.unbiased

    @cached_property
    def nearest_whole(self) -> Counts:
        """A table without negative cells, extra axes included."""
        whole = self.channel.inverse_whole(self.released) if self.channel.extra else self.unbiased
        return nearest(whole, self.total, self.channel.possible_whole)

    @cached_property
    def expected(self) -> Counts:
        """What is expected to be released if the nearest table were the truth."""
        return self.channel.forward(self.nearest_whole)

    @cached_property
    def evenly(self) -> Counts:
        """One person, spread evenly over what is possible, extra axes included."""
        possible = self.channel.possible_whole
        return possible / max(int(possible.sum()), 1)

    @property
    def sample_factor(self) -> float:
        """n/(n - 1): the variance of a sample is estimated without bias."""
        return self.rows / (self.rows - 1) if self.rows > 1 else 1.0

    @cached_property
    def _variances(self) -> tuple[Counts, NDArray[np.bool_]]:
        if self.grouping is not None:
            return self.grouping.errors**2, self.grouping.predicted
        found, predicted = variances(self, cells(self.channel))
        possible = self.channel.possible
        shape = self.counts.shape
        return np.where(possible, found.reshape(shape), 0.0), predicted.reshape(shape) & possible

    @cached_property
    def plug_in(self) -> Counts:
        """The estimated variance of each cell, before any fallback."""
        if self.grouping is not None:
            return self.grouping.plug_in
        return estimated_variances(self, cells(self.channel))[0].reshape(self.counts.shape)

    @property
    def fallback(self) -> NDArray[np.bool_]:
        """Where the variance could not be estimated and the predicted one is used."""
        return self._variances[1]

    @cached_property
    def standard_errors(self) -> Counts:
        """The standard error of each cell; of the unbiased estimate, whatever the method."""
        if self.grouping is not None:
            return self.grouping.errors
        return np.sqrt(self._variances[0])

    def interval(self, level: float = 0.95, kind: str = "each") -> tuple[Counts, Counts]:
        """(low, high) of each cell; with the ``kind`` "average", limits that hold on average over cells, of ``model`` alone.

        For ``em``, ``simplex`` and ``model``: the interval of the unbiased estimate after that was moved into what is possible
        (0 to the total), cut off there and widened where needed to hold the estimate. It covers at least as often.
        """
        if kind not in KINDS:
            raise InputError(f"An interval holds for 'each' cell or on 'average' over cells, not '{kind}'.")
        if kind == "average":
            return self._average_interval(level)
        low, high = self.cell_limits(level)
        return holding(low, high, self.counts) if self.confined else (low.copy(), high.copy())

    def _average_interval(self, level: float) -> tuple[Counts, Counts]:
        """Limits on average over cells, extended to whole people and to hold the estimate; where there are none, those of each cell."""
        normal_quantile(level)
        if self.method != MODEL:
            raise InputError("Intervals on average over cells come with the method 'model' alone.")
        if self.without_average is not None:
            return self.interval(level)
        found = model_of(self.source).average_limits(self.names, level)
        assert found is not None
        low, high = (self.total * limit for limit in found)
        if not self.weighted:
            low, high = np.floor(low), np.ceil(high)
        low, high = (np.where(self.possible, np.clip(limit, 0.0, self.total), 0.0) for limit in (low, high))
        return holding(low, high, self.counts)

    @cached_property
    def without_average(self) -> str | None:
        """Why the intervals on average over cells are those of each cell, a sentence; None if there are others."""
        if self.method != MODEL:
            return None
        reason = None
        if self.grouping is not None or self.weighing is not None:
            reason = "the table is merged or weighted by a randomised attribute"
        elif self.about == "population":
            reason = "they are about the people in the table, not the population"
        else:
            reason = model_of(self.source).without_average(self.names)
        return None if reason is None else f"no narrower interval on average over cells is given: {reason}."

    @cached_property
    def differs(self) -> NDArray[np.bool_]:
        """Where the model and the unbiased estimate are further apart than noise explains; nowhere for other methods."""
        if self.method != MODEL or self.grouping is not None or self.weighing is not None:
            return np.zeros(self.counts.shape, bool)
        return model_of(self.source).differs(self.names)

    @cached_property
    def _limits(self) -> dict[float, tuple[Counts, Counts]]:
        """Limits that were computed before."""
        return {}

    def cell_limits(self, level: float) -> tuple[Counts, Counts]:
        """Limits of each cell at ``level`` around the unbiased estimate, before they are widened to hold the estimate."""
        if level not in self._limits:
            low, high = self._new_limits(level)
            while len(self._limits) >= MOST_LEVELS:
                self._limits.pop(next(iter(self._limits)))
            self._limits[level] = low, high
        return self._limits[level]

    def _new_limits(self, level: float) -> tuple[Counts, Counts]:
        if self.grouping is not None:
            return self.grouping.limits(level)
        limits = function_limits(self, cells(self.channel), self.standard_errors.ravel(), level)
        low, high = (np.where(self.channel.possible, limit.reshape(self.counts.shape), 0.0) for limit in limits)
        return low, high

    def near_zero(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Where the interval holds zero: nobody may be there."""
        return (self.interval(level)[0] <= 0) & self.possible

    def linear(self, weights: ArrayLike) -> Quantity:
        """``sum weights * counts`` with its standard error; ``weights`` has the shape of the table."""
        try:
            array = np.broadcast_to(np.asarray(weights, float), self.counts.shape)
        except ValueError:
            raise InputError(f"Weights must be numbers in the shape of the table, {self.counts.shape}.") from None
        if not np.isfinite(array).all():
            raise InputError("Weights must be finite numbers.")
        if self.grouping is not None:
            return self.whole.linear(self.grouping.spread(array))
        from .quantity import Quantity

        return Quantity(self._basis, self._basis.function(array))

    @cached_property
    def _basis(self) -> Single:
        from .uncertainty import Single

        return Single.of(self)

    def variances_of(self, weights: Counts) -> Counts:
        """The variances of several linear functions, one per entry of the first axis of ``weights``; never negative."""
        if self.grouping is not None:
            return self.whole.variances_of(self.grouping.spread(weights))
        return variances(self, Listed(self.channel, weights))[0]

    def covariance(self, weights: Counts) -> Counts:
        """The covariance matrix of several linear functions, one per entry of the first axis of ``weights``.

        It may be indefinite.
        """
        if self.grouping is not None:
            return self.whole.covariance(self.grouping.spread(weights))
        return covariance(self, weights)

    def shares(self, given: Sequence[str] = (), level: float = 0.95) -> Shares:
        """Each cell's share of the people with the same values of ``given``; of all people if none is named."""
        given = as_names(given)
        for name in given:
            if name not in self.names:
                raise InputError(f"The table has no attribute '{name}'. {did_you_mean(name, self.names)}")
        return shares(self, given, level)

    def marginal(self, *names: str) -> Self:
        """The table of the attributes ``names``, added up over the others."""
        if names not in self._marginals:
            self._marginals[names] = self._marginal(names)
        return self._marginals[names]

    def same_release(self, other: Reconstruction) -> bool:
        """Whether this table and the ``other`` were counted from the same released rows."""
        return self.source.same_rows(other.source)

    def same_weights(self, other: Reconstruction) -> bool:
        """Whether every row counts as much in this table as in the ``other``."""
        return self.source.same_weights(other.source)

    def joint_sizes(self, names: Sequence[str]) -> list[int]:
        """The length of each axis that is counted for the table of ``names``."""
        return list(Channel(self.source.blocks, names).sizes.values())

    def with_names(self, names: Sequence[str]) -> Reconstruction:
        """The unbiased table of the attributes ``names`` of the release, counted from the same rows."""
        key = tuple(names), self.about
        if key not in self.source.tables:
            source = self.source
            made = Reconstruction.of(
                source.schema, source.blocks, source.codes, names, about=self.about, weights=source.weights
            )
            source.remember(key, replace(made, source=source))
        return cast(Reconstruction, self.source.tables[key])

    @cached_property
    def _marginals(self) -> dict[tuple[str, ...], Self]:
        """Smaller tables that were asked for before."""
        return {}

    def _marginal(self, names: tuple[str, ...]) -> Self:
        if self.grouping is not None:  # who was left out stays out
            from .grouping import Grouping

            if not names or len(set(names)) != len(names) or not set(names) <= set(self.names):
                raise InputError(f"A smaller table names some of {', '.join(self.names)}, each once.")
            return self._shown(Grouping.of(self.whole, self.grouping.axes, names))
        if self.weighing is not None:
            from .weighing import Weighing

            larger = self.weighing.table.marginal(*names, self.weighing.attribute.name)
            return self._weighed(Weighing(larger, self.weighing.numbers))
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
            source=self.source,
            convergence=self.convergence,
            notes=self.notes,
        )


def as_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of attributes; a single one need not be in a list."""
    return (names,) if isinstance(names, str) else tuple(names)


def _marginal_of(counts: Counts, names: list[str], kept: list[str]) -> Counts:
    summed = counts.sum(tuple(axis for axis, name in enumerate(names) if name not in kept))
    order = [name for name in names if name in kept]
    return np.transpose(summed, [order.index(name) for name in kept])
