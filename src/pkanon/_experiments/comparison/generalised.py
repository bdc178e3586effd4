"""A generalised table: groups of people, each published as a box of values and a number of people.

The box is as small as can be: from the lowest to the highest code of the group in each attribute. It does not say where
in the box its people are, so a table is read from it by spreading each group evenly over the cells of its box. The
marginal of an evenly filled box is an evenly filled box, so no table needs the cells of a larger one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ..._audit import Combinations, Counts, Places, Whole, anonymity
from .mondrian import mondrian


@dataclass(frozen=True, eq=False)
class Generalised:
    """Boxes from ``low`` to ``high`` (one row each, one column per attribute) with a number of people in each.

    ``classes`` is how many groups of people cannot be told apart by what is generalised, ``smallest`` the size of the
    smallest of them.
    """

    sizes: tuple[int, ...]
    low: Whole = field(repr=False)
    high: Whole = field(repr=False)
    counts: Whole = field(repr=False)
    classes: int
    smallest: int

    @classmethod
    def whole(cls, cells: Combinations, k: int) -> Generalised:
        """All attributes are generalised."""
        low, high, counts = _boxes(cells, mondrian(cells, k))
        return cls(cells.sizes, low, high, counts, len(counts), _anonymity(low, high, counts))

    @classmethod
    def except_for(cls, target: int, cells: Combinations, k: int) -> Generalised:
        """All attributes but one are generalised; that one is published as it is, as is usual with a sensitive one."""
        known, where = cells.without(target)
        groups = mondrian(known, k)
        low, high, counts = _boxes(known, groups)
        values, size = cells.codes[:, target], cells.sizes[target]
        open_boxes, inverse = np.unique(groups[where] * size + values, return_inverse=True)
        group, value = np.divmod(open_boxes, size)
        return cls(
            cells.sizes,
            np.insert(low[group], target, value, axis=1),
            np.insert(high[group], target, value, axis=1),
            np.bincount(inverse, weights=cells.counts).astype(np.int64),
            len(counts),
            _anonymity(low, high, counts),
        )

    def table(self, places: Places) -> Counts:
        """The cross-tabulation of some attributes: every group spread evenly over its box."""
        return self._filled(places, self.counts / (self.high - self.low + 1)[:, places].prod(axis=1))

    def covered(self) -> Counts:
        """How many boxes hold each cell of the full table."""
        return self._filled(tuple(range(len(self.sizes))), np.ones(len(self.counts)))

    def _filled(self, places: Places, density: Counts) -> Counts:
        """The sum of boxes that have a density each.

        A box is written as its corners in an array of differences, which is summed up along every axis at the end.
        """
        shape = tuple(self.sizes[place] + 1 for place in places)
        corners = [(np.zeros(len(density), np.int64), density)]
        for place, size in zip(places, shape):
            low, high = self.low[:, place], self.high[:, place] + 1
            corners = [
                (at * size + ends, sign * value) for at, value in corners for ends, sign in ((low, 1), (high, -1))
            ]
        filled = np.zeros(math.prod(shape))
        for at, value in corners:
            np.add.at(filled, at, value)
        filled = filled.reshape(shape)
        for axis in range(len(places)):
            np.cumsum(filled, axis=axis, out=filled)
        return filled[tuple(slice(-1) for _ in places)]


def _boxes(cells: Combinations, groups: Whole) -> tuple[Whole, Whole, Whole]:
    """Lowest and highest codes and the people of each group, in the order of their numbers."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    codes = cells.codes[order]
    return (
        np.minimum.reduceat(codes, starts),
        np.maximum.reduceat(codes, starts),
        np.add.reduceat(cells.counts[order], starts),
    )


def _anonymity(low: Whole, high: Whole, counts: Whole) -> int:
    """k of the generalised columns, counted row by row as for any published table."""
    columns = {f"{side}{i}": ends[:, i] for side, ends in (("low", low), ("high", high)) for i in range(low.shape[1])}
    frame = pl.DataFrame(columns)
    return anonymity(frame[np.repeat(np.arange(len(counts)), counts)], frame.columns)
