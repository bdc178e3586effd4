"""Weighted totals of real surveys from releases in which the weight is randomised too.

    python benchmarks/weights.py --data DIR           the census sample and NIST's ACS excerpt in DIR
    python benchmarks/weights.py --data DIR --write   also put the table into docs/results/benchmarks.md

Each survey keeps a few coarse columns and its weight. The weight is declared twice: with points, to which it is rounded at random,
and with bins, each standing for its middle. Weighted totals of every table of one and two of the
other columns are compared with those of the survey itself.
"""

from __future__ import annotations

import argparse
import bz2
import io
import itertools
from pathlib import Path

import numpy as np
import polars as pl

import pkanon as pk
from report import put

RELEASES = 100
POINTS = [0, 200, 800]
EDGES = [0, 50, 100, 200, 400, 801]


def census(folder: Path) -> pl.DataFrame:
    """Persons of the 1990 census sample, whose weights go up to 640."""
    packed = (folder / "uscensus1990_raw_sample50k.csv.bz2").read_bytes()
    raw = pl.read_csv(io.BytesIO(bz2.decompress(packed)), infer_schema_length=None)
    return raw.select(
        sex=pl.col("SEX").cast(pl.String),
        age=(pl.col("AGE") // 20).clip(0, 4).cast(pl.String),
        married=(pl.col("MARITAL") == 0).cast(pl.String),
        works=(pl.col("RLABOR").is_in([1, 2])).cast(pl.String),
        weight=pl.col("PWGT1"),
    )


def acs(folder: Path) -> pl.DataFrame:
    """Persons of NIST's excerpt of the American Community Survey; its few larger weights are cut to 800."""
    raw = pl.read_csv(folder / "nist_acs2019_national.csv.gz", infer_schema_length=None, null_values="N")
    return raw.select(
        sex=pl.col("SEX").cast(pl.String),
        age=(pl.col("AGEP") // 20).clip(0, 4).cast(pl.String),
        owner=(pl.col("OWN_RENT") == 1).cast(pl.String),
        degree=(pl.col("EDU").fill_null(0) >= 9).cast(pl.String),
        weight=pl.col("PWGTP").clip(0, 800),
    )


def measured(people: pl.DataFrame, weight: pk.Attribute, k: int) -> tuple[float, float, float]:
    """Coverage of 95% intervals; root mean square of (error / standard error); root mean square of relative errors."""
    names = people.columns[:-1]
    domains = [pk.Attribute(name, sorted(people[name].unique().to_list())) for name in names]
    plan = pk.plan(pk.Schema([*domains, weight]), records=people.height, k=k)
    tables = [*((name,) for name in names), *itertools.combinations(names, 2)]
    hits, scaled, relative = [], [], []
    for seed in range(RELEASES):
        release = pk.release(people, plan, randomness=pk.Seeded(seed))
        for table in tables:
            estimate = release.crosstab(*table, weights="weight")
            truth = np.zeros(estimate.counts.shape)
            for *values, total in people.group_by(table).agg(pl.col("weight").sum()).rows():
                truth[tuple(estimate.labels[i].index(value) for i, value in enumerate(values))] = total
            low, high = estimate.interval()
            hits.append(((low <= truth) & (truth <= high)).ravel())
            scaled.append(((estimate.counts - truth) / estimate.standard_errors).ravel())
            relative.append(((estimate.counts - truth) / truth.sum()).ravel())
    joined = [np.concatenate(each) for each in (hits, scaled, relative)]
    return float(joined[0].mean()), float(np.sqrt((joined[1] ** 2).mean())), float(np.sqrt((joined[2] ** 2).mean()))


def main() -> None:
    """Measure both surveys."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    lines = [
        f"{RELEASES} releases each, weighted totals of all tables of one and two columns. Points: {', '.join(map(str, POINTS))}; "
        f"edges of bins: {', '.join(map(str, EDGES))}.",
        "",
        "| survey | rows | k | weight declared by | coverage of 95% | error / stated error | error, share of the total |",
        "|---|---|---|---|---|---|---|",
    ]
    ways = {
        "points": pk.Attribute.pointed("weight", POINTS),
        "bins": pk.Attribute.binned("weight", edges=EDGES),
    }
    for name, people in {"census 1990, 1 in 50": census(chosen.data), "ACS 2019 (NIST)": acs(chosen.data)}.items():
        for k, (way, weight) in itertools.product((2, 20), ways.items()):
            coverage, scaled, relative = measured(people, weight, k)
            line = f"| {name} | {people.height:,} | {k} | {way} | {100 * coverage:.1f}% | {scaled:.2f} | {100 * relative:.2f}% |"
            print(line, flush=True)
            lines.append(line)
    if chosen.write:
        put("weights", "\n".join(lines))


if __name__ == "__main__":
    main()
