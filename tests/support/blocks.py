"""One block of every kind, and its dense matrix on any of its attributes."""

import itertools
from collections.abc import Sequence

import numpy as np
from dense import declared_words, marginal, matrix_of, unit_of
from numpy.typing import NDArray

from pkanon._blocks import Agreement, Axes, Block, Counts, Retention
from pkanon._schema import Unit

RULES = (((0,), (1, 2), ()), ((1,), (0,), (1,)))
BUNDLE = unit_of(2, 3, 2, forbid=RULES)  # forbids (0, 1, *), (0, 2, *), (1, 0, 1): 7 of 12 are allowed
PAIR = unit_of(2, 3, forbid=(((1,), (0, 2)),))  # 4 of 6

BLOCKS: dict[str, Block] = {
    "retention": Retention(unit_of(3), 2**29, 32),
    "retention, rho near 0": Retention(unit_of(3), 2**32 // 3 - 10**7, 32),
    "retention, rho near 1": Retention(unit_of(5), 3, 32),
    "retention, rho = 1": Retention(unit_of(5), 0, 32),
    "joint": Retention(unit_of(2, 3, 2), 2**28, 32),
    "joint, forbidden combinations": Retention(BUNDLE, 2**28, 32),
    "joint, forbidden combinations, rho near 0": Retention(BUNDLE, 2**32 // 7 - 10**7, 32),
    "matrix": matrix_of(unit_of(3), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32),
    "matrix with zeros": matrix_of(unit_of(3), [[12, 4, 0], [2, 13, 1], [0, 0, 16]], 32),
    "matrix on a bundle": matrix_of(unit_of(2, 2), [[10, 3, 1, 2], [1, 9, 4, 2], [5, 1, 9, 1], [1, 2, 1, 12]], 32),
    "matrix on a bundle, forbidden": matrix_of(PAIR, [[10, 3, 1, 2], [1, 9, 4, 2], [5, 1, 9, 1], [1, 2, 1, 12]], 32),
    "agreement": Agreement((unit_of(2), unit_of(3, names="b")), (2000, 6000, 7536, 50_000), 16),
}


def sizes_of(block: Block) -> dict[str, int]:
    return {name: size for unit in block.units for name, size in zip(unit.attributes, unit.sizes)}


def through(block: Block, name: str, counts: Counts, axes: Axes) -> Counts:
    """One pass of a block by its name; squared_inverse, ``(B o B)^T counts``, is the variance of the reconstruction."""
    if name == "squared_inverse":
        return block.product_inverse(counts, axes, block.attributes, block.attributes)
    result: Counts = getattr(block, name)(counts, axes)
    return result


def whole_unit(block: Block) -> Unit:
    """One unit with the cells of the block's matrix: its own, or all combinations of several."""
    if len(block.units) == 1:
        return block.units[0]
    return unit_of(*(unit.size for unit in block.units), names=block.attributes)


def dense_on(block: Block, names: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """(possible cells, matrix over them): cells numbered row-major over ``names``."""
    words = np.array(declared_words(block), float)
    matrix = words / words.sum(axis=1, keepdims=True)
    full = marginal(whole_unit(block), matrix, names)
    possible = np.flatnonzero(~np.isnan(full[:, 0]))
    return possible, full[np.ix_(possible, possible)]


def subsets(block: Block) -> list[tuple[str, ...]]:
    names = list(sizes_of(block))
    every = [c for count in range(1, len(names) + 1) for c in itertools.combinations(names, count)]
    return every if block.kind != "matrix" else [tuple(names)]  # a matrix has no marginals
