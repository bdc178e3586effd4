"""The agreement block of docs/theory.md 8, small and dense: it must fit the Block interface as it is.

``sets[mask]`` of the ``2^width`` words keep exactly the units whose bit is set; every other unit
takes a uniform different value. Units are single attributes here.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pkanon._blocks import Block
from pkanon._blocks.base import word_dtype
from pkanon._schema import Unit


@dataclass(frozen=True)
class Agreement(Block):
    units: tuple[Unit, ...]
    sets: tuple[int, ...]
    width: int = 64

    kind = "agreement"

    def __post_init__(self):
        assert len(self.sets) == 2 ** len(self.units)
        assert sum(self.sets) == 2**self.width
        assert min(self.sets) >= 0

    @property
    def draws(self):
        """Draw 0 picks the surviving set; each unit of more than two values may need one of its own."""
        return (self.width,) + (self.width,) * sum(unit.size > 2 for unit in self.units)

    def apply(self, columns, words):
        thresholds = [c for c in itertools.accumulate(self.sets) if c < 2**self.width]
        survivors = np.searchsorted(np.array(thresholds, word_dtype(self.width)), words(0), side="right")
        results, draw = [], 0
        for bit, (codes, unit) in enumerate(zip(columns, self.units)):
            draw += unit.size > 2
            results.append(self._differ(codes, unit, np.flatnonzero((survivors >> bit) & 1 == 0), draw, words))
        return results

    def _differ(self, codes, unit, rows, draw, words):
        result = codes.copy()
        if unit.size == 2:
            result[rows] ^= 1
            return result
        q = word_dtype(self.width)(2**self.width // (unit.size - 1))
        round = 0
        while len(rows):
            digits = words(draw, round)[rows] // q
            fits = digits < unit.size - 1  # the rest asks for the same position in the next round
            done = rows[fits]
            values = digits[fits].astype(codes.dtype)
            result[done] = values + (values >= codes[done])
            rows, round = rows[~fits], round + 1
        return result

    def cells(self):
        """Every value, one code per unit, row-major."""
        return list(itertools.product(*(range(unit.size) for unit in self.units)))

    def cell_probabilities(self):
        """A[u, v] = f(S), S the units on which u and v agree; q_S is shared by prod (V - 1) cells."""

        def f(u, v):
            mask = sum(1 << bit for bit, (a, b) in enumerate(zip(u, v)) if a == b)
            cells = math.prod(unit.size - 1 for bit, unit in enumerate(self.units) if not mask >> bit & 1)
            return Fraction(self.sets[mask], cells * 2**self.width)

        return f

    def _values(self):
        f = self.cell_probabilities()
        first = self.cells()[0]
        return [f(first, cell) for cell in self.cells()]

    @property
    def epsilon_ratio(self):
        values = self._values()
        return max(values) / min(values) if min(values) else None

    @property
    def anonymity_ratio(self):
        return 1 / self.epsilon_ratio**2 if self.epsilon_ratio else Fraction(0)

    def eigenvalue(self, names: Sequence[str]) -> Fraction:
        """lam_T of docs/theory.md 7."""
        total = Fraction(0)
        for mask, weight in enumerate(self.sets):
            factor = Fraction(weight, 2**self.width)
            for bit, unit in enumerate(self.units):
                if unit.attributes[0] in names and not mask >> bit & 1:
                    factor *= Fraction(-1, unit.size - 1)
            total += factor
        return total

    def rho(self, attribute):
        return float(self.eigenvalue([attribute]))

    def error_factor(self, attributes):
        sizes = {unit.attributes[0]: unit.size for unit in self.units}
        total = Fraction(0)
        for count in range(len(attributes) + 1):
            for inside in itertools.combinations(attributes, count):
                lam = self.eigenvalue(inside)
                if lam == 0:
                    return math.inf
                total += Fraction(math.prod(sizes[name] - 1 for name in inside)) / lam**2
        return float(total / math.prod(sizes[name] for name in attributes))

    def error_is_exact(self, attributes):
        return True

    def _along(self, counts, axes, function, out=None):
        names = [unit.attributes[0] for unit in self.units if unit.attributes[0] in axes]
        result = counts
        if names:
            own = [axes[name] for name in names]
            moved = np.moveaxis(counts, own, range(len(own)))
            matrix = function(names)
            result = (matrix @ moved.reshape(len(matrix), -1)).reshape(moved.shape)
            result = np.moveaxis(result, range(len(own)), own)
        if out is None:
            return result
        out[...] = result
        return out

    def on(self, names):
        """The dense matrix of the marginal on ``names`` (in the order of the units)."""
        kept = [i for i, unit in enumerate(self.units) if unit.attributes[0] in names]
        sizes = [self.units[i].size for i in kept]
        dense = self.as_matrix().reshape([unit.size for unit in self.units] * 2)
        others = [i for i in range(len(self.units)) if i not in kept]
        dense = dense.sum(axis=tuple(len(self.units) + i for i in others))
        for i in reversed(others):
            dense = dense.take(0, axis=i)  # by symmetry the dropped units of u do not matter
        return dense.reshape(math.prod(sizes), math.prod(sizes))

    def forward(self, counts, axes, out=None):
        return self._along(counts, axes, lambda names: self.on(names).T, out)

    def forward_transpose(self, counts, axes, out=None):
        return self._along(counts, axes, self.on, out)

    def inverse(self, counts, axes, out=None):
        return self._along(counts, axes, lambda names: np.linalg.inv(self.on(names)).T, out)

    def inverse_transpose(self, counts, axes, out=None):
        return self._along(counts, axes, lambda names: np.linalg.inv(self.on(names)), out)

    def product_inverse(self, counts, axes, *kept):
        return self._along(counts, axes, lambda names: self._product(names, kept).T)

    def _product(self, names, kept):
        """Entrywise, the inverses on marginals spread over all cells of ``names``."""
        sizes = [unit.size for unit in self.units if unit.attributes[0] in names]
        result = np.ones((math.prod(sizes),) * 2)
        for factor in kept:
            inside = [name for name in names if name in factor]
            codes = np.indices(sizes).reshape(len(sizes), -1)
            cells = np.zeros(math.prod(sizes), int)
            for name in inside:
                cells = cells * sizes[names.index(name)] + codes[names.index(name)]
            result *= np.linalg.inv(self.on(inside))[np.ix_(cells, cells)] if inside else 1.0
        return result

    def as_matrix(self):
        f = self.cell_probabilities()
        return np.array([[float(f(u, v)) for v in self.cells()] for u in self.cells()])

    def to_json(self, units):
        return {
            "kind": self.kind,
            "units": [units.index(unit) for unit in self.units],
            "width": self.width,
            "sets": [str(weight) for weight in self.sets],
        }

    @classmethod
    def from_json(cls, data, units):
        return cls(tuple(units[i] for i in data["units"]), tuple(map(int, data["sets"])), data["width"])
