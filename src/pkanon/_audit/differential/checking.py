"""The checks of an audit: what is run, what is counted, and when a check fails.

A check fails if what was seen has, with a correct pipeline, a probability of at most its share of the false-alarm
rate. Every test is exact, and a check of several tests divides its share by their number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._plan import Plan
from ..._progress import Progress
from ..._schema import Codes
from .law import Comparison, Record, Scores, law, of_two
from .tables import Pipeline
from .tails import binomial_tails, drawn_tail, epsilon_below, paired_tail

MOST_CELLS = 2**14
"""Tables with more cells are not compared: too few rows would fall into each."""
MOST_RECORDS = 16
LEAST_SHARE = 0.1
"""Of all runs, for the table that needs fewer of them."""
TENTHS = 10


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
    about = f"{len(first):,} rows of one record against {len(second):,} rows of another"
    return _epsilon_check("epsilon of a row", (hits[0], len(first), hits[1], len(second)), claimed, errors, about)


def _epsilon_check(name: str, seen: tuple[int, int, int, int], claimed: float, errors: Errors, about: str) -> Check:
    first, first_runs, second, second_runs = seen
    measured = None
    if first and second:
        measured = math.log(first / first_runs) - math.log(second / second_runs)
    beyond = bool(epsilon_below(*seen, errors.alarm) > claimed)
    return Check(name, claimed, measured, float(epsilon_below(*seen, errors.bound)), None, not beyond, about)


def transitions(
    plan: Plan, pipeline: Pipeline, compared: Comparison, large: LargeReleases, rows: int, errors: Errors, progress: Progress
) -> Check:  # fmt: skip
    """How often each record becomes each other one: every table of one or two attributes, and of all if it is small."""
    schema = pipeline.plan.schema
    names = [attribute.name for attribute in schema.attributes]
    tables = [chosen for count in sorted({1, 2, len(names)}) for chosen in itertools.combinations(names, count)]
    tables = [table for table in tables if math.prod(schema.attribute(name).size for name in table) <= MOST_CELLS]
    worst, where, tests = 1.0, (math.nan, math.nan), 0
    others = list(_records(plan))
    released = [(compared.first, large.first), (compared.second, large.second), *((other, None) for other in others)]
    for done, (record, ready) in enumerate(released):
        codes = pipeline.release([(record, rows)]) if ready is None else ready
        laws = [law(block, record) for block in plan.blocks]
        for table in tables:
            shares = np.clip(_marginal(plan, laws, table), 0.0, 1.0)
            cells = np.ravel_multi_index([codes[name] for name in table], shares.shape)
            counts = np.bincount(cells, minlength=shares.size)
            chances = binomial_tails(counts, len(cells), shares.ravel())
            tests += len(chances)
            place = int(chances.argmin())
            if chances[place] < worst or math.isnan(where[0]):
                worst, where = float(chances[place]), (float(shares.flat[place]), float(counts[place] / len(cells)))
        progress("large tables", (done + 1) / len(released))
    chance = min(1.0, worst * tests)
    about = f"{tests:,} cells from {len(released)} records; the one that is furthest off"
    return Check("transition probabilities", *where, None, chance, chance > errors.alarm, about)


def _records(plan: Plan) -> Iterator[Record]:
    """Records in which every value of every unit occurs, or the first MOST_RECORDS of them."""
    for number in range(min(max(unit.size for unit in plan.units), MOST_RECORDS)):
        record: Record = {}
        for unit in plan.units:
            columns = unit.split(np.array([number % unit.size], np.uint32))
            record |= {name: int(column[0]) for name, column in zip(unit.attributes, columns)}
        yield record


def _marginal(plan: Plan, laws: list[NDArray[np.float64]], table: tuple[str, ...]) -> NDArray[np.float64]:
    """The law of some attributes, one axis each: blocks are independent."""
    result, order = np.ones(()), []
    for block, own in zip(plan.blocks, laws):
        dropped = tuple(axis for axis, name in enumerate(block.attributes) if name not in table)
        result = np.multiply.outer(result, own.sum(axis=dropped))
        order += [name for name in block.attributes if name in table]
    return np.transpose(result, [order.index(name) for name in table])


def large_order(compared: Comparison, pipeline: Pipeline, rows: int, errors: Errors) -> Check:
    """A table of two halves: rows that look like those of the first half must lie anywhere, alone and in pairs."""
    half = rows // 2
    codes = pipeline.release([(compared.first, half), (compared.second, half)])
    marks = compared.score(codes) > 0
    marked = int(marks.sum())
    tenth = len(marks) // TENTHS
    found = [int(marks[i * tenth : (i + 1) * tenth].sum()) for i in range(TENTHS)]
    chances = [drawn_tail(count, len(marks), marked, tenth) for count in found]
    pairs = marks[: len(marks) // 2 * 2].reshape(-1, 2)
    chances.append(paired_tail(int(pairs.all(axis=1).sum()), len(pairs), int(pairs.sum())))
    chance = min(1.0, min(chances) * len(chances))
    share = int(marks[: len(marks) // 2].sum()) / marked if marked else math.nan
    about = f"{len(marks):,} rows, two records one after the other: how many of the first kind come first"
    return Check("order of a large table", 0.5, share, None, chance, chance > errors.alarm, about)


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


def small_order(compared: Comparison, small: SmallReleases, errors: Errors) -> Check:
    """Two rows that differ: does the first one stay first?"""
    marks = small.second > 0  # rows that look like the record which was put second
    swapped, kept = int((marks[:, 0] & ~marks[:, 1]).sum()), int((~marks[:, 0] & marks[:, 1]).sum())
    one = compared.scores
    likely, unlikely = (float(law[one.values > 0].sum()) for law in (one.first, one.second))
    stays, goes = likely * (1 - unlikely), unlikely * (1 - likely)  # kept : swapped, if nothing moves
    measured = math.nan
    if kept + swapped and stays > goes:
        measured = (kept / (kept + swapped) * (stays + goes) - goes) / (stays - goes)
    chance = float(binomial_tails(np.array(kept), kept + swapped, np.array(0.5))) if kept + swapped else 1.0
    about = f"{len(small.second):,} releases of a table of two rows: how often the first person's row comes first"
    measured = measured if math.isnan(measured) else min(max(measured, 0.0), 1.0)
    return Check("order of two rows", 0.5, measured, None, chance, chance > errors.alarm, about)


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
