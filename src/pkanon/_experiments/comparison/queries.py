"""Counting queries: how many people have their values in given ranges of one to four attributes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._audit import Counts, Places, Readable

MOST_ATTRIBUTES = 4
SEEN = 0.001
"""Relative errors count only queries that at least this share of the people meet; for rarer ones they say little."""


@dataclass(frozen=True)
class Query:
    """Attributes, and for each the first and the last code that count."""

    places: Places
    ranges: tuple[tuple[int, int], ...]

    def answer(self, table: Counts) -> float:
        """How many people meet it, by the cross-tabulation of its attributes."""
        return float(table[tuple(slice(low, high + 1) for low, high in self.ranges)].sum())


def random_queries(sizes: Sequence[int], count: int, seed: int) -> list[Query]:
    """1 to 4 attributes, each number equally likely; of each an interval between two codes drawn at random."""
    random = np.random.default_rng([seed, count])
    queries = []
    for _ in range(count):
        number = int(random.integers(1, min(MOST_ATTRIBUTES, len(sizes)) + 1))
        places = tuple(sorted(random.choice(len(sizes), number, replace=False).tolist()))
        ends = [sorted(random.integers(0, sizes[place], 2).tolist()) for place in places]
        queries.append(Query(places, tuple((low, high) for low, high in ends)))
    return sorted(queries, key=lambda query: query.places)


def answers(queries: Sequence[Query], source: Readable) -> Counts:
    """All answers; queries about the same attributes stand together and share one table."""
    found: list[float] = []
    for places, group in itertools.groupby(queries, key=lambda query: query.places):
        table = source.table(places)
        found += [query.answer(table) for query in group]
    return np.array(found)


def query_errors(given: Counts, truth: Counts, people: int) -> dict[str, float]:
    """The mean absolute error as a share of the people, and the median relative error of queries many people meet."""
    errors = np.abs(given - truth)
    seen = truth >= SEEN * people
    return {
        "query_error": float(errors.mean() / people),
        "query_relative": float(np.median(errors[seen] / truth[seen])) if seen.any() else float("nan"),
    }
