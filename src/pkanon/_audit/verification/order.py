"""Whether the order of the rows is suspicious: evidence that they were not shuffled.

Given which rows there are, every order of a shuffled release is equally likely. Draw the rows one after the other: the
next value of a column is v with probability ``left_v / left``, from what is left of it. A suspicion says otherwise:
``w_v left_v / sum_u w_u left_u`` for weights w that depend on the rows before only. The product of the ratios of the
two is the evidence. Its mean over all orders is exactly 1, whatever the weights and however few the rows; at most 1 where it is
rounded down.

Suspicions, for each column and for whole rows:

- sticky: a value follows its like one, two or three rows later more often, or more rarely, than it should;
- drift: the values of one stretch of the file are also more frequent in the next stretch;
- sorted: the column stands in rising or falling order, the whole of it.

Columns of many values are looked at in four groups too, of about as many rows each. Rows are read several times, a piece at a
time (suspicions.py), and all of them are looked at. In long files evidence is rounded down, never up. Whole rows of more kinds
than there is room to count are told apart by a hash: any function of a row is shuffled as the rows are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._estimate import number_of_rows
from ..._progress import Progress, quiet, within
from .evidence import WHOLE_ROWS, Evidence, Names, average
from .mixing import mixed
from .pieces import Column, even_pieces
from .suspicions import STRETCHES, Drift, Sticky, blocks, in_order

GROUPS = 4
MANY = 9
"""Values of a column from which on it is looked at in groups too."""
FEW_VALUES = 2**20
"""Values of a column up to which all stretches are looked at together."""
FEW_ROWS = 2**20
"""Rows up to which all kinds of whole rows are told apart."""
MOST_KINDS = 2**26
"""Kinds of whole rows that are told apart, four bytes each, or eight from 2^31 rows on."""

PASSES = 4
"""How often a column is read, if it has many values but not very many."""

Counts = NDArray[np.int64]


@dataclass
class _Rows:
    """Some columns, read from the first row on as often as they are needed."""

    columns: Mapping[str, Column]
    names: Sequence[str]
    progress: Progress
    passes: int = 0

    def pieces(self) -> Iterator[tuple[Column, ...]]:
        """The rows, some at a time."""
        done, rows, self.passes = 0, number_of_rows(self.columns), self.passes + 1
        for piece in even_pieces(self.columns, self.names):
            yield piece
            done += len(piece[0])
            self.progress("order", min((self.passes - 1 + done / rows) / PASSES, 1.0))

    def column(self) -> Iterator[Column]:
        """The only column."""
        return (piece for (piece,) in self.pieces())


def order_evidence(columns: Mapping[str, Column], progress: Progress = quiet) -> Evidence:
    """The evidence in the order of each of the ``columns`` (codes from 0 on), and of whole rows."""
    tests: dict[Names, float] = {}
    sizes, steps = [], len(columns) + 1
    for step, name in enumerate(columns):
        rows = _Rows(columns, [name], within(progress, step / steps, (step + 1) / steps))
        counts = _counts(rows.column())
        sizes.append(len(counts))
        tests[name,] = _column(rows, counts)
    if len(columns) > 1:
        tests[WHOLE_ROWS] = _whole_rows(_Rows(columns, list(columns), within(progress, 1 - 1 / steps, 1.0)), sizes)
    progress("order", 1.0)
    return Evidence(tests, dict.fromkeys(tests, 1 / len(tests)))


def _counts(pieces: Iterable[Column]) -> Counts:
    """How many rows each code has, up to the largest that occurs."""
    total = np.zeros(1, np.int64)
    for piece in pieces:
        counts = np.bincount(piece, minlength=len(total))
        counts[: len(total)] += total
        total = counts
    return total


def _column(rows: _Rows, every: Counts) -> float:
    numbers, counts = _dense(every), every[every > 0]
    found = [average(in_order((piece,) for piece in rows.column())), *_looks(rows, numbers, counts)]
    if len(counts) >= MANY:
        groups = _groups(counts)
        found += _looks(rows, groups[numbers], np.bincount(groups, weights=counts).astype(np.int64))
    return average(found)


def _dense(counts: Counts) -> Column:
    """Numbers 0, 1, ... of the codes that occur, without gaps; what codes that do not occur have is never used."""
    values = len(counts)
    kind = np.uint8 if values <= 2**8 else np.uint16 if values <= 2**16 else np.uint32
    return np.asarray(np.maximum(np.cumsum(counts > 0) - 1, 0).astype(kind))


def _groups(counts: Counts) -> Column:
    """A group for each value: neighbours taken together, to about as many rows in each group.

    A value that most rows have leaves no rows to some groups; those that are left are numbered without gaps.
    """
    middle = np.cumsum(counts) - counts / 2
    groups = (middle * GROUPS / counts.sum()).astype(np.uint8)
    return np.asarray(_dense(np.bincount(groups))[groups])


def _looks(rows: _Rows, numbers: Column, counts: Counts) -> list[float]:
    """The evidence that like follows like, and that values drift; ``numbers`` says which value each code is taken for."""
    together = [STRETCHES] if len(counts) <= FEW_VALUES else [(number,) for number in STRETCHES]
    sticky, drifts = Sticky(counts.copy()), [Drift(counts, some) for some in together]
    _take(rows, numbers, [sticky, drifts[0]])
    for drift in drifts[1:]:
        _take(rows, numbers, [drift])
    return [average(sticky.found), average([value for drift in drifts for value in drift.found])]


def _take(rows: _Rows, numbers: Column, suspicions: Sequence[Sticky | Drift]) -> None:
    for codes, some in blocks(rows.column()):
        values = numbers.take(codes)
        for suspicion in suspicions:
            suspicion.take(values, some)


def _whole_rows(rows: _Rows, sizes: Sequence[int]) -> float:
    number = number_of_rows(rows.columns)
    if number <= FEW_ROWS:
        kinds = _kinds((rows.columns[name] for name in rows.names), sizes)
        sticky = Sticky(np.bincount(kinds, minlength=1))
        found, read = in_order([(kinds,)]), iter([kinds])
    else:
        most = min(math.prod(sizes), 2 ** (number.bit_length() + 3), MOST_KINDS)
        found, read = in_order(rows.pieces()), (_hashes(piece, sizes, most) for piece in rows.pieces())
        sticky = Sticky(_kind_counts((_hashes(piece, sizes, most) for piece in rows.pieces()), number, most))
    for codes, some in blocks(read):
        sticky.take(codes, some)
    return average([*sticky.found, *found])


def _kinds(columns: Iterable[Column], sizes: Sequence[int]) -> Column:
    """The kind of each row: its number among those that occur, in the order of words."""
    kinds, size = np.zeros(0, np.int64), 1
    for column, more in zip(columns, sizes):
        if size * more > np.iinfo(np.int64).max:
            kinds, size = np.unique(kinds, return_inverse=True)[1], len(kinds)
        kinds, size = kinds * more + column if len(kinds) else column.astype(np.int64), size * more
    return np.unique(kinds, return_inverse=True)[1].astype(np.uint32)


def _hashes(columns: Sequence[Column], sizes: Sequence[int], most: int) -> Column:
    """A number below ``most`` for each row: that of its kind, where there are no more kinds, and else a hash of it."""
    exact = math.prod(sizes) <= most
    kinds = columns[0].astype(np.uint64)
    for column, more in zip(columns[1:], sizes[1:]):
        kinds = (kinds * np.uint64(more) if exact else mixed(kinds)) + column.astype(np.uint64)
    return (kinds if exact else mixed(kinds) % np.uint64(most)).astype(np.uint32)


def _kind_counts(pieces: Iterable[Column], rows: int, most: int) -> NDArray[Any]:
    counts = np.zeros(most, np.int32 if rows < 2**31 else np.int64)
    one = counts.dtype.type(1)  # of another type it would be converted for each row
    for piece in pieces:
        np.add.at(counts, piece.astype(np.intp), one)
    return counts
