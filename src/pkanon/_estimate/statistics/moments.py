"""Sums, means, deviations and correlations of attributes whose values stand for numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError, did_you_mean
from ..quantity import Quantity
from ..reconstruction import Reconstruction
from .conditions import Where, people_where
from .numbers import Number, extents, representative

Values = Mapping[Any, Number]


def total(table: Reconstruction, name: str, where: Where, values: Values | None = None) -> Quantity:
    """The sum of an attribute over the people who meet the condition; people without a number add nothing."""
    numbers = along(table, name, values)
    whole, chosen = people_where(table, where)
    return whole.linear(np.where(chosen, np.nan_to_num(numbers), 0.0))


def mean(table: Reconstruction, name: str, where: Where, values: Values | None = None) -> Quantity:
    """The mean of an attribute over the people who meet the condition and have a number."""
    numbers = along(table, name, values)
    return _mean(*people_where(table, where), numbers)


def deviation(table: Reconstruction, name: str, where: Where, values: Values | None = None) -> Quantity:
    """The standard deviation of an attribute over the people who meet the condition and have a number."""
    numbers = along(table, name, values)
    people = people_where(table, where)
    centre = _centre(*people, numbers)
    shifted = _mean(*people, numbers - centre)
    return (_mean(*people, (numbers - centre) ** 2) - shifted * shifted).sqrt().on("log").within(0.0, math.inf)


def correlation(table: Reconstruction, first: str, second: str, values: Mapping[str, Values] | None = None) -> Quantity:
    """Pearson's correlation of two attributes, over the people who have a number in both; intervals on atanh."""
    given = values or {}
    a, b = along(table, first, given.get(first)), along(table, second, given.get(second))
    whole, everybody = people_where(table, {})
    both = np.broadcast_to(everybody & ~np.isnan(a) & ~np.isnan(b), whole.counts.shape)
    a, b = (x - _centre(whole, both, x) for x in (a, b))
    mean_a, mean_b = _mean(whole, both, a), _mean(whole, both, b)
    variance_a = _mean(whole, both, a * a) - mean_a * mean_a
    variance_b = _mean(whole, both, b * b) - mean_b * mean_b
    found = (_mean(whole, both, a * b) - mean_a * mean_b) / (variance_a * variance_b).sqrt()
    return found.within(-1.0, 1.0).on("atanh")


def along(table: Reconstruction, name: str, values: Values | None) -> NDArray[np.float64]:
    """The numbers of an attribute, along its axis of the table with every value apart.

    Merged values keep the numbers that they have apart; those that were merged into missing answers have none. ``values`` are
    numbers of the values that are shown.
    """
    numbers: NDArray[np.float64] = _placed(table, name, values, lambda *of: representative(*of)[None])[0]
    return numbers


def limits_along(table: Reconstruction, name: str, values: Values | None) -> NDArray[np.float64]:
    """The lower and the upper limits of the values of an attribute, in the same way: one more axis, the first."""
    return _placed(table, name, values, extents)


def _placed(
    table: Reconstruction, name: str, values: Values | None, numbers_of: Callable[..., NDArray[np.float64]]
) -> NDArray[np.float64]:
    if name not in table.names:
        raise InputError(f"The table has no attribute '{name}'. {did_you_mean(name, table.names)}")
    whole = table.whole
    axis = whole.names.index(name)
    shape = [-1, *(whole.attributes[axis].size if i == axis else 1 for i in range(len(whole.names)))]
    if table.grouping is None:
        return np.asarray(numbers_of(whole.attributes[axis], values).reshape(shape))
    shown = table.grouping.axes[name]
    if values is None:
        numbers = numbers_of(whole.attributes[axis])
    else:
        numbers = numbers_of(shown.attribute, values)[:, np.maximum(shown.places, 0)]
    return np.asarray(np.where(shown.answered, numbers, np.nan).reshape(shape))


def _centre(table: Reconstruction, chosen: NDArray[np.bool_], numbers: NDArray[np.float64]) -> float:
    """A number in the middle: to shift by it changes nothing but the rounding."""
    value = _mean(table, chosen, numbers).value
    return value if math.isfinite(value) else 0.0


def _mean(table: Reconstruction, chosen: NDArray[np.bool_], numbers: NDArray[np.float64]) -> Quantity:
    counted = np.broadcast_to(chosen & ~np.isnan(numbers), table.counts.shape)
    return table.linear(np.where(counted, np.nan_to_num(numbers), 0.0)) / table.linear(counted.astype(float))
