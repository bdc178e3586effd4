"""The exactly uniform order of the released rows.

Every record draws a 64-bit word; rows are sorted by it, tied rows by their word of the next round,
and so on. All orders are equally likely, and any engine that sorts by the same words, in memory or
out of core, gets the same order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._keystream import ORDER_STREAM, WordSource
from ._randomise import thread_count
from ._schema import Codes

_PIECE = 2**15
"""Rows moved at a time: a piece of eight-byte records stays in the cache."""


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


class Records:
    """Columns of codes packed side by side into records of up to eight bytes.

    Moving a record takes one random access, moving its cells one by one takes several. Records are
    filled through ``columns`` while they are randomised, so that packing costs no pass of its own.
    """

    def __init__(self, dtypes: Sequence[np.dtype[Any]], rows: int) -> None:
        self.columns: list[Codes] = []
        """One view per column, to be filled."""
        self._packs: list[tuple[NDArray[np.uint8], list[np.dtype[Any]]]] = []
        for group in _groups(dtypes):
            size = next(size for size in (1, 2, 4, 8) if size >= sum(dtype.itemsize for dtype in group))
            pack = np.empty((rows, size), np.uint8)
            self._packs.append((pack, group))
            self.columns += _views(pack, group)

    def permuted(self, order: NDArray[np.int64], *, threads: int | None = None) -> list[Codes]:
        """Every column in the given order, which may leave rows out."""
        result: list[Codes] = []
        workers = thread_count(len(order), threads)
        with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
            for pack, group in self._packs:
                records = pack.view(f"u{pack.shape[1]}").ravel()
                moved = [np.empty(len(order), dtype) for dtype in group]
                job = partial(_move, records, group, moved, order)
                for _ in (pool.map if pool else map)(job, range(0, len(order), _PIECE)):
                    pass
                result += moved
        return result


def _move(
    records: NDArray[Any], group: Sequence[np.dtype[Any]], moved: Sequence[Codes], order: NDArray[np.int64], start: int
) -> None:
    got = records.take(order[start : start + _PIECE], mode="clip")  # clip: the order is in range, skip the check
    cells = got.view(np.uint8).reshape(len(got), records.dtype.itemsize)
    for column, view in zip(moved, _views(cells, group)):
        column[start : start + _PIECE] = view


def _groups(dtypes: Sequence[np.dtype[Any]]) -> Iterator[list[np.dtype[Any]]]:
    """Neighbouring columns that fit together into eight bytes."""
    group: list[np.dtype[Any]] = []
    for dtype in dtypes:
        if group and sum(other.itemsize for other in group) + dtype.itemsize > 8:
            yield group
            group = []
        group.append(dtype)
    if group:
        yield group


def _views(pack: NDArray[np.uint8], group: Sequence[np.dtype[Any]]) -> list[Codes]:
    ends = list(itertools.accumulate(dtype.itemsize for dtype in group))
    return [pack[:, end - dtype.itemsize : end].view(dtype)[:, 0] for end, dtype in zip(ends, group)]
