"""Interior-point solver for one large design (docs/why/theory.md 8): thousands of unknowns, a few hundred eigenvalues.

A
general conic solver factorises a sparse matrix of thousands of rows in every step. Here the unknowns but
for ``lo`` enter through few eigenvalues, so a step takes one dense factorisation of the size of ``y``: a tenth of the time.

Primal-dual, with a predictor and a corrector (Mehrotra). Best vertices start it (Frank-Wolfe): without floors, the best mechanism
for given prices of the eigenvalues has two probabilities only, and sorting finds it. The result is a candidate: whoever
uses it checks the floors, and everything that is promised is computed from integers later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .problem import Program

MOST_STEPS = 60
"""Solvable designs took 15 to 40."""
MOST_VERTICES = 40
"""Frank-Wolfe steps at the start; each costs one pass over ``rows``."""
MOST_OPERATIONS = 1e11
"""Multiplications of all steps together: some ten seconds. Larger problems are refused."""
TOLERANCE = 1e-8
"""The duality gap, as a share of the objective, at which the search ends."""
ENOUGH = 1e-5
"""The gap, and the missing part of a floor, with which a search that got stuck still counts."""
INSIDE = 0.96
"""The start is moved this close to the boundary it lies on: an interior point needs distance."""
TILE = 64
"""Rows and columns of a product that a library of linear algebra does not divide among threads."""
STEPS = tuple(0.5 * 0.7**power for power in range(40))
"""Shares of the way to a vertex that are tried."""

Floats = NDArray[np.float64]


def affordable(program: Program) -> bool:
    """Whether the steps of a search are within the number of operations that one may take."""
    height, width = program.rows.shape
    return bool(MOST_STEPS / 2 * (height**2 * width + height**3 / 3) <= MOST_OPERATIONS)


def _objective(program: Program, y: Floats) -> float:
    """The error of a mechanism with these eigenvalues; infinite where one that costs is not positive."""
    costly = program.costs > 0
    return float((program.costs[costly] / y[costly] ** 2).sum()) if (y[costly] > 0).all() else math.inf


def _slopes(program: Program, y: Floats) -> tuple[Floats, Floats]:
    """The first and second derivatives of the objective."""
    costly = program.costs > 0
    safe = np.where(costly, y, 1.0)
    return np.where(costly, -2 * program.costs / safe**3, 0.0), np.where(costly, 6 * program.costs / safe**4, 0.0)


def minimise(program: Program, t: Floats) -> Floats | None:
    """t = v / lo of the best mechanism, found from one whose costly eigenvalues are positive; None if the search failed."""
    if not affordable(program) or not math.isfinite(_objective(program, _eigenvalues(program, t))):
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a search that fails is told by its result
        point = _Point.inside(program, _near_best(program, t))
        best, gap = point, math.inf
        for _ in range(MOST_STEPS):
            away = point.away(program)
            if not math.isfinite(away):
                break
            if away >= gap and gap <= ENOUGH:  # rounding errors have taken over
                break
            if away < gap:
                best, gap = point, away
            moved = None if gap <= TOLERANCE else _step(program, point)
            if moved is None:
                break
            point = moved
    return np.clip(best.v / best.lo, 0.0, 1.0) if gap <= ENOUGH else None


def _eigenvalues(program: Program, t: Floats) -> Floats:
    return np.asarray(_down(program.rows, t) / (1 + program.price @ t))


def _near_best(program: Program, t: Floats) -> Floats:
    """A mixture of vertices whose objective is near the least one without floors."""
    lo = 1 / (1 + program.price @ t)
    v = lo * t
    y = _down(program.rows, v)
    value = _objective(program, y)
    for _ in range(MOST_VERTICES):
        worth = -_across(_slopes(program, y)[0], program.rows)
        # the best vertex takes the unknowns of the highest worth per price, as many as raise the ratio
        order = np.argsort(-worth / program.price)
        ratios = np.cumsum(worth[order]) / (1 + np.cumsum(program.price[order]))
        vertex = np.zeros(len(t))
        vertex[order[: int(np.argmax(ratios)) + 1]] = 1 / (1 + program.price[order].cumsum()[int(np.argmax(ratios))])
        way = _down(program.rows, vertex) - y
        gap = float(-_slopes(program, y)[0] @ way)
        nearest, share = min((_objective(program, y + share * way), share) for share in STEPS)
        if nearest >= value or gap < 0.1 * value:
            break
        v = v + share * (vertex - v)
        y, value = _down(program.rows, v), nearest
    return np.asarray(v / (1 - program.price @ v))


@dataclass(frozen=True)
class _Point:
    """Unknowns, slacks of the floors, and the multipliers of ``v >= 0``, ``v <= lo``, the floors, and the sum."""

    v: Floats
    lo: float
    slack: Floats
    low: Floats
    high: Floats
    floor: Floats
    total: float

    @classmethod
    def inside(cls, program: Program, t: Floats) -> _Point:
        """A point off the boundary, near ``t``, whose multipliers make the gradient of the Lagrangian zero."""
        t = 0.5 + (t - 0.5) * INSIDE
        lo = float(1 / (1 + program.price @ t))
        v = lo * t
        y = _down(program.rows, v)
        bounded = np.isfinite(program.least)
        least = np.where(bounded, program.least, 0.0)
        mean = 0.1 * _objective(program, y) / (2 * len(v) + bounded.sum())
        slack = np.where(bounded, np.maximum(y - least, 0.1 * np.abs(least) + 1e-3), 1.0)
        floor = np.where(bounded, mean / slack, 0.0)
        slope = _across(_slopes(program, y)[0] - floor, program.rows)

        def high(total: float) -> Floats:
            rest = slope + total * program.price
            return np.asarray(np.maximum(np.maximum(-rest, mean / (lo - v)), mean / v - rest))

        # total = sum of high(total): the left side grows, the right side falls
        below, above = 0.0, 1.0
        while above < high(above).sum():
            above *= 2
        for _ in range(60):
            middle = (below + above) / 2
            below, above = (middle, above) if middle < high(middle).sum() else (below, middle)
        return cls(v, lo, slack, slope + above * program.price + high(above), high(above), floor, above)

    def missing(self, program: Program) -> Floats:
        """By how much ``y - least`` differs from the slack."""
        bounded = np.isfinite(program.least)
        return np.where(bounded, _down(program.rows, self.v) - np.where(bounded, program.least, 0.0) - self.slack, 0.0)

    def complement(self, program: Program) -> float:
        """The sum of all products of a multiplier and its slack: the duality gap once all residuals are zero."""
        inner = self.low @ self.v + self.high @ (self.lo - self.v)
        return float(inner + (self.floor * self.slack)[np.isfinite(program.least)].sum())

    def away(self, program: Program) -> float:
        """How far the point is from a solution: the largest of gap, missing floors and gradient, each as a share."""
        y = _down(program.rows, self.v)
        value = _objective(program, y)
        gradient = (
            _across(_slopes(program, y)[0] - self.floor, program.rows)
            - self.low
            + self.high
            + self.total * program.price
        )
        missing = float(np.abs(self.missing(program)).max(initial=0.0))
        return max(self.complement(program) / value, missing, float(np.abs(gradient) @ self.v) / value)


def _step(program: Program, point: _Point) -> _Point | None:
    """The next point; None if the equations cannot be solved."""
    from scipy.linalg import LinAlgError, cho_solve

    rows, price = program.rows, program.price
    v, lo, slack, low, high, floor = point.v, point.lo, point.slack, point.low, point.high, point.floor
    bounded, costly, room, y = np.isfinite(program.least), program.costs > 0, lo - v, _down(rows, v)
    first, second = _slopes(program, y)
    missing = point.missing(program)
    mean = point.complement(program) / (2 * len(v) + bounded.sum())
    upper = high / room
    diagonal = low / v + upper
    weights = second + np.where(bounded, floor / slack, 0.0)
    scaled = rows / diagonal
    inner = _product(scaled, rows)
    inner[np.diag_indices(len(y))] += 1 / weights
    try:
        factor = _factor(inner), True
    except (LinAlgError, ValueError):
        return None

    def solve(right: Floats) -> tuple[Floats, Floats]:
        """v and y with diagonal v + rows' weights y = right and y = rows v, by Woodbury's formula, refined once.

        y is computed beside v, not from it: where floors bind, rows v is the small difference of large numbers.
        """
        force = cho_solve(factor, _down(rows, right / diagonal), check_finite=False)
        for _ in range(2):
            result = (right - _across(force, rows)) / diagonal
            force = force + cho_solve(factor, _down(rows, result) - force / weights, check_finite=False)
        return (right - _across(force, rows)) / diagonal, force / weights

    (v_by_lo, y_by_lo), (v_by_price, y_by_price) = solve(-upper), solve(price)
    border = np.array(
        [[upper.sum() + upper @ v_by_lo, 1 + upper @ v_by_price], [1 - price @ v_by_lo, -price @ v_by_price]]
    )

    def direction(at_low: Floats, at_high: Floats, at_floor: Floats) -> tuple[_Point, float]:
        """The way to the point where the products of multipliers and slacks are these, and how much of it is free."""
        pull = first - np.where(bounded, (at_floor - floor * missing) / slack, 0.0)
        v_alone, y_alone = solve(at_low / v - at_high / room - price * point.total - _across(pull, rows))
        target = [(at_high / room).sum() - point.total + upper @ v_alone, 1 - price @ v - lo - price @ v_alone]
        d_lo, d_total = np.linalg.solve(border, np.array(target))
        d_v = v_alone - v_by_lo * d_lo - v_by_price * d_total
        d_y = y_alone - y_by_lo * d_lo - y_by_price * d_total
        d_slack = np.where(bounded, d_y + missing, 0.0)
        d_floor = np.where(bounded, (at_floor - floor * d_slack) / slack - floor, 0.0)
        way = _Point(
            d_v,
            float(d_lo),
            d_slack,
            (at_low - low * d_v) / v - low,
            (at_high - high * (d_lo - d_v)) / room - high,
            d_floor,
            float(d_total),
        )
        pairs = [(v, d_v), (room, d_lo - d_v), (low, way.low), (high, way.high), (y[costly], d_y[costly])]
        pairs += [(slack[bounded], d_slack[bounded]), (floor[bounded], d_floor[bounded])]
        return way, min(_free(value, change) for value, change in pairs)

    def moved(way: _Point, share: float) -> _Point:
        return _Point(*(getattr(point, name) + share * getattr(way, name) for name in _Point.__dataclass_fields__))

    nothing = np.zeros(len(v))
    try:
        way, share = direction(nothing, nothing, np.zeros(len(y)))
        ahead = moved(way, share).complement(program) / (2 * len(v) + bounded.sum())
        centre = min(max((ahead / mean) ** 3, 1e-4), 1.0) * mean
        curved = (way.low * way.v, way.high * (way.lo - way.v), way.floor * way.slack)
        way, share = direction(*(centre - share * product for product in curved))
        if share < 0.1:  # off the central path: first back to it
            centre = max(centre, 0.3 * mean)
            way, share = direction(nothing + centre, nothing + centre, np.full(len(y), centre))
    except LinAlgError:
        return None
    return moved(way, min(1.0, 0.99 * share))


def _free(value: Floats, change: Floats) -> float:
    """The share of a change that leaves positive numbers positive, at most 1."""
    falling = change < 0
    return min(1.0, float((-value[falling] / change[falling]).min(initial=math.inf)))


# Libraries of linear algebra share such small products among threads that wait for each other most of the time.


def _down(rows: Floats, columns: Floats) -> Floats:
    """rows @ columns, in this thread."""
    return np.asarray(np.einsum("ij,j->i", rows, columns), float)


def _across(weights: Floats, rows: Floats) -> Floats:
    """weights @ rows, in this thread."""
    return np.asarray(np.einsum("i,ij->j", weights, rows), float)


def _product(left: Floats, right: Floats) -> Floats:
    """The lower triangle of left @ right.T, tile by tile, in this thread; above it anything."""
    result = np.zeros((len(left), len(right)))
    for down in range(0, len(left), TILE):
        for across in range(0, down + 1, TILE):
            tile = result[down : down + TILE, across : across + TILE]
            for start in range(0, left.shape[1], TILE):
                part = slice(start, start + TILE)
                tile += left[down : down + TILE, part] @ right[across : across + TILE, part].T
    return result


def _factor(matrix: Floats) -> Floats:
    """Cholesky's factor of a matrix whose lower triangle is given, in this thread."""
    result = np.tril(matrix)
    for start in range(0, len(result), TILE):
        stop = min(start + TILE, len(result))
        for column in range(start, stop):
            found = result[column:, column] - _down(result[column:, start:column], result[column, start:column])
            if not found[0] > 0:
                raise np.linalg.LinAlgError
            result[column:, column] = found / math.sqrt(found[0])
        rest = result[stop:, start:stop]
        result[stop:, stop:] -= _product(rest, rest)
    return np.tril(result)
