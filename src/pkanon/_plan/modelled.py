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
            (0.211, 0.165, 0.336),
            (0.66, 0.347, 0.540),
            (1.71, 0.597, 0.978),
            (6.16, 0.920, 1.291),
            (18.7, 1.107, 1.455),
            (51.8, 1.307, 1.578),
            (238, 1.667, 1.945),
        ),
        3: (
            (2.21, 0.524, 0.802),
            (5.47, 0.810, 1.111),
            (18.4, 0.969, 1.305),
            (63.1, 1.174, 1.675),
            (2990, 1.567, 1.920),
        ),
    },
    5_000: {
        2: (
            (0.0651, 0.062, 0.087),
            (0.186, 0.129, 0.214),
            (0.557, 0.263, 0.433),
            (1.97, 0.441, 0.821),
            (5.64, 0.537, 0.912),
            (15.9, 0.770, 1.099),
            (46.7, 1.078, 1.305),
            (126, 1.279, 1.517),
        ),
        3: (
            (0.698, 0.264, 0.384),
            (1.8, 0.383, 0.555),
            (5.42, 0.472, 0.758),
            (18.6, 0.632, 0.977),
            (54.6, 0.647, 1.005),
            (753, 1.043, 1.476),
        ),
    },
    20_000: {
        2: (
            (0.0621, 0.044, 0.097),
            (0.181, 0.118, 0.181),
            (0.553, 0.197, 0.342),
            (1.65, 0.294, 0.630),
            (5.22, 0.430, 0.813),
            (17, 0.614, 0.983),
            (51.1, 0.836, 1.144),
            (126, 1.049, 1.309),
        ),
        3: (
            (0.225, 0.118, 0.164),
            (0.592, 0.193, 0.278),
            (1.67, 0.265, 0.418),
            (5.68, 0.350, 0.539),
            (17.4, 0.412, 0.821),
            (59.8, 0.561, 0.873),
            (568, 0.850, 1.278),
        ),
    },
    50_000: {
        2: (
            (0.018, 0.019, 0.030),
            (0.0597, 0.048, 0.083),
            (0.183, 0.098, 0.167),
            (0.589, 0.165, 0.335),
            (1.67, 0.243, 0.488),
            (5.09, 0.358, 0.782),
            (16.9, 0.593, 0.921),
            (53.4, 0.789, 1.093),
        ),
        3: (
            (0.0747, 0.045, 0.067),
            (0.219, 0.101, 0.156),
            (0.559, 0.148, 0.228),
            (1.74, 0.205, 0.335),
            (5.12, 0.281, 0.462),
            (16.1, 0.346, 0.637),
            (54, 0.456, 0.824),
            (385, 0.713, 1.164),
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
