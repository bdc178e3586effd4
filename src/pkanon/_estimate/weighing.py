"""A randomised attribute as a survey weight: a table in which every person counts by a number.

Let x be the larger table that has the weight as its last axis, and r_w the number that its value w stands for. The weighted
table is ``t_a = sum_w r_w x_aw``. So a linear function of t is one of x, each weight times r: values, errors and limits are
those of the larger table, for every block, also where the weight is randomised together with other attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._blocks import Counts
from .._schema import Attribute
from .linear import Functions, Grouped, Listed

if TYPE_CHECKING:
    from .reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class Weighing:
    """The larger ``table``, its last axis the weight, and the ``numbers`` that the values of the weight stand for."""

    table: Reconstruction
    numbers: Counts

    @property
    def attribute(self) -> Attribute:
        """The weight."""
        return self.table.attributes[-1]

    def summed(self, counts: Counts, power: int = 1) -> Counts:
        """Counts of the larger table, each times its number to this ``power``, without the axis of the weight."""
        return np.asarray(counts @ self.numbers**power)

    def along(self, counts: Counts) -> Counts:
        """The numbers along the axis of the weight, in an array that also has the extra axes of ``counts``."""
        place = len(self.table.names) - 1
        return self.numbers.reshape([-1 if axis == place else 1 for axis in range(counts.ndim)])

    def weights(self, weights: Counts) -> Counts:
        """The weights of functions of the weighted table, as functions of the larger one."""
        return np.asarray(weights[..., None] * self.numbers)

    def functions(self, functions: Functions) -> Functions:
        """Functions of the weighted table, as functions of the larger one."""
        if isinstance(functions, Grouped):
            return self.grouped(functions)
        assert isinstance(functions, Listed)
        return Listed(self.table.channel, self.weights(functions.weights))

    def grouped(self, functions: Grouped) -> Grouped:
        """The same for functions by group."""
        axes = len(self.table.names) - 1
        padded = (each.reshape((1,) * (axes - each.ndim) + each.shape) for each in functions.weights)
        return Grouped(
            self.table.channel,
            functions.groups,
            functions.shown,
            tuple(self.weights(each) for each in padded),
            functions.slopes,
        )
