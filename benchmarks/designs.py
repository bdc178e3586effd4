"""Optimal against the paper's design: predicted and measured errors of all tables of one and two attributes.

    python benchmarks/designs.py            print the table
    python benchmarks/designs.py --write    also put it into docs/results/benchmarks.md

The embedded table is released again and again with both designs at the same k, and every table of one and two
of its seven attributes is reconstructed (unbiased) and compared with the truth.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

import pkanon as pk
from pkanon._estimate import tabulate
from report import put

DESIGNS = ("equal-rho", "optimal")


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=12)
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/benchmarks.md")
    arguments = parser.parse_args()
    schema, people = pk.demo_schema(), pk.demo_table()
    names = list(schema.names)
    tables = [table for size in (1, 2) for table in itertools.combinations(names, size)]
    columns = {name: people[name].to_physical().to_numpy() for name in names}
    sizes = {name: schema.attribute(name).size for name in names}
    truth = {t: tabulate([columns[name] for name in t], [sizes[name] for name in t]) for t in tables}
    lines = [
        "| k | design | mean predicted L1 | mean measured L1 | measured / predicted | equal-rho / this, predicted | measured |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for k in (2, 100):
        measured, predicted = {}, {}
        for design in DESIGNS:
            plan = pk.plan(schema, records=people.height, k=k, design=design)
            predicted[design] = np.array([plan.predict(*table).l1 for table in tables])
            runs = []
            for seed in range(arguments.releases):
                release = pk.release(people, plan, randomness=pk.Seeded(seed))
                runs.append([np.abs(release.crosstab(*t).counts - truth[t]).sum() / people.height for t in tables])
            measured[design] = np.array(runs)
        for design in DESIGNS:
            mean = measured[design].mean(axis=0)
            ratios = measured[design].mean(axis=1) / predicted[design].mean()
            error = ratios.std(ddof=1) / np.sqrt(arguments.releases)
            gain = predicted["equal-rho"] / predicted[design], measured["equal-rho"].mean(axis=0) / mean
            lines.append(
                f"| {k} | {design} | {predicted[design].mean():.4f} | {mean.mean():.4f} | {ratios.mean():.3f} ± {error:.3f} | "
                f"{gain[0].mean():.2f} | {gain[1].mean():.2f} |"
            )
    report = (
        f"{len(tables)} tables, {people.height:,} rows, {arguments.releases} releases each; gains are means over tables.\n\n"
        + "\n".join(lines)
    )
    print(report)
    if arguments.write:
        put("designs", report)


if __name__ == "__main__":
    main()
