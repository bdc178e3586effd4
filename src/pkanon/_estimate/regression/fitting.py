"""A fitted regression: coefficients with their covariance, intervals and tests (docs/why/theory.md 7).

A released row adds ``B psi`` to the coefficients, to first order. Rows are independent, so an estimate of their covariance is

    population   m/(m - p) sum_i w_i^2 (B psi)_i (B psi)_i^T         m people, p coefficients
    table        the same less sum_u x_hat_u psi_u psi_u^T: what the private table fixes

The first is the robust (sandwich) covariance of survey statistics; without randomisation it is HC1. The second needs tables of
up to four terms. Where these say too little, the first is used, which is larger.

A coefficient is a quotient: its denominator q_j is how much the column varies beside all others. Where q_j has fewer than
SURE standard errors, plus or minus z standard errors is not honest. The interval is then Fieller's, and the test is the
score's. Below LEAST standard errors nothing is said.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._errors import InputError
from ..._progress import Progress, quiet
from ..interval import normal_quantile, ratio, wald
from .design import Design, spread
from .families import LINEAR, Family
from .least_squares import least_squares
from .likelihood import maximum
from .rows import Parts, Rows, add
from .solution import MOST_NUMBERS, Solution

SURE = 10.0
"""Standard errors of a denominator: at 95% Fieller's interval is then wider than the plain one by 2 to 4%."""
WEAK = 4.0
"""Below this many a coefficient is flagged, as small groups are."""
LEAST = 2.0
"""Below this many a 95% interval would have no end."""
KNOWN = 0.2
"""What the table fixes is subtracted if it is known to this share of the variance."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients and their covariance, in the order of the columns; ``people`` is how many were counted, estimated.

    ``strengths`` are the denominators q in their standard errors, ``mixed`` the correlations of numerators and denominators.
    ``r_squared`` has its standard error beside it. ``fixed``: errors about the table are without what the table fixes.
    """

    coefficients: Counts
    covariance: Counts
    people: float
    strengths: Counts
    mixed: Counts
    r_squared: tuple[float, float] | None
    fixed: bool

    @cached_property
    def standard_errors(self) -> Counts:
        """Of each coefficient."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Columns that hardly vary beside the others."""
        return self.strengths < WEAK

    def limits(self, level: float) -> tuple[Counts, Counts]:
        """(low, high) of each coefficient; infinite where the level asks for more than is known."""
        low, high = wald(self.coefficients, self.standard_errors, level)
        unsure = np.flatnonzero(self.strengths < SURE)
        if len(unsure):
            z = normal_quantile(level)
            numerator, denominator = z * self.standard_errors[unsure], self.strengths[unsure]
            zero = np.zeros(len(unsure))
            # distances from the coefficient, in units of q: numerator 0, denominator q
            below, above, bounded = ratio(
                zero,
                (-numerator, numerator),
                np.ones(len(unsure)),
                (1 - z / denominator, 1 + z / denominator),
                self.mixed[unsure],
            )
            low[unsure] = np.where(bounded, self.coefficients[unsure] + below, -np.inf)
            high[unsure] = np.where(bounded, self.coefficients[unsure] + above, np.inf)
        return low, high

    @cached_property
    def statistics(self) -> Counts:
        """z of each coefficient against zero: over its standard error, or the score where the interval is Fieller's."""
        errors = self.standard_errors
        spread = 1 / self.strengths
        score = errors**2 + 2 * self.coefficients * self.mixed * errors * spread + (self.coefficients * spread) ** 2
        variance = np.where(self.strengths < SURE, score, errors**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.coefficients / np.sqrt(variance))

    @cached_property
    def p_values(self) -> Counts:
        """Of the test that each coefficient is zero."""
        return np.array([math.erfc(abs(z) / math.sqrt(2)) if z == z else math.nan for z in self.statistics])

    def wald_test(self, directions: Counts, null: Counts | float = 0.0) -> tuple[float, int, float]:
        """(chi-square, degrees of freedom, p-value) of ``directions @ coefficients = null``."""
        from scipy.special import chdtrc

        distance = directions @ self.coefficients - null
        covariance = directions @ self.covariance @ directions.T
        scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
        values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
        found = values > 1e-10 * max(float(values[-1]), 1e-300)
        along = vectors.T @ (distance / scale)
        square, freedom = float((along[found] ** 2 / values[found]).sum()), int(found.sum())
        return square, freedom, float(chdtrc(freedom, square)) if freedom else math.nan


def fit(rows: Rows, design: Design, family: Family, *, about: str, progress: Progress = quiet) -> Fitted:
    """Fit a regression and its errors; refused with a sentence where coefficients cannot be known."""
    mask = rows.ordered(frozenset(design.mask))
    people = float((rows.people(mask, 0) * spread(design.mask, mask)).sum())
    p = len(design.columns)
    if not people > p:
        raise InputError(f"{p} coefficients need more than {p} people; about {max(people, 0):,.0f} can be counted.")
    solution = least_squares(rows, design, progress) if family is LINEAR else maximum(rows, design, family, progress)
    parts = _stacked(solution)
    products = rows.products(parts, progress=progress)
    strengths, mixed = _strengths(rows, parts, products, solution.information)
    _check_strengths(design, strengths)
    factor = people / (people - p)
    spreads = products[:p, :p] * factor
    fixed = None if about == "population" else _fixed(rows, solution.moves, np.diag(products)[:p], progress)
    covariance = spreads if fixed is None else _less(products[:p, :p], fixed)
    return Fitted(
        solution.coefficients,
        covariance if covariance is not None else spreads,
        people,
        strengths,
        mixed,
        _r_squared(rows, solution, products[2 * p :, 2 * p :]),
        fixed is not None and covariance is not None,
    )


def _stacked(solution: Solution) -> Parts:
    """All functions of a solution, one after another: moves, strengths, fit."""
    several = [part for part in (solution.moves, solution.strengths, solution.fit) if part is not None]
    sizes = [len(next(iter(part.values()))) for part in several]
    stacked: Parts = {}
    for part, start in zip(several, itertools.accumulate(sizes, initial=0)):
        for names, weights in part.items():
            room = np.zeros((sum(sizes), *weights.shape[1:]))
            room[start : start + len(weights)] = weights
            add(stacked, names, room)
    return stacked


def _strengths(rows: Rows, parts: Parts, products: Counts, information: Counts) -> tuple[Counts, Counts]:
    """The denominators q in their standard errors, and their correlations with the numerators.

    Errors of the randomisation alone: how the columns of a sample vary does not matter. They are computed where those with
    sampling, which are larger, leave a doubt.
    """
    p = len(information)
    q = 1 / np.diag(np.linalg.inv(information))
    variances = np.diag(products)[p : 2 * p] - q**2 / rows.number
    together = np.diag(products[:p, p : 2 * p]).copy()
    unsure = np.flatnonzero(q**2 < SURE**2 * variances)
    if len(unsure):
        chosen = np.concatenate([unsure, p + unsure])
        some = {names: weights[chosen] for names, weights in parts.items() if weights[chosen].any()}
        if _have_room(rows, some):
            fixed, squares = rows.fixed(some)
            half, size = len(unsure), np.diag(products)[p + unsure]
            errors = np.sqrt(np.diag(rows.products(squares, power=4)))[half:]
            known = errors <= KNOWN * size
            rest = size - np.diag(fixed)[half:]
            rest = np.where(rest > 1e-9 * size, rest, 0.0)  # the rest is rounding error
            variances[unsure] = np.where(known, rest, variances[unsure])
            together[unsure] -= np.where(known, np.diag(fixed[:half, half:]), 0.0)
    scale = np.sqrt(np.maximum(np.diag(products)[:p] * variances, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        strengths = np.where(variances > 0, q / np.sqrt(np.maximum(variances, 0.0)), np.inf)
        mixed = np.where(scale > 0, np.clip(together / scale, -1.0, 1.0), 0.0)
    return strengths, mixed


def _have_room(rows: Rows, parts: Parts) -> bool:
    """Whether the tables of all pairs of parts can be written out."""
    functions = len(next(iter(parts.values())))
    pairs = (rows.ordered({*first, *second}) for first, second in itertools.combinations_with_replacement(parts, 2))
    return all(functions * math.prod(rows.sizes(names)) <= MOST_NUMBERS for names in pairs)


def _check_strengths(design: Design, strengths: Counts) -> None:
    weakest = int(np.argmin(strengths))
    if strengths[weakest] < LEAST:
        column = design.columns[weakest]
        instead = (
            "Leave it out, ask with fewer predictors, or put labels together, as in name in ('a', 'b')."
            if column.factors
            else "Few people may have all reference labels: choose others, as in C(name, ref='label'), or ask with fewer predictors."
        )
        raise InputError(
            f"The coefficient of {column.name} cannot be known: what sets it apart from the other predictors "
            f"is {strengths[weakest]:.1f} times its own standard error, and {LEAST:g} are the least. {instead}"
        )


def _fixed(rows: Rows, moves: Parts, variances: Counts, progress: Progress) -> Counts | None:
    """What the table fixes of the covariance; None if it is too uncertain, or its tables are too large."""
    if not _have_room(rows, moves):
        return None
    total, squares = rows.fixed(moves, progress)
    errors = np.sqrt(np.diag(rows.products(squares, power=4)))
    return total if (errors <= KNOWN * variances).all() else None


def _less(products: Counts, fixed: Counts) -> Counts | None:
    """The covariance without what the table fixes; None if the rest is not positive, and not rounding error either."""
    scale = np.sqrt(np.maximum(np.diag(products), 1e-300))
    rest = (products - fixed) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(rest)
    if values[0] < -1e-9:
        return None
    values = np.where(values < 1e-9, 0.0, values)  # everything is kept along these: known exactly
    return np.asarray((vectors * values) @ vectors.T * np.outer(scale, scale))


def _r_squared(rows: Rows, solution: Solution, products: Counts) -> tuple[float, float] | None:
    """The share of the variance of the response that is explained, with its standard error."""
    if solution.fit is None:
        return None
    residuals, deviations = rows.total(solution.fit)
    if not deviations > 0:
        return None
    left = float(residuals / deviations)
    slope = np.array([1.0, -left]) / deviations  # the coefficients make the residuals least, so they do not matter
    return 1 - left, math.sqrt(max(float(slope @ products @ slope), 0.0))
