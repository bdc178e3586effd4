"""Rows on their way: taken in batches, randomised in runs, scattered to buckets.

A run is randomised and written by a thread of its own while the next rows are read. A row's words depend on its number alone,
so neither the length of the runs nor the number of threads can change a row or its place in the order. Nothing raw is written:
a run goes to the disk when it is randomised, with the columns that are passed on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl

from ..._errors import DataError
from ..._frames import Batch
from ..._plan import Plan
from ..._release import round_points, unit_columns
from ..._sample import Keystream, Records, order_words, randomise
from ..._schema import Codes, Points, code_dtype
from .buckets import Buckets, Lanes
from .budget import Sizes, cores
from .ids import Fingerprints


class Scatter:
    """Takes the rows of a table; a ``Taker`` of the reader."""

    def __init__(self, plan: Plan, source: Keystream, folder: Path, sizes: Sizes, *, exact_counts: bool) -> None:
        self._plan, self._source, self._folder, self._sizes = plan, source, folder, sizes
        self._exact_counts = exact_counts
        self.unit_dtypes = [np.dtype(code_dtype(unit.size)) for unit in plan.units]
        self._pool = ThreadPoolExecutor(cores())
        self._jobs: deque[Future[None]] = deque()
        self.buckets = self._new_buckets()
        self.ids: dict[str, Fingerprints] = {}
        self._forget()

    def _new_buckets(self) -> Buckets:
        lanes = [np.dtype(np.uint64), *Records(self.unit_dtypes, 0).dtypes]
        return Buckets(self._folder, lanes, skipped=0, bits=self._sizes.bits)

    def _forget(self) -> None:
        self._waiting: list[Batch] = []
        self._waiting_rows = 0
        self.rows = 0
        self._runs = 0
        self._forbidden: list[Batch] = []
        self._types: pl.Schema | None = None

    def begin(self) -> None:
        """Forget every row."""
        self._finish_jobs()
        self.close_files()
        self.buckets = self._new_buckets()
        self.ids = _fingerprints(self._plan, self._folder, self._sizes.bits)
        self._forget()

    def take(self, batch: Batch) -> None:
        """The next rows; a run is begun when there are enough of them."""
        for name, ids in batch.ids.items():
            self.ids[name].add(ids)
        if batch.passed is not None:
            self._types = self._types or batch.passed.schema
            _refuse_other_types(self._types, batch.passed.schema)
        for start in range(0, batch.rows, self._sizes.run):
            self._waiting.append(_slice(batch, start, start + self._sizes.run))
            self._waiting_rows += self._waiting[-1].rows
            if self._waiting_rows >= self._sizes.run:
                self._begin_run()

    def repeated(self, name: str) -> int:
        """How many rows share an id with another."""
        return self.ids[name].repeated()

    def finish(self) -> None:
        """All rows have been taken, and ids compared; refuses forbidden combinations."""
        self._begin_run()
        self._finish_jobs()
        _refuse_forbidden(self._plan, self._forbidden, exact_counts=self._exact_counts)
        self._close_ids()

    def add(self, columns: list[Codes]) -> None:
        """Rows that are not of the table, one column per unit, after all others."""
        self._run(self._runs, self.rows, columns, None)
        self._runs += 1
        self.rows += len(columns[0])

    def _begin_run(self) -> None:
        if not self._waiting:
            return
        batch = _joined(self._waiting)
        self._waiting, self._waiting_rows = [], 0
        while len(self._jobs) >= 2:  # one at work, one ready
            self._jobs.popleft().result()
        self._jobs.append(self._pool.submit(self._randomise, self._runs, self.rows, batch))
        self._runs += 1
        self.rows += batch.rows

    def _randomise(self, run: int, first: int, batch: Batch) -> None:
        codes = batch.codes
        round_points(self._plan, codes, self._source, first_record=first)
        try:
            columns = unit_columns(self._plan, dict(codes), exact_counts=False)
        except DataError:
            # Not refused yet: the reader may still find worse, and the sentence may have to count all such rows.
            self._forbidden.append(_forbidden_rows(self._plan, batch))
            return
        codes.clear()
        self._run(run, first, columns, batch.passed)

    def _run(self, run: int, first: int, columns: list[Codes], passed: pl.DataFrame | None) -> None:
        rows = len(columns[0])
        records = Records(self.unit_dtypes, rows)
        randomise(self._plan.blocks, columns, self._source, out=records.columns, first_record=first, threads=1)
        lanes: Lanes = [order_words(first, rows, self._source), *records.packed]
        self.buckets.add(run, lanes, passed)

    def _finish_jobs(self) -> None:
        while self._jobs:
            self._jobs.popleft().result()

    def close_files(self) -> None:
        """The space on the disk is free again."""
        self.buckets.close()
        self._close_ids()

    def _close_ids(self) -> None:
        for ids in self.ids.values():
            ids.close()

    def close(self) -> None:
        """Stop, and forget everything."""
        self._pool.shutdown(cancel_futures=True)
        self.close_files()


class Checker:
    """Takes the rows of a table to see whether they fit, and keeps none but those with a forbidden combination."""

    def __init__(self, plan: Plan, folder: Path, bits: int) -> None:
        self._plan, self._folder, self._bits = plan, folder, bits
        self.ids: dict[str, Fingerprints] = {}
        self._forbidden: list[Batch] = []

    def begin(self) -> None:
        """Forget every row."""
        self.close()
        self.ids = _fingerprints(self._plan, self._folder, self._bits)
        self._forbidden = []

    def take(self, batch: Batch) -> None:
        """The next rows."""
        for name, ids in batch.ids.items():
            self.ids[name].add(ids)
        try:
            unit_columns(self._plan, dict(_nearest(self._plan, batch.codes)), exact_counts=False)
        except DataError:
            self._forbidden.append(_forbidden_rows(self._plan, batch))

    def repeated(self, name: str) -> int:
        """How many rows share an id with another."""
        return self.ids[name].repeated()

    def finish(self, *, exact_counts: bool) -> None:
        """All rows have been taken; refuses forbidden combinations."""
        _refuse_forbidden(self._plan, self._forbidden, exact_counts=exact_counts)

    def close(self) -> None:
        """Forget everything."""
        for ids in self.ids.values():
            ids.close()


def _nearest(plan: Plan, codes: Mapping[str, Codes]) -> dict[str, Codes]:
    """Codes as they are, and of numbers between points those of the point below: enough to see whether they can be joined."""
    shifts = {a.name: a.domain.bits for a in plan.schema.randomised if isinstance(a.domain, Points)}
    return {name: column >> shifts[name] if name in shifts else column for name, column in codes.items()}


def _fingerprints(plan: Plan, folder: Path, bits: int) -> dict[str, Fingerprints]:
    ids = [attribute.name for attribute in plan.schema.attributes if attribute.role == "id"]
    return {name: Fingerprints(name, folder, bits) for name in ids}


def _refuse_forbidden(plan: Plan, batches: list[Batch], *, exact_counts: bool) -> None:
    if batches:
        unit_columns(plan, dict(_joined(batches).codes), exact_counts=exact_counts)
        raise AssertionError("rows with a forbidden combination were not refused")


def _refuse_other_types(first: pl.Schema, own: pl.Schema) -> None:
    for name, dtype in own.items():
        if dtype != first[name]:
            raise DataError(f"Column '{name}' holds values of several types; convert it to one type.")


def _slice(batch: Batch, start: int, stop: int) -> Batch:
    if start == 0 and stop >= batch.rows:
        return batch
    codes = {name: column[start:stop] for name, column in batch.codes.items()}
    passed = None if batch.passed is None else batch.passed[start:stop]
    return Batch(min(stop, batch.rows) - start, codes, passed, {})


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    codes = {name: np.concatenate([batch.codes[name] for batch in batches]) for name in batches[0].codes}
    frames = [batch.passed for batch in batches if batch.passed is not None]
    return Batch(sum(batch.rows for batch in batches), codes, pl.concat(frames) if frames else None, {})


def _forbidden_rows(plan: Plan, batch: Batch) -> Batch:
    """The rows that hold a forbidden combination of the first unit that has such rows in this batch."""
    for unit in plan.units:
        if unit.forbid:
            allowed = unit.allowed[tuple(batch.codes[name] for name in unit.attributes)]
            if not allowed.all():
                codes = {name: column[~allowed] for name, column in batch.codes.items()}
                return Batch(int(np.count_nonzero(~allowed)), codes, None, {})
    raise AssertionError("no combination is forbidden")
