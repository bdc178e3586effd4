"""Rows on a disk, in buckets by the leading bits of their order words.

Neighbouring buckets share a file (spool.py). A run of rows adds to each file lane by lane (the order words, then the packed codes),
each lane sorted by bucket, rows of a bucket in the order in which they came. So files grow without gaps, and a bucket is one slice
of every lane of every run. Columns that are passed on follow as Arrow messages, one for each bucket of each run.

A file is gone when all its buckets have been read and are no longer needed, and what comes after them takes its space.
Within a run, rows of a bucket stand in the order of the table.
"""

from __future__ import annotations

import io
import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .spool import Spool

Lanes = list[NDArray[Any]]
"""Arrays of one length: order words, and whatever goes with them."""

MOST_FILES = 16
"""The more files there are, the sooner the first is gone, and the shorter is what is written at once."""


@dataclass(frozen=True, eq=False)
class _Run:
    """Where a run is: the first row of each bucket, its place in each file, and the messages of passed columns."""

    starts: NDArray[np.int64]
    offsets: Sequence[int]
    messages: Sequence[tuple[int, int]]


class _Part:
    """The file of some neighbouring buckets, and how many of them are still needed."""

    def __init__(self, folder: Path, buckets: int) -> None:
        self.file = Spool(folder)
        self.needed = buckets
        self._end = 0

    def reserve(self, size: int) -> int:
        """A place for so many bytes; one thread at a time."""
        offset, self._end = self._end, self._end + size
        return offset


class Buckets:
    """Rows in 2^bits buckets by the bits of their words that follow the first ``skipped``. Any thread may add a run."""

    def __init__(
        self, folder: Path, dtypes: Sequence[np.dtype[Any]], *, skipped: int, bits: int, files: int = MOST_FILES
    ) -> None:
        self.dtypes, self.skipped, self.bits = tuple(dtypes), skipped, bits
        self._each = max(self.number // files, 1)
        self._parts = [_Part(folder, self._each) for _ in range(0, self.number, self._each)]
        self._runs: dict[int, _Run] = {}
        self._lock = threading.Lock()

    @property
    def number(self) -> int:
        """How many buckets there are."""
        return 1 << self.bits

    def add(self, place: int, lanes: Lanes, passed: pl.DataFrame | None = None) -> None:
        """Write a run; the runs of a bucket are read in the order of their ``place``."""
        buckets = (lanes[0] << np.uint64(self.skipped)) >> np.uint64(64 - self.bits)
        buckets = buckets.astype(np.uint8 if self.bits <= 8 else np.uint16)  # numpy sorts up to 16 bits by radix
        order = np.argsort(buckets, kind="stable")
        starts = np.zeros(self.number + 1, np.int64)
        np.cumsum(np.bincount(buckets, minlength=self.number), out=starts[1:])
        del buckets
        edges = starts[:: self._each].tolist()
        width = sum(dtype.itemsize for dtype in self.dtypes)
        with self._lock:
            offsets = [
                part.reserve((stop - start) * width)
                for part, (start, stop) in zip(self._parts, itertools.pairwise(edges))
            ]
        ends = list(offsets)
        for lane in lanes:
            moved = lane.take(order)
            for number, (start, stop) in enumerate(itertools.pairwise(edges)):
                self._parts[number].file.write(moved[start:stop], ends[number])
                ends[number] += (stop - start) * lane.itemsize
        messages = [] if passed is None else self._written(passed[order], starts.tolist())
        self._runs[place] = _Run(starts, offsets, messages)

    def _written(self, passed: pl.DataFrame, starts: Sequence[int]) -> list[tuple[int, int]]:
        messages = []
        for bucket, (start, stop) in enumerate(itertools.pairwise(starts)):
            message = as_message(passed[start:stop])
            part = self._parts[bucket // self._each]
            with self._lock:
                offset = part.reserve(len(message))
            part.file.write(message, offset)
            messages.append((offset, len(message)))
        return messages

    def rows(self, bucket: int) -> int:
        """How many rows a bucket has."""
        return sum(int(run.starts[bucket + 1] - run.starts[bucket]) for run in self._runs.values())

    def slices(self, bucket: int) -> Iterator[tuple[Lanes, pl.DataFrame | None]]:
        """The rows of a bucket in the order in which they came, a slice for each run."""
        number = bucket // self._each
        file = self._parts[number].file
        for _, run in sorted(self._runs.items()):
            first, start, stop, last = run.starts[
                [number * self._each, bucket, bucket + 1, (number + 1) * self._each]
            ].tolist()
            if start == stop:
                continue
            lanes, at = [], run.offsets[number]
            for dtype in self.dtypes:
                lane = np.empty(stop - start, dtype)
                file.read(lane, at + (start - first) * dtype.itemsize)
                lanes.append(lane)
                at += (last - first) * dtype.itemsize
            passed = None
            if run.messages:
                offset, length = run.messages[bucket]
                message = np.empty(length, np.uint8)
                file.read(message, offset)
                passed = of_message(message)
            yield lanes, passed

    def forget(self, bucket: int) -> None:
        """A bucket is no longer needed; call it once for each."""
        with self._lock:
            part = self._parts[bucket // self._each]
            part.needed -= 1
            last = not part.needed
        if last:
            part.file.close()

    def close(self) -> None:
        """Forget all rows; the space on the disk is free again."""
        for part in self._parts:
            part.file.close()


def as_message(frame: pl.DataFrame) -> bytes:
    """A data frame as bytes."""
    stream = io.BytesIO()
    frame.write_ipc(stream)
    return stream.getvalue()


def of_message(message: NDArray[np.uint8]) -> pl.DataFrame:
    """The data frame that was written as these bytes."""
    return pl.read_ipc(io.BytesIO(message.tobytes()))
