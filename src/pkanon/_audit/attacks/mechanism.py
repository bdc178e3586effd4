"""A plan on the cells that occur: expected counts, best matches and single chances, never a dense matrix.

A cell is one code per unit. The grid has one axis per unit; an axis holds the codes that occur in either table and, if
there are others, one place for all of them. That place has no people and no rows, so sums over the grid are exact, however
large the unit. With ``A[u, v]`` the chance that cell u is released as v:

    forward   x -> sum over u of x[u] A[u, v]
    backward  t -> sum over v of A[u, v] t[v]
    best      s -> max over u of s[u] + log A[u, v], in whole numbers whose low bits say which u it was

Retention and agreement blocks are symmetric: ``A[u, v]`` depends on the units where u and v agree. Such a pass costs a few
sweeps over the grid; the best match costs one sweep for each set of units.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Agreement, Block, Matrix, Retention
from ..._plan import Plan
from ..._schema import Codes
from .combinations import Counts, Whole

MOST_CELLS = 2**24
"""Cells of the grid; an array of them takes 128 MB."""
MOST_STEPS = 2**30
"""Cells times sets of units in one search for best matches; about ten seconds."""
INDEX_BITS = 25
"""Low bits of a score, which name a cell of the people."""
RESOLUTION = 2**24
"""Steps of a score for one unit of a natural logarithm."""
NEVER = -(1 << 61)
"""The score of what cannot be; two of them can be added."""


class Kernel(Protocol):
    """One block on the axes of its units."""

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of its units."""

    def forward(self, counts: Counts) -> Counts:
        """``sum over u of counts[u] A[u, v]`` along the axes of the block."""

    def backward(self, counts: Counts) -> Counts:
        """``sum over v of A[u, v] counts[v]`` along the axes of the block."""

    def best(self, scores: Whole) -> Whole:
        """``max over u of scores[u] + log A[u, v]`` along the axes of the block."""

    def chance(self, before: Sequence[Whole], after: Sequence[Whole]) -> Counts:
        """``A[u, v]`` for pairs of cells, given by their places on all axes of the grid."""

    def squared(self) -> Kernel:
        """The same with every chance squared."""


@dataclass(frozen=True, eq=False)
class Symmetric:
    """A block whose chances depend on where two cells agree: ``chances`` has an axis of length 2 for each of ``axes``."""

    axes: tuple[int, ...]
    chances: Counts = field(repr=False)

    def forward(self, counts: Counts) -> Counts:
        return _spread(counts, self.axes, self._weights)

    backward = forward

    @cached_property
    def _weights(self) -> Counts:
        """Weights of sets T with ``chances[agree] = sum over T inside agree of weights[T]``."""
        weights = self.chances.copy()
        for axis in range(weights.ndim):
            np.moveaxis(weights, axis, 0)[1] -= np.moveaxis(weights, axis, 0)[0]
        return weights

    @cached_property
    def _scores(self) -> Whole:
        return log_scores(self.chances)

    def best(self, scores: Whole) -> Whole:
        found = np.full(scores.shape, NEVER)
        # long axes first: their sweeps are the dearest, and each is made once for all sets of the others
        order = sorted(range(len(self.axes)), key=lambda i: -scores.shape[self.axes[i]])

        def walk(values: Whole, done: int, flags: dict[int, int]) -> None:
            if done == len(order):
                score = int(self._scores[tuple(flags[i] for i in range(len(order)))])
                np.maximum(found, values + score, out=found)
                return
            place = order[done]
            walk(values, done + 1, flags | {place: 1})
            walk(others(values, self.axes[place]), done + 1, flags | {place: 0})

        walk(scores, 0, {})
        np.maximum(found, NEVER, out=found)
        return found

    def chance(self, before: Sequence[Whole], after: Sequence[Whole]) -> Counts:
        found: Counts = self.chances[tuple((before[axis] == after[axis]).astype(np.intp) for axis in self.axes)]
        return found

    def squared(self) -> Symmetric:
        return Symmetric(self.axes, self.chances**2)


@dataclass(frozen=True, eq=False)
class Dense:
    """A matrix on one axis, which holds every code of its unit."""

    axis: int
    matrix: Counts = field(repr=False)

    @property
    def axes(self) -> tuple[int, ...]:
        return (self.axis,)

    def forward(self, counts: Counts) -> Counts:
        return self._along(counts, self.matrix.T)

    def backward(self, counts: Counts) -> Counts:
        return self._along(counts, self.matrix)

    def _along(self, counts: Counts, matrix: Counts) -> Counts:
        return np.ascontiguousarray(np.moveaxis(np.tensordot(matrix, counts, (1, self.axis)), 0, self.axis))

    def best(self, scores: Whole) -> Whole:
        logs = log_scores(self.matrix)
        result = np.full(scores.shape, NEVER)
        own, found = np.moveaxis(scores, self.axis, 0), np.moveaxis(result, self.axis, 0)
        for u, v in itertools.product(range(len(logs)), repeat=2):
            found[v] = np.maximum(found[v], own[u] + int(logs[u, v]))
        return np.asarray(result)

    def chance(self, before: Sequence[Whole], after: Sequence[Whole]) -> Counts:
        found: Counts = self.matrix[before[self.axis], after[self.axis]]
        return found

    def squared(self) -> Dense:
        return Dense(self.axis, self.matrix**2)


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The blocks of a plan on the grid of some units, by their places in ``plan.units``; ``codes`` are those of each axis."""

    plan: Plan
    units: tuple[int, ...]
    codes: tuple[NDArray[Any] | None, ...] = field(repr=False)
    shape: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan, tables: Iterable[Sequence[Codes]]) -> Mechanism:
        """On the codes that occur in ``tables`` (one column per unit); on fewer units where all are too many."""
        kept = list(tables)
        whole = [isinstance(block, Matrix) for block in plan.blocks for _ in block.units]
        codes: list[NDArray[Any] | None] = []
        for place, unit in enumerate(plan.units):
            found = None if whole[place] else np.unique(np.concatenate([np.unique(table[place]) for table in kept]))
            codes.append(None if found is None or len(found) >= unit.size - 1 else found)
        sizes = [u.size if c is None else len(c) + 1 for u, c in zip(plan.units, codes)]
        chosen = _fitting(plan, sizes)
        return cls(plan, chosen, tuple(codes[i] for i in chosen), tuple(sizes[i] for i in chosen))

    @property
    def complete(self) -> bool:
        """Whether all units are on the grid."""
        return len(self.units) == len(self.plan.units)

    def places(self, columns: Sequence[Codes]) -> tuple[Whole, ...]:
        """Places on the axes, from one column of codes per unit of the plan."""
        result = []
        for unit, codes in zip(self.units, self.codes):
            column = np.asarray(columns[unit])
            if codes is None:
                result.append(column.astype(np.int64))
                continue
            near = np.minimum(np.searchsorted(codes, column), len(codes) - 1)
            result.append(np.where(codes[near] == column, near, len(codes)))
        return tuple(result)

    def numbers(self, columns: Sequence[Codes]) -> Whole:
        """The number of each row's cell on the grid, row-major."""
        return np.ravel_multi_index(self.places(columns), self.shape)

    def at(self, numbers: Whole) -> tuple[Whole, ...]:
        """Places on the axes, from numbers of cells."""
        return np.unravel_index(numbers, self.shape)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The blocks that have a unit on the grid, in the order of the plan."""
        axis_of = {unit: axis for axis, unit in enumerate(self.units)}
        found: list[Kernel] = []
        first = 0
        for block in self.plan.blocks:
            inside = [i for i in range(len(block.units)) if first + i in axis_of]
            axes = tuple(axis_of[first + i] for i in inside)
            first += len(block.units)
            if not inside:
                continue
            if isinstance(block, Matrix):
                found.append(Dense(axes[0], np.array([[float(c) for c in row] for row in block.rows]) / 2**block.width))
            else:
                exact = chances_of(block, inside)
                found.append(Symmetric(axes, np.vectorize(float, otypes=[float])(exact)))
        return tuple(found)

    def forward(self, people: Counts) -> Counts:
        """How many rows are expected in each cell, for ``people`` counted by cell."""
        for kernel in self.kernels:
            people = kernel.forward(people)
        return people

    def variance(self, people: Counts) -> Counts:
        """How much the number of rows in each cell varies."""
        squares = people
        for kernel in self.kernels:
            squares = kernel.squared().forward(squares)
        return self.forward(people) - squares

    def backward(self, weights: Counts) -> Counts:
        """The transpose of :meth:`forward`."""
        for kernel in self.kernels:
            weights = kernel.backward(weights)
        return weights

    def best(self, scores: Whole) -> Whole:
        """The best score of any cell of the people, for each released cell."""
        for kernel in self.kernels:
            scores = kernel.best(scores)
        return scores

    def chance(self, before: Sequence[Whole], after: Sequence[Whole]) -> Counts:
        """``A[u, v]`` for pairs of cells, given by their places."""
        return np.asarray(math.prod(kernel.chance(before, after) for kernel in self.kernels))


@dataclass(frozen=True, eq=False)
class Shared:
    """``sum over v of A[u, v] A[t, v] weights[v]`` for cells u and t that differ on one axis at most."""

    axis: int
    kernel: Kernel
    weights: Counts = field(repr=False)

    @classmethod
    def of(cls, mechanism: Mechanism, axis: int, weights: Counts) -> Shared:
        """All other blocks are applied at once: u and t agree there, so their chances are squares."""
        own = None
        for kernel in mechanism.kernels:
            if axis in kernel.axes:
                own = kernel
            else:
                weights = kernel.squared().backward(weights)
        assert own is not None
        return cls(axis, own, weights)

    @cached_property
    def _parts(self) -> tuple[Counts, Counts, Counts]:
        """By the code on the axis: chances squared where v has the code of u, crossed, and squared where it has neither."""
        assert isinstance(self.kernel, Symmetric)
        place = self.kernel.axes.index(self.axis)
        rest = self.kernel.axes[:place] + self.kernel.axes[place + 1 :]
        differ, agree = np.moveaxis(self.kernel.chances, place, 0)
        both, one, none = (Symmetric(rest, c).backward(self.weights) for c in (agree**2, agree * differ, differ**2))
        return both, one, none

    def at(self, own: tuple[Whole, ...], other: Whole) -> Counts:
        """For cells at places ``own``, with ``other`` in place of their place on the axis."""
        moved = (*own[: self.axis], other, *own[self.axis + 1 :])
        if isinstance(self.kernel, Dense):
            result = np.empty(len(other))
            for code in np.unique(other):
                here = other == code
                matrix = self.kernel.matrix * self.kernel.matrix[code]
                result[here] = Dense(self.axis, matrix).backward(self.weights)[tuple(part[here] for part in own)]
            return result
        both, one, none = self._parts
        total = none.sum(self.axis, keepdims=True)[(*own[: self.axis], 0, *own[self.axis + 1 :])]
        same = both[own] + total - none[own]
        return np.asarray(
            np.where(own[self.axis] == other, same, one[own] + one[moved] + total - none[own] - none[moved])
        )


def exact_chances(plan: Plan, before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """``A[u, v]`` exactly for cells u and v, each given by one code per unit of the plan."""
    tables = [None if isinstance(b, Matrix) else chances_of(b, range(len(b.units))) for b in plan.blocks]

    def chance(u: Sequence[int], v: Sequence[int]) -> Fraction:
        total, first = Fraction(1), 0
        for block, table in zip(plan.blocks, tables):
            here = range(first, first + len(block.units))
            first += len(block.units)
            if isinstance(block, Matrix):
                total *= Fraction(block.rows[u[here[0]]][v[here[0]]], 2**block.width)
            else:
                assert table is not None
                total *= table[tuple(int(u[i] == v[i]) for i in here)]
        return total

    return [[chance(u, v) for v in after] for u in before]


def chances_of(block: Block, units: Sequence[int]) -> NDArray[Any]:
    """``A[u, v]`` of a symmetric block on some of its units, exactly, by where u and v agree."""
    total = 2**block.width
    if isinstance(block, Retention):
        other = Fraction(block.replace, total)
        return np.array([other, 1 - (block.unit.size - 1) * other], object)
    assert isinstance(block, Agreement)
    words = np.zeros((2,) * len(units), object)
    for mask, count in enumerate(block.sets):
        words[tuple(mask >> unit & 1 for unit in units)] += count
    result = np.empty(words.shape, object)
    for flags in itertools.product((0, 1), repeat=len(units)):
        cells = math.prod(block.units[unit].size - 1 for unit, flag in zip(units, flags) if not flag)
        result[flags] = Fraction(int(words[flags]), total * cells)
    return result


def log_scores(chances: Counts) -> Whole:
    """Logarithms as scores: whole steps above the bits that name a cell."""
    with np.errstate(divide="ignore"):
        logs = np.log(chances)
    steps = np.round(np.where(np.isfinite(logs), logs, 0.0) * RESOLUTION).astype(np.int64)
    return np.where(np.isfinite(logs), steps << INDEX_BITS, NEVER)


def others(values: Whole, axis: int) -> Whole:
    """At each place the largest of the other values along an axis."""
    if values.shape[axis] == 2:
        return np.flip(values, axis)
    result = np.full_like(values, NEVER)
    own, found = np.moveaxis(values, axis, 0), np.moveaxis(result, axis, 0)
    if axis == values.ndim - 1:
        found[1:] = np.maximum.accumulate(own[:-1], axis=0)
        np.maximum(found[:-1], np.maximum.accumulate(own[:0:-1], axis=0)[::-1], out=found[:-1])
        return result
    highest = own[0].copy()
    for i in range(1, len(own)):
        found[i] = highest
        np.maximum(highest, own[i], out=highest)
    highest = own[-1].copy()
    for i in range(len(own) - 2, -1, -1):
        np.maximum(found[i], highest, out=found[i])
        np.maximum(highest, own[i], out=highest)
    return result


def _spread(counts: Counts, axes: tuple[int, ...], weights: Counts) -> Counts:
    """``sum over T of weights[T] counts``, in which every axis not in T is summed and spread again."""
    if not axes:
        return counts * float(weights)
    # the shortest axis first: its sum is the largest array that is left to work on
    place = min(range(len(axes)), key=lambda i: counts.shape[axes[i]])
    rest = axes[:place] + axes[place + 1 :]
    kept = _spread(counts, rest, np.moveaxis(weights, place, 0)[1])
    kept += _spread(counts.sum(axes[place], keepdims=True), rest, np.moveaxis(weights, place, 0)[0])
    return kept


def _fitting(plan: Plan, sizes: Sequence[int]) -> tuple[int, ...]:
    """The units that fit, those first whose released code says most about the true one."""
    chosen: list[int] = []
    telling = [value for block in plan.blocks for value in _telling(block)]
    for place in sorted(range(len(sizes)), key=lambda i: -telling[i]):
        tried = [*chosen, place]
        cells = math.prod(sizes[i] for i in tried)
        if cells <= MOST_CELLS and cells * _sets(plan, tried) <= MOST_STEPS:
            chosen = tried
    return tuple(sorted(chosen))


def _sets(plan: Plan, units: Sequence[int]) -> int:
    total, first = 0, 0
    for block in plan.blocks:
        inside = sum(first <= unit < first + len(block.units) for unit in units)
        first += len(block.units)
        total += (block.units[0].size if isinstance(block, Matrix) else 2**inside) if inside else 0
    return total


def _telling(block: Block) -> list[float]:
    """How much one released code changes the odds between two true ones at most, for each unit."""
    if isinstance(block, Matrix):
        ratio = block.epsilon_ratio
        return [math.inf if ratio is None else float(ratio)]
    found = []
    for unit in range(len(block.units)):
        other, same = (float(chance) for chance in chances_of(block, [unit]))
        low, high = min(other, same), max(other, same)
        found.append(high / low if low else math.inf)
    return found
