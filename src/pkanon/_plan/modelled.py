"""What the method ``model`` usually comes to, beside what ``inverse`` is sure to: measured, not derived, and not promised.

The error of ``inverse`` follows from the plan alone. That of ``model`` also depends on how simple the people are. So it is read off
real tables: five of them (census, adult, nist, fars, atus; 27,000 to 181,000 rows, six and seven attributes), k = 2, 10, 100 and
1,000, the designs optimal and equal-rho, every table of two and three attributes. Those whose predicted error of ``inverse`` is
alike are put together: the middle of them, and what nine in ten stay below (``benchmarks/model.py``; docs/results/model.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .readable import Reading

MEASURED: dict[int, tuple[tuple[float, float, float], ...]] = {
    2: (
        (0.018, 0.019, 0.031),
        (0.0597, 0.049, 0.083),
        (0.183, 0.101, 0.167),
        (0.589, 0.167, 0.333),
        (1.67, 0.245, 0.496),
        (5.09, 0.359, 0.792),
        (16.9, 0.577, 0.904),
        (53.4, 0.794, 1.099),
    ),
    3: (
        (0.0747, 0.049, 0.070),
        (0.219, 0.102, 0.157),
        (0.559, 0.152, 0.238),
        (1.74, 0.208, 0.348),
        (5.12, 0.282, 0.456),
        (16.1, 0.347, 0.631),
        (54, 0.455, 0.833),
        (385, 0.707, 1.161),
    ),
}
"""By the number of attributes: predicted L1 of ``inverse``, the middle L1 of ``model``, and the L1 that nine in ten stay below."""


def usual_error(l1: float, attributes: int) -> tuple[float, float] | None:
    """(middle, nine in ten below) of the L1 error of ``model`` where ``inverse`` has ``l1``; None beyond what was measured."""
    points = MEASURED.get(attributes)
    if points is None or not points[0][0] <= l1 <= points[-1][0]:
        return None
    middle, upper = (_between(l1, [(p[0], p[place]) for p in points]) for place in (1, 2))
    return min(middle, l1), upper


def _between(x: float, points: Sequence[tuple[float, float]]) -> float:
    """The value at x between the nearest points, straight lines between logarithms."""
    place = next((i for i, (at, _) in enumerate(points) if x <= at), len(points) - 1)
    (low, first), (high, second) = points[max(place - 1, 0)], points[max(place, 1)]
    part = math.log(x / low) / math.log(high / low)
    return float(first * (second / first) ** part)


def usual_text(reading: Reading) -> str | None:
    """What ``model`` usually comes to for a table, in one sentence; None where nothing was measured."""
    found = reading.model
    if found is None:
        return None
    middle, upper = found
    return (
        f"method 'model' usually comes to {middle:.2g}, in nine of ten tables to less than {upper:.2g} (measured on real tables, "
        "not promised)"
    )
