"""Rows packed so that a row moves as one: randomised into, then taken out in the released order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._schema import Codes
from .threads import thread_count

_PIECE = 2**17
"""Rows moved at a time: few enough for a cache, and enough that threads do not wait for Python's lock."""
_APART = 64
"""Columns begin at multiples of so many bytes, so that numbers of several bytes stand as numpy wants them."""


class Records:
    """Columns of codes packed side by side into records of up to eight bytes.

    Moving a record takes one random access, moving its cells one by one takes several. Records are
    filled through ``columns`` while they are randomised, so that packing costs no pass of its own.
    """

    def __init__(self, dtypes: Sequence[np.dtype[Any]], rows: int) -> None:
        self._packs = [np.empty(rows, record) for record in _records(tuple(dtypes))]

    @property
    def columns(self) -> list[Codes]:
        """One view per column, to be filled."""
        return [pack[name] for pack in self._packs for name in _names(pack)]

    @property
    def dtypes(self) -> list[np.dtype[Any]]:
        """The types of the packed records: some columns side by side in each."""
        return [np.dtype(f"u{pack.itemsize}") for pack in self._packs]

    @property
    def packed(self) -> list[NDArray[Any]]:
        """The packed records; :meth:`of_packed` unpacks them."""
        return [pack.view(dtype) for pack, dtype in zip(self._packs, self.dtypes)]

    @classmethod
    def of_packed(cls, dtypes: Sequence[np.dtype[Any]], packed: Sequence[NDArray[Any]]) -> Records:
        """Records of columns of these ``dtypes`` that were packed before, in this process."""
        made = cls(dtypes, 0)
        made._packs = [records.view(pack.dtype) for records, pack in zip(packed, made._packs)]
        return made

    def permuted(self, order: NDArray[np.int64], *, threads: int | None = None) -> list[Codes]:
        """Every column in the given order, which may leave rows out."""
        result: list[Codes] = []
        workers = thread_count(len(order), threads)
        with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
            for pack in self._packs:
                moved = _side_by_side([pack.dtype[name] for name in _names(pack)], len(order))
                job = partial(_move, pack, moved, order)
                for _ in (pool.map if pool else map)(job, range(0, len(order), _PIECE)):
                    pass
                result += moved
        return result


def _move(pack: NDArray[np.void], moved: Sequence[Codes], order: NDArray[np.int64], start: int) -> None:
    records = pack.view(f"u{pack.itemsize}")
    got = records.take(order[start : start + _PIECE], mode="clip")  # clip: the order is in range, skip the check
    cells = got.view(pack.dtype)
    for column, name in zip(moved, _names(cells)):
        column[start : start + _PIECE] = cells[name]


def _names(pack: NDArray[np.void]) -> tuple[str, ...]:
    return pack.dtype.names or ()


@lru_cache(maxsize=8)
def _records(dtypes: tuple[np.dtype[Any], ...]) -> list[np.dtype[np.void]]:
    """Records of one, two, four or eight bytes, each of as many neighbouring columns as it has room for."""
    return [
        np.dtype(
            {
                "names": [str(place) for place in range(len(group))],
                "formats": group,
                "itemsize": next(size for size in (1, 2, 4, 8) if size >= sum(dtype.itemsize for dtype in group)),
            }
        )
        for group in _groups(dtypes)
    ]


def _side_by_side(dtypes: Sequence[np.dtype[Any]], rows: int) -> list[Codes]:
    """Empty columns in one piece of memory: the system hands out a large one faster than many. Who keeps one keeps all."""
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
