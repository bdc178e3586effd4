"""The points of the paper's three figures, and what is measured at each.

    records      245 to 2,458,285 records, k = 2, the first four attributes (figure 1)
    attributes   one to seven attributes, all records, k = 2 (figure 2)
    k            k = 2 to 10,000, four attributes, all records (figure 3)

At each point the table is released again and again, the full cross-tabulation of its attributes is reconstructed,
and the sum of absolute errors is divided by the number of records: the paper's d. Both designs meet the same k,
hence the same epsilon. ``equal-rho`` is the paper's; ``optimal`` is designed for that very table: workload "full", and
no floor, which would spend some of its accuracy on tables that nobody looks at here.

Rows are randomised as in a release and not shuffled, since no count depends on their order: that takes half the time,
and gives the numbers of ``pk.release`` with the same seed.

Everything follows from one seed: which records are drawn, and every release. A point's numbers depend neither on
which other points are run nor on their order, and no release here protects anybody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..._audit import randomised
from ..._blocks import Counts
from ..._design import plan
from ..._errors import InputError
from ..._estimate import METHODS, Reconstruction, tabulate
from ..._plan import Plan
from ..._progress import Progress, quiet, within
from ..._schema import Codes, Schema
from ..census import Census
from ..seeds import seeded

EXPERIMENTS = ("records", "attributes", "k")
DESIGNS = ("equal-rho", "optimal")
RECORDS = (245, 2_458, 24_583, 245_829, 2_458_285)
KS = (2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
QUICK_KS = (2, 100, 10_000)
QUICK_ATTRIBUTES = (1, 2, 4, 6)
FIRST = 4
"""Attributes of the experiments that vary something else."""
RELEASES, QUICK_RELEASES = 8, 2
PRECISION = 0.025
"""The standard error that the mean of an error may have, relative to it, with the usual number of releases."""
ESTIMATORS = ("inverse", "simplex", "em")
"""The methods that are compared."""
MODEL, MODELLED = "model", ("equal-rho",)
"""A reading that is fitted to all tables at once, which takes a while: of the first release, of these designs."""
SPREAD = math.pi / 2 - 1
"""The squared coefficient of variation of |N|, N normal: of the error of one cell."""
EM_CELLS = 25_000
"""The most likely table of more cells than this takes minutes."""
ROWS_PER_K = 5
"""k goes up to a fifth of the rows: beyond, almost nothing is kept."""


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


def times(cells: int) -> int:
    """How many times as often a table is released: the fewer its cells, the more its error varies.

    The error of V cells, V - 1 of them free, varies about like a mean of V - 1 independent |N|.
    """
    return max(1, math.ceil(SPREAD / (cells - 1) / PRECISION**2 / RELEASES))


def measure(census: Census, *, seed: int, releases: int, quick: bool, progress: Progress) -> pl.DataFrame:
    """One row per point, design and method."""
    wanted = points(census.table.height, len(census.schema.randomised), quick)
    settings = sorted({point.setting for point in wanted})
    costs = [_cost(census.schema, setting) for setting in settings]
    order = np.random.default_rng(seed).permutation(census.table.height)
    measured: dict[Setting, list[dict[str, Any]]] = {}
    for number, setting in enumerate(settings):
        part = within(progress, sum(costs[:number]) / sum(costs), sum(costs[: number + 1]) / sum(costs))
        measured[setting] = _measure(census, setting, order, seed, releases, part)
    rows = [{"experiment": point.experiment} | row for point in wanted for row in measured[point.setting]]
    progress("measuring", 1.0)
    return pl.DataFrame(rows, schema_overrides={"note": pl.String, "l1": pl.Float64, "rho": pl.Float64})


def _measure(
    census: Census, setting: Setting, order: np.ndarray, seed: int, releases: int, progress: Progress
) -> list[dict[str, Any]]:
    names = [attribute.name for attribute in census.schema.randomised][: setting.attributes]
    schema = Schema([census.schema.attribute(name) for name in names])
    table = census.table.select(names)
    if setting.records < table.height:
        table = table[np.sort(order[: setting.records])]
    sizes = [attribute.size for attribute in schema.randomised]
    codes = {name: table[name].to_physical().to_numpy() for name in names}
    truth = tabulate(list(codes.values()), sizes)
    count = releases * times(truth.size)
    methods = [method for method in ESTIMATORS if method != "em" or truth.size <= EM_CELLS]
    rows = []
    for number, design in enumerate(DESIGNS):
        made = _plan(schema, setting, design)
        errors: dict[str, list[float]] = {method: [] for method in methods}
        for i in range(count):
            randomness = seeded(seed, setting.records, setting.attributes, setting.k, number, i)
            released = randomised(made, codes, randomness)
            found = estimates(made, released, methods)
            if i == 0 and design in MODELLED:
                with suppress(InputError):  # too few rows or attributes for a model
                    found |= estimates(made, released, [MODEL])
                    errors[MODEL] = []
            for method, counts in found.items():
                errors[method].append(float(np.abs(counts - truth).sum() / setting.records))
            progress("measuring", (number + (i + 1) / count) / len(DESIGNS))
        shown = [*ESTIMATORS, *([MODEL] if MODEL in errors else [])]
        rows += [_row(setting, made, design, method, errors.get(method, []), truth.size) for method in shown]
    return rows


def estimates(made: Plan, codes: Mapping[str, Codes], methods: Sequence[str]) -> dict[str, Counts]:
    """The table of all attributes by each of ``methods``, from one count of the rows."""
    table = Reconstruction.of(made.schema, made.blocks, codes, made.schema.names)
    return {
        method: METHODS[method].fit(table.channel, table.released, table.source, quiet).counts for method in methods
    }


def _plan(schema: Schema, setting: Setting, design: str) -> Plan:
    if design == "optimal":
        return plan(schema, records=setting.records, k=setting.k, design=design, workload="full", floor=None)
    return plan(schema, records=setting.records, k=setting.k, design=design)


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
        "l1_sd": _spread(errors) if len(errors) > 1 else None,
        "releases": len(errors),
        "predicted_l1": predicted,
        "ratio": mean / predicted if mean is not None and method == "inverse" else None,
        "note": _note(design, method, cells),
    }


def _spread(errors: list[float]) -> float:
    spread = float(np.std(errors, ddof=1))
    return spread if spread > 1e-12 * float(np.mean(errors)) else 0.0  # equal errors differ by rounding


def _note(design: str, method: str, cells: int) -> str | None:
    notes = []
    if method == "em" and cells > EM_CELLS:
        notes.append(f"left out: em of {cells:,} cells takes minutes")
    if design == "optimal":
        notes.append('designed for this very table: workload "full", no floor')
    if method == MODEL:
        notes.append("one release")
    elif times(cells) > 1:
        notes.append(f"{times(cells)} times as many releases, as the table has few cells")
    return "; ".join(notes) or None


def _cost(schema: Schema, setting: Setting) -> float:
    """About how long a setting takes, in any unit: rows to release, and cells to fit."""
    cells = math.prod(a.size for a in schema.randomised[: setting.attributes])
    fit = 1000 * cells if cells <= EM_CELLS else cells
    return (setting.records + fit) * max(1.0, times(cells) / 8)  # a release of few attributes is made in an eighth
