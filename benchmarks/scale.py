"""Tables larger than memory: time and memory of a release against polars copying the same file, from 10^5 rows on.

    python benchmarks/scale.py FOLDER                     10^5 to 10^7 rows, files in FOLDER
    python benchmarks/scale.py FOLDER --largest 8 --csv 300000000   to 10^8 rows of Parquet, and as many of CSV
    ... --write                                           also put the tables and the chart into docs/

Rows are drawn from the embedded table with repetition. Both sides are processes of their own, run one after the other in each
round; peak memory is what the kernel says of the process (resident, with mapped files). The largest file is verified, too.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

import pkanon as pk
from report import FIGURES, PADDING, put

PIECE = 2**20
MEMORY = "1GB"
COPY = "import polars as pl, sys; pl.scan_{0}(sys.argv[1]).sink_{0}(sys.argv[2])"


def generate(rows: int, path: Path) -> None:
    """A file of rows drawn from the embedded table."""
    table, draw = pk.demo_table(), np.random.default_rng(1)

    def read(
        columns: list[str] | None, predicate: object, wanted: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        for start in range(0, rows, PIECE):
            yield table[draw.integers(0, table.height, min(PIECE, rows - start)).astype(np.uint32)]

    lazy = register_io_source(read, schema=table.schema)
    lazy.sink_parquet(path) if path.suffix == ".parquet" else lazy.sink_csv(path)


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and peak megabytes of a command."""
    start, before, peak = time.perf_counter(), os.times(), 0.0
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages)
        while process.poll() is None:
            # what a process reports at its end includes what its parent had before: look at it while it runs
            with suppress(OSError, TypeError):
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = max(peak, float(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1e3)
            time.sleep(0.01)
        if process.returncode:
            messages.seek(0)
            raise SystemExit(messages.read().decode())
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, used, peak


def compare(rows: int, folder: Path, form: str, rounds: int) -> dict[str, float | str]:
    """One line of the table."""
    file, plan, out, copy = (folder / name for name in (f"people.{form}", "plan.json", "out", f"copy.{form}"))
    generate(rows, file)
    pk.plan(pk.demo_schema(), records=rows, k=100).save(plan)
    ours, theirs = [], []
    for _ in range(rounds):
        shutil.rmtree(out, ignore_errors=True)
        theirs.append(measured([sys.executable, "-c", COPY.format(form), str(file), str(copy)]))
        copy.unlink()  # the disk may have no room for three
        command = [sys.executable, "-m", "pkanon", "release", str(file), "--plan", str(plan), "-o", str(out)]
        ours.append(measured([*command, "--memory", MEMORY, "--format", form]))
    plan.unlink()
    result: dict[str, float | str] = {
        "rows": rows,
        "form": form,
        "size": file.stat().st_size / 1e6,
        "ours": statistics.median(each[0] for each in ours),
        "copy": statistics.median(each[0] for each in theirs),
        "ratio": statistics.median(a[0] / b[0] for a, b in zip(ours, theirs)),
        "cpu": statistics.median(a[1] / b[1] for a, b in zip(ours, theirs)),
        "memory": max(each[2] for each in ours),
        "copy memory": max(each[2] for each in theirs),
    }
    file.unlink()
    return result


def verified(out: Path) -> str:
    """What verify says of the last release."""
    _, used, memory = measured([sys.executable, "-m", "pkanon", "verify", str(out)])  # ends here if something is broken
    return f"nothing is broken; it took {used:.0f} s of CPU time and {memory / 1e3:.1f} GB."


def table(lines: list[dict[str, float | str]]) -> str:
    """The lines as Markdown."""
    head = "| rows | file | MB | release, s | copy, s | ratio | ratio of CPU time | µs a row | peak memory, MB | of the copy |"
    rows = [
        f"| {line['rows']:,} | {line['form']} | {line['size']:,.0f} | {line['ours']:.1f} | {line['copy']:.1f} | "
        f"{line['ratio']:.2f} | {line['cpu']:.2f} | {1e6 * float(line['ours']) / float(line['rows']):.2f} | "
        f"{line['memory']:,.0f} | {line['copy memory']:,.0f} |"
        for line in lines
    ]
    return "\n".join([head, "|" + "---|" * 10, *rows])


def chart(lines: list[dict[str, float | str]]) -> alt.Chart:
    """Seconds against rows, both on logarithmic scales: a straight line that rises by one is linear."""
    values = [
        {"rows": line["rows"], "seconds": line[key], "what": name}
        for line in lines
        if line["form"] == "parquet"
        for key, name in (("ours", "pkanon release --memory 1GB"), ("copy", "polars copies the file"))
    ]
    names = ["pkanon release --memory 1GB", "polars copies the file"]
    colour = alt.Color("what:N", title=None, scale=alt.Scale(domain=names, range=["#0072B2", "#D55E00"]))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows", axis=alt.Axis(format="~s")),
        y=alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds"),
        color=colour,
        strokeDash=alt.StrokeDash("what:N", legend=None),
    )
    drawn = base.mark_line() + base.mark_point(size=60, filled=True)
    return drawn.properties(width=460, height=280, padding=PADDING)


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--largest", type=int, default=7, help="10^N rows of Parquet")
    parser.add_argument("--csv", type=int, default=10**6, help="rows of CSV")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines, found = [], ""
    for power in range(5, options.largest + 1):
        lines.append(compare(10**power, options.folder, "parquet", options.rounds))
        print(lines[-1], flush=True)
    found = verified(options.folder / "out")
    print(found, flush=True)
    lines.append(compare(options.csv, options.folder, "csv", 1))
    shutil.rmtree(options.folder / "out")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    text = (
        f"Measured on {machine}, polars {pl.__version__}, load average {os.getloadavg()[2]:.1f}.\n\n{table(lines)}\n\n"
    )
    text += f"`pkanon verify` of the largest Parquet file: {found}\n"
    print(text)
    if options.write:
        put("scale", text, page="scale.md")
        (FIGURES / "scale.svg").unlink(missing_ok=True)
        pk.save_chart(chart(lines), FIGURES / "scale.svg")


if __name__ == "__main__":
    main()
