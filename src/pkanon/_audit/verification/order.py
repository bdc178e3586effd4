"""Whether the order of the rows is suspicious: evidence that they were not shuffled.

Given which rows there are, every order of a shuffled release is equally likely. Draw the rows one after the other: the
next value of a column is v with probability ``left_v / left``, from what is left of it. A suspicion says otherwise:
``w_v left_v / sum_u w_u left_u`` for weights w that depend on the rows before only. The product of the ratios of the
two is the evidence. Its mean over all orders is exactly 1, whatever the weights and however few the rows.

Suspicions, for each column and for whole rows:

- sticky: a value follows its like one, two or three rows later more often, or more rarely, than it should;
- drift: the values of one stretch of the file are also more frequent in the next stretch;
- sorted: the column stands in rising or falling order, the whole of it.

Columns of many values are looked at in four groups too, of about as many rows each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._progress import Progress, quiet
from .evidence import NONE, WHOLE_ROWS, Evidence, Names, average

LAGS = (1, 2, 3)
FACTORS = (0.5, 0.9, 0.97, 0.99, 1.01, 1.03, 1.1, 1.5, 4.0, 50.0)
"""How many times as often a value is suspected to follow its like."""
STRETCHES = (2, 8, 32, 128)
POWERS = (0.3, 1.0)
"""How much of the difference between the last stretches and the whole is expected of the next one."""
FADING = 0.7
"""How much a stretch counts beside the one after it."""
STEADY = 8
"""Rows for each value that are added, distributed as the whole, so that a few rows more or less do not count."""
SHORTEST = 4
"""Rows in a stretch."""
GROUPS = 4
MANY = 9
"""Values of a column from which on it is looked at in groups too."""

Column = NDArray[Any]


def order_evidence(columns: Mapping[str, Column], progress: Progress = quiet) -> Evidence:
    """The evidence in the order of each of the ``columns`` (any sortable codes), and of whole rows."""
    tests: dict[Names, float] = {}
    ids: Column | None = None
    for step, (name, values) in enumerate(columns.items()):
        progress("order", step / (len(columns) + 1))
        codes = _dense(values)
        tests[name,] = _column(codes)
        ids = codes if ids is None else _dense(ids.astype(np.int64) * (int(codes.max(initial=0)) + 1) + codes)
    if ids is not None and len(columns) > 1:
        tests[WHOLE_ROWS] = average([*_sticky(ids), *_sorted(ids)])
    progress("order", 1.0)
    return Evidence(tests, dict.fromkeys(tests, 1 / len(tests)))


def _dense(values: Column) -> Column:
    """Codes 0, 1, ... in the order of the values, without gaps."""
    if values.dtype.kind == "u" and values.dtype.itemsize <= 2:
        counts = np.bincount(values, minlength=1)
        numbers = np.cumsum(counts > 0) - 1
        return np.asarray(numbers.astype(np.uint16)[values])
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.uint16 if len(distinct) <= 2**16 else np.int64)


def _column(codes: Column) -> float:
    found = [average(_sorted(codes)), average(_sticky(codes)), average(_drift(codes))]
    if int(codes.max(initial=0)) + 1 >= MANY:
        grouped = _grouped(codes)
        found += [average(_sticky(grouped)), average(_drift(grouped))]
    return average(found)


def _grouped(codes: Column) -> Column:
    """Neighbouring values taken together, to about as many rows in each group. Only the counts decide, not the order.

    A value that most rows have leaves no rows to some groups; those that are left are numbered without gaps.
    """
    counts = np.bincount(codes)
    middle = np.cumsum(counts) - counts / 2
    return _dense((middle * GROUPS / len(codes)).astype(np.uint8)[codes])


def _sorted(codes: Column) -> list[float]:
    """One over the probability that a uniform order rises (falls), where it does."""
    counts = np.bincount(codes)
    orders = math.lgamma(len(codes) + 1) - sum(math.lgamma(count + 1) for count in counts.tolist())
    rises, falls = bool((codes[1:] >= codes[:-1]).all()), bool((codes[1:] <= codes[:-1]).all())
    return [orders if held else -math.inf for held in (rises, falls)]


def _sticky(codes: Column) -> list[float]:
    rows = len(codes)
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    before = np.empty(rows, np.int64)  # how many rows of the same value stand before each row
    before[order] = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
    found = []
    for lag in LAGS:
        if rows <= lag:
            break
        first = codes[:-lag]
        left = counts[first] - before[:-lag] - 1
        for between in range(1, lag):
            left -= codes[between : rows - lag + between] == first
        share = left / (rows - np.arange(lag, rows))
        alike = int(np.count_nonzero(codes[lag:] == first))
        found += [alike * math.log(factor) - _log_product(1 + (factor - 1) * share) for factor in FACTORS]
    return found or [NONE]


def _log_product(values: Column) -> float:
    """The logarithm of the product of numbers between 1/100 and 100: sixteen at a time, because logarithms are slow."""
    whole = len(values) // 16 * 16
    product = np.multiply.reduce(values[:whole].reshape(16, -1), axis=0)
    return float(np.log(product).sum() + np.log(values[whole:]).sum())


def _drift(codes: Column) -> list[float]:
    """Every code must occur, as those of ``_dense`` do."""
    rows = len(codes)
    counts = np.bincount(codes)
    shares = counts / rows
    steady = STEADY * len(counts)
    found = []
    for stretches in STRETCHES:
        if rows < SHORTEST * stretches:
            break
        ends = [rows * (i + 1) // stretches for i in range(stretches)]
        totals = np.zeros(len(POWERS))
        left = counts.copy()
        seen = np.zeros(len(counts))
        for start, stop in zip([0, *ends], ends):
            piece = codes[start:stop]
            for i, power in enumerate(POWERS if start else ()):
                # as in the stretches before, steadied by some rows of the whole
                weights = ((seen / shares + steady) / (seen.sum() + steady)) ** power
                drawn = weights[piece]
                sums = float(left @ weights) - (np.cumsum(drawn) - drawn)
                totals[i] += float(np.log(drawn * (rows - np.arange(start, stop)) / sums).sum())
            latest = np.bincount(piece, minlength=len(counts))
            left = left - latest
            seen = FADING * seen + latest
        found += totals.tolist()
    return found or [NONE]
