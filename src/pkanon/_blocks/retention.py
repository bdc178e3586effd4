"""Retention-replacement on one unit: keep the value, or replace it by a uniform draw from all values.

The plan stores one integer, ``replace`` = how many of the ``2^width`` words lead to each replacement
value. A word ``u`` gives ``r = u // replace``; ``r < V`` replaces the code by r, otherwise it is kept.
So replacement is exactly uniform, without rejection, and ``rho = 1 - V replace / 2^width`` exactly
(docs/why/theory.md 1). On a bundle this is the joint block of docs/why/theory.md 6.

On the marginal of some of the unit's attributes the matrix is ``rho I + (1 - rho) 1 w^T``, w the
share of allowed combinations on each cell (docs/why/theory.md 7). The passes below are written for any
w; a single attribute, a whole bundle and a marginal with forbidden combinations are one case.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._errors import PlanError
from .._schema import Codes, Unit
from .base import Axes, Block, Counts, Words, check_integers, check_keys, check_width, unit_at, whole_number, word_dtype


@dataclass(frozen=True)
class Retention(Block):
    """Retention-replacement: keep the value, or replace it by a uniform draw from all values.

    Parameters
    ----------
    unit
        The unit that is randomised.
    replace
        How many of the ``2^width`` equally likely words lead to each replacement value.
    width
        The bits of a word: 16, 32 or 64.

    Examples
    --------
    >>> import pkanon as pk
    >>> block = pk.Retention(pk.Unit(("sex",), (2,)), replace=2**30)
    >>> block.exact_rho  # 1 - 2 * 2^30 / 2^32
    Fraction(1, 2)
    """

    unit: Unit
    replace: int
    width: int = 32

    kind: ClassVar[str] = "retention"

    def __post_init__(self) -> None:
        check_width(self.width)
        check_integers([self.replace])
        if not 0 <= self.replace * self.unit.size <= 2**self.width:
            raise PlanError(
                f"{self.unit}: replace = {self.replace} needs more than the 2^{self.width} words there are."
            )

    @property
    def units(self) -> tuple[Unit, ...]:  # type: ignore[override]  # a frozen field elsewhere, derived here
        """The unit, as a tuple of one."""
        return (self.unit,)

    @property
    def draws(self) -> tuple[int, ...]:
        return (self.width,)

    def apply(self, columns: Sequence[Codes], words: Words) -> list[Codes]:
        (codes,) = columns
        if self.replace == 0:
            return [codes.copy()]
        word = word_dtype(self.width)
        drawn = words(0)
        np.floor_divide(drawn, word(self.replace), out=drawn)
        # Branch-free select: a data-dependent branch on a random mask costs more than all the rest.
        mask = np.less_equal(drawn, word(self.unit.size - 1)).view(np.uint8).astype(codes.dtype, copy=False)
        np.negative(mask, out=mask)
        result = drawn.astype(codes.dtype)  # wraps where the code is kept; the mask hides it
        result ^= codes
        result &= mask
        result ^= codes
        return [result]

    @cached_property
    def exact_rho(self) -> Fraction:
        """The retention probability."""
        return 1 - Fraction(self.replace * self.unit.size, 2**self.width)

    @property
    def epsilon_ratio(self) -> Fraction | None:
        # (rho + (1 - rho)/V) / ((1 - rho)/V), both counted in words
        kept = 2**self.width - (self.unit.size - 1) * self.replace
        return Fraction(kept, self.replace) if self.replace else None

    @property
    def anonymity_ratio(self) -> Fraction:
        ratio = self.epsilon_ratio
        return 1 / ratio**2 if ratio else Fraction(0)

    @property
    def unchanged(self) -> tuple[Fraction, Fraction]:
        share = 1 - Fraction((self.unit.size - 1) * self.replace, 2**self.width)
        return share, share

    def describe(self) -> str:
        together, what = (" together", "allowed combinations") if len(self.attributes) > 1 else ("", "values")
        return (
            f"{self._named}: kept{together} in {100 * float(self.exact_rho):.3g}% of the rows, else replaced by a uniform draw "
            f"from the {self.unit.size:,} {what}."
        )

    def mixture(self, attributes: Sequence[str]) -> tuple[float, NDArray[np.float64]]:
        return float(self.exact_rho), self.unit.shares(attributes)

    def eigenvalue(self, attributes: Collection[str]) -> float:
        return float(self.exact_rho) if attributes else 1.0

    def error_factor(self, attributes: Sequence[str]) -> float:
        if not attributes:
            return 1.0
        rho = float(self.exact_rho)
        if rho == 0:
            return math.inf
        if self.error_is_exact(attributes):
            cells = math.prod(self.unit.sizes[self.unit.attributes.index(name)] for name in attributes)
            if self.unit.forbid:
                cells = self.unit.size
            return (1 + (cells - 1) / rho**2) / cells
        w = self.unit.shares(attributes).ravel()
        replaced = 1 - rho
        g = (1 - 2 * replaced * w + replaced**2 * float(w @ w)) / rho**2
        return float(rho * g[w > 0].max() + replaced * float(w @ g))

    def error_is_exact(self, attributes: Sequence[str]) -> bool:
        return not self.unit.forbid or set(attributes) in (set(), set(self.unit.attributes))

    def forward(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        own, w = self._own(axes, counts.ndim)
        rho = float(self.exact_rho)
        return _rank_one(counts, own, rho, (1 - rho) * w, 1.0, out)

    def forward_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        own, w = self._own(axes, counts.ndim)
        rho = float(self.exact_rho)
        return _rank_one(counts, own, rho, 1 - rho, w, out)

    def inverse(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        own, w = self._own(axes, counts.ndim)
        rho = self._invertible_rho() if own else 1.0
        return _rank_one(counts, own, 1 / rho, -(1 - rho) / rho * w, 1.0, out)

    def inverse_transpose(self, counts: Counts, axes: Axes, out: Counts | None = None) -> Counts:
        own, w = self._own(axes, counts.ndim)
        rho = self._invertible_rho() if own else 1.0
        return _rank_one(counts, own, 1 / rho, -(1 - rho) / rho, w, out)

    def product_inverse(self, counts: Counts, axes: Axes, *kept: Collection[str]) -> Counts:
        own, _ = self._own(axes, counts.ndim)
        # B_K[v, j] is on_K if v and j agree on K, else off_K: off_K + (on_K - off_K) [agree]. The product of
        # such sums is a sum over which factors agree, and those agree on the union of their attributes.
        inside = {name for name in self.unit.attributes if name in axes}
        factors = Counter(frozenset(inside.intersection(names)) for names in kept)
        factors.pop(frozenset(), None)
        if not own or not factors:
            return np.broadcast_to(counts.sum(own, keepdims=True), counts.shape) if own else counts
        terms = []
        for names, power in factors.items():
            _, w = self._own({name: axes[name] for name in names}, counts.ndim)
            on, off = self._inverse_entries(w)
            terms.append((names, on**power - off**power, off**power))
        result: Counts = np.zeros(())
        for agreeing in itertools.product((True, False), repeat=len(terms)):
            union = frozenset[str]().union(*(names for (names, _, _), agree in zip(terms, agreeing) if agree))
            summed = tuple(axis for name, axis in axes.items() if axis in own and name not in union)
            factor = math.prod((gain if agree else off for (_, gain, off), agree in zip(terms, agreeing)), start=1.0)
            term = factor * (counts.sum(summed, keepdims=True) if summed else counts)
            if all(agreeing):
                result = term  # the only one of full shape; the others are added to it in place
            else:
                result += term
        return np.asarray(np.broadcast_to(result, counts.shape))

    def inverse_diagonal(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        return self._inverse_entries(self.unit.shares(attributes))[0]

    def own_moment(self, attributes: Sequence[str], power: int) -> NDArray[np.float64]:
        w = self.unit.shares(attributes)
        on, off = self._inverse_entries(w)
        stays = float(self.exact_rho) + (1 - float(self.exact_rho)) * w
        return np.asarray(stays * on**power + (1 - stays) * off**power)

    def _inverse_entries(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """B[j, j], and B[v, j] for v other than j: they depend on the share of j only."""
        rho = self._invertible_rho()
        return (1 - (1 - rho) * w) / rho, -(1 - rho) * w / rho

    def _invertible_rho(self) -> float:
        rho = float(self.exact_rho)
        if rho == 0:
            raise PlanError(f"{self.unit} is replaced in every row (rho = 0); no table of it can be reconstructed.")
        return rho

    def _own(self, axes: Axes, dimensions: int) -> tuple[tuple[int, ...], NDArray[np.float64]]:
        """The block's axes in the table, and w broadcast along them (one number where all shares are equal)."""
        names = sorted((name for name in self.unit.attributes if name in axes), key=lambda name: axes[name])
        own = tuple(axes[name] for name in names)
        shape = [1] * dimensions
        if not self.unit.forbid:
            cells = math.prod(self.unit.sizes[self.unit.attributes.index(name)] for name in names)
            return own, np.full(shape, 1 / cells)
        shares = self.unit.shares(names)
        for axis, length in zip(own, shares.shape):
            shape[axis] = length
        return own, shares.reshape(shape)

    def as_matrix(self) -> NDArray[np.float64]:
        rho, size = float(self.exact_rho), self.unit.size
        return rho * np.eye(size) + (1 - rho) / size

    def to_json(self, units: Sequence[Unit]) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "unit": units.index(self.unit),
            "width": self.width,
            "replace": str(self.replace),
            "approx": {"rho": f"{float(self.exact_rho):.12g}"},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], units: Sequence[Unit]) -> Retention:
        check_keys(data, ("kind", "unit", "width", "replace", "approx"))
        return cls(unit_at(data, units), whole_number(data["replace"]), data["width"])


def _rank_one(
    counts: Counts,
    own: tuple[int, ...],
    scale: float,
    after: NDArray[np.float64] | float,
    before: NDArray[np.float64] | float,
    out: Counts | None,
) -> Counts:
    """``scale counts + after * sum(before * counts)`` along the axes ``own``, in few passes over memory."""
    if not own:
        if out is not None and out is not counts:
            out[...] = counts
        return counts if out is None else out
    if np.size(before) == 1:
        total = before * counts.sum(own, keepdims=True)
    else:
        total = (before * counts).sum(own, keepdims=True)
    result = np.multiply(counts, scale, out=out)
    result += after * total
    return np.asarray(result)
