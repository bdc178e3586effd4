"""Randomised rows of a table, before they are shuffled, and the tables that are reconstructed from them.

A release is shuffled, and reconstruction does not depend on the order of rows. Here the order is kept, because the
experiment must know whose row an adversary picked; the adversary does not know it. The order never leaves this package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..._estimate import Channel, Fitted, fit_model, nearest
from ..._plan import Plan
from ..._sample import Keystream, Randomness, randomise
from ..._schema import Codes
from .combinations import Combinations, Counts, Dense, Places, tally


@dataclass(frozen=True, eq=False)
class Rows:
    """Randomised ``columns``, row by row those of the people who came in."""

    plan: Plan
    columns: list[Codes] = field(repr=False)
    counted: Dense | Combinations = field(repr=False)
    _inverses: dict[Places, Counts] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, plan: Plan, columns: Sequence[Codes], randomness: Randomness) -> Rows:
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

    @cached_property
    def model(self) -> Fitted:
        """The model of all rows; refused where there are too few rows or attributes."""
        return fit_model(self.plan.blocks, {a.name: c for a, c in zip(self.plan.schema.randomised, self.columns)})

    def by(self, method: str) -> Reconstructed:
        """Tables by one method."""
        return Reconstructed(self, method)


@dataclass(frozen=True, eq=False)
class Reconstructed:
    """Tables reconstructed from randomised rows, by ``inverse``, ``simplex`` or ``model``."""

    rows: Rows
    method: str

    def table(self, places: Places) -> Counts:
        """The reconstructed cross-tabulation of some attributes."""
        if self.method == "model":
            names = [self.rows.plan.schema.randomised[place].name for place in places]
            with np.errstate(under="ignore", over="ignore", invalid="ignore"):  # cells of next to nobody, raked
                return len(self.rows.columns[0]) * self.rows.model.table(names)
        counts = self.rows.inverse(places)
        if self.method == "inverse":
            return counts
        return nearest(counts, float(len(self.rows.columns[0])), np.ones(counts.shape, bool))


def randomised(plan: Plan, codes: Mapping[str, Codes], randomness: Randomness) -> dict[str, Codes]:
    """Rows as a release would have them, made by its own sampler, but in the order of the table."""
    columns = [unit.join([codes[name] for name in unit.attributes]) for unit in plan.units]
    out = [np.empty_like(column) for column in columns]
    randomise(plan.blocks, columns, Keystream(randomness.key()), out=out)
    return {
        name: part for unit, column in zip(plan.units, out) for name, part in zip(unit.attributes, unit.split(column))
    }
