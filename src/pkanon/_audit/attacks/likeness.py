"""Did this plan make this release from this table? Checks with a known chance of a false alarm.

The custodian has the table, so the law of the released counts is known: every person's row is an independent draw. Where her
numbers were rounded to points at random, that is part of the draw (``ways.py``). A sum of weights of released rows has an exact
mean and variance, and Bernstein's inequality bounds, for any number of rows, how often it strays as far as it did. Weights are
chosen so that rows that were never randomised stray most: the logarithm of how much more often a cell occurs in the table than
is expected in the release. They are tried for every unit, every pair of units and all units together. A plan with other
probabilities, or another table, strays as well.

Where the rows come in the order of the table, too many of them equal the row in the same place. By how much that can happen
in a random order is bounded by Chatterjee's inequality for sums over permutations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..._schema import Codes
from ..classical import class_of
from .matching import Cells
from .mechanism import Mechanism
from .ways import Mixed, Way

MOST_PAIRS = 100


@dataclass(frozen=True)
class Likeness:
    """How far a release is from what its plan makes of the table.

    ``chance`` bounds how often an honest release strays as far; it counts all that was tried. ``where`` names the columns
    that stray most.
    """

    chance: float
    where: tuple[str, ...]


def counts_likeness(
    mechanism: Mechanism, people: Sequence[Codes], rows: Sequence[Codes], ways: Sequence[Sequence[Way]] | None = None
) -> Likeness | None:
    """Whether released counts are what the plan makes of the people, both one column of codes per unit of the plan.

    Where the people's numbers were rounded at random, ``ways`` holds every way for each unit, and the mechanism has all their
    codes; ``people`` does not count then. None if there are too many ways for every table.
    """
    ways = [[Way(column)] for column in people] if ways is None else ways
    places = [tuple(range(len(mechanism.units)))] + [(i,) for i in range(len(mechanism.units))]
    places += list(itertools.islice(itertools.combinations(range(len(mechanism.units)), 2), MOST_PAIRS))
    chosen = list(dict.fromkeys(places))
    found = []
    for axes in chosen:
        part = replace(
            mechanism,
            units=tuple(mechanism.units[axis] for axis in axes),
            codes=tuple(mechanism.codes[axis] for axis in axes),
            shape=tuple(mechanism.shape[axis] for axis in axes),
        )
        mixed = Mixed.of(part, ways)
        if mixed is not None:
            found.append((_strayed(part, mixed, Cells.of(part.numbers(rows))), part, mixed))
    if not found:
        return None
    log_chance, worst, _ = min(found, key=lambda each: each[0])
    _, whole, everybody = found[0]
    if everybody.certain:
        log_chance = min(log_chance, _equal(whole, Cells.of(whole.numbers(people)), Cells.of(whole.numbers(rows))))
    return Likeness(math.exp(min(0.0, log_chance + math.log(len(chosen) + 1))), _named(worst))


def _strayed(mechanism: Mechanism, people: Mixed, rows: Cells) -> float:
    """The logarithm of a bound on the chance that the counts stray so far."""
    known = people.grid(mechanism.shape)
    expected = mechanism.forward(known)
    made = rows.grid(mechanism.shape)
    weights = np.log((known + 0.5) / (expected + 0.5))
    places = mechanism.at(np.flatnonzero(known))
    for axis, codes in enumerate(mechanism.codes):
        if codes is not None:
            # which other codes are on the axis depends on the release, and weights must not
            strange = np.ones(mechanism.shape[axis], bool)
            strange[places[axis]] = False
            np.moveaxis(weights, axis, 0)[strange] = 0
    mean, square = mechanism.backward(weights), mechanism.backward(weights**2)
    if people.certain:
        variance = float((known * (square - mean**2)).sum())
    else:
        variance = float((people.mean(square) - people.mean(mean) ** 2).sum())
    strayed = abs(float(((made - expected) * weights).sum()))
    spread = float(weights.max() - weights.min())
    rounding = 1e-9 * float((expected * np.abs(weights)).sum())
    room = 2 * (max(variance, 0.0) + spread * strayed / 3)
    if strayed <= rounding:
        return 0.0
    return math.log(2) - (strayed - rounding) ** 2 / room if room else -math.inf


def _equal(mechanism: Mechanism, people: Cells, rows: Cells) -> float:
    """The logarithm of about the chance that all counts are those of the table, if they are; else 0."""
    if not (np.array_equal(people.numbers, rows.numbers) and np.array_equal(people.counts, rows.counts)):
        return 0.0
    known = people.grid(mechanism.shape)
    spreads = np.sort(np.maximum(mechanism.variance(known).flat[people.numbers], 0))[
        :-1
    ]  # all but one: the counts have a fixed sum
    return float(-0.5 * np.log1p(2 * np.pi * spreads).sum())


def order_likeness(mechanism: Mechanism, people: Sequence[Codes], rows: Sequence[Codes]) -> Likeness:
    """Whether the rows may be in a random order, for as many rows as people."""
    found = []
    for units in [(unit,) for unit in range(len(people))] + [tuple(range(len(people)))]:
        same = np.ones(len(people[0]), bool)
        for unit in units:
            same &= people[unit] == rows[unit]
        agree = int(same.sum())
        mean = _expected_agreement([people[unit] for unit in units], [rows[unit] for unit in units])
        above = agree - mean
        bound = math.log(2) - above**2 / (4 * mean + 2 * above) if above > 0 else 0.0
        found.append((bound, units))
    log_chance, worst = min(found)
    names = tuple(name for unit in worst for name in mechanism.plan.units[unit].attributes)
    return Likeness(math.exp(min(0.0, log_chance + math.log(len(found)))), names)


def _expected_agreement(people: Sequence[Codes], rows: Sequence[Codes]) -> float:
    """How many rows equal the person in the same place, on average over all orders."""
    number = len(people[0])
    where = class_of([np.concatenate(pair) for pair in zip(people, rows)])
    kinds = int(where.max()) + 1
    known = np.bincount(where[:number], minlength=kinds)
    made = np.bincount(where[number:], minlength=kinds)
    return float((known * (made / number)).sum())


def _named(mechanism: Mechanism) -> tuple[str, ...]:
    return tuple(name for unit in mechanism.units for name in mechanism.plan.units[unit].attributes)
