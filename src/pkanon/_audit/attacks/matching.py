"""Whose row is it? The chances of all links at once, for an adversary who knows the private table, at any size.

A release of n rows is a random matching of rows with people: the chance of a matching is proportional to the product of
``A[u, v]`` over its links. The chance of one link is a ratio of permanents, which nobody can compute for many rows
(``posterior.py`` does for few). Here people and rows are counted by cell, and

    P[u, v] = a[u] A[u, v] b[v]    with all rows and columns of P summing to 1

is the usual first approximation (Sinkhorn's scaling, the mean field of the matching). It misses that a link excludes the
others of the same person and of the same row. ``confidence`` puts that right between the x people of one cell and the y rows
of another, as if all others were alike: they are then matched among each other K times with a weight that grows by

    (x - K) (y - K) / (K + 1) w (n - x - y + x y P) / (n - x - y + K + 1),    w = P / ((1 - xP) (1 - yP))

from K to K + 1, and the chance of one link is E[K] / (x y). That is exact where all people are alike (1/n), and in the worst
case of docs/why/theory.md 2 (1/k), where the mean field is too low. How well such chances are calibrated is measured
(``rehearsal.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .combinations import Counts, Whole
from .mechanism import INDEX_BITS, NEVER, RESOLUTION, Mechanism

TOLERANCE = 1e-6
"""How far a sum of chances may be from 1."""
MOST_ROUNDS = 300
TINY = 1e-12
"""Below it nothing is left of a sum of chances but rounding."""
DENSE = 8
"""With fewer cells for each row than this, all cells are counted."""
MANY = 30
"""With more people and rows than this in both cells the mean field is exact but for a part in a thousand."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows counted by cell: the ``numbers`` of the cells that occur, how many rows each has, and where each row is."""

    numbers: Whole = field(repr=False)
    counts: Whole = field(repr=False)
    where: Whole = field(repr=False)

    @classmethod
    def of(cls, numbers: Whole) -> Cells:
        """From the number of each row's cell."""
        if int(numbers.max()) < DENSE * len(numbers):  # quicker than sorting
            counts = np.bincount(numbers)
            found = np.flatnonzero(counts)
            return cls(found, counts[found], (np.cumsum(counts > 0) - 1)[numbers])
        found, where, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        return cls(found, counts.astype(np.int64), where.astype(np.int64))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.where)

    def grid(self, shape: tuple[int, ...], values: Counts | Whole | None = None) -> Counts:
        """The counts, or ``values`` of the cells, on the whole grid."""
        result = np.zeros(shape)
        result.flat[self.numbers] = self.counts if values is None else values
        return result


@dataclass(frozen=True, eq=False)
class Matching:
    """Chances of links between ``people`` and ``rows``: ``a`` for each cell of the people, ``b`` for each of the rows.

    ``off`` is how far a row's chances still are from 1. ``possible`` is False if the plan cannot have made the rows from
    these people; nothing else means anything then.
    """

    mechanism: Mechanism
    people: Cells
    rows: Cells
    a: Counts = field(repr=False)
    b: Counts = field(repr=False)
    rounds: int
    off: float
    possible: bool

    @classmethod
    def of(cls, mechanism: Mechanism, people: Cells, rows: Cells, start: Counts | None = None) -> Matching:
        """Scale rows and columns in turn. With fewer rows than people a person has a row with that share as chance."""
        shape = mechanism.shape
        share = min(1.0, rows.rows / people.rows)
        a, b = np.ones(len(people.numbers)) if start is None else start, np.zeros(len(rows.numbers))
        off, rounds, possible = np.inf, 0, True
        while off > TOLERANCE and rounds < MOST_ROUNDS and possible:
            expected = mechanism.forward(people.grid(shape, people.counts * a)).flat[rows.numbers]
            possible = bool((expected > 0).all())
            if not possible:
                break
            off = float(np.abs(b * expected - 1).max()) if rounds else np.inf
            b = 1 / expected
            reached = mechanism.backward(rows.grid(shape, rows.counts * b)).flat[people.numbers]
            possible = bool((reached > 0).all())
            a = share / reached if possible else a
            rounds += 1
        return cls(mechanism, people, rows, a, b, rounds, off, possible)

    @cached_property
    def best(self) -> Whole:
        """For each cell of the rows, which cell of the people is its best guess."""
        scores = np.full(self.mechanism.shape, NEVER)
        logs = np.round(np.log(self.a) * RESOLUTION).astype(np.int64)
        scores.flat[self.people.numbers] = (logs << INDEX_BITS) + np.arange(len(self.a))
        found = self.mechanism.best(scores).flat[self.rows.numbers]
        return np.asarray(found & ((1 << INDEX_BITS) - 1))

    @cached_property
    def stated(self) -> Counts:
        """For each cell of the rows, the chance of the link between one of its rows and its best guess."""
        chosen = self.best
        chance = self.mechanism.chance(
            self.mechanism.at(self.people.numbers[chosen]), self.mechanism.at(self.rows.numbers)
        )
        return confidence(
            chance * self.a[chosen] * self.b, self.people.counts[chosen], self.rows.counts, self.people.rows
        )

    @cached_property
    def evidence(self) -> Counts:
        """On the whole grid: how well the rows fit a person who is in this cell, up to a common factor."""
        return self.mechanism.backward(self.rows.grid(self.mechanism.shape, self.rows.counts * self.b))


def confidence(mean_field: Counts, people: Whole, rows: Whole, total: int) -> Counts:
    """The chance of one link between ``people`` of one cell and ``rows`` of another, from its mean field.

    ``total`` is how many people there are in all.
    """
    small = np.minimum(people, rows)
    result = np.array(mean_field, float)
    usable = (total - people - rows >= 0) & (mean_field > 0)
    for low, high in ((1, 1), (2, 6), (7, MANY)):  # as many terms as the smaller cell has rows
        some = np.flatnonzero(usable & (small >= low) & (small <= high))
        if len(some):
            result[some] = _linked(mean_field[some], people[some], rows[some], total)
    return result


def _linked(p: Counts, x: Whole, y: Whole, total: int) -> Counts:
    left = total - x - y
    weight = p / (np.maximum(1 - x * p, TINY) * np.maximum(1 - y * p, TINY)) * (left + x * y * p)
    terms = [np.zeros(len(p))]
    with np.errstate(divide="ignore"):
        for links in range(int(np.minimum(x, y).max())):
            ways = np.maximum(x - links, 0) * np.maximum(y - links, 0) / (links + 1)
            terms.append(terms[-1] + np.log(ways * weight / (left + links + 1)))
    logs = np.stack(terms)
    shares = np.exp(logs - logs.max(axis=0))
    mean: Counts = (np.arange(len(terms))[:, None] * shares).sum(axis=0) / shares.sum(axis=0)
    return mean / (x * y)
