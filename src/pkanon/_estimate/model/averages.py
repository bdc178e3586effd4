"""Intervals that hold on average over the cells of all tables of one order (docs/why/theory.md 12).

Per cell, in shares: Y unbiased with known noise s^2, m the mixture's, D = Y - m, x = m/s and g = x/(1 + x).

1. Leverage: rows are drawn again and the model is fitted again from where it stands. h = mean of (Y* - Y)(m* - m)/s^2 in ranges of x.
2. Misfit: ``q = D^2/s^2 - 1 + 2h`` is unbiased for the squared bias of m over s^2. It is set to ``lam g``; lam comes from all cells of
   the order, from large and small ones apart, each raised to its upper end; a table or a range that shows more has what it shows.
3. The interval is ``m + w D``, give or take ``a s cva(b)``, ``a = h + w (1 - h)``, ``b = (1 - w)^2 (lam g - h^2)/a^2``, w the one of the
   shortest interval (critical.py).
4. That of ``inverse`` instead where x >= 10 and in tables of fewer than 30 cells; the hull of both where ``|D| > 2.5 s``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..interval import normal_quantile
from .critical import critical_value

EDGES = np.array([0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, np.inf])
FLOOR, TOP, SMALL, FAR = 0.01, 10.0, 30, 2.5
RAISED = 1.15
"""The factor on the leverage: a few redrawn releases understate it."""
UPPER = 1.645


@dataclass(frozen=True, eq=False)
class Cells:
    """All cells of some tables of one order, flat: ``unbiased``, ``model``, ``noise`` (s^2), ``lever`` (mean of (Y* - Y)(m* - m)).

    In shares of n rows; ``table`` numbers the table of each cell. An estimate below half a person counts as that.
    """

    rows: float
    table: NDArray[np.intp]
    unbiased: Counts
    model: Counts
    noise: Counts
    lever: Counts

    @cached_property
    def error(self) -> Counts:
        """s."""
        return np.sqrt(self.noise)

    @cached_property
    def apart(self) -> Counts:
        """D."""
        return self.unbiased - self.model

    @cached_property
    def size(self) -> Counts:
        """x."""
        return np.asarray(np.maximum(self.model, np.maximum(0.5 / self.rows, FLOOR * self.error)) / self.error)

    @cached_property
    def shape(self) -> Counts:
        """g."""
        return np.asarray(self.size / (1 + self.size))

    @cached_property
    def _ranges(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The range of x of each cell, and the ranges that have enough cells."""
        place = np.digitize(self.size, EDGES) - 1
        return place, np.flatnonzero(np.bincount(place, minlength=len(EDGES)) >= 20)

    @cached_property
    def leverage(self) -> Counts:
        """h: at most 0.95, and the larger the larger x is."""
        place, full = self._ranges
        if not len(full):
            return np.full(len(self.size), 0.95)
        number = np.bincount(place, minlength=len(EDGES))[full]
        mean = np.bincount(place, self.lever / self.noise, len(EDGES))[full] / number
        where = np.bincount(place, np.log(self.size), len(EDGES))[full] / number
        return np.interp(np.log(self.size), where, np.clip(RAISED * np.maximum.accumulate(mean), 0, 0.95))

    @cached_property
    def bias(self) -> Counts:
        """lam g: the mean squared bias of the model over s^2 that cells like this one have."""
        big = (self.size >= 1) & (self.size < TOP)
        if big.sum() < 100:  # the largest there are
            below = np.flatnonzero(self.size < TOP)
            big = np.zeros(len(self.size), bool)
            big[below[np.argsort(self.size[below], kind="stable")[-300:]]] = True
        upper = self._upper(big)
        lower = upper
        middle = (self.size >= 0.1) & (self.size < 1)
        if middle.sum() >= 50:
            lower = min(upper, self._upper(middle))
        part = np.clip(np.log(self.size / 0.3) / math.log(1 / 0.3), 0, 1)
        lam = lower + part * (upper - lower)
        place, full = self._ranges
        tables = [(self.table == i, False) for i in range(int(self.table.max(initial=-1)) + 1)]
        for cells, clustered in (*tables, *((place == i, True) for i in full)):
            value, error = self._slope(cells, clustered)
            lam[cells] = np.maximum(lam[cells], value - error)
        return np.asarray(np.maximum(lam * self.shape, self.leverage**2 + 1e-9))

    def _upper(self, cells: NDArray[np.bool_]) -> float:
        value, error = self._slope(cells, True)
        return max(value, 0.0) + UPPER * error

    def _slope(self, cells: NDArray[np.bool_], clustered: bool) -> tuple[float, float]:
        """lam of some cells by least squares, and its standard error: at least the one that tables as clusters show."""
        g, h = self.shape[cells], self.leverage[cells]
        q = self.apart[cells] ** 2 / self.noise[cells] - 1 + 2 * h
        total = float((g * g).sum())
        if not total:
            return 0.0, 9.0
        lam = float((g * q).sum()) / total
        spread = np.maximum(1 + max(lam, 0.0) * g - 2 * h, 0.1)
        error = math.sqrt(2 * float((g * g * spread * spread).sum())) / total
        if clustered:
            sums = np.bincount(self.table[cells], g * (q - lam * g))
            error = max(error, math.sqrt(float((sums * sums).sum())) / total)
        return lam, error

    @cached_property
    def far(self) -> NDArray[np.bool_]:
        """Where model and rows disagree beyond noise."""
        return np.asarray(np.abs(self.apart) > FAR * self.error)

    def limits(self, level: float) -> tuple[Counts, Counts]:
        """(low, high) of each cell."""
        z, h = normal_quantile(level), self.leverage
        best, weight = np.full(len(h), np.inf), np.zeros(len(h))
        for w in (0.0, *np.geomspace(1e-3, 1, 50)):
            reach = np.maximum(h + w * (1 - h), 1e-9)
            half = reach * critical_value((1 - w) ** 2 * (self.bias - h * h) / reach**2, level)
            better = half < best
            best, weight = np.where(better, half, best), np.where(better, w, weight)
        middle = self.model + weight * self.apart
        low, high = middle - best * self.error, middle + best * self.error
        usual = self.unbiased - z * self.error, self.unbiased + z * self.error
        low, high = (
            np.where(self.far, np.minimum(low, usual[0]), low),
            np.where(self.far, np.maximum(high, usual[1]), high),
        )
        plain = (self.size >= TOP) | (np.bincount(self.table)[self.table] < SMALL)
        return np.where(plain, usual[0], low), np.where(plain, usual[1], high)
