"""Whether the released tables are what the plan can produce: evidence that rows were made in another way.

A row of a person u is released as v with probability ``A[u, v]``, independently of all other rows. If numbers
``h[v] >= 0`` have ``sum_v A[u, v] h[v] <= 1`` for every u, then the product of h over all released rows has a mean of
at most 1, whoever the people are. So it is evidence (evidence.py), as long as h was chosen without looking at the rows
that it is applied to: half of the rows choose, the others are tested, and the other way round. Which half a row is in
depends on its place alone, in no simple way: an order of the rows that is wrong is for order.py to find.

The best h is known. Let q be the shares of the cells among the rows that choose, and p the most likely table of people
behind them; then ``h = q / A^T p`` meets the condition, and no other numbers grow faster on rows like those. If p is not
quite the most likely, dividing by the largest ``sum_v A[u, v] h[v]`` mends it. The growth per row is the distance
(Kullback-Leibler) between q and the nearest table that the plan can produce. Where that is zero, nothing can
be found by anybody: some honest release looks like that.

Tables: every attribute, pairs and triples of attributes, and whole rows, as far as they are not too large.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..._blocks import Block, Counts
from ..._estimate import Channel, maximum_likelihood, number_of_rows, tabulate
from ..._progress import Progress, quiet, within
from ..._schema import Codes
from .evidence import NONE, Evidence, Names, average
from .mixing import mixed
from .pieces import even_pieces

LARGEST_CELLS = 2**19
MOST_TABLES = 150
"""Of each order, single attributes aside; smaller tables first."""
WORK = 2 * 10**7
"""Cells times steps that looking for the most likely table may take."""
MOST_STEPS = 150
MOST_JOINT = 2**22
"""Cells of a table that is counted for others in it."""
MOST_COUNTED = 2**23
"""Cells counted in one pass over the rows, 16 bytes each."""
COUNTING = 0.5
"""The share of counting in the progress that is shown."""
STEADY = (0.5, 0.1, 0.01)
"""Shares of 1 mixed into h, so that a cell without a row among those that choose does not end everything."""
CLEAR = (0.0, 3.0)
"""Cells whose h differs from 1 by fewer standard errors than this keep 1."""
LARGEST = 1e6
"""h is cut off here, where rounding is still far below SLACK."""
SLACK = 1e-9


def tables(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """The tables to look at. Only the plan decides which."""
    sizes = {n: size for block in blocks for unit in block.units for n, size in zip(unit.attributes, unit.sizes)}
    singles = [(name,) for name in sizes]
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for order in (1, 2, 3, len(sizes)):
        chosen = singles if order == 1 else list(itertools.islice(itertools.combinations(sizes, order), 10**5))
        ranked = sorted(chosen, key=lambda names: math.prod(sizes[name] for name in names))
        taken = 0
        for names in ranked:
            counted = tuple(Channel(blocks, names).sizes)
            if math.prod(sizes[name] for name in counted) > LARGEST_CELLS or frozenset(counted) in found:
                continue
            found[frozenset(counted)] = counted
            taken += 1
            if order > 1 and taken == MOST_TABLES:
                break
    return list(found.values())


def table_evidence(blocks: Sequence[Block], codes: Mapping[str, Codes], progress: Progress = quiet) -> Evidence:
    """The evidence in each table of the released ``codes``, which may be on a disk."""
    chosen = tables(blocks)
    orders = [len(names) for names in chosen]
    found = {}
    for step, (names, halves) in enumerate(_counted(blocks, chosen, codes, progress)):
        found[names] = _table(Channel(blocks, names), halves)
        progress("tables", COUNTING + (1 - COUNTING) * (step + 1) / len(chosen))
    progress("tables", 1.0)
    shares = {names: 1 / len(set(orders)) / orders.count(len(names)) for names in chosen}
    return Evidence({names: found[names] for names in chosen}, shares)


def _counted(
    blocks: Sequence[Block], chosen: Sequence[Names], codes: Mapping[str, Codes], progress: Progress
) -> Iterator[tuple[Names, Counts]]:
    """Each table with its counts in both halves of the rows; tables are counted together as far as there is room."""
    sizes = {n: size for block in blocks for unit in block.units for n, size in zip(unit.attributes, unit.sizes)}
    rows = number_of_rows(codes)
    joint = _joint(chosen, sizes, min(MOST_JOINT, 2 * rows))
    passes = _passes(list(joint), sizes)
    for number, some in enumerate(passes):
        part = within(progress, COUNTING * number / len(passes), COUNTING * (number + 1) / len(passes))
        for names, counts in zip(some, _count(some, sizes, codes, part)):
            for table in joint[names]:
                yield table, _margin(names, counts, table)


def _joint(chosen: Sequence[Names], sizes: Mapping[str, int], most: int) -> dict[Names, list[Names]]:
    """Tables of up to ``most`` cells in which others are contained, with those: it is counted faster than they are."""
    found: dict[Names, list[Names]] = {}
    for names in sorted(chosen, key=lambda names: -_cells(names, sizes)):
        for whole in found:
            union = tuple(dict.fromkeys((*whole, *names)))
            if len(union) == len(whole) or _cells(union, sizes) <= most:
                found[union] = [*found.pop(whole), names]
                break
        else:
            found[names] = [names]
    return found


def _passes(joint: Sequence[Names], sizes: Mapping[str, int]) -> list[list[Names]]:
    """The tables that are counted at a time."""
    found: list[list[Names]] = []
    room = 0
    for names in joint:
        room -= _cells(names, sizes)
        if room < 0:
            found.append([])
            room = MOST_COUNTED - _cells(names, sizes)
        found[-1].append(names)
    return found


def _cells(names: Names, sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in names)


def _count(
    tables: Sequence[Names], sizes: Mapping[str, int], codes: Mapping[str, Codes], progress: Progress
) -> list[Counts]:
    """The counts of some tables, those of the first half of the rows before those of the second."""
    names = list(dict.fromkeys(name for table in tables for name in table))
    totals = [np.zeros((2, *(sizes[name] for name in table))) for table in tables]
    rows, start = number_of_rows(codes), 0
    for columns in even_pieces(codes, names):
        piece = dict(zip(names, columns))
        stop = start + len(columns[0])
        half = _half(start, stop)
        for table, total in zip(tables, totals):
            tabulate([half, *(piece[name] for name in table)], total.shape, onto=total)
        start = stop
        progress("tables", start / rows)
    return totals


def _half(start: int, stop: int) -> Codes:
    """Which half some rows are in: a bit of the row's number after thorough mixing."""
    return (mixed(np.arange(start + 1, stop + 1, dtype=np.uint64)) < np.uint64(2**63)).astype(np.uint8)


def _margin(names: Names, counts: Counts, table: Names) -> Counts:
    """The counts of a table that is contained in that of ``names``."""
    left = [name for name in names if name in table]
    summed = np.sum(counts, axis=tuple(1 + axis for axis, name in enumerate(names) if name not in table))
    return np.transpose(summed, (0, *(1 + left.index(name) for name in table)))


def _table(channel: Channel, halves: Counts) -> float:
    flat = np.where(channel.possible_whole, 1.0, 0.0)
    if halves.sum(axis=0)[channel.forward(flat) <= 0].any():
        return math.inf  # a row that nobody's record can become
    return average([_growth(channel, *pair) for pair in (halves, halves[::-1])])


def _growth(channel: Channel, choosing: Counts, tested: Counts) -> float:
    """The logarithm of the evidence in the ``tested`` counts, h chosen by the other ones."""
    rows = float(choosing.sum())
    if rows == 0 or not tested.any():
        return NONE
    people, _ = maximum_likelihood(channel, choosing, most_steps=min(max(20, WORK // choosing.size), MOST_STEPS))
    people = np.where(channel.possible_whole, np.maximum(people, 0.0), 0.0)
    if not people.any():  # nothing is kept, to rounding: every table of people is as likely as any other
        people = np.where(channel.possible_whole, 1.0, 0.0)
    expected = channel.forward(people * (rows / people.sum()))
    h = np.divide(choosing, expected, out=np.zeros_like(expected), where=expected > 0)
    found = []
    for clear in CLEAR:
        differs = np.abs(choosing - expected) > clear * np.sqrt(np.maximum(expected, 1.0))
        kept = np.minimum(np.where(differs, h, 1.0), LARGEST)
        kept /= float(channel.forward_transpose(kept)[channel.possible_whole].max()) * (1 + SLACK)
        found += [_product(share + (1 - share) * kept, tested) for share in STEADY]
    return average(found)


def _product(h: Counts, counts: Counts) -> float:
    seen = counts > 0
    return float(counts[seen] @ np.log(h[seen]))
