"""Why floors by table cannot be met: one of them is beyond any mechanism, or all of them together are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from .._schema import Unit
from .floor import Floor, mask_of


def contradiction(units: Sequence[Unit], epsilon: float, floor: Floor, *, proved: bool) -> str:
    """Why no plan keeps a floor by table; ``proved``: none exists, rather than none was found."""
    for table, least in floor.least.items():
        mask = mask_of(units, table)
        most = largest_eigenvalue([unit.size for number, unit in enumerate(units) if mask >> number & 1], epsilon)
        if least > most:
            return (
                f"The floor {least:g} for {' x '.join(table)} cannot be met: with this budget at most {most:.4g} is possible, even if "
                "nothing else is kept. Lower it, or ask for less privacy."
            )
    if proved and len(floor.least) > 1:
        return "The floors cannot all be met with this budget, though each of them could alone. Lower some of them."
    return "No plan that keeps these floors was found. Lower them, or ask for a smaller workload or less privacy."


def largest_eigenvalue(sizes: Sequence[int], epsilon: float) -> float:
    """The largest |lam_T| that any value-symmetric mechanism has for the set T of units of these sizes.

    lam is a mean of the characters in which those above lam itself have e^eps times the weight, so it is found by
    adding characters from the top (or from the bottom) as long as they raise it.
    """
    gain = math.expm1(min(epsilon, 700.0))  # e^700 is near the largest float
    patterns = []
    for agree in itertools.product((True, False), repeat=len(sizes)):
        share = math.prod(1 / size if kept else (size - 1) / size for size, kept in zip(sizes, agree))
        patterns.append((math.prod(1.0 if kept else -1 / (size - 1) for size, kept in zip(sizes, agree)), share))
    return max(
        _largest_mean([(sign * character, share) for character, share in patterns], gain) for sign in (1.0, -1.0)
    )


def _largest_mean(patterns: Sequence[tuple[float, float]], gain: float) -> float:
    value, weight, above = 0.0, 1.0, 0.0
    for character, share in sorted(patterns, reverse=True):
        if character <= value:
            break
        above, weight = above + gain * share * character, weight + gain * share
        value = above / weight
    return value
