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
from .stored import StoredCodes

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
    columns: Sequence[Codes],
    sizes: Sequence[int],
    *,
    weights: NDArray[np.float64] | None = None,
    onto: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """How many rows (or which total of ``weights``) each cell has, one axis per column; added to the table ``onto``."""
    total = np.zeros(math.prod(sizes)) if onto is None else onto.reshape(-1)
    for start in range(0, len(columns[0]), PIECE):
        piece = slice(start, start + PIECE)
        cells = _cells([column[piece] for column in columns], sizes)
        np.add.at(total, cells, 1.0 if weights is None else weights[piece])
    return total.reshape(tuple(sizes))


def tabulate_codes(
    codes: Mapping[str, Codes], sizes: Mapping[str, int], *, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The table of the attributes in ``sizes``, wherever their codes are."""
    names = tuple(sizes)
    if not isinstance(codes, StoredCodes):
        return tabulate([codes[name] for name in names], list(sizes.values()), weights=weights)
    if weights is None and names in codes.counted:
        return codes.counted.pop(names)
    total, start = np.zeros(tuple(sizes.values())), 0
    for columns in codes.pieces(names):
        stop = start + len(columns[0])
        own = None if weights is None else weights[start:stop]
        tabulate(columns, list(sizes.values()), weights=own, onto=total)
        start = stop
    return total


def count_tables(codes: Mapping[str, Codes], tables: Sequence[Mapping[str, int]]) -> None:
    """Count several tables in one pass, if the codes are on a disk; each is taken out when it is asked for.

    Each table is given by the sizes of its attributes. Tables that would take too much memory together are left out.
    """
    if not isinstance(codes, StoredCodes) or len(tables) < 2:
        return
    room, kept = LARGEST_TABLE // 4, []
    for table in tables:
        if (cells := math.prod(table.values())) <= room:
            room -= cells
            kept.append(table)
    names = list(dict.fromkeys(name for table in kept for name in table))
    totals = [np.zeros(tuple(table.values())) for table in kept]
    for columns in codes.pieces(names):
        by_name = dict(zip(names, columns))
        for table, total in zip(kept, totals):
            tabulate([by_name[name] for name in table], list(table.values()), onto=total)
    codes.counted = {tuple(table): total for table, total in zip(kept, totals)}


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
        wide = np.uint8 if count < 2**8 else np.uint16 if count < 2**16 else np.uint32
        cells = np.multiply(cells, wide(size), dtype=wide)
        cells += column
    return cells.astype(np.intp)
