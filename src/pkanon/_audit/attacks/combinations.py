"""People as combinations of codes: those that occur with their counts (``Combinations``), or all possible ones (``Dense``).

The comparison works on combinations instead of rows wherever it can: 71,660 of them represent the 2,458,285 rows of
the embedded table. A cross-tabulation is named by the places of its attributes, in rising order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._estimate import tabulate
from ..._schema import Codes

Counts = NDArray[np.float64]
Whole = NDArray[np.int64]
Places = tuple[int, ...]

MOST_DENSE = 2**24
"""Combinations up to which the full table is held in memory."""
SPARSE = 8
"""With more combinations per row than this, rows are quicker to count than combinations."""


class Readable(Protocol):
    """Whatever cross-tabulations can be read from."""

    def table(self, places: Places) -> Counts:
        """The cross-tabulation of some attributes."""


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations that occur (one row of ``codes`` each) and how many people have each."""

    sizes: tuple[int, ...]
    codes: Whole = field(repr=False)
    counts: Whole = field(repr=False)

    @classmethod
    def of(cls, columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Combinations, Whole]:
        """The cells of some people, and the place of each person's cell among them."""
        found, where, counts = np.unique(numbered(columns, sizes), return_inverse=True, return_counts=True)
        codes = np.stack(np.unravel_index(found, tuple(sizes)), axis=1).astype(np.int64)
        return cls(tuple(sizes), codes, counts.astype(np.int64)), where.astype(np.int64)

    @property
    def people(self) -> int:
        """How many people there are."""
        return int(self.counts.sum())

    def table(self, places: Places) -> Counts:
        """The cross-tabulation of some attributes."""
        shape = [self.sizes[place] for place in places]
        numbers = numbered([self.codes[:, place] for place in places], shape)
        found = np.zeros(math.prod(shape))
        np.add.at(found, numbers, self.counts)
        return found.reshape(shape)

    def without(self, axis: int) -> tuple[Combinations, Whole]:
        """The cells of all attributes but one, and the place of each cell of this table among them."""
        rest = [i for i in range(len(self.sizes)) if i != axis]
        merged, where = Combinations.of([self.codes[:, i] for i in rest], [self.sizes[i] for i in rest])
        counts = np.bincount(where, weights=self.counts).astype(np.int64)
        return Combinations(merged.sizes, merged.codes, counts), where


@dataclass(frozen=True, eq=False)
class Dense:
    """The full table: one axis per attribute."""

    counts: Counts = field(repr=False)

    def table(self, places: Places) -> Counts:
        """The cross-tabulation of some attributes."""
        return np.asarray(self.counts.sum(tuple(i for i in range(self.counts.ndim) if i not in places)))


def numbered(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> Whole:
    """The number of each row's combination, row-major."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes):
        numbers *= size
        numbers += column
    return numbers


def tally(columns: Sequence[Codes], sizes: Sequence[int]) -> Dense | Combinations:
    """People counted by combination, in whichever form is quicker to read."""
    if math.prod(sizes) <= min(MOST_DENSE, max(SPARSE * len(columns[0]), 2**16)):
        return Dense(tabulate(columns, sizes))
    return Combinations.of(columns, sizes)[0]
