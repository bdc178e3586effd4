"""What the method ``model`` usually comes to, beside what ``inverse`` is sure to: measured, not derived, and not promised.

The error of ``inverse`` follows from the plan alone. That of ``model`` also depends on how simple the people are, and on how many
there are: where the unbiased table of a small release is as exact as that of a large one, it has fewer cells or less noise, and a
model has less to gain. So it is read off real tables: five of them (census, adult, nist, fars, atus; 27,000 to 181,000 rows, six and
seven attributes; called 50,000 here), and samples of 1,000, 5,000 and 20,000 rows of each; k = 2, 10, 100 and 1,000 (in samples up to
a tenth of the rows), the designs optimal and equal-rho, every table of two and three attributes. Those whose predicted error of
``inverse`` is alike are put together: the middle of them, and what nine in ten stay below (``benchmarks/model.py``;
docs/results/model.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .readable import Reading

Points: TypeAlias = tuple[tuple[float, float, float], ...]

MEASURED: dict[int, dict[int, Points]] = {
    1_000: {
        2: (
            (0.211, 0.165, 0.325),
            (0.66, 0.347, 0.567),
            (1.71, 0.598, 0.985),
            (6.16, 0.928, 1.291),
            (18.7, 1.109, 1.465),
            (51.8, 1.312, 1.581),
            (238, 1.669, 1.945),
        ),
        3: (
            (2.21, 0.528, 0.819),
            (5.47, 0.789, 1.113),
            (18.4, 0.973, 1.305),
            (63.1, 1.186, 1.678),
            (2990, 1.572, 1.923),
        ),
    },
    5_000: {
        2: (
            (0.0651, 0.060, 0.087),
            (0.186, 0.137, 0.240),
            (0.557, 0.270, 0.433),
            (1.97, 0.451, 0.789),
            (5.64, 0.539, 0.913),
            (15.9, 0.774, 1.098),
            (46.7, 1.083, 1.307),
            (126, 1.280, 1.519),
        ),
        3: (
            (0.698, 0.281, 0.380),
            (1.8, 0.396, 0.565),
            (5.42, 0.480, 0.752),
            (18.6, 0.643, 0.982),
            (54.6, 0.645, 0.999),
            (753, 1.045, 1.478),
        ),
    },
    20_000: {
        2: (
            (0.0621, 0.048, 0.089),
            (0.181, 0.120, 0.199),
            (0.553, 0.202, 0.354),
            (1.65, 0.312, 0.666),
            (5.22, 0.442, 0.822),
            (17, 0.623, 0.988),
            (51.1, 0.841, 1.162),
            (126, 1.060, 1.319),
        ),
        3: (
            (0.225, 0.115, 0.159),
            (0.592, 0.207, 0.292),
            (1.67, 0.277, 0.459),
            (5.68, 0.359, 0.581),
            (17.4, 0.423, 0.831),
            (59.8, 0.578, 0.876),
            (568, 0.862, 1.287),
        ),
    },
    50_000: {
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
    },
}
"""By rows, then attributes: predicted L1 of ``inverse``, the middle L1 of ``model``, and the L1 that nine in ten stay below."""


def usual_error(l1: float, attributes: int, rows: int) -> tuple[float, float] | None:
    """(middle, nine in ten below) of the L1 error of ``model`` where ``inverse`` has ``l1``; None beyond what was measured.

    Between two numbers of rows the errors are between theirs; more rows than were measured have those of the most.
    """
    several = sorted(MEASURED)
    if rows < several[0]:
        return None
    above = next((n for n in several if n >= rows), several[-1])
    below = max(n for n in several if n <= rows)
    ends = [_of_points(l1, MEASURED[n].get(attributes, ())) for n in (below, above)]
    if ends[0] is None or ends[1] is None:
        return None
    part = 0.0 if above == below else math.log(rows / below) / math.log(above / below)
    middle, upper = (first * (second / first) ** part for first, second in zip(*ends))
    return min(middle, l1), upper


def _of_points(l1: float, points: Points) -> tuple[float, float] | None:
    """(middle, nine in ten below) at one number of rows; None beyond its points."""
    if not points or not points[0][0] <= l1 <= points[-1][0]:
        return None
    return _between(l1, [p[:2] for p in points]), _between(l1, [(p[0], p[2]) for p in points])


def _between(x: float, points: Sequence[tuple[float, float]]) -> float:
    """The value at x between the nearest points, straight lines between logarithms."""
    place = next((i for i, (at, _) in enumerate(points) if x <= at), len(points) - 1)
    (low, first), (high, second) = points[max(place - 1, 0)], points[max(place, 1)]
    part = math.log(x / low) / math.log(high / low)
    return float(first * (second / first) ** part)


def usual_text(reading: Reading, *, how: bool = False) -> str | None:
    """What ``model`` usually comes to for a table, in one sentence; None where nothing was measured. ``how``: and how to ask for it."""
    found = reading.model
    if found is None:
        return None
    middle, upper = found
    asked = ' (method="model", --method model)' if how else ""
    return (
        f"method 'model'{asked} usually comes to {middle:.2g}, in nine of ten tables to less than {upper:.2g} (measured on real tables, "
        "not promised)"
    )
