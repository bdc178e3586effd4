"""Advice on real tables: what it keeps, how long it takes, and whether the advised releases are as good as it says.

    python benchmarks/advise.py --data DIR            adult, nist_acs2019_national and arx_fars_int, as .csv.gz in DIR
    python benchmarks/advise.py --data DIR --write    also put the table into docs/custodian/advise.md

Each table is drafted (and the draft taken as confirmed, for this purpose only) and advised on without its rows, which are then
released with the advised schema again and again. The error of every pair of columns is compared with the predicted one.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np

import pkanon as pk
from pkanon._estimate import tabulate
from report import put

K = 20
QUESTIONS = {
    "adult": [{}, {"tables": [("education", "income")], "level": "good"}],
    "nist_acs2019_national": [{}, {"tables": [("AGEP", "SEX")], "level": "good"}],
    "arx_fars_int": [{}, {"tables": [("iage", "isex")], "level": "good"}],
}
HEADER = [
    "| table | asked | columns | pairs good, fair, poor, not readable | named table | measured / predicted | CPU seconds |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
]


def codes_of(file: Path, schema: pk.Schema) -> dict[str, np.ndarray]:
    """The true codes of a table, by a plan that changes nothing."""
    whole = pk.Plan(schema, tuple(pk.Retention(unit, 0) for unit in schema.units), records=1)
    release = pk.release(file, whole, randomness=pk.Seeded(0))
    return {name: np.asarray(codes) for name, codes in release.codes.items()}


def measured(file: Path, plan: pk.Plan, releases: int) -> float:
    """The mean error of all pairs of columns over some releases, divided by the mean predicted one."""
    schema = plan.schema
    names = [attribute.name for attribute in schema.randomised]
    sizes = {name: schema.attribute(name).size for name in names}
    # the rows of a plan that changes nothing are in a random order, and tables do not depend on it
    true = codes_of(file, schema)
    pairs = list(itertools.combinations(names, 2))
    truth = {pair: tabulate([true[n] for n in pair], [sizes[n] for n in pair]) for pair in pairs}
    rows = len(next(iter(true.values())))
    predicted = np.array([plan.predict(*pair).l1 for pair in pairs])
    errors = []
    for seed in range(releases):
        release = pk.release(file, plan, randomness=pk.Seeded(seed))
        errors.append([np.abs(release.crosstab(*pair).counts - truth[pair]).sum() / rows for pair in pairs])
    return float(np.mean(np.array(errors).mean(axis=0) / predicted))


def line(file: Path, name: str, question: dict[str, object], releases: int) -> str:
    """One question about one table; a row of the report."""
    schema = pk.draft_schema(file).schema.confirm(by="nobody: a benchmark")
    whole = pk.Plan(schema, tuple(pk.Retention(unit, 0) for unit in schema.units), records=1)
    records = pk.release(file, whole, randomness=pk.Seeded(0)).rows
    start = time.process_time()
    advice = pk.advise(schema, records=records, k=K, **question)  # type: ignore[arg-type]
    seconds = time.process_time() - start
    counts = advice.readable.counts(2)
    asked = "all pairs fair" if not question else f"{' x '.join(question['tables'][0])} {question['level']}"  # type: ignore[index]
    named = ", ".join(f"{advice.plan.predict(*table).l1:.3f}" for table in advice.tables) or "-"
    ratio = measured(file, advice.plan, releases)
    return (
        f"| {name}, {records:,} rows | {asked} | {len(advice.schema.randomised)} of {len(schema.randomised)} | "
        f"{', '.join(str(count) for count in counts.values())} | {named} | {ratio:.3f} | {seconds:.0f} |"
    )


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into docs/custodian/advise.md")
    arguments = parser.parse_args()
    lines = list(HEADER)
    for name, questions in QUESTIONS.items():
        for question in questions:
            lines.append(line(arguments.data / f"{name}.csv.gz", name, question, arguments.releases))
            print(lines[-1], flush=True)
    if arguments.write:
        put(
            "advise",
            page="../custodian/advise.md",
            report=f"k = {K}; {arguments.releases} releases each.\n\n" + "\n".join(lines),
        )


if __name__ == "__main__":
    main()
