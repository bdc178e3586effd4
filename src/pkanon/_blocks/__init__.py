"""Mechanisms: transition probabilities as exact integers, and everything that follows from them.

base.py        what a block is;  kinds.py  the block in an entry of a plan file
retention.py   keep a value or draw it anew;  agreement.py  sets of values that survive together;  matrix.py  any matrix
symmetric.py   how blocks that treat all values alike act on tables;  ratios.py  e^eps and AR of a matrix of integers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .agreement import LARGEST_AGREEMENT, Agreement, agreeing_cells
    from .base import Axes, Block, Counts, Words
    from .kinds import block_from_json
    from .matrix import Matrix, TransitionMatrix
    from .ratios import anonymity_ratio, epsilon_ratio
    from .retention import Retention

lazy(
    __name__,
    {
        "agreement": "LARGEST_AGREEMENT, Agreement, agreeing_cells",
        "base": "Axes, Block, Counts, Words",
        "kinds": "block_from_json",
        "matrix": "Matrix, TransitionMatrix",
        "ratios": "anonymity_ratio, epsilon_ratio",
        "retention": "Retention",
    },
)

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
