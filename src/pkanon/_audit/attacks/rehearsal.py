"""How often an adversary's guesses are right, and whether her stated confidence is.

A release is shuffled, so nobody knows whose its rows are, the custodian included. What can be measured is a rehearsal: the
private table is randomised again by the same plan, the same sampler and a fresh key, the order is kept aside, the adversary
attacks the rows without it, and her guesses are judged by it. Rehearsed rows are thrown away.

The adversary names for each row the person it most probably is. Bounds on the share of hits are Clopper and Pearson's; they
treat rows as independent, which they nearly are: a hit on one row says little about the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._plan import Plan
from ..._progress import Progress
from ..._sample import Keystream, Randomness, randomise
from ..._schema import Codes
from ..shares import lower_share, upper_share
from .combinations import Counts, Whole
from .matching import Cells, Matching
from .mechanism import Mechanism

ENOUGH_ROWS = 100_000
MOST_REHEARSALS = 100
EDGES = (0.0, *(10 ** (-half / 2) for half in range(12, 0, -1)))
"""Where bins of confidence begin, as shares of 1/k: two to a power of ten; the first and the last are open."""


@dataclass(frozen=True)
class Bin:
    """Guesses of similar confidence: how many ``rows``, the mean confidence ``stated``, and how many were ``hits``."""

    stated: float
    rows: int
    hits: int

    @property
    def hit_rate(self) -> float:
        """The share of the guesses that were right."""
        return self.hits / self.rows

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Between what limits the share lies, with this confidence."""
        beyond = (1 - level) / 2
        return float(lower_share(self.hits, self.rows, beyond)), float(upper_share(self.hits, self.rows, beyond))


def rehearse(
    plan: Plan, columns: Sequence[Codes], times: int | None, randomness: Randomness, line: float, progress: Progress
) -> tuple[int, list[Bin]]:
    """How many rehearsals there were, and their guesses by stated confidence; ``columns`` are one per unit."""
    people = len(columns[0])
    count = times or int(min(MOST_REHEARSALS, max(1, -(-ENOUGH_ROWS // people))))
    key = randomness.key()
    judge = np.random.default_rng(int.from_bytes(_derived(key, "judge")))
    stated, hits = [], []
    for number in range(count):
        source = Keystream(_derived(key, f"rehearsal {number}"))
        rows = [np.empty_like(column) for column in columns]
        randomise(plan.blocks, columns, source, out=rows)
        mechanism = Mechanism.of(plan, [columns, rows])
        known, made = Cells.of(mechanism.numbers(columns)), Cells.of(mechanism.numbers(rows))
        matching = Matching.of(mechanism, known, made)
        stated.append(matching.stated[made.where])
        guessed = matching.best[made.where]
        # one of the people of the cell is named; which one, the adversary cannot know
        hits.append((guessed == known.where) & (judge.random(people) * known.counts[guessed] < 1))
        progress("rehearsing", (number + 1) / count)
    return count, binned(np.concatenate(stated), np.concatenate(hits), line)


def _derived(key: bytes, purpose: str) -> bytes:
    """Another key of 32 bytes."""
    return hashlib.sha256(key + purpose.encode()).digest()


def binned(stated: Counts, hits: Whole, line: float) -> list[Bin]:
    """Guesses by stated confidence; bins without guesses are left out."""
    place = np.searchsorted(np.array(EDGES[1:]) * line, stated, side="right")
    return [
        Bin(float(stated[place == i].mean()), int((place == i).sum()), int(hits[place == i].sum()))
        for i in range(len(EDGES))
        if (place == i).any()
    ]
