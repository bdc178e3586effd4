"""The released rows that a table was counted from: two tables of one release can be put together again from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._blocks import Block
from .._schema import Codes, Schema
from .stored import number_of_rows

Kept: TypeAlias = dict[str, list[tuple[NDArray[np.float64] | None, Any]]]
"""By the name of a method: survey weights, and what was computed with them."""
MOST_TABLES = 8
"""Tables that are kept."""


@dataclass(frozen=True, eq=False)
class Source:
    """Released rows: ``codes`` has one array per randomised attribute, ``weights`` a survey weight per row or None.

    ``tables`` holds the last tables that were counted to hold two others, ``kept`` what methods computed from all rows of
    the release, for its other tables.
    """

    schema: Schema
    blocks: tuple[Block, ...]
    codes: Mapping[str, Codes]
    weights: NDArray[np.float64] | None = None
    tables: dict[Any, Any] = field(default_factory=dict, repr=False)
    kept: Kept = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return number_of_rows(self.codes)

    def remember(self, key: Any, table: Any) -> None:
        """Keep a table that may be asked for again, and not too many of them."""
        while len(self.tables) >= MOST_TABLES:
            self.tables.pop(next(iter(self.tables)))
        self.tables[key] = table

    def same_rows(self, other: Source) -> bool:
        """Whether both are one release: the same rows in the same order, randomised by the same blocks."""
        if self.codes is other.codes:
            return True
        return (
            self.codes.keys() == other.codes.keys()
            and self.blocks == other.blocks
            and all(np.array_equal(column, other.codes[name]) for name, column in self.codes.items())
        )

    def same_weights(self, other: Source) -> bool:
        """Whether every row counts as much in both."""
        if self.weights is None or other.weights is None:
            return self.weights is other.weights
        return self.weights is other.weights or np.array_equal(self.weights, other.weights)
