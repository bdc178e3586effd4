"""The exactly uniform order of the released rows.

Every record draws a 64-bit word; rows are sorted by it, tied rows by their word of the next round,
and so on. All orders are equally likely, and any engine that sorts by the same words, in memory or
out of core, gets the same order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .keystream import ORDER_STREAM, WordSource

_PIECE = 2**15
"""Rows worked on at a time: a piece of eight-byte words stays in the cache."""


def draw_order(rows: int, source: WordSource) -> NDArray[np.int64]:
    """Record numbers in released order."""
    if rows == 0:
        return np.empty(0, np.int64)
    # The record number replaces the low bits of the word, so that one sort of plain integers does it
    # all. Rows whose high bits tie are rare; they are put right afterwards by their whole words.
    low = np.uint64((1 << max(1, (rows - 1).bit_length())) - 1)
    keys = source.words(ORDER_STREAM, 0, rows, 64)
    numbers = np.arange(_PIECE, dtype=np.uint64)
    for start in range(0, rows, _PIECE):
        piece = keys[start : start + _PIECE]
        piece &= ~low
        piece |= numbers[: len(piece)]
        numbers += np.uint64(_PIECE)
    keys.sort()
    ties = list(_tied_runs(keys, low))
    keys &= low
    order = keys.view(np.int64)
    for start, stop in ties:
        order[start:stop] = _settle(order[start:stop].tolist(), source, 0)
    return order


def _tied_runs(keys: NDArray[np.uint64], low: np.uint64) -> Iterator[tuple[int, int]]:
    """Runs of sorted keys that agree in all but their record numbers."""
    found = [np.empty(0, np.int64)]
    for start in range(0, len(keys) - 1, _PIECE):
        after = keys[start + 1 : start + 1 + _PIECE]
        found.append(start + np.flatnonzero((keys[start : start + len(after)] ^ after) <= low))
    tied = np.concatenate(found)
    if len(tied):
        breaks = np.flatnonzero(np.diff(tied) > 1) + 1
        for run in np.split(tied, breaks):
            yield int(run[0]), int(run[-1]) + 2


def _settle(records: list[int], source: WordSource, round: int) -> list[int]:
    """Records sorted by their words of this round, tied ones by the next."""
    words = [int(source.words(ORDER_STREAM + round, record, 1, 64)[0]) for record in records]
    settled: list[int] = []
    for word in sorted(set(words)):
        tied = [record for record, own in zip(records, words) if own == word]
        settled += tied if len(tied) == 1 else _settle(tied, source, round + 1)
    return settled
