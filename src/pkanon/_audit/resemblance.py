"""How much a published table resembles the private one, as people measure it who publish rows as they are.

Rows are unique on some columns if no other row agrees with them there. A published row equals a private one if all columns
agree; its distance to the nearest private row is the number of columns in which they differ.

For rows that are generalised or copied these are risks: an outsider who knows the columns finds the one row that fits. For
randomised rows they are not. A released row that is unique, or that equals somebody's, may come from anybody, and with the
plan's own probabilities it often does; whether it is hers is what the attack measures. They are given for comparison.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .classical import class_of

MOST_PAIRS = 66
SAMPLE = 500
"""Rows whose nearest neighbours are looked for."""

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Uniques:
    """How many rows are unique on ``columns``, in the private table and in what is published."""

    columns: tuple[str, ...]
    private: int
    published: int


@dataclass(frozen=True)
class Resemblance:
    """Classical measures of two tables with the same columns.

    ``equal`` is the share of published rows that equal some private row; ``equal_private`` the share of private rows that equal
    another one, ``equal_independent`` the share to be expected if columns were independent. ``nearest`` and ``nearest_private``
    are mean distances to the nearest private row, for private rows to the nearest other one, of a sample.
    """

    private_rows: int
    published_rows: int
    uniques: tuple[Uniques, ...]
    equal: float
    equal_private: float
    equal_independent: float
    nearest: float
    nearest_private: float


def resemblance(private: Columns, published: Columns) -> Resemblance:
    """Compare two tables whose equal values have equal codes."""
    names = list(private)
    sets: list[tuple[str, ...]] = [(name,) for name in names]
    sets += list(itertools.islice(itertools.combinations(names, 2), MOST_PAIRS))
    sets.append(tuple(names))
    uniques = tuple(
        Uniques(chosen, unique_rows(private, chosen), unique_rows(published, chosen)) for chosen in dict.fromkeys(sets)
    )
    people, rows = (len(table[names[0]]) for table in (private, published))
    where = class_of([np.concatenate([private[name], published[name]]) for name in names])
    known = np.bincount(where[:people], minlength=int(where.max()) + 1)
    distinct = {name: private[name][np.unique(where[:people], return_index=True)[1]] for name in names}
    alike = np.ones(len(distinct[names[0]]))
    for name in names:
        size = int(max(private[name].max(), published[name].max())) + 1
        alike *= (np.bincount(published[name], minlength=size) / rows)[distinct[name]]
    ours, theirs = _sample(people), _sample(rows)
    kinds = np.stack([distinct[name] for name in names])
    several = known[where[:people]] > 1
    return Resemblance(
        private_rows=people,
        published_rows=rows,
        uniques=uniques,
        equal=float((known[where[people:]] > 0).mean()),
        equal_private=float(several.mean()),
        equal_independent=float(alike.sum()),
        nearest=float(np.mean([_nearest(kinds, row) for row in _rows(published, names, theirs)])),
        nearest_private=float(
            np.mean(
                [
                    0 if several[i] else _nearest(kinds, row, own=True)
                    for i, row in zip(ours, _rows(private, names, ours))
                ]
            )
        ),
    )


def unique_rows(table: Columns, columns: Sequence[str]) -> int:
    """How many rows no other row agrees with on ``columns``."""
    return int((np.bincount(class_of([table[name] for name in columns])) == 1).sum())


def _sample(rows: int) -> NDArray[np.int64]:
    """Evenly spaced rows: no random numbers, and equal tables have equal samples."""
    return np.unique(np.linspace(0, rows - 1, min(rows, SAMPLE)).round().astype(np.int64))


def _rows(table: Columns, names: Sequence[str], chosen: NDArray[np.int64]) -> NDArray[Any]:
    return np.stack([table[name][chosen] for name in names], axis=1)


def _nearest(kinds: NDArray[Any], row: NDArray[Any], *, own: bool = False) -> int:
    """In how many columns the nearest of ``kinds`` differs from a row; ``own`` leaves out the row itself."""
    differ = np.zeros(kinds.shape[1], np.int16)
    for column, value in zip(kinds, row):
        differ += column != value
    if own:
        differ[differ == 0] = len(kinds)
    return int(differ.min())
