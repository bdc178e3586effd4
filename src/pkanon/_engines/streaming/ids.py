"""One row per person, for any number of persons: are there two equal ids?

Every id becomes a fingerprint of 128 bits: two hashes under seeds that are drawn for this run. Equal ids have equal
fingerprints; two of 10^9 different ids have equal ones with a probability of about 10^-21, and the table would then be refused
without need, never accepted. Fingerprints go to a disk, in buckets by their leading bits, enciphered like everything there (spool.py).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._errors import DataError
from .buckets import Buckets


class Fingerprints:
    """The fingerprints of one id column."""

    def __init__(self, name: str, folder: Path, bits: int) -> None:
        self._name = name
        self._seeds = [int.from_bytes(os.urandom(8), "little") for _ in range(2)]
        self._buckets = Buckets(folder, [np.dtype(np.uint64)] * 2, skipped=0, bits=bits, files=1)
        self._runs = 0
        self._dtype: pl.DataType | None = None

    def add(self, ids: pl.Series) -> None:
        """The ids of the next rows."""
        self._dtype = self._dtype or ids.dtype
        if ids.dtype != self._dtype:
            raise DataError(f"Column '{self._name}' holds values of several types; convert it to one type.")
        self._buckets.add(self._runs, self._of(ids))
        self._runs += 1

    def _of(self, ids: pl.Series) -> list[NDArray[Any]]:
        return [ids.hash(seed).to_numpy() for seed in self._seeds]

    def repeated(self) -> int:
        """How many rows share an id with another."""
        return sum(self._repeated(bucket) for bucket in range(self._buckets.number))

    def _repeated(self, bucket: int) -> int:
        slices = [lanes for lanes, _ in self._buckets.slices(bucket)]
        if not slices:
            return 0
        first, second = (np.concatenate(lanes) for lanes in zip(*slices))
        order = np.lexsort((second, first))
        same = (np.diff(first[order]) == 0) & (np.diff(second[order]) == 0)
        alike = np.zeros(len(first), bool)
        alike[:-1] |= same
        alike[1:] |= same
        return int(np.count_nonzero(alike))

    def close(self) -> None:
        """Forget them."""
        self._buckets.close()
