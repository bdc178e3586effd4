"""Rows on a disk, in buckets by the leading bits of their order words.

A run of rows is written at once: lane by lane (the order words, then the packed codes), each lane sorted by bucket, rows of a
bucket in the order in which they came. So the file grows without gaps, and a bucket is one slice of every lane of every run.
Columns that are passed on are Arrow messages in a second file, one for each bucket of each run.

The files are those of spool.py: within a run, rows of a bucket stand in the order of the table.
"""

from __future__ import annotations

import io
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


@dataclass(frozen=True, eq=False)
class _Run:
    """Where a run is: its place in the file, the first row of each bucket in it, and the messages of passed columns."""

    offset: int
    starts: NDArray[np.int64]
    messages: Sequence[tuple[int, int]]


class Buckets:
    """Rows in 2^bits buckets by the bits of their words that follow the first ``skipped``. Any thread may add a run."""

    def __init__(self, folder: Path, dtypes: Sequence[np.dtype[Any]], *, skipped: int, bits: int) -> None:
        self.dtypes, self.skipped, self.bits = tuple(dtypes), skipped, bits
        self._folder = folder
        self._file = Spool(folder)
        self._runs: dict[int, _Run] = {}
        self._lock = threading.Lock()
        self._end = 0
        self._messages_end = 0
        self._passed: Spool | None = None

    @property
    def number(self) -> int:
        """How many buckets there are."""
        return 1 << self.bits

    def add(self, place: int, lanes: Lanes, passed: pl.DataFrame | None = None) -> None:
        """Write a run; the runs of a bucket are read in the order of their ``place``."""
        rows = len(lanes[0])
        buckets = ((lanes[0] << np.uint64(self.skipped)) >> np.uint64(64 - self.bits)).astype(np.uint16)
        order = np.argsort(buckets, kind="stable")
        starts = np.zeros(self.number + 1, np.int64)
        np.cumsum(np.bincount(buckets, minlength=self.number), out=starts[1:])
        del buckets
        size = rows * sum(dtype.itemsize for dtype in self.dtypes)
        with self._lock:
            offset, self._end = self._end, self._end + size
        at = offset
        for lane in lanes:
            moved = lane.take(order)
            self._file.write(moved, at)
            at += moved.nbytes
        self._runs[place] = _Run(offset, starts, self._written(passed, order, starts))

    def _written(
        self, passed: pl.DataFrame | None, order: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> list[tuple[int, int]]:
        if passed is None:
            return []
        moved = passed[order]
        messages = []
        for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist()):
            message = as_message(moved[start:stop])
            with self._lock:
                if self._passed is None:
                    self._passed = Spool(self._folder)
                offset, self._messages_end = self._messages_end, self._messages_end + len(message)
            self._passed.write(message, offset)
            messages.append((offset, len(message)))
        return messages

    def rows(self, bucket: int) -> int:
        """How many rows a bucket has."""
        return sum(int(run.starts[bucket + 1] - run.starts[bucket]) for run in self._runs.values())

    def slices(self, bucket: int) -> Iterator[tuple[Lanes, pl.DataFrame | None]]:
        """The rows of a bucket in the order in which they came, a slice for each run."""
        for _, run in sorted(self._runs.items()):
            start, stop, total = int(run.starts[bucket]), int(run.starts[bucket + 1]), int(run.starts[-1])
            if start == stop:
                continue
            lanes, at = [], run.offset
            for dtype in self.dtypes:
                lane = np.empty(stop - start, dtype)
                self._file.read(lane, at + start * dtype.itemsize)
                lanes.append(lane)
                at += total * dtype.itemsize
            passed = None
            if run.messages and self._passed is not None:
                offset, length = run.messages[bucket]
                message = np.empty(length, np.uint8)
                self._passed.read(message, offset)
                passed = of_message(message)
            yield lanes, passed

    def close(self) -> None:
        """Forget all rows; the space on the disk is free again."""
        self._file.close()
        if self._passed is not None:
            self._passed.close()


def as_message(frame: pl.DataFrame) -> bytes:
    """A data frame as bytes."""
    stream = io.BytesIO()
    frame.write_ipc(stream)
    return stream.getvalue()


def of_message(message: NDArray[np.uint8]) -> pl.DataFrame:
    """The data frame that was written as these bytes."""
    return pl.read_ipc(io.BytesIO(message.tobytes()))
