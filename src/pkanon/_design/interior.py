"""Interior-point solver for one large design (docs/why/theory.md 8): thousands of unknowns, a few hundred eigenvalues.

A general conic solver factorises a sparse matrix of thousands of rows in every step. Here the unknowns but
for ``lo`` enter through few eigenvalues, so a step takes one dense factorisation of the size of ``y``: a tenth of the time.
Few floors bind, so most of them are asked for only once they are missed.

Primal-dual, with a predictor and a corrector (Mehrotra). Best vertices start it (Frank-Wolfe): without floors, the best mechanism
for given prices of the eigenvalues has two probabilities only, and sorting finds it. By convexity they also tell what no
mechanism can beat. The result is a candidate: whoever uses it checks the floors, and everything that is promised is
computed from integers later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .problem import Program

MOST_STEPS = 60
"""Solvable designs took 15 to 40."""
MOST_VERTICES = 40
"""Frank-Wolfe steps at the start; each costs one pass over ``rows``."""
MOST_OPERATIONS = 1e11
"""Multiplications of all steps together: some ten seconds. Larger problems are refused."""
TOLERANCE = 1e-6
"""The duality gap, as a share of the objective, at which the search ends."""
ENOUGH = 1e-5
"""The gap, and the missing part of a floor, with which a search that got stuck still counts."""
CLOSE = 0.03
"""Frank-Wolfe steps end with this gap."""
DISTANCE = 0.02
"""How far the start is moved off the boundary that it lies on, as an interior point needs, and how much more of the budget may
go to this; half as far or less if that would double the objective."""
NEARLY = 0.03
"""A floor is asked for where an eigenvalue is missed, or is above its floor by less than this share of its size."""
SPARE = 3e-6
"""What a floor is raised by, as a share of that size: rounding errors are smaller."""
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


@dataclass(frozen=True)
class Start:
    """t = v / lo of a mechanism near the best one without floors, and a bound: no mechanism has less than this objective."""

    program: Program
    t: Floats
    bound: float

    @classmethod
    def of(cls, program: Program, t: Floats) -> Start | None:
        """A mixture of ``t`` and vertices; None if an eigenvalue of ``t`` that costs is not positive."""
        costs = program.costs > 0
        served = replace(program, rows=program.rows[costs], costs=program.costs[costs], least=program.least[costs])
        lo = 1 / (1 + program.price @ t)
        v = lo * t
        y = _down(served.rows, v)
        value, bound = _objective(served, y), 0.0
        if not math.isfinite(value):
            return None
        for _ in range(MOST_VERTICES):
            slopes = _slopes(served, y)[0]
            worth = -_across(slopes, served.rows)
            # the best vertex takes the unknowns of the highest worth per price, as many as raise the ratio
            order = np.argsort(-worth / program.price)
            price = 1 + np.cumsum(program.price[order])
            last = int(np.argmax(np.cumsum(worth[order]) / price))
            vertex = np.zeros(len(t))
            vertex[order[: last + 1]] = 1 / price[last]
            way = _down(served.rows, vertex) - y
            gap = float(-slopes @ way)
            bound = max(bound, value - gap)
            nearest, share = min((_objective(served, y + share * way), share) for share in STEPS)
            if nearest >= value or gap < CLOSE * value:
                break
            v = v + share * (vertex - v)
            y, value = _down(served.rows, v), nearest
        return cls(program, np.asarray(v / (1 - program.price @ v)), bound)

    @property
    def objective(self) -> float:
        """That of t."""
        return objective(self.program, self.t)


def objective(program: Program, t: Floats) -> float:
    """What the program makes small."""
    return _objective(program, _eigenvalues(program, t))


def minimise(start: Start) -> Floats | None:
    """t = v / lo of the best mechanism; None if the search failed."""
    program = start.program
    sizes = _down(np.abs(program.rows), start.t / (1 + program.price @ start.t))
    asked, t = program.costs > 0, start.t
    while True:
        asked = asked | (_eigenvalues(program, t) < program.least + NEARLY * sizes)
        found = _minimise(_scaled(start, sizes, asked), start.t)
        if found is None or (asked | (_eigenvalues(program, found) >= program.least)).all():
            return found
        t = found


def _eigenvalues(program: Program, t: Floats) -> Floats:
    return np.asarray(_down(program.rows, t) / (1 + program.price @ t))


def _scaled(start: Start, sizes: Floats, asked: NDArray[np.bool_]) -> Program:
    """Some of the rows in units that floats can hold; floors are raised by what rounding may miss them by."""
    program, unit = start.program, sizes[asked]
    return replace(
        program,
        rows=program.rows[asked] / unit[:, None],
        costs=program.costs[asked] / unit**2 / start.objective,
        least=program.least[asked] / unit + SPARE,
    )


def _minimise(program: Program, t: Floats) -> Floats | None:
    if not affordable(program):
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a search that fails is told by its result
        point = _Point.inside(program, t)
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
        near, most, away = t, 2 * objective(program, t), DISTANCE
        dear = max(1.0, float(program.price.sum() / (1 + program.price @ t)))
        t = np.clip(near, away / dear, 1 - away)
        while objective(program, t) > most:
            away /= 2
            t = np.clip(near, away / dear, 1 - away)
        lo = float(1 / (1 + program.price @ t))
        v = lo * t
        y = _down(program.rows, v)
        bounded = np.isfinite(program.least)
        least = np.where(bounded, program.least, 0.0)
        mean = 0.1 * _objective(program, y) / (2 * len(v) + bounded.sum())
        slack = np.where(bounded, np.maximum(y - least, 0.1 * np.abs(y) + SPARE), 1.0)
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
    lower, upper = low / v, high / room
    diagonal = lower + upper
    along = upper / diagonal  # what a change of lo does to v: those at the upper limit move with it
    everything = program.everything  # the sum is one more row, whose multiplier is free
    soft = np.append(1 / (second + np.where(bounded, floor / slack, 0.0)), 0.0)
    inner = _product(everything / diagonal, everything)
    inner[np.diag_indices(len(soft))] += soft
    try:
        factor = _factor(inner), True
    except (LinAlgError, ValueError):
        return None

    def solve(right: Floats) -> Floats:
        """The forces on y and on the sum by which they change so much, refined once."""
        force = cho_solve(factor, right, check_finite=False)
        rest = right - _down(everything, _across(force, everything) / diagonal) - force * soft
        return np.asarray(force + cho_solve(factor, rest, check_finite=False))

    by_lo = _down(everything, along)
    by_lo[-1] += 1
    force_lo = solve(by_lo)

    def direction(at_low: Floats, at_high: Floats, at_floor: Floats) -> tuple[_Point, float]:
        """The way to the point where the products of multipliers and slacks are these, and how much of it is free."""
        pull = np.append(first - np.where(bounded, (at_floor - floor * missing) / slack, 0.0), point.total)
        right = at_low / v - at_high / room - _across(pull, everything)
        moves = _down(everything, right / diagonal)
        moves[-1] -= 1 - price @ v - lo
        alone = solve(moves)
        # sums of numbers of one sign, where differences of large ones would be short
        rest = (at_high / room) @ (lower / diagonal) + along @ (at_low / v) - by_lo @ (pull + alone)
        d_lo = rest / (lower @ along + by_lo @ force_lo)
        force = alone + force_lo * d_lo
        d_v = (right + upper * d_lo - _across(force, everything)) / diagonal
        # not from that of v: where floors bind, it would be the small difference of large numbers
        d_y, d_total = (force * soft)[:-1], force[-1]
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
