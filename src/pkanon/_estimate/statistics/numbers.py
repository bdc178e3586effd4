"""The number that represents each value in means and quantiles.

Numbers and booleans represent themselves. A bin is represented by its midpoint (for whole numbers, the
midpoint of the whole numbers in it); an open bin counts as wide as its neighbour. The label for unlisted
values and the missing value have no number and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._schema import Attribute, Bins, Listed, Range
from .conditions import code_of


def is_numeric(attribute: Attribute) -> bool:
    """Whether its values are numbers by themselves, without ``values``."""
    return attribute.type in ("integer", "number", "boolean")


def representative(attribute: Attribute, values: Mapping[Any, float | None] | None = None) -> NDArray[np.float64]:
    """One number per code, NaN where there is none; ``values`` gives or replaces numbers by label; None leaves people out."""
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
        numbers[code], numbered[code] = np.nan if number is None else float(number), True
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


def bin_limits(bins: Bins) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of each bin; an open one is as wide as its neighbour."""
    edges = [float(edge) for edge in bins.edges]  # type: ignore[arg-type]  # not dates: checked by the caller
    several = len(edges) > 1
    below = edges[0] - (edges[1] - edges[0] if several else 1.0)
    above = edges[-1] + (edges[-1] - edges[-2] if several else edges[0] - below)
    limits = np.array(bins.limits(below, above), float)
    return limits[:, 0], limits[:, 1]
