"""Sums, means, deviations and correlations of attributes whose values stand for numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError, did_you_mean
from ..quantity import Quantity
from ..reconstruction import Reconstruction
from .conditions import Where, cells_where
from .numbers import representative

Values = Mapping[Any, float | None]


def total(table: Reconstruction, name: str, where: Where, values: Values | None = None) -> Quantity:
    """The sum of an attribute over the people who meet the condition; people without a number add nothing."""
    numbers = along(table, name, values)
    return table.linear(np.where(cells_where(table.attributes, where), np.nan_to_num(numbers), 0.0))


def mean(table: Reconstruction, name: str, where: Where, values: Values | None = None) -> Quantity:
    """The mean of an attribute over the people who meet the condition and have a number."""
    return _mean(table, along(table, name, values), cells_where(table.attributes, where))


def deviation(table: Reconstruction, name: str, where: Where, values: Values | None = None) -> Quantity:
    """The standard deviation of an attribute over the people who meet the condition and have a number."""
    numbers, chosen = along(table, name, values), cells_where(table.attributes, where)
    centre = _mean(table, numbers, chosen).value  # a shift changes nothing but the rounding
    shifted = _mean(table, numbers - centre, chosen)
    return (_mean(table, (numbers - centre) ** 2, chosen) - shifted * shifted).sqrt().on("log")


def correlation(table: Reconstruction, first: str, second: str, values: Mapping[str, Values] | None = None) -> Quantity:
    """Pearson's correlation of two attributes, over the people who have a number in both; intervals on atanh."""
    given = values or {}
    a, b = along(table, first, given.get(first)), along(table, second, given.get(second))
    both = np.broadcast_to(~np.isnan(a) & ~np.isnan(b), table.counts.shape)
    a, b = (x - _mean(table, x, both).value for x in (a, b))
    mean_a, mean_b = _mean(table, a, both), _mean(table, b, both)
    variance_a = _mean(table, a * a, both) - mean_a * mean_a
    variance_b = _mean(table, b * b, both) - mean_b * mean_b
    found = (_mean(table, a * b, both) - mean_a * mean_b) / (variance_a * variance_b).sqrt()
    return found.within(-1.0, 1.0).on("atanh")


def along(table: Reconstruction, name: str, values: Values | None) -> NDArray[np.float64]:
    """The numbers of an attribute, along its axis of the table."""
    if name not in table.names:
        raise InputError(f"The table has no attribute '{name}'. {did_you_mean(name, table.names)}")
    axis = table.names.index(name)
    shape = [-1 if i == axis else 1 for i in range(len(table.names))]
    return representative(table.attributes[axis], values).reshape(shape)


def _mean(table: Reconstruction, numbers: NDArray[np.float64], chosen: NDArray[np.bool_]) -> Quantity:
    counted = np.broadcast_to(chosen & ~np.isnan(numbers), table.counts.shape)
    return table.linear(np.where(counted, np.nan_to_num(numbers), 0.0)) / table.linear(counted.astype(float))
