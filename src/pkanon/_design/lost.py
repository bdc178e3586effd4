"""The sets of attributes that a design destroys."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._blocks import Agreement, Block
from .budget import paper_rho
from .grouping import UNITS_PER_BLOCK

FAINT = 1000
"""The eigenvalue of a lost set is this many times smaller than in the paper's design, its error as many times larger."""
LARGEST_SETS = 3
"""The most units of a set that is examined in blocks of more than ``UNITS_PER_BLOCK``: 298 sets of 12 units, not 4,095."""


def lost(blocks: Sequence[Block]) -> tuple[tuple[str, ...], ...]:
    """The smallest sets of attributes that the design destroys: no table with all attributes of a set can be reconstructed.

    Destroyed: less than a thousandth is left of the eigenvalue that the paper's design has with the same budget.
    """
    sets = []
    for block in blocks:
        if (
            not isinstance(block, Agreement) or block.epsilon_ratio is None
        ):  # all other designs keep something of all sets
            continue
        rho = paper_rho(block.units, math.log(block.epsilon_ratio))
        gone: list[int] = []
        most = len(block.units) if len(block.units) <= UNITS_PER_BLOCK else LARGEST_SETS
        for mask in sorted(range(1, len(block.sets)), key=int.bit_count):
            small = abs(block.spectrum[mask]) < rho ** mask.bit_count() / FAINT
            if small and mask.bit_count() <= most and not any(other & mask == other for other in gone):
                gone.append(mask)
                sets.append(tuple(n for bit, u in enumerate(block.units) if mask >> bit & 1 for n in u.attributes))
    return tuple(sets)
