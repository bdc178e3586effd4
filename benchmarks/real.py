"""Real tables from draft to release: does everything hold on data nobody made for us, and how long does it take?

    python benchmarks/real.py --data DIR            every .csv, .csv.gz and .parquet in DIR
    python benchmarks/real.py --data DIR --write    also put the table into docs/results/benchmarks.md

Each table is drafted (and the draft taken as confirmed, for this purpose only), planned for k = 10,
checked and released; then the release is opened again and its columns are compared with the schema.
Then four of its columns are released again and again, and 95% intervals of all their tables compared
with the truth.
"""

from __future__ import annotations

import argparse
import itertools
import math
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._estimate import Channel, tabulate
from report import put

K = 10
RELEASES = 5
METHODS = ("inverse", "simplex", "em")


def through(file: Path, folder: Path) -> str:
    """One table through the whole path; a row of the report."""
    seconds = {}

    def timed(step: str, run):  # type: ignore[no-untyped-def]  # whatever the step returns
        start = time.perf_counter()
        result = run()
        seconds[step] = time.perf_counter() - start
        return result

    baseline = timed(
        "polars", lambda: pl.read_csv(file, infer_schema_length=None) if "csv" in file.name else pl.read_parquet(file)
    )
    draft = timed("draft", lambda: pk.draft_schema(file))
    schema = draft.schema.confirm(by="nobody: a benchmark")
    plan = timed("plan", lambda: pk.plan(schema, records=baseline.height, k=K, design="equal-rho"))
    release = timed("release", lambda: pk.release(file, plan))
    timed("save", lambda: release.save(folder / "out"))
    again = timed("open", lambda: pk.open_release(folder / "out"))
    assert again.rows == baseline.height
    assert again.certificate.k >= K
    assert again.table.equals(release.table)
    shutil.rmtree(folder / "out")
    sizes = [attribute.size for attribute in schema.randomised]
    cells = " ".join(f"{1e3 * seconds[step]:.0f} |" for step in ("polars", "draft", "plan", "release", "save", "open"))
    return f"| {file.name} | {baseline.height:,} | {len(schema.names)} | {len(sizes)} | {max(sizes)} | {plan.epsilon_text} | {cells}"


def coverage(file: Path) -> list[str]:
    """How many true cells the 95% intervals hold, over all tables of four columns; rows of the report."""
    schema = pk.draft_schema(file).schema.confirm(by="nobody: a benchmark")
    fitting = [attribute for attribute in schema.randomised if 2 <= attribute.size <= 50]
    chosen = pk.Schema(sorted(fitting, key=lambda attribute: -attribute.size)[:4])
    names = list(chosen.names)
    whole = pk.Plan(schema, tuple(pk.Retention(unit, 0) for unit in schema.units), records=1)
    codes = pk.release(file, whole, randomness=pk.Seeded(0)).codes
    frame = pl.DataFrame({name: codes[name] for name in names})
    coded = pk.Schema([pk.Attribute.ranged(name, 0, chosen.attribute(name).size - 1) for name in names])
    lines = []
    for design, k in itertools.product(("equal-rho", "joint"), (2, 50)):
        plan = pk.plan(coded, records=frame.height, k=k, design=design)
        held: dict[tuple[str, bool], list[int]] = {}
        for seed in range(RELEASES):
            release = pk.release(frame, plan, randomness=pk.Seeded(seed))
            for count, method in itertools.product((1, 2, 3, 4), METHODS):
                for table in itertools.combinations(names, count):
                    if method == "em" and count == 4 and design != "joint":
                        continue  # minutes for a table nobody would read
                    estimate = release.crosstab(*table, method=method)
                    columns = [frame[name].to_numpy() for name in table]
                    truth = tabulate(columns, list(estimate.counts.shape))
                    low, high = estimate.interval(0.95)
                    inside = (low <= truth) & (truth <= high)
                    many = _noise_rows(plan, table, truth) >= 10
                    for dense in (True, False):
                        total = held.setdefault((method, dense), [0, 0])
                        total[0] += int(inside[many == dense].sum())
                        total[1] += int((many == dense).sum())
        cells = []
        for method, dense in itertools.product(METHODS, (True, False)):
            inside_count, count = held[method, dense]
            cells.append(f"{100 * inside_count / count:.1f}% of {count:,}" if count else "-")
        lines.append(f"| {file.name} | {design} | {k} | {' | '.join(cells)} |")
        print(lines[-1])
    return lines


def _noise_rows(plan: pk.Plan, names: Sequence[str], truth: np.ndarray) -> np.ndarray:
    """How many rows are expected in each released cell that do not belong there."""
    channel = Channel(plan.blocks, names)
    stays = np.ones(())
    for block in channel.blocks:
        inside = math.prod(channel.sizes[name] for name in names if name in block.attributes)
        rho = float(block.exact_rho)
        stays = stays * (rho + (1 - rho) / inside)
    return channel.forward(truth) - stays * truth


def main() -> None:
    """Report on every table in a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/benchmarks.md")
    arguments = parser.parse_args()
    lines = [
        "| table | rows | columns | randomised | largest | epsilon | read ms | draft ms | plan ms | release ms | save ms | open ms |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for file in sorted(arguments.data.iterdir()):
        if file.name.endswith((".csv", ".csv.gz", ".parquet")):
            with tempfile.TemporaryDirectory() as folder:
                lines.append(through(file, Path(folder)))
            print(lines[-1])
    covered = [
        "| table | design | k | inverse, 10 or more noise rows | fewer | simplex, 10 or more | fewer | em, 10 or more | fewer |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for file in sorted(arguments.data.iterdir()):
        if file.name.endswith((".csv", ".csv.gz", ".parquet")) and "joint7" not in file.name:
            covered += coverage(file)
    if arguments.write:
        put("real", "\n".join(lines))
        put("coverage", "\n".join(covered))


if __name__ == "__main__":
    main()
