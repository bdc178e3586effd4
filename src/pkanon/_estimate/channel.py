"""How one cross-tabulation was randomised: the passes of all blocks on its axes (docs/why/theory.md 7).

Usually the released table has the axes of the table to estimate. A matrix block on a bundle has no
matrix on some of its attributes alone; the rest of the bundle is then counted too (``extra``) and
summed out after the inverse, which keeps estimates unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._blocks import Block, Counts
from .._errors import InputError, PlanError, did_you_mean

VANISHING = 1e24
"""Beyond this error factor nothing is left of the data: the largest eigenvalue of the inverse is about 1e12."""


class Channel:
    """Maps the people's table of ``names`` to the expected released table, and back."""

    def __init__(self, blocks: Sequence[Block], names: Sequence[str]) -> None:
        randomised = [name for block in blocks for name in block.attributes]
        if not names:
            raise InputError("A table needs at least one attribute.")
        for name in names:
            if not isinstance(name, str):
                raise InputError(f"A table takes the names of its attributes, not {name!r}.")
            if name not in randomised:
                raise InputError(f"The release has no randomised attribute '{name}'. {did_you_mean(name, randomised)}")
        if len(set(names)) != len(names):
            raise InputError("A table names each attribute once.")
        self.names = tuple(names)
        self.blocks = tuple(block for block in blocks if set(block.attributes) & set(names))
        self.extra = tuple(
            name for block in self.blocks if not block.has_marginals for name in block.attributes if name not in names
        )
        sizes = {n: size for block in blocks for unit in block.units for n, size in zip(unit.attributes, unit.sizes)}
        self.sizes = {name: sizes[name] for name in (*self.names, *self.extra)}
        self.shape = tuple(sizes[name] for name in self.names)
        self._axes = {name: axis for axis, name in enumerate(self.sizes)}
        self._summed = tuple(range(len(self.names), len(self.sizes)))

    def check_invertible(self) -> None:
        """Refuse a table that the design destroys, in whole or in part."""
        for block in self.blocks:
            inside = [name for name in block.attributes if name in self.names]
            if not block.error_factor(inside) < VANISHING:
                raise PlanError(
                    f"The table of {', '.join(self.names)} cannot be reconstructed: the plan leaves nothing of "
                    f"{' x '.join(inside)} in the released rows. Ask for a table without it."
                )

    @cached_property
    def error_factor(self) -> float:
        """c_M of docs/why/theory.md 7 (the largest over data sets where it depends on them)."""
        factors = (block.error_factor([n for n in block.attributes if n in self.names]) for block in self.blocks)
        return math.prod(factors)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells can occur at all: forbidden combinations cannot."""
        return self.collapse(self.possible_whole.astype(float)) > 0

    @cached_property
    def possible_whole(self) -> NDArray[np.bool_]:
        """The same with the extra axes."""
        result = np.ones(tuple(self.sizes.values()), bool)
        for block in self.blocks:
            for unit in block.units:
                if unit.forbid:
                    names = [name for name in self.sizes if name in unit.attributes]
                    result &= self._spread(names, unit.shares(names) > 0)
        return result

    def _spread(self, names: Sequence[str], values: NDArray[Any]) -> NDArray[Any]:
        """An array over ``names``, with axes of length 1 for all others."""
        shape = [1] * len(self.sizes)
        for name, length in zip(names, values.shape):
            shape[self._axes[name]] = length
        return values.reshape(shape)

    def forward(self, people: Counts) -> Counts:
        """The released counts expected for ``people``, both with the extra axes."""
        return self._through(people, lambda block, x: block.forward(x, self._axes, out=x))

    def forward_transpose(self, weights: Counts) -> Counts:
        """The transpose of :meth:`forward`; any leading axes are a batch."""
        axes = self._behind(weights.ndim - len(self.sizes))
        return self._through(weights, lambda block, x: block.forward_transpose(x, axes, out=x))

    def inverse_whole(self, released: Counts) -> Counts:
        """The unbiased reconstruction, extra axes included."""
        return self._through(released, lambda block, x: block.inverse(x, self._axes, out=x))

    def inverse(self, released: Counts) -> Counts:
        """The unbiased reconstruction."""
        return self.collapse(self.inverse_whole(released))

    def inverse_transpose(self, weights: Counts) -> Counts:
        """A linear function of people as one of released rows; any leading axes are a batch."""
        axes = self._behind(weights.ndim - len(self.shape))
        x = np.broadcast_to(
            weights.reshape(weights.shape + (1,) * len(self.extra)),
            weights.shape + tuple(self.sizes[name] for name in self.extra),
        ).astype(float)
        for block in self.blocks:
            x = block.inverse_transpose(x, axes, out=x)
        return x

    def product_inverse(self, released: Counts, *kept: Collection[str]) -> Counts:
        """``sum_v released_v prod_i B_i[v, j]``, B_i the inverse on the marginal of ``kept[i]``."""
        x = released
        for block in self.blocks:
            x = block.product_inverse(x, self._axes, *kept)
        return x.reshape(*self.shape, -1)[..., 0] if self.extra else x  # the same all along the extra axes

    def collapse(self, counts: Counts) -> Counts:
        """Without the extra axes."""
        return counts.sum(self._summed) if self._summed else counts

    @cached_property
    def step(self) -> Counts:
        """How far one released row in a cell moves the estimate of that cell: B[j, j]."""
        return self._per_cell(lambda block, names: block.inverse_diagonal(names))

    def own_moment(self, power: int) -> Counts:
        """``sum_v A[j, v] B[v, j]^power`` of each cell j."""
        return self._per_cell(lambda block, names: block.own_moment(names, power))

    def _per_cell(self, of_block: Callable[[Block, list[str]], Counts]) -> Counts:
        result = np.ones((1,) * len(self.sizes))
        for block in self.blocks:
            names = [name for name in self.names if name in block.attributes]
            result = result * self._spread(names, of_block(block, names))
        return result.reshape(result.shape[: len(self.shape)])

    def _behind(self, batch: int) -> dict[str, int]:
        """The axes, shifted behind some leading ones."""
        return {name: axis + batch for name, axis in self._axes.items()}

    def _through(self, counts: Counts, apply: Callable[[Block, Counts], Counts]) -> Counts:
        x = np.array(counts, float)
        for block in self.blocks:
            x = apply(block, x)
        return x
