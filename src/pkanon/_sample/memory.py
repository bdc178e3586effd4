"""Memory of the process: numpy's arrays come and go while rows are randomised, and each would be new memory of the system."""

from __future__ import annotations

from functools import cache

import numpy as np

_LARGEST = 2**25 - 2**14
"""Just below 32 MB, where glibc draws the line."""


@cache
def keep_freed_memory() -> None:
    """Let the process keep what arrays of up to 32 MB leave behind; to be called before the work on a large table.

    The allocator of glibc hands freed memory back to the system, a page at a time, until it has seen a large array come and go.
    Then it takes such sizes for usual and keeps their memory (mallopt(3), M_MMAP_THRESHOLD). Elsewhere this does nothing.
    """
    np.empty(_LARGEST, np.uint8)
