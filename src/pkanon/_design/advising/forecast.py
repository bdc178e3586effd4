"""The errors of an optimal design in milliseconds, before the design is made.

The design of a candidate takes a conic solver up to twenty seconds; a search looks at hundreds of candidates. Here the
same convex problem (docs/why/theory.md 8) is solved in the space of the eigenvalues: the best mechanism for given prices of
eigenvalues is a staircase, which is found directly, and Frank-Wolfe steps with these staircases come within a per cent or two
of the optimum. Units share blocks as in the design. Left out are the floors, which seldom bind, rounding, and the forbidden
combinations of bundles. So a forecast is never what is promised: the plan is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..._schema import Unit
from ..budget import paper_cost, paper_rho
from ..grouping import affordable_groups
from ..optimal import LARGEST_EPSILON, SMALL_EPSILON
from ..workload import alone

Floats = NDArray[np.float64]

CLOSE = 0.02
"""The steps end when at most this share of the objective can still be gained."""
MOST_STEPS = 80


@dataclass(frozen=True)
class Column:
    """An attribute as the forecast sees it: the number of its unit, and its own values."""

    unit: int
    size: int


def forecast(
    units: Sequence[int],
    columns: Sequence[Column],
    tables: Mapping[tuple[int, ...], float],
    epsilon: float,
    records: int,
) -> dict[tuple[int, ...], float]:
    """The L1 error of each of ``tables``, which are sets of columns by number with their weights in the workload.

    ``units`` are the sizes of the units. A table of weight 0 is forecast and not served.
    """
    cells = {table: _cells(table, columns) for table in tables}
    blocks = _blocks(units, cells, tables, epsilon)
    errors = {}
    for table, inside in cells.items():
        size = math.prod(inside.values())
        factor = 1.0
        for block in blocks:
            own = [unit for unit in inside if unit in block.places]
            if own:
                factor *= block.factor([(unit, inside[unit]) for unit in own])
        errors[table] = math.sqrt(max(0.0, 2 * size * (factor - 1)) / (math.pi * records))
    return errors


def _cells(table: Sequence[int], columns: Sequence[Column]) -> dict[int, int]:
    """The cells that each unit has in a table."""
    cells: dict[int, int] = {}
    for number in table:
        column = columns[number]
        cells[column.unit] = cells.get(column.unit, 1) * column.size
    return cells


@dataclass(frozen=True)
class _Block:
    places: Mapping[int, int]
    """The number of a unit, and its bit in this block."""
    eigenvalues: Mapping[int, float]

    def factor(self, cells: Sequence[tuple[int, int]]) -> float:
        """c of the marginal of some units with so many cells each."""
        total = 0.0
        for count in range(len(cells) + 1):
            for chosen in itertools.combinations(cells, count):
                mask = sum(1 << self.places[unit] for unit, _ in chosen)
                value = self.eigenvalues.get(mask, 0.0) if mask else 1.0
                dimension = math.prod(size - 1 for _, size in chosen)
                if dimension:
                    total += dimension / value**2 if value else math.inf
        return total / math.prod(size for _, size in cells)


def _blocks(
    sizes: Sequence[int],
    cells: Mapping[tuple[int, ...], Mapping[int, int]],
    tables: Mapping[tuple[int, ...], float],
    epsilon: float,
) -> list[_Block]:
    units = [Unit((str(number),), (size,)) for number, size in enumerate(sizes)]
    rho = paper_rho(units, epsilon)
    groups = affordable_groups(units, epsilon) if epsilon > 0 else None
    if groups is None or (len(groups) == 1 and epsilon >= LARGEST_EPSILON):
        groups = [[number] for number in range(len(units))]
    blocks = []
    left = epsilon
    for place, group in enumerate(groups):
        members = [units[number] for number in group]
        share = left if place + 1 == len(groups) else min(left, paper_cost(members, rho))
        left -= share
        places = {number: bit for bit, number in enumerate(group)}
        coefficients: dict[int, float] = {}
        for table, inside in cells.items():
            own = [number for number in inside if number in places]
            size = math.prod(inside.values())
            elsewhere = math.prod(
                1 + (inside[number] - 1) / max(rho, 1e-9) ** 2 for number in inside if number not in places
            )
            weight = tables[table] * elsewhere / (size * max(alone(size, epsilon), 1e-300))
            for count in range(1, len(own) + 1):
                for chosen in itertools.combinations(own, count):
                    mask = sum(1 << places[number] for number in chosen)
                    dimension = math.prod(inside[number] - 1 for number in chosen)
                    coefficients[mask] = coefficients.get(mask, 0.0) + weight * dimension
        both = len(groups) == 1
        found = _eigenvalues(tuple(unit.size for unit in members), share, coefficients, both)
        blocks.append(_Block(places, found))
    return blocks


def _eigenvalues(
    sizes: tuple[int, ...], epsilon: float, coefficients: Mapping[int, float], both: bool
) -> dict[int, float]:
    """The eigenvalues of the best block, nearly; of the better of ``both`` sign patterns where negative ones may pay."""
    masks = tuple(coefficients)
    costs = np.array(list(coefficients.values()))
    many = sum(1 << bit for bit, size in enumerate(sizes) if size > 2)
    patterns = [np.ones(len(masks))]
    if both and epsilon < SMALL_EPSILON and many:
        patterns.append(np.array([-1.0 if (mask & many).bit_count() % 2 else 1.0 for mask in masks]))
    best = min((_descend(sizes, epsilon, masks, costs, signs) for signs in patterns), key=lambda found: found[0])
    return dict(zip(masks, best[1].tolist()))


def _descend(
    sizes: tuple[int, ...], epsilon: float, masks: tuple[int, ...], costs: Floats, signs: Floats
) -> tuple[float, Floats]:
    """(objective, |lam|) by Frank-Wolfe steps."""
    characters = _characters(sizes, masks) * signs
    share = _share(sizes)
    gain = math.expm1(epsilon)
    rho = paper_rho([Unit(("",), (size,)) for size in sizes], epsilon) if epsilon > 0 else 0.0
    if rho <= 0:
        return math.inf, np.zeros(len(masks))
    served = costs > 0
    start = np.array([rho ** mask.bit_count() for mask in masks])
    if (signs < 0).any():  # the paper's design has positive signs only
        start = _staircase(characters, share, gain, costs / start**3)
        if (start[served] <= 0).any():
            return math.inf, np.zeros(len(masks))
    point = start
    for _ in range(MOST_STEPS):
        with np.errstate(divide="ignore"):
            prices = np.where(served, 2 * costs / point**3, 0.0)
        corner = _staircase(characters, share, gain, prices)
        direction = corner - point
        if prices @ direction <= CLOSE * (costs[served] / point[served] ** 2).sum():
            break
        point = point + _step_length(point[served], direction[served], costs[served]) * direction
    return float((costs[served] / point[served] ** 2).sum()), np.abs(point)


def _staircase(characters: Floats, share: Floats, gain: float, prices: Floats) -> Floats:
    """The eigenvalues of the mechanism with the largest sum of prices times eigenvalues."""
    score = characters @ prices
    weighted = share * score
    level = 0.0
    for _ in range(60):
        chosen = score > level
        higher = gain * float(weighted @ chosen) / (1 + gain * float(share @ chosen))
        if higher <= level * (1 + 1e-9):
            break
        level = higher
    picked = share * chosen
    return np.asarray(gain * (picked @ characters) / (1 + gain * picked.sum()))


def _step_length(point: Floats, direction: Floats, costs: Floats) -> float:
    """The length in [0, 1] with the least objective, whose slope rises: Newton steps inside a shrinking bracket."""
    falling = direction < 0
    most = min(1.0, float((point[falling] / -direction[falling]).min()) * 0.999) if falling.any() else 1.0
    low, high, length = 0.0, most, 0.0
    for _ in range(10):
        place = point + length * direction
        terms = costs * direction / place**3
        slope, steeper = -float(terms.sum()), 3 * float((terms * direction / place).sum())
        low, high = (length, high) if slope < 0 else (low, length)
        if high - low < 1e-3 * high:
            break
        length = length - slope / steeper if steeper > 0 else math.nan
        if not low < length < high:
            length = (low + high) / 2 if high < most or low > most / 2 else (low + most) / 2
    return (low + high) / 2 if high < most else low


@lru_cache(maxsize=64)
def _kept(count: int) -> NDArray[np.bool_]:
    masks = np.arange(2**count)
    return (masks[:, None] >> np.arange(count) & 1).astype(bool)


@lru_cache(maxsize=32)
def _factors(sizes: tuple[int, ...]) -> Floats:
    return np.asarray(np.where(_kept(len(sizes)), 1.0, -1.0 / (np.array(sizes) - 1.0)))


def _share(sizes: tuple[int, ...]) -> Floats:
    values = np.array(sizes, float)
    return np.asarray(np.where(_kept(len(sizes)), 1 / values, (values - 1) / values).prod(axis=1))


def _characters(sizes: tuple[int, ...], masks: tuple[int, ...]) -> Floats:
    """Rows S, columns T."""
    factors = _factors(sizes)
    columns = np.ones((len(factors), len(masks)))
    for number, mask in enumerate(masks):
        bits = [bit for bit in range(len(sizes)) if mask >> bit & 1]
        column = factors[:, bits[0]]
        for bit in bits[1:]:
            column = column * factors[:, bit]
        columns[:, number] = column
    return columns
