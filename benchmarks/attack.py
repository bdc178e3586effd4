"""The custodian's attack at a million rows, on real tables.

    python benchmarks/attack.py --data DIR             the tables below, drawn with replacement up to a million rows
    python benchmarks/attack.py --data DIR --write     also put the table into docs/results/attack.md

    uscensus1990_7attr_sample50k.csv.gz   50,000 people of the US census of 1990, coded as the embedded table
    atus_2003_2016_persons.csv.gz         181,335 people of the American Time Use Survey

Every release has a fresh key, so the numbers of hits differ from run to run.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import pkanon as pk
from comparison import TABLES, coded
from report import put

FILES = ("uscensus1990_7attr_sample50k.csv.gz", "atus_2003_2016_persons.csv.gz")
DESIGNS = ("equal-rho", "joint", "optimal")
KS = (2, 10, 100)
ROWS = 1_000_000
HEADER = (
    "| table | design | k | 1/k | highest stated | mean stated | hits | at most | processor time |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def percent(share: float) -> str:
    """Three digits."""
    return f"{100 * share:.3g}%"


def line(name: str, frame: object, schema: pk.Schema, design: str, k: int) -> str:
    """One attack, as a line of the table."""
    plan = pk.plan(schema, records=ROWS, k=k, design=design)
    release = pk.release(frame, plan)
    start = time.process_time()
    found = pk.attack(frame, release, rehearsals=1)
    seconds = time.process_time() - start
    assert found.kept
    assert found.links is not None
    assert found.line is not None
    assert found.links.highest <= found.line
    whole = found.links.whole
    high = whole.interval(0.9)[1]
    assert high <= found.line
    return (
        f"| {name} | {design} | {k} | {percent(found.line)} | {percent(found.links.highest)} | "
        f"{percent(found.links.stated)} | {whole.hits:,} ({percent(whole.hit_rate)}) | {percent(high)} | {seconds:.0f} s |"
    )


def main() -> None:
    """Print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the tables")
    parser.add_argument("--write", action="store_true", help="put the table into docs/results/attack.md")
    options = parser.parse_args()
    lines = [HEADER]
    print(HEADER)
    for file in FILES:
        name, read = TABLES[file]
        frame, schema = coded(read(options.data / file))
        rows = np.random.default_rng(1).integers(0, frame.height, ROWS)
        frame = frame[rows]
        for design in DESIGNS:
            for k in KS:
                lines.append(line(name, frame, schema, design, k))
                print(lines[-1], flush=True)
    if options.write:
        put("attack", "\n".join(lines), page="attack.md")


if __name__ == "__main__":
    main()
