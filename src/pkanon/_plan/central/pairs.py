"""Which pairs of rows can be the worst, and the law of one summand for each (docs/why/theory.md 9).

The blanket of a plan is what every row releases alike: ``w_j = min_u A[u, j]``, of mass gamma. For a draw Y from
``w / gamma`` let ``a = A[u, Y] / w_Y`` and ``b = A[v, Y] / w_Y``, both in [1, R] and of mean 1/gamma. A pair (u, v)
enters the central guarantee only through the joint law of (a, b). Over blocks w, a and b multiply.

Not every pair needs a bound. The bound is ``E g(a, b)`` with ``g(a, b) = f(alpha a - beta b)``, f convex, alpha
and beta not negative (condition on the other blocks and on all other summands). Such a g is convex, and submodular:
``g(a', b) + g(a, b') >= g(a, b) + g(a', b')`` for a <= a', b <= b'. Hence, with the laws of a and of b fixed, the sum
grows as a and b run more against each other, and

- rows that agree on a whole retention or agreement block (a = b) are never worse than rows that do not, because a and b
  have the same laws for all rows of such a block;
- a retention block has one law, that of two different values: a and b are never both R;
- any law on [1, R]^2 is dominated by the one on its corners with the same means that puts the least mass on (R, R).
  :func:`_corners` is that law. It stands in for a matrix with too many pairs, and is exact for retention.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Agreement, Block, Matrix, Retention
from ..._errors import TargetError

Vector = NDArray[np.float64]

AFFORDABLE = 4e8
"""Atoms of all pairs together; beyond it matrices are replaced by their corners. Some ten seconds."""
_PER_PAIR = 2e4
"""What a pair costs beside its atoms, counted in atoms."""


@dataclass(frozen=True)
class Law:
    """Values of a and b and the probabilities of both together."""

    a: Vector
    b: Vector
    p: Vector

    def __mul__(self, other: Law) -> Law:
        return Law(
            np.multiply.outer(self.a, other.a).ravel(),
            np.multiply.outer(self.b, other.b).ravel(),
            np.multiply.outer(self.p, other.p).ravel(),
        ).positive()

    def positive(self) -> Law:
        """Without the atoms that never occur."""
        return self if self.p.all() else Law(*(values[self.p > 0] for values in (self.a, self.b, self.p)))


@dataclass(frozen=True)
class Blanket:
    """What a plan does to a pair of rows: the mass of the blanket, R = e^eps, and the laws of (a, b)."""

    gamma: float
    ratio: float
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Blanket:
        """The blanket of blocks whose e^eps is finite."""
        parts = [_part(block) for block in blocks]
        while _cost(parts) > AFFORDABLE:
            dearest = max((part for part in parts if part.block), key=lambda part: part.pairs * part.atoms)
            parts[parts.index(dearest)] = _Part(dearest.gamma, dearest.ratio, None, 1, 3)
        gamma = math.prod((part.gamma for part in parts), start=Fraction(1))
        ratio = math.prod((part.ratio for part in parts), start=Fraction(1))
        return cls(float(gamma), float(ratio), tuple(parts))

    @classmethod
    def corners(cls, blocks: Sequence[Block]) -> Blanket:
        """The same with one law for all blocks together, which is never better: the corners of [1, R]^2."""
        parts = [_part(block) for block in blocks]
        gamma = math.prod((part.gamma for part in parts), start=Fraction(1))
        ratio = math.prod((part.ratio for part in parts), start=Fraction(1))
        return cls(float(gamma), float(ratio), (_Part(gamma, ratio, None, 1, 3),))

    @property
    def pairs(self) -> int:
        """How many laws there are."""
        return math.prod(part.pairs for part in self.parts)

    @cached_property
    def first(self) -> Law:
        """The law of a pair that is likely to be among the worst."""
        return next(self.laws())

    def laws(self) -> Iterator[Law]:
        """The law of every pair that can be the worst; pairs that differ in most units come first."""
        # Parts with one law first: their product is made once.
        parts = sorted(self.parts, key=lambda part: part.pairs)
        single = Law(np.ones(1), np.ones(1), np.ones(1))
        for part in parts:
            if part.pairs == 1:
                single = single * next(part.laws())
        yield from _products(single, [part for part in parts if part.pairs > 1])


def _products(law: Law, parts: Sequence[_Part]) -> Iterator[Law]:
    if not parts:
        yield law
        return
    for own in parts[0].laws():
        yield from _products(law * own, parts[1:])


@dataclass(frozen=True)
class _Part:
    """The blanket of one block; without ``block`` only its corners are left."""

    gamma: Fraction
    ratio: Fraction
    block: Agreement | Matrix | None
    pairs: int
    atoms: int

    def laws(self) -> Iterator[Law]:
        if isinstance(self.block, Agreement):
            yield from _agreement(self.block)
        elif isinstance(self.block, Matrix):
            yield from _matrix(self.block)
        else:
            yield _corners(self.gamma, self.ratio)


def _cost(parts: Sequence[_Part]) -> float:
    pairs = math.prod(part.pairs for part in parts)
    # the atoms of all pairs of an agreement block add up to 5^m, not to pairs * atoms
    atoms = math.prod(
        5 ** len(part.block.units) if isinstance(part.block, Agreement) else part.pairs * part.atoms for part in parts
    )
    return atoms + _PER_PAIR * (pairs - 1)


def _part(block: Block) -> _Part:
    ratio = block.epsilon_ratio
    assert ratio is not None
    if isinstance(block, Retention):
        return _Part(Fraction(block.replace * block.unit.size, 2**block.width), ratio, None, 1, 3)
    if isinstance(block, Agreement):
        cells = math.prod(unit.size for unit in block.units)
        return _Part(cells * min(_cell_chances(block)), ratio, block, len(block.sets) - 1, 3 ** len(block.units))
    if isinstance(block, Matrix):
        lowest = [min(column) for column in zip(*block.rows)]
        gamma = Fraction(sum(lowest), 2**block.width)
        rows = len(set(block.rows))
        return _Part(gamma, ratio, block, rows * rows, sum(w > 0 for w in lowest))
    raise TargetError(f"A central epsilon is not known for blocks of the kind '{block.kind}'.")


def _corners(gamma: Fraction, ratio: Fraction) -> Law:
    """The worst law of (a, b) on [1, R]^2 with both means 1/gamma."""
    if ratio == 1:
        return Law(np.ones(1), np.ones(1), np.ones(1))
    high = (1 / gamma - 1) / (ratio - 1)  # the chance of a = R
    both = max(2 * high - 1, Fraction(0))
    top = float(ratio)
    chances = [high - both, high - both, both, 1 - 2 * high + both]
    return Law(np.array([top, 1, top, 1]), np.array([1, top, top, 1]), np.array([float(p) for p in chances])).positive()


def _cell_chances(block: Agreement) -> list[Fraction]:
    """f(S) for every mask S."""
    return [
        Fraction(
            count, 2**block.width * math.prod(u.size - 1 for bit, u in enumerate(block.units) if not mask >> bit & 1)
        )
        for mask, count in enumerate(block.sets)
    ]


def _agreement(block: Agreement) -> Iterator[Law]:
    """One law for each set of units on which u and v differ, larger sets first."""
    chances = _cell_chances(block)
    lowest = min(chances)
    values, kinds = np.unique([float(f / lowest) for f in chances], return_inverse=True)
    for mask in sorted(range(1, len(block.sets)), key=int.bit_count, reverse=True):
        # Masks of the units on which Y agrees with u and with v, and the chance of both.
        with_u, with_v, p = np.zeros(1, np.uint16), np.zeros(1, np.uint16), np.ones(1)
        for bit, unit in enumerate(block.units):
            on, one = 1 << bit, 1 / unit.size
            if mask >> bit & 1:
                options = [(on, 0, one), (0, on, one), (0, 0, (unit.size - 2) / unit.size)][: min(unit.size, 3)]
            else:
                options = [(on, on, one), (0, 0, (unit.size - 1) / unit.size)]
            u, v, q = zip(*options)
            with_u = np.add.outer(np.array(u, np.uint16), with_u).ravel()
            with_v = np.add.outer(np.array(v, np.uint16), with_v).ravel()
            p = np.multiply.outer(np.array(q), p).ravel()
        if len(values) ** 2 < len(p):  # f takes few values: count pairs of them
            kind = kinds[with_u] * len(values) + kinds[with_v]
            together = np.asarray(np.bincount(kind, p, len(values) ** 2), float)
            a, b = np.divmod(np.arange(len(values) ** 2), len(values))
            yield Law(values[a], values[b], together).positive()
        else:
            yield Law(values[kinds[with_u]], values[kinds[with_v]], p)


def _matrix(block: Matrix) -> Iterator[Law]:
    """One law for each ordered pair of different rows, and for each row with itself (other blocks may differ)."""
    columns = [column for column in zip(*dict.fromkeys(block.rows)) if any(column)]
    lowest = [min(column) for column in columns]
    p = np.array([w / sum(lowest) for w in lowest])
    # int / int is correctly rounded, whatever the size
    ratios = np.array([[entry / w for entry in column] for column, w in zip(columns, lowest)]).T
    order = itertools.product(range(len(ratios)), repeat=2)
    for u, v in sorted(order, key=lambda pair: -float(p @ (ratios[pair[0]] - ratios[pair[1]]) ** 2)):
        yield Law(ratios[u], ratios[v], p)
