"""Classical k-anonymisation: strict multidimensional Mondrian (LeFevre, DeWitt and Ramakrishnan, 2006).

The people are divided in two again and again. The cut is across the attribute whose codes in the group have the
widest range, as a share of their range in the whole table, and as near to the median as values allow: the halves are
"up to this code" and "above it", so that equal people always stay together. A cut is allowable if both halves have
at least k people. If the widest attribute has none, the next widest is tried; a group without any is finished. The cut
nearest to the median is allowable if any is, so no finished group could have been divided further.

All groups of one depth are cut at once, and cells stand for people: no step looks at single rows. Values are taken
in the order of their codes, also where that order means nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._audit import Combinations, Whole


def mondrian(cells: Combinations, k: int) -> Whole:
    """The group of each cell, numbered from 0; each has at least k people if there are as many at all."""
    groups = np.zeros(len(cells.codes), np.int64)
    spans = np.maximum(np.ptp(cells.codes, axis=0), 1)
    growing = np.ones(len(groups), bool)  # cells of groups that may still be cut
    while growing.any():
        places = np.flatnonzero(growing)
        right = _cut(cells.codes[places], cells.counts[places], groups[places], spans, k)
        divided = np.zeros(int(groups.max()) + 1, bool)
        divided[groups[places[right]]] = True
        growing = divided[groups]
        groups[places[right]] += len(divided)
        groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)  # or numbers would double with every cut
    return groups


def _cut(codes: Whole, counts: Whole, groups: Whole, spans: Whole, k: int) -> NDArray[np.bool_]:
    """Which cells come into the upper half of their group; none of a group that cannot be cut."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    members = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    codes, counts = codes[order], counts[order]
    totals = np.add.reduceat(counts, starts)
    low = np.minimum.reduceat(codes, starts)
    widths = (np.maximum.reduceat(codes, starts) - low) / spans
    upper = np.zeros(len(order), bool)
    best = np.full(len(starts), -1.0)  # the widest attribute found so far that has an allowable cut
    for axis in range(codes.shape[1]):
        tried = (widths[:, axis] > best) & (widths[:, axis] > 0) & (totals >= 2 * k)
        rows = np.flatnonzero(tried[members])
        if not len(rows):
            continue
        limits, smaller = _median(codes[rows, axis], counts[rows], members[rows], totals)
        allowed = tried & (smaller >= k)
        best[allowed] = widths[allowed, axis]
        rows = rows[allowed[members[rows]]]
        upper[rows] = codes[rows, axis] > limits[members[rows]]
    found = np.zeros(len(order), bool)
    found[order] = upper
    return found


def _median(values: Whole, counts: Whole, members: Whole, totals: Whole) -> tuple[Whole, Whole]:
    """Per group the code up to which its lower half goes, and how many people the smaller half has."""
    width = int(values.max()) + 1
    found, inverse = np.unique(members * width + values, return_inverse=True)
    people = np.bincount(inverse, weights=counts).astype(np.int64)
    owner = found // width
    below = np.cumsum(people)
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    below -= np.repeat((below - people)[first], np.diff(first, append=len(owner)))
    smaller = np.minimum(below, totals[owner] - below)
    # of cuts that are equally near, the lower: sorted by group, then by how even the cut is, then by the code
    order = np.lexsort((-found, smaller, owner))
    chosen = order[np.flatnonzero(np.diff(owner[order], append=-1))]
    limits, halves = np.zeros(len(totals), np.int64), np.zeros(len(totals), np.int64)
    limits[owner[chosen]] = found[chosen] % width
    halves[owner[chosen]] = smaller[chosen]
    return limits, halves
