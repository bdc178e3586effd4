"""Releases that repeat an earlier one: two releases under one key of one table are the same, row by row.

A table in which one record is repeated is released many times. Its released rows are independent draws, so two honest
releases of r rows are equal with the probability ``(sum of p(y)^2)^r`` over the released combinations y. r is chosen so
that this is rarer than a false alarm, over all pairs of releases.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from ..._plan import Plan
from ..._progress import Progress
from .checking import Check, Errors
from .law import Comparison, Record, law
from .tables import Pipeline

MOST_ROWS = 5_000
SPARE = math.log(1e3)
"""Equal releases are rarer than the false-alarm rate by this factor."""


def repeated_releases(
    plan: Plan, compared: Comparison, pipeline: Pipeline, runs: int, errors: Errors, progress: Progress
) -> Check:
    """How many of all pairs of releases are equal."""
    surprise, record = max(
        ((_surprise(plan, record), record) for record in (compared.first, compared.second)), key=lambda pair: pair[0]
    )
    pairs = runs * (runs - 1) // 2
    needed = math.log(pairs / errors.alarm) + SPARE
    rows = min(MOST_ROWS, max(2, math.ceil(needed / surprise))) if surprise > 0 else 2
    seen: Counter[bytes] = Counter()
    for run in range(runs):
        codes = pipeline.release([(record, rows)])
        seen[b"".join(np.ascontiguousarray(column).tobytes() for column in codes.values())] += 1
        progress("repeated tables", (run + 1) / runs)
    equal = sum(times * (times - 1) // 2 for times in seen.values())
    log_chance = math.log(pairs) - surprise * rows
    chance = min(1.0, math.exp(log_chance)) if equal else 1.0
    about = f"{runs:,} releases of one table of {rows:,} rows: the share of pairs that are equal"
    if log_chance > math.log(errors.alarm):
        about += "; the plan changes too few rows to tell a repeated key from chance"
    claimed = math.exp(-surprise * rows)
    return Check("repeated releases", claimed, equal / pairs, None, chance, chance > errors.alarm, about)


def _surprise(plan: Plan, record: Record) -> float:
    """Minus the logarithm of how probable it is that two released rows of a record are equal."""
    return -sum(math.log(float((law(block, record) ** 2).sum())) for block in plan.blocks)
