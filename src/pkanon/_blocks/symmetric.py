"""What a value-symmetric mechanism does to a table (docs/why/theory.md 7): splitting, scaling, joining.

Along the axes that one unit has in a table, let w be the share of the unit's values on each cell and
Q = 1 w^T. Then A is the sum over sets T of units of ``lam_T`` times (I - Q on the units in T, Q on the
others), and any function of A is the same with other numbers in the place of lam_T. So every unit is split
into its total and its residuals (which sum to zero, so that one of them, the pivot, makes room for the
total), entries are scaled by the number of the set of units in which they are residuals, and joined again.

Multiplied out, the same matrix is a sum over sets S of ``c_S`` times (I on S, Q elsewhere), with
``c_S = sum over T with S inside of (-1)^|T - S| lam_T``; its entries depend on which units agree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import PlanError
from .._schema import Unit
from .base import Axes, Counts

Numbers = NDArray[np.float64]
"""One number per set of units of the block, by mask."""


@dataclass(frozen=True)
class Present:
    """A unit as far as a table shows it: its bit, its axes, and w along them (one number where all shares are equal)."""

    bit: int
    unit: Unit
    names: tuple[str, ...]
    axes: tuple[int, ...]
    shares: Counts

    @classmethod
    def of(cls, bit: int, unit: Unit, axes: Axes, dimensions: int, names: Collection[str]) -> Present:
        inside = tuple(sorted((name for name in unit.attributes if name in names), key=lambda name: axes[name]))
        shape = [1] * dimensions
        sizes = [unit.sizes[unit.attributes.index(name)] for name in inside]
        if unit.forbid:
            for name, size in zip(inside, sizes):
                shape[axes[name]] = size
            return cls(bit, unit, inside, tuple(axes[name] for name in inside), unit.shares(inside).reshape(shape))
        return cls(bit, unit, inside, tuple(axes[name] for name in inside), np.full(shape, 1 / math.prod(sizes)))

    @cached_property
    def pivot(self) -> tuple[Any, ...]:
        """The cell that makes room for the total: one with the largest share, so that it can be found again."""
        place: list[Any] = [slice(None)] * self.shares.ndim
        for axis, index in zip(range(self.shares.ndim), np.unravel_index(self.shares.argmax(), self.shares.shape)):
            if axis in self.axes:
                place[axis] = slice(int(index), int(index) + 1)
        return tuple(place)


@dataclass(frozen=True)
class Part:
    """The units of a block that a table shows."""

    units: tuple[Present, ...]
    axes: Axes
    dimensions: int

    @classmethod
    def of(cls, units: Sequence[Unit], axes: Axes, dimensions: int) -> Part:
        """The part of ``units`` on the table whose attributes ``axes`` maps to axes."""
        present = [
            Present.of(bit, unit, axes, dimensions, axes)
            for bit, unit in enumerate(units)
            if any(name in axes for name in unit.attributes)
        ]
        return cls(tuple(present), axes, dimensions)

    @property
    def names(self) -> list[str]:
        """The attributes shown."""
        return [name for unit in self.units for name in unit.names]

    @cached_property
    def masks(self) -> list[int]:
        """Every set of the units shown, as a mask over all units of the block; subsets of them in binary order."""
        return [
            sum(1 << unit.bit for place, unit in enumerate(self.units) if subset >> place & 1)
            for subset in range(2 ** len(self.units))
        ]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of a table of the attributes shown alone, in the order of its axes."""
        sizes = {
            axis: unit.unit.sizes[unit.unit.attributes.index(name)]
            for unit in self.units
            for name, axis in zip(unit.names, unit.axes)
        }
        return tuple(sizes[axis] for axis in sorted(sizes))

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells of that table can occur."""
        result = np.ones((1,) * self.dimensions, bool)
        for unit in self.units:
            result = result & (unit.shares > 0)
        return np.broadcast_to(result, self.shape)

    def apply(self, counts: Counts, numbers: Numbers, out: Counts | None = None) -> Counts:
        """The transpose of the matrix on counts: sums are totals, spread by the shares."""
        x = _writable(counts, out)
        for unit in self.units:
            total = x.sum(unit.axes, keepdims=True)
            x -= unit.shares * total
            x[unit.pivot] = total
        self._scale(x, numbers)
        for unit in self.units:
            total = x[unit.pivot].copy()
            x[unit.pivot] = 0.0
            x[unit.pivot] = -x.sum(unit.axes, keepdims=True)
            x += unit.shares * total
        return x

    def apply_transpose(self, weights: Counts, numbers: Numbers, out: Counts | None = None) -> Counts:
        """The matrix on weights: totals are means by the shares, spread evenly."""
        x = _writable(weights, out)
        for unit in self.units:
            mean = _weighted(unit.shares, x, unit)
            x -= mean
            x[unit.pivot] = mean
        self._scale(x, numbers)
        for unit in self.units:
            mean = x[unit.pivot].copy()
            x[unit.pivot] = 0.0
            x[unit.pivot] = -_weighted(unit.shares, x, unit) / unit.shares.max()
            x += mean
        return x

    def _scale(self, x: Counts, numbers: Numbers) -> None:
        """Multiply every entry by the number of the set of units in which it is a residual."""
        if not self.units:
            return
        sets = np.zeros((1,) * x.ndim, np.intp)
        for unit in self.units:
            shape = [x.shape[axis] if axis in unit.axes else 1 for axis in range(x.ndim)]
            residual = np.full(shape, 1 << unit.bit, np.intp)
            residual[unit.pivot] = 0
            sets = sets + residual
        x *= numbers[sets]

    # entries of the matrix, by which units agree

    def _coefficients(self, numbers: Numbers) -> list[float]:
        """c_S for every set S of the units shown."""
        values = [float(numbers[mask]) for mask in self.masks]
        for place, subset in itertools.product(range(len(self.units)), range(len(values))):
            if not subset >> place & 1:
                values[subset] -= values[subset | 1 << place]
        return values

    def entries(self, numbers: Numbers) -> list[Counts]:
        """The entry ``[v, j]`` for every set of units on which v and j agree; an array over j where shares differ."""
        values: list[Any] = []
        for subset, coefficient in enumerate(self._coefficients(numbers)):
            others = (unit.shares for place, unit in enumerate(self.units) if not subset >> place & 1)
            values.append(math.prod(others, start=np.full((1,) * self.dimensions, coefficient)))
        for place, subset in itertools.product(range(len(self.units)), range(len(values))):
            if subset >> place & 1:
                values[subset] = values[subset] + values[subset ^ 1 << place]
        return values

    def chances(self, numbers: Numbers) -> list[Counts]:
        """The probability that a person of cell j is released agreeing with j on exactly each set of units."""
        values: list[Any] = [np.full((1,) * self.dimensions, c) for c in self._coefficients(numbers)]
        for place, unit in enumerate(self.units):
            for subset in range(len(values)):
                if not subset >> place & 1:
                    gone, kept = values[subset], values[subset | 1 << place]
                    agree = unit.shares * gone + kept
                    values[subset], values[subset | 1 << place] = gone + kept - agree, agree
        return values

    def squared_lengths(self, numbers: Numbers) -> Counts:
        """``sum_j M[v, j]^2`` of every v."""
        coefficients = self._coefficients(numbers)
        values: list[Any] = list(coefficients)
        for place, unit in enumerate(self.units):
            square = (unit.shares**2).sum() if unit.unit.forbid else unit.shares.max()
            for subset in range(len(values)):
                if not subset >> place & 1:
                    gone, kept = values[subset], values[subset | 1 << place]
                    values[subset] = square * gone + unit.shares * kept
                    values[subset | 1 << place] = unit.shares * gone + kept
        total = sum(c * value for c, value in zip(coefficients, values))
        return np.asarray(np.broadcast_to(total, (1,) * self.dimensions if np.ndim(total) == 0 else np.shape(total)))

    def products(self, counts: Counts, numbers: Numbers, kept: Sequence[Collection[str]]) -> Counts:
        """``sum_v counts_v prod_i M_i[v, j]``, M_i the matrix on the marginal of ``kept[i]``.

        Per unit the attributes on which v and j can be asked to agree form a chain: none, those of the smallest
        factor, and so on. The product is a number for each choice of a link per unit; taking differences along the
        chains turns the sum over v into sums of marginals.
        """
        factors = [Part(tuple(self._within(names)), self.axes, self.dimensions) for names in kept]
        chains = [_chain(unit, factors) for unit in self.units]
        entries = [part.entries(numbers) for part in factors]
        levels = list(itertools.product(*(range(len(chain)) for chain in chains)))
        values: dict[tuple[int, ...], Any] = {}
        for level in levels:
            agreed = {unit.bit: chain[link] for unit, chain, link in zip(self.units, chains, level)}
            values[level] = math.prod(
                (
                    part_entries[
                        sum(1 << i for i, unit in enumerate(part.units) if set(unit.names) <= agreed[unit.bit])
                    ]
                    for part, part_entries in zip(factors, entries)
                ),
                start=1.0,
            )
        for place in range(len(chains)):
            for level in reversed(levels):
                if level[place]:
                    below = (*level[:place], level[place] - 1, *level[place + 1 :])
                    values[level] = values[level] - values[below]
        own = {axis for unit in self.units for axis in unit.axes}
        result: Any = 0.0
        for level in levels:
            kept_axes = {self.axes[name] for chain, link in zip(chains, level) for name in chain[link]}
            summed = tuple(own - kept_axes)
            result = result + values[level] * (counts.sum(summed, keepdims=True) if summed else counts)
        return np.asarray(np.broadcast_to(result, counts.shape))

    def _within(self, names: Collection[str]) -> list[Present]:
        """The units as far as the attributes ``names`` show them."""
        shown = [name for name in self.names if name in names]
        return [
            Present.of(unit.bit, unit.unit, self.axes, self.dimensions, shown)
            for unit in self.units
            if any(name in shown for name in unit.names)
        ]


def _chain(unit: Present, factors: Sequence[Part]) -> list[frozenset[str]]:
    """The attributes of one unit in the factors, from none to all: each set holds the one before it."""
    found = {frozenset(other.names) for part in factors for other in part.units if other.bit == unit.bit}
    chain = [frozenset[str](), *sorted(found, key=len)]
    if any(not small <= large for small, large in itertools.pairwise(chain)):
        raise PlanError(
            f"Tables that share a part of {unit.unit} must hold one another; take both from a larger table."
        )
    return chain


def _weighted(shares: Counts, x: Counts, unit: Present) -> Counts:
    if shares.size == 1:
        return np.asarray(shares * x.sum(unit.axes, keepdims=True))
    return np.asarray((shares * x).sum(unit.axes, keepdims=True))


def _writable(counts: Counts, out: Counts | None) -> Counts:
    if out is None:
        return np.array(counts, float)
    if out is not counts:
        out[...] = counts
    return out
