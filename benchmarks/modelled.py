"""What modelled rows are good for, and what not: tables, classifiers, and intervals from several draws.

    make modelled DATA=folder                          adult.csv.gz and uscensus1990_7attr_sample50k.csv.gz in a folder
    make modelled DATA=folder ARGUMENTS="--write"      also put tables and figure into docs/results/modelled.md

Four fifths of the people are released (design optimal), a fifth is kept apart to judge classifiers by. Classifiers learn whether
income is above a limit from all other attributes, one indicator per value. Intervals: people are drawn from the table with
replacement, so that the table itself is the population whose shares the intervals should hold.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import pkanon as pk
from comparison import TABLES, coded
from modelled_figure import chart
from pkanon._estimate import tabulate
from report import FIGURES, put
from synthetic import People, digits

KS = (2, 10, 100, 1_000)
RELEASES, DRAWS = 3, 5
LIMITS = {"adult.csv.gz": 1, "uscensus1990_7attr_sample50k.csv.gz": 4}
"""The lowest code of income that counts as high: over 50,000 dollars a year; 20,000 dollars and more."""
LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic regression": lambda: LogisticRegression(C=1.0, max_iter=400),
    "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}
LARGE = 0.01
"""Share of the people in a cell from which it counts as large."""


@dataclass(frozen=True)
class Split:
    """People who are released, people kept apart, and what is to be learned."""

    people: People
    test: list[np.ndarray]
    limit: int

    def features(self, codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Indicators of all values of all attributes but income, and whether income is high."""
        target = self.people.schema.names.index("income")
        columns = [
            np.eye(size, dtype=np.float32)[column]
            for place, (column, size) in enumerate(zip(codes, self.people.sizes))
            if place != target
        ]
        return np.concatenate(columns, axis=1), (codes[target] >= self.limit).astype(int)


def split(file: Path) -> Split:
    """A fifth of the people apart."""
    name, read = TABLES[file.name]
    frame, schema = coded(read(file))
    frame = frame.sample(fraction=1, shuffle=True, seed=3)
    fifth = frame.height // 5
    apart = [frame[:fifth][name].to_numpy().astype(np.uint8) for name in schema.names]
    return Split(People(name, frame[fifth:], schema), apart, LIMITS[file.name])


def codes_of(people: People, frame: pl.DataFrame) -> list[np.ndarray]:
    """Columns of whole numbers as codes."""
    return [frame[name].to_numpy().astype(np.uint8) for name in people.schema.names]


def tables(people: People, release: pk.Release, rows: Sequence[np.ndarray], seed: int) -> dict[str, list[float]]:
    """L1 of tables of 1, 2 and 3 attributes: of the rows as they are, and of corrected tables."""
    names = people.schema.names
    again = np.random.default_rng(seed).integers(0, people.frame.height, people.frame.height)
    ways = {
        "released rows": people.tables(codes_of(people, release.table)),
        "modelled rows": people.tables(rows),
        "people drawn again": people.tables([column[again] for column in people.codes]),
    }
    for method in ("simplex", "model"):
        ways[method] = {s: release.crosstab(*(names[a] for a in s), method=method).counts for s in people.subsets}
    return {way: people.errors(found) for way, found in ways.items()}


def judged(whole: Split, codes: Sequence[np.ndarray]) -> dict[str, dict[str, Any]]:
    """Classifiers trained on these rows, judged by the people kept apart."""
    features, target = whole.features(codes)
    apart, truth = whole.features(whole.test)
    found = {}
    for name, make in LEARNERS.items():
        learner = make().fit(features, target)
        chance = learner.predict_proba(apart)[:, 1]
        found[name] = {
            "accuracy": float(((chance > 0.5) == truth).mean()),
            "AUC": float(roc_auc_score(truth, chance)),
            "log-loss": float(log_loss(truth, chance)),
            "coefficients": getattr(learner, "coef_", None),
        }
    return found


def classifiers(whole: Split) -> tuple[list[dict[str, Any]], dict[int, dict[str, np.ndarray]]]:
    """Lines of scores by k, learner and the rows that it learned from; and the errors of tables."""
    people = whole.people
    raw = judged(whole, people.codes)
    lines, errors = [], {}
    for k in KS:
        plan = pk.plan(people.schema, records=people.frame.height, k=k)
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        each = []
        for seed in range(RELEASES):
            start = time.perf_counter()
            release = pk.release(people.frame, plan, randomness=pk.Seeded(seed))
            rows = codes_of(people, release.modelled(seed=seed).table)
            seconds = time.perf_counter() - start
            each.append(tables(people, release, rows, seed))
            for way, codes in (("modelled rows", rows), ("released rows", codes_of(people, release.table))):
                for learner, scores in judged(whole, codes).items():
                    found.setdefault((learner, way), []).append(scores)
        errors[k] = {way: np.mean([one[way] for one in each], axis=0) for way in each[0]}
        for learner in LEARNERS:
            found[learner, "raw rows"] = [raw[learner]]
        for (learner, way), scores in found.items():
            line = {"people": people.name, "k": k, "learner": learner, "rows": way}
            line |= {name: float(np.mean([s[name] for s in scores])) for name in ("accuracy", "AUC", "log-loss")}
            if learner == "logistic regression":
                own = raw[learner]["coefficients"][0]
                line["coefficients"] = float(np.mean([np.corrcoef(s["coefficients"][0], own)[0, 1] for s in scores]))
            lines.append(line)
        print(f"{people.name}, k = {k:,}: {seconds:.0f} s to release and model", file=sys.stderr, flush=True)
    return lines, errors


def coverage(people: People, k: int) -> dict[str, Any]:
    """How many shares of tables of two attributes the nominal 95% intervals hold, and how wide they are beside ours."""
    names, n = people.schema.names, people.frame.height
    plan = pk.plan(people.schema, records=n, k=k)
    held: dict[str, list[np.ndarray]] = {}
    widths: dict[str, list[np.ndarray]] = {}
    large: list[np.ndarray] = []
    for seed in range(RELEASES):
        chosen = np.random.default_rng([seed, k]).integers(0, n, n)
        release = pk.release(people.frame[chosen], plan, randomness=pk.Seeded(seed))
        made = release.modelled(draws=DRAWS, seed=seed).table
        draws = [codes_of(people, part) for part in made.partition_by("draw", maintain_order=True)]
        for pair in itertools.combinations(range(len(names)), 2):
            truth = people.truth[pair] / n
            shares = np.stack([tabulate([d[a] for a in pair], [people.sizes[a] for a in pair]) for d in draws]) / n
            variances = shares * (1 - shares) / n
            low, high = release.crosstab(*(names[a] for a in pair), about="population").interval(0.95)
            found = {"inverse": (low / n, high / n)}
            reach = 1.96 * np.sqrt(variances[0])
            found["one draw as people"] = (shares[0] - reach, shares[0] + reach)
            for rule in ("synthetic", "rubin"):
                found[rule] = pk.combine_draws(shares, variances, rule=rule).interval(0.95)
            large.append((truth >= LARGE).ravel())
            for way, (lowest, highest) in found.items():
                held.setdefault(way, []).append(((lowest <= truth) & (truth <= highest)).ravel())
                widths.setdefault(way, []).append(((highest - lowest) / (high - low) * n).ravel())
    some = np.concatenate(large)
    return {
        "people": people.name,
        "k": k,
        "found": {
            way: (
                float(np.concatenate(held[way]).mean()),
                float(np.concatenate(held[way])[some].mean()),
                float(np.concatenate(widths[way])[some].mean()),
            )
            for way in held
        },
    }


def scores_table(lines: Sequence[dict[str, Any]]) -> str:
    """Accuracy, AUC and the correlation of coefficients, in Markdown."""
    rows = [
        "| table | learner | rows it learned from | k | accuracy | AUC | log-loss | coefficients, correlation with raw |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    seen = set()
    for line in lines:
        k = "" if line["rows"] == "raw rows" else f"{line['k']:,}"
        key = (line["people"], line["learner"], line["rows"], k)
        if key not in seen:
            seen.add(key)
            last = f"{line['coefficients']:.2f}" if "coefficients" in line else ""
            values = f"{line['accuracy']:.3f} | {line['AUC']:.3f} | {line['log-loss']:.3f}"
            rows.append(f"| {line['people']} | {line['learner']} | {line['rows']} | {k} | {values} | {last} |")
    return "\n".join([*rows[:2], *sorted(rows[2:], key=_order)])


def _order(row: str) -> tuple[str, str, int, int]:
    _, table, learner, rows, k, *_ = (cell.strip() for cell in row.split("|"))
    return table, learner, ("raw rows", "modelled rows", "released rows").index(rows), int(k.replace(",", "") or 0)


def errors_table(errors: dict[str, dict[int, dict[str, np.ndarray]]]) -> str:
    """L1 of 1 / 2 / 3 attributes."""
    ways = ["released rows", "simplex", "model", "modelled rows", "people drawn again"]
    rows = [f"| table | k | {' | '.join(ways)} |", f"| --- | ---: |{' ---: |' * len(ways)}"]
    for name, by_k in errors.items():
        for k, found in by_k.items():
            cells = [" / ".join(digits(value) for value in found[way]) for way in ways]
            rows.append(f"| {name} | {k:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def coverage_table(lines: Sequence[dict[str, Any]]) -> str:
    """Share of cells held, of all and of large ones, and width beside the interval of ``inverse``."""
    ways = {
        "inverse": "`inverse`",
        "rubin": "5 draws, `rubin`",
        "synthetic": "5 draws, `synthetic`",
        "one draw as people": "one draw, as if people",
    }
    rows = [f"| table | k | {' | '.join(ways.values())} |", f"| --- | ---: |{' ---: |' * len(ways)}"]
    for line in lines:
        cells = [
            f"{every:.0%} / {some:.0%} at {width:.2f}" for every, some, width in (line["found"][way] for way in ways)
        ]
        rows.append(f"| {line['people']} | {line['k']:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="put tables and figure into docs/results/modelled.md")
    arguments = parser.parse_args()
    scores: list[dict[str, Any]] = []
    errors: dict[str, dict[int, dict[str, np.ndarray]]] = {}
    held = []
    for file in LIMITS:
        whole = split(arguments.data / file)
        lines, errors[whole.people.name] = classifiers(whole)
        scores += lines
        held += [coverage(whole.people, k) for k in KS]
    parts = {"tables": errors_table(errors), "classifiers": scores_table(scores), "draws": coverage_table(held)}
    for name, part in parts.items():
        print(f"\n{part}")
        if arguments.write:
            put(name, part, page="modelled.md")
    if arguments.write:
        target = FIGURES / "modelled.svg"
        target.unlink(missing_ok=True)
        pk.save_chart(chart(scores), target)


if __name__ == "__main__":
    main()
