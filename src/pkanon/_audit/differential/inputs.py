"""The tables that an audit puts in: every value of every column, and rows whose place tells their record.

All of them follow from the plan. Which values stand together in a record is drawn by a generator whose seed is the plan's
digest.

*Mixtures* show how values are randomised. Every value of every unit stands in one of at most MOST_TABLES tables; the
records of one table are repeated unequally often, so that two values which changed places would show. One more table
holds every combination of values, or MOST_COMBINATIONS of them. A released table is shuffled, so what a mixture shows is
how often each cell came out: a sum of independent draws whose average probability is known (:func:`shares_of`).

*Patterns* show how rows are shuffled. A pattern is a set of places: one half of a table, one residue of the row's number,
every other stretch of 2, 4, 8, ... rows. A row holds the one record if its place is in most patterns, and else the other
one. So the records are spread unevenly over every pattern at once, and a shuffle must undo all of that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._plan import Plan
from .law import Record, law, sizes_of

MOST_TABLES = 16
MOST_COMBINATIONS = 256
MOST_CELLS = 2**14
"""Tables with more cells are not compared: too few rows would fall into each."""
MOST_WORK = 2**30
"""Cells times records, so that laws are written out in seconds."""
RESIDUES = (2, 3, 5, 7, 11, 13)
"""Whatever keeps the residues of a multiple of one of these keeps its own."""


@dataclass(frozen=True)
class Mixture:
    """Records, and how often each of them stands in a table; ``covers`` if the table is one of those for single values."""

    records: tuple[Record, ...]
    repeats: tuple[int, ...]
    covers: bool = True

    @property
    def parts(self) -> list[tuple[Record, int]]:
        """What a table is made of."""
        return list(zip(self.records, self.repeats))

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return sum(self.repeats)


def compared_tables(plan: Plan) -> list[tuple[str, ...]]:
    """The attributes of each table of counts: one, two, and all of them, unless there are too many cells."""
    sizes = {attribute.name: attribute.size for attribute in plan.schema.randomised}
    tables = [chosen for count in sorted({1, 2, len(sizes)}) for chosen in itertools.combinations(sizes, count)]
    return [table for table in tables if math.prod(sizes[name] for name in table) <= MOST_CELLS]


def mixtures(plan: Plan, rows: int) -> list[Mixture]:
    """Tables of about ``rows`` rows each in which every value of every unit occurs, and one of combinations."""
    generator = np.random.default_rng(int(plan.digest, 16))
    orders = [generator.permutation(unit.size) for unit in plan.units]
    count = covered_values(plan)
    tables = min(count, MOST_TABLES)
    found = []
    for table in range(tables):
        records = tuple(
            _record(plan, [int(order[number % len(order)]) for order in orders])
            for number in range(table, count, tables)
        )
        weights = np.arange(len(records), 2 * len(records))
        repeats = np.maximum(1, weights * rows // weights.sum())
        repeats[-1] += max(0, rows - repeats.sum())
        found.append(Mixture(records, tuple(repeats.tolist())))
    return [*found, _combinations(plan, rows, generator)]


def covered_values(plan: Plan) -> int:
    """How many values of the longest unit are put in: all, unless it would take too long to write their laws out."""
    longest = max(unit.size for unit in plan.units)
    cells = sum(math.prod(sizes_of(block)) for block in plan.blocks)
    cells += sum(math.prod(plan.schema.attribute(name).size for name in table) for table in compared_tables(plan))
    return min(longest, max(MOST_TABLES, MOST_WORK // cells))


def _combinations(plan: Plan, rows: int, generator: np.random.Generator) -> Mixture:
    sizes = [unit.size for unit in plan.units]
    chosen: list[tuple[int, ...]]
    if math.prod(sizes) <= MOST_COMBINATIONS:
        chosen = list(itertools.product(*map(range, sizes)))
    else:
        drawn = [generator.integers(size, size=MOST_COMBINATIONS).tolist() for size in sizes]
        chosen = sorted(set(zip(*drawn)))
    records = tuple(_record(plan, list(codes)) for codes in chosen)
    repeats = np.full(len(records), max(1, rows // len(records)))
    repeats[-1] += max(0, rows - repeats.sum())
    return Mixture(records, tuple(repeats.tolist()), covers=False)


def _record(plan: Plan, codes: Sequence[int]) -> Record:
    record: Record = {}
    for unit, code in zip(plan.units, codes):
        columns = unit.split(np.array([code], np.uint32))
        record |= {name: int(column[0]) for name, column in zip(unit.attributes, columns)}
    return record


def shares_of(plan: Plan, mixture: Mixture, tables: Sequence[tuple[str, ...]]) -> list[NDArray[np.float64]]:
    """The share of the rows that is expected in each cell of each table of counts."""
    sizes = {attribute.name: attribute.size for attribute in plan.schema.randomised}
    totals = [np.zeros([sizes[name] for name in table]) for table in tables]
    for record, repeats in mixture.parts:
        laws = [law(block, record) for block in plan.blocks]
        for total, table in zip(totals, tables):
            total += _marginal(plan, laws, table) * (repeats / mixture.rows)
    return [np.clip(total, 0.0, 1.0) for total in totals]


def _marginal(plan: Plan, laws: list[NDArray[np.float64]], table: tuple[str, ...]) -> NDArray[np.float64]:
    """The law of some attributes, one axis each: blocks are independent."""
    result, order = np.ones(()), []
    for block, own in zip(plan.blocks, laws):
        kept = [name for name in block.attributes if name in table]
        if not kept:
            continue
        dropped = tuple(axis for axis, name in enumerate(block.attributes) if name not in table)
        result = np.multiply.outer(result, own.sum(axis=dropped))
        order += kept
    return np.transpose(result, [order.index(name) for name in table])


def patterns(rows: int) -> Iterator[NDArray[np.bool_]]:
    """Sets of places, each a truth value per row."""
    places = np.arange(rows)
    yield places < rows // 2
    for residues in RESIDUES:
        yield places % residues < residues // 2
    length = 2
    while 2 * length < rows:
        yield places // length % 2 == 0
        length *= 2


def places_of_first(rows: int) -> NDArray[np.bool_]:
    """The places that are in most patterns."""
    total = np.zeros(rows, np.int8)
    count = 0
    for count, pattern in enumerate(patterns(rows), 1):  # noqa: B007, the last number is how many there are
        total += pattern
    return np.asarray(2 * total.astype(np.int16) > count)
