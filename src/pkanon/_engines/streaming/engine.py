"""A table and a plan in, released rows on a disk out; whoever calls it has refused what is to be refused before a row is read.

Temporary files (spool.py) are in a folder of the caller's choice: nameless, enciphered, and gone with the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ..._errors import RefusedError
from ..._frames import Encoded, TextFormat, encode_through
from ..._plan import Plan
from ..._progress import Progress
from ..._release import attribute_columns
from ..._sample import Keystream, draw_change, dummy_columns
from ..._schema import Codes
from .budget import Sizes
from .columns import ColumnFile, PassedFile
from .scatter import Checker, Scatter
from .sorting import Sorter

SORTING = "shuffling"


@dataclass(frozen=True)
class Streamed:
    """Released rows on a disk; ``encoded`` is the record of the table without its rows."""

    rows: int
    codes: ColumnFile
    passed: PassedFile | None
    encoded: Encoded


def stream(
    table: object,
    plan: Plan,
    source: Keystream,
    *,
    folder: Path,
    sizes: Sizes,
    text: TextFormat,
    exact_counts: bool,
    refuse: Callable[[int], None],
    progress: Progress,
) -> Streamed:
    """Randomise and shuffle a table of any length. ``refuse`` is called with the number of rows once they are known to fit."""
    _refuse_drawing(plan)
    scatter = Scatter(plan, source, folder, sizes, exact_counts=exact_counts)
    try:
        encoded = encode_through(table, plan.schema, scatter, text=text, exact_counts=exact_counts, progress=progress)
        refuse(encoded.rows)
        scatter.finish()
        rows = encoded.rows
        if plan.count_noise is not None:
            change = draw_change(rows, plan.count_noise.p, source)
            if change > 0:
                scatter.add(dummy_columns(plan.units, change, source))
            rows += change
        codes = ColumnFile(folder, plan.schema.randomised, rows)
        passed = PassedFile(folder) if plan.schema.passed else None
        lock = threading.Lock()

        def place(start: int, columns: list[Codes], frame: pl.DataFrame | None) -> None:
            codes.fill(start, attribute_columns(plan, columns))
            if passed is not None and frame is not None:
                with lock:
                    passed.fill(start, frame)

        sorter = Sorter(scatter.rows, scatter.unit_dtypes, source, folder, sizes)
        sorter.sort(scatter.buckets, place, lambda share: progress(SORTING, share))
        return Streamed(rows, codes, passed, encoded)
    finally:
        scatter.close()


def check_through(
    table: object,
    plan: Plan,
    *,
    folder: Path,
    sizes: Sizes,
    text: TextFormat,
    exact_counts: bool,
    refuse: Callable[[int], None],
    progress: Progress,
) -> Encoded:
    """Whether a table of any length fits a plan; the record of the table without its rows."""
    _refuse_drawing(plan)
    checker = Checker(plan, folder, sizes.bits)
    try:
        encoded = encode_through(table, plan.schema, checker, text=text, exact_counts=exact_counts, progress=progress)
        refuse(encoded.rows)
        checker.finish(exact_counts=exact_counts)
        return encoded
    finally:
        checker.close()


def _refuse_drawing(plan: Plan) -> None:
    if plan.schema.repeating is not None:
        raise RefusedError(
            "One row of each person cannot be drawn while a table larger than memory is read; draw it before, or give "
            "enough memory for the whole table and leave out memory (--memory)."
        )
