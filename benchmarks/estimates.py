"""Estimation: speed against named baselines, and error on the embedded table.

    python benchmarks/estimates.py            print the tables
    python benchmarks/estimates.py --write    also put them into docs/results/benchmarks.md

Baselines of speed: a copy of the array for the inverse, polars' group_by for counting, the plain
iteration of Agrawal, Srikant and Thomas for the most likely table. Candidates take turns; medians.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._estimate import METHODS, Channel, maximum_likelihood, tabulate
from report import put
from speed import round_robin

FOUR = 4
RELEASES = 5
MOST_PLAIN = 100_000


def _done(result: object) -> None:
    """Keeps a result until here, so that freeing it is part of the time."""


def speed(rounds: int) -> str:
    """Counting and inverting the table of all 7 attributes."""
    schema, table = pk.demo_schema(), pk.demo_table().sample(fraction=1, shuffle=True, seed=1)
    names = list(schema.names)
    columns = [table[name].to_physical().to_numpy() for name in names]
    codes = pl.DataFrame(dict(zip(names, columns)))
    sizes = [schema.attribute(name).size for name in names]
    plan = pk.plan(schema, records=table.height, k=2, design="equal-rho")
    released = tabulate(columns, sizes)
    channel = Channel(plan.blocks, names)
    inverting = round_robin(
        {"copy": lambda: _done(released.copy()), "inverse": lambda: _done(channel.inverse(released))}, rounds
    )
    lines = [
        "| what | baseline ms | pkanon ms | ratio |",
        "| --- | ---: | ---: | ---: |",
        f"| inverse of {released.size:,} cells, against a copy of them | {1e3 * inverting['copy']:.2f} | "
        f"{1e3 * inverting['inverse']:.1f} | {inverting['inverse'] / inverting['copy']:.1f} copies |",
    ]
    for count in (2, FOUR, 7):
        counting = round_robin(
            {
                "polars": lambda count=count: _done(codes.group_by(names[:count]).len()),
                "pkanon": lambda count=count: _done(tabulate(columns[:count], sizes[:count])),
            },
            rounds,
        )
        lines.append(
            f"| counting {count} attributes of {table.height:,} rows, against polars group_by | "
            f"{1e3 * counting['polars']:.1f} | {1e3 * counting['pkanon']:.1f} | "
            f"{counting['polars'] / counting['pkanon']:.1f} times faster |"
        )
    return "\n".join(lines)


def accuracy() -> tuple[str, str]:
    """L1 errors of the table of the first four attributes, and what acceleration saves."""
    names = list(pk.demo_schema().names)[:FOUR]
    schema = pk.Schema([pk.demo_schema().attribute(name) for name in names])
    table = pk.demo_table().select(names)
    sizes = [schema.attribute(name).size for name in names]
    truth = tabulate([table[name].to_physical().to_numpy() for name in names], sizes)
    errors = [
        "| design, k = 2 | predicted | inverse | simplex | em | model |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    passes = [
        "| design | plain steps | accelerated steps | times fewer | largest difference of a cell, people |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for design in ("equal-rho", "equal-epsilon", "joint", "optimal"):
        more = {"workload": "full"} if design == "optimal" else {}
        plan = pk.plan(schema, records=table.height, k=2, design=design, **more)
        found: dict[str, list[float]] = {method: [] for method in METHODS}
        for seed in range(RELEASES):
            release = pk.release(table, plan, randomness=pk.Seeded(seed))
            for method in METHODS:
                counts = release.crosstab(*names, method=method).counts
                found[method].append(float(np.abs(counts - truth).sum()) / table.height)
        cells = " | ".join(f"{np.mean(values):.4f} ± {np.std(values):.4f}" for values in found.values())
        errors.append(f"| {design} | {plan.predict(*names).l1:.4f} | {cells} |")
        if design.startswith("equal"):  # joint has a closed form, and optimal is joint or nearly so
            passes.append(_passes(design, Channel(plan.blocks, names), release, names, sizes))
    return "\n".join(errors), "\n".join(passes)


def _passes(design: str, channel: Channel, release: pk.Release, names: list[str], sizes: list[int]) -> str:
    """Steps of the plain iteration until it has the likelihood of the accelerated one."""
    released = tabulate([release.codes[name] for name in names], sizes)
    fast, reached = maximum_likelihood(channel, released)
    people, steps, likelihood = np.full(released.shape, release.rows / released.size), 0, -np.inf
    while likelihood < reached.log_likelihood and steps < MOST_PLAIN:
        expected = channel.forward(people)
        likelihood = float((released * np.log(expected / release.rows)).sum())
        people *= channel.forward_transpose(released / expected)
        steps += 1
    more = "more than " if steps == MOST_PLAIN else ""
    return (
        f"| {design} | {more}{steps:,} | {reached.passes:,} | {more}{steps / reached.passes:.1f} | "
        f"{np.abs(people - fast).max():.1f} |"
    )


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results/benchmarks.md")
    arguments = parser.parse_args()
    timed = speed(arguments.rounds)
    errors, passes = accuracy()
    report = (
        f"### Speed\n\n{timed}\n\n### Error\n\nSum of absolute errors over all {2 * 18 * 12 * 3:,} cells, divided by the number "
        f"of rows; mean and spread of {RELEASES} releases of all 2,458,285 rows.\n\n{errors}\n\n"
        f"### Steps to the most likely table\n\n{passes}\n"
    )
    print(report)
    if arguments.write:
        put("estimates", report)


if __name__ == "__main__":
    main()
