"""Suspicions about the order of the rows, each a way to bet on the next row; order.py says why their gains are evidence.

Rows are taken a block at a time, in their order, with the few that follow the block. What stays in memory is a number for each
value, so a release may be larger than memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .evidence import NONE
from .pieces import Column

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
BLOCK = 2**14
"""Rows taken at a time: what is computed of them stays in the cache of a processor."""
EXACT = 2**17
"""Rows at the end of the file that are taken one by one. Before them one row changes shares of what is left so little that a block
may have its mean: logarithms are concave, so the evidence is never larger than one by one, and by less than 0.1 smaller in a
shuffled file."""
WORTH_PRODUCTS = 256
"""Numbers from which on their products are taken before the logarithm."""
ALIKE = 8
"""Rows of a block for each value of which one mean pays."""


def blocks(pieces: Iterable[Column]) -> Iterator[tuple[Column, int]]:
    """The rows in blocks: codes, and how many of them are the block's; the others follow it, as far as the longest lag."""
    held, ahead = np.empty(0, np.uint8), max(LAGS)
    for piece in pieces:
        held, start = np.concatenate([held, piece]) if len(held) else piece, 0
        while len(held) - start >= BLOCK + ahead:
            yield held[start : start + BLOCK + ahead], BLOCK
            start += BLOCK
        held = held[start:]
    for start in range(0, len(held), BLOCK):
        yield held[start : start + BLOCK + ahead], min(BLOCK, len(held) - start)


def in_order(pieces: Iterable[Sequence[Column]]) -> list[float]:
    """One over the probability that a uniform order rises (falls), where it does.

    Rows of several columns are compared as words are. Nothing is read after the first rows that do neither.
    """
    rises = falls = True
    rows, run, ties = 0, 0, 0.0
    last: list[Column] | None = None
    for piece in pieces:
        if not len(piece[0]):
            continue
        columns = list(piece) if last is None else [np.concatenate(pair) for pair in zip(last, piece)]
        step = _steps(columns)
        rises, falls = rises and bool((step >= 0).all()), falls and bool((step <= 0).all())
        if not rises and not falls:
            return [-math.inf, -math.inf]
        ends = np.flatnonzero(step)
        run = run if last is not None else 1
        lengths = np.diff(ends, prepend=-run)
        ties += sum(math.lgamma(length + 1) for length in lengths.tolist())
        run = len(step) - int(ends[-1]) if len(ends) else run + len(step)
        rows, last = rows + len(piece[0]), [column[-1:] for column in columns]
    orders = math.lgamma(rows + 1) - ties - math.lgamma(run + 1)
    return [orders if held else -math.inf for held in (rises, falls)]


def _steps(columns: Sequence[Column]) -> NDArray[np.int8]:
    """1 where the next row comes after a row in the order of words, -1 where it comes before it, 0 where it is the same."""
    step = np.zeros(len(columns[0]) - 1, np.int8)
    for column in reversed(columns):
        here, after = column[:-1], column[1:]
        step[after > here] = 1
        step[after < here] = -1
    return step


class Sticky:
    """A value follows its like one, two or three rows later more often, or more rarely, than it should."""

    def __init__(self, counts: NDArray[Any]) -> None:
        """``counts`` says how many rows each value has; it is used up."""
        self._left = counts
        self._rows = int(counts.sum(dtype=np.int64))
        self._lags = [lag for lag in LAGS if lag < self._rows]
        self._logs = np.zeros((len(self._lags), len(FACTORS)))

    def take(self, codes: Column, rows: int) -> None:
        """The next block."""
        places = _order(codes[:rows])
        ordered = codes[places]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        left = self._after(ordered, starts)
        mean = self._rows - rows > EXACT and rows >= ALIKE * len(starts)
        for i, lag in enumerate(self._lags):
            first = codes[: min(rows, len(codes) - lag)]
            if not len(first):
                break
            if len(first) < len(places):  # the last rows of all: nothing follows them
                known = places < len(first)
                left, places = left[known], places[known]
            share = left / (self._rows - lag - places)
            alike = codes[lag : lag + len(first)] == first
            self._logs[i] += np.count_nonzero(alike) * np.log(FACTORS)
            self._logs[i] -= _by_values(share, starts) if mean else _row_by_row(share)
            left = left - alike[places]
        self._rows -= rows

    def _after(self, ordered: Column, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many rows of its value stand after each row of a block, in the order of values that start at these places."""
        values, sizes = ordered[starts], np.diff(starts, append=len(ordered))
        after = np.repeat(self._left[values] + starts, sizes) - np.arange(1, len(ordered) + 1)
        self._left[values] -= sizes.astype(self._left.dtype)
        return after

    @property
    def found(self) -> list[float]:
        """The evidence for each lag and factor."""
        return list(self._logs.ravel().tolist()) or [NONE]


def _row_by_row(share: NDArray[np.float64]) -> list[float]:
    """For each factor, the logarithm of how many times as much weight is left as there would be without a suspicion."""
    scratch = np.empty_like(share)
    found = []
    for factor in FACTORS:
        np.multiply(share, factor - 1, out=scratch)
        scratch += 1
        found.append(_log_product(scratch))
    return found


def _by_values(share: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same, not smaller and hardly larger: every row has the mean share of the rows of its value."""
    sizes = np.diff(starts, append=len(share))
    mean = np.add.reduceat(share, starts) / sizes
    return np.asarray(sizes @ np.log1p(np.outer(mean, np.array(FACTORS) - 1)))


def _order(codes: Column) -> NDArray[np.int64]:
    """The places of the codes in the order of their values, equal ones as they come."""
    if codes.dtype.itemsize <= 2:
        return np.argsort(codes, kind="stable")
    keys = codes.astype(np.uint64) << np.uint64(32) | np.arange(len(codes), dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(2**32 - 1)).astype(np.int64)


class Drift:
    """The values of one stretch of the file are also more frequent in the next stretch. Every code must occur."""

    def __init__(self, counts: NDArray[np.int64], stretches: Sequence[int]) -> None:
        """``stretches`` says into how many the file is divided, in several ways."""
        self._left, self._few = int(counts.sum()), ALIKE * len(counts) <= BLOCK
        possible = takewhile(lambda number: self._left >= SHORTEST * number, stretches)
        self._divisions = [_Division(counts, number) for number in possible]

    def take(self, codes: Column, rows: int) -> None:
        """The next block; rows that follow it are not looked at."""
        codes = codes[:rows]
        if mean := self._few and self._left - rows > EXACT:
            shares = 1 / np.arange(self._left, self._left - rows, -1.0)
            after = np.cumsum(shares[::-1])[::-1]
            values = self._divisions[0].values
            counts = np.bincount(codes, minlength=values)
            later: NDArray[np.float64] = np.bincount(codes, weights=after - shares, minlength=values).astype(float)
        for division in self._divisions:
            if mean and rows < division.until:
                division.take_mean(counts, float(after[0]), later)
            else:
                division.take(codes)
        self._left -= rows

    @property
    def found(self) -> list[float]:
        """The evidence for each division and each power."""
        return [value for division in self._divisions for value in division.logs.tolist()]


class _Division:
    """A file divided into a number of stretches."""

    def __init__(self, counts: NDArray[np.int64], stretches: int) -> None:
        self.values, self.logs = len(counts), np.zeros(len(POWERS))
        self._rows, self._at = int(counts.sum()), 0
        self._ends = [self._rows * (i + 1) // stretches for i in range(stretches)]
        self._shares, self._left = counts / self._rows, counts.astype(float)
        self._latest = np.zeros_like(counts)
        self._seen = np.zeros(len(counts))
        self._base = np.ones(len(counts))
        self._weights: list[NDArray[np.float64]] = []
        """How many times as often each value is suspected to be drawn, for each power; nothing in the first stretch."""
        self._sums: list[float] = []
        """Of the weights, over the rows that are left."""

    @property
    def until(self) -> int:
        """How many rows there are to the end of the stretch."""
        return self._ends[0] - self._at

    def take(self, codes: Column) -> None:
        """The next rows, one by one."""
        start = 0
        while start < len(codes):
            some = codes[start : start + self.until]
            self._draw(some)
            self._at += len(some)
            start += len(some)
            if not self.until:
                self._turn()

    def take_mean(self, counts: NDArray[np.int64], after: float, later: NDArray[np.float64]) -> None:
        """The next rows of the stretch, by how many have each value: evidence is not larger than one by one, and hardly smaller.

        Of the weights that are left, the rows before each row are missing. So their mean over the rows, as shares of the rows
        left, takes ``after``, the sum of the reciprocals of the rows left, and ``later``: for each value that of the sums after
        its rows.
        """
        rows = int(counts.sum())
        for i, weights in enumerate(self._weights):
            self.logs[i] -= rows * math.log((self._sums[i] * after - float(weights @ later)) / rows)
            self._sums[i] -= float(weights @ counts)
        self._latest += counts
        self._at += rows

    def _draw(self, codes: Column) -> None:
        """Rows in one stretch."""
        left = np.arange(self._rows - self._at, self._rows - self._at - len(codes), -1.0)
        for i, weights in enumerate(self._weights):
            drawn = weights.take(codes)
            sums = drawn.cumsum()
            sums -= drawn
            np.subtract(self._sums[i], sums, out=sums)
            np.maximum(sums, drawn, out=sums)  # a row is among those that are left, whatever was rounded
            sums /= left
            self.logs[i] -= _log_product(sums)
            self._sums[i] -= float(np.add.reduce(drawn))
        if len(self._latest) <= BLOCK:
            self._latest += np.bincount(codes, minlength=len(self._latest))
        else:
            np.add.at(self._latest, codes.astype(np.intp), 1)

    def _turn(self) -> None:
        """The end of a stretch: its rows drew their weights, and say what the next ones are suspected to be."""
        self._ends.pop(0)
        if self._weights:
            self.logs += np.array(POWERS) * float(np.log(self._base) @ self._latest)
        self._left -= self._latest
        self._seen *= FADING
        self._seen += self._latest
        self._latest[:] = 0
        # as in the stretches before, steadied by some rows of the whole
        steady = STEADY * len(self._seen)
        self._base = (self._seen / self._shares + steady) / (float(np.add.reduce(self._seen)) + steady)
        self._weights = [self._base**power for power in POWERS]
        self._sums = [float(self._left @ weights) for weights in self._weights]


def _log_product(values: Column) -> float:
    """The logarithm of the product of numbers between 1e-18 and 1e18: sixteen at a time, because logarithms are slow."""
    whole = len(values) // 16 * 16 if len(values) >= WORTH_PRODUCTS else 0
    rest = float(np.add.reduce(np.log(values[whole:])))
    return rest + float(np.add.reduce(np.log(np.multiply.reduce(values[:whole].reshape(16, -1))))) if whole else rest
