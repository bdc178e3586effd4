"""Linear functions of a table, and the sums behind their errors and intervals (docs/why/theory.md 7).

A function gives each cell a weight w; its value is ``sum w x``. One released row in cell v adds ``b_v = (B w)_v`` to its
estimate. Two classes hold many functions at once:

    Listed    any weights, written out
    Grouped   the same functions in every group of a table, zero outside the group

The attributes that do not form groups are the rest. Cells are groups without a rest. If no block randomises grouped
attributes together with others, B is the product of a matrix for the groups and one for the rest. Grouped then sums over
the rest once per distinct row of weights, not once per group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .channel import Channel

BATCH = 2**22
"""How many weights are written out at a time."""


class Functions(Protocol):
    """Some linear functions of a table; every array has one entry per function."""

    def values(self, people: Counts) -> Counts:
        """``sum_u x_u w_u``."""

    def squares(self, people: Counts) -> Counts:
        """``sum_u x_u w_u^2``."""

    def products(self, released: Counts) -> tuple[Counts, Counts]:
        """``sum_v y_v b_v^2``, and the sum of its absolute terms: the scale of its rounding error."""

    @property
    def spread(self) -> Counts:
        """The largest weight less the smallest, over the cells that can occur."""

    def written(self) -> Iterator[Counts]:
        """The weights of all functions in turn, some at a time: shape (functions, *table)."""


class Shape(NamedTuple):
    """Moments of functions that count people. Members are the people who are counted.

    ``people``    how many members the table has, of ``total`` people
    ``step``      the most that one released row in a counted cell adds
    ``expected``  how many such rows are expected
    ``own_2``     the expected b^2 of a member's released row, the mean over all members; ``own_3`` of b^3
    ``others_2``  the same over all other people; ``others_3`` of b^3
    """

    people: Counts
    step: Counts
    expected: Counts
    own_2: Counts
    own_3: Counts
    others_2: Counts
    others_3: Counts
    total: float

    def of(self, places: NDArray[np.intp] | slice) -> Shape:
        """The shape of some of the functions."""
        arrays = {name: value[places] for name, value in self._asdict().items() if name != "total"}
        return Shape(**arrays, total=self.total)

    @staticmethod
    def joined(parts: Sequence[tuple[NDArray[np.intp], Shape]], functions: int) -> Shape:
        """One shape from those of disjoint sets of functions, each with the places of its functions."""
        if len(parts) == 1 and np.array_equal(parts[0][0], np.arange(functions)):
            return parts[0][1]
        total = parts[0][1].total if parts else 0.0
        names = [name for name in Shape._fields if name != "total"]
        arrays = {name: np.ones(functions) for name in names}
        for places, part in parts:
            for name in names:
                arrays[name][places] = getattr(part, name)
        return Shape(**arrays, total=total)


@dataclass(frozen=True, eq=False)
class Listed:
    """Functions with their weights written out: shape (functions, *table)."""

    channel: Channel
    weights: Counts

    @cached_property
    def carried(self) -> Counts:
        """b: how much one released row adds, by its cell, extra axes included."""
        return self.channel.inverse_transpose(self.weights)

    def written(self) -> Iterator[Counts]:
        yield self.weights

    def _flat(self, array: Counts) -> Counts:
        return np.asarray(array).reshape(len(self.weights), -1)

    def values(self, people: Counts) -> Counts:
        return np.asarray(self._flat(self.weights * people).sum(1))

    def squares(self, people: Counts) -> Counts:
        return np.asarray(self._flat(self.weights**2 * people).sum(1))

    def products(self, released: Counts) -> tuple[Counts, Counts]:
        products = np.asarray(self._flat(released * self.carried**2).sum(1))
        return products, products

    @property
    def spread(self) -> Counts:
        inside = self.weights[:, self.channel.possible]
        return np.asarray(np.ptp(inside, axis=1)) if inside.size else np.zeros(len(self.weights))

    def covariances(self, released: Counts, people: Counts, second: Callable[[Counts], Counts] | None) -> Counts:
        """``sum y b_i b_j - sum x w_i w_j`` for all pairs; ``second`` computes the second term from the values instead."""
        carried, flat = self._flat(self.carried), self._flat(self.weights)
        products = (carried * released.ravel()) @ carried.T
        if second is not None:
            return np.asarray(products - second(flat @ people.ravel()))
        return np.asarray(products - (flat * people.ravel()) @ flat.T)

    def shape(self, people: Counts, expected: Counts) -> Shape:
        """The shape in a table of ``people``, for which ``expected`` rows are expected (both with the extra axes).

        Weights are 0 or 1.
        """
        channel = self.channel
        counted = self.weights.reshape(self.weights.shape + (1,) * len(channel.extra)) != 0
        support = np.broadcast_to(counted, self.carried.shape)
        inside = np.where(support, people, 0.0)
        empty = self._flat(inside).sum(1) <= 0
        if empty.any():  # no members: as if people were spread evenly
            inside[empty] = np.where(support[empty] & channel.possible_whole, 1.0, 0.0)
        members = np.maximum(self._flat(inside).sum(1), 1e-300)
        present = np.where(empty, 0.0, members)
        elsewhere = np.maximum(float(people.sum()) - present, 1.0)
        own, others = [], []
        for power in (2, 3):
            carried = self.carried**power
            own.append(self._flat(inside * channel.forward_transpose(carried)).sum(1) / members)
            others.append((self._flat(expected * carried).sum(1) - own[-1] * present) / elsewhere)
        reach = np.where(support & channel.possible_whole, np.abs(self.carried), 0.0)
        return Shape(
            people=present,
            step=self._flat(reach).max(1),
            expected=self._flat(np.where(support, expected, 0.0)).sum(1),
            own_2=own[0],
            own_3=own[1],
            others_2=np.maximum(others[0], 0.0),
            others_3=others[1],
            total=float(people.sum()),
        )


@dataclass(frozen=True, eq=False)
class Grouped:
    """The same functions in every group of a table whose first axes are the groups.

    ``shown`` holds the numbers of the groups that count. ``weights`` has one array per function, with an axis of length 1
    where the weights do not vary. ``slopes`` (groups, functions) combines the functions into one per group; a single
    function needs none.
    """

    channel: Channel
    groups: tuple[str, ...]
    shown: NDArray[np.intp]
    weights: tuple[Counts, ...]
    slopes: Counts | None = None

    @property
    def _rest(self) -> tuple[int, ...]:
        return tuple(range(len(self.groups), len(self.channel.names)))

    @property
    def _factors(self) -> Counts:
        return np.broadcast_to(1.0, (len(self.shown), 1)) if self.slopes is None else self.slopes

    @cached_property
    def _chosen(self) -> NDArray[np.intp] | slice:
        """``shown``, or all groups in their order, for which nothing needs to be copied."""
        grouped = math.prod(self.channel.shape[: len(self.groups)])
        every = len(self.shown) == grouped and np.array_equal(self.shown, np.arange(grouped))
        return slice(None) if every else self.shown

    def _sums(self, counts: Counts, weights: Counts) -> Counts:
        """``counts * weights`` summed over the rest, in each group shown."""
        product = np.broadcast_to(counts * weights, self.channel.shape)
        return np.asarray(product.sum(self._rest)).ravel()[self._chosen]

    def each(self, people: Counts) -> Counts:
        """The value of every function in every group: shape (groups, functions)."""
        return np.stack([self._sums(people, weights) for weights in self.weights], axis=1)

    def values(self, people: Counts) -> Counts:
        if self.slopes is None and len(self.weights) == 1:
            return self._sums(people, self.weights[0])
        return np.asarray((self._factors * self.each(people)).sum(1))

    def squares(self, people: Counts) -> Counts:
        pairs = self._pairs(lambda j, k: self._sums(people, self.weights[j] * self.weights[k]))
        return np.asarray((self._square * pairs).sum((1, 2)))

    def products(self, released: Counts) -> tuple[Counts, Counts]:
        pairs = self._square * self.pair_products(released)
        return np.asarray(pairs.sum((1, 2))), np.asarray(np.abs(pairs).sum((1, 2)))

    @property
    def spread(self) -> Counts:
        rows = np.einsum("gj,jgr->gr", self._factors, self.rows(self.shown))
        grouped = math.prod(self.channel.shape[: len(self.groups)])
        possible = self.channel.possible.reshape(grouped, -1)[self._chosen]
        elsewhere = np.zeros(()) if grouped > 1 else np.nan  # in all other groups, if there are any
        high = np.fmax(np.where(possible, rows, -np.inf).max(1), elsewhere)
        low = np.fmin(np.where(possible, rows, np.inf).min(1), elsewhere)
        return np.asarray(np.maximum(high - low, 0.0))

    @property
    def _square(self) -> Counts:
        return self._factors[:, :, None] * self._factors[:, None, :]

    def pair_products(self, released: Counts) -> Counts:
        """``sum_v y_v b_j b_k`` of all pairs of functions in every group: shape (groups, functions, functions)."""
        return self._by_pattern(released) if self._separable else self._one_by_one(released)

    @cached_property
    def _separable(self) -> bool:
        """Whether B is the product of a matrix for the groups and one for the rest."""
        inside = set(self.groups)
        return bool(self.groups) and not any(
            0 < len(inside.intersection(block.attributes)) < len(set(block.attributes) & set(self.channel.names))
            for block in self.channel.blocks
        )

    @property
    def _alike(self) -> bool:
        """Whether the weights are the same in every group."""
        grouped = len(self.groups)
        return all(weights.shape[:grouped] == (1,) * grouped for weights in self.weights)

    def rows(self, numbers: NDArray[np.intp]) -> Counts:
        """The weights in the groups with these numbers: shape (functions, groups, rest)."""
        shape = self.channel.shape
        grouped = math.prod(shape[: len(self.groups)])
        return np.stack(
            [np.broadcast_to(weights, shape).reshape(grouped, -1)[numbers].astype(float) for weights in self.weights]
        )

    def written_out(self, places: NDArray[np.intp]) -> Counts:
        """All weights of every function in the groups at ``places`` of ``shown``: shape (functions, places, *table)."""
        shape = self.channel.shape
        grouped = math.prod(shape[: len(self.groups)])
        numbers = self.shown[places]
        weights = np.zeros((len(self.weights), len(numbers), grouped, math.prod(shape) // grouped))
        weights[:, np.arange(len(numbers)), numbers] = self.rows(numbers)
        return weights.reshape(len(self.weights), len(numbers), *shape)

    def pieces(self) -> Iterator[NDArray[np.intp]]:
        """The places of ``shown``, as many at a time as may be written out."""
        cells = math.prod(self.channel.sizes.values())
        batch = max(BATCH // max(cells * len(self.weights), 1), 1)
        for start in range(0, len(self.shown), batch):
            yield np.arange(start, min(start + batch, len(self.shown)))

    def written(self) -> Iterator[Counts]:
        for piece in self.pieces():
            weights = self.written_out(piece)
            yield np.einsum("gj,jg...->g...", self._factors[piece], weights)

    def _one_by_one(self, released: Counts) -> Counts:
        """Pair products, with every group carried through the inverse separately."""
        flat, functions = released.ravel(), len(self.weights)
        products = [np.zeros((0, functions, functions))]
        for piece in self.pieces():
            weights = self.written_out(piece)
            carried = self.channel.inverse_transpose(weights.reshape(-1, *self.channel.shape))
            carried = carried.reshape(functions, len(piece), -1)
            if functions == 1:
                products.append((flat * carried[0] ** 2).sum(1)[:, None, None])
            else:
                products.append(np.einsum("jgv,kgv->gjk", carried * flat, carried, optimize=True))
        return np.concatenate(products)

    @cached_property
    def _split(self) -> tuple[Channel, Channel | None]:
        """The channels of the groups and of the rest."""
        rest = self.channel.names[len(self.groups) :]
        if not rest:
            return self.channel, None
        return Channel(self.channel.blocks, self.groups), Channel(self.channel.blocks, rest)

    def _arranged(self, released: Counts) -> Counts:
        """Released counts as a matrix: groups by rest, extra axes included."""
        outer, inner = self._split
        order = [*outer.sizes, *(inner.sizes if inner else ())]
        axes = list(self.channel.sizes)
        y = np.transpose(released, [axes.index(name) for name in order])
        return y.reshape(math.prod(outer.sizes.values()), -1)

    def _carried(self, pattern: Counts) -> Counts:
        """How much a released row adds, along the rest: shape (functions, rest)."""
        inner = self._split[1]
        if inner is None:
            return pattern
        return inner.inverse_transpose(pattern.reshape(-1, *inner.shape)).reshape(len(pattern), -1)

    def _by_pattern(self, released: Counts) -> Counts:
        """Pair products, summed over the rest once per distinct row of weights."""
        outer, _ = self._split
        y = self._arranged(released)
        result = np.zeros((len(self.shown), len(self.weights), len(self.weights)))
        for places, pattern, scale in self._patterns():
            carried, numbers = self._carried(pattern), self._numbers(places)

            def summed(
                j: int, k: int, carried: Counts = carried, numbers: NDArray[np.intp] | slice = numbers
            ) -> Counts:
                over_rest = (y @ (carried[j] * carried[k])).reshape(tuple(outer.sizes.values()))
                return outer.product_inverse(over_rest, self.groups, self.groups).ravel()[numbers]

            result[places] = self._pairs(summed) * scale.T[:, :, None] * scale.T[:, None, :]
        return result

    def _numbers(self, places: NDArray[np.intp]) -> NDArray[np.intp] | slice:
        """The numbers of the groups at ``places`` of ``shown``, which rise."""
        return self._chosen if len(places) == len(self.shown) else self.shown[places]

    def _patterns(self) -> Sequence[tuple[NDArray[np.intp], Counts, Counts]]:
        """Groups with proportional weights: (their places, the common weights over the rest, the factor of each group)."""
        if len(self.shown) == 0:
            return []
        if self._alike:
            everywhere = np.arange(len(self.shown))
            scale = np.broadcast_to(1.0, (len(self.weights), len(everywhere)))
            return [(everywhere, self.rows(self.shown[:1])[:, 0], scale)]
        rows = self.rows(self.shown)
        first = np.take_along_axis(rows, np.argmax(rows != 0, axis=2)[:, :, None], axis=2)
        scale = np.where(first == 0, 1.0, first)
        rows = rows / scale
        alike: dict[bytes, list[int]] = {}
        for place in range(len(self.shown)):
            alike.setdefault(rows[:, place].tobytes(), []).append(place)
        return [(np.array(places), rows[:, places[0]], scale[:, places, 0]) for places in alike.values()]

    def _pairs(self, of: Callable[[int, int], Counts]) -> Counts:
        """A symmetric matrix per group, from one array over groups per pair of functions."""
        functions = len(self.weights)
        if functions == 1:
            return of(0, 0)[:, None, None]
        rows = [[of(j, k) for k in range(j + 1)] for j in range(functions)]
        return np.stack(
            [np.stack([rows[max(j, k)][min(j, k)] for k in range(functions)], 1) for j in range(functions)], 1
        )

    def factors(self) -> Counts:
        """The f of each group in which the single function is f times a count of people; NaN in all others."""
        rows = self.rows(self.shown[:1] if self._alike else self.shown)[0]
        first = np.take_along_axis(rows, np.argmax(rows != 0, axis=1)[:, None], axis=1)
        counts = ((rows == 0) | (rows == first)).all(1) & (first[:, 0] != 0)
        return np.broadcast_to(np.where(counts, first[:, 0], np.nan), self.shown.shape)

    def shape(self, people: Counts, expected: Counts) -> Shape:
        """The shape of the single function, which counts people, in every group; arguments as in :meth:`Listed.shape`."""
        parts: list[tuple[NDArray[np.intp], Shape]] = []
        if self._separable and (not self.channel.extra or self._split[1] is None):
            for places, pattern, _ in self._patterns():
                parts.append((places, self._shape_of(places, pattern[0], people, expected)))
        else:
            for piece in self.pieces():
                parts.append((piece, Listed(self.channel, self.written_out(piece)[0]).shape(people, expected)))
        return Shape.joined(parts, len(self.shown))

    def _shape_of(self, places: NDArray[np.intp], pattern: Counts, people: Counts, expected: Counts) -> Shape:
        """The shape in the groups at ``places``, which count the cells of ``pattern``."""
        outer, inner = self._split
        carried = self._carried(pattern[None])[0]
        support = pattern != 0
        grouped = math.prod(outer.shape)
        groups = self._numbers(places)
        x, rows = (self.channel.collapse(counts).reshape(grouped, -1) for counts in (people, expected))
        y = self._arranged(expected)
        possible = self.channel.possible.reshape(grouped, -1)[groups]
        inside = np.where(support, x[groups], 0.0)
        empty = inside.sum(1) <= 0
        inside[empty] = (support & possible)[empty]
        members = np.maximum(inside.sum(1), 1e-300)
        present = np.where(empty, 0.0, members)
        elsewhere = np.maximum(float(people.sum()) - present, 1.0)

        def own(power: int) -> Counts:
            """The mean over members of the expected b^power of their row."""
            on_groups = np.broadcast_to(outer.own_moment(power), outer.shape).ravel()[groups]
            if inner is None:
                return np.asarray(on_groups)
            on_rest = inner.forward_transpose((carried**power).reshape(inner.shape)).ravel()
            return np.asarray(on_groups * (inside @ on_rest) / members)

        def all_rows(power: int) -> Counts:
            over_rest = (y @ carried**power).reshape(tuple(outer.sizes.values()))
            return outer.product_inverse(over_rest, *[self.groups] * power).ravel()[groups]

        own_2, own_3 = own(2), own(3)
        others_2, others_3 = ((all_rows(p) - each * present) / elsewhere for p, each in ((2, own_2), (3, own_3)))
        diagonal = np.broadcast_to(outer.step, outer.shape).ravel()[groups]
        return Shape(
            people=present,
            step=np.abs(diagonal * np.abs(carried[support]).max(initial=0.0)),
            expected=np.where(support, rows[groups], 0.0).sum(1),
            own_2=own_2,
            own_3=own_3,
            others_2=np.maximum(others_2, 0.0),
            others_3=others_3,
            total=float(people.sum()),
        )


def cells(channel: Channel) -> Grouped:
    """One function per cell of a table: how many people are in it."""
    shape = channel.shape
    return Grouped(channel, channel.names, np.arange(math.prod(shape)), (np.ones((1,) * len(shape)),))
