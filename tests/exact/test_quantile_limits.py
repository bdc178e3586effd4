"""The interval of a quantile holds the numbers x for which the people below x may be the share asked for, and no others.

An oracle walks through a fine grid of x and asks the table for L(x) and its error, people being spread evenly inside the
interval that stands for a value.
"""

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate.interval import normal_quantile

LABELS = ["none", "few", "some", "many"]
PAIRS = {"none": 0, "few": (0, 10), "some": (20, 25), "many": (25, 60)}
SCHEMA = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("class", LABELS)])


def made(seed, k, about, rows=600, keep=False):
    draw = np.random.default_rng(seed)
    people = {"sex": draw.choice(["F", "M"], rows), "class": draw.choice(LABELS, rows, p=[0.2, 0.3, 0.2, 0.3])}
    kept = pk.Plan(SCHEMA, [pk.Retention(unit, 0) for unit in SCHEMA.units], records=rows)
    plan = kept if keep else pk.plan(SCHEMA, records=rows, k=k)
    return people, pk.release(pl.DataFrame(people), plan, randomness=pk.Seeded(seed)).crosstab(
        "sex", "class", about=about
    )


def lead(x, q, pairs):
    """The weight of each label in L(x): its part below x, less q."""
    limits = [pair if isinstance(pair, tuple) else (pair, pair) for pair in pairs.values()]
    return np.array(
        [(float(x >= low) if low == high else np.clip((x - low) / (high - low), 0, 1)) - q for low, high in limits]
    )


def by_search(table, q, level, pairs, rows):
    z, grid = normal_quantile(level), np.linspace(0, 60, 6_001)
    leads = np.array([np.outer(rows, lead(x, q, pairs)) for x in grid])
    values = np.array([(one * table.unbiased).sum() for one in leads])
    errors = np.sqrt(np.concatenate([table.variances_of(piece) for piece in np.array_split(leads, 20)]))
    low, high = grid[values + z * errors >= 0], grid[values - z * errors <= 0]
    return low.min(initial=60), high.max(initial=0)


@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("k", [2, 20])
@pytest.mark.parametrize("q", [0.15, 0.5, 0.9])
def test_limits_are_those_that_a_search_finds(q, k, about, seed):
    for number in range(4):
        _, table = made(seed + number, k, about)
        for where, rows in (({}, [1, 1]), ({"sex": "F"}, [1, 0])):
            for level in (0.8, 0.95):
                found = table.quantile("class", q, where, values=PAIRS)
                low, high = found.interval(level)
                searched = by_search(table, q, level, PAIRS, rows)
                assert low == pytest.approx(min(searched[0], found.value), abs=0.011)
                assert high == pytest.approx(max(searched[1], found.value), abs=0.011)


def test_an_interval_is_not_rounded_to_whole_values(seed):
    _, table = made(seed, 2, "population", rows=20_000)
    spread = table.quantile("class", 0.35, values=PAIRS).interval()
    assert 0 < spread[0] < spread[1] < 10
    single = {label: sum(pair) / 2 if isinstance(pair, tuple) else pair for label, pair in PAIRS.items()}
    assert table.quantile("class", 0.35, values=single).interval() == (5, 5)


def test_the_value_is_that_of_the_people_spread_evenly(seed):
    people, table = made(seed, 2, "table", keep=True)
    shares = [np.mean(people["class"] == label) for label in LABELS]
    q = shares[0] + 0.25 * shares[1]
    assert table.quantile("class", q, values=PAIRS).value == pytest.approx(2.5)
    q = shares[0] + shares[1] + 0.6 * shares[2]
    assert table.quantile("class", q, values=PAIRS).value == pytest.approx(23)
    assert table.quantile("class", shares[0] / 2, values=PAIRS).value == 0
    # a mean takes the middle
    middle = np.array(shares) @ [0, 5, 22.5, 42.5]
    assert table.mean("class", values=PAIRS).value == pytest.approx(middle)


def test_merged_values_have_the_intervals_of_the_groups(seed):
    people, _ = made(seed, 2, "table", keep=True)
    shares = [np.mean(people["class"] == label) for label in LABELS]
    plan = pk.Plan(SCHEMA, [pk.Retention(unit, 0) for unit in SCHEMA.units], records=600)
    whole = pk.release(pl.DataFrame(people), plan, randomness=pk.Seeded(seed))
    merged = whole.crosstab("class", about="table", merge={"class": {"low": ["none", "few"], "high": ["some", "many"]}})
    found = merged.quantile("class", (shares[0] + shares[1]) / 2, values={"low": (0, 10), "high": (10, 60)})
    assert found.value == pytest.approx(5)


def test_many_values_are_searched_one_by_one(seed):
    """A quantile of more values than errors are computed for at a time."""
    schema = pk.Schema([pk.Attribute.ranged("x", 0, 3_000)])
    x = np.random.default_rng(seed).exponential(60, 5_000).astype(int)
    kept = pk.Plan(schema, [pk.Retention(unit, 0) for unit in schema.units], records=5_000)
    release = pk.release(pl.DataFrame({"x": x}), kept, randomness=pk.Seeded(seed))
    z = normal_quantile(0.95)
    for q in (0.1, 0.5, 0.99):
        found = release.crosstab("x", about="population").quantile("x", q)
        assert found.value == np.quantile(x, q, method="inverted_cdf")
        below = np.array([(x <= number).sum() for number in range(301)]) / 5_000
        errors = z * np.sqrt((below * (1 - 2 * q) + q * q - (below - q) ** 2) / 4_999)
        low, high = found.interval()
        assert low == min(np.flatnonzero(below - q + errors >= 0))
        assert high == max(np.flatnonzero(below - q - errors <= 0)) + 1


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (PAIRS | {"some": (5, 25)}, "'few' and 'some' of 'class' overlap"),
        (PAIRS | {"some": (25, 20)}, "must be a number, a pair"),
        (PAIRS | {"some": (25, 30, 40)}, "must be a number, a pair"),
        (PAIRS | {"some": "many"}, "must be a number, a pair"),
        (PAIRS | {"some": float("inf")}, "must be a number, a pair"),
    ],
)
def test_intervals_that_are_none_are_refused(pairs, message, seed):
    _, table = made(seed, 2, "table")
    with pytest.raises(pk.InputError, match=message):
        table.quantile("class", 0.5, values=pairs)
