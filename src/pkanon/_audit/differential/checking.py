"""What a check is and when it fails; and the checks that bound epsilon.

A check fails if what was seen has, with a correct pipeline, a probability of at most its share of the false-alarm
rate. The tail of every test is exact or a proven bound from above, and a check of several tests divides its share by
their number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._progress import Progress
from ..._schema import Codes
from .law import Comparison, Scores, of_two
from .tables import Pipeline
from .tails import epsilon_below

LEAST_SHARE = 0.1
"""Of all runs, for the table that needs fewer of them."""


@dataclass(frozen=True)
class Check:
    """One check: what is claimed, what was measured, and whether the claim stands.

    Of a plan that claims nothing, ``claimed`` is what its integers would give.
    ``lower`` is a bound from below on epsilon, None in checks of something else; all of an audit's bounds hold together with
    the confidence that was asked for. The other checks have a ``chance``: how probable something like this is with a correct
    pipeline, at most. ``about`` says what was compared.
    """

    name: str
    claimed: float | None
    measured: float | None
    lower: float | None
    chance: float | None
    passed: bool
    about: str


@dataclass(frozen=True)
class Errors:
    """``bound``: of a bound that is stated; ``alarm``: of a verdict against a correct pipeline, for one check."""

    bound: float
    alarm: float


@dataclass(frozen=True)
class LargeReleases:
    """The released codes of two large tables, of the record u alone and of the record v alone."""

    first: Mapping[str, Codes]
    second: Mapping[str, Codes]


def large_releases(compared: Comparison, pipeline: Pipeline, rows: int) -> LargeReleases:
    """Two tables of one record repeated: every row is an independent draw of what happens to one record."""
    return LargeReleases(pipeline.release([(compared.first, rows)]), pipeline.release([(compared.second, rows)]))


def row_epsilon(compared: Comparison, large: LargeReleases, claimed: float, errors: Errors) -> Check:
    """One record against another, draw by draw."""
    first, second = compared.score(large.first), compared.score(large.second)
    limit = _best_limit(compared.scores, len(first), len(second), errors.bound)
    hits = int((first >= limit).sum()), int((second >= limit).sum())
    about = (
        f'{len(first):,} rows of one record against {len(second):,} rows of another; measured scatters, and only an "at least" '
        "above the plan's epsilon fails"
    )
    return _epsilon_check("epsilon of a row", (hits[0], len(first), hits[1], len(second)), claimed, errors, about)


def _epsilon_check(name: str, seen: tuple[int, int, int, int], claimed: float, errors: Errors, about: str) -> Check:
    first, first_runs, second, second_runs = seen
    measured = None
    if first and second:
        measured = math.log(first / first_runs) - math.log(second / second_runs)
    beyond = bool(epsilon_below(*seen, errors.alarm) > claimed)
    return Check(name, claimed, measured, float(epsilon_below(*seen, errors.bound)), None, not beyond, about)


@dataclass(frozen=True)
class SmallReleases:
    """Scores of many releases of two rows, one line each: of the tables (u, u) and (v, u)."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    limit: float


def small_releases(
    compared: Comparison, pipeline: Pipeline, runs: int, errors: Errors, progress: Progress
) -> SmallReleases:
    """Two neighbouring tables, each released many times. How often each, and the event, follow from the plan alone."""
    scores = compared.two_rows()
    limit, first_runs = _best_division(scores, runs, errors.bound)
    parts = [[(compared.first, 2)]] * first_runs + [[(compared.second, 1), (compared.first, 1)]] * (runs - first_runs)
    found = np.empty((runs, 2))
    for run, table in enumerate(parts):
        found[run] = compared.score(pipeline.release(table))
        progress("small tables", (run + 1) / runs)
    return SmallReleases(found[:first_runs], found[first_runs:], limit)


def whole_epsilon(small: SmallReleases, claimed: float, errors: Errors) -> Check:
    """Neighbouring tables of two rows: whole releases are compared, the order of their rows left out."""
    hits = [int((of_two(rows[:, 0], rows[:, 1]) >= small.limit).sum()) for rows in (small.first, small.second)]
    about = (
        f"{len(small.first):,} and {len(small.second):,} releases of two tables of two rows that differ in one record"
    )
    return _epsilon_check(
        "epsilon of a release", (hits[0], len(small.first), hits[1], len(small.second)), claimed, errors, about
    )


def _best_limit(scores: Scores, first_runs: int, second_runs: int, error: float) -> float:
    """The limit on scores that promises the highest bound, a little below the score itself."""
    bounds = _promised(scores, first_runs, second_runs, error)
    return float(scores.values[int(bounds.argmax())]) - 1e-6


def _promised(scores: Scores, first_runs: int, second_runs: int, error: float) -> NDArray[np.float64]:
    """The bound on eps for each limit, if everything happens as often as expected."""
    first = np.round(np.clip(np.cumsum(scores.first), 0, 1) * first_runs)
    second = np.round(np.clip(np.cumsum(scores.second), 0, 1) * second_runs)
    return epsilon_below(first, first_runs, second, second_runs, error)


def _best_division(scores: Scores, runs: int, error: float) -> tuple[float, int]:
    """The limit and the number of runs for the first table that promise the highest bound."""
    tried = [max(1, round(runs * share)) for share in np.linspace(LEAST_SHARE, 1 - LEAST_SHARE, 9)]
    bounds = [_promised(scores, first, runs - first, error) for first in tried]
    best = int(np.argmax([bound.max() for bound in bounds]))
    return float(scores.values[int(bounds[best].argmax())]) - 1e-6, tried[best]
