"""How many threads a step uses. The result never depends on it."""

from __future__ import annotations

import os

WORTH_THREADS = 2 * 10**5
"""Rows from which a second thread pays for its start."""


def thread_count(rows: int, threads: int | None) -> int:
    """How many threads to use for ``rows`` rows; ``threads`` is what the caller asked for."""
    if threads is not None:
        return max(1, threads)
    return min(os.cpu_count() or 1, 8) if rows >= WORTH_THREADS else 1
