"""What released rows say of all tables of one and two variables, in coordinates of equal noise (variables.py).

Everything that a model is fitted to is here: one vector of length S for single variables and one matrix S x S for pairs. Their
noise has variance 1/n per coordinate, n the number of rows (with survey weights the number of equal ones that say as much).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._schema import Codes
from ..simplex import nearest
from .variables import Layout

Weights = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Components:
    """Single variables and pairs of some rows: released shares and what they are in coordinates of equal noise."""

    layout: Layout
    rows: float
    shares: Counts
    single: Counts
    pairs: Counts

    @classmethod
    def of(cls, layout: Layout, counts: Counts, squares: float | None = None) -> Components:
        """From the counts of :func:`count_pairs`; ``squares`` is the sum of squared weights if rows are weighted."""
        total = float(np.diagonal(counts)[layout.place(0)].sum())
        shares = np.diagonal(counts) / total
        pairs = layout.seen(layout.seen(counts / total).T)
        for i in range(len(layout.variables)):
            pairs[layout.place(i), layout.place(i)] = 0.0
        return cls(layout, total if squares is None else total**2 / squares, shares, layout.seen(shares), pairs)

    @cached_property
    def margins(self) -> Counts:
        """The nearest shares of people without negative ones, of each variable, side by side."""
        result = np.empty(self.layout.length)
        for i, variable in enumerate(self.layout.variables):
            place = self.layout.place(i)
            released, matrix, lam = self.shares[place], variable.matrix, self.layout.single[place.start]
            if matrix is not None:
                people = np.linalg.lstsq(matrix.T, released, rcond=None)[0]
            else:
                people = 1 / variable.size + (released - 1 / variable.size) / (lam if abs(lam) > _TINY else np.inf)
            result[place] = nearest(np.asarray(people, float), 1.0, np.ones(len(people), bool))
        return result


_TINY = 1e-6
"""An eigenvalue below it leaves nothing of a variable."""


def count_pairs(
    columns: Sequence[Codes],
    sizes: Sequence[int],
    weights: Weights | None = None,
    parts: NDArray[np.intp] | None = None,
) -> Counts:
    """All tables of two variables, as blocks of one matrix S x S; on its diagonal those of single variables.

    With ``parts``, a number 0, 1, ... per row, one such matrix for the rows of each part.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)])
    number = 1 if parts is None else int(parts.max()) + 1
    result = np.zeros((number, int(starts[-1]), int(starts[-1])))
    for i, first in enumerate(columns):
        lead = first.astype(np.intp) if parts is None else parts * sizes[i] + first
        own = np.bincount(lead, weights, number * sizes[i]).reshape(number, sizes[i])
        place = np.arange(starts[i], starts[i + 1])
        result[:, place, place] = own
        for j in range(i):
            cells = lead * sizes[j] + columns[j]
            table = np.bincount(cells, weights, number * sizes[i] * sizes[j]).reshape(number, sizes[i], sizes[j])
            result[:, starts[i] : starts[i + 1], starts[j] : starts[j + 1]] = table
            result[:, starts[j] : starts[j + 1], starts[i] : starts[i + 1]] = table.swapaxes(1, 2)
    return result if parts is not None else result[0]
