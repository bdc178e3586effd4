"""The nearest table without negative cells that has the right total."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._blocks import Counts
from .._progress import Progress
from .channel import Channel
from .method import Made, Method
from .source import Source


def nearest(counts: Counts, total: float, possible: NDArray[np.bool_]) -> Counts:
    """The closest point (least squares) to ``counts`` with cells >= 0 that sum to ``total``, 0 where impossible.

    It is ``max(counts - t, 0)`` for the t that gives the total: a sort finds it.
    """
    result = np.zeros(counts.shape)
    values = counts[possible]
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    kept = int(np.flatnonzero(falling > levels)[-1]) if total > 0 else 0
    result[possible] = np.maximum(values - levels[kept], 0.0) if total > 0 else 0.0
    return result


def _fit(channel: Channel, released: Counts, source: Source, progress: Progress) -> Made:
    return Made(nearest(channel.inverse(released), float(released.sum()), channel.possible))


SIMPLEX = Method("simplex", "the nearest table without negative cells", _fit)
