"""What happens to one answer: the probabilities that follow from the integers of the blocks.

Looked at alone, an attribute of a value-symmetric block is kept with probability rho and else drawn from shares w that the
schema fixes (docs/why/theory.md 7 and 8): it stays v with probability ``rho + (1 - rho) w_v`` and becomes another value u with
probability ``(1 - rho) w_u``. rho can be negative. A matrix block on one attribute has its own matrix. A matrix on several
attributes gives none of them probabilities of its own: what happens to one depends on the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._blocks import Block, Matrix
from .._schema import Unit

if TYPE_CHECKING:
    from .plan import Plan


@dataclass(frozen=True)
class Mixture:
    """An attribute that is kept with probability ``rho`` and else drawn from ``shares``, one share per value."""

    rho: float
    shares: NDArray[np.float64]

    @property
    def stays(self) -> NDArray[np.float64]:
        """The probability that each value is released as it is."""
        return self.rho + (1 - self.rho) * self.shares

    @property
    def becomes(self) -> NDArray[np.float64]:
        """The probability that each value is released in the place of another one."""
        return (1 - self.rho) * self.shares

    @property
    def uniform(self) -> bool:
        """Whether all values are treated alike."""
        return bool(np.ptp(self.shares) < 1e-12)


@dataclass(frozen=True)
class Channel:
    """What a plan does to one attribute.

    ``mixture`` or ``matrix`` says it; neither where it depends on the other attributes of ``unit``.
    """

    name: str
    block: Block
    unit: Unit
    mixture: Mixture | None
    matrix: Matrix | None


def channels(plan: Plan) -> dict[str, Channel]:
    """What happens to each randomised attribute, in the order of the schema."""
    found = {}
    for block in plan.blocks:
        for unit in block.units:
            for name in unit.attributes:
                rho = block.rho(name)
                mixture = None if rho is None else Mixture(rho, unit.shares([name]))
                matrix = block if isinstance(block, Matrix) and len(unit.attributes) == 1 else None
                found[name] = Channel(name, block, unit, mixture, matrix)
    return {attribute.name: found[attribute.name] for attribute in plan.schema.randomised}
