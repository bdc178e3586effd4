"""Are intervals of counts, shares, sums and queries honest in tables with more cells than rows can fill?

Releases are drawn, and each interval is held against the private table. Numbers of one release are not independent, so the
spread of the coverage is that between releases.
"""

import functools

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate.interval import wald

LEAST = 0.94
"""Of intervals that say 95%."""
RELEASES, SIZE, PEOPLE = 60, 20, 3_000
NAMES = [f"v{i}" for i in range(SIZE)]
SOME = (1, 6, 11, 16)


def private_table(seed):
    draw = np.random.default_rng(seed)
    p = 1 / np.arange(1, SIZE + 1)
    a, b = (draw.choice(SIZE, PEOPLE, p=p / p.sum()) for _ in range(2))
    return a, np.where(draw.random(PEOPLE) < 0.4, a, b)


@functools.cache
def plan(design):
    schema = pk.Schema([pk.Attribute("a", NAMES), pk.Attribute("b", list(range(1, SIZE + 1)), type="integer")])
    return pk.plan(schema, records=PEOPLE, k=2, design=design)


class Tally:
    """Which share of the intervals of each release holds the truth."""

    def __init__(self):
        self.shares = {}

    def add(self, kind, low, high, truth):
        low, high, truth = (np.asarray(part, float).ravel() for part in (low, high, truth))
        known = ~np.isnan(low)
        assert known.all() or kind in ("query: share", "query: mean"), kind  # SQL states no ratio over nobody
        self.shares.setdefault(kind, []).append(float(((low <= truth) & (truth <= high))[known].mean()))

    def too_low(self):
        """The kinds that cover less than LEAST, by more than chance: three standard errors of the mean over releases."""
        return [
            kind
            for kind, shares in self.shares.items()
            if np.mean(shares) + 3 * np.std(shares) / np.sqrt(len(shares)) < LEAST
        ]


def measure(design, seed):
    tally = Tally()
    for number in range(RELEASES):
        a, b = private_table(seed + number // 10)
        people = np.zeros((SIZE, SIZE))
        np.add.at(people, (a, b), 1)
        frame = pl.DataFrame({"a": [NAMES[i] for i in a], "b": b + 1})
        release = pk.release(frame, plan(design), randomness=pk.Seeded(seed + number))
        estimate = release.crosstab("a", "b")
        tally.add("cells", *estimate.interval(), people)
        tally.add("cells by standard errors", *wald(estimate.counts, estimate.standard_errors, 0.95), people)
        draw = np.random.default_rng(seed + number)
        for kind, cells in (("count of a cell", 1), ("count of a few cells", 5)):
            limits, truth = [], []
            for _ in range(20):
                weights = np.zeros(people.size)
                weights[draw.choice(people.size, cells, replace=False)] = 1
                weights = weights.reshape(people.shape)
                limits.append(estimate.linear(weights).interval())
                truth.append((weights * people).sum())
            tally.add(kind, *np.transpose(limits), truth)
        most = np.ones(people.shape)
        most[0, 0] = 0  # the largest cell
        tally.add("count of all others", *np.transpose([estimate.linear(most).interval()]), [(most * people).sum()])
        group = people.sum(1)
        limits, truth = [], []
        for i, j in draw.integers(0, SIZE, (20, 2)):
            if group[i]:
                limits.append(estimate.proportion({"b": int(j) + 1}, {"a": NAMES[i]}).interval())
                truth.append(people[i, j] / group[i])
        tally.add("share of a group", *np.transpose(limits), truth)
        counted = f"COUNT(*) FILTER (WHERE b IN {tuple(place + 1 for place in SOME)})"
        sql = f"SELECT a, {counted} AS c, {counted} / COUNT(*) AS s, SUM(b) AS t, AVG(b) AS m FROM release GROUP BY a"
        answer = release.query(sql).to_polars()
        some, total = people[:, SOME].sum(1), people @ np.arange(1, SIZE + 1)
        here = group > 0
        for column, kind, truth in (
            ("c", "query: count", some),
            ("s", "query: share", some / np.maximum(group, 1)),
            ("t", "query: sum", total),
            ("m", "query: mean", total / np.maximum(group, 1)),
        ):
            low, high = (answer[f"{column}_{end}_95"].fill_null(np.nan).to_numpy() for end in ("low", "high"))
            tally.add(kind, low[here], high[here], truth[here])
    return tally


@pytest.mark.parametrize("design", ["joint", "optimal"])
def test_every_number_is_covered_and_plain_standard_errors_are_caught(design, seed):
    assert measure(design, seed).too_low() == ["cells by standard errors"]
