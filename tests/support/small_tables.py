"""Small private tables, released in every possible way: each release with its exact probability, no sampling."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from blocks import BLOCKS, whole_unit
from dense import declared_words, matrix_of, unit_of
from numpy.typing import ArrayLike, NDArray
from plans import schema_for

from pkanon._blocks import Block, Retention
from pkanon._estimate import Reconstruction

Floats = NDArray[np.float64]
Record = Sequence[int]


def records_of(blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Every record that can occur, as a tuple of codes in the order of the blocks' attributes."""
    parts = []
    for block in blocks:
        unit = whole_unit(block)
        parts.append(list(zip(*unit.split(np.arange(unit.size, dtype=np.uint32)))))
    return [tuple(int(code) for part in parts for code in part) for parts in itertools.product(*parts)]


def dense_of(blocks: Sequence[Block]) -> Floats:
    """The transition matrix of whole records, in the order of :func:`records_of`."""
    result = np.ones((1, 1))
    for block in blocks:
        words = np.array(declared_words(block), float)
        result = np.kron(result, words / words.sum(axis=1, keepdims=True))
    return result


def reconstruct(
    blocks: Sequence[Block],
    records: Sequence[Record],
    names: Sequence[str],
    weights: ArrayLike | None = None,
    **more: Any,
) -> Reconstruction:
    """The package's table from released records."""
    attributes = [name for block in blocks for name in block.attributes]
    columns = np.array(records, int).reshape(len(records), len(attributes)).T
    codes = {name: column.astype(np.uint8) for name, column in zip(attributes, columns)}
    weighed = None if weights is None else np.asarray(weights, float)
    return Reconstruction.of(schema_for(blocks), blocks, codes, names, weights=weighed, **more)


def counted(
    blocks: Sequence[Block],
    records: Sequence[Record],
    names: Sequence[str],
    weights: Sequence[float] | None = None,
) -> Floats:
    """The private table itself."""
    attributes = [name for block in blocks for name in block.attributes]
    sizes = dict(zip(attributes, (a.size for a in schema_for(blocks).attributes)))
    table = np.zeros([sizes[name] for name in names])
    for record, weight in zip(records, weights or [1.0] * len(records)):
        table[tuple(record[attributes.index(name)] for name in names)] += weight
    return table


def average(
    blocks: Sequence[Block],
    laws: Sequence[Sequence[float]] | Floats,
    names: Sequence[str],
    of: Callable[[Reconstruction], Any],
    weights: Sequence[float] | None = None,
    **more: Any,
) -> Any:
    """The expectation of ``of(table)`` over all releases; person i is released as record v with chance laws[i][v]."""
    records = records_of(blocks)
    total: Any = 0.0
    mass = 0.0
    for outcome in itertools.product(range(len(records)), repeat=len(laws)):
        chance = math.prod(law[v] for law, v in zip(laws, outcome))
        if chance:
            table = reconstruct(blocks, [records[v] for v in outcome], names, weights, **more)
            total = total + chance * of(table)
            mass += chance
    assert mass == pytest.approx(1, abs=1e-12)
    return total


TWO = Retention(unit_of(2), 2**29, 32)
THREE = Retention(unit_of(3, names="b"), 2**29, 32)
FOUR = Retention(unit_of(4), 2**29, 32)
JOINT = Retention(unit_of(2, 2, names="cd"), 2**28, 32)
FORBIDDING = Retention(unit_of(2, 3, names="cd", forbid=(((0,), (2,)), ((1,), (0,)))), 2**28, 32)
MATRIX = matrix_of(unit_of(3, names="e"), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32)
BUNDLED = BLOCKS["matrix on a bundle"]
BUNDLED_FORBIDDING = BLOCKS["matrix on a bundle, forbidden"]
AGREEMENT = BLOCKS["agreement"]

CASES: dict[str, tuple[tuple[Block, ...], tuple[str, ...], int]] = {
    "retention": ((FOUR,), ("a",), 4),
    "two attributes": ((TWO, THREE), ("b", "a"), 3),
    "one of two": ((TWO, THREE), ("b",), 3),
    "joint": ((JOINT,), ("d", "c"), 4),
    "joint, forbidden": ((FORBIDDING,), ("c", "d"), 4),
    "joint, forbidden, marginal": ((FORBIDDING,), ("d",), 4),
    "matrix": ((MATRIX,), ("e",), 4),
    "matrix and retention": ((MATRIX, TWO), ("a", "e"), 3),
    "matrix on a bundle": ((BUNDLED,), ("b", "a"), 3),
    "matrix on a bundle, marginal": ((BUNDLED,), ("b",), 3),
    "matrix on a bundle, forbidden, marginal": ((BUNDLED_FORBIDDING,), ("a",), 3),
    "matrix on a bundle, forbidden, other marginal": ((BUNDLED_FORBIDDING,), ("b",), 3),
    "agreement": ((AGREEMENT,), ("b", "a"), 3),
    "agreement, marginal": ((AGREEMENT,), ("b",), 3),
}


def some_people(blocks: Sequence[Block], people: int) -> list[int]:
    """Unlike people, two of them alike: records 0, 0, 1, 2, ... as far as there are so many."""
    records = len(records_of(blocks))
    return [0, *(i % records for i in range(people - 1))]


def functions(shape: Sequence[int], seed: int) -> Floats:
    """Three random linear functions of a table."""
    return np.random.default_rng(seed).normal(size=(3, *shape))


def drawn(blocks: Sequence[Block], names: Sequence[str], rows: int, seed: int, **more: Any) -> Reconstruction:
    """A table reconstructed from random records: dense enough that no variance is estimated below zero."""
    draw = np.random.default_rng(seed)
    records = records_of(blocks)
    p = draw.dirichlet(np.full(len(records), 5.0))
    return reconstruct(blocks, [records[i] for i in draw.choice(len(records), rows, p=p)], names, **more)
