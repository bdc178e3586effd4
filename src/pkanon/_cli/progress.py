"""A progress bar for work that takes longer than a moment; nothing in a pipe."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds; work that ends sooner shows no bar and does not load rich."""


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """Draw each step, and how much of it is done, on standard error if that is a terminal.

    It shows shares, how fast they grow and how long the rest takes, never counts of rows. A step at 0 is shown as under
    way, without an end.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda step, done: None
        return
    bar = _Bar()
    timer = threading.Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield bar.show
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


class _Bar:
    """Remembers steps until it is started, then draws them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[str, float] = {}
        self._begun: dict[str, float] = {}
        self._tasks: dict[str, TaskID] = {}
        self._drawn: Progress | None = None

    def show(self, step: str, done: float) -> None:
        with self._lock:
            self._steps[step] = done
            self._begun.setdefault(step, time.monotonic())
            self._draw(step)

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        with self._lock:
            self._drawn = Progress(
                TextColumn("{task.description:<12}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            for step in self._steps:
                self._draw(step)
            self._drawn.start()

    def stop(self) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def _draw(self, step: str) -> None:
        if self._drawn is None:
            return
        if step not in self._tasks:
            self._tasks[step] = self._drawn.add_task(step, total=None, rate="")
        done = self._steps[step]
        elapsed = time.monotonic() - self._begun[step]
        rate = f"{100 * done / elapsed:.1f}%/s" if 0 < done < 1 and elapsed > 0 else ""
        self._drawn.update(self._tasks[step], completed=done, total=1.0 if done > 0 else None, rate=rate)
