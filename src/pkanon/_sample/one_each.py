"""One row of each person, drawn uniformly (docs/why/theory.md 11).

Every row draws a 64-bit word. Of each person the row with the smallest word stays; rows of one person that tie draw
again in the next round. So each of a person's rows is equally likely to stay, whatever other people have.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from .keystream import REPEATS_STREAM, WordSource


def draw_one_each(persons: NDArray[np.int64], source: WordSource) -> NDArray[np.int64]:
    """The numbers of the rows that stay, in rising order; ``persons`` says of each row whose it is."""
    rows = np.argsort(persons, kind="stable")
    for round in itertools.count():
        own = persons[rows]
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        if len(starts) == len(rows):
            break
        words = source.words(REPEATS_STREAM + round, 0, len(persons), 64)[rows]
        least = np.minimum.reduceat(words, starts)
        rows = rows[words == np.repeat(least, np.diff(starts, append=len(rows)))]
    return np.sort(rows)
