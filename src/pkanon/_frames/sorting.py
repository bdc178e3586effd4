"""Sorting whole numbers: what the order of the released rows costs most."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def sort_words(words: NDArray[np.uint64]) -> None:
    """Sort in place, in the calling thread.

    numpy takes the widest vectors that a processor has. On processors of AMD with AVX-512 they make its sort five times slower than
    with AVX2, and three times slower than this one. With AVX2 numpy saves a hundredth of a second in 2.5 million words.
    """
    words[:] = pl.Series(words).sort(multithreaded=False).to_numpy()
