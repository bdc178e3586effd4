"""Mechanisms: transition probabilities as exact integers, and everything that follows from them.

base.py        what a block is
retention.py   keep a value or draw it anew;  agreement.py  sets of values that survive together;  matrix.py  any matrix
symmetric.py   how blocks that treat all values alike act on tables;  ratios.py  e^eps and AR of a matrix of integers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._errors import PlanError, did_you_mean
from .._schema import Unit
from .agreement import LARGEST_AGREEMENT, Agreement, agreeing_cells
from .base import Axes, Block, Counts, Words
from .matrix import Matrix, TransitionMatrix
from .ratios import anonymity_ratio, epsilon_ratio
from .retention import Retention

__all__ = [
    "LARGEST_AGREEMENT",
    "Agreement",
    "Axes",
    "Block",
    "Counts",
    "Matrix",
    "Retention",
    "TransitionMatrix",
    "Words",
    "agreeing_cells",
    "anonymity_ratio",
    "block_from_json",
    "epsilon_ratio",
]

KINDS: dict[str, type[Block]] = {block.kind: block for block in (Retention, Matrix, Agreement)}


def block_from_json(data: Mapping[str, Any], units: Sequence[Unit]) -> Block:
    """The block in one entry of a plan file; an unknown kind is refused, never skipped."""
    kind = data.get("kind")
    if kind not in KINDS:
        raise PlanError(f"The plan has a block of the unknown kind '{kind}'. {did_you_mean(str(kind), KINDS)}")
    return KINDS[kind].from_json(data, units)
