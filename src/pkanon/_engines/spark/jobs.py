"""Running steps on the executors: a frame for each step, the same partitions for all, and the progress of a job."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..._progress import Progress
from .work import Batches, Step, Work

_PARALLEL = "spark.sql.leafNodeDefaultParallelism"
_EVERY = 0.3
"""Seconds between two looks at a running job."""


def mapped(df: Any, step: Step, work: Work, schema: str) -> Any:
    """The frame that ``step`` makes of ``df``, when Spark gets to it."""

    def run(batches: Batches) -> Batches:
        return step(work, batches)

    with warnings.catch_warnings():
        # said on every call wherever pandas is new, and pandas has no part in it
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return df.mapInArrow(run, schema)


@contextmanager
def same_partitions(df: Any) -> Iterator[None]:
    """Until the block ends, files are cut into the same partitions each time: else Spark cuts them by the cores of the moment."""
    session = df.sparkSession
    if session.conf.get(_PARALLEL, None) is not None:
        yield
        return
    session.conf.set(_PARALLEL, str(session.sparkContext.defaultParallelism))
    try:
        yield
    finally:
        with suppress(Exception):  # a session that has ended
            session.conf.unset(_PARALLEL)


@contextmanager
def shown(df: Any, step: str, progress: Progress) -> Iterator[None]:
    """Tells ``progress`` which share of the tasks of running stages is done, until the block ends."""
    tracker = df.sparkSession.sparkContext.statusTracker()
    over = threading.Event()

    def look() -> None:
        reached = 0.0
        with suppress(Exception):  # a session that ends meanwhile; the job itself says so
            while not over.wait(_EVERY):
                stages = [stage for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()) if stage]
                tasks = sum(stage.numTasks for stage in stages)
                share = sum(stage.numCompletedTasks for stage in stages) / tasks if tasks else 0.0
                if reached < share < 1:
                    reached = share
                    progress(step, share)

    progress(step, 0.0)
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    progress(step, 1.0)
