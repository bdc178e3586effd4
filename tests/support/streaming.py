"""The streaming engine with sizes that a test chooses, so that a small table has many runs and many buckets."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pkanon as pk
from pkanon._engines import choosing
from pkanon._engines.streaming import Sizes
from pkanon._sample.keystream import ORDER_STREAM, Keystream

MANY = Sizes(run=1_000, bucket=700, bits=3)
SPLIT = Sizes(run=300, bucket=40, bits=1)
"""Buckets that are too large at first, and are split again and again."""
ONE = Sizes(run=10**6, bucket=10**6, bits=1)


def streamed(
    table: object,
    plan: pk.Plan,
    folder: Path,
    sizes: Sizes = MANY,
    *,
    randomness: Any = None,
    allow_fewer: bool = False,
    exact_counts: bool = False,
    text: pk.TextFormat | None = None,
    progress: Any = None,
) -> pk.Release:
    """The release that the streaming engine makes."""
    chosen = pk.Seeded(7) if randomness is None else randomness
    return choosing._streamed(table, plan, chosen, sizes, folder, allow_fewer, exact_counts, text, progress)


class Tied(Keystream):
    """A keystream whose order words of the first rounds have few values."""

    def __init__(self, key: bytes, mask: int, rounds: int = 2) -> None:
        super().__init__(key)
        self._mask, self._rounds = np.uint64(mask), rounds

    def words(self, stream: int, start: int, count: int, width: int) -> NDArray[Any]:
        found = super().words(stream, start, count, width)
        return found & self._mask if ORDER_STREAM <= stream < ORDER_STREAM + self._rounds else found
