"""Buckets to released rows: each bucket is sorted by its order words, and its rows go to their place.

Buckets follow each other in the order of the words' leading bits, so the place of a bucket's first row is the number of rows
in the buckets before it. Two words that are equal in all 64 bits are told apart by those of the next round, as in memory: the
numbers of their rows are found by going through the keystream once more. That happens to one table in 4,000 of 10^8 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._frames import sort_words
from ..._sample import Records, WordSource, order_words, settle_ties, sort_by_words
from ..._schema import Codes
from .buckets import Buckets, Lanes
from .budget import Sizes, cores

_PIECE = 2**20
_DEEPEST = 60
"""Bits after which a bucket is sorted as it is, however large: so many equal bits are no accident."""

Place = Callable[[int, list[Codes], pl.DataFrame | None], None]
"""Called with a row's number in the release and the columns of units from there on; one bucket at a time or several."""


@dataclass(frozen=True)
class Sorter:
    """Puts ``rows`` rows in order; ``dtypes`` are the types of the columns of units."""

    rows: int
    dtypes: Sequence[np.dtype[Any]]
    source: WordSource
    folder: Path
    sizes: Sizes

    def sort(self, buckets: Buckets, place: Place, told: Callable[[float], None]) -> None:
        """Hands every row to ``place``; ``told`` hears which share is done."""
        done = 0
        with ThreadPoolExecutor(cores()) as pool:
            jobs = self._jobs(buckets, 0)
            for rows in pool.map(lambda job: self._sorted(job[0], job[1], job[2], place), jobs):
                done += rows
                told(done / max(self.rows, 1))

    def _jobs(self, buckets: Buckets, start: int) -> list[tuple[Buckets, int, int]]:
        jobs = []
        for bucket in range(buckets.number):
            jobs.append((buckets, bucket, start))
            start += buckets.rows(bucket)
        return jobs

    def _sorted(self, buckets: Buckets, bucket: int, start: int, place: Place) -> int:
        rows = buckets.rows(bucket)
        known = buckets.skipped + buckets.bits
        if rows > self.sizes.bucket and known < _DEEPEST:
            return self._split(buckets, bucket, start, place)
        if rows == 0:
            buckets.forget(bucket)
            return 0
        slices = list(buckets.slices(bucket))
        buckets.forget(bucket)
        words, *packed = (np.concatenate(lanes) for lanes in zip(*(lanes for lanes, _ in slices)))
        frames = [frame for _, frame in slices if frame is not None]
        del slices
        order = self._order(words, known)
        columns = Records.of_packed(self.dtypes, packed).permuted(order, threads=1)
        del packed, words
        place(start, columns, pl.concat(frames)[order] if frames else None)
        return rows

    def _split(self, buckets: Buckets, bucket: int, start: int, place: Place) -> int:
        """A bucket that is too large, in smaller ones by the bits that follow."""
        smaller = Buckets(self.folder, buckets.dtypes, skipped=buckets.skipped + buckets.bits, bits=4, files=1)
        try:
            for number, (lanes, passed) in enumerate(_grouped(buckets.slices(bucket), self.sizes.run)):
                smaller.add(number, lanes, passed)
            buckets.forget(bucket)
            return sum(self._sorted(*job, place) for job in self._jobs(smaller, start))
        finally:
            smaller.close()

    def _order(self, words: NDArray[np.uint64], known: int) -> NDArray[np.int64]:
        """The places of a bucket's rows in order; its words agree in the first ``known`` bits."""

        def whole(places: list[int]) -> list[int]:
            return [int(words[place]) for place in places]

        def settle(places: list[int]) -> list[int]:
            # rows of a bucket are in the order of their numbers
            records = self._records(int(words[places[0]]))
            by_record = dict(zip(records, sorted(places)))
            return [by_record[record] for record in settle_ties(records, self.source)]

        return sort_by_words(words << np.uint64(min(known, 63)), whole, settle, sort_words)

    def _records(self, word: int) -> list[int]:
        """The numbers of the rows that have this order word."""
        found: list[int] = []
        for start in range(0, self.rows, _PIECE):
            words = order_words(start, min(_PIECE, self.rows - start), self.source)
            found += (start + np.flatnonzero(words == np.uint64(word))).tolist()
        return found


def _grouped(
    slices: Iterator[tuple[Lanes, pl.DataFrame | None]], rows: int
) -> Iterator[tuple[Lanes, pl.DataFrame | None]]:
    """Slices put together to about so many rows."""
    held: list[tuple[Lanes, pl.DataFrame | None]] = []
    for each in slices:
        held.append(each)
        if sum(len(lanes[0]) for lanes, _ in held) >= rows:
            yield _together(held)
            held = []
    if held:
        yield _together(held)


def _together(held: list[tuple[Lanes, pl.DataFrame | None]]) -> tuple[Lanes, pl.DataFrame | None]:
    lanes = [np.concatenate(parts) for parts in zip(*(lanes for lanes, _ in held))]
    frames = [frame for _, frame in held if frame is not None]
    return lanes, pl.concat(frames) if frames else None
