"""The method model beside the others on real tables: errors, intervals on average over cells, what it usually comes to, time.

    python benchmarks/model.py --data DIR                  all five tables, five releases each
    python benchmarks/model.py --data DIR --write          also put the results into docs/results/model.md
    python benchmarks/model.py --data DIR --releases 1 --tables adult --ks 100
    python benchmarks/model.py --data DIR --only untouched --write    a table that classes and ridges were not chosen on
    python benchmarks/model.py --data DIR --first 700      other releases of the five tables
    python benchmarks/model.py --data DIR --only fewer --write      what it usually comes to in samples of the five tables
    python benchmarks/model.py --data DIR --only few-covered --write    intervals in samples
    python benchmarks/model.py --data DIR --only weakest --write    single releases where rows say almost nothing of relations
    python benchmarks/model.py --data DIR --only rules --write      small made-up tables in which values exclude one another
    python benchmarks/model.py --data DIR --only large --write      the table of 2,458,285 people (--only time: time)

DIR holds uscensus1990_7attr_sample50k.csv.gz, adult.csv.gz, nist_acs2019_national.csv.gz, atus_2003_2016_persons.csv.gz and
arx_fars_int.csv.gz. The table of 2,458,285 people is the one that the package contains. Errors are sums of absolute errors of
all cells, divided by the rows, and means over all tables of two (three) attributes. ``em`` of three attributes is slow: it is
computed for a few tables of the first release, and ``model`` is compared with it on the same ones.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

import pkanon as pk
from pkanon._estimate import nearest, tabulate
from pkanon._estimate.model import Fitted, fit_model
from pkanon._estimate.model.redrawing import cells_of
from report import put

UNTOUCHED = ("tax",)
NAMES = ("census", "adult", "nist", "atus", "fars")
SIZES = ((-1, 0.5), (0.5, 5.5), (5.5, 50.5), (50.5, 500.5), (500.5, np.inf))
SIZE_WORDS = ("0", "1-5", "6-50", "51-500", "above 500")
LIKE = (0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
EM_TABLES = 4
FEWER = {1_000: 2, 5_000: 2, 20_000: 1}
"""Rows of samples, and how many are released of each table, design and k."""
FEW_COVERED, FEW_COVERED_TABLES, FEW_COVERED_RELEASES = (
    ((5_000, 2), (10_000, 2), (10_000, 10), (20_000, 10), (20_000, 100)),
    ("census", "adult", "nist"),
    2,
)
WEAKEST = (("adult", "equal-rho", 2), ("adult", "equal-rho", 10), ("nist", "optimal", 1_000), ("tax", "optimal", 1_000))
"""Where the choice between relations and independence is closest."""
WEAKEST_FIRST, WEAKEST_RELEASES = 9_100, 20
RULES_TABLES = 10

Names = tuple[str, ...]


def table_of(name: str, folder: Path) -> pl.DataFrame:
    """Six or seven columns of a table, as codes."""

    def read(file: str, **options: object) -> pl.DataFrame:
        return pl.read_csv(folder / file, infer_schema_length=None, **options)  # type: ignore[arg-type]

    if name == "census":
        frame = read("uscensus1990_7attr_sample50k.csv.gz").select(
            "sex", "age18", "inc12", "work89", "worklwk", "yearsch", "trav20"
        )
    elif name == "adult":
        frame = read("adult.csv.gz").select(
            "sex", pl.col("age") // 5, "race", "education-num", "marital-status", "occupation", "income"
        )
    elif name == "nist":
        frame = read("nist_acs2019_national.csv.gz", null_values="N").select(
            "SEX", pl.col("AGEP") // 5, "RAC1P", "MSP", "OWN_RENT", "EDU", "PINCP_DECILE"
        )
    elif name == "atus":
        income = pl.col("famincome").replace("< 5000", "0").str.extract(r"(\d+)").cast(pl.Int64)
        frame = read("atus_2003_2016_persons.csv.gz").select(
            "sex", pl.col("age") // 5, "edu", "labor_status", "region", "marital", income.alias("income")
        )
    elif name == "tax":  # the table that classes and ridges were not chosen on
        whole = read("au_tax_sample_2003_2011.csv.gz").sample(50_000, seed=1)
        income = pl.col("Tot_inc_amt").rank("ordinal") * 10 // (whole.height + 1)
        frame = whole.select(
            *("Gender", "age_range", "Occ_code", "Partner_status", "Region", "Lodgment_method"), income.alias("income")
        )
    else:
        frame = read("arx_fars_int.csv.gz").select(
            pl.col("iage") // 10, "irace", "ideathmon", "isex", "ihispanic", "iinjury"
        )
    return pl.DataFrame([_coded(column) for column in frame])


def _coded(column: pl.Series) -> pl.Series:
    places = {value: i for i, value in enumerate(column.drop_nulls().unique().sort().to_list())}
    return pl.Series(column.name, [places.get(value, len(places)) for value in column.to_list()])


def _codes_of(column: pl.Series) -> pl.Series:
    """The same for millions of rows."""
    return (column.cast(pl.String).rank("dense") - 1).alias(column.name)


def schema_of(frame: pl.DataFrame) -> pk.Schema:
    """Every code is a value."""
    return pk.Schema([pk.Attribute.ranged(column.name, 0, int(column.max())) for column in frame])  # type: ignore[arg-type]


class Truth:
    """A table of people as shares of cells."""

    def __init__(self, frame: pl.DataFrame, schema: pk.Schema | None = None) -> None:
        self.schema, self.rows = schema or schema_of(frame), frame.height
        self.columns = {name: frame[name].to_numpy().astype(np.uint8) for name in frame.columns}
        self._tables: dict[Names, np.ndarray] = {}

    def tables(self, order: int) -> list[Names]:
        """All tables of so many attributes."""
        return list(itertools.combinations(self.columns, order))

    def table(self, names: Names) -> np.ndarray:
        """The shares of the cells."""
        if names not in self._tables:
            sizes = [self.schema.attribute(name).size for name in names]
            self._tables[names] = tabulate([self.columns[name] for name in names], sizes) / self.rows
        return self._tables[names]

    def error(self, names: Names, found: np.ndarray) -> float:
        """L1."""
        return float(np.abs(found - self.table(names)).sum())


def errors(truth: Truth, release: pk.Release, model: Fitted, thorough: bool) -> dict[tuple[str, int], float]:
    """The mean error of each way for tables of one, two and three attributes; em of three in a few tables, if thorough."""

    def simplex(table: np.ndarray) -> np.ndarray:
        return nearest(table, 1.0, np.ones(table.shape, bool))

    margins = {name: simplex(model.inverse((name,))) for name in truth.columns}
    found: dict[tuple[str, int], float] = {}
    for order in (1, 2, 3):
        tables = truth.tables(order)
        sums: dict[str, list[float]] = {}
        for names in tables:
            unbiased = model.inverse(names)
            product = np.ones(())
            for name in names:
                product = np.multiply.outer(product, margins[name])
            ways = {
                "inverse": unbiased,
                "simplex": simplex(unbiased),
                "independence": product,
                "model": model.table(names),
            }
            if order < 3:
                ways["em"] = release.crosstab(*names, method="em").counts / truth.rows
            for way, table in ways.items():
                sums.setdefault(way, []).append(truth.error(names, table))
        found |= {(way, order): float(np.mean(values)) for way, values in sums.items()}
    if thorough:
        tables = truth.tables(3)
        some = [tables[i] for i in np.random.default_rng(0).permutation(len(tables))[:EM_TABLES]]
        em = [truth.error(t, release.crosstab(*t, method="em").counts / truth.rows) for t in some]
        found["em of some", 3] = float(np.mean(em))
        found["model of some", 3] = float(np.mean([truth.error(t, model.table(t)) for t in some]))
    return found


def coverage(truth: Truth, model: Fitted, order: int) -> dict[str, np.ndarray]:
    """Per cell: true people, whether each interval holds them, widths, and the number of the table."""
    tables = [model.in_order(names) for names in truth.tables(order)]
    cells = cells_of(model, tables)
    low, high = cells.limits(0.95)
    if str(model.without_average(tables[0])).startswith("the release has"):
        low, high = cells.unbiased - 1.959964 * cells.error, cells.unbiased + 1.959964 * cells.error
    estimate = np.concatenate([model.table(names).ravel() for names in tables])
    people = np.concatenate(
        [np.ravel(truth.table(_sorted(truth, names)).transpose(_order(truth, names))) for names in tables]
    )
    people = np.round(people * truth.rows)
    usual = cells.unbiased - 1.959964 * cells.error, cells.unbiased + 1.959964 * cells.error
    result = {"people": people, "table": cells.table}
    for word, ends in (("average", (low, high)), ("each", usual)):
        left = np.floor(truth.rows * np.maximum(np.minimum(ends[0], estimate), 0))
        right = np.ceil(truth.rows * np.clip(np.maximum(ends[1], estimate), 0, 1))
        result[word] = (left <= people) & (people <= right)
        result[f"{word} width"] = right - left
    return result


def _sorted(truth: Truth, names: Names) -> Names:
    return tuple(name for name in truth.columns if name in names)


def _order(truth: Truth, names: Names) -> list[int]:
    whole = _sorted(truth, names)
    return [whole.index(name) for name in names]


class Study:
    """All releases of some tables, and the sections of the report."""

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        ks: Sequence[int],
        designs: Sequence[str],
        releases: int,
        first: int,
    ) -> None:
        self.names, self.ks, self.designs, self.releases, self.first = names, ks, designs, releases, first
        self.errors: dict[tuple[str, int, str], list[dict[tuple[str, int], float]]] = {}
        self.covered: dict[tuple[str, int, int], list[dict[str, np.ndarray]]] = {}
        self.seconds: list[float] = []
        self.usual: list[tuple[int, float, float]] = []
        for name in names:
            truth = Truth(table_of(name, folder))
            for k, design, number in itertools.product(ks, designs, range(releases)):
                self._one(name, truth, k, design, number)

    def _one(self, name: str, truth: Truth, k: int, design: str, number: int) -> None:
        plan = pk.plan(truth.schema, records=truth.rows, k=k, design=design)
        release = pk.release(pl.DataFrame(truth.columns), plan, randomness=pk.Seeded(self.first + number))
        start = time.perf_counter()
        model = fit_model(plan.blocks, release.codes)
        self.seconds.append(time.perf_counter() - start)
        found = errors(truth, release, model, thorough=number == 0)
        self.errors.setdefault((name, k, design), []).append(found)
        readable = plan.readable(truth.tables(3))
        for order in (2, 3):
            for names in truth.tables(order):
                self.usual.append((order, readable.of(*names).l1, truth.error(names, model.table(names))))
        if design == "optimal":
            for order in (2, 3):
                self.covered.setdefault((name, k, order), []).append(coverage(truth, model, order))
        print(
            name, k, design, number, " ".join(f"{w} {q}: {e:.4f}" for (w, q), e in found.items() if q > 1), flush=True
        )

    def _mean(self, name: str, k: int, design: str, way: str, order: int) -> float:
        return float(np.mean([e[way, order] for e in self.errors[name, k, design] if (way, order) in e]))

    def error_report(self) -> Iterator[str]:
        """One row per table, design and k; then the ratios that matter."""
        yield f"Means over {self.releases} releases. Two attributes / three attributes."
        yield f"`em` of three on {EM_TABLES} tables of one release.\n"
        ways = "inverse | simplex | independence | em | model | model / em"
        yield f"| table | design | k | {ways} | model / best of em and independence |"
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        ratios: dict[tuple[str, int], list[tuple[float, float]]] = {}
        worst = (0.0, "")
        for name, design, k in itertools.product(self.names, self.designs, self.ks):
            e = {
                (w, q): self._mean(name, k, design, w, q)
                for w in ("inverse", "simplex", "independence", "model")
                for q in (2, 3)
            }
            em, em3 = self._mean(name, k, design, "em", 2), self._mean(name, k, design, "em of some", 3)
            own3 = self._mean(name, k, design, "model of some", 3)
            best = e["model", 2] / min(em, e["independence", 2]), e["model", 3] / e["independence", 3]
            ratios.setdefault((design, k), []).append((e["model", 2] / em, own3 / em3))
            worst = max(
                worst,
                (best[0], f"{name}, {design}, k = {k}, two attributes"),
                (best[1], f"{name}, {design}, k = {k}, three"),
            )
            cells = " | ".join(f"{_short(e[w, 2])} / {_short(e[w, 3])}" for w in ("inverse", "simplex", "independence"))
            yield (
                f"| {name} | {design} | {k:,} | {cells} | {_short(em)} / {_short(em3)} | {_short(e['model', 2])} / "
                f"{_short(e['model', 3])} | {e['model', 2] / em:.2f} / {own3 / em3:.2f} | {best[0]:.2f} / {best[1]:.2f} |"
            )
        yield "\nMean of `model / em` over the tables:\n"
        yield "| design | " + " | ".join(f"k = {k:,}" for k in self.ks) + " |"
        yield "| --- |" + " ---: |" * len(self.ks)
        for design in self.designs:
            means = [np.mean(ratios[design, k], axis=0) for k in self.ks]
            yield f"| {design} | " + " | ".join(f"{two:.2f} / {three:.2f}" for two, three in means) + " |"
        yield f"\nThe worst of the last column: {worst[0]:.3f} ({worst[1]})."
        yield f"A fit took {np.median(self.seconds):.1f} s in the middle and {max(self.seconds):.1f} s at most."

    def coverage_report(self) -> Iterator[str]:
        """Coverage and width by k and order, then by the size of the cell."""
        yield f"Design optimal, {self.releases} releases; width as shown, against that of each cell.\n"
        yield "| attributes | k | all cells | each: all cells | above 500 people | each: above 500 | width | tables below 90% |"
        yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        for order, k in itertools.product((2, 3), self.ks):
            runs = [run for name in self.names for run in self.covered[name, k, order]]
            means = [np.mean([run[word].mean() for run in runs]) for word in ("average", "each")]
            big = [_pooled(runs, word, 500.5, np.inf) for word in ("average", "each")]
            width = np.mean([run["average width"].sum() / run["each width"].sum() for run in runs])
            below = [held for run in runs for held in _by_table(run)]
            yield (
                f"| {order} | {k:,} | {means[0]:.3f} | {means[1]:.3f} | {big[0]:.3f} | {big[1]:.3f} | {width:.2f} | "
                f"{np.mean(np.array(below) < 0.9):.3f} |"
            )
        yield "\nBy the true size of the cell, in people:\n"
        yield "| attributes | k | " + " | ".join(SIZE_WORDS) + " |"
        yield "| ---: | ---: |" + " ---: |" * len(SIZES)
        for order, k in itertools.product((2, 3), self.ks):
            runs = [run for name in self.names for run in self.covered[name, k, order]]
            yield f"| {order} | {k:,} | " + " | ".join(f"{_pooled(runs, 'average', a, b):.3f}" for a, b in SIZES) + " |"
        yield "\nBy table of people, cells of two attributes, all k:\n"
        yield "| table | all cells | each: all cells | width |"
        yield "| --- | ---: | ---: | ---: |"
        for name in self.names:
            runs = [run for k in self.ks for run in self.covered[name, k, 2]]
            means = [np.mean([run[word].mean() for run in runs]) for word in ("average", "each")]
            width = np.mean([run["average width"].sum() / run["each width"].sum() for run in runs])
            yield f"| {name} | {means[0]:.3f} | {means[1]:.3f} | {width:.2f} |"

    def usual_report(self) -> Iterator[str]:
        """What the model comes to where the predicted error of inverse is alike: the numbers of _plan/modelled.py."""
        yield "| attributes | tables | predicted L1 of `inverse` (middle) | `model`: middle | nine in ten below |"
        yield "| ---: | ---: | ---: | ---: | ---: |"
        for order, number, x, y, most in alike(self.usual):
            yield f"| {order} | {number:,} | {x:.3g} | {y:.3f} | {most:.3f} |"


def _by_table(run: dict[str, np.ndarray]) -> list[float]:
    """The share of cells held in each table of at least 30 cells; smaller ones have the interval of each cell."""
    sizes = np.bincount(run["table"])
    return [float(x) for x, size in zip(np.bincount(run["table"], run["average"]) / sizes, sizes) if size >= 30]


def _pooled(runs: Sequence[dict[str, np.ndarray]], word: str, low: float, high: float) -> float:
    held = total = 0
    for run in runs:
        some = (run["people"] > low) & (run["people"] <= high)
        held, total = held + int(run[word][some].sum()), total + int(some.sum())
    return held / max(total, 1)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3f}"


def alike(points: Sequence[tuple[int, float, float]]) -> Iterator[tuple[int, int, float, float, float]]:
    """Of tables with the same number of attributes and alike predicted errors: (attributes, tables, prediction, middle, nine in ten)."""
    for order in (2, 3):
        both = np.array([(x, y) for q, x, y in points if q == order])
        for low, high in itertools.pairwise((0.0, *LIKE, np.inf)):
            some = both[(both[:, 0] >= low) & (both[:, 0] < high)]
            if len(some) >= 10:
                x, y = np.median(some, axis=0)
                yield order, len(some), float(x), float(y), float(np.quantile(some[:, 1], 0.9))


def fewer_points(name: str, folder: Path, rows: int) -> list[tuple[int, float, float]]:
    """(attributes, predicted error of inverse, error of model) of all tables of samples of so many people."""
    whole = table_of(name, folder)
    found = []
    for k, design, number in itertools.product((2, 10, 100, 1_000), ("optimal", "equal-rho"), range(FEWER[rows])):
        if k > rows // 10:
            continue
        truth = Truth(whole.sample(rows, seed=number), schema_of(whole))
        plan = pk.plan(truth.schema, records=rows, k=k, design=design)
        release = pk.release(pl.DataFrame(truth.columns), plan, randomness=pk.Seeded(800 + number))
        model, readable = fit_model(plan.blocks, release.codes), plan.readable(truth.tables(3))
        for names in (*truth.tables(2), *truth.tables(3)):
            found.append((len(names), readable.of(*names).l1, truth.error(names, model.table(names))))
    return found


def fewer_report(folder: Path) -> Iterator[str]:
    """The same for samples: the other numbers of _plan/modelled.py."""
    yield "| rows | attributes | tables | predicted L1 of `inverse` (middle) | `model`: middle | nine in ten below |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for rows in FEWER:
        points = [point for name in NAMES for point in fewer_points(name, folder, rows)]
        for order, number, x, y, most in alike(points):
            yield f"| {rows:,} | {order} | {number:,} | {x:.3g} | {y:.3f} | {most:.3f} |"


def few_covered_report(folder: Path) -> Iterator[str]:
    """Coverage and width in samples: three tables, design optimal."""
    yield "| rows | k | attributes | all cells | each: all cells | above 1% of the people | each: above 1% | width | tables below 90% |"
    yield "| ---: " * 9 + "|"
    wholes = {name: table_of(name, folder) for name in FEW_COVERED_TABLES}
    for rows, k in FEW_COVERED:
        runs: dict[int, list[dict[str, np.ndarray]]] = {2: [], 3: []}
        for whole, number in itertools.product(wholes.values(), range(FEW_COVERED_RELEASES)):
            truth = Truth(whole.sample(rows, seed=11 + number), schema_of(whole))
            plan = pk.plan(truth.schema, records=rows, k=k)
            release = pk.release(pl.DataFrame(truth.columns), plan, randomness=pk.Seeded(70 + number))
            model = fit_model(plan.blocks, release.codes)
            for order, found in runs.items():
                found.append(coverage(truth, model, order))
        for order, found in runs.items():
            means = [np.mean([run[word].mean() for run in found]) for word in ("average", "each")]
            big = [_pooled(found, word, rows / 100, np.inf) for word in ("average", "each")]
            width = np.mean([run["average width"].sum() / run["each width"].sum() for run in found])
            below = np.mean([held < 0.9 for run in found for held in _by_table(run)])
            yield (
                f"| {rows:,} | {k} | {order} | {means[0]:.3f} | {means[1]:.3f} | {big[0]:.3f} | {big[1]:.3f} | {width:.2f} | "
                f"{below:.3f} |"
            )


def weakest_report(folder: Path) -> Iterator[str]:
    """Single releases: the error of model over that of independence, tables of two attributes."""
    yield f"{WEAKEST_RELEASES} releases each; the error of `model` over that of independence, tables of two attributes.\n"
    yield "| table | design | k | mean | worst release | releases above 1.03 | taken as independent |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for name, design, k in WEAKEST:
        truth = Truth(table_of(name, folder))
        plan = pk.plan(truth.schema, records=truth.rows, k=k, design=design)
        ratios, independent = [], 0
        for seed in range(WEAKEST_FIRST, WEAKEST_FIRST + WEAKEST_RELEASES):
            release = pk.release(pl.DataFrame(truth.columns), plan, randomness=pk.Seeded(seed))
            model = fit_model(plan.blocks, release.codes)
            margins = {n: nearest(model.inverse((n,)), 1.0, np.ones(v.size, bool)) for n, v in _attributes(truth)}
            tables = truth.tables(2)
            own = np.mean([truth.error(t, model.table(t)) for t in tables])
            ratios.append(own / np.mean([truth.error(t, np.multiply.outer(*(margins[n] for n in t))) for t in tables]))
            independent += model.report.classes == 1
            print(name, design, k, seed, f"{ratios[-1]:.3f}", model.report.ridges, flush=True)
        above = sum(ratio > 1.03 for ratio in ratios)
        yield (
            f"| {name} | {design} | {k:,} | {np.mean(ratios):.3f} | {max(ratios):.3f} | {above} of {len(ratios)} | "
            f"{independent} of {len(ratios)} |"
        )


def with_rules(kind: str, attributes: int, rows: int, rng: np.random.Generator) -> Truth:
    """Made-up people with 3 to 8 values of each attribute.

    ``of two``: each value of another attribute allows at most three values. ``of three``: the first two attributes are
    independent, and both together allow two values of each other one.
    """
    sizes = [int(size) for size in rng.integers(3, 9, attributes)]
    columns: list[np.ndarray] = []
    for i, size in enumerate(sizes):
        column = rng.choice(size, rows, p=rng.dirichlet(np.full(size, 2.0)))
        if kind == "of two" and i > 0:
            other = int(rng.integers(i))
            for value in range(sizes[other]):
                allowed = rng.choice(size, int(rng.integers(1, 4)), replace=False)
                some = columns[other] == value
                column[some] = rng.choice(allowed, int(some.sum()), p=rng.dirichlet(np.full(len(allowed), 2.0)))
        elif kind == "of three" and i > 1:
            column = (columns[0] + columns[1] + rng.integers(0, 2, rows)) % size
        columns.append(column)
    names = [f"a{i}" for i in range(attributes)]
    schema = pk.Schema([pk.Attribute.ranged(name, 0, size - 1) for name, size in zip(names, sizes)])
    return Truth(pl.DataFrame(dict(zip(names, columns))), schema)


def rules_report() -> Iterator[str]:
    """Small made-up tables in which values exclude one another: errors, and model over the best of em and independence."""
    yield f"{RULES_TABLES} tables each, design optimal. Two attributes / three attributes.\n"
    yield "| rule | attributes | rows | k | independence | em | model | model / best of both | worst table of people |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for kind, attributes, rows, k in itertools.product(("of two", "of three"), (2, 3, 4), (300, 1_000, 3_000), (2, 10)):
        if kind == "of three" and attributes == 2:
            continue
        found = [_rules(kind, attributes, rows, k, seed) for seed in range(RULES_TABLES)]
        cells = []
        for way in (0, 1, 2):
            cells.append([float(np.mean([f[order][way] for f in found])) for order in found[0]])
        ratios = [model / min(ind, em) for ind, em, model in zip(*cells)]
        worst = [max(f[order][2] / min(f[order][:2]) for f in found) for order in found[0]]
        row = [" / ".join(f"{x:.3f}" for x in way) for way in cells]
        row += [" / ".join(f"{x:.2f}" for x in ways) for ways in (ratios, worst)]
        yield f"| {kind} | {attributes} | {rows:,} | {k} | " + " | ".join(row) + " |"
        print(kind, attributes, rows, k, *row, flush=True)


def _rules(kind: str, attributes: int, rows: int, k: int, seed: int) -> dict[int, tuple[float, float, float]]:
    """By order of the tables the mean errors of (independence, em, model)."""
    truth = with_rules(kind, attributes, rows, np.random.default_rng([seed, attributes, rows]))
    plan = pk.plan(truth.schema, records=rows, k=k)
    release = pk.release(pl.DataFrame(truth.columns), plan, randomness=pk.Seeded(seed))
    model = fit_model(plan.blocks, release.codes)
    margins = {n: nearest(model.inverse((n,)), 1.0, np.ones(v.size, bool)) for n, v in _attributes(truth)}
    found = {}
    for order in range(2, min(attributes, 3) + 1):
        each = []
        for names in truth.tables(order):
            product = functools.reduce(np.multiply.outer, [margins[name] for name in names])
            em = release.crosstab(*names, method="em").counts / rows
            each.append([truth.error(names, table) for table in (product, em, model.table(names))])
        independence, likely, own = np.mean(each, axis=0)
        found[order] = (float(independence), float(likely), float(own))
    return found


def _attributes(truth: Truth) -> Iterator[tuple[str, pk.Attribute]]:
    return ((name, truth.schema.attribute(name)) for name in truth.columns)


def large_report() -> Iterator[str]:
    """All 2,458,285 people of the embedded table, k = 100."""
    truth = Truth(pl.DataFrame([_codes_of(column) for column in pk.demo_table()]))
    plan = pk.plan(truth.schema, records=truth.rows, k=100)
    release = pk.release(pl.DataFrame(truth.columns), plan, randomness=pk.Seeded(1))
    start = time.perf_counter()
    model = fit_model(plan.blocks, release.codes)
    seconds = time.perf_counter() - start
    found: dict[str, list[float]] = {"em": [], "model": []}
    for names in truth.tables(2):
        found["em"].append(truth.error(names, release.crosstab(*names, method="em").counts / truth.rows))
        found["model"].append(truth.error(names, model.table(names)))
    yield (
        f"{truth.rows:,} rows, k = 100, optimal, tables of two attributes: em {np.mean(found['em']):.4f}, "
        f"model {np.mean(found['model']):.4f}; the fit took {seconds:.1f} s."
    )


def time_report() -> Iterator[str]:
    """Made-up people of many attributes: eight classes, 50,000 rows."""
    yield "| attributes | values each | fit s | a table of two, s |"
    yield "| ---: | ---: | ---: | ---: |"
    for attributes, values in ((8, 12), (16, 12), (60, 8)):
        rng = np.random.default_rng(attributes)
        classes = rng.integers(0, 8, 50_000)
        columns = {}
        for i in range(attributes):
            shares = rng.dirichlet(np.ones(values), 8).cumsum(1)
            columns[f"a{i}"] = (rng.random(50_000)[:, None] > shares[classes, :-1]).sum(1).astype(np.uint8)
        schema = pk.Schema([pk.Attribute.ranged(name, 0, values - 1) for name in columns])
        plan = pk.plan(schema, records=50_000, k=2, design="equal-rho")
        release = pk.release(pl.DataFrame(columns), plan, randomness=pk.Seeded(1))
        start = time.perf_counter()
        model = fit_model(plan.blocks, release.codes)
        fitted = time.perf_counter()
        model.table(("a0", "a1"))
        yield f"| {attributes} | {values} | {fitted - start:.1f} | {time.perf_counter() - fitted:.2f} |"


def main() -> None:
    """Measure and print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", default=",".join(NAMES))
    parser.add_argument("--ks", default="2,10,100,1000")
    parser.add_argument("--designs", default="optimal,equal-rho")
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--first", type=int, default=500, help="the seed of the first release")
    parser.add_argument(
        "--only",
        choices=["untouched", "fewer", "few-covered", "weakest", "rules", "large", "time"],
        help="just one part of the page",
    )
    parser.add_argument("--write", action="store_true", help="put the results into docs/results/model.md")
    arguments = parser.parse_args()
    data = {"fewer": fewer_report, "few-covered": few_covered_report, "weakest": weakest_report}
    made = {"rules": rules_report, "large": large_report, "time": time_report}
    if arguments.only in data or arguments.only in made:
        lines = data[arguments.only](arguments.data) if arguments.only in data else made[arguments.only]()
        report = "\n".join(lines)
        print(f"\n{report}")
        if arguments.write:
            put(arguments.only, report, page="model.md")
        return
    untouched = arguments.only == "untouched"
    study = Study(
        arguments.data,
        UNTOUCHED if untouched else arguments.tables.split(","),
        [int(k) for k in arguments.ks.split(",")],
        arguments.designs.split(","),
        arguments.releases,
        arguments.first,
    )
    sections = {
        "errors": study.error_report,
        "coverage": study.coverage_report,
        "usual": study.usual_report,
        "large": large_report,
        "time": time_report,
    }
    if untouched:
        sections = {"untouched-errors": study.error_report, "untouched-coverage": study.coverage_report}
    for section, lines in sections.items():
        report = "\n".join(lines())
        print(f"\n{section}\n{report}", flush=True)
        if arguments.write:
            put(section, report, page="model.md")


if __name__ == "__main__":
    main()
