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
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Block, Counts
from ..._estimate import Channel, maximum_likelihood, tabulate
from ..._progress import Progress, quiet
from ..._schema import Codes
from .evidence import NONE, Evidence, average

LARGEST_CELLS = 2**19
MOST_TABLES = 150
"""Of each order, single attributes aside; smaller tables first."""
WORK = 2 * 10**7
"""Cells times steps that looking for the most likely table may take."""
MOST_STEPS = 150
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
    """The evidence in each table of the released ``codes``."""
    chosen = tables(blocks)
    orders = [len(names) for names in chosen]
    tests, shares = {}, {}
    first = _first_half(len(next(iter(codes.values()))))
    for step, names in enumerate(chosen):
        progress("tables", step / len(chosen))
        tests[names] = _table(Channel(blocks, names), codes, first)
        shares[names] = 1 / len(set(orders)) / orders.count(len(names))
    progress("tables", 1.0)
    return Evidence(tests, shares)


def _first_half(rows: int) -> NDArray[np.bool_]:
    """Which rows are in the first half: a bit of the row's number after thorough mixing (splitmix64)."""
    z = np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z >> np.uint64(63)).astype(bool))


def _table(channel: Channel, codes: Mapping[str, Codes], first: NDArray[np.bool_]) -> float:
    columns = [codes[name] for name in channel.sizes]
    sizes = list(channel.sizes.values())
    halves = [tabulate([column[half] for column in columns], sizes) for half in (first, ~first)]
    flat = np.where(channel.possible_whole, 1.0, 0.0)
    if (halves[0] + halves[1])[channel.forward(flat) <= 0].any():
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
