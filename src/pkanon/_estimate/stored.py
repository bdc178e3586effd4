"""Codes that are on a disk: a table larger than memory, counted a piece at a time.

A mapping like any other: ``codes[name]`` reads a whole column. Whoever only counts takes :func:`pieces_of`, which reads the
columns that are asked for, some rows at a time, and works for columns in memory alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .._schema import Codes


class StoredCodes(Mapping[str, Codes], ABC):
    """Columns of codes on a disk, by the names of the attributes."""

    def __init__(self, names: Sequence[str], rows: int) -> None:
        self._names = tuple(names)
        self.rows = rows
        """How many rows there are."""
        self.counted: dict[tuple[str, ...], NDArray[np.float64]] = {}
        """Tables that were counted in one pass, to be taken out one by one."""

    @abstractmethod
    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
        """Some columns, some rows at a time, in order."""

    def __getitem__(self, name: str) -> Codes:
        if name not in self._names:
            raise KeyError(name)
        found = [column for (column,) in self.pieces((name,))]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def pieces_of(codes: Mapping[str, Codes], names: Sequence[str]) -> Iterator[tuple[Codes, ...]]:
    """Some columns, some rows at a time; all of them at once where they are in memory."""
    if isinstance(codes, StoredCodes):
        yield from codes.pieces(names)
    else:
        yield tuple(codes[name] for name in names)


def number_of_rows(codes: Mapping[str, Codes]) -> int:
    """How many rows there are."""
    return codes.rows if isinstance(codes, StoredCodes) else len(next(iter(codes.values())))
