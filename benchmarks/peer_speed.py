"""Randomising and shuffling beside what users would reach for: scripts, data bases, libraries of local privacy.

    make bench                                  runs it in an environment of its own, .venv-peers
    python benchmarks/peer_speed.py --write     also puts the table into docs/results/benchmarks.md

Work: records of seven integers, each kept with probability 0.3 or drawn anew, then all in a random order. A peer that cannot be
imported is left out and named. Those that take one value at a time get fewer records, and their time is scaled up.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import polars as pl

import pkanon as pk
from report import put

RHO = 0.3
ROWS = 2_458_285
Codes = dict[str, np.ndarray]
Run = Callable[[Codes, dict[str, int]], object]
rng = np.random.default_rng()


def script(codes: Codes, sizes: dict[str, int]) -> object:
    """The numpy script: the baseline."""
    rows = len(next(iter(codes.values())))
    drawn = [
        np.where(rng.random(rows) < RHO, column, rng.integers(0, sizes[name], rows, dtype=np.uint8))
        for name, column in codes.items()
    ]
    order = rng.permutation(rows)
    return [column[order] for column in drawn]


def with_polars(codes: Codes, sizes: dict[str, int]) -> object:
    """Expressions, draws by polars itself."""
    frame = pl.DataFrame(codes)
    rows = frame.height
    drawn = [
        pl.when(pl.Series(rng.random(rows) < RHO))
        .then(pl.col(name))
        .otherwise(pl.int_range(size, eager=True).sample(rows, with_replacement=True).cast(pl.UInt8))
        .alias(name)
        for name, size in sizes.items()
    ]
    return frame.select(drawn).sample(fraction=1, shuffle=True)


def with_duckdb(codes: Codes, sizes: dict[str, int]) -> object:
    """SQL."""
    duckdb = importlib.import_module("duckdb")
    frame = pl.DataFrame(codes)  # noqa: F841  # duckdb finds it by its name
    parts = ", ".join(
        f"CASE WHEN random() < {RHO} THEN {name} ELSE floor(random() * {size})::UTINYINT END AS {name}"
        for name, size in sizes.items()
    )
    return duckdb.sql(f"SELECT {parts} FROM frame ORDER BY random()").pl()


def with_multi_freq_ldpy(codes: Codes, sizes: dict[str, int]) -> object:
    """One call per value."""
    client = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Client
    return _one_by_one(codes, {name: (lambda v, n=n: client(v, n, _epsilon(n))) for name, n in sizes.items()})


def with_pure_ldp(codes: Codes, sizes: dict[str, int]) -> object:
    """One call per value."""
    client = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding").DEClient
    clients = {name: client(_epsilon(n), n, index_mapper=lambda value: value) for name, n in sizes.items()}
    return _one_by_one(codes, {name: each.privatise for name, each in clients.items()})


def with_opendp(codes: Codes, sizes: dict[str, int]) -> object:
    """One call per value."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    made = {
        name: dp.m.make_randomized_response(categories=list(range(n)), prob=RHO + (1 - RHO) / n)
        for name, n in sizes.items()
    }
    return _one_by_one(codes, made)


def with_diffprivlib(codes: Codes, sizes: dict[str, int]) -> object:
    """One call per value, which must be a text."""
    binary = importlib.import_module("diffprivlib.mechanisms").Binary
    name = next(name for name, n in sizes.items() if n == 2)
    mechanism = binary(epsilon=_epsilon(2), value0="0", value1="1")
    done = _one_by_one({name: codes[name]}, {name: lambda value: mechanism.randomise(str(value))})
    return done * len(sizes)  # the others take longer


def _one_by_one(codes: Codes, ways: dict[str, Callable[[int], object]]) -> list[list[object]]:
    drawn = [[ways[name](value) for value in column.tolist()] for name, column in codes.items()]
    order = rng.permutation(len(drawn[0])).tolist()
    return [[column[i] for i in order] for column in drawn]


def _epsilon(size: int) -> float:
    return math.log(1 + size * RHO / (1 - RHO))


PEERS: list[tuple[str, str, Run, int]] = [
    ("numpy script", "numpy", script, 1),
    ("polars expressions", "polars", with_polars, 1),
    ("DuckDB SQL", "duckdb", with_duckdb, 1),
    ("multi-freq-ldpy", "multi-freq-ldpy", with_multi_freq_ldpy, 100),
    ("pure-ldp", "pure-ldp", with_pure_ldp, 100),
    ("opendp", "opendp", with_opendp, 1_000),
    ("diffprivlib, one attribute of two values times seven", "diffprivlib", with_diffprivlib, 100),
]


def main() -> None:
    """Measure those that import, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/benchmarks.md")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    schema, table = pk.demo_schema(), pk.demo_table().sample(fraction=1, shuffle=True, seed=1)
    codes = {name: table[name].to_physical().to_numpy() for name in schema.names}
    sizes = {attribute.name: attribute.size for attribute in schema.randomised}
    plan = pk.plan(schema, records=table.height, k=2, design="equal-rho")
    ways: list[tuple[str, Callable[[], object], int]] = [("pkanon, whole release", lambda: pk.release(table, plan), 1)]
    versions, absent = [f"pkanon {pk.__version__}"], []
    for label, package, run, fraction in PEERS:
        few = {name: column[: ROWS // fraction] for name, column in codes.items()}
        try:
            run({name: column[:100] for name, column in few.items()}, sizes)
            versions.append(f"{package} {version(package)}")
        except Exception as error:  # whatever a library raises, the others are measured
            absent.append(f"{package} ({type(error).__name__})")
            continue
        ways.append((label, lambda run=run, few=few: run(few, sizes), fraction))
    times: dict[str, list[float]] = {label: [] for label, _, _ in ways}
    for _ in range(arguments.rounds):
        for label, run, fraction in ways:
            start = time.process_time()
            run()
            times[label].append((time.process_time() - start) * fraction)
    found = {label: statistics.median(values) for label, values in times.items()}
    base = found["numpy script"]
    lines = ["| | processor seconds | times the numpy script | measured on rows |", "| --- | ---: | ---: | ---: |"]
    for label, _, fraction in ways:
        lines.append(f"| {label} | {found[label]:,.2f} | {found[label] / base:,.2f} | {ROWS // fraction:,} |")
    missing = f"\n\nNot measured, for they do not import or run here: {', '.join(absent)}." if absent else ""
    report = (
        f"{ROWS:,} records; medians of {arguments.rounds} rounds, {os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}; {', '.join(versions)}.\n\n" + "\n".join(lines) + missing
    )
    print(report)
    if arguments.write:
        put("peer-speed", report)


if __name__ == "__main__":
    main()
