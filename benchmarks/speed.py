"""Speed and memory, as ratios against named baselines measured in the same run.

    python benchmarks/speed.py            print the tables
    python benchmarks/speed.py --write    also put them into docs/results/benchmarks.md

Baselines: the plain numpy script a user would write (PCG64, not secure), and polars reading and
writing the same file with nothing in between. Candidates run round-robin, the processor time of all threads is counted and
medians are reported, because machines are noisy: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._blocks import Block
from pkanon._frames import sort_words
from pkanon._sample import Records, draw_order, randomise
from pkanon._sample.keystream import Keystream
from report import put


def round_robin(candidates: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median processor seconds of each candidate, all threads; every round runs every candidate once."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def core(rounds: int) -> tuple[str, int]:
    """Randomising and shuffling codes in memory."""
    schema = pk.demo_schema()
    table = pk.demo_table()
    columns = [table[name].to_physical().to_numpy() for name in schema.names]
    sizes = [attribute.size for attribute in schema.randomised]
    rows = table.height
    blocks = pk.plan(schema, records=rows, k=2, design="equal-rho").blocks
    agreement = pk.plan(schema, records=rows, k=2, design="optimal").blocks
    rho = 0.3  # the speed of either side does not depend on it
    rng = np.random.default_rng()

    def script_randomise() -> list[np.ndarray]:
        return [
            np.where(rng.random(rows) < rho, column, rng.integers(0, size, rows, dtype=np.uint8))
            for column, size in zip(columns, sizes)
        ]

    def script_both() -> None:
        order = rng.permutation(rows)
        for column in script_randomise():
            column[order]

    def ours_randomise(threads: int, blocks: Sequence[Block] = blocks) -> None:
        out = [np.empty_like(column) for column in columns]
        randomise(blocks, columns, Keystream(pk.System().key()), out=out, threads=threads)

    def ours_both(threads: int, blocks: Sequence[Block] = blocks) -> None:
        source = Keystream(pk.System().key())
        records = Records([column.dtype for column in columns], rows)
        randomise(blocks, columns, source, out=records.columns, threads=threads)
        records.permuted(draw_order(rows, source, sort_words), threads=threads)

    one = round_robin(
        {
            "numpy script": lambda: script_randomise() and None,
            "pkanon, 1 thread": lambda: ours_randomise(1),
            "pkanon, 2 threads": lambda: ours_randomise(2),
            "pkanon, optimal design, 1 thread": lambda: ours_randomise(1, agreement),
        },
        rounds,
    )
    both = round_robin(
        {
            "numpy script": script_both,
            "pkanon, 1 thread": lambda: ours_both(1),
            "pkanon, 2 threads": lambda: ours_both(2),
            "pkanon, optimal design, 1 thread": lambda: ours_both(1, agreement),
        },
        rounds,
    )
    lines = [
        "| | randomise ms | ns per cell | times the script's speed | randomise + shuffle ms | times the script's speed |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in one:
        lines.append(
            f"| {name} | {1e3 * one[name]:.1f} | {1e9 * one[name] / rows / len(sizes):.2f} | "
            f"{one['numpy script'] / one[name]:.1f} | {1e3 * both[name]:.0f} | {both['numpy script'] / both[name]:.1f} |"
        )
    return "\n".join(lines), rows


def files(rounds: int, folder: Path) -> str:
    """A file to a release, against polars reading and writing the same file."""
    table = pk.demo_table().sample(fraction=1, shuffle=True, seed=1)  # it comes sorted, which no real table is
    integers = pk.Schema([pk.Attribute(a.name, list(range(a.size))) for a in pk.demo_schema().randomised])
    codes = table.select(pl.all().to_physical())
    cases = [
        ("text labels", "csv", table.select(pl.all().cast(pl.String)), pk.demo_schema()),
        ("text labels", "parquet", table.select(pl.all().cast(pl.String)), pk.demo_schema()),
        ("integers", "csv", codes, integers),
        ("integers, 64 bits", "parquet", codes.cast(pl.Int64), integers),
        ("integers, 8 bits", "parquet", codes, integers),
    ]
    lines = [
        "| file | design | polars read + write ms | pkanon release ms | ratio | ratio of seconds passed | polars peak MB | "
        "pkanon peak MB | ratio |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (number, (label, kind, frame, schema)), design in itertools.product(enumerate(cases), ("optimal", "equal-rho")):
        source, plan = folder / f"{number}.{kind}", folder / f"{number}-{design}.json"
        pk.plan(schema, records=frame.height, k=2, design=design).save(plan)
        frame.write_csv(source) if kind == "csv" else frame.write_parquet(source)
        runs: dict[str, list[tuple[float, ...]]] = {"polars": [], "pkanon": []}
        for _ in range(rounds):
            for tool in runs:
                runs[tool].append(_fresh(tool, source, plan, kind, folder / "out"))
        (theirs, their_clock, their_peak), (ours, our_clock, our_peak) = (
            map(statistics.median, zip(*found)) for found in runs.values()
        )
        lines.append(
            f"| {kind.upper()}, {label}, {source.stat().st_size / 1e6:.0f} MB | {design} | {1e3 * theirs:.0f} | {1e3 * ours:.0f} | "
            f"{ours / theirs:.2f} | {our_clock / their_clock:.2f} | {their_peak:.0f} | {our_peak:.0f} | "
            f"{our_peak / their_peak:.2f} |"
        )
    return "\n".join(lines)


CHILD = """
import re, sys, time
tool, source, plan, kind, out = sys.argv[1:]
def peak():  # not ru_maxrss: a child inherits its parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
if tool == "polars":
    import polars as pl
    before = peak(); clock = time.perf_counter(); start = time.process_time()
    if kind == "csv": pl.read_csv(source).write_csv(out + ".csv")
    else: pl.read_parquet(source).write_parquet(out + ".parquet")
else:
    import importlib, pkgutil, pkanon as pk, pkanon._engines.choosing
    for room in (pk._blocks, pk._frames, pk._plan, pk._release, pk._sample, pk._schema):  # they load when they are used
        for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."): importlib.import_module(module.name)
    from cryptography.hazmat.primitives.ciphers import Cipher
    loaded = pk.read_plan(plan)
    before = peak(); clock = time.perf_counter(); start = time.process_time()
    pk.release(source, loaded).save(out, format=kind)
print(time.process_time() - start, time.perf_counter() - clock, peak() - before)
"""


def _fresh(tool: str, source: Path, plan: Path, kind: str, out: Path) -> tuple[float, ...]:
    """Processor seconds, seconds passed and peak megabytes above those after import, in a process of its own."""
    command = [sys.executable, "-c", CHILD, tool, str(source), str(plan), kind, str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    shutil.rmtree(out, ignore_errors=True)
    for leftover in out.parent.glob("out.*"):
        leftover.unlink()
    return tuple(map(float, result))


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results/benchmarks.md")
    arguments = parser.parse_args()
    in_memory, rows = core(arguments.rounds)
    with tempfile.TemporaryDirectory() as folder:
        on_disk = files(arguments.rounds, Path(folder))
    report = (
        f"{rows:,} rows x 7 attributes (sizes 2, 18, 12, 3, 3, 18, 20), {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}, polars {pl.__version__}; "
        f"processor time, medians of {arguments.rounds} rounds.\n\n### In memory\n\n{in_memory}\n\n### Files\n\n{on_disk}\n"
    )
    print(report)
    if arguments.write:
        put("speed", report)


if __name__ == "__main__":
    main()
