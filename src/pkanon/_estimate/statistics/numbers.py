"""The number that represents each value in means and quantiles.

Numbers and booleans represent themselves. A bin is represented by its midpoint (for whole numbers, the
midpoint of the whole numbers in it); an open bin counts as wide as its neighbour. The label for unlisted
values and the missing value have no number and are left out. Whoever says which number stands for a value may give a pair,
the limits between which people are spread: means take the middle, quantiles lie between the limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._schema import Attribute, Bins, Listed, Range
from .conditions import code_of

Number: TypeAlias = float | tuple[float, float] | None
"""What stands for a value: a number, the limits of an interval, or None if it is left out."""


def is_numeric(attribute: Attribute) -> bool:
    """Whether its values are numbers by themselves, without ``values``."""
    return attribute.type in ("integer", "number", "boolean")


def representative(attribute: Attribute, values: Mapping[Any, Number] | None = None) -> NDArray[np.float64]:
    """One number per code, NaN where there is none; ``values`` gives or replaces numbers by label; None leaves people out.

    Of an interval it is the middle.
    """
    numbers = np.full(attribute.size, np.nan)
    match attribute.domain:
        case _ if not is_numeric(attribute):
            if values is None:
                raise InputError(
                    f"'{attribute.name}' is of type {attribute.type}; to calculate with it, say which number stands "
                    "for each value (values = {...}, in Python)."
                )
        case Listed(listed):
            numbers[: len(listed)] = [float(value) for value in listed]  # type: ignore[arg-type]  # numeric by type
        case Range(low, high):
            numbers[: high - low + 1] = np.arange(low, high + 1)
        case Bins() as bins:
            lows, highs = bin_limits(bins)
            last = 1.0 if attribute.type == "integer" else 0.0  # [0, 5) holds 0, 1, 2, 3, 4
            numbers[: len(lows)] = (lows + highs - last) / 2
    numbered = np.zeros(attribute.size, bool)
    for label, number in (values or {}).items():
        code = code_of(attribute, label)
        numbers[code], numbered[code] = sum(_limits(attribute, label, number)) / 2, True
    if not is_numeric(attribute):
        declared = len(attribute.domain) if attribute.domain is not None else 0
        if not numbered[:declared].all():
            forgotten = attribute.label(int(np.argmin(numbered[:declared])))
            raise InputError(
                f"values must have a number for every value of '{attribute.name}'; '{forgotten}' has none (None leaves it out)."
            )
    if np.isnan(numbers).all():
        raise InputError(f"No value of '{attribute.name}' stands for a number.")
    return numbers


def extents(attribute: Attribute, values: Mapping[Any, Number] | None = None) -> NDArray[np.float64]:
    """The lower and the upper limit of each code: those of a bin or of an interval; of a single number it is both."""
    numbers = representative(attribute, values)
    lows, highs = numbers.copy(), numbers.copy()
    if isinstance(attribute.domain, Bins) and is_numeric(attribute):
        edges = bin_limits(attribute.domain)
        lows[: len(edges[0])], highs[: len(edges[0])] = edges
    for label, number in (values or {}).items():
        code = code_of(attribute, label)
        lows[code], highs[code] = _limits(attribute, label, number)
    order = np.lexsort((highs, lows))[: int((~np.isnan(lows)).sum())]
    first, second = order[:-1], order[1:]
    across = np.flatnonzero(
        (highs[first] > lows[second]) & ((lows[first] < lows[second]) | (highs[first] < highs[second]))
    )
    if len(across):
        labels = " and ".join(f"'{attribute.label(int(ends[across[0]]))}'" for ends in (first, second))
        raise InputError(f"The intervals that stand for {labels} of '{attribute.name}' overlap.")
    return np.stack([lows, highs])


def _limits(attribute: Attribute, label: Any, number: Number) -> tuple[float, float]:
    if number is None:
        return np.nan, np.nan
    try:
        low, high = (float(end) for end in (number if isinstance(number, (tuple, list)) else (number, number)))
    except (TypeError, ValueError):
        low, high = np.inf, -np.inf
    if not -np.inf < low <= high < np.inf:
        raise InputError(
            f"What stands for '{label}' of '{attribute.name}' must be a number, a pair (low, high) of numbers with low "
            "not above high, or None, which leaves it out."
        )
    return low, high


def bin_limits(bins: Bins) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of each bin; an open one is as wide as its neighbour."""
    edges = [float(edge) for edge in bins.edges]  # type: ignore[arg-type]  # not dates: checked by the caller
    several = len(edges) > 1
    below = edges[0] - (edges[1] - edges[0] if several else 1.0)
    above = edges[-1] + (edges[-1] - edges[-2] if several else edges[0] - below)
    limits = np.array(bins.limits(below, above), float)
    return limits[:, 0], limits[:, 1]
