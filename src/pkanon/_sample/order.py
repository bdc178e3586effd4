"""The exactly uniform order of the released rows.

Every record draws a 64-bit word; rows are sorted by it, tied rows by their word of the next round,
and so on. All orders are equally likely, and any engine that sorts by the same words, in memory or
out of core, gets the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .keystream import ORDER_STREAM, WordSource

_PIECE = 2**15
"""Rows worked on at a time: a piece of eight-byte words stays in the cache."""

Sort = Callable[[NDArray[np.uint64]], None]
"""Sorts words in place. What it is changes how long an order takes, never the order: keys differ in their record numbers."""


def draw_order(rows: int, source: WordSource, sort: Sort = np.ndarray.sort) -> NDArray[np.int64]:
    """Record numbers in released order."""
    return sort_by_words(
        source.words(ORDER_STREAM, 0, rows, 64),
        lambda records: [int(source.words(ORDER_STREAM, record, 1, 64)[0]) for record in records],
        lambda records: settle_ties(records, source),
        sort,
    )


def sort_by_words(
    words: NDArray[np.uint64],
    whole: Callable[[list[int]], list[int]],
    settle: Callable[[list[int]], list[int]],
    sort: Sort = np.ndarray.sort,
) -> NDArray[np.int64]:
    """The places of ``words`` in the order of the words, which are overwritten.

    ``whole`` gives the words at some places again, ``settle`` the order of places whose words are equal.
    """
    rows = len(words)
    if rows == 0:
        return np.empty(0, np.int64)
    # The place replaces the low bits of the word, so that one sort of plain integers does it
    # all. Rows whose high bits tie are rare; they are put right afterwards by their whole words.
    low = np.uint64((1 << max(1, (rows - 1).bit_length())) - 1)
    numbers = np.arange(min(rows, _PIECE), dtype=np.uint64)
    for start in range(0, rows, _PIECE):
        piece = words[start : start + _PIECE]
        piece &= ~low
        piece |= numbers[: len(piece)]
        numbers += np.uint64(_PIECE)
    sort(words)
    ties = list(_tied_runs(words, low))
    words &= low
    order = words.view(np.int64)
    for start, stop in ties:
        places = order[start:stop].tolist()
        order[start:stop] = _by_whole_words(places, whole(places), settle)
    return order


def _by_whole_words(places: list[int], words: list[int], settle: Callable[[list[int]], list[int]]) -> list[int]:
    """Places sorted by their words; those of equal words as ``settle`` says."""
    settled: list[int] = []
    for word in sorted(set(words)):
        tied = [place for place, own in zip(places, words) if own == word]
        settled += tied if len(tied) == 1 else settle(tied)
    return settled


def settle_ties(records: list[int], source: WordSource, round: int = 1) -> list[int]:
    """Records with equal words of all earlier rounds, sorted by their words of this round, tied ones by the next."""
    words = [int(source.words(ORDER_STREAM + round, record, 1, 64)[0]) for record in records]
    return _by_whole_words(records, words, lambda tied: settle_ties(tied, source, round + 1))


def order_words(start: int, count: int, source: WordSource, round: int = 0) -> NDArray[np.uint64]:
    """The words that some records are sorted by, for engines that see the rows a part at a time."""
    words: NDArray[np.uint64] = source.words(ORDER_STREAM + round, start, count, 64)
    return words


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
