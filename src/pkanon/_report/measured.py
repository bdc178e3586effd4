"""Errors against the truth: the reconstructed tables beside those of the private table. For the internal edition only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._errors import PkanonError
from .._frames import Encoded, roundings
from .._plan import Reading
from .._progress import Progress
from .._schema import Attribute
from .markup import Html, element, label, paragraph, plural, table, together
from .subject import Subject, percent

MOST_TABLES = 200
"""Tables of two columns that are compared."""
MOST_CELLS = 100_000
MOST_LISTED = 60


@dataclass(frozen=True)
class Measured:
    """One table against the truth: its L1 error, and how many of its intervals hold the true number."""

    reading: Reading
    l1: float
    held: int
    cells: int


def measure(subject: Subject, truth: Encoded, progress: Progress) -> list[Measured]:
    """The tables of one and two columns, each against the same table of the private data."""
    singles = _chosen([one for one in subject.readable.tables if len(one.attributes) == 1], MOST_TABLES)
    pairs = _chosen([one for one in subject.readable.tables if len(one.attributes) == 2], MOST_TABLES)
    found = []
    for place, reading in enumerate([*singles, *pairs]):
        progress("measuring", place / len([*singles, *pairs]))
        one = _measure(subject, truth, reading)
        if one is not None:
            found.append(one)
    progress("measuring", 1.0)
    return found


def measured(subject: Subject, rows: int, found: Sequence[Measured]) -> Html:
    """How far the reconstructed tables of one and two columns are from the private table of so many ``rows``."""
    parts = [
        paragraph(
            "Every table was reconstructed from the release and compared with the same table of the private data. A "
            "measured error is one draw: it scatters around the predicted one, which is an average over all draws. "
            "Intervals are at 95%, so about 95% of them hold the truth."
        ),
    ]
    if subject.plan.schema.pointed:
        parts.append(
            paragraph(
                "A number between two points counts at both of them, in parts, as it is rounded on average. The predicted "
                "error leaves out that the release rounded it to one of them."
            )
        )
    if rows != subject.release.rows:
        parts.append(
            paragraph("The release has another number of rows than the private table; errors include that difference.")
        )
    parts.append(
        table(
            ["tables", "compared", "measured / predicted", "intervals that hold the truth"],
            [[one.kind, f"{one.count:,}", f"{one.ratio:.2f}", f"{100 * one.held:.1f}%"] for one in summaries(found)],
            numbers=[1, 2, 3],
        )
    )
    shown = sorted(found, key=lambda one: (len(one.reading.attributes), one.reading.l1))[:MOST_LISTED]
    lines = [
        [
            label(one.reading.name),
            f"{one.cells:,}",
            percent(one.reading.l1),
            percent(one.l1),
            f"{one.held:,} of {one.cells:,}",
            one.reading.level,
        ]
        for one in shown
    ]
    parts += [
        element("h3", "Table by table"),
        table(
            ["table", "numbers", "predicted error", "measured error", "intervals that hold it", "reads"],
            lines,
            numbers=[1, 2, 3, 4],
        ),
    ]
    left = len(subject.readable.tables) - len(shown)
    if left:
        parts.append(
            paragraph(
                f"{plural(left, 'further table')} not listed; compared were at most {MOST_TABLES} tables of each "
                f"kind, spread evenly over the range of predicted errors, with up to {MOST_CELLS:,} numbers each."
            )
        )
    return together(*parts)


def _chosen(readings: Sequence[Reading], most: int) -> list[Reading]:
    """At most this many tables that can be compared, evenly over the range of errors."""
    able = sorted((one for one in readings if np.isfinite(one.l1) and one.cells <= MOST_CELLS), key=lambda one: one.l1)
    if len(able) <= most:
        return able
    places = np.linspace(0, len(able) - 1, most).round().astype(int)
    return [able[place] for place in places]


def _measure(subject: Subject, truth: Encoded, reading: Reading) -> Measured | None:
    try:
        estimate = subject.release.crosstab(*reading.attributes)
    except PkanonError:
        return None
    attributes = [subject.plan.schema.attribute(name) for name in reading.attributes]
    true = count(truth, attributes, estimate.counts.shape)
    low, high = estimate.interval()
    slack = 1e-6 * truth.rows  # a bound that was computed in floating point can miss a whole number by rounding
    possible = np.broadcast_to(estimate.channel.possible, true.shape)
    held = int(((low - slack <= true) & (true <= high + slack))[possible].sum())
    return Measured(reading, float(np.abs(estimate.counts - true).sum() / truth.rows), held, int(possible.sum()))


def count(truth: Encoded, attributes: Sequence[Attribute], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The true table of these attributes. A number between two points counts at both, in parts, as it is rounded on average."""
    total = np.zeros(int(np.prod(shape)))
    for way in roundings(truth.codes, attributes):
        cells = np.zeros(truth.rows, np.int64)
        for attribute, size in zip(attributes, shape):
            cells *= size
            cells += way.codes[attribute.name]
        total += np.bincount(cells, way.share(truth.rows), len(total))
    return total.reshape(shape)


@dataclass(frozen=True)
class Summary:
    """Tables of one kind together: how many, measured error by predicted error, and the share of intervals that hold the truth."""

    kind: str
    count: int
    ratio: float
    held: float


def summaries(found: Sequence[Measured]) -> list[Summary]:
    """The tables of one column and those of two, as far as there are any."""
    made = []
    for size, kind in ((1, "single columns"), (2, "two columns")):
        own = [one for one in found if len(one.reading.attributes) == size]
        if own:
            ratio = sum(one.l1 for one in own) / sum(one.reading.l1 for one in own)
            made.append(Summary(kind, len(own), ratio, held_share(own)))
    return made


def held_share(found: Sequence[Measured]) -> float:
    """The share of the intervals that hold the truth."""
    return sum(one.held for one in found) / sum(one.cells for one in found)
