"""Memory of the process: numpy's arrays come and go while rows are randomised, and each would be new memory of the system."""

from __future__ import annotations

from functools import cache

import numpy as np

_LARGEST = 2**25 - 2**14
"""Just below 32 MB, where glibc draws the line."""


@cache
def keep_freed_memory() -> None:
    """Let the process keep what arrays of up to 32 MB leave behind, in large pages; to be called before the work on a large table.

    The allocator of glibc gives the memory of a large array back at once, and the next array is new memory, handed out page by
    page. Once it has seen one of 32 MB come and go it takes such sizes for usual, and keeps up to 64 MB for as long as the process lives
    (mallopt(3), M_MMAP_THRESHOLD; setting MALLOC_MMAP_THRESHOLD_ in the environment prevents it). numpy asks for large pages where
    an array has 4 MB or more, and the memory that one of 32 MB leaves has them for smaller arrays, too. Elsewhere this does nothing.
    """
    for _ in ("what is usual changes", "and now it is kept"):
        np.empty(_LARGEST, np.uint8)
