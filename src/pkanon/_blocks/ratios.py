"""AR and e^eps of any transition matrix, exactly (docs/why/theory.md 2 and 3).

AR is the smallest ``A[u,v'] A[v,u'] / (A[u,u'] A[v,v'])``. Written with logarithms it is a spread:
``-log AR = max over row pairs of (max_j d_j - min_j d_j)``, ``d = log A[u] - log A[v]``, which takes
V^2 V' steps instead of V^4. The floats only choose the candidates; every quadruple that could be
the smallest within rounding is compared in exact integers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Entries: TypeAlias = NDArray[Any]
"""A matrix of uint64 counts or float64 probabilities; either stands for exact numbers."""

NEAR_TIE = 1e-10
"""Spreads of logarithms up to 750 carry errors below 4 * 750 * 2^-53 = 4e-13; this leaves room."""


def epsilon_ratio(entries: Entries, sums: Sequence[Fraction] | None = None) -> Fraction | None:
    """The largest ratio inside a column; None where a column is zero in some rows only.

    ``sums``: what each row is divided by to make it whole; by default all rows have one sum.
    """
    positive = entries[:, entries.any(axis=0)]
    if not positive.all():
        return None
    if sums is None:
        tops, bottoms = positive.max(axis=0).tolist(), positive.min(axis=0).tolist()
        return max(Fraction(top) / Fraction(bottom) for top, bottom in zip(tops, bottoms))
    # floats choose the candidates, exact numbers decide
    whole = np.log(positive) - np.log([float(total) for total in sums])[:, None]
    largest = Fraction(1)
    for column, logs in zip(positive.T.tolist(), whole.T):
        high = np.flatnonzero(logs >= logs.max() - NEAR_TIE).tolist()
        low = np.flatnonzero(logs <= logs.min() + NEAR_TIE).tolist()
        top = max(Fraction(column[u]) / sums[u] for u in high)
        largest = max(largest, top / min(Fraction(column[u]) / sums[u] for u in low))
    return largest


def anonymity_ratio(entries: Entries) -> Fraction:
    """AR of a matrix; its rows may be rescaled freely."""
    positive = np.unique(entries[:, entries.any(axis=0)], axis=0)
    if not positive.all():
        return Fraction(0)
    values, ids = np.unique(positive, return_inverse=True)
    exact = [Fraction(value) for value in values.tolist()]
    smallest = Fraction(1)
    for a, b, c, d in _near_worst(ids.reshape(positive.shape), np.log(positive)):
        smallest = min(smallest, exact[a] * exact[d] / (exact[b] * exact[c]))
    return smallest


def _near_worst(ids: NDArray[np.int64], logs: NDArray[np.float64]) -> set[tuple[int, ...]]:
    """Numbers of (A[u,i], A[v,i], A[u,j], A[v,j]) for every quadruple within rounding of the worst.

    i is where log A[u] - log A[v] is smallest and j where it is largest, so that
    AR = (A[u,i] / A[v,i]) / (A[u,j] / A[v,j]).
    """
    spreads = [_spreads(logs, u) for u in range(len(logs) - 1)]
    worst = max((float(spread.max()) for spread in spreads), default=0.0)
    found: set[tuple[int, ...]] = set()
    base = int(ids.max(initial=0)) + 1  # up to 2^20 for 1024 x 1024, so a key of _ties has up to 50 bits
    for u, spread in enumerate(spreads):
        rows = np.flatnonzero(spread >= worst - NEAR_TIE) + u + 1
        if not len(rows):
            continue
        difference = logs[u] - logs[rows]
        low = _ties(difference <= difference.min(axis=1, keepdims=True) + NEAR_TIE, ids, u, rows, base)
        high = _ties(difference >= difference.max(axis=1, keepdims=True) - NEAR_TIE, ids, u, rows, base)
        found.update(a + b for lows, highs in {*zip(low, high)} for a in lows for b in highs)
    return found


def _ties(
    near: NDArray[np.bool_], ids: NDArray[np.int64], u: int, rows: NDArray[np.int64], base: int
) -> list[frozenset[tuple[int, int]]]:
    """For each row v of ``rows`` the distinct pairs (A[u,j], A[v,j]), as numbers, over the columns marked near."""
    row, column = np.divmod(np.flatnonzero(near), near.shape[1])
    keys = np.unique((row * base + ids[u, column]) * base + ids[rows[row], column])
    rest, second = np.divmod(keys, base)
    which, first = np.divmod(rest, base)
    starts = np.searchsorted(which, np.arange(len(near) + 1))
    pairs = list(zip(first.tolist(), second.tolist()))
    return [frozenset(pairs[a:b]) for a, b in itertools.pairwise(starts)]


def _spreads(logs: NDArray[np.float64], u: int) -> NDArray[np.float64]:
    differences = logs[u] - logs[u + 1 :]
    return np.asarray(differences.max(axis=1) - differences.min(axis=1))
