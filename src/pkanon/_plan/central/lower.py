"""A lower bound on the central eps: what two neighbouring tables certainly give away (docs/why/theory.md 9).

One person has the value u or v; everybody else has a value x as far from both as can be. Each released row is given a
whole number, and only the sum of these numbers modulo N is looked at. A function of the release cannot reveal more than
the release, so ``sum over d of (P_u(d) - e^eps P_v(d))_+`` is at most the true delta(eps), whatever the numbers are. Good
ones are close to the likelihood ratio of one row. The law of the sum is the Fourier transform of a product; what wraps
around modulo N belongs to the statistic and needs no bound. Rounding errors are taken off.

With two values x cannot differ from both u and v: half of the other people have u there, half have v.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Agreement, Block, Matrix, Retention, agreeing_cells

Vector = NDArray[np.float64]

LARGEST_CLASSES = 4**8
_LARGEST_PERIOD = 2**19
_WIDTH = 18
"""The period of the sum, in standard deviations."""
_LEVELS = (1, 2, 3, 4, 6, 8, 12, 16)
"""How many whole numbers the largest score of a row may be."""


def central_lower(blocks: Sequence[Block], records: int, delta: float) -> float:
    """An eps at which delta is too small for two neighbouring tables; 0 if nothing is known."""
    classes = math.prod(4 ** len(b.units) if not isinstance(b, Matrix) else b.unit.size for b in blocks)
    if classes > LARGEST_CLASSES:
        return 0.0
    rows = reduce(_product, map(_rows, blocks))
    rows = rows[:, rows.any(axis=0)]
    if np.allclose(rows[0], rows[1], rtol=1e-9, atol=0):
        return 0.0
    best = 0.0
    for _ in range(2):  # first with the scores for eps = 0, then with those for the eps found
        with_u, with_v, error = _laws(rows, records, best)
        best = max(best, _largest(with_u, with_v, error, delta))
    return best


def _product(first: Vector, second: Vector) -> Vector:
    return np.asarray((first[:, :, None] * second[:, None, :]).reshape(4, -1))


def _rows(block: Block) -> Vector:
    """The law of a released row, in classes, for four private values: u, v and the two kinds of everybody else."""
    if isinstance(block, Matrix):
        return _matrix_rows(block)
    # Per unit the classes u, v, x and everything else, and how many values each has; x takes class 2 if there is one.
    counts = [[1, 1, min(unit.size - 2, 1), max(unit.size - 3, 0)] for unit in block.units]
    codes = np.indices([4] * len(block.units)).reshape(len(block.units), -1)
    cells = np.prod([np.array(count, float)[code] for count, code in zip(counts, codes)], axis=0)
    private = [[row] * len(counts) for row in (0, 1)]
    others = [[2 if count[2] else row for count in counts] for row in (0, 1)]
    chances = _cell_chances(block)
    rows = []
    for values in (*private, *others):
        masks = sum((code == value).astype(int) << bit for bit, (code, value) in enumerate(zip(codes, values)))
        rows.append(chances[masks] * cells)
    return np.array(rows)


def _cell_chances(block: Block) -> Vector:
    """The probability of each cell, by the set of units on which it agrees with the private value."""
    if isinstance(block, Retention):
        return np.array([block.replace, 2**block.width - (block.unit.size - 1) * block.replace]) / 2.0**block.width
    assert isinstance(block, Agreement)
    cells = agreeing_cells(block.units)
    return np.array([count / n / 2**block.width for count, n in zip(block.sets, cells)])


def _matrix_rows(block: Matrix) -> Vector:
    """The two rows that differ most, and the row under which that shows best."""
    dense = block.as_matrix()
    dense = dense[:, dense.any(axis=0)]
    floor = np.maximum(dense.min(axis=0), 1e-9)
    distance = [[float(((a - b) ** 2 / floor).sum()) for b in dense] for a in dense]
    u, v = np.unravel_index(int(np.argmax(distance)), (len(dense), len(dense)))
    x = int(np.argmax(((dense[u] - dense[v]) ** 2 / np.maximum(dense, 1e-9)).sum(axis=1)))
    return dense[[int(u), int(v), x, x]]


def _laws(rows: Vector, records: int, epsilon: float) -> tuple[Vector, Vector, float]:
    """The laws of the sum with u and with v, and a bound on the errors of all their entries together."""
    with_u, with_v, *others = rows
    background = (others[0] + others[1]) / 2
    score = (with_u - math.exp(epsilon) * with_v) / np.maximum(background, 1e-9)
    score = np.clip(score - background @ score, *_reach(score, background))
    numbers, period = _whole_numbers(score, background, records)
    shares = [(records - 1) // 2, records - 1 - (records - 1) // 2]
    # The sum is centred: a turn of the circle, so that phases stay small.
    centre = round(sum(share * float(law @ numbers) for share, law in zip(shares, others)))
    values, where = np.unique(numbers, return_inverse=True)
    merged = [np.bincount(where, law, len(values)) for law in rows]
    theta = 2 * math.pi / period * np.arange(period // 2 + 1)
    exponent, angle = np.zeros(len(theta)), np.zeros(len(theta))
    u, v = np.zeros(len(theta), complex), np.zeros(len(theta), complex)
    step = max(1, 2**20 // len(values))
    for start in range(0, len(theta), step):
        part = slice(start, start + step)
        half = np.multiply.outer(theta[part] / 2, values)
        sine, cosine = np.sin(half), np.cos(half)
        for share, law in zip(shares, merged[2:]):
            real, imaginary = -2 * (sine**2 @ law), 2 * ((sine * cosine) @ law)
            exponent[part] += share / 2 * np.log1p(np.maximum(real * (2 + real) + imaginary**2, -1 + 1e-16))
            angle[part] += share * np.arctan2(imaginary, 1 + real)
        wave = (cosine + 1j * sine) ** 2
        u[part], v[part] = wave @ merged[0], wave @ merged[1]
    angle -= theta * centre
    common = np.exp(exponent - 1j * angle)  # the transform of numpy has the opposite sign
    total = float(np.exp(exponent).sum())
    # An angle sums n parts of up to theta |number| and is off by some last bits of that. Exponents matter down to -50,
    # and their parts are hardly larger. Fourier transforms are off by some last bits of their input, per halving.
    size = max(float(law @ np.abs(values)) for law in merged[2:])
    wobble = float(np.minimum(32 * 2.0**-53 * (500 + records * theta * size), 2.0) @ np.exp(exponent))
    error = 2 * wobble + 64 * 2.0**-53 * math.log2(period) * (1 + total)
    return np.fft.irfft(common * u.conj(), period), np.fft.irfft(common * v.conj(), period), error


def _reach(score: Vector, background: Vector) -> tuple[float, float]:
    """Where scores are cut off: beyond it are rows too rare to matter, which would spoil the whole numbers."""
    limit = 20 * math.sqrt(float(background @ (score - background @ score) ** 2)) + 1e-300
    return -limit, limit


def _whole_numbers(score: Vector, background: Vector, records: int) -> tuple[NDArray[np.int64], int]:
    """Whole numbers nearly proportional to the scores, and a period that holds their sum."""
    best, result = -1.0, (np.zeros(len(score), np.int64), 64)
    for levels in _LEVELS:
        numbers = np.rint(score * (levels / np.abs(score).max())).astype(np.int64)
        centred = numbers - background @ numbers
        variance = float(background @ centred**2)
        period = 2 ** math.ceil(math.log2(max(64.0, _WIDTH * math.sqrt(records * variance), 4.0 * levels)))
        if variance == 0 or (period > _LARGEST_PERIOD and best >= 0):
            continue
        closeness = float(background @ (centred * score)) ** 2 / variance
        if closeness > best * 1.001:
            best, result = closeness, (numbers, min(period, _LARGEST_PERIOD))
    return result


def _largest(with_u: Vector, with_v: Vector, error: float, delta: float) -> float:
    """The largest eps whose delta is certainly above ``delta``, in either direction."""

    def reached(epsilon: float) -> float:
        factor = math.exp(epsilon)
        both = (np.maximum(p - factor * q, 0).sum() for p, q in ((with_u, with_v), (with_v, with_u)))
        return float(max(both)) - (1 + factor) * error

    if reached(0.0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while reached(high) > delta and high < 500:
        low, high = high, 2 * high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) > delta else (low, middle)
    return low * (1 - 1e-12)
