"""How often each record becomes each other one."""

from __future__ import annotations

import math

import numpy as np

from ..._plan import Plan
from ..._progress import Progress
from .checking import Check, Errors, LargeReleases
from .inputs import Mixture, compared_tables, covered_values, mixtures, shares_of
from .law import Comparison
from .tables import Pipeline
from .tails import binomial_tails, mixed_tails


class _Furthest:
    """The smallest tail so far, and of how many tests."""

    def __init__(self) -> None:
        self.tests, self.tail, self.share, self.seen = 0, math.inf, math.nan, math.nan

    def add(self, counts: np.ndarray, rows: int, shares: np.ndarray, *, mixed: bool) -> None:
        counts, shares = np.ravel(counts), np.ravel(shares)
        tails = (mixed_tails if mixed else binomial_tails)(counts, rows, shares)
        self.tests += len(tails)
        place = int(tails.argmin())
        if tails[place] < self.tail:
            self.tail, self.share, self.seen = float(tails[place]), float(shares[place]), float(counts[place] / rows)


def transitions(
    plan: Plan, pipeline: Pipeline, compared: Comparison, large: LargeReleases, rows: int, errors: Errors, progress: Progress
) -> Check:  # fmt: skip
    """Every cell of every table of counts; and over all tables together, how many rows came out as one that was put in.

    The latter adds up what a fault that touches all values alike does to each of them.
    """
    tables = compared_tables(plan)
    made = mixtures(plan, rows)
    released = [
        (Mixture((compared.first,), (rows,)), large.first),
        (Mixture((compared.second,), (rows,)), large.second),
        *((mixture, None) for mixture in made),
    ]
    furthest = _Furthest()
    kept = [(0, 0.0, 0)] * len(tables)  # how many rows came out as put in, how many are expected, of how many
    for done, (mixture, ready) in enumerate(released):
        codes = pipeline.release(mixture.parts) if ready is None else ready
        for number, (table, shares) in enumerate(zip(tables, shares_of(plan, mixture, tables))):
            cells = np.ravel_multi_index([codes[name] for name in table], shares.shape)
            counts = np.bincount(cells, minlength=shares.size).reshape(shares.shape)
            furthest.add(counts, len(cells), shares, mixed=len(mixture.records) > 1)
            put_in = tuple(zip(*{tuple(record[name] for name in table) for record in mixture.records}))
            if mixture.covers and len(put_in[0]) < shares.size:
                found, expected, all_rows = kept[number]
                own = float(shares[put_in].sum()) * len(cells)
                kept[number] = found + int(counts[put_in].sum()), expected + own, all_rows + len(cells)
        progress("large tables", (done + 1) / len(released))
    for found, expected, all_rows in kept:
        if all_rows:
            share = min(expected / all_rows, 1.0)
            furthest.add(np.array([found]), all_rows, np.array([share]), mixed=True)
    chance = min(1.0, furthest.tail * furthest.tests)
    longest, covered = max(unit.size for unit in plan.units), covered_values(plan)
    values = "every value" if covered == longest else f"{covered:,} values"
    about = (
        f"{furthest.tests:,} counts from {len(released)} tables that hold {values} of every column; the one that is "
        "furthest off"
    )
    where = furthest.share, furthest.seen
    return Check("transition probabilities", *where, None, chance, chance > errors.alarm, about)
