"""Speed and memory, as ratios against named baselines measured in the same run.

    python benchmarks/speed.py            print the tables
    python benchmarks/speed.py --write    also put them into docs/benchmarks.md

Baselines: the plain numpy script a user would write (PCG64, not secure), and polars reading and
writing the same file with nothing in between. Candidates run round-robin and medians are reported,
because machines are noisy: read the ratios, not the milliseconds.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._keystream import Keystream
from pkanon._randomise import randomise
from pkanon._shuffle import Records, draw_order

DOCS = Path(__file__).parent.parent / "docs" / "benchmarks.md"
MARK = "<!-- measured -->"


def round_robin(candidates: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Median seconds of each candidate; every round runs every candidate once."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def core(rounds: int) -> tuple[str, int]:
    """Randomising and shuffling codes in memory."""
    schema = pk.demo_schema()
    table = pk.demo_table()
    columns = [table[name].to_physical().to_numpy() for name in schema.names]
    sizes = [attribute.size for attribute in schema.randomised]
    rows = table.height
    blocks = pk.plan(schema, records=rows, k=2).blocks
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

    def ours_randomise(threads: int) -> None:
        out = [np.empty_like(column) for column in columns]
        randomise(blocks, columns, Keystream(pk.System().key()), out=out, threads=threads)

    def ours_both(threads: int) -> None:
        source = Keystream(pk.System().key())
        records = Records([column.dtype for column in columns], rows)
        randomise(blocks, columns, source, out=records.columns, threads=threads)
        records.permuted(draw_order(rows, source), threads=threads)

    one = round_robin(
        {
            "numpy script": lambda: script_randomise() and None,
            "pkanon, 1 thread": lambda: ours_randomise(1),
            "pkanon, 2 threads": lambda: ours_randomise(2),
        },
        rounds,
    )
    both = round_robin(
        {
            "numpy script": script_both,
            "pkanon, 1 thread": lambda: ours_both(1),
            "pkanon, 2 threads": lambda: ours_both(2),
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
    codes = table.select(pl.all().to_physical())
    texts = table.select(pl.all().cast(pl.String))
    variants = {
        "text labels": (texts, pk.demo_schema()),
        "integer codes": (
            codes,
            pk.Schema([pk.Attribute(a.name, list(range(a.size))) for a in pk.demo_schema().randomised]),
        ),
    }
    lines = [
        "| file | polars read + write ms | pkanon release ms | ratio | polars peak MB | pkanon peak MB | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, (frame, schema) in variants.items():
        plan = folder / f"{label.split()[0]}.json"
        pk.plan(schema, records=frame.height, k=2).save(plan)
        for kind in ("csv", "parquet"):
            source = folder / f"{label.split()[0]}.{kind}"
            frame.write_csv(source) if kind == "csv" else frame.write_parquet(source)
            times: dict[str, list[tuple[float, float]]] = {"polars": [], "pkanon": []}
            for _ in range(rounds):
                for tool in times:
                    times[tool].append(_fresh(tool, source, plan, kind, folder / "out"))
            seconds = {tool: statistics.median(run[0] for run in runs) for tool, runs in times.items()}
            peaks = {tool: statistics.median(run[1] for run in runs) for tool, runs in times.items()}
            lines.append(
                f"| {kind.upper()}, {label}, {source.stat().st_size / 1e6:.0f} MB | {1e3 * seconds['polars']:.0f} | "
                f"{1e3 * seconds['pkanon']:.0f} | {seconds['pkanon'] / seconds['polars']:.2f} | {peaks['polars']:.0f} | "
                f"{peaks['pkanon']:.0f} | {peaks['pkanon'] / peaks['polars']:.2f} |"
            )
    return "\n".join(lines)


CHILD = """
import re, sys, time
tool, source, plan, kind, out = sys.argv[1:]
def peak():  # not ru_maxrss: a child inherits its parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
if tool == "polars":
    import polars as pl
    before = peak(); start = time.perf_counter()
    if kind == "csv": pl.read_csv(source).write_csv(out + ".csv")
    else: pl.read_parquet(source).write_parquet(out + ".parquet")
else:
    import pkanon as pk, pkanon._release
    from cryptography.hazmat.primitives.ciphers import Cipher
    loaded = pk.read_plan(plan)
    before = peak(); start = time.perf_counter()
    pk.release(source, loaded).save(out, format=kind)
print(time.perf_counter() - start, peak() - before)
"""


def _fresh(tool: str, source: Path, plan: Path, kind: str, out: Path) -> tuple[float, float]:
    """Seconds and peak megabytes above those after import, in a process of its own."""
    command = [sys.executable, "-c", CHILD, tool, str(source), str(plan), kind, str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    shutil.rmtree(out, ignore_errors=True)
    for leftover in out.parent.glob("out.*"):
        leftover.unlink()
    return float(result[0]), float(result[1])


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    arguments = parser.parse_args()
    in_memory, rows = core(arguments.rounds)
    with tempfile.TemporaryDirectory() as folder:
        on_disk = files(arguments.rounds, Path(folder))
    report = (
        f"{rows:,} rows x 7 attributes (sizes 2, 18, 12, 3, 3, 18, 20), {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}, polars {pl.__version__}; "
        f"medians of {arguments.rounds} rounds.\n\n### In memory\n\n{in_memory}\n\n### Files\n\n{on_disk}\n"
    )
    print(report)
    if arguments.write:
        kept = DOCS.read_text(encoding="utf-8").partition(MARK)[0]
        DOCS.write_text(f"{kept}{MARK}\n\n{report}", encoding="utf-8")


if __name__ == "__main__":
    main()
