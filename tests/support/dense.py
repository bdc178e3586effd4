"""Transition matrices written out in full: the textbook oracle for every block.

Exact ones hold integers (words out of 2^width) or Fractions; the others are numpy arrays.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from agreement import cell_probabilities, cells
from listed import Listed
from numpy.typing import ArrayLike, NDArray

from pkanon._blocks import Agreement, Block, Matrix, Retention
from pkanon._sample import randomise
from pkanon._schema import Unit, code_dtype

Exact = int | Fraction
Rows = Sequence[Sequence[Exact]]


def unit_of(*sizes: int, names: Sequence[str] = "abcdefgh", forbid: Any = ()) -> Unit:
    """A unit of attributes a, b, ... of these sizes."""
    return Unit(tuple(names[: len(sizes)]), sizes, forbid)


def declared_words(block: Block) -> list[list[Exact]]:
    """How many words lead from each value to each, read off the block's own integers."""
    if isinstance(block, Matrix):
        return [list(row) for row in block.rows]
    if isinstance(block, Retention):
        size, q = block.unit.size, block.replace
        kept = 2**block.width - size * q
        return [[q + kept * (u == v) for v in range(size)] for u in range(size)]
    assert isinstance(block, Agreement)
    f = cell_probabilities(block)
    return [[f(u, v) for v in cells(block)] for u in cells(block)]


def realised_words(
    block: Retention | Matrix, inputs: Iterable[int] | None = None, piece: int | None = None
) -> list[list[int]]:
    """The same counts, but counted: every 16-bit word goes through the array entry point.

    Rows for ``inputs`` only (all values if None).
    """
    assert block.width == 16
    size = block.unit.size
    counts = []
    for code in range(size) if inputs is None else inputs:
        out = [np.empty(2**16, code_dtype(size))]
        column = np.full(2**16, code, code_dtype(size))
        randomise([block], [column], Listed(np.arange(2**16)), out=out, piece=piece, threads=1)
        counts.append(np.bincount(out[0], minlength=size).tolist())
    return counts


def kron(first: Rows, second: Rows) -> list[list[Exact]]:
    """The product of two exact matrices: two independent attributes."""
    return [[a * b for a in row for b in other] for row in first for other in second]


def matrix_of(unit: Unit, rows: Sequence[Sequence[int]], width: int = 16, **more: Any) -> Matrix:
    """A matrix block whose rows are given in small integers and scaled up to 2^width."""
    total = sum(rows[0])
    assert 2**width % total == 0
    return Matrix(unit, tuple(tuple(entry * (2**width // total) for entry in row) for row in rows), width, **more)


def marginal(unit: Unit, matrix: Sequence[ArrayLike] | NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
    """The dense matrix of ``unit`` on the attributes ``names``, by adding up its cells.

    ``matrix`` has one row and one column per allowed combination. Cells are numbered row-major over
    ``names``. The probability of a marginal value must not depend on the rest of the combination it
    comes from; that is asserted, not assumed. Rows that no combination has are left as NaN.
    """
    cells = [c for c in itertools.product(*map(range, unit.sizes)) if not forbidden(unit, c)]
    places = [unit.attributes.index(name) for name in names]
    shape = [unit.sizes[i] for i in places]
    number = [int(np.ravel_multi_index([c[i] for i in places], shape)) if places else 0 for c in cells]
    dense = np.full((math.prod(shape),) * 2, np.nan)
    for u, from_cell in enumerate(number):
        row = np.zeros(len(dense))
        np.add.at(row, number, np.asarray(matrix[u], float))
        if not np.isnan(dense[from_cell, 0]):
            np.testing.assert_allclose(dense[from_cell], row, rtol=0, atol=1e-12)
        dense[from_cell] = row
    return dense


def forbidden(unit: Unit, cell: Sequence[int]) -> bool:
    """Whether a rule of the unit forbids this combination."""
    return any(all(not codes or c in codes for codes, c in zip(rule, cell)) for rule in unit.forbid)


def whole(rows: Rows) -> list[list[int]]:
    """An exact matrix times its common denominator: integers, which are faster to compare."""
    exact = [[Fraction(entry) for entry in row] for row in rows]
    scale = math.lcm(*(entry.denominator for row in exact for entry in row))
    return [[int(entry * scale) for entry in row] for row in exact]


def naive_anonymity_ratio(rows: Rows) -> Fraction:
    """AR by its definition, over all quadruples with a positive denominator, in exact arithmetic."""
    best = (1, 1)
    for a, b in itertools.product(whole(rows), repeat=2):
        for i, j in itertools.product(range(len(a)), repeat=2):
            above, below = a[j] * b[i], a[i] * b[j]
            if below and above * best[1] < best[0] * below:
                best = (above, below)
    return Fraction(*best)


def naive_epsilon_ratio(rows: Rows) -> Fraction | None:
    """e^eps by its definition; None when a positive entry shares its column with a zero."""
    best = Fraction(0)
    for a, b in itertools.product(whole(rows), repeat=2):
        for above, below in zip(a, b):
            if above and not below:
                return None
            if above:
                best = max(best, Fraction(above, below))
    return best
