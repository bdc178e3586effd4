"""The covariance of several linear functions of a table, in every group of it at once (docs/theory.md 7).

Function j has in group g the weights ``W_j(g, r)``, r the cell of the attributes that are not grouped by,
and zero in all other groups. The estimated covariance is ``P - K`` with

    P_jk(g) = sum_v y_v (B w_j)_v (B w_k)_v
    K_jk(g) = sum_r x_hat(g, r) W_j W_k     (table)      or     v_j v_k / n     (population)

as in ``Reconstruction.variance_of``, which is the same for one function and one group. Where no block
randomises grouped attributes together with others, B is a product of two, and the sum over the rest is
done once per distinct row of weights instead of once per group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._estimate import Channel, Reconstruction

ROUNDING = 1e-12
"""A variance is a difference of sums; below this share of their terms it is rounding."""
BATCH = 2**22
"""Numbers held at a time where groups are taken one by one."""


@dataclass(frozen=True)
class Grouped:
    """A table whose first axes are the groups; ``shown`` numbers the groups that count, ``weights`` has axes of
    length 1 where a function does not change along them."""

    table: Reconstruction
    groups: tuple[str, ...]
    shown: NDArray[np.intp]
    weights: tuple[Counts, ...]

    @property
    def _rest(self) -> tuple[int, ...]:
        return tuple(range(len(self.groups), len(self.table.names)))

    def sums(self, counts: Counts, weights: Counts) -> Counts:
        """``sum_r counts weights`` in each group shown."""
        product = np.broadcast_to(counts * weights, self.table.counts.shape)
        return np.asarray(product.sum(self._rest)).ravel()[self.shown]

    def values(self, counts: Counts) -> Counts:
        """Every function in every group: shape (groups, functions)."""
        return np.stack([self.sums(counts, weights) for weights in self.weights], axis=1)

    def errors(self, slopes: Counts) -> Counts:
        """Standard errors of ``sum_j slopes[g, j] L_j(g)``; NaN where a slope is."""
        table = self.table
        if not len(self.shown):
            return np.zeros(0)
        products = self._products(table.squares)
        known = self._known(table.unbiased, max(table.rows, 1))
        variance, rounding = _quadratic(slopes, products, known)
        if table.about == "population" and table.rows > 1:
            variance = variance * (table.rows / (table.rows - 1))
        weak = variance <= rounding
        if weak.any():
            # as in Reconstruction: the variance if the nearest table without negative cells were the truth
            people = table.nearest_whole
            near = table.channel.collapse(people)
            products = self._products(table.channel.forward(people))
            nearby, rounding = _quadratic(slopes, products, self._known(near, max(table.total, 1.0)))
            variance = np.where(weak, np.where(nearby > rounding, nearby, 0.0), variance)
        return np.sqrt(variance)

    def _known(self, people: Counts, total: float) -> Counts:
        if self.table.about == "population":
            values = self.values(people)
            return values[:, :, None] * values[:, None, :] / total
        return _pairs(len(self.weights), lambda j, k: self.sums(people, self.weights[j] * self.weights[k]))

    def _products(self, released: Counts) -> Counts:
        inside = set(self.groups)
        mixed = any(
            0 < len(inside.intersection(block.attributes)) < len(set(block.attributes) & set(self.table.names))
            for block in self.table.channel.blocks
        )
        return self._one_by_one(released) if mixed or not self.groups else self._by_pattern(released)

    def _rows(self, chosen: NDArray[np.intp]) -> Counts:
        """The weights in some groups: shape (functions, groups, rest)."""
        shape = self.table.counts.shape
        grouped = int(np.prod(shape[: len(self.groups)], dtype=np.int64))
        return np.stack(
            [np.broadcast_to(weights, shape).reshape(grouped, -1)[chosen].astype(float) for weights in self.weights]
        )

    def _one_by_one(self, released: Counts) -> Counts:
        """P, every group carried through the inverse by itself."""
        shape, functions = self.table.counts.shape, len(self.weights)
        grouped = int(np.prod(shape[: len(self.groups)], dtype=np.int64))
        batch = max(BATCH // (released.size * functions), 1)
        flat = released.ravel()
        found = []
        for start in range(0, len(self.shown), batch):
            chosen = self.shown[start : start + batch]
            whole = np.zeros((functions, len(chosen), grouped, self.table.counts.size // grouped))
            whole[:, np.arange(len(chosen)), chosen] = self._rows(chosen)
            carried = self.table.channel.inverse_transpose(whole.reshape(-1, *shape))
            carried = carried.reshape(functions, len(chosen), -1)
            found.append(np.einsum("jgv,kgv->gjk", carried * flat, carried, optimize=True))
        return np.concatenate(found)

    def _by_pattern(self, released: Counts) -> Counts:
        """P, with the sum over the rest done once per distinct row of weights."""
        blocks, names = self.table.channel.blocks, self.table.names
        outer = Channel(blocks, self.groups)
        rest = names[len(self.groups) :]
        inner = Channel(blocks, rest) if rest else None
        order = [*outer.sizes, *(inner.sizes if inner else ())]
        axes = list(self.table.channel.sizes)
        y = np.transpose(released, [axes.index(name) for name in order])
        y = y.reshape(int(np.prod(list(outer.sizes.values()), dtype=np.int64)), -1)
        result = np.zeros((len(self.shown), len(self.weights), len(self.weights)))
        for members, pattern, scale in self._patterns():
            carried = pattern
            if inner:
                carried = inner.inverse_transpose(pattern.reshape(-1, *inner.shape)).reshape(len(pattern), -1)
            chosen = self.shown[members]

            def summed(j: int, k: int, carried: Counts = carried, chosen: NDArray[np.intp] = chosen) -> Counts:
                over_rest = (y @ (carried[j] * carried[k])).reshape(tuple(outer.sizes.values()))
                return outer.product_inverse(over_rest, self.groups, self.groups).ravel()[chosen]

            result[members] = _pairs(len(pattern), summed) * scale.T[:, :, None] * scale.T[:, None, :]
        return result

    def _patterns(self) -> Sequence[tuple[NDArray[np.intp], Counts, Counts]]:
        """(places of the groups, their common weights over the rest, each group's factor) of groups that share weights."""
        grouped = len(self.groups)
        if all(weights.shape[:grouped] == (1,) * grouped for weights in self.weights):
            everywhere = np.arange(len(self.shown))
            return [(everywhere, self._rows(self.shown[:1])[:, 0], np.ones((len(self.weights), len(everywhere))))]
        rows = self._rows(self.shown)
        first = np.take_along_axis(rows, np.argmax(rows != 0, axis=2)[:, :, None], axis=2)
        scale = np.where(first == 0, 1.0, first)
        rows = rows / scale
        alike: dict[bytes, list[int]] = {}
        for place in range(len(self.shown)):
            alike.setdefault(rows[:, place].tobytes(), []).append(place)
        return [(np.array(places), rows[:, places[0]], scale[:, places, 0]) for places in alike.values()]


def _pairs(functions: int, of: Callable[[int, int], Counts]) -> Counts:
    """A symmetric matrix per group, from one array over groups per pair of functions."""
    rows = [[of(j, k) for k in range(j + 1)] for j in range(functions)]
    return np.stack([np.stack([rows[max(j, k)][min(j, k)] for k in range(functions)], 1) for j in range(functions)], 1)


def _quadratic(slopes: Counts, products: Counts, known: Counts) -> tuple[Counts, Counts]:
    """``s^T (P - K) s`` in each group, and what of it may be rounding."""
    pairs = slopes[:, :, None] * slopes[:, None, :]
    variance = (pairs * (products - known)).sum((1, 2))
    return variance, ROUNDING * np.abs(pairs * products).sum((1, 2))
