"""Whole numbers mixed thoroughly, the same on every machine (splitmix64)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Other numbers, one for each, that show nothing simple of the first ones."""
    z = numbers * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z
