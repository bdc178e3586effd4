"""Randomised rows of a table, before they are shuffled, and the tables that are reconstructed from them.

A release is shuffled, and reconstruction does not depend on the order of rows. Here the order is kept, because the
experiment must know whose row an adversary picked; the adversary does not know it. The order never leaves this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..._estimate import Channel, nearest
from ..._plan import Plan
from ..._sample import Seeded
from ..._schema import Codes
from ..seeds import randomised
from .combinations import Combinations, Counts, Dense, Places, tally


@dataclass(frozen=True, eq=False)
class Rows:
    """Randomised ``columns``, row by row those of the people who came in."""

    plan: Plan
    columns: list[Codes] = field(repr=False)
    counted: Dense | Combinations = field(repr=False)
    _inverses: dict[Places, Counts] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, plan: Plan, columns: Sequence[Codes], randomness: Seeded) -> Rows:
        """Randomise people; ``columns`` are in the order of the plan's schema."""
        attributes = plan.schema.randomised
        made = randomised(plan, {a.name: column for a, column in zip(attributes, columns)}, randomness)
        rows = [made[attribute.name] for attribute in attributes]
        return cls(plan, rows, tally(rows, [attribute.size for attribute in attributes]))

    def inverse(self, places: Places) -> Counts:
        """The unbiased reconstruction of a table."""
        if places not in self._inverses:
            channel = Channel(self.plan.blocks, [self.plan.schema.randomised[place].name for place in places])
            channel.check_invertible()
            self._inverses[places] = channel.inverse(self.counted.table(places))
        return self._inverses[places]

    def by(self, method: str) -> Reconstructed:
        """Tables by one method."""
        return Reconstructed(self, method)


@dataclass(frozen=True, eq=False)
class Reconstructed:
    """Tables reconstructed from randomised rows, by ``inverse`` or ``simplex``."""

    rows: Rows
    method: str

    def table(self, places: Places) -> Counts:
        """The reconstructed cross-tabulation of some attributes."""
        counts = self.rows.inverse(places)
        if self.method == "inverse":
            return counts
        return nearest(counts, float(len(self.rows.columns[0])), np.ones(counts.shape, bool))
