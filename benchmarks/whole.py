"""Whole calls today and at an earlier commit, in processor time, in one run.

    python benchmarks/whole.py                   print the tables
    python benchmarks/whole.py --write           also put them and a chart into docs/results/benchmarks.md
    python benchmarks/whole.py --part planning   one of the two tables alone

Each task runs in a process of its own: of today's sources, of the earlier ones (a work tree of that commit, for the time of
the run), and its baseline beside it. Processor time of all threads is counted, so that a busy machine does less harm, and beside it the
seconds that passed. A task that has not ended after LIMIT seconds is stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import pkanon as pk
from report import FIGURES, PADDING, put

ROOT = Path(__file__).parent.parent
EARLIER = "3d0b1a6"
LIMIT = 60

COMMON = """
import itertools, json, statistics, sys, time, warnings
import numpy as np, polars as pl, pkanon as pk
warnings.simplefilter("ignore")
def seconds(*tasks, rounds):
    clocks = time.process_time, time.perf_counter
    times = [[[] for _ in tasks] for _ in clocks]
    for _ in range(rounds):
        for number, task in enumerate(tasks):
            start = [clock() for clock in clocks]; task()
            for found, clock, begun in zip(times, clocks, start): found[number].append(clock() - begun)
    print(json.dumps([statistics.median(found) for own in times for found in own]))
"""

RELEASE = """
rows, kind, design = int(sys.argv[1]), sys.argv[2], sys.argv[3]
schema, table = pk.demo_schema(), pk.demo_table().sample(fraction=1, shuffle=True, seed=1).head(int(sys.argv[1]))
codes = table.select(pl.all().to_physical())
if kind != "categories":
    schema = pk.Schema([pk.Attribute(a.name, list(range(a.size))) for a in schema.randomised])
    table = codes.cast(pl.Int64) if kind == "64 bits" else codes
plan = pk.plan(schema, records=rows, k=2, design=design)
columns, sizes, rng = [codes[n].to_numpy() for n in schema.names], [a.size for a in schema.randomised], np.random.default_rng()
def script():
    drawn = [np.where(rng.random(rows) < 0.3, c, rng.integers(0, s, rows, dtype=np.uint8)) for c, s in zip(columns, sizes)]
    order = rng.permutation(rows)
    [column[order] for column in drawn]
pk.release(table, plan)
seconds(script, lambda: pk.release(table, plan), rounds=7 if rows > 10**6 else 25)
"""

MILLION = """
import shutil, tempfile
from pathlib import Path
texts = [f"value {i:07d}" for i in range(10**6)]
schema = pk.Schema([pk.Attribute("code", texts), pk.Attribute("sex", ["F", "M"])])
rng = np.random.default_rng(1)
table = pl.DataFrame({"code": pl.Series(texts)[pl.Series(rng.integers(0, 10**6, 10**6))], "sex": ["F", "M"] * 500_000})
plan = pk.plan(schema, records=10**6, k=2, design="equal-rho")
folder = Path(tempfile.mkdtemp())
def times():
    start = time.process_time(); made = pk.release(table, plan); yield time.process_time() - start
    made.save(folder / "out")
    start = time.process_time(); pk.open_release(folder / "out"); yield time.process_time() - start
found = list(times())
shutil.rmtree(folder)
print(json.dumps([found[sys.argv[1] == "open"]]))
"""

FRAME = """
schema, table = pk.demo_schema(), pk.demo_table()
made = pk.release(table, pk.plan(schema, records=table.height, k=2, design="equal-rho"))
estimate = made.crosstab(*schema.names)
start = time.process_time(); estimate.to_polars(); print(json.dumps([time.process_time() - start]))
"""

PAIRS = """
rng, labels = np.random.default_rng(1), [f"v{i}" for i in range(5)]
names = [f"a{i}" for i in range(60)]
schema = pk.Schema([pk.Attribute(name, labels) for name in names])
table = pl.DataFrame({n: pl.Series(rng.integers(0, 5, 200_000).astype(np.uint8)).cat.to(pl.Enum(labels)) for n in names})
made = pk.release(table, pk.plan(schema, records=200_000, k=2, design="equal-rho"))
codes = pl.DataFrame(dict(made.codes))
def pairs():
    for a, b in itertools.combinations(names, 2): codes.group_by(a, b).len()
seconds(pairs, made.correlations, rounds=1)
"""

CROSSTAB = """
import os, shutil, subprocess, tempfile
from pathlib import Path
schema, table = pk.demo_schema(), pk.demo_table()
rows = table.height * int(sys.argv[1])
table = pl.concat([table] * int(sys.argv[1]))
folder = Path(tempfile.mkdtemp())
pk.release(table, pk.plan(schema, records=rows, k=2, design="equal-rho")).save(folder / "out")
data, group = folder / "out" / "data.parquet", "pl.read_parquet(sys.argv[1], columns=['sex', 'age']).group_by('sex', 'age').len()"
def used(*command):
    before = os.times(); subprocess.run([sys.executable, *command], check=True, capture_output=True); after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
ours = lambda: used("-m", "pkanon", "crosstab", str(folder / "out"), "sex", "age")
theirs = lambda: used("-c", f"import sys; import polars as pl; {group}", str(data))
theirs(), ours()
found = [[theirs(), ours()] for _ in range(3)]
shutil.rmtree(folder)
print(json.dumps([statistics.median(column) for column in zip(*found)]))
"""

PLAN = """
attributes, sizes, target = int(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
names = [(f"a{i}", sizes[i % len(sizes)]) for i in range(attributes)]
schema = pk.Schema([pk.Attribute(name, [f"v{j}" for j in range(size)]) for name, size in names])
start = time.process_time(); pk.plan(schema, records=100_000, **target); print(json.dumps([time.process_time() - start]))
"""
SIX, DIFFERENT = "[2, 3, 5, 8, 12, 4]", "[2, 3, 5, 7, 9, 12, 15, 18, 22, 30, 40, 50]"

Task = tuple[str, str, tuple[str, ...], str, int]
TASKS: list[Task] = [
    *(
        (f"release, {kind}, {rows:,} rows, {design}", RELEASE, (str(rows), kind, design), "numpy script", 3)
        for rows in (10_000, 100_000, 250_000, 2_458_285)
        for kind, design in (("categories", "equal-rho"), ("categories", "optimal"), ("64 bits", "equal-rho"))
    ),
    ("release of a million texts, a million rows", MILLION, ("release",), "", 1),
    ("open that release", MILLION, ("open",), "", 1),
    ("1,399,680 cells to a frame, with errors and intervals", FRAME, (), "", 1),
    ("correlations of 60 attributes, 200,000 rows", PAIRS, (), "polars counts the pairs", 1),
]
OTHERS: list[Task] = [
    *(
        (
            f"pkanon crosstab of 2 in 7 attributes, {2_458_285 * times:,} rows",
            CROSSTAB,
            (str(times),),
            "polars reads 2 and groups",
            1,
        )
        for times in (1, 10)
    ),
    *(
        (f"plan, 12 attributes{more}, k = {k:,}", PLAN, ("12", sizes, f'{{"k": {k}}}'), "", 1)
        for more, sizes in (("", SIX), (" of 12 sizes", DIFFERENT))
        for k in (2, 100, 10_000)
    ),
    *(
        (f"plan, 12 attributes{more}, central epsilon = 1", PLAN, ("12", sizes, '{"central_epsilon": 1.0}'), "", 1)
        for more, sizes in (("", SIX), (" of 12 sizes", DIFFERENT))
    ),
    *((f"plan, {number} attributes, k = 20", PLAN, (str(number), SIX, '{"k": 20}'), "", 1) for number in (60, 200)),
]
PARTS = {"whole": TASKS, "planning": OTHERS}


def measured(code: str, arguments: tuple[str, ...], source: Path) -> list[float]:
    """Processor seconds of the baseline, if there is one, and of pkanon; then perhaps the seconds that passed."""
    environment = os.environ | {"PYTHONPATH": str(source / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once, not at every start
    command = [sys.executable, "-c", COMMON + code, *arguments]
    try:  # a limit on processor time would make the clock of some kernels coarse
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return [math.inf, math.inf]
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(number) for number in json.loads(done.stdout.splitlines()[-1])]


def line(task: Task, earlier: Path) -> dict[str, object]:
    """One row of the table: milliseconds and ratios, medians over rounds in turn."""
    name, code, arguments, baseline, rounds = task
    runs: dict[Path, list[list[float]]] = {ROOT: [], earlier: []}
    for _ in range(rounds):
        for source, found in runs.items():
            found.append(measured(code, arguments, source))
    now, then = ([statistics.median(column) for column in zip(*found)] for found in runs.values())
    print(name, now, then, file=sys.stderr)
    return {
        "what": name,
        "baseline": baseline,
        "baseline ms": 1e3 * now[0] if baseline else None,
        "before ms": 1e3 * then[bool(baseline)],
        "now ms": 1e3 * now[bool(baseline)],
        "before": then[1] / then[0] if baseline else None,
        "now": now[1] / now[0] if baseline else None,
        "clock": now[3] / now[2] if len(now) == 4 else None,  # processor times first, then seconds passed
    }


def drawn(rows: list[dict[str, object]]) -> None:
    """The chart: before and now, each as a share of its baseline."""
    points = [
        {"what": row["what"], "when": when, "ratio": row[when]}
        for row in rows
        if row["baseline"]
        for when in ("before", "now")
    ]
    order = [row["what"] for row in rows]
    base = alt.Chart(alt.Data(values=points)).encode(
        y=alt.Y("what:N", sort=order, title=None, axis=alt.Axis(labelLimit=360)),
        x=alt.X("ratio:Q", scale=alt.Scale(type="log"), title="time / time of the baseline (log scale)"),
    )
    rule = alt.Chart(alt.Data(values=[{"one": 1}])).mark_rule(strokeDash=[4, 4]).encode(x="one:Q")
    chart = rule + base.mark_point(filled=True, size=70).encode(color=alt.Color("when:N", title=None))
    (FIGURES / "benchmarks.svg").unlink(missing_ok=True)
    pk.save_chart(chart.properties(width=380, padding=PADDING), FIGURES / "benchmarks.svg")


def table_of(rows: list[dict[str, object]]) -> str:
    """The rows as Markdown."""

    def number(value: float | None, digits: int) -> str:
        if value is None or math.isnan(value):
            return ""
        return f"more than {1e3 * LIMIT:,.0f}" if math.isinf(value) else f"{value:,.{digits}f}"

    lines = [
        "| what | baseline | baseline ms | before ms | now ms | before / baseline | now / baseline | in seconds passed |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        cells = [number(row[key], 1) for key in ("baseline ms", "before ms", "now ms")]
        cells += [number(row[key], 2) for key in ("before", "now", "clock")]
        lines.append(f"| {row['what']} | {row['baseline']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help="put the table and a chart into docs/results/benchmarks.md"
    )
    parser.add_argument("--earlier", default=EARLIER, help="the commit to compare with")
    parser.add_argument("--part", choices=PARTS, action="append", help="which of the tables")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        earlier = Path(folder) / "earlier"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(earlier), arguments.earlier], check=True)
        try:
            tables = {part: [line(task, earlier) for task in PARTS[part]] for part in arguments.part or PARTS}
        finally:
            subprocess.run([*git, "remove", "--force", str(earlier)], check=True)
    for part, rows in tables.items():
        report = (
            f"Processor time; before = commit {arguments.earlier}. {os.cpu_count()} cores, {platform.machine()}, "
            f"Python {platform.python_version()}, numpy {np.__version__}, polars {pl.__version__}.\n\n{table_of(rows)}"
        )
        print(report)
        if arguments.write and part == "whole":
            drawn(rows)
            report += "\n\n![Time as a share of the baseline, before and now](../figures/benchmarks.svg)"
        if arguments.write:
            put(part, report)


if __name__ == "__main__":
    main()
