"""Least squares from tables of pairs: X'X and X'y are sums over people of products of two columns.

A product depends on the attributes of both columns and on no other. So each block of X'X is a linear function of one small
reconstructed table, and the table of all attributes is never made.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..._blocks import Counts
from ..._progress import Progress
from .design import Design, spread
from .rows import Names, Parts, Rows, add
from .solution import Solution, check_room, inverted


def least_squares(rows: Rows, design: Design, progress: Progress) -> Solution:
    """The coefficients that solve X'X b = X'y, and what their errors follow from."""
    pairs = _Pairs(rows, design)
    moments = pairs.moments(progress)
    p = len(design.columns)
    information = moments[:p, :p]
    inverse = inverted(information, design)
    coefficients = inverse @ moments[:p, p]
    coefficients = coefficients + inverse @ (
        moments[:p, p] - information @ coefficients
    )  # rounding errors of the inverse
    padded = np.hstack([inverse, np.zeros((p, 1))])
    residual = np.append(-coefficients, 1.0)
    fit = pairs.products(residual[None], residual[None])
    return Solution(
        coefficients,
        information,
        moves=pairs.products(padded, np.tile(residual, (p, 1))),
        strengths=pairs.products(padded / np.diag(inverse)[:, None], padded / np.diag(inverse)[:, None]),
        fit={names: np.concatenate([weights, np.zeros_like(weights)]) for names, weights in fit.items()}
        | _deviations(rows, design, fit),
    )


def _deviations(rows: Rows, design: Design, fit: Parts) -> Parts:
    """The squared deviations of the response, beside the squared residuals on the same attributes."""
    names = rows.ordered(frozenset(design.response) | frozenset(design.base))
    base, response = (spread(factors, names) for factors in (design.base, design.response))
    people = rows.people(names) * base
    mean = float((people * response).sum() / people.sum()) if design.constant else 0.0
    deviations = np.broadcast_to((response - mean) ** 2 * base, rows.shape(names))[None]
    squares = fit.get(names, np.zeros_like(deviations))
    return {names: np.concatenate([squares, deviations])}


class _Pairs:
    """All pairs of groups of columns; the response is one more column, the last."""

    def __init__(self, rows: Rows, design: Design) -> None:
        self._rows, self._design = rows, design
        self._groups = [*design.groups.items(), (frozenset(design.response), [len(design.columns)])]
        self._size = len(design.columns) + 1

    def _each(self) -> Iterator[tuple[Names, Counts, list[int], Counts, list[int], Counts]]:
        """The attributes of a pair, the base on them, and both groups: places and columns written out."""
        base = self._design.base
        for (first, i), (second, j) in itertools.combinations_with_replacement(self._groups, 2):
            names = self._rows.ordered(first | second | frozenset(base))
            check_room(self._rows, names, len(i) + len(j))
            yield names, spread(base, names), i, self._written(i, names), j, self._written(j, names)

    def _written(self, places: list[int], names: Names) -> Counts:
        if places == [self._size - 1]:
            response = spread(self._design.response, names)
            return np.broadcast_to(response, self._rows.shape(names))[None]
        return self._design.written(places, self._rows, names)

    def moments(self, progress: Progress) -> Counts:
        """The sums over people of the products of all pairs of columns."""
        result = np.zeros((self._size, self._size))
        steps = len(self._groups) * (len(self._groups) + 1) // 2
        for done, (names, base, i, left, j, right) in enumerate(self._each()):
            people = (self._rows.people(names) * base).ravel()
            block = (left.reshape(len(i), -1) * people) @ right.reshape(len(j), -1).T
            result[np.ix_(i, j)], result[np.ix_(j, i)] = block, block.T
            progress("tables", (done + 1) / steps)
        return result

    def products(self, left: Counts, right: Counts) -> Parts:
        """The functions ``(left_k z)(right_k z)``, z the columns: as a sum over pairs."""
        parts: Parts = {}
        for names, base, i, zi, j, zj in self._each():
            check_room(self._rows, names, len(left))
            pairs = [(i, zi, j, zj)] if i == j else [(i, zi, j, zj), (j, zj, i, zi)]
            for a, za, b, zb in pairs:
                if left[:, a].any() and right[:, b].any():
                    product = np.tensordot(left[:, a], za, 1) * np.tensordot(right[:, b], zb, 1)
                    add(parts, names, product * base)
        return parts
