"""A table that shows its values in groups: some merged, some left out, some attributes summed over.

Let x be the whole table, with every value apart. A cell of the grouped table is ``t_g = sum_{u in g} x_u``. So a linear function
of t is one of x, each weight spread over the cells of its group: values, errors and limits are those of the whole table, for
every method and every block, with and without survey weights. Nothing here computes an error; uncertainty.py does.

Axes are arranged so that those whose values stay apart come first. The cells of one combination of merged groups are then one
function in every group of the first axes, as in a query with GROUP BY.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .._schema import Attribute, Groups
from .linear import Grouped
from .simplex import nearest
from .uncertainty import Reduced

if TYPE_CHECKING:
    from .reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis: the attribute as it is shown, and the group of each value of the whole table; -1 for those left out."""

    attribute: Attribute
    places: NDArray[np.intp]
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, attribute: Attribute, groups: Groups | None) -> Axis:
        """The axis of an attribute whose values are in ``groups``, or stay as they are."""
        if groups is None:
            return cls(attribute, np.arange(attribute.size))
        return cls(groups.attribute, np.array(groups.places, np.intp), groups.merged)

    @property
    def size(self) -> int:
        """How many groups are shown."""
        return self.attribute.size

    @cached_property
    def complete(self) -> bool:
        """Whether no value is left out."""
        return bool((self.places >= 0).all())

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which values are an answer: shown, and not as the missing one."""
        absent = -1 if self.attribute.missing_code is None else self.attribute.missing_code
        return np.asarray((self.places >= 0) & (self.places != absent))

    @cached_property
    def apart(self) -> bool:
        """Whether every value that is shown is shown by itself."""
        return bool(np.bincount(self.places[self.places >= 0]).max(initial=0) == 1)

    @cached_property
    def indicators(self) -> Counts:
        """One row per group: 1 for its values."""
        return np.asarray(self.places == np.arange(self.size)[:, None], float)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The whole ``table``, its ``axes`` by name, and the names that are ``shown``; all others are summed over."""

    table: Reconstruction
    axes: Mapping[str, Axis]
    shown: tuple[str, ...]

    @classmethod
    def of(cls, table: Reconstruction, axes: Mapping[str, Axis], shown: tuple[str, ...]) -> Grouping:
        """The grouping, on the smallest table that has it, with its axes arranged."""
        apart = [name for name in shown if axes[name].apart]
        merged = [name for name in shown if not axes[name].apart]
        summed = [name for name in table.names if name not in shown and not axes[name].complete]
        order = (*apart, *merged, *summed)
        return cls(table if order == table.names else table.marginal(*order), {n: axes[n] for n in order}, shown)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Those that are shown, with the groups as their values."""
        return tuple(self.axes[name].attribute for name in self.shown)

    @property
    def complete(self) -> bool:
        """Whether nobody is left out."""
        return all(axis.complete for axis in self.axes.values())

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is shown."""
        return tuple(self.axes[name].size for name in self.shown)

    @property
    def _apart(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.names if name in self.shown and self.axes[name].apart)

    @cached_property
    def _functions(self) -> list[Grouped]:
        """One function per combination of merged groups, in every group of the values that stay apart."""
        apart = self._apart
        sizes = [len(self.axes[name].places) for name in apart]
        codes = [np.argmax(self.axes[name].indicators, axis=1) for name in apart]
        grid = np.meshgrid(*codes, indexing="ij")
        numbers = np.ravel_multi_index([each.ravel() for each in grid], sizes) if apart else np.zeros(1, np.intp)
        choices: list[list[Counts]] = []
        for place, name in enumerate(self.table.names[len(apart) :], len(apart)):
            rows = (
                self.axes[name].indicators if name in self.shown else (self.axes[name].places >= 0)[None].astype(float)
            )
            shape = [-1 if axis == place else 1 for axis in range(len(self.table.names))]
            choices.append([row.reshape(shape) for row in rows])
        one = np.ones([1] * len(self.table.names))
        return [
            Grouped(self.table.channel, apart, np.asarray(numbers), (math.prod(choice, start=one),))
            for choice in itertools.product(*choices)
        ]

    @cached_property
    def _reduced(self) -> list[Reduced]:
        return [Reduced.of(self.table, function) for function in self._functions]

    def _arranged(self, columns: list[Counts]) -> Counts:
        """One array per function as an array in the shape of what is shown."""
        apart = self._apart
        order = [*apart, *(name for name in self.table.names if name in self.shown and name not in apart)]
        whole = np.stack(columns, axis=-1).reshape([self.axes[name].size for name in order])
        return np.transpose(whole, [order.index(name) for name in self.shown])

    def values(self, people: Counts) -> Counts:
        """How many of the ``people`` of the whole table are in each cell."""
        return self._arranged([function.values(people) for function in self._functions])

    def _of_cells(self, of: Callable[[Reduced], Counts]) -> Counts:
        return self._arranged([of(reduced) for reduced in self._reduced])

    @cached_property
    def errors(self) -> Counts:
        """The standard error of each cell."""
        return np.where(self.possible, self._of_cells(lambda reduced: reduced.errors), 0.0)

    @cached_property
    def predicted(self) -> NDArray[np.bool_]:
        """Where the error of a cell had to be predicted."""
        return (self._of_cells(lambda reduced: reduced.predicted.astype(float)) > 0) & self.possible

    @cached_property
    def plug_in(self) -> Counts:
        """The estimated variance of each cell, before any fallback."""
        return self._of_cells(lambda reduced: reduced.plug_in)

    def limits(self, level: float) -> tuple[Counts, Counts]:
        """Limits of each cell around its unbiased value."""
        found = [reduced.limits(level) for reduced in self._reduced]
        low, high = (self._arranged([limits[end] for limits in found]) for end in (0, 1))
        return np.where(self.possible, low, 0.0), np.where(self.possible, high, 0.0)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells can occur at all."""
        return self.collapse(self.table.possible.astype(float)) > 0

    def collapse(self, counts: Counts) -> Counts:
        """Counts of the whole table, added up in the cells shown."""
        for place, name in enumerate(self.table.names):
            axis = self.axes[name]
            rows = axis.indicators if name in self.shown else (axis.places >= 0)[None].astype(float)
            counts = np.moveaxis(np.tensordot(rows, counts, (1, place)), 0, place)
        order = [name for name in self.table.names if name in self.shown]
        summed = counts.reshape([self.axes[name].size for name in order])
        return np.transpose(summed, [order.index(name) for name in self.shown])

    def spread(self, weights: Counts) -> Counts:
        """Weights of the cells shown, as weights of the whole table; any leading axes are a batch."""
        batch = weights.ndim - len(self.shown)
        order = [self.shown.index(name) for name in self.table.names if name in self.shown]
        result = np.transpose(weights, [*range(batch), *(batch + place for place in order)])
        for place, name in enumerate(self.table.names, batch):
            places = self.axes[name].places
            if name not in self.shown:
                result = np.expand_dims(result, place)
                places = np.where(places < 0, places, 0)
            result = np.take(result, np.maximum(places, 0), axis=place)
            if not self.axes[name].complete:
                result = result * (places >= 0).reshape([-1 if axis == place else 1 for axis in range(result.ndim)])
        return np.ascontiguousarray(result, float)

    def shared_out(self, people: Counts) -> Counts:
        """A table of everybody in which ``people`` are those in the cells shown, which are no estimate of their own.

        The people of a merged group are shared out among its values as these are estimated in the nearest table without
        negative cells; who is left out is where that table has them.
        """
        near = (
            self.table.channel.collapse(self.table.nearest_whole)
            if self.table.weighing is None
            else nearest(self.table.unbiased, self.table.total, self.table.possible)
        )
        inside = self.spread(people)
        for place, name in enumerate(self.table.names):
            alone = near.sum(tuple(other for other in range(near.ndim) if other != place))
            axis = self.axes[name]
            for members in axis.indicators > 0 if name in self.shown else [axis.places >= 0]:
                size = float(alone[members].sum())
                alone[members] = alone[members] / size if size > 0 else 1 / members.sum()
            inside = inside * alone.reshape([-1 if other == place else 1 for other in range(near.ndim)])
        outside = np.where(self.spread(np.ones(self.shape)) > 0, 0.0, near)
        left = max(self.table.total - float(people.sum()), 0.0)
        if outside.sum() > 0:
            outside *= left / outside.sum()
        return np.asarray(inside + outside)
