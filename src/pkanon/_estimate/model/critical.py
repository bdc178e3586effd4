"""Critical values for average coverage: how far an interval must reach if only the mean squared bias of its cells is known.

An estimate with noise 1 and a bias t misses by more than chi with probability ``r(t^2) = Phi(t - chi) + Phi(-t - chi)``. If the mean
of t^2 over many cells is b, whatever its distribution, at most the least concave majorant of r at b are missed on average.
``cva(b)`` is the chi at which that is alpha (Armstrong, Kolesar and Plagborg-Moller, Econometrica 2022): cva(4) = 7.216 at 95%.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..._blocks import Counts
from ..interval import normal_quantile

LARGEST = 1e5
"""Beyond it the critical value grows as the root of the bias."""


def critical_value(bias: Counts, level: float) -> Counts:
    """cva of the mean squared ``bias`` in units of the noise, at a confidence level."""
    grid, values = _tabulated(level)
    return np.asarray(np.interp(np.log1p(1e3 * np.minimum(bias, LARGEST)), grid, values) * np.sqrt(1 + bias))


@cache
def _tabulated(level: float) -> tuple[Counts, Counts]:
    """log(1 + 1000 b) and cva(b) / sqrt(1 + b)."""
    from scipy.special import ndtr

    z = normal_quantile(level)
    chi = np.concatenate([np.linspace(z - 0.05, z + 2, 120), np.geomspace(z + 2.01, 1_500 * z, 500)])
    bias = np.concatenate([[0.0], np.geomspace(1e-3, LARGEST, 241)])
    worst = np.empty((len(chi), len(bias)))
    for i, c in enumerate(chi):
        t = np.concatenate([np.linspace(1e-3, 3 * c + 5, 2_000), np.geomspace(3 * c + 5.1, 300 * c, 200)])
        square, missed = t * t, ndtr(t - c) + ndtr(-t - c)
        unbiased = 2 * ndtr(-c)
        slope = (missed - unbiased) / square  # the majorant: straight from 0 to the steepest point, then the curve
        j = int(np.argmax(slope))
        worst[i] = np.where(bias < square[j], unbiased + bias * slope[j], np.interp(bias, square, missed))
    missing = 1 - level
    found = np.array([np.interp(-missing, -np.minimum.accumulate(column), chi) for column in worst.T])
    return np.log1p(1e3 * bias), found / np.sqrt(1 + bias)
