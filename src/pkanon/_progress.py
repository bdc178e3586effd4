"""Progress: one type for the code that does the work and the code that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float], None]
"""Called with the name of a step and how much of it is done, 0 to 1."""


def quiet(step: str, done: float) -> None:
    """Show nothing."""


def within(progress: Progress, start: float, stop: float) -> Progress:
    """The progress of a part of a step: its 0 to 1 is ``start`` to ``stop`` of the whole."""
    return lambda step, done: progress(step, start + (stop - start) * done)
