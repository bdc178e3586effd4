"""Logistic and Poisson regression: the score ``sum x (y - mean(x b))`` is a linear function of tables, for every b.

X'y is made of tables of pairs, as in least squares. ``sum x mean(x b)`` is a function of the table of all predictors. Both are
estimated without bias, so the score has expectation zero at the b that solves the score of the people themselves. Cells of the
table may be negative, and then the likelihood need not be concave. It is climbed from the fit without predictors, and the end
must be a maximum: the information there is positive definite.
"""

from __future__ import annotations

import numpy as np

from ..._blocks import Counts
from ..._errors import InputError
from ..._progress import Progress
from ..simplex import nearest
from .design import Design, spread
from .families import FARTHEST, Family
from .rows import Parts, Rows, add
from .solution import Solution, check_room, inverted

MOST_STEPS = 200
EXACT = 1e-22
"""Of the distance to the maximum, in log-likelihood per person: coefficients are then good to 1e-11 of a standard deviation."""
LONGEST = 3.0
"""No step changes a linear predictor by more: exp(3) is a factor of 20."""
CLOSE = 1e-16
"""Where no step improves any more because of rounding, this is close enough."""


def maximum(rows: Rows, design: Design, family: Family, progress: Progress) -> Solution:
    """The coefficients that solve the unbiased score, and what their errors follow from."""
    base = frozenset(design.base)
    names = rows.ordered(design.predictors | base)
    p = len(design.columns)
    check_room(rows, names, 2 * p)
    progress("tables", 0.0)
    x = design.written(range(p), rows, names).reshape(p, -1)
    people = (rows.people(names) * spread(design.base, names)).ravel()
    sums = np.zeros(p)
    for attributes, places in design.groups.items():
        pair = rows.ordered(attributes | frozenset(design.response) | base)
        check_room(rows, pair, len(places) + 1)
        table = rows.people(pair) * spread(design.base, pair) * spread(design.response, pair)
        sums[places] = (design.written(places, rows, pair) * table).reshape(len(places), -1).sum(1)
    own = rows.ordered(frozenset(design.response) | base)
    counted = rows.people(own) * spread(design.base, own)
    mean = float((counted * spread(design.response, own)).sum() / max(float(counted.sum()), 1e-300))
    climb = _Climb(x, people, sums, family, design, family.link(mean))
    b = climb.run(progress)
    eta = b @ x
    information = climb.information(b)
    inverse = inverted(information, design)
    shape, weights = rows.shape(names), spread(design.base, names)
    moves: Parts = {names: -(inverse @ x * family.mean(eta)).reshape(p, *shape) * weights}
    for attributes, places in design.groups.items():
        pair = rows.ordered(attributes | frozenset(design.response) | base)
        check_room(rows, pair, p)
        written = np.tensordot(inverse[:, places], design.written(places, rows, pair), 1)
        add(moves, pair, written * spread(design.response, pair) * spread(design.base, pair))
    residuals = (inverse / np.diag(inverse)[:, None]) @ x
    strengths = {names: (residuals**2 * family.slope(eta)).reshape(p, *shape) * weights}
    return Solution(b, information, moves, strengths)


class _Climb:
    """Newton's method on the log-likelihood, with steps that never lead down."""

    def __init__(self, x: Counts, people: Counts, sums: Counts, family: Family, design: Design, centre: float) -> None:
        self.x, self.people, self.sums, self.family, self.design = x, people, sums, family, design
        self.centre = centre  # the linear predictor of the mean of all people
        self.total = float(people.sum())
        if not self.total > 0:
            raise InputError("Nobody is left to fit: people without a value in some column are left out.")
        self.possible = nearest(people, self.total, np.ones(people.shape, bool))

    def height(self, b: Counts) -> float:
        return float(b @ self.sums - self.people @ self.family.integral(b @ self.x))

    def information(self, b: Counts, people: Counts | None = None) -> Counts:
        weights = (self.people if people is None else people) * self.family.slope(b @ self.x)
        return np.asarray((self.x * weights) @ self.x.T)

    def run(self, progress: Progress) -> Counts:
        b = self._start()
        inverted(self.information(b), self.design)  # refuses what is hopeless, with a sentence
        for number in range(MOST_STEPS):
            progress("fitting", min(number / 20, 0.99))
            score = self.sums - self.x @ (self.people * self.family.mean(b @ self.x))
            step = self._step(b, score)
            step = step / max(float(np.abs(step @ self.x).max()) / LONGEST, 1.0)
            rise = float(score @ step) / self.total
            if rise < EXACT:
                return b
            moved = self._longest(b, step)
            if moved is None:
                if rise < CLOSE:
                    return b
                break
            b = moved
            if self._far(b):
                break
        if self._far(b):
            raise InputError(
                "The coefficients run to infinity: in some group of people all responses seem to be the same, "
                "perhaps by noise alone. Leave out a predictor, put labels together, as in name in ('a', 'b'), or ask for a "
                "linear regression of the same response."
            )
        raise InputError(
            "No coefficients solve the equations: the table of the predictors is too noisy. Ask with fewer predictors, or "
            "put labels together, as in name in ('a', 'b')."
        )

    def _far(self, b: Counts) -> bool:
        """Whether the means of some people are as good as those at infinity."""
        return bool((np.abs(b @ self.x - self.centre)[self.possible > 0] > FARTHEST).any())

    def _start(self) -> Counts:
        """Without predictors: the link of the mean if there is a constant, else zero."""
        b = np.zeros(len(self.x))
        places = [place for place, column in enumerate(self.design.columns) if not column.factors]
        if places:
            b[places[0]] = self.centre
        return b

    def _step(self, b: Counts, score: Counts) -> Counts:
        """Newton's step; where the likelihood is not concave, that of the nearest table without negative cells."""
        for people in (self.people, self.possible):
            information = self.information(b, people)
            scale = np.sqrt(np.maximum(np.diag(information), 1e-12 * self.total))
            values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
            if values[0] > 1e-12:
                break
        values = np.maximum(values, 1e-6) if values[0] <= 1e-12 else values
        return np.asarray(vectors @ ((vectors.T @ (score / scale)) / values) / scale)

    def _longest(self, b: Counts, step: Counts) -> Counts | None:
        """The first of the step, its half, its quarter ... that does not lead down; None if there is none."""
        height, length = self.height(b), 1.0
        for _ in range(40):
            moved = b + length * step
            reached = self.height(moved)
            if np.isfinite(reached) and reached >= height - 1e-13 * abs(height):
                return moved
            length /= 2
        return None
