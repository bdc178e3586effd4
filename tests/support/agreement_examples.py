"""Agreement blocks by the weights of their surviving sets, on attributes and on bundles."""

import itertools
import random
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from dense import declared_words, forbidden, unit_of
from numpy.typing import ArrayLike, NDArray

from pkanon._blocks import Agreement
from pkanon._schema import Unit

Floats = NDArray[np.float64]


def of_units(*units: Unit, weights: Sequence[int], width: int = 32) -> Agreement:
    """A block whose sets survive in proportion to ``weights``; the last one gets what rounding leaves over."""
    total = sum(weights)
    sets = [weight * 2**width // total for weight in weights]
    sets[-1] += 2**width - sum(sets)
    return Agreement(units, tuple(sets), width)


def agreement(sizes: Sequence[int], weights: Sequence[int], width: int = 16, names: str = "abcd") -> Agreement:
    """The same on single attributes."""
    return of_units(*(unit_of(size, names=name) for size, name in zip(sizes, names)), weights=weights, width=width)


EXAMPLES = {
    "2 x 2": agreement((2, 2), (1, 2, 3, 10)),
    "2 x 3": agreement((2, 3), (2, 1, 5, 8)),
    "3 x 3": agreement((3, 3), (4, 3, 1, 8)),
    "2 x 3 x 4": agreement((2, 3, 4), (1, 2, 3, 4, 5, 6, 7, 36)),
}


BUNDLES = {
    "a bundle and an attribute": of_units(unit_of(2), unit_of(2, 3, names="bc"), weights=(3, 2, 5, 11)),
    "forbidden combinations and an attribute": of_units(
        unit_of(2, 3, forbid=(((1,), (0, 2)),)), unit_of(3, names="c"), weights=(2, 5, 3, 13)
    ),
    "forbidden combinations in both": of_units(
        unit_of(2, 3, forbid=(((1,), (0, 2)),)),
        unit_of(3, 2, names="cd", forbid=(((1,), (1,)),)),
        weights=(1, 4, 2, 9),
    ),
    "a bundle of three between two attributes": of_units(
        unit_of(2),
        unit_of(2, 2, 2, names="bcd", forbid=(((0,), (1,), ()),)),
        unit_of(3, names="e"),
        weights=(2, 1, 3, 4, 1, 5, 6, 30),
    ),
    "negative eigenvalues": of_units(
        unit_of(2, 2, forbid=(((1,), (1,)),)), unit_of(3, names="c"), weights=(20, 3, 2, 1)
    ),
}


def people_of(block: Agreement) -> list[dict[str, int]]:
    """The codes of every attribute, for each cell in the order of the block's matrix."""
    allowed = [
        [c for c in itertools.product(*map(range, unit.sizes)) if not forbidden(unit, c)] for unit in block.units
    ]
    return [dict(zip(block.attributes, itertools.chain(*combination))) for combination in itertools.product(*allowed)]


class Dense:
    """The matrix of a block on ``names`` (one axis each, in this order), by adding up its cells."""

    def __init__(self, block: Agreement, names: Sequence[str]):
        sizes = {name: size for unit in block.units for name, size in zip(unit.attributes, unit.sizes)}
        self.names, self.shape = names, [sizes[name] for name in names]
        people = people_of(block)
        number = [int(np.ravel_multi_index([person[name] for name in names], self.shape)) for person in people]
        self.possible = sorted(set(number))
        place = [self.possible.index(cell) for cell in number]
        whole = np.array([[float(entry) for entry in row] for row in declared_words(block)])
        self.a = np.full((len(self.possible),) * 2, np.nan)
        for row, cell in zip(whole, place):
            summed = np.bincount(place, weights=row, minlength=len(self.possible))
            if not np.isnan(self.a[cell, 0]):  # the rest of a person's row does not matter
                np.testing.assert_allclose(self.a[cell], summed, atol=1e-13)
            self.a[cell] = summed
        self.b = np.linalg.inv(self.a)

    @property
    def axes(self) -> dict[str, int]:
        return {name: axis for axis, name in enumerate(self.names)}

    def counts(self, values: ArrayLike, elsewhere: float = 0.0) -> Floats:
        flat = np.full(prod(self.shape), elsewhere)
        flat[self.possible] = values
        return flat.reshape(self.shape)

    def spread(self, kept: Sequence[str]) -> Floats:
        """``[v, j]``: the inverse on the marginal of ``kept``, at the marginal values of v and j."""
        codes = np.unravel_index(self.possible, self.shape)
        mine = [tuple(codes[self.names.index(name)][i] for name in kept) for i in range(len(self.possible))]
        result: Floats = self.b @ np.array([[one == other for other in mine] for one in mine], float)
        return result

    def check(self, got: ArrayLike, expected: Floats, dense: Floats) -> None:
        flat = np.broadcast_to(got, self.shape).reshape(-1)[self.possible]
        scale = max(1.0, float(np.abs(dense).max()))
        np.testing.assert_allclose(flat, expected, rtol=1e-10, atol=1e-10 * scale)


def orders_of(block: Agreement, most: int = 2) -> Iterator[tuple[str, ...]]:
    """Every subset of attributes, in up to ``most`` orders: first as declared, then shuffled."""
    draw = random.Random(7)
    for count in range(1, len(block.attributes) + 1):
        for names in itertools.combinations(block.attributes, count):
            orders = list(itertools.permutations(names))
            yield from [orders[0], *draw.sample(orders[1:], min(most - 1, len(orders) - 1))]
