"""How much verification notices: releases that were made in another way than they say, and how strong the evidence is.

    python benchmarks/verify.py                        the embedded table
    python benchmarks/verify.py --data FILE...         any tables (CSV or Parquet), up to seven columns of each
    python benchmarks/verify.py --rows 2000 20000 --k 20 --design optimal

Every line is one claim and one truth: nothing randomised at all, one column not randomised (how many of the columns are
noticed), rows made with a smaller k than claimed. Evidence is in powers of ten; the check says broken from 6 on. Rows
are shuffled in every case, so only the tables can tell.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._audit.verification.order import order_evidence
from pkanon._audit.verification.possible import table_evidence
from pkanon._sample import Keystream, Seeded, randomise
from pkanon._schema import Codes

MOST_COLUMNS = 7
LARGEST = 60
"""Values of a column; what a draft proposes beyond is left out here."""


def codes_of(table: object, schema: pk.Schema) -> dict[str, Codes]:
    """The private table in codes, in a random order: released with a plan that keeps everything."""
    whole = pk.Plan(schema, tuple(pk.Retention(unit, 0) for unit in schema.units), records=1)
    return dict(pk.release(table, whole, randomness=pk.Seeded(0), drafted_not_protected=True).codes)


def drafted(file: Path) -> tuple[pk.Schema, dict[str, Codes]]:
    """Some columns of a file as codes."""
    schema = pk.Schema(pk.draft_schema(file).schema.attributes)
    codes = codes_of(file, schema)
    fitting = [attribute for attribute in schema.randomised if 2 <= attribute.size <= LARGEST][:MOST_COLUMNS]
    chosen = pk.Schema([pk.Attribute.ranged(a.name, 0, a.size - 1) for a in fitting])
    return chosen, {name: codes[name] for name in chosen.names}


def randomised(plan: pk.Plan, people: Mapping[str, Codes], seed: int) -> dict[str, Codes]:
    """Randomised rows in the order of the people."""
    columns = [unit.join([people[name] for name in unit.attributes]) for unit in plan.units]
    out = [np.empty_like(column) for column in columns]
    randomise(plan.blocks, columns, Keystream(Seeded(seed).key()), out=out)
    return {n: codes for unit, both in zip(plan.units, out) for n, codes in zip(unit.attributes, unit.split(both))}


def evidence(plan: pk.Plan, codes: Mapping[str, Codes], order: np.ndarray) -> float:
    """The evidence of the tables in powers of ten."""
    return table_evidence(plan.blocks, {name: column[order] for name, column in codes.items()}).total / math.log(10)


def line(name: str, schema: pk.Schema, people: Mapping[str, Codes], k: int, design: str) -> str:
    """One table with one plan; a row of the report."""
    rows = len(next(iter(people.values())))
    plan = pk.plan(schema, records=rows, k=k, design=design)
    order = np.random.default_rng(1).permutation(rows)
    honest = randomised(plan, people, 2)
    start = time.perf_counter()
    cells = [evidence(plan, honest, order)]
    seconds = time.perf_counter() - start
    cells.append(evidence(plan, people, order))
    columns = [evidence(plan, honest | {column: people[column]}, order) for column in people]
    others = [
        evidence(plan, randomised(pk.plan(schema, records=rows, k=less, design=design), people, 3), order)
        for less in (2, max(2, k // 4))
    ]
    start = time.perf_counter()
    order_evidence({column: codes[order] for column, codes in honest.items()})
    seconds += time.perf_counter() - start
    noticed = sum(found >= 6 for found in columns)
    texts = [
        f"{cells[0]:.1f}",
        f"{cells[1]:.0f}",
        f"{noticed} of {len(columns)}",
        *(f"{found:.0f}" for found in others),
    ]
    return f"| {name} | {rows:,} | {design} | {k} | {' | '.join(texts)} | {seconds:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", nargs="*", type=Path, default=[])
    parser.add_argument("--rows", nargs="*", type=int, default=[2_000, 20_000])
    parser.add_argument("--k", nargs="*", type=int, default=[20, 100])
    parser.add_argument("--design", nargs="*", default=["equal-rho", "optimal"])
    arguments = parser.parse_args()
    schema = pk.demo_schema()
    tables = {"the embedded table": (schema, codes_of(pk.demo_table(), schema))}
    tables |= {file.name: drafted(file) for file in arguments.data}
    print(
        "| table | rows | design | k | honest | never randomised | one column not randomised | made with k = 2 | k/4 | seconds |"
    )
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, (schema, people) in tables.items():
        whole = len(next(iter(people.values())))
        for rows in sorted({min(rows, whole) for rows in arguments.rows}):
            chosen = pl.Series(range(whole)).sample(rows, seed=1, shuffle=True).to_numpy()
            some = {column: np.ascontiguousarray(codes[chosen]) for column, codes in people.items()}
            for design in arguments.design:
                for k in arguments.k:
                    print(line(name, schema, some, k, design), flush=True)


if __name__ == "__main__":
    main()
