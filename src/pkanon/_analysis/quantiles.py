"""Quantiles of an attribute whose values stand for numbers, with Woodruff's intervals.

The distribution function is estimated at every value; where noise makes it fall it is held level. Its
confidence limits at the quantile are read back through it, which is how survey statisticians have done
it since Woodruff (1952). Inside a bin people are taken to be spread evenly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._estimate import Reconstruction, normal_quantile
from .._schema.domain import Bins
from .conditions import Where, cells_where
from .moments import Values, _along
from .numbers import bin_limits


@dataclass(frozen=True)
class Quantile:
    """An estimated quantile: ``value``, ``standard_error`` (a quarter of the 95% interval or so), ``interval(level)``."""

    value: float
    _limits: Callable[[float], tuple[float, float]] = field(repr=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """(low, high)."""
        return self._limits(level)

    @property
    def standard_error(self) -> float:
        """Half the width of the 95% interval over its z."""
        low, high = self.interval(0.95)
        return (high - low) / (2 * normal_quantile(0.95))

    def __float__(self) -> float:
        return self.value


def quantile(table: Reconstruction, name: str, q: float, where: Where, values: Values | None = None) -> Quantile:
    """The value below which a share ``q`` of the people who meet the condition lies."""
    if not (isinstance(q, (int, float)) and 0 < q < 1):
        raise InputError(f"A quantile lies between 0 and 1, such as 0.5 for the median; it cannot be {q}.")
    numbers = _along(table, name, values)
    axis = table.names.index(name)
    flat = numbers.ravel()
    order = [int(code) for code in np.argsort(flat, kind="stable") if not math.isnan(flat[code])]
    chosen = cells_where(table.attributes, where)
    present = ~np.isnan(numbers)
    group = table.linear((chosen & present).astype(float))
    if group.value <= 0:
        return Quantile(math.nan, lambda level: (math.nan, math.nan))
    others = tuple(i for i in range(len(table.names)) if i != axis)
    per_value = (table.counts * chosen).sum(others)[order]
    reached = np.clip(np.maximum.accumulate(np.cumsum(per_value) / group.value), 0.0, 1.0)
    reached[-1] = 1.0
    read = _reader(table, axis, values, flat[order], reached)
    value = read(q)
    # the error of the distribution function where it reaches q
    upto = np.isin(np.arange(len(flat)), order[: int(np.searchsorted(reached, q)) + 1])
    shape = [-1 if i == axis else 1 for i in range(len(table.names))]
    share = table.linear((chosen & upto.reshape(shape)).astype(float)) / group

    def limits(level: float) -> tuple[float, float]:
        off = normal_quantile(level) * share.standard_error
        return read(max(q - off, 0.0)), read(min(q + off, 1.0))

    return Quantile(value, limits)


def _reader(
    table: Reconstruction, axis: int, values: Values | None, numbers: NDArray[np.float64], reached: NDArray[np.float64]
) -> Callable[[float], float]:
    """The inverse of the distribution function."""
    attribute = table.attributes[axis]
    if isinstance(attribute.domain, Bins) and values is None:
        lows, highs = bin_limits(attribute.domain)
        ends, shares = np.append(lows[:1], highs), np.append(0.0, reached)
        return lambda q: float(np.interp(q, shares, ends))
    return lambda q: float(numbers[min(int(np.searchsorted(reached, q - 1e-12)), len(numbers) - 1)])
