"""In which ways the numbers of a person can have been rounded to points, unit by unit.

A release rounds a number between two points at random and forgets how. So a person is not one cell but several, each with a
chance: what the plan makes of her is the mixture. Without points there is one way, and it is certain.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ..._frames import roundings
from ..._plan import Plan
from ..._sample import Keystream, Randomness, round_places
from ..._schema import Codes, Points
from .combinations import Counts, Whole
from .mechanism import Mechanism, exact_chances

MOST_WAYS = 16
"""Ways to round the numbers of one person; more are not gone through."""


@dataclass(frozen=True, eq=False)
class Way:
    """The codes of a unit, and for every person the ``chances`` that her numbers were rounded so, which are to be multiplied."""

    column: Codes = field(repr=False)
    chances: tuple[Counts, ...] = field(default=(), repr=False)


def ways_of(plan: Plan, codes: Mapping[str, Codes]) -> list[list[Way]]:
    """All ways for each unit of the plan, of ``codes`` that were left unrounded; no way for a unit that has too many."""
    found: list[list[Way]] = []
    for unit in plan.units:
        attributes = [plan.schema.attribute(name) for name in unit.attributes]
        if 2 ** sum(isinstance(attribute.domain, Points) for attribute in attributes) > MOST_WAYS:
            found.append([])
            continue
        found.append(
            [
                Way(unit.join([way.codes[name] for name in unit.attributes]), way.chances)
                for way in roundings(codes, attributes)
            ]
        )
    return found


def rounded(plan: Plan, codes: Mapping[str, Codes], randomness: Randomness) -> dict[str, Codes]:
    """The codes, with numbers rounded as a release rounds them."""
    source = Keystream(hashlib.sha256(randomness.key() + b"rounding").digest())
    result = dict(codes)
    for number, attribute in enumerate(plan.schema.randomised):
        if isinstance(attribute.domain, Points):
            places = codes[attribute.name].astype(np.uint32, copy=False)
            result[attribute.name] = round_places(places, attribute.domain.bits, attribute.size, number, source)
    return result


def tables(ways: Sequence[Sequence[Way]]) -> list[list[Codes]]:
    """Tables that together hold every code of every way."""
    return [[unit[i % len(unit)].column for unit in ways] for i in range(max(map(len, ways)))]


@dataclass(frozen=True, eq=False)
class Mixed:
    """People on the grid of a mechanism: for each way to round them, the number of everybody's cell and the chance of the way."""

    cells: tuple[tuple[Whole, Counts | None], ...] = field(repr=False)

    @classmethod
    def of(cls, mechanism: Mechanism, ways: Sequence[Sequence[Way]]) -> Mixed | None:
        """None if there are too many ways."""
        own = [ways[unit] for unit in mechanism.units]
        if math.prod(map(len, own)) > MOST_WAYS:
            return None
        columns = [unit[0].column for unit in ways]
        cells = []
        for chosen in itertools.product(*own):
            for unit, way in zip(mechanism.units, chosen):
                columns[unit] = way.column
            share: Counts | None = None
            for chance in (chance for way in chosen for chance in way.chances):
                share = chance if share is None else share * chance
            cells.append((mechanism.numbers(columns), share))
        return cls(tuple(cells))

    @property
    def certain(self) -> bool:
        """Whether everybody's cell is known."""
        return len(self.cells) == 1

    def grid(self, shape: tuple[int, ...]) -> Counts:
        """How many people are expected in each cell."""
        size = math.prod(shape)
        total = np.zeros(size)
        for numbers, chance in self.cells:
            total += np.bincount(numbers, chance, size)
        return total.reshape(shape)

    def mean(self, values: Counts) -> Counts:
        """For every person the mean of ``values``, which are given on the grid."""
        total = np.zeros(len(self.cells[0][0]))
        for numbers, chance in self.cells:
            own = values.ravel()[numbers]
            total += own if chance is None else chance * own
        return total


def mixed_chances(
    plan: Plan, ways: Sequence[Sequence[Way]], people: Sequence[int], after: Sequence[Sequence[int]]
) -> list[list[Fraction]]:
    """``A[u, v]`` exactly, for some ``people`` by their numbers, whose numbers were rounded at random, and released cells."""
    result = []
    for person in people:
        total = [Fraction(0)] * len(after)
        for chosen in itertools.product(*ways):
            chance = math.prod(
                (Fraction(float(part[person])) for way in chosen for part in way.chances), start=Fraction(1)
            )
            if chance:
                cell = [int(way.column[person]) for way in chosen]
                total = [old + chance * new for old, new in zip(total, exact_chances(plan, [cell], after)[0])]
        result.append(total)
    return result
