"""One design as a convex program (docs/why/theory.md 8), and the same in the units that solvers like.

Units that the problem cannot tell apart (same size, same coefficients, same floors) can be swapped in a solution,
and the mean of all swapped solutions is as good (convexity). So t depends only on how many of them survive, and one
unknown serves all sets that are alike: 13 instead of 4,096 for 12 yes-no questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .paper import log_odds
from .workload import Table

TINY = 1e-290
"""The smallest scale of an eigenvalue or of its square that a float divides by without overflow."""
MARGIN = 1e-6
"""Floors are asked for with this share to spare, because rounding to integers takes a little of it."""


@dataclass(frozen=True)
class Problem:
    """Units of these sizes share a budget; ``coefficients[T] / lam_T^2`` is to be small, ``floors[T]`` bounds |lam_T|.

    ``wishes[T]`` bounds |lam_T| too, if that costs very little.
    """

    sizes: tuple[int, ...]
    epsilon: float
    coefficients: Mapping[int, float]
    floors: Mapping[int, float]
    wishes: Mapping[int, float] = field(default_factory=dict)

    @property
    def masks(self) -> range:
        """Every set of units."""
        return range(2 ** len(self.sizes))

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Rows S, columns units: whether the unit is in S."""
        return (np.arange(len(self.masks))[:, None] >> np.arange(len(self.sizes)) & 1).astype(bool)

    def alike(self) -> NDArray[np.int64]:
        """For every set of units the first one that the problem cannot tell from it."""
        by_mask = np.zeros((2, len(self.masks)))
        for row, numbers in zip(by_mask, (self.coefficients, self.floors)):
            row[list(numbers)] = list(numbers.values())
        kinds = [(size, *(f"{numbers[1 << bit]:.9g}" for numbers in by_mask)) for bit, size in enumerate(self.sizes)]
        different = list(dict.fromkeys(kinds))
        # how many units of each kind are kept, as the digits of one number
        counts = self.kept @ np.array([(len(kinds) + 1) ** different.index(kind) for kind in kinds])
        _, first, number = np.unique(counts, return_index=True, return_inverse=True)
        firsts = first[number]
        same = all(np.allclose(numbers, numbers[firsts], rtol=1e-8, atol=0) for numbers in by_mask)
        return firsts if same else np.arange(len(self.masks))

    def characters(self, masks: Sequence[int]) -> NDArray[np.float64]:
        """Rows T, columns S: lam_T is the sum over S of q_S times this."""
        result, chosen = np.ones((len(masks), len(self.masks))), np.array(masks, np.int64)
        for bit, size in enumerate(self.sizes):
            result[chosen >> bit & 1 == 1] *= np.where(self.kept[:, bit], 1.0, -1.0 / (size - 1.0))
        return result

    @cached_property
    def cells(self) -> NDArray[np.float64]:
        """cnt_S: how many values agree with a given one on exactly S, as a share of all values."""
        sizes = np.array(self.sizes, float)
        return np.asarray(np.where(self.kept, 1 / sizes, (sizes - 1) / sizes).prod(axis=1))

    def eigenvalues(self, t: NDArray[np.float64], masks: Sequence[int]) -> NDArray[np.float64]:
        """lam_T of the mechanism with these t."""
        gain = math.expm1(self.epsilon) * self.cells * t
        values = gain
        for size in self.sizes:
            gone, kept = values[::2], values[1::2]
            values = np.concatenate([gone + kept, kept - gone / (size - 1)])  # the lowest bit becomes the highest one
        return np.asarray(values[list(masks)] / (1 + gain.sum()))

    @cached_property
    def rho(self) -> float:
        """That of the paper's design with the same budget."""
        odds = math.exp(log_odds(self.epsilon, self.sizes))
        return odds / (1 + odds)

    def objective(self, t: NDArray[np.float64]) -> float:
        """The error to minimise."""
        masks = list(self.coefficients)
        values = self.eigenvalues(t, masks)
        with np.errstate(divide="ignore", over="ignore"):
            return float((np.array(list(self.coefficients.values())) / values**2).sum())


def coefficients(tables: Sequence[Table]) -> dict[int, float]:
    """How much ``1 / lam_T^2`` counts, for every set T of units; nothing for the empty set, whose eigenvalue is 1."""
    result: dict[int, float] = {}
    for table in tables:
        for chosen in _subsets(table.mask):
            if chosen:
                dimension = math.prod(cells - 1 for unit, cells in table.cells.items() if chosen >> unit & 1)
                result[chosen] = result.get(chosen, 0.0) + table.weight * table.fixed * dimension
    return {mask: value for mask, value in result.items() if value > 0}


def _subsets(mask: int) -> list[int]:
    """All subsets of a set of bits."""
    subsets, subset = [0], mask
    while subset:
        subsets.append(subset)
        subset = (subset - 1) & mask
    return subsets


@dataclass(frozen=True)
class Program:
    """Minimise ``sum costs / y^2``, ``y = rows @ v``, over ``0 <= v <= lo``, ``price @ v + lo = 1``, ``y >= least``.

    Sets of units that are alike share an unknown v = lo t. Eigenvalues are counted in units of the paper's, whose sizes
    they share; otherwise the problem is badly scaled. ``least`` is minus infinity where an eigenvalue has no floor, and
    ``costs``, which add up to 1, are 0 where it has no cost. ``kind``: the unknown of every set of units.
    """

    rows: NDArray[np.float64]
    costs: NDArray[np.float64]
    least: NDArray[np.float64]
    price: NDArray[np.float64]
    kind: NDArray[np.int64]

    @cached_property
    def everything(self) -> NDArray[np.float64]:
        """The rows, and the price as one more."""
        return np.concatenate([self.rows, self.price[None]])


def program(problem: Problem, signs: Mapping[int, float], floors: Mapping[int, float]) -> Program | None:
    """The problem with eigenvalues of these signs and these floors, scaled; None if floats cannot hold it."""
    alike = problem.alike()
    kind = np.unique(alike, return_inverse=True)[1]
    bounded = {int(alike[mask]): least for mask, least in floors.items()}
    terms = [mask for mask in problem.coefficients if alike[mask] == mask]
    masks = list(dict.fromkeys([*terms, *bounded]))
    scales = np.array([problem.rho ** mask.bit_count() for mask in masks])
    copies = np.bincount(kind)[kind]  # how many sets are alike
    with np.errstate(over="ignore"):
        costs = np.array([problem.coefficients[mask] for mask in terms]) / np.maximum(scales[: len(terms)] ** 2, TINY)
    costs *= copies[terms]
    if scales.min() < TINY or not np.isfinite(costs.sum()):
        return None
    gain = math.expm1(problem.epsilon)
    rows = problem.characters(masks)
    rows *= problem.cells
    if kind.max() < len(kind) - 1:
        rows = np.array([np.bincount(kind, row) for row in rows])
    rows *= np.array([signs[mask] for mask in masks])[:, None]
    rows *= gain
    rows /= scales[:, None]
    least = np.array([bounded.get(mask, -math.inf) for mask in masks]) / scales * (1 + MARGIN)
    costs = np.append(costs / costs.sum(), np.zeros(len(masks) - len(terms)))
    price = np.asarray(np.bincount(kind, problem.cells), float) * gain
    return Program(rows, costs, least, price, kind)
