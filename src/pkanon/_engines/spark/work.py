"""What every step on an executor needs: its orders, the line to the driver, batches in and out.

A step takes and gives Arrow batches, a partition at a time; nothing loops over rows. What goes wrong is raised as a mark without
values, because Spark writes errors of tasks to its logs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from ..._plan import Plan, parse_plan
from .channel import LARGEST, Channel, Refused, call
from .host import Line
from .marks import ALONE, OTHER_VERSION, UNREADABLE, Failure

Batches: TypeAlias = Iterator[pa.RecordBatch]
Step: TypeAlias = Callable[["Work", Batches], Batches]

PIECE = 2**17
"""Rows worked on together: Spark's own batches are too small for numpy and polars."""


@dataclass(frozen=True)
class Work:
    """The orders of a step. They travel in the closure, so nothing in them is secret once the release has ended.

    ``columns`` are those of the table that are read. ``rounds`` is how many order words a row carries, ``buckets`` into how many
    ranges they are cut.
    """

    plan: str = field(repr=False)
    version: str
    line: Line = field(repr=False)
    columns: tuple[str, ...]
    rounds: int = 1
    buckets: int = 1

    def read_plan(self) -> Plan:
        """The plan; refused where executors have another version than the driver."""
        from ... import __version__

        if __version__ != self.version:
            raise Failure(OTHER_VERSION)
        return _parsed(self.plan)

    def ask(self, **question: Any) -> dict[str, Any]:
        """The driver's answer to a question."""
        return self._talk(question, [])

    def send(self, messages: Sequence[NDArray[Any]], **about: Any) -> None:
        """Hand the driver some arrays, one after the other."""
        cut = [flat[i : i + LARGEST] for flat in map(_bytes, messages) for i in range(0, len(flat), LARGEST)]
        self._talk(about | {"messages": len(cut)}, cut)

    def _talk(self, first: Mapping[str, Any], others: Sequence[memoryview]) -> dict[str, Any]:
        line: Channel | None = None
        try:
            line = call(self.line.address, self.line.token)
            line.send(json.dumps(first).encode())
            for message in others:
                line.send(message)
            answer: dict[str, Any] = json.loads(line.receive())
            return answer
        except (OSError, Refused, ValueError):
            pass
        finally:
            if line is not None:
                line.close()
        raise Failure(ALONE)


@lru_cache(maxsize=2)
def _parsed(text: str) -> Plan:
    return parse_plan(text, "The plan")


def _bytes(array: NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).view(np.uint8).data)


def frames(batches: Batches, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Batches put together to pieces, as polars frames."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= PIECE:
            yield _frame(held, columns)
            held, rows = [], 0
    if rows:
        yield _frame(held, columns)


def _frame(batches: list[pa.RecordBatch], columns: Sequence[str]) -> pl.DataFrame:
    try:
        return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(batches).rename_columns(list(columns))))
    except (Exception, pl.exceptions.PanicException):
        pass  # its message quotes values
    raise Failure(UNREADABLE)


def batch_of(columns: Mapping[str, NDArray[Any] | pa.Array]) -> pa.RecordBatch:
    """Arrays as one batch."""
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns.values()], names=list(columns))


def partition() -> int:
    """The number of the partition that this task works on."""
    return int(_context().partitionId())


def attempt() -> int:
    """A number that no other attempt of any task has."""
    return int(_context().taskAttemptId())


def _context() -> Any:
    from pyspark import TaskContext

    return TaskContext.get()
