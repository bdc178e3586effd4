"""The order of released rows: it must say nothing about the order of the private ones."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .checking import Check, Errors, SmallReleases
from .inputs import patterns, places_of_first
from .law import Comparison
from .tables import Pipeline
from .tails import binomial_tails, drawn_tail, paired_tail

TENTHS = 10


def large_order(
    compared: Comparison, pipeline: Pipeline, patterned: list[NDArray[np.bool_]], rows: int, errors: Errors
) -> Check:
    """Rows that look like the one record must lie anywhere: alone, in pairs, and in every pattern of places."""
    half = rows // 2
    marks = compared.score(pipeline.release([(compared.first, half), (compared.second, half)])) > 0
    marked = int(marks.sum())
    tenth = len(marks) // TENTHS
    found = [int(marks[i * tenth : (i + 1) * tenth].sum()) for i in range(TENTHS)]
    chances = [drawn_tail(count, len(marks), marked, tenth) for count in found]
    pairs = marks[: len(marks) // 2 * 2].reshape(-1, 2)
    chances.append(paired_tail(int(pairs.all(axis=1).sum()), len(pairs), int(pairs.sum())))
    for other in patterned:
        for pattern in patterns(len(other)):
            inside, count = int(pattern.sum()), int(other[pattern].sum())
            chances.append(drawn_tail(count, len(other), int(other.sum()), inside))
    chance = min(1.0, min(chances) * len(chances))
    share = int(marks[: len(marks) // 2].sum()) / marked if marked else math.nan
    about = (
        f"{len(marks):,} rows, two records one after the other: how many of the first kind come first; the chance is of "
        f"{len(chances)} counts, those in other patterns of places among them"
    )
    return Check("order of a large table", 0.5, share, None, chance, chance > errors.alarm, about)


def patterned_marks(compared: Comparison, pipeline: Pipeline, rows: int) -> list[NDArray[np.bool_]]:
    """Two releases of one table in which a row's place tells its record: which rows look like the first record."""
    places = places_of_first(rows)
    return [compared.score(pipeline.arranged(compared.first, compared.second, places)) > 0 for _ in range(2)]


def two_orders(patterned: list[NDArray[np.bool_]], errors: Errors) -> Check:
    """Two releases of one table: rows at the same place must not look alike more often, or less often, than by chance."""
    one, other = patterned
    marked = int(one.sum()), int(other.sum())
    both = int((one & other).sum())
    chance = drawn_tail(both, len(one), *marked)
    claimed, measured = marked[1] / len(other), both / marked[0] if marked[0] else math.nan
    about = (
        f"two releases of one table of {len(one):,} rows: of the places with a row of the first kind in one release, how "
        "many have such a row in the other"
    )
    return Check("orders of two releases", claimed, measured, None, chance, chance > errors.alarm, about)


def small_order(compared: Comparison, small: SmallReleases, errors: Errors) -> Check:
    """Two rows that differ: does the first one stay first?"""
    marks = small.second > 0  # rows that look like the record which was put second
    swapped, kept = int((marks[:, 0] & ~marks[:, 1]).sum()), int((~marks[:, 0] & marks[:, 1]).sum())
    one = compared.scores
    likely, unlikely = (float(law[one.values > 0].sum()) for law in (one.first, one.second))
    stays, goes = likely * (1 - unlikely), unlikely * (1 - likely)  # kept : swapped, if nothing moves
    measured = math.nan
    if kept + swapped and stays > goes:
        measured = (kept / (kept + swapped) * (stays + goes) - goes) / (stays - goes)
    chance = float(binomial_tails(np.array(kept), kept + swapped, np.array(0.5))) if kept + swapped else 1.0
    about = f"{len(small.second):,} releases of a table of two rows: how often the first person's row comes first"
    measured = measured if math.isnan(measured) else min(max(measured, 0.0), 1.0)
    return Check("order of two rows", 0.5, measured, None, chance, chance > errors.alarm, about)
