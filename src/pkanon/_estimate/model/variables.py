"""The variables of a model: what the released rows show of each, and through which known noise (docs/why/theory.md 12).

An attribute is a variable. A bundle is one as a whole, numbered by its allowed combinations, if some of them are forbidden or a
matrix randomises it; else each of its attributes is a variable. So every variable takes each of its values freely.

Shares of released rows are looked at in coordinates in which noise is alike: a column of shares x becomes ``L (A^T x)``, with L such
that the mean drops out and multinomial noise of n rows has variance 1/n on average over directions.

    L                 ``(1 - sqrt(q) sqrt(q)^T) diag(q)^(-1/2)``, scaled; q the released shares, half even (``EVENLY``)
    value-symmetric   A multiplies what is not even by its eigenvalue lam
    matrix            A is applied as it is, and lam = 1

A table of two variables has L along both axes and one eigenvalue lam of the pair.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._blocks import Block, Counts
from ..._schema import Codes, Unit

EVENLY = 0.5
"""The part of the noise that is taken as the same for all values of a variable."""
STRIPE = 512
"""Rows of the matrix of all pairs that are looked at in one go."""
LARGE = 200
"""Values of a variable from which its pairs with itself, which say nothing, are not computed."""


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable: some ``attributes``, the ``unit`` that numbers their combinations, and the ``block`` that randomises it."""

    attributes: tuple[str, ...]
    unit: Unit
    block: Block

    @property
    def size(self) -> int:
        """How many values it has."""
        return self.unit.size

    @property
    def matrix(self) -> Counts | None:
        """The transition matrix; None if the block is value-symmetric."""
        return self.block.as_matrix() if self.block.eigenvalue(self.attributes) is None else None

    def column(self, codes: Mapping[str, Codes]) -> Codes:
        """The variable's code of every row."""
        return self.unit.join([codes[name] for name in self.attributes])

    def split(self, codes: Codes) -> dict[str, Codes]:
        """The codes of its attributes, from its own."""
        return dict(zip(self.attributes, self.unit.split(codes)))

    def shape(self, names: Sequence[str]) -> tuple[int, ...]:
        """How many values each of its attributes among ``names`` has, in the order of the variable."""
        return tuple(n for name, n in zip(self.attributes, self.unit.sizes) if name in names)

    def marginal(self, tables: Counts, names: Sequence[str]) -> Counts:
        """Tables of its attributes among ``names`` (flat, in the variable's order) from its own, along the last axis."""
        if len(self.attributes) == 1:
            return tables
        columns = self.split(np.arange(self.size))
        kept = [columns[name].astype(np.intp) for name in self.attributes if name in names]
        place = np.ravel_multi_index(kept, self.shape(names))
        rows = np.atleast_2d(tables)
        result: Counts = np.stack([np.bincount(place, row, math.prod(self.shape(names))).astype(float) for row in rows])
        return result.reshape(*tables.shape[:-1], -1)


def variables_of(blocks: Sequence[Block]) -> tuple[Variable, ...]:
    """The variables of a release, in the order of its blocks."""
    found = []
    for block in blocks:
        for unit in block.units:
            whole = len(unit.attributes) > 1 and (unit.forbid or block.eigenvalue(unit.attributes) is None)
            if whole or len(unit.attributes) == 1:
                found.append(Variable(unit.attributes, unit, block))
            else:
                found += [Variable((n,), Unit((n,), (v,)), block) for n, v in zip(unit.attributes, unit.sizes) if v > 1]
    return tuple(found)


def eigenvalue(*variables: Variable) -> float:
    """lam of the functions that vary along all of these variables; matrices count as 1."""
    blocks = {id(variable.block): variable.block for variable in variables}
    value = 1.0
    for block in blocks.values():
        own = block.eigenvalue([name for v in variables if v.block is block for name in v.attributes])
        value *= 1.0 if own is None else own
    return value


class Layout:
    """The variables side by side: a row of length S = sum of V holds one table per variable."""

    def __init__(self, variables: Sequence[Variable], released: Sequence[Counts]) -> None:
        """``released``: the released shares of each variable, which are the noise of its values."""
        self.variables = tuple(variables)
        self.sizes = np.array([variable.size for variable in variables])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)
        self.length = int(self.sizes.sum())
        self.matrices = {i: m for i, v in enumerate(variables) if (m := v.matrix) is not None}
        self.single = self.repeat(np.array([eigenvalue(variable) for variable in variables]))
        self.pair = np.zeros((len(variables), len(variables)))
        for i, first in enumerate(variables):
            for j in range(i):
                self.pair[i, j] = self.pair[j, i] = eigenvalue(first, variables[j])
        self.owner = np.repeat(np.arange(len(variables)), self.sizes)
        self.even = 1 / self.repeat(self.sizes.astype(float))
        self._noise(np.concatenate(released))
        for i in self.matrices:
            self.even[self.place(i)] = 0.0
        self.offset = self.seen(self.even)

    def _noise(self, shares: Counts) -> None:
        """sqrt(q) of the values, and the factors that make the mean variance of the coordinates of a variable 1."""
        mixed = (1 - EVENLY) * shares + EVENLY * self.even
        self._root, self._factor = np.sqrt(mixed), np.ones(self.length)
        # the trace of L (diag(s) - s s^T) L^T over V - 1
        trace = np.add.reduceat(shares / mixed - shares, self.starts) - np.add.reduceat(
            (shares / self._root - self._root * self.sums(shares)) ** 2, self.starts
        )
        self._factor = self.repeat(np.sqrt((self.sizes - 1) / np.maximum(trace, 1e-9)))

    @cached_property
    def freedom(self) -> int:
        """How many coordinates all tables of one and two variables have, without what margins share."""
        free = self.sizes - 1
        return int(free.sum() + (free.sum() ** 2 - (free**2).sum()) // 2)

    @cached_property
    def rectangles(self) -> list[tuple[slice, slice]]:
        """Rows and columns of the matrix of all pairs that have every pair of different variables, twice."""
        large = np.flatnonzero(self.sizes >= LARGE)
        edges = np.unique([0, self.length, *self.starts[large], *(self.starts + self.sizes)[large]]).tolist()
        found = []
        for first, last in itertools.pairwise(edges):
            alone = self.sizes[self.owner[first]] >= LARGE
            sides = [slice(0, first), slice(last, self.length)] if alone else [slice(0, self.length)]
            for start in range(first, last, STRIPE):
                rows = slice(start, min(start + STRIPE, last))
                found += [(rows, side) for side in sides if side.start < side.stop]
        return found

    def scale(self, rows: slice, columns: slice) -> Counts:
        """The eigenvalue of each pair in a rectangle; a single row if all of its rows are of one large variable."""
        owners = self.owner[rows]
        if self.sizes[owners[0]] >= LARGE:
            return np.asarray(self.pair[owners[0]][self.owner[columns]])
        return self.repeat(self.pair[owners])

    def place(self, i: int) -> slice:
        """Where variable ``i`` is in a row."""
        return slice(int(self.starts[i]), int(self.starts[i] + self.sizes[i]))

    def repeat(self, values: Counts) -> Counts:
        """A number per variable (last axis), at each of its values."""
        return np.repeat(values, self.sizes, axis=-1)

    def sums(self, rows: Counts) -> Counts:
        """The sum over the values of each variable, at each of its values."""
        return self.repeat(np.add.reduceat(rows, self.starts, axis=-1))

    def softmax(self, rows: Counts) -> Counts:
        """Shares that sum to 1 over each variable."""
        top = np.maximum.reduceat(rows, self.starts, axis=-1)
        shares = np.exp(rows - self.repeat(top))
        return np.asarray(shares / self.sums(shares))

    def seen(self, released: Counts) -> Counts:
        """``L`` of released shares."""
        return np.asarray(self._factor * (released / self._root - self._root * self.sums(released)))

    def through(self, people: Counts) -> Counts:
        """``L`` of shares of people less even ones; of what a matrix makes of them."""
        moved = people - self.even
        for i, matrix in self.matrices.items():
            moved[..., self.place(i)] = people[..., self.place(i)] @ matrix
        return self.seen(moved)

    def back(self, slopes: Counts) -> Counts:
        """The transpose of :meth:`through`, but for what is the same at all values of a variable."""
        scaled = self._factor * slopes
        result = scaled / self._root - self.sums(self._root * scaled)
        for i, matrix in self.matrices.items():
            result[..., self.place(i)] = result[..., self.place(i)] @ matrix.T
        return np.asarray(result)
