"""Exact bounds and tails, and proven bounds on tails: no normal approximation anywhere."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from ..shares import Array, lower_share, upper_share


def epsilon_below(
    first: Array | float, first_runs: float, second: Array | float, second_runs: float, error: float
) -> Array:
    """A bound from below on eps: how often an event happened with one table and with its neighbour.

    With either of two probabilities off by ``error / 2`` at most, eps is at least ``log(lower / upper)``.
    """
    below = lower_share(first, first_runs, error / 2)
    above = upper_share(second, second_runs, error / 2)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(below) - np.log(above), 0.0))


def binomial_tails(counts: Array, runs: int, shares: Array) -> Array:
    """Two-sided tails of counts that are binomial."""
    below = special.bdtr(counts, runs, shares)
    above = special.bdtrc(counts - 1, runs, shares)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)))


def mixed_tails(counts: Array, runs: int, shares: Array) -> Array:
    """Bounds on two-sided tails of counts of independent draws with different probabilities; ``shares`` are their averages.

    At a distance of one or more from the mean, no such count has a heavier tail than the binomial one (Hoeffding 1956).
    """
    far = np.abs(counts - runs * shares) >= 1
    return np.where(far, binomial_tails(counts, runs, shares), 1.0)


def drawn_tail(found: int, rows: int, marked: int, drawn: int) -> float:
    """The two-sided tail of how many of ``marked`` rows are among ``drawn`` of all: hypergeometric.

    A count further than t from the mean has a probability of at most ``2 exp(-2 t^2 / min(drawn, marked))`` (Hoeffding
    1963), so what is left out here is less than any number there is.
    """
    mean, width = drawn * marked / rows, 20 * math.sqrt(min(drawn, marked)) + 1
    if abs(found - mean) > width:
        return 0.0
    least = max(0, drawn + marked - rows, math.floor(mean - width))
    most = min(drawn, marked, math.ceil(mean + width))
    possible = np.arange(least, most + 1)
    weights: Array = _choose(marked, possible) + _choose(rows - marked, drawn - possible)
    return _tail(found - least, weights)


def paired_tail(found: int, pairs: int, marked: int) -> float:
    """The two-sided tail of how many of ``pairs`` hold two marked rows, if ``marked`` rows are placed at random."""
    least, most = max(0, marked - pairs), marked // 2
    possible = np.arange(least, most + 1)
    single = marked - 2 * possible
    weights: Array = _choose(pairs, possible) + _choose(pairs - possible, single) + single * math.log(2)
    return _tail(found - least, weights)


def _choose(n: Array | int, k: Array | int) -> Array:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(np.add(k, 1)) - special.gammaln(np.subtract(n, k) + 1))


def _tail(place: int, logs: Array) -> float:
    """The two-sided tail at a place of a law whose logarithms are known up to a constant."""
    weights = np.exp(logs - logs.max())
    total = weights.sum()
    return float(min(1.0, 2 * min(weights[: place + 1].sum(), weights[place:].sum()) / total))
