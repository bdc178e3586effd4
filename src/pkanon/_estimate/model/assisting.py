"""From a model's table to the one that is shown: raked to smaller tables, and corrected where the rows say more than noise.

The model's table b is first raked to the tables of all but one of its axes. What the unbiased table shows beyond it along all axes,
``r = P (x - b)``, has known noise nu, cell by cell; r is taken as a draw with variance ``tau^2 b^2`` and shrunk to
``r tau^2 b^2 / (tau^2 b^2 + nu)``. tau^2 is the one of the largest marginal likelihood, and 0 unless that gains enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..._blocks import Counts

GAIN = 9.0
"""Twice the log-likelihood that a correction must gain before it is made."""
ROUNDS = 30
GRID = np.logspace(-5, 0, 41)


def rake(table: Counts, margins: Sequence[Counts]) -> Counts:
    """The table with the given margins, by iterative proportional fitting; ``margins[j]`` lacks axis j.

    As it was if the margins contradict one another.
    """
    raked = table
    for _ in range(ROUNDS):
        worst = 0.0
        for axis, margin in enumerate(margins):
            now = raked.sum(axis)
            worst = max(worst, float(np.abs(now - margin).sum()))
            factor = np.divide(margin, now, out=np.ones_like(now), where=now > 0)
            raked = raked * np.expand_dims(factor, axis)
        if worst < 1e-4:
            break
    total = float(raked.sum())
    return raked / total if np.isfinite(total) and total > 0.5 else table / table.sum()


def along_all(table: Counts) -> Counts:
    """The part of a table that varies along all of its axes."""
    for axis in range(table.ndim):
        table = table - table.mean(axis, keepdims=True)
    return table


def squared(table: Counts) -> Counts:
    """``sum_v table_v P[v, j]^2`` of each cell j, P the projection of :func:`along_all`."""
    for axis, size in enumerate(table.shape):
        table = table.sum(axis, keepdims=True) / size**2 + (1 - 2 / size) * table
    return table


def shrunk(residual: Counts, base: Counts, noise: Counts, gain: float = GAIN) -> Counts:
    """The part of a ``residual`` that noise does not explain."""
    spread = np.maximum(base, 1e-12) ** 2
    floor = 0.05 * float(np.maximum(noise, 0.0).mean())
    if floor <= 0:
        return residual
    noise = np.maximum(noise, floor)
    # the cells of a residual along all axes are not free of one another: each counts for its part of the freedom
    free = math.prod(1 - 1 / size for size in residual.shape)
    least = float((np.log(noise) + residual**2 / noise).sum()) - gain / free
    found = 0.0
    for tau in GRID:
        variance = tau * spread + noise
        value = float((np.log(variance) + residual**2 / variance).sum())
        if value < least:
            least, found = value, tau
    return np.asarray(residual * (found * spread / (found * spread + noise)))
