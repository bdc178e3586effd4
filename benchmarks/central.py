"""The price of trusting nobody: our releases beside a trusted curator's noisy counts at equal central (epsilon, delta).

    make central                             in an environment with OpenDP
    python benchmarks/central.py --write     also put tables and figure into docs/results/trust.md

The curator sees the true counts and adds discrete Laplace (two-sided geometric) or discrete Gaussian noise by
OpenDP, at the least scale whose privacy map OpenDP accepts. OpenDP draws from the operating system, so its errors
cannot be seeded: everything is repeated until the standard error of each mean is below 1% (2% for whole histograms).
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import opendp.prelude as dp

import noise
import pkanon as pk
from pkanon._estimate import nearest, tabulate
from report import FIGURES, put
from trust_figure import chart

DELTA = 1e-8
KS = (2, 10, 100, 1_000, 10_000)
PRECISION, LEAST, MOST = 0.01, 8, 200
"""The standard error of a mean, relative to it, and between how many repetitions it is sought."""
SLOW_PRECISION, SLOW_LEAST = 0.02, 3
"""The same for a histogram of all seven attributes, whose noise takes OpenDP half a minute."""

dp.enable_features("contrib")


@dataclass(frozen=True)
class Task:
    """Tables to be made from the whole census table, and the designs that compete."""

    name: str
    schema: pk.Schema
    tables: list[tuple[str, ...]]
    designs: dict[str, dict[str, Any]]

    @cached_property
    def people(self) -> Any:
        """Only the columns that count."""
        return pk.demo_table().select(self.schema.names)

    @cached_property
    def truth(self) -> list[np.ndarray]:
        """The true tables."""
        return [self.count(table) for table in self.tables]

    def count(self, names: tuple[str, ...]) -> np.ndarray:
        """One true table."""
        columns = [self.people[name].to_physical().to_numpy() for name in names]
        return tabulate(columns, [self.schema.attribute(name).size for name in names])

    def errors(self, found: list[np.ndarray]) -> list[float]:
        """L1, as a mean over the tables: of the counts as they are, and of the nearest tables without negative cells."""
        rows = self.people.height
        repaired = [nearest(counts, rows, np.ones(counts.shape, dtype=bool)) for counts in found]
        return [
            float(np.mean([np.abs(counts - true).sum() / rows for counts, true in zip(some, self.truth)]))
            for some in (found, repaired)
        ]


def repeated(draw: Callable[[int], list[float]], precision: float = PRECISION, least: int = LEAST) -> np.ndarray:
    """Means of what ``draw`` returns for 0, 1, 2, ..., once they are precise."""
    drawn: list[list[float]] = []
    while len(drawn) < MOST:
        drawn.append(draw(len(drawn)))
        if len(drawn) >= least:
            spread = np.std(drawn, axis=0, ddof=1) / math.sqrt(len(drawn))
            if (spread <= precision * np.mean(drawn, axis=0)).all():
                return np.mean(drawn, axis=0)
    raise SystemExit(f"{MOST} repetitions are not precise enough")


def ours(task: Task, plan: pk.Plan) -> np.ndarray:
    """The errors of a randomised, shuffled release."""

    def draw(seed: int) -> list[float]:
        release = pk.release(task.people, plan, randomness=pk.Seeded(seed))
        return task.errors([release.crosstab(*table).counts for table in task.tables])

    return repeated(draw)


def laplace(epsilon: float, distance: int) -> tuple[Any, float]:
    """OpenDP's discrete Laplace noise and its scale."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    scale = dp.binary_search_param(lambda s: dp.m.make_laplace(*space, scale=s), d_in=distance, d_out=epsilon)
    return dp.m.make_laplace(*space, scale=scale), scale


def gaussian(epsilon: float, distance: float) -> tuple[Any, float]:
    """OpenDP's discrete Gaussian noise and its scale, through zero-concentrated privacy."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def private(scale: float) -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale)), DELTA)

    scale = dp.binary_search_param(private, d_in=distance, d_out=(epsilon, DELTA))
    return dp.m.make_gaussian(*space, scale=scale), scale


def curator(task: Task, mechanism: Any) -> np.ndarray:
    """The errors of all tables in one noisy vector."""
    counts = np.concatenate([table.ravel() for table in task.truth]).astype(int).tolist()
    ends = np.cumsum([table.size for table in task.truth])[:-1]

    def draw(_: int) -> list[float]:
        pieces = np.split(np.array(mechanism(counts), dtype=float), ends)
        return task.errors([piece.reshape(true.shape) for piece, true in zip(pieces, task.truth)])

    return repeated(draw)


def summed(task: Task, mechanism: Any) -> np.ndarray:
    """The errors of all tables summed from one noisy histogram of all attributes."""
    names = task.schema.names
    full = task.count(names)
    counts = full.astype(int).ravel().tolist()

    def draw(_: int) -> list[float]:
        noisy = np.array(mechanism(counts), dtype=float).reshape(full.shape)
        away = [tuple(axis for axis, name in enumerate(names) if name not in table) for table in task.tables]
        return task.errors([noisy.sum(axis=axes) for axes in away])

    return repeated(draw, SLOW_PRECISION, SLOW_LEAST)


def measure(task: Task, design: str, k: int) -> dict[str, Any]:
    """One row: a design at one k, and the curator at the design's central epsilon."""
    plan = pk.plan(task.schema, records=task.people.height, k=k, design=design, **task.designs[design])
    central = plan.central(DELTA)
    l1, l2 = noise.sensitivities(len(task.tables))
    cells = [table.size for table in task.truth]
    (by_laplace, scale), (by_gauss, deviation) = laplace(central.epsilon, l1), gaussian(central.epsilon, l2)
    row: dict[str, Any] = {
        "task": task.name, "design": design, "k": k, "epsilon": central.epsilon, "lower": central.lower,
        "predicted": float(np.mean([plan.predict(*table).l1 for table in task.tables])),
        "laplace predicted": float(np.mean(cells)) * noise.laplace_size(scale) / task.people.height,
        "gaussian predicted": float(np.mean(cells)) * noise.normal_size(deviation) / task.people.height,
        "gaussian excess": deviation / noise.gaussian_scale(central.epsilon, DELTA, l2),
    }  # fmt: skip
    for name, found in (
        ("ours", ours(task, plan)),
        ("laplace", curator(task, by_laplace)),
        ("gaussian", curator(task, by_gauss)),
    ):
        row[name], row[f"{name} simplex"] = map(float, found)
    row["price"], row["price simplex"] = (
        row[f"ours{way}"] / min(row[f"laplace{way}"], row[f"gaussian{way}"]) for way in ("", " simplex")
    )
    print(f"{task.name}, {design}, k = {k:,}: ours {row['ours']:.4g}, price {row['price']:.3g}", file=sys.stderr)
    return row


def four_attributes(schema: pk.Schema) -> Task:
    """The full table of the paper's first four attributes."""
    first = pk.Schema(list(schema.randomised[:4]))
    optimal = {"workload": "full", "floor": None}
    return Task("four", first, [tuple(first.names)], {"joint": {}, "optimal": optimal, "equal-rho": {}})


def pairs(schema: pk.Schema) -> Task:
    """All tables of one and two of the seven attributes."""
    tables = [table for size in (1, 2) for table in itertools.combinations(schema.names, size)]
    return Task("pairs", schema, tables, {"optimal": {"workload": 2}, "equal-rho": {}, "joint": {}})


def number(value: float) -> str:
    """Three digits."""
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"


def table(rows: list[dict[str, Any]]) -> str:
    """Errors in Markdown; each is "as it is / without negative cells"."""
    lines = [
        "| design | k | central epsilon | ours | Laplace | Gaussian | price |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [
            f"{number(row[way])} / {number(row[f'{way} simplex'])}" for way in ("ours", "laplace", "gaussian", "price")
        ]
        lines.append(f"| {row['design']} | {row['k']:,} | {number(row['epsilon'])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def checks(rows: list[dict[str, Any]]) -> str:
    """How far measurements are from the formulae."""
    ways = {"ours": "predicted", "Laplace": "laplace predicted", "Gaussian": "gaussian predicted"}
    ratios = {way: [row[way.lower()] / row[formula] for row in rows] for way, formula in ways.items()}
    said = ", ".join(f"{min(found):.2f} to {max(found):.2f} ({way})" for way, found in ratios.items())
    excess = max(row["gaussian excess"] for row in rows)
    gaps = {
        design: max(row["epsilon"] / row["lower"] for row in rows if row["design"] == design)
        for design in dict.fromkeys(row["design"] for row in rows)
    }
    bounds = ", ".join(f"{design} {gap:.3f}" for design, gap in gaps.items())
    return (
        f"Measured / predicted: {said}. OpenDP's Gaussian scale is at most {excess:.3f} times the least that suffices. "
        f"Upper / lower bound of the central epsilon, at most: {bounds}."
    )


def histogram(task: Task, rows: list[dict[str, Any]]) -> str:
    """The curator's other way: one histogram, summed; by formula at every k, measured at the first."""
    l1, l2 = noise.sensitivities(1)
    everyone, all_cells = task.people.height, task.count(task.schema.names).size
    cells = [true.size for true in task.truth]
    lines = ["| k | central epsilon | Laplace, summed | Gaussian, summed |", "| ---: | ---: | ---: | ---: |"]
    for row in rows:
        (by_laplace, scale), (by_gauss, deviation) = laplace(row["epsilon"], l1), gaussian(row["epsilon"], l2)
        means = [
            float(np.mean([noise.summed_l1(size, all_cells, spread, everyone) for size in cells]))
            for spread in (noise.laplace_deviation(scale), deviation)
        ]
        shown = [number(mean) for mean in means]
        if row is rows[0]:
            found = [summed(task, mechanism)[0] for mechanism in (by_laplace, by_gauss)]
            shown = [f"{mean} (measured {number(one)})" for mean, one in zip(shown, found)]
        lines.append(f"| {row['k']:,} | {number(row['epsilon'])} | {shown[0]} | {shown[1]} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put tables and figure into docs/results/trust.md")
    arguments = parser.parse_args()
    schema = pk.demo_schema()
    reports, drawn = {}, []
    for task in (four_attributes(schema), pairs(schema)):
        rows = [measure(task, design, k) for design in task.designs for k in KS]
        reports[task.name] = f"{table(rows)}\n\n{checks(rows)}"
        if task.name == "pairs":
            reports["summed"] = histogram(task, [row for row in rows if row["design"] == "optimal"])
        drawn += rows
    for name, report in reports.items():
        print(f"\n{report}")
        if arguments.write:
            put(name, report, page="trust.md")
    if arguments.write:
        target = FIGURES / "trust.svg"
        target.unlink(missing_ok=True)
        pk.save_chart(chart(drawn), target)


if __name__ == "__main__":
    main()
