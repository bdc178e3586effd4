"""Estimates of single attributes beside those of independent implementations.

    make peers                             in an environment with multi-freq-ldpy and pure-ldp
    python benchmarks/peers.py --write     also put the table into docs/results/benchmarks.md

No library estimates joint tables, so single attributes are compared: pure-ldp's server is the unbiased
estimate, multi-freq-ldpy's MI the same cut off at zero and scaled back to one, its IBU the iterative
Bayes whose limit is the most likely table.
"""

from __future__ import annotations

import argparse
import math
import warnings

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_IBU, GRR_Aggregator_MI

import pkanon as pk
from report import put

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pure_ldp.frequency_oracles.direct_encoding import DEServer

ROWS = 24_583


def pure_ldp(codes: list[int], size: int, epsilon: float) -> np.ndarray:
    """The estimate of pure-ldp, in people."""
    server = DEServer(epsilon, size, index_mapper=lambda value: value)
    server.aggregate_all(codes)
    return np.array([server.estimate(value, suppress_warnings=True) for value in range(size)])


def main() -> None:
    """Compare and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/benchmarks.md")
    arguments = parser.parse_args()
    table = pk.demo_table().sample(ROWS, seed=1)
    plan = pk.plan(pk.demo_schema(), records=ROWS, k=100, design="equal-rho")
    release = pk.release(table, plan, randomness=pk.Seeded(1))
    lines = [
        "| attribute | values | pure-ldp: unbiased | multi-freq-ldpy MI: cut off at 0 | multi-freq-ldpy IBU: most likely |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for attribute in plan.schema.randomised:
        size, rho = attribute.size, plan.rho[attribute.name]
        assert rho is not None
        epsilon = math.log(1 + size * rho / (1 - rho))
        codes = release.codes[attribute.name].tolist()
        theirs = pure_ldp(codes, size, epsilon)
        ours = release.crosstab(attribute.name).counts
        cut = np.maximum(ours, 0)
        likely = release.crosstab(attribute.name, method="em").counts
        off = [
            np.abs(theirs - ours).max(),
            np.abs(GRR_Aggregator_MI(codes, size, epsilon) - cut / cut.sum()).max() * ROWS,
            np.abs(GRR_Aggregator_IBU(codes, size, epsilon, nb_iter=10**6) - likely / likely.sum()).max() * ROWS,
        ]
        assert max(off[:2]) < 1e-6
        assert off[2] < 0.01
        lines.append(f"| {attribute.name} | {size} | {off[0]:.1e} | {off[1]:.1e} | {off[2]:.1e} |")
    report = (
        f"Largest difference of any cell, in people of {ROWS:,}; rho = {min(filter(None, plan.rho.values())):.3f}.\n\n"
        + "\n".join(lines)
    )
    print(report)
    if arguments.write:
        put("peers", report)


if __name__ == "__main__":
    main()
