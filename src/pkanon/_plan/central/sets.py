"""All sets of units on which two rows can differ, at once (docs/why/theory.md 9).

In retention and agreement blocks the law of (a, b) depends on the set D of units on which u and v differ, and Y is uniform.
Per unit, Y agrees with u or not, and with v or not; the two indicators are the same for a unit outside of D, and have the
correlation -1/(V - 1) inside. In the orthonormal basis of 1 and the centred indicator of each unit, with coefficients
``f_T`` for the sets T of units,

    E_D[f(a) g(b)] = sum over T of f_T g_T prod over T and D of -1/(V - 1).

E e^(wX) with X = a - e^eps b is such a mean, of e^(wa) and e^(-w e^eps b). So one fast transform gives it for all 2^m sets D
together, in some m 2^m steps, where the laws themselves have 5^m atoms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Agreement, Block, Retention
from .normal import Spread
from .positive import Vector

_EXACT = 7
"""Units up to which E[X_+] is known for each D; the table has 4^7 entries."""


@dataclass(frozen=True)
class _Units:
    """The sizes of all units, and sums over sets of them."""

    sizes: tuple[int, ...]

    @cached_property
    def chances(self) -> Vector:
        """How likely Y agrees with u on just these units."""
        chances = np.ones(1)
        for size in self.sizes:
            chances = np.concatenate([chances * ((size - 1) / size), chances / size])
        return chances

    @cached_property
    def _roots(self) -> Vector:
        return np.sqrt(self.chances)

    @cached_property
    def _basis(self) -> tuple[Vector, Vector]:
        """Of each unit 1 and the centred indicator, orthonormal; units in two halves."""
        pairs = [(math.sqrt((size - 1) / size), math.sqrt(1 / size)) for size in self.sizes]
        return _halves([np.array([[kept, root], [root, -kept]]) for kept, root in pairs])

    @cached_property
    def _correlations(self) -> tuple[Vector, Vector]:
        return _halves([np.array([[1.0, 1.0], [1.0, -1 / (size - 1)]]) for size in self.sizes])

    def coefficients(self, function: Vector) -> Vector:
        """Of functions of the set on which Y agrees, in the last axis."""
        return _transformed(function * self._roots, self._basis)

    def means(self, products: Vector) -> Vector:
        """The sums over T for all D, the empty one too."""
        return _transformed(products, self._correlations)

    def signs(self, columns: NDArray[np.intp]) -> Vector:
        """What the sum over T has for some columns, as a matrix with a row for each."""
        result = np.ones((len(columns), 1))
        for bit, size in enumerate(self.sizes):
            factor = np.where((columns + 1) >> bit & 1, -1 / (size - 1), 1.0)
            result = np.concatenate([result, result * factor[:, None]], axis=1)
        return result


@dataclass(frozen=True)
class Sets:
    """Units, and the value of a for each set of them on which Y agrees with u; X = a - factor b (positive.Summands).

    Columns are the sets D, but for the empty one: column 0 is D = {first unit}, whose mask is 1.
    """

    units: _Units
    values: Vector
    gamma: float
    factor: float = 1.0

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> Sets | None:
        """The units of all blocks, whose e^eps is finite, as one; None if some block tells more than agreement."""
        sizes: list[int] = []
        chances = np.ones(1)
        for block in blocks:
            if isinstance(block, Retention):
                counts: Sequence[int] = (block.replace, 2**block.width - (block.unit.size - 1) * block.replace)
                own, cells = [block.unit.size], np.ones(2)
            elif isinstance(block, Agreement):
                counts, own, cells = block.sets, [unit.size for unit in block.units], np.ones(1)
                for size in own:
                    cells = np.concatenate([cells * (size - 1), cells])
            else:
                return None
            # each entry is rounded twice; what that does to e^(wX) is in :meth:`_errors`
            f = np.array([float(count) for count in counts]) / cells / 2.0**block.width
            chances = np.multiply.outer(f, chances).ravel()
            sizes += own
        low = float(chances.min())
        return cls(_Units(tuple(sizes)), chances / low, min(low * math.prod(float(size) for size in sizes), 1.0))

    def at(self, epsilon: float) -> Sets:
        """With the factor e^epsilon."""
        return replace(self, factor=math.exp(epsilon))

    @property
    def width(self) -> int:
        return len(self.values)

    @property
    def reach(self) -> float:
        return float(self.values.max())

    def positive(self) -> Vector:
        values = self.values * (1 + 1e-14)  # what they may be short of
        if len(self.units.sizes) > _EXACT:  # as b >= 1, E[X_+] <= E[(a - factor)_+], whatever D is
            return np.full(
                self.width - 1, (1 + 1e-12) * float(self.units.chances @ np.maximum(values - self.factor, 0.0))
            )
        # rows: Y agrees with u on these units, columns: with v; then, unit by unit, the two cases of D instead of the four of Y
        left = np.maximum(values[:, None] - self.factor * self.values, 0.0)
        found = left[None]
        for size in self.units.sizes:
            _, height, width = found.shape
            four = found.reshape(-1, height // 2, 2, width // 2, 2)
            neither, only_u, only_v, both = (four[:, :, i, :, j] for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)))
            same = both / size + neither * ((size - 1) / size)
            found = np.concatenate([same, (only_u + only_v) / size + neither * ((size - 2) / size)])
        return np.asarray(found[1:, 0, 0] * (1 + 1e-12))

    def grown(self, t: float) -> Vector:
        grow = self._grow(t)
        with_u, with_v = (self.units.coefficients(grow(rate * self.values)) for rate in (t, -t * self.factor))
        means = self.units.means(with_u * with_v)[1:]
        means += -1.0 if grow is np.exp else with_u[0] + with_v[0]
        return np.maximum(means, -1 + 1e-12)  # where rounding errors are large

    def turned(self, t: float, theta: Vector, columns: NDArray[np.intp]) -> tuple[Vector, Vector]:
        grow = self._grow(t)
        # one row more, of theta = 0, to be taken off
        (real_u, turn_u), (real_v, turn_v) = (
            self.units.coefficients(self._waves(grow, rate * t, rate * np.append(theta, 0.0)))
            for rate in (1.0, -self.factor)
        )
        products = np.stack([real_u * real_v - turn_u * turn_v, real_u * turn_v + turn_u * real_v])
        if len(columns) <= math.isqrt(self.width) // 4:  # quicker than a transform, and in this thread
            real, turn = np.einsum("pts,cs->ptc", products, self.units.signs(columns))
        else:
            real, turn = self.units.means(products)[..., columns + 1]
        if grow is np.expm1:
            real, turn = real + (real_u + real_v)[:, :1], turn + (turn_u + turn_v)[:, :1]
        return real[:-1] - real[-1], turn[:-1]

    def steepness(self, t: float) -> Vector:
        """``|X|`` is at most a + factor b; rounding errors are shares of the product of norms."""
        a, risen, fallen = self.values, np.exp(t * self.values), np.exp(-t * self.factor * self.values)
        u, a_u, v, b_v = (self.units.coefficients(one) for one in (risen, a * risen, fallen, a * fallen))
        norms = math.sqrt(float(a_u @ a_u) * float(v @ v)) + self.factor * math.sqrt(float(u @ u) * float(b_v @ b_v))
        return np.asarray(self.units.means(a_u * v + self.factor * u * b_v)[1:] + 1e-9 * norms)

    def rounding(self, t: float) -> float:
        return min(self._errors(t))

    def _grow(self, t: float) -> Callable[[Vector], Vector]:
        """e^(wX) - 1 is the product of e^(wa) and e^(-w factor b), less 1, or that of both less 1, and both less 1.

        The latter is the more exact one as long as t is small.
        """
        plain, less = self._errors(t)
        return np.exp if plain < less else np.expm1

    def _errors(self, t: float) -> tuple[float, float]:
        """How far rounding moves E e^(wX) in either way, per unit of ``|w|``, which is at least t.

        e^(wa) is off by a few last bits of (1 + ``|w|`` a) e^(ta), e^(wa) - 1 by those of ``|w|`` a e^(ta); the same holds for b.
        Transforms are orthogonal, and off by at most a unit in the last place, relative to the norm, for each of their
        terms. By Cauchy and Schwarz the sum over T is off by no more than what that does to the product of norms. A difference
        from E e^(tX) that is added to it again is three such sums.
        """
        a, risen = self.values, np.exp(t * self.values)
        fallen = np.exp(-t * self.factor * a)
        u, a_u, v, b_v, b = (
            math.sqrt(float(self.units.chances @ np.square(one))) for one in (risen, a * risen, fallen, a * fallen, a)
        )
        plain = u * v / t + a_u * v + self.factor * u * b_v
        less = 4 * a_u + self.factor * b * (3 + u)
        unit = (320 + 6 * self.width) * 2.0**-53
        return unit * plain + 2.0**-51 / t, unit * less  # a sum near 0 is 1 less, too

    def spread(self, records: int) -> Spread:
        """That of the D whose sums vary most."""
        squares = self.units.coefficients(self.values) ** 2
        own, both = float(squares.sum()), float(self.units.means(squares)[1:].min())
        return Spread(2 * max(own - both, 0.0) * self.gamma / records, own * self.gamma / records)

    def _waves(self, grow: Callable[[Vector], Vector], rate: float, angles: Vector) -> Vector:
        """e^((rate + i angle) a), less 1 or not: real and imaginary parts, a row for each angle."""
        half = np.multiply.outer(angles / 2, self.values)
        sine = np.sin(half)
        turn = 2 * np.exp(rate * self.values) * sine
        return np.stack([grow(rate * self.values) - turn * sine, turn * np.cos(half)])


def _halves(matrices: Sequence[Vector]) -> tuple[Vector, Vector]:
    """The Kronecker products of the first half and of the second; the first unit is the lowest bit."""
    middle = (len(matrices) + 1) // 2
    low, high = (
        reduce(lambda product, matrix: np.asarray(np.kron(matrix, product), float), part, np.ones((1, 1)))
        for part in (matrices[:middle], matrices[middle:])
    )
    return low, high


def _transformed(functions: Vector, halves: tuple[Vector, Vector]) -> Vector:
    """Symmetric matrices applied to the last axis."""
    low, high = halves
    shaped = functions.reshape(*functions.shape[:-1], len(high), len(low))
    return np.asarray(high @ (shaped @ low)).reshape(functions.shape)
