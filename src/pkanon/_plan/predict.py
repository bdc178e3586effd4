"""The error of any cross-tabulation before data exist (docs/why/theory.md 7).

The unbiased reconstruction of a table on the attributes M has the total squared error
``n (c_M - 1)`` whatever the data are; c_M multiplies over blocks. Where a bundle has forbidden
combinations or a block is a general matrix, c_M depends on the data and the largest is used; the
prediction then says "at most".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .._blocks import Block
from .._errors import InputError, did_you_mean

_LARGEST = 1e300
"""More cells than floats can hold: no such table is ever made."""


@dataclass(frozen=True)
class Prediction:
    """What the unbiased reconstruction of one table will be off by, over the randomisation.

    Attributes
    ----------
    attributes
        The attributes of the table.
    cells
        How many cells it has.
    l1
        The expected sum of absolute errors, divided by the number of records.
    rmse
        The root mean squared error of a cell, in records.
    standard_error
        The same as a share of all records.
    exact
        Whether the squared error holds for every data set; otherwise it is at most this.

    Examples
    --------
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> round(plan.predict("sex").rmse)  # people, more or less, in each of two cells
    14
    """

    attributes: tuple[str, ...]
    cells: int
    l1: float
    rmse: float
    standard_error: float
    exact: bool


class Predictor:
    """Predictions for tables of some blocks; what a block adds to several tables is computed once."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self._parts: dict[tuple[int, tuple[str, ...]], _Part] = {}

    @cached_property
    def _places(self) -> dict[str, int]:
        """The number of the block of each attribute, attributes in the order of the blocks."""
        return {name: number for number, block in enumerate(self.blocks) for name in block.attributes}

    def predict(self, records: int, attributes: Sequence[str]) -> Prediction:
        """The prediction for the table of ``attributes`` of ``records`` rows."""
        if not attributes:
            raise InputError("A prediction needs at least one attribute.")
        for name in attributes:
            if name not in self._places:
                known = list(self._places)
                raise InputError(f"The plan does not randomise an attribute '{name}'. {did_you_mean(name, known)}")
        if len(set(attributes)) != len(attributes):
            raise InputError("A table names each attribute once.")
        factor, cells, exact = 1.0, 1, True
        for number in sorted({self._places[name] for name in attributes}):
            part = self._part(number, attributes)
            factor *= part.factor
            cells *= part.cells
            exact = exact and part.exact
        size = float(cells) if cells < _LARGEST else math.inf
        total = records * (factor - 1)
        rmse = math.sqrt(total / size) if total < math.inf or size < math.inf else math.inf
        return Prediction(
            attributes=tuple(attributes),
            cells=cells,
            l1=math.sqrt(2 * size * (factor - 1) / (math.pi * records)) if factor > 1 else 0.0,
            rmse=rmse,
            standard_error=rmse / records,
            exact=exact,
        )

    def _part(self, number: int, attributes: Sequence[str]) -> _Part:
        block = self.blocks[number]
        inside = tuple(name for name in block.attributes if name in attributes)
        part = self._parts.get((number, inside))
        if part is None:
            part = self._parts[number, inside] = _Part.of(block, inside)
        return part


class _Part(NamedTuple):
    """What one block adds to a table."""

    factor: float
    cells: int
    exact: bool

    @classmethod
    def of(cls, block: Block, inside: Sequence[str]) -> _Part:
        cells = 1
        for unit in block.units:
            own = [name for name in unit.attributes if name in inside]
            cells *= (
                int((unit.shares(own) > 0).sum())
                if own and unit.forbid
                else math.prod(unit.sizes[unit.attributes.index(name)] for name in own)
            )
        return cls(block.error_factor(inside), cells, block.error_is_exact(inside))
