"""Coverage of 95% intervals in tables with more cells than the rows can fill: counts, shares, sums and queries.

    python benchmarks/sparse.py            print the table
    python benchmarks/sparse.py --write    also put it into the page of benchmarks

Baseline: the estimate plus or minus 1.96 of its standard errors, from the same releases.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

import pkanon as pk
from report import put

Z = 1.959964
SETTINGS = {
    "20 x 20 values, joint, k = 2": ((20, 20), 3_000, {"k": 2, "design": "joint"}),
    "20 x 20 values, optimal, k = 2": ((20, 20), 3_000, {"k": 2}),
    "12 x 10 x 6 values, optimal, k = 3": ((12, 10, 6), 1_500, {"k": 3}),
    "6 x 5 values, optimal, k = 3": ((6, 5), 60, {"k": 3}),
}
KINDS = (
    "cell", "count of one cell", "count of five cells", "count of all but one", "share of a group",
    "query: count", "query: share", "query: sum", "query: mean",
)  # fmt: skip


@dataclass
class Tally:
    """How often the truth lies in intervals, and in those by standard errors alone."""

    inside: int = 0
    plainly: int = 0
    total: int = 0

    def add(self, value: object, error: object, low: object, high: object, truth: object) -> None:
        """Count some intervals; those of numbers that are not stated are left out."""
        parts = [np.asarray(part, float).ravel() for part in (value, error, low, high, truth)]
        stated = ~np.isnan(np.array(parts)).any(0)
        value_, error_, low_, high_, truth_ = (part[stated] for part in parts)
        self.inside += int(((low_ <= truth_) & (truth_ <= high_)).sum())
        self.plainly += int((np.abs(value_ - truth_) <= Z * error_).sum())
        self.total += len(truth_)


def shares_of(sizes: Sequence[int]) -> np.ndarray:
    """A skewed distribution in which the first two attributes are related."""
    skewed = [1 / np.arange(1, size + 1) for size in sizes]
    shares = skewed[0]
    for other in skewed[1:]:
        shares = np.multiply.outer(shares, other / other.sum())
    shares = shares / shares.sum()
    alike = np.arange(sizes[0]) * sizes[1] // sizes[0]
    shares *= 0.6
    for i, j in enumerate(alike):
        shares[i, j] += 0.4 * skewed[0][i] / skewed[0].sum() / shares[i, j].size
    return np.asarray(shares)


def numbers(
    release: pk.Release, people: np.ndarray, about: str, draw: np.random.Generator
) -> Iterator[tuple[str, object, object, object, object, object]]:
    """(kind, value, standard error, low, high, truth) of some numbers from one release."""
    names = list(release.plan.schema.names)
    estimate = release.crosstab(*names, about=about)
    yield "cell", estimate.counts, estimate.standard_errors, *estimate.interval(), people
    for kind, cells in (("count of one cell", 1), ("count of five cells", 5)):
        for _ in range(20):
            weights = np.zeros(people.size)
            weights[draw.choice(people.size, cells, replace=False)] = 1
            weights = weights.reshape(people.shape)
            count = estimate.linear(weights)
            yield kind, count.value, count.standard_error, *count.interval(), (weights * people).sum()
    weights = np.ones(people.shape)
    weights[(0,) * people.ndim] = 0  # the largest cell
    count = estimate.linear(weights)
    yield "count of all but one", count.value, count.standard_error, *count.interval(), (weights * people).sum()
    pairs = release.crosstab("a", "b", about=about)
    table = people.reshape(*people.shape[:2], -1).sum(2)
    group = table.sum(1)
    for i, j in zip(draw.integers(0, table.shape[0], 20), draw.integers(0, table.shape[1], 20)):
        if group[i] > 0:
            share = pairs.proportion({"b": int(j) + 1}, {"a": f"v{i}"})
            yield "share of a group", share.value, share.standard_error, *share.interval(), table[i, j] / group[i]
    some = np.arange(1, table.shape[1], 4)
    counted = f"COUNT(*) FILTER (WHERE b IN ({', '.join(str(j + 1) for j in some)}))"
    sql = f"SELECT a, {counted} AS c, {counted} / COUNT(*) AS s, SUM(b) AS t, AVG(b) AS m FROM release GROUP BY a"
    answer = release.query(sql, about=about).to_polars()
    part, total, here = table[:, some].sum(1), table @ np.arange(1, table.shape[1] + 1), group > 0
    size = np.maximum(group, 1e-9)
    for column, kind, truth in (
        ("c", "query: count", part),
        ("s", "query: share", part / size),
        ("t", "query: sum", total),
        ("m", "query: mean", total / size),
    ):
        ends = (column, f"{column}_std_error", f"{column}_low_95", f"{column}_high_95")
        yield kind, *(answer[end].cast(pl.Float64).fill_null(np.nan).to_numpy()[here] for end in ends), truth[here]


def measure(sizes: Sequence[int], rows: int, asked: dict[str, object], about: str, releases: int) -> dict[str, Tally]:
    """Coverage by kind; about a table its people stay for ten releases, about a population they are drawn each time."""
    attributes = [pk.Attribute("a", [f"v{i}" for i in range(sizes[0])]), pk.Attribute.ranged("b", 1, sizes[1])]
    attributes += [pk.Attribute(f"c{i}", [f"w{j}" for j in range(size)]) for i, size in enumerate(sizes[2:])]
    plan = pk.plan(pk.Schema(attributes), records=rows, **asked)
    shares, tallies = shares_of(sizes), {kind: Tally() for kind in KINDS}
    draw = np.random.default_rng(5)
    for number in range(releases):
        if number % 10 == 0 or about == "population":
            cells = np.unravel_index(draw.choice(shares.size, rows, p=shares.ravel()), tuple(sizes))
            people = np.zeros(sizes)
            np.add.at(people, cells, 1)
            columns = {"a": [f"v{i}" for i in cells[0]], "b": cells[1] + 1}
            columns |= {f"c{i}": [f"w{j}" for j in codes] for i, codes in enumerate(cells[2:])}
            frame = pl.DataFrame(columns)
        release = pk.release(frame, plan, randomness=pk.Seeded(number))
        truth = people if about == "table" else rows * shares
        for kind, *parts in numbers(release, truth, about, draw):
            tallies[kind].add(*parts)
    return tallies


def main() -> None:
    """Print the table; write it where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--releases", type=int, default=200)
    options = parser.parse_args()
    lines = [
        "| table | about | " + " | ".join(KINDS) + " |",
        "| --- | --- | " + " | ".join("---:" for _ in KINDS) + " |",
    ]
    for name, (sizes, rows, asked) in SETTINGS.items():
        for about in ("table", "population"):
            tallies = measure(sizes, rows, asked, about, options.releases).values()
            cells = (f"{100 * t.inside / t.total:.1f}% ({100 * t.plainly / t.total:.1f}%)" for t in tallies)
            lines.append(f"| {name}, {rows:,} rows | {about} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    if options.write:
        put("sparse", "\n".join(lines))


if __name__ == "__main__":
    main()
