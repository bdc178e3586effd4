"""An agreement block written out in full: every value, every probability, by the words of docs/why/theory.md 8.

Units are single attributes here; tests/exact/test_agreement_bundles.py has bundles.
"""

import itertools
import math
from collections.abc import Callable, Collection
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pkanon._blocks import Agreement

Cell = tuple[int, ...]


def cells(block: Agreement) -> list[Cell]:
    """Every value, one code per unit, row-major."""
    return list(itertools.product(*(range(unit.size) for unit in block.units)))


def cell_probabilities(block: Agreement) -> Callable[[Cell, Cell], Fraction]:
    """A[u, v] = f(S), S the units on which u and v agree; q_S is shared by prod (V - 1) cells."""

    def f(u: Cell, v: Cell) -> Fraction:
        mask = sum(1 << bit for bit, (a, b) in enumerate(zip(u, v)) if a == b)
        shared = math.prod(unit.size - 1 for bit, unit in enumerate(block.units) if not mask >> bit & 1)
        return Fraction(block.sets[mask], shared * 2**block.width)

    return f


def eigenvalue(block: Agreement, names: Collection[str]) -> Fraction:
    """lam_T by its definition."""
    total = Fraction(0)
    for mask, weight in enumerate(block.sets):
        factor = Fraction(weight, 2**block.width)
        for bit, unit in enumerate(block.units):
            if unit.attributes[0] in names and not mask >> bit & 1:
                factor *= Fraction(-1, unit.size - 1)
        total += factor
    return total


def on(block: Agreement, names: Collection[str]) -> NDArray[np.float64]:
    """The dense matrix of the marginal on ``names`` (in the order of the units)."""
    f = cell_probabilities(block)
    every = cells(block)
    kept = [i for i, unit in enumerate(block.units) if unit.attributes[0] in names]
    inside = sorted({tuple(cell[i] for i in kept) for cell in every})
    dense = np.zeros((len(inside), len(inside)))
    for row, some in enumerate(inside):
        u = next(cell for cell in every if tuple(cell[i] for i in kept) == some)
        for v in every:
            dense[row, inside.index(tuple(v[i] for i in kept))] += float(f(u, v))
    return dense
