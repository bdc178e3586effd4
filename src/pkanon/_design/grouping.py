"""Which units share a block.

All of them if they fit. With many units (or units of very many values) they are dealt to several blocks, large and
small ones to each. Every block gets what the paper's design would spend on its units, so a floor by number of
attributes holds across blocks too: a table over several blocks has the product of their eigenvalues.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._blocks import LARGEST_AGREEMENT
from .._schema import Unit
from .budget import paper_cost, paper_rho
from .optimal import LARGEST_EPSILON

UNITS_PER_BLOCK = 8
"""If there are several blocks. A block of 8 units of different sizes has 256 unknowns and takes 0.05 seconds, one of 12 up to 1.5."""
LARGEST_PRODUCT = 2**50
"""Combinations of values in a block: with more, 64-bit words are too coarse to tell their probabilities apart."""


def fit_one_block(units: Sequence[Unit]) -> bool:
    """Whether one block can hold all units."""
    return _fit([units], LARGEST_AGREEMENT)


def groups_of(units: Sequence[Unit], least: int = 1) -> list[list[int]]:
    """The units of each block, by number: as few blocks as will do, at least ``least``, dealt by size so that they are alike."""
    falling = sorted(range(len(units)), key=lambda number: (-units[number].size, number))
    for count in range(least, len(units) + 1):
        groups = [sorted(falling[start::count]) for start in range(count)]
        most = LARGEST_AGREEMENT if count == 1 else UNITS_PER_BLOCK
        if _fit([[units[i] for i in group] for group in groups], most):
            return groups
    return [[number] for number in range(len(units))]


def affordable_groups(units: Sequence[Unit], epsilon: float) -> list[list[int]] | None:
    """As few groups as will do, none of which gets more of the budget than one block can spend; None if it is too large."""
    rho = paper_rho(units, epsilon)
    for least in range(1, len(units) + 1):
        groups = groups_of(units, least)
        shares = [paper_cost([units[i] for i in group], rho) for group in groups] if len(groups) > 1 else [epsilon]
        if max(shares) < LARGEST_EPSILON:
            return groups
    return None


def _fit(groups: Sequence[Sequence[Unit]], most: int) -> bool:
    return all(len(group) <= most and math.prod(unit.size for unit in group) <= LARGEST_PRODUCT for group in groups)
