"""How much memory a release may take, and what follows for the number of rows that are handled together.

The budget is for rows on their way. Python and its packages take some 150 MB beside it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass

from ..._errors import InputError

SMALLEST = 16 * 2**20
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]I?)?B?\s*", re.IGNORECASE)
_FREE_SHARE = 4
_UNKNOWN = 4 * 2**30
"""Free memory where the system does not say."""


@dataclass(frozen=True)
class Sizes:
    """Rows that are randomised together, rows that are sorted together, and how many leading bits tell the buckets."""

    run: int
    bucket: int
    bits: int


def budget_of(memory: str | int | None) -> int:
    """Bytes: a number of them, a text such as 2GB, or a quarter of what is free."""
    if memory is None:
        return max(_free() // _FREE_SHARE, SMALLEST)
    found = _SIZE.fullmatch(memory) if isinstance(memory, str) else None
    if found is None and (isinstance(memory, bool) or not isinstance(memory, int)):
        raise InputError("memory (--memory) is a size such as 500MB or 2GB.")
    size = int(memory) if found is None else int(float(found[1]) * _UNITS[(found[2] or "").upper()])
    if size < SMALLEST:
        raise InputError(
            f"memory (--memory) is at least {SMALLEST // 2**20} MiB; the program itself takes more than that."
        )
    return size


def _free() -> int:
    """Memory that a new program can have: what the system says, and no more than a container allows."""
    free = _UNKNOWN
    with suppress(OSError, ValueError, StopIteration):
        with open("/proc/meminfo", encoding="ascii") as lines:
            line = next(line for line in lines if line.startswith("MemAvailable:"))
        free = int(line.split()[1]) * 1024
    with suppress(OSError, ValueError):
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            most = int(file.read())  # "max" is no number
        with open("/sys/fs/cgroup/memory.current", encoding="ascii") as file:
            free = min(free, max(most - int(file.read()), 0))
    return free


def sizes_for(budget: int, width: int, rows: float | None) -> Sizes:
    """What fits into ``budget`` bytes; a row has ``width`` bytes of codes, and there are about ``rows`` of them."""
    # A run is there as codes, as records, as words with their order, and moved: three of them are on their way at once.
    run = budget // 2 // (3 * (3 * width + 40))
    # A bucket is there as words, keys and order, as records, moved, and as columns: one for each of two threads.
    bucket = budget // 2 // (2 * (4 * width + 40))
    run, bucket = min(max(run, 2**10), 2**20), min(max(bucket, 2**10), 2**21)
    wanted = (rows or 2**27) / bucket
    bits = max(int(1.25 * wanted).bit_length(), 1)  # sizes of buckets vary, and so does the guess
    return Sizes(run, bucket, min(bits, 12))


def cores() -> int:
    """How many threads work at once."""
    return min(os.cpu_count() or 1, 4)
