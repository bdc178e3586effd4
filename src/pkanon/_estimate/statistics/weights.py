"""The numbers by which people count if an attribute is their survey weight, and how far those may be off."""

from __future__ import annotations

import numpy as np

from ..._blocks import Counts
from ..._errors import InputError
from ..._schema import Attribute, Bins, Points
from .numbers import bin_limits, is_numeric, representative


def weight_numbers(attribute: Attribute) -> Counts:
    """The number by which people with each value count; who has none counts nothing."""
    numbers = np.nan_to_num(representative(attribute)) if is_numeric(attribute) else np.zeros(1)
    if (numbers < 0).any() or not numbers.any():
        raise InputError(f"'{attribute.name}' cannot be weights: its values must stand for numbers, zero or more.")
    return numbers


def weight_error(attribute: Attribute, numbers: Counts) -> float | None:
    """By which share a weighted total may be off, as weights are known by bins only; None: there is no limit.

    Points have no such error. What lies beyond an open end, or is unlisted, has one without a limit.
    """
    domain = attribute.domain
    if attribute.other is not None or (isinstance(domain, Bins | Points) and domain.open != "none"):
        return None
    if not isinstance(domain, Bins):
        return 0.0
    bins = domain
    lows, highs = bin_limits(bins)
    highs = highs - 1.0 if attribute.type == "integer" else highs
    middles = numbers[: len(lows)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nan_to_num(np.maximum(highs - middles, middles - lows) / middles, nan=0.0).max())
