"""What the paper says about its figures, checked against the numbers of a run.

Every verdict is computed; the words "almost none" and "quite small" need a number to be checked, and the ones
chosen here are printed with the verdict. Statements of the paper are judged by its own design, equal-rho, with the
estimator that has the least error there (``best``), so that a correction is never the fault of a poor estimator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from ..document import number
from .measure import SPREAD

ALMOST_NONE = 0.05
"""An L1 error of 0.05: one person in forty is counted in a wrong cell."""
HIGH = 0.5
SMALL_STEP = 1.5
"""An increment is small if an attribute more, or ten times the k, multiplies the error by less than this."""
PREDICTED_WITHIN = 0.85, 1.05
PREDICTED_FROM = 24_583
"""Records from which the prediction is compared with what was measured; and there must be one for each cell."""


@dataclass(frozen=True)
class Statement:
    """What is said, of which figure, whether it held (None: these data cannot tell), and the numbers."""

    figure: int
    text: str
    holds: bool | None
    numbers: str

    @property
    def verdict(self) -> str:
        """In a word or two."""
        return {True: "confirmed", False: "corrected", None: "not checked"}[self.holds]


ALL = 2_458_285
"""Records of the paper's table."""

Line = list[tuple[int, float]]
"""(place on the axis, number), from left to right."""


def line(frame: pl.DataFrame, experiment: str, method: str, design: str = "equal-rho", field: str = "l1") -> Line:
    """One line of a figure; points without a number are left out."""
    part = frame.filter(
        (pl.col("experiment") == experiment) & (pl.col("design") == design) & (pl.col("method") == method)
    ).drop_nulls(field)
    return list(zip(part[experiment].to_list(), part[field].to_list()))


def statements(frame: pl.DataFrame) -> list[Statement]:
    """All of them, in the order of the figures."""
    return [*_records(frame), *_attributes(frame), *_k(frame), *_ours(frame)]


def _best(frame: pl.DataFrame, experiment: str) -> Line:
    """At each place the least error of the three estimators."""
    least: dict[int, float] = {}
    for method in ("inverse", "simplex", "em"):
        for place, value in line(frame, experiment, method):
            least[place] = min(value, least.get(place, math.inf))
    return sorted(least.items())


def _rises(values: Line, sign: int = 1) -> bool:
    return all(sign * (after[1] - before[1]) > 0 for before, after in pairwise(values))


def growth(before: tuple[int, float], after: tuple[int, float]) -> float:
    """By what the number is multiplied from one place to another; infinite from nothing."""
    return after[1] / before[1] if before[1] else math.inf


def _from_to(values: Line, unit: str) -> str:
    first, last = (
        f"{number(value)} at {unit.format(f'{place:,}')}".replace(" 1 attributes", " 1 attribute")
        for place, value in (values[0], values[-1])
    )
    return f"{first} to {last}"


def _methods_at(frame: pl.DataFrame, experiment: str, place: int) -> str:
    found = [(method, dict(line(frame, experiment, method)).get(place)) for method in ("inverse", "simplex", "em")]
    return ", ".join(f"{number(value)} with {method}" for method, value in found if value is not None)


def _records(frame: pl.DataFrame) -> list[Statement]:
    inverse, best = line(frame, "records", "inverse"), _best(frame, "records")
    epsilon = line(frame, "records", "inverse", field="epsilon")
    rho = line(frame, "records", "inverse", field="rho")
    fewest, most = best[0][0], best[-1][0]
    optimal = dict(line(frame, "records", "inverse", "optimal"))[most]
    wrong = number(50 * best[-1][1])
    return [
        Statement(
            1, "Errors become smaller as the record count increases.", _rises(inverse, -1) and _rises(best, -1),
            f"inverse: {_from_to(inverse, '{} records')}; best estimator: {_from_to(best, '{} records')}.",
        ),
        Statement(
            1, f"With only {fewest:,} records errors were quite high.", best[0][1] >= HIGH,
            f"{_methods_at(frame, 'records', fewest)}; checked: the least is at least {HIGH}. Above 1 nothing can be read.",
        ),
        Statement(
            1, f"There were almost no errors when all {ALL:,} records were used.",
            best[-1][1] < ALMOST_NONE if most == ALL else None,
            f"{_methods_at(frame, 'records', most)}, with {most:,} records; checked: the least is below {ALMOST_NONE} with "
            f"{ALL:,}. It means that {wrong}% of the "
            f"people are counted in a wrong cell; beside {number(inverse[0][1])} (inverse, {fewest:,} records) it looks like none. "
            f"The optimal design at the same k and epsilon: {number(optimal)} with inverse.",
        ),
        Statement(
            1, "Epsilon increases as the record count increases, at fixed k.", _rises(epsilon),
            f"{_from_to(epsilon, '{} records')}.",
        ),
        Statement(
            1, "That is because the retention probability rho increases with the record count.", _rises(rho),
            f"rho: {_from_to(rho, '{} records')}.",
        ),
    ]  # fmt: skip


def _attributes(frame: pl.DataFrame) -> list[Statement]:
    inverse, best = line(frame, "attributes", "inverse"), _best(frame, "attributes")
    epsilon = line(frame, "attributes", "inverse", field="epsilon")
    values = [value for _, value in epsilon]
    span = max(values) - min(values)
    steps = [growth(before, after) ** (1 / (after[0] - before[0])) for before, after in pairwise(best)]
    unreadable = next((place for place, value in inverse if value >= 1), None)
    limit = (
        ""
        if unreadable is None
        else f" From {unreadable} attributes on the inverse has an error of 1 or more: unreadable."
    )
    return [
        Statement(
            2, "Errors become larger as the number of attributes increases.", _rises(inverse) and _rises(best),
            f"inverse: {_from_to(inverse, '{} attributes')}; best estimator: {_from_to(best, '{} attributes')}.",
        ),
        Statement(
            2, "However, the increment is quite small.", max(steps) < SMALL_STEP,
            f"an attribute more multiplies the least error by {number(min(steps))} to {number(max(steps))}; checked: by less "
            f"than {SMALL_STEP}.{limit}",
        ),
        Statement(
            2, "Epsilon does not change with the number of attributes at fixed k (not in section 5; Theorem 2 implies it).", span < 1e-4,
            f"{number(min(values))} to {number(max(values))}, a difference of {span:.1e} by rounding to whole words.",
        ),
    ]  # fmt: skip


def _k(frame: pl.DataFrame) -> list[Statement]:
    inverse, best = line(frame, "k", "inverse"), _best(frame, "k")
    epsilon = line(frame, "k", "inverse", field="epsilon")
    step = growth(best[0], best[-1]) ** (1 / math.log10(best[-1][0] / best[0][0]))
    start = best[0][1]
    full = (
        f" But it starts at {number(start)} and cannot exceed 2: there is little room to grow." if start >= HIGH else ""
    )
    return [
        Statement(
            3, "Errors become larger as k increases.", _rises(inverse) and _rises(best),
            f"inverse: {_from_to(inverse, 'k = {}')}; best estimator: {_from_to(best, 'k = {}')}.",
        ),
        Statement(
            3, "However, the increment is quite small.", step < SMALL_STEP,
            f"ten times the k multiplies the least error by {number(step)}; checked: by less than {SMALL_STEP}.{full}",
        ),
        Statement(
            3, "Epsilon decreases as k increases (as Theorem 2 implies).", _rises(epsilon, -1),
            f"{_from_to(epsilon, 'k = {}')}.",
        ),
    ]  # fmt: skip


def _ours(frame: pl.DataFrame) -> list[Statement]:
    known = frame.filter(pl.col("records") >= PREDICTED_FROM).drop_nulls("ratio")
    judged = known.filter(pl.col("cells") <= pl.col("records"))
    if judged.is_empty():
        return []
    low, high = PREDICTED_WITHIN
    near = [
        low - 3 * noise <= row["ratio"] <= high + 3 * noise
        for row, noise in zip(judged.to_dicts(), map(_noise, judged.to_dicts()))
    ]
    sparse = known.filter(pl.col("cells") > pl.col("records"))["ratio"].to_list()
    more = f" With more cells than records: {_between(sparse)}." if sparse else ""
    return [
        Statement(
            0, "The error of inverse is known before any data exist (not in the paper).", all(near),
            f"measured / predicted {_between(judged['ratio'].to_list())} at all points of both designs with {PREDICTED_FROM:,} "
            f"records or more and no more cells than records; checked: {low} to {high}, and three standard errors for "
            f"chance.{more}",
        )
    ]  # fmt: skip


def _between(ratios: list[float]) -> str:
    first, last = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return first if first == last else f"between {first} and {last}"


def _noise(row: dict[str, Any]) -> float:
    """The standard error of a ratio: as measured, and at least that of as many independent normal cells."""
    alone = math.sqrt(SPREAD / (int(row["releases"]) * (int(row["cells"]) - 1)))
    return max(alone, float(row["l1_sd"] or 0) / float(row["predicted_l1"]) / math.sqrt(row["releases"]))
