"""From a budget to retention blocks: split it over units, and round the split to integers.

Any split ``sum eps_b = eps*`` gives the same k (docs/why/theory.md 5). Rounding goes to the private side:
more words for replacement, never fewer, and the result is checked in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from .._blocks import Block, Retention
from .._errors import TargetError
from .._plan import total_epsilon_ratio
from .._schema import Unit
from .paper import log_odds
from .target import Target, budget

SLACK = Fraction(1001, 1000)
"""How far k - 1 may exceed what was asked: 0.1%. Where words allow it, at most this share of R^2 - 1 stays unspent too."""

LARGEST_LOG_ODDS = 700.0
"""Beyond it 1 - rho is far below 2^-64, and exp would overflow."""

Split = Callable[[float, Sequence[int]], list[float]]
"""From eps* and the sizes of the units to log(rho / (1 - rho)) of each."""


def equal_rho(epsilon: float, sizes: Sequence[int]) -> list[float]:
    """The paper: one rho for all units."""
    return [log_odds(epsilon, sizes)] * len(sizes)


def equal_epsilon(epsilon: float, sizes: Sequence[int]) -> list[float]:
    """The same share of the budget for every unit."""
    share = epsilon / len(sizes)
    return [log_odds(share, [size]) for size in sizes]


def paper_rho(units: Sequence[Unit], epsilon: float) -> float:
    """The rho of each unit in the paper's design, with this budget."""
    if epsilon <= 0:
        return 0.0
    odds = math.exp(min(log_odds(epsilon, [unit.size for unit in units]), LARGEST_LOG_ODDS))
    return odds / (1 + odds)


def paper_cost(units: Sequence[Unit], rho: float) -> float:
    """The budget that the paper's design spends on these units."""
    return sum(math.log1p(unit.size * rho / (1 - rho)) if rho < 1 else math.inf for unit in units)


def retention_blocks(
    units: Sequence[Unit], split: Split, limit: Fraction, target: Target, fixed: Sequence[Block]
) -> list[Retention]:
    """Retention blocks with R^2 <= limit, and limit / R^2 at most 0.1% above 1, in the narrowest words that do."""
    blocks, spare = _nearest(units, split, limit)
    if 1 <= spare <= SLACK:
        return blocks
    for _ in range(1000):  # the reached target, asked for in turn, may be out of reach itself: repeat until it is not
        blocks, spare = _nearest(units, split, _squared_ratio(blocks))
        if 1 <= spare <= SLACK:
            break
    raise TargetError(f"The target cannot be met: {_why(limit, fixed)}. {target.reached([*fixed, *blocks])}")


def _why(limit: Fraction, fixed: Sequence[Block]) -> str:
    """Why 64 bits cannot express a budget: it is almost nothing, or too much."""
    if limit > 2:
        return "it asks for less randomness than random numbers of 64 bits can have"
    if fixed:
        return "the given matrices leave so little that the other attributes would say nothing about anybody"
    return "with a k so near the number of records, or an epsilon so near 0, rows would say nothing about anybody"


def _nearest(units: Sequence[Unit], split: Split, limit: Fraction) -> tuple[list[Retention], Fraction]:
    """Blocks in the narrowest words that come within the slack, or else in 64 bits; and limit / R^2."""
    sizes = [unit.size for unit in units]
    epsilon = budget(limit)
    odds = [Fraction(0)] * len(units)
    if epsilon > 0:
        odds = [Fraction(math.exp(min(u, LARGEST_LOG_ODDS))) for u in split(epsilon, sizes)]
    widths = [32] * len(units)
    while True:
        blocks = _rounded(units, odds, widths, limit)
        spare = limit / _squared_ratio(blocks)
        narrow = [i for i, width in enumerate(widths) if width == 32]
        # near k = n the whole budget is less than the slack: it is not to be rounded away
        if (spare >= 1 and SLACK * (limit / spare - 1) >= limit - 1) or not narrow:
            return blocks, spare
        # widen where rounding cost most
        costs = {i: (1 + sizes[i] * odds[i]) / (blocks[i].epsilon_ratio or 1) for i in narrow}
        widths[max(narrow, key=lambda i: (max(costs[i], 1 / costs[i]), -i))] = 64


def _rounded(
    units: Sequence[Unit], odds: Sequence[Fraction], widths: Sequence[int], limit: Fraction
) -> list[Retention]:
    """Blocks of at least the privacy asked for, or the most private ones there are.

    ``replace = ceil(2^w (1 - rho) / V)`` with 1 - rho = 1/(1 + z). The odds come from floats and may
    be high by a few parts in 10^15, so they are lowered until the exact product is within the limit.
    """
    for doubling in range(40):
        shrink = 1 - Fraction(1 << doubling, 1 << 52) if doubling else Fraction(1)
        counts = [
            math.ceil(Fraction(2**width, unit.size) / (1 + z * shrink)) for unit, z, width in zip(units, odds, widths)
        ]
        most = [2**width // unit.size for unit, width in zip(units, widths)]
        if any(c > m for c, m in zip(counts, most)):
            # a unit cannot be replaced as often as needed: the most private blocks replace every unit as often as they can
            return [Retention(u, m, w) for u, m, w in zip(units, most, widths)]
        blocks = [Retention(u, c, w) for u, c, w in zip(units, counts, widths)]
        if _squared_ratio(blocks) <= limit:
            return blocks
    raise AssertionError("lowering the odds by half must meet any budget that floats can express")


def _squared_ratio(blocks: Sequence[Retention]) -> Fraction:
    ratio = total_epsilon_ratio(blocks)
    assert ratio is not None  # replace >= 1 by rounding up
    return ratio**2
