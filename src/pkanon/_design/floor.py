"""The floor of an optimal design: how bad a table outside the workload may become.

``lam_T`` is the eigenvalue of a set T of units: how much is left of the tables of exactly these units (docs/why/theory.md 8).
A floor is a least ``|lam_T|`` for some sets T, which are bit masks here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .._blocks import LARGEST_AGREEMENT
from .._errors import TargetError, did_you_mean
from .._plan import Tables
from .._schema import Unit
from .grouping import UNITS_PER_BLOCK, fit_one_block
from .workload import positive, read_table, whole_number

FloorLike: TypeAlias = int | str | Mapping[tuple[str, ...], float] | None
"""A floor as people ask for it: a number of attributes; "all"; least eigenvalues by table; or None."""


@dataclass(frozen=True)
class Floor:
    """No table of up to ``most`` attributes is worse than in the paper's design with the same epsilon.

    0 attributes: no floor; infinitely many: all tables. Or else ``least``: tables with the least eigenvalue of each.
    """

    most: float = 0
    least: Tables = field(default_factory=dict)

    @classmethod
    def of(cls, floor: FloorLike) -> Floor:
        """The floor as it was asked for; refuses what is not a floor."""
        if floor is None:
            return cls()
        if isinstance(floor, str) and floor == "all":
            return cls(math.inf)
        number = whole_number(floor)
        if number is not None and number >= 1:
            return cls(number)
        if isinstance(floor, Mapping):
            return cls(
                least={
                    read_table(table, "floor"): positive(value, "A least eigenvalue") for table, value in floor.items()
                }
            )
        raise TargetError(
            f"floor = {floor}: at least 1 attribute, all, none (None in Python), or tables with their least eigenvalue."
        )

    @property
    def asked(self) -> int | str | Tables:
        """The floor as a plan records it."""
        if self.least:
            return self.least
        return "all" if self.of_all else int(self.most) or "none"

    @property
    def by_table(self) -> bool:
        """Whether tables have least eigenvalues of their own, which even the paper's design may miss."""
        return bool(self.least)

    @property
    def of_all(self) -> bool:
        """Whether every table has a floor."""
        return math.isinf(self.most)

    def floors(self, units: Sequence[Unit], rho: float) -> dict[int, float]:
        """The least |lam_T| of every set of ``units`` that has one; ``rho`` is what the paper's design keeps of each unit.

        Units that need several blocks have a floor each: it is kept block by block.
        """
        if self.least:
            return self._floors_by_table(units)
        if self.most and len(units) > LARGEST_AGREEMENT:
            return {1 << number: rho for number in range(len(units))}
        return {mask: rho ** mask.bit_count() for mask in range(1, 2 ** len(units)) if mask.bit_count() <= self.most}

    def wishes(self, units: Sequence[Unit], rho: float) -> dict[int, float]:
        """With a floor by number of attributes: larger tables should not be worse than in the paper's design either."""
        if not 0 < self.most < math.inf or len(units) > UNITS_PER_BLOCK:
            return {}
        return {mask: rho ** mask.bit_count() for mask in range(1, 2 ** len(units)) if mask.bit_count() > self.most}

    def _floors_by_table(self, units: Sequence[Unit]) -> dict[int, float]:
        if not fit_one_block(units):
            raise TargetError(
                f"A floor by table can be set where all attributes fit one block: up to {LARGEST_AGREEMENT} of them, with up to "
                "2^50 combinations. Ask for a floor by number of attributes."
            )
        floors: dict[int, float] = {}
        for table, least in self.least.items():
            mask = mask_of(units, table)
            floors[mask] = max(least, floors.get(mask, 0.0))
        return floors


def mask_of(units: Sequence[Unit], table: Sequence[str]) -> int:
    """The units that have an attribute in a table which a floor names."""
    known = [name for unit in units for name in unit.attributes]
    for name in table:
        if name not in known:
            raise TargetError(f"A floor names '{name}', which the design does not decide. {did_you_mean(name, known)}")
    return sum(1 << number for number, unit in enumerate(units) if set(unit.attributes) & set(table))
