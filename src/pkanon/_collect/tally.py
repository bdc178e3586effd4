"""Counts of the answers so far, and what is shown of them while a survey runs.

Two states of estimated tables differ by just the answers that came in between, and so does a state from the rows themselves. So
results are shown as of m B answers once (m + 1) B answers are in, to everybody, the operator included, and B is fixed in the
survey folder. The counts that are shown are stored with the answers, so that a restart shows no other state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._estimate import Channel
from .._plan import Plan
from .._results import Estimate
from .store import Layout


class Tally:
    """How often every value of every attribute was sent, up to now."""

    def __init__(self, layout: Layout, records: Iterable[bytes]) -> None:
        self._layout = layout
        kept = list(records)
        self.answers = len(kept)
        self._counts = [
            np.bincount(column, minlength=size).astype(np.int64)
            for column, size in zip(layout.columns(kept), layout.sizes)
        ]

    def add(self, records: Sequence[bytes]) -> None:
        """Count more records."""
        for counts, column in zip(self._counts, self._layout.columns(records)):
            np.add.at(counts, column, 1)
        self.answers += len(records)

    def now(self) -> bytes:
        """The counts of this moment, in the bytes that a store keeps."""
        return np.concatenate([[self.answers], *self._counts]).astype("<i8").tobytes()


def answers_shown(snapshot: bytes) -> int:
    """How many answers a snapshot is of; 0 if nothing was shown."""
    return int.from_bytes(snapshot[:8], "little")


def shown_counts(layout: Layout, snapshot: bytes) -> tuple[int, list[NDArray[np.int64]]]:
    """How many answers a snapshot is of, and the counts of the values of each attribute."""
    numbers = np.frombuffer(snapshot, "<i8").astype(np.int64)
    ends = np.cumsum([1, *layout.sizes])
    return int(numbers[0]), [numbers[start:stop] for start, stop in pairwise(ends)]


def results(plan: Plan, snapshot: bytes) -> dict[str, Any]:
    """Estimated counts of the values of every attribute by itself, as of a snapshot; no attributes before the first."""
    layout = Layout.of(plan)
    answers, counts = shown_counts(layout, snapshot)
    if not answers:
        return {"answers": 0, "attributes": []}
    shown = []
    for attribute, count in zip(plan.schema.randomised, counts):
        if Channel(plan.blocks, [attribute.name]).extra:
            continue  # a matrix on a bundle: its attributes cannot be estimated one by one from their counts
        codes = {attribute.name: np.repeat(np.arange(attribute.size), count)}
        table = Estimate.of(plan.schema, plan.blocks, codes, [attribute.name]).to_polars(missing_label=None)
        values = [
            {
                "value": None if value is None else str(value),
                "estimate": round(estimate, 3),
                "std_error": round(error, 3),
            }
            for value, estimate, error in table.select(attribute.name, "estimate", "std_error").rows()
        ]
        shown.append({"attribute": attribute.name, "values": values})
    return {"answers": answers, "attributes": shown}
