"""The columns of a regression: each is a product of numbers, one factor per attribute that it depends on.

People without a number in some column, or with a value that is left out, are left out of everything: the mask is one
more factor of every product. So is a randomised survey weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from .rows import Names, Rows

Factors: TypeAlias = Mapping[str, NDArray[np.float64]]
"""Attribute to one number per code; the product counts. Without attributes it is 1."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the design: its ``name``, and the numbers whose product it is."""

    name: str
    factors: Factors


@dataclass(frozen=True, eq=False)
class Design:
    """The columns, the response, and ``base``: what every product is multiplied by (who counts, and by which weight)."""

    columns: tuple[Column, ...]
    response: Factors
    base: Factors
    mask: Factors
    constant: bool

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        response: Factors,
        *,
        constant: bool,
        kept: Factors | None = None,
        weight: tuple[str, Counts] | None = None,
    ) -> Design:
        """``kept`` is 0 for values whose people are left out, ``weight`` a randomised attribute and the numbers of its
        values; ``constant`` says whether the columns span the constant. NaN in a factor leaves people out too."""
        mask: dict[str, NDArray[np.float64]] = {}

        def hide(name: str, shown: NDArray[np.bool_]) -> None:
            if not shown.all():
                mask[name] = mask.get(name, np.ones(len(shown))) * shown

        for factors in (response, *(column.factors for column in columns)):
            for name, numbers in factors.items():
                hide(name, np.isfinite(numbers))
        for name, shown in (kept or {}).items():
            hide(name, shown > 0)
        base = dict(mask)
        if weight is not None:
            name, numbers = weight
            base[name] = base.get(name, np.ones(len(numbers))) * numbers
        filled = [Column(column.name, _filled(column.factors)) for column in columns]
        return cls(tuple(filled), _filled(response), base, mask, constant)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute that matters: the response first, then predictors, mask and weight."""
        used = dict.fromkeys(self.response)
        for column in self.columns:
            used |= dict.fromkeys(column.factors)
        return tuple(used | dict.fromkeys(self.base))

    @cached_property
    def groups(self) -> dict[frozenset[str], list[int]]:
        """The columns by the set of their attributes."""
        groups: dict[frozenset[str], list[int]] = {}
        for place, column in enumerate(self.columns):
            groups.setdefault(frozenset(column.factors), []).append(place)
        return groups

    @property
    def predictors(self) -> frozenset[str]:
        """The attributes of all columns."""
        return frozenset().union(*self.groups)

    def written(self, places: Sequence[int], rows: Rows, names: Names) -> Counts:
        """Columns on the table of ``names``: shape (columns, *table)."""
        shape = rows.shape(names)
        result = np.empty((len(places), *shape))
        for i, place in enumerate(places):
            result[i] = spread(self.columns[place].factors, names)
        return result


def spread(factors: Factors, names: Names) -> Counts:
    """The product of the factors on the table of ``names``, which must have all of their attributes."""
    result = np.ones((1,) * len(names))
    for name, numbers in factors.items():
        axis = names.index(name)
        result = result * numbers.reshape([-1 if i == axis else 1 for i in range(len(names))])
    return result


def _filled(factors: Factors) -> Factors:
    return {name: np.where(np.isfinite(numbers), numbers, 0.0) for name, numbers in factors.items()}
