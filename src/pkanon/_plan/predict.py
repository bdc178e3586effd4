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

from .._blocks import Block
from .._errors import InputError, did_you_mean


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


def predict(blocks: Sequence[Block], records: int, attributes: Sequence[str]) -> Prediction:
    """The prediction for the table of ``attributes``."""
    known = [name for block in blocks for name in block.attributes]
    if not attributes:
        raise InputError("A prediction needs at least one attribute.")
    for name in attributes:
        if name not in known:
            raise InputError(f"The plan does not randomise an attribute '{name}'. {did_you_mean(name, known)}")
    if len(set(attributes)) != len(attributes):
        raise InputError("A table names each attribute once.")
    factor, cells, exact = 1.0, 1, True
    for block in blocks:
        inside = [name for name in block.attributes if name in attributes]
        if not inside:
            continue
        for unit in block.units:
            own = [name for name in unit.attributes if name in attributes]
            cells *= (
                int((unit.shares(own) > 0).sum())
                if own and unit.forbid
                else math.prod(unit.sizes[unit.attributes.index(name)] for name in own)
            )
        factor *= block.error_factor(inside)
        exact = exact and block.error_is_exact(inside)
    total = records * (factor - 1)
    rmse = math.sqrt(total / cells)
    return Prediction(
        attributes=tuple(attributes),
        cells=cells,
        l1=math.sqrt(2 * cells * (factor - 1) / (math.pi * records)),
        rmse=rmse,
        standard_error=rmse / records,
        exact=exact,
    )
