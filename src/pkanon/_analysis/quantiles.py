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
    inside = _bin_limits_of(table, axis, values)
    value = _read(q, flat[order], reached, inside)
    shape = [-1 if i == axis else 1 for i in range(len(table.names))]
    at = min(int(np.searchsorted(reached, q - 1e-12)), len(order) - 1)

    def share_error(part: float) -> float:
        """The error of the distribution function, with ``part`` of the people at the quantile counted as below it."""
        below = np.zeros(len(flat))
        below[order[:at]] = 1.0
        below[order[at]] = part
        return (table.linear(chosen * below.reshape(shape)) / group).standard_error

    if inside is None:  # a value is reached by a jump: the error below it and above it, whichever is larger
        error = max(share_error(0.0), share_error(1.0))
    else:
        low, high = inside[0][at], inside[1][at]
        error = share_error((value - low) / (high - low))

    def limits(level: float) -> tuple[float, float]:
        off = normal_quantile(level) * error
        return _read(max(q - off, 0.0), flat[order], reached, inside), _read(
            min(q + off, 1.0), flat[order], reached, inside
        )

    return Quantile(value, limits)


Limits = tuple[NDArray[np.float64], NDArray[np.float64]]


def _bin_limits_of(table: Reconstruction, axis: int, values: Values | None) -> Limits | None:
    """The ends of the bins, where the attribute has bins that stand for their middles."""
    domain = table.attributes[axis].domain
    return bin_limits(domain) if isinstance(domain, Bins) and values is None else None


def _read(q: float, numbers: NDArray[np.float64], reached: NDArray[np.float64], inside: Limits | None) -> float:
    """The inverse of the distribution function."""
    if inside is None:
        return float(numbers[min(int(np.searchsorted(reached, q - 1e-12)), len(numbers) - 1)])
    lows, highs = inside
    return float(np.interp(q, np.append(0.0, reached), np.append(lows[:1], highs)))
