"""Sorting whole numbers: what the order of the released rows costs most.

numpy takes the widest vectors that a processor has. On some processors they make its sort twice as fast as that of polars, on others
(with AVX-512 whose compressing stores are slow) three times slower. So both are tried once, and the faster one sorts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

_FEW = 2**12
"""So many words either sorts in less than a tenth of a millisecond, and a trial would take longer."""
_TRIAL = 2**13
_ROUNDS = 3
_SCATTERING = 0x9E3779B97F4A7C15  # odd: its multiples are all over the 64 bits


def sort_words(words: NDArray[np.uint64]) -> None:
    """Sort in place, in the calling thread."""
    if len(words) < _FEW or numpy_is_faster():
        by_numpy(words)
    else:
        by_polars(words)


def by_numpy(words: NDArray[np.uint64]) -> None:
    words.sort()


def by_polars(words: NDArray[np.uint64]) -> None:
    words[:] = pl.Series(words).sort(multithreaded=False).to_numpy()


@cache
def numpy_is_faster() -> bool:
    """Whether numpy sorts faster than polars here: a millisecond at most, once."""
    words = np.arange(_TRIAL, dtype=np.uint64) * np.uint64(_SCATTERING)
    return _seconds(by_numpy, words) <= _seconds(by_polars, words)


def _seconds(sort: Callable[[NDArray[np.uint64]], None], words: NDArray[np.uint64]) -> float:
    """The shortest of a few rounds."""
    found = []
    for _ in range(_ROUNDS):
        own = words.copy()
        start = time.perf_counter()
        sort(own)
        found.append(time.perf_counter() - start)
    return min(found)
