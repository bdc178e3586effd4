"""The input of charts, as frozen records: results fill them, and no chart reads the columns of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._blocks import Counts
from .._schema import MISSING_LABEL


@dataclass(frozen=True)
class Grid:
    """A table: the names and labels of its axes, and for each cell a number with its error.

    The arrays have one axis per attribute; ``flags`` has one entry per cell, row by row. ``measure`` is what
    ``estimate`` counts, ``share`` the share of the people and ``released`` the released rows behind it. ``ordered`` says of
    each attribute whether its values have an order, ``apart`` which of its labels are outside it; ``title`` what is shown.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    estimate: Counts
    standard_error: Counts
    low: Counts
    high: Counts
    share: Counts
    released: Counts
    flags: Sequence[str | None]
    measure: str
    level: float
    caption: str
    title: str = ""
    ordered: tuple[bool, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()


MEASURES = {"correlation": "correlation", "cramers_v": "Cramer's V"}
"""How strongly two attributes are related is measured by one of these; for people to read."""


@dataclass(frozen=True)
class Pair:
    """How strongly two attributes are related; NaN where nothing can be said."""

    first: str
    second: str
    measure: str
    value: float
    standard_error: float
    low: float
    high: float
    flag: str | None = None


@dataclass(frozen=True)
class Point:
    """The predicted error of a design at some k and number of records; ``varied`` names the one that changes."""

    design: str
    varied: str
    k: float
    records: int
    epsilon: float
    l1: float
    standard_error: float


@dataclass(frozen=True)
class Confidence:
    """Guesses of an adversary: her mean confidence, the share that was right, between which limits, and how many they are."""

    stated: float
    hit_rate: float
    low: float
    high: float
    guesses: int


def label_texts(labels: Sequence[Any]) -> tuple[str, ...]:
    """The labels of an axis as texts: a word for the missing value, and another one if that word is itself a label."""
    texts = [None if label is None else _text(label) for label in labels]
    missing = "(no value)" if MISSING_LABEL in texts else MISSING_LABEL
    return tuple(missing if text is None else text for text in texts)


def _text(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
