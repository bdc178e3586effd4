"""Rows packed so that a row moves as one: randomised into, then taken out in the released order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._schema import Codes
from .threads import thread_count

_PIECE = 2**15
"""Rows moved at a time: a piece of eight-byte records stays in the cache."""
_APART = 64
"""Columns begin at multiples of so many bytes, as processors like it."""


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

    @property
    def dtypes(self) -> list[np.dtype[Any]]:
        """The types of the packed records: some columns side by side in each."""
        return [np.dtype(f"u{pack.shape[1]}") for pack, _ in self._packs]

    @property
    def packed(self) -> list[NDArray[Any]]:
        """The packed records; :meth:`of_packed` unpacks them."""
        return [pack.view(f"u{pack.shape[1]}").ravel() for pack, _ in self._packs]

    @classmethod
    def of_packed(cls, dtypes: Sequence[np.dtype[Any]], packed: Sequence[NDArray[Any]]) -> Records:
        """Records of columns of these ``dtypes`` that were packed before, in this process."""
        made = cls(dtypes, 0)
        made._packs = [
            (records.view(np.uint8).reshape(len(records), records.dtype.itemsize), group)
            for records, (_, group) in zip(packed, made._packs)
        ]
        made.columns = [view for pack, group in made._packs for view in _views(pack, group)]
        return made

    def permuted(self, order: NDArray[np.int64], *, threads: int | None = None) -> list[Codes]:
        """Every column in the given order, which may leave rows out."""
        result: list[Codes] = []
        workers = thread_count(len(order), threads)
        with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
            for pack, group in self._packs:
                records = pack.view(f"u{pack.shape[1]}").ravel()
                moved = _side_by_side(group, len(order))
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


def _side_by_side(dtypes: Sequence[np.dtype[Any]], rows: int) -> list[Codes]:
    """Empty columns in one piece of memory: the system hands out a large one faster than many."""
    sizes = [rows * dtype.itemsize for dtype in dtypes]
    starts = [0, *itertools.accumulate(-(-size // _APART) * _APART for size in sizes)]
    room = np.empty(starts[-1], np.uint8)
    return [room[start : start + size].view(dtype) for start, size, dtype in zip(starts, sizes, dtypes)]


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
