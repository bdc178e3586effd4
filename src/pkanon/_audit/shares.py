"""Clopper and Pearson's limits of a share that was counted: exact, no normal approximation."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array: TypeAlias = NDArray[Any]


def lower_share(hits: Array | float, runs: Array | float, error: float) -> Array:
    """A probability that is below the true one, but for the given error."""
    hits = np.asarray(hits, float)
    found = special.betaincinv(np.maximum(hits, 1), runs - hits + 1, error)
    return np.where(hits > 0, found, 0.0)


def upper_share(hits: Array | float, runs: Array | float, error: float) -> Array:
    """A probability that is above the true one, but for the given error."""
    hits = np.asarray(hits, float)
    found = special.betaincinv(hits + 1, np.maximum(runs - hits, 1), 1 - error)
    return np.where(hits < runs, found, 1.0)
