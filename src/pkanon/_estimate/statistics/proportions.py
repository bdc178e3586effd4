"""Counts of people who meet a condition, and shares, ratios and odds ratios computed from them."""

from __future__ import annotations

import numpy as np

from ..quantity import Quantity
from ..reconstruction import Reconstruction
from .conditions import Where, cells_where


def count(table: Reconstruction, where: Where) -> Quantity:
    """How many people meet the condition."""
    return table.linear(cells_where(table.attributes, where).astype(float))


def proportion(table: Reconstruction, where: Where, given: Where) -> Quantity:
    """The share of the people who meet ``given`` that also meet ``where``."""
    group = cells_where(table.attributes, given)
    both = group & cells_where(table.attributes, where)
    return table.linear(both.astype(float)) / table.linear(group.astype(float))


def ratio(table: Reconstruction, above: Where, below: Where) -> Quantity:
    """The number who meet ``above`` divided by the number who meet ``below``; intervals on the logarithm."""
    return (count(table, above) / count(table, below)).on("log")


def odds_ratio(table: Reconstruction, first: Where, second: Where) -> Quantity:
    """The factor by which meeting ``first`` multiplies the odds of meeting ``second``; intervals on the logarithm."""
    a, b = cells_where(table.attributes, first), cells_where(table.attributes, second)
    both, only_a, only_b, neither = (
        table.linear(np.asarray(cells, float)) for cells in (a & b, a & ~b, ~a & b, ~a & ~b)
    )
    return ((both * neither) / (only_a * only_b)).on("log")
