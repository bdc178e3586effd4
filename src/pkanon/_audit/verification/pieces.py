"""Released rows a piece at a time, wherever they are: no more than a piece of them is in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._estimate import StoredCodes, pieces_of

PIECE = 2**17
"""Rows in a piece."""

Column = NDArray[Any]


def even_pieces(columns: Mapping[str, Column], names: Sequence[str]) -> Iterator[tuple[Column, ...]]:
    """Some columns, the same number of rows at a time whatever they are read from, but for the last piece; none is empty."""
    held: tuple[Column, ...] = ()
    for piece in pieces_of(columns, names):
        joined = tuple(map(np.concatenate, zip(held, piece))) if held and len(held[0]) else piece
        whole = len(joined[0]) // PIECE * PIECE
        for start in range(0, whole, PIECE):
            yield tuple(column[start : start + PIECE] for column in joined)
        held = tuple(column[whole:] for column in joined)
    if held and len(held[0]):
        yield held


class Beside(StoredCodes):
    """Columns on a disk, and others in memory."""

    def __init__(self, stored: StoredCodes, others: Mapping[str, Column]) -> None:
        super().__init__([*stored, *others], stored.rows)
        self._stored, self._others = stored, others

    def pieces(self, names: Sequence[str]) -> Iterator[tuple[Column, ...]]:
        """Some columns, some rows at a time."""
        stored, start = [name for name in names if name not in self._others], 0
        if not stored:
            yield tuple(self._others[name] for name in names)
            return
        for piece in self._stored.pieces(stored):
            found, stop = dict(zip(stored, piece)), start + len(piece[0])
            yield tuple(found[name] if name in found else self._others[name][start:stop] for name in names)
            start = stop
