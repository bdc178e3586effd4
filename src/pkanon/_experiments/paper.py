"""The points of the paper's three figures, and what is measured at each.

    records      245 to 2,458,285 records, k = 2, the first four attributes (figure 1)
    attributes   one to seven attributes, all records, k = 2 (figure 2)
    k            k = 2 to 10,000, four attributes, all records (figure 3)

At each point the table is released again and again, the full cross-tabulation of its attributes is reconstructed,
and the sum of absolute errors is divided by the number of records: the paper's d. Both designs meet the same k,
hence the same epsilon. ``equal-rho`` is the paper's; ``optimal`` is designed for that very table (workload "full").

Everything follows from one seed: which records are drawn, and every release. A point's numbers depend neither on
which other points are run nor on their order, and no release here protects anybody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from .._design import plan
from .._estimate import METHODS, tabulate
from .._keystream import Seeded
from .._plan import Plan
from .._release import release
from .._schema import Schema
from .census import Census

EXPERIMENTS = ("records", "attributes", "k")
DESIGNS = ("equal-rho", "optimal")
RECORDS = (245, 2_458, 24_583, 245_829, 2_458_285)
KS = (2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
QUICK_KS = (2, 100, 10_000)
QUICK_ATTRIBUTES = (1, 2, 4, 6)
FIRST = 4
"""Attributes of the experiments that vary something else."""
RELEASES, QUICK_RELEASES = 8, 2
FEW_CELLS, MORE_RELEASES = 30, 6
"""The error of a table of few cells varies most and is quickest to measure: it is released so many times more often."""
EM_CELLS = 25_000
"""The most likely table of more cells than this takes minutes."""
ROWS_PER_K = 5
"""k goes up to a fifth of the rows: beyond, next to nothing is kept."""

Told = Callable[[float], None]


@dataclass(frozen=True, order=True)
class Setting:
    """What is varied: how many records and attributes, and k."""

    records: int
    attributes: int
    k: int


@dataclass(frozen=True)
class Point:
    """One place on an axis of one figure."""

    experiment: str
    setting: Setting


def points(rows: int, attributes: int, quick: bool) -> list[Point]:
    """The points that a table of ``rows`` rows can serve."""
    sizes = [size for size in RECORDS if size < rows]
    counts = [count for count in (QUICK_ATTRIBUTES if quick else range(1, attributes + 1)) if count <= attributes]
    ks = [k for k in (QUICK_KS if quick else KS) if k * ROWS_PER_K <= rows]
    return [
        *(Point("records", Setting(size, FIRST, 2)) for size in (*sizes, rows)),
        *(Point("attributes", Setting(rows, count, 2)) for count in counts),
        *(Point("k", Setting(rows, FIRST, k)) for k in ks),
    ]


def measure(census: Census, *, seed: int, releases: int, quick: bool, progress: Told) -> pl.DataFrame:
    """One row per point, design and method."""
    wanted = points(census.table.height, len(census.schema.randomised), quick)
    settings = sorted({point.setting for point in wanted})
    costs = [_cost(census.schema, setting) for setting in settings]
    order = np.random.default_rng(seed).permutation(census.table.height)
    measured: dict[Setting, list[dict[str, Any]]] = {}
    for number, setting in enumerate(settings):
        told = partial(_told, progress, sum(costs[:number]) / sum(costs), costs[number] / sum(costs))
        measured[setting] = _measure(census, setting, order, seed, releases, told)
    rows = [{"experiment": point.experiment} | row for point in wanted for row in measured[point.setting]]
    progress(1.0)
    return pl.DataFrame(rows, schema_overrides={"note": pl.String, "l1": pl.Float64, "rho": pl.Float64})


def _told(progress: Told, before: float, part: float, share: float) -> None:
    progress(before + part * share)


def _measure(
    census: Census, setting: Setting, order: np.ndarray, seed: int, releases: int, progress: Told
) -> list[dict[str, Any]]:
    names = [attribute.name for attribute in census.schema.randomised][: setting.attributes]
    schema = Schema([census.schema.attribute(name) for name in names])
    table = census.table.select(names)
    if setting.records < table.height:
        table = table[np.sort(order[: setting.records])]
    sizes = [attribute.size for attribute in schema.randomised]
    truth = tabulate([table[name].to_physical().to_numpy() for name in names], sizes)
    count = releases * (MORE_RELEASES if truth.size < FEW_CELLS else 1)
    methods = [method for method in METHODS if method != "em" or truth.size <= EM_CELLS]
    rows = []
    for number, design in enumerate(DESIGNS):
        made = _plan(schema, setting, design)
        errors: dict[str, list[float]] = {method: [] for method in methods}
        for i, randomness in enumerate(_seeds(seed, setting, number, count)):
            released = release(table, made, randomness=randomness)
            for method in methods:
                estimate = released.crosstab(*names, method=method)
                errors[method].append(float(np.abs(estimate.counts - truth).sum() / setting.records))
            progress((number + (i + 1) / count) / len(DESIGNS))
        rows += [_row(setting, made, design, method, errors.get(method, []), truth.size) for method in METHODS]
    return rows


def _plan(schema: Schema, setting: Setting, design: str) -> Plan:
    if design == "optimal":
        return plan(schema, records=setting.records, k=setting.k, design=design, workload="full")
    return plan(schema, records=setting.records, k=setting.k, design=design)


def _seeds(seed: int, setting: Setting, design: int, count: int) -> Iterator[Seeded]:
    for i in range(count):
        entropy = (seed, setting.records, setting.attributes, setting.k, design, i)
        yield Seeded(int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]))


def _row(setting: Setting, made: Plan, design: str, method: str, errors: list[float], cells: int) -> dict[str, Any]:
    predicted = made.predict(*(a.name for a in made.schema.randomised)).l1
    mean = float(np.mean(errors)) if errors else None
    return {
        "records": setting.records,
        "attributes": setting.attributes,
        "cells": cells,
        "k": setting.k,
        "epsilon": made.epsilon,
        "rho": next(iter(made.rho.values())) if design == "equal-rho" else None,
        "design": design,
        "method": method,
        "l1": mean,
        "l1_sd": float(np.std(errors, ddof=1)) if len(errors) > 1 else None,
        "releases": len(errors),
        "predicted_l1": predicted,
        "ratio": mean / predicted if mean is not None and method == "inverse" else None,
        "note": _note(design, method, cells),
    }


def _note(design: str, method: str, cells: int) -> str | None:
    notes = []
    if method == "em" and cells > EM_CELLS:
        notes.append(f"left out: em of {cells:,} cells takes minutes")
    if design == "optimal":
        notes.append('workload "full": designed for this very table')
    if cells < FEW_CELLS:
        notes.append(f"{MORE_RELEASES} times as many releases, as the table has few cells")
    return "; ".join(notes) or None


def _cost(schema: Schema, setting: Setting) -> float:
    """About how long a setting takes, in any unit: rows to release, and cells to fit."""
    cells = math.prod(a.size for a in schema.randomised[: setting.attributes])
    fit = 1000 * cells if cells <= EM_CELLS else cells
    return (setting.records + fit) * (MORE_RELEASES / 2 if cells < FEW_CELLS else 1)
