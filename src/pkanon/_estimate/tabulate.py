"""Counting: codes of several attributes to a table with one axis per attribute.

A row's cell is a mixed-radix number, ``((c_1 V_2 + c_2) V_3 + c_3) ...``. One thread is enough: it
keeps up with the memory, and a second one would only wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._schema import Codes

LARGEST_TABLE = 10**8
"""Cells; each needs 8 bytes in every array of an estimate."""
PIECE = 2**16
"""Rows numbered at a time: their numbers stay in the cache until they are counted."""


def check_size(sizes: Mapping[str, int]) -> None:
    """Refuse a table that is too large, naming what to leave out."""
    cells = math.prod(sizes.values())
    if cells <= LARGEST_TABLE:
        return
    rest, dropped = dict(sizes), []
    while math.prod(rest.values()) > LARGEST_TABLE:
        largest = max(rest, key=lambda name: rest[name])
        dropped.append(f"'{largest}' ({rest.pop(largest):,} values)")
    raise InputError(
        f"The table of {', '.join(sizes)} would have {cells:,} cells; the limit is {LARGEST_TABLE:,}. "
        f"Leave out {' and '.join(dropped)}, or release with fewer values."
    )


def tabulate(
    columns: Sequence[Codes], sizes: Sequence[int], *, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """How many rows (or which total of ``weights``) each cell has, one axis per column."""
    total = np.zeros(math.prod(sizes))
    for start in range(0, len(columns[0]), PIECE):
        piece = slice(start, start + PIECE)
        cells = _cells([column[piece] for column in columns], sizes)
        np.add.at(total, cells, 1.0 if weights is None else weights[piece])
    return total.reshape(tuple(sizes))


def rows_at(values: NDArray[np.float64], columns: Sequence[Codes]) -> NDArray[np.float64]:
    """The entry of ``values``, which has one axis per column, at the cell of every row."""
    found = np.empty(len(columns[0]))
    flat = values.ravel()
    for start in range(0, len(found), PIECE):
        piece = slice(start, start + PIECE)
        found[piece] = flat[_cells([column[piece] for column in columns], values.shape)]
    return found


def _cells(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.intp]:
    """The number of each row's cell, in the narrowest type that holds the numbers made so far."""
    cells, count = columns[0], sizes[0]
    for column, size in zip(columns[1:], sizes[1:]):
        count *= size
        wide = np.uint16 if count <= 2**16 else np.uint32
        cells = np.multiply(cells, wide(size), dtype=wide)
        cells += column
    return cells.astype(np.intp)
