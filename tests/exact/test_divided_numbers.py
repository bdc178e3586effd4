"""A number over an uncertain one says so, whatever it is divided by: a count, a share, a product or a difference."""

import functools
import math

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate.interval import positive_ratio

SCHEMA = pk.Schema([pk.Attribute("group", ["a", "b"]), pk.Attribute("value", ["rare", "some", "most"])])
ROWS = 4_000
Z = 1.959963984540054


@pytest.fixture(params=["optimal", "equal-rho"])
def design(request):
    return request.param


@pytest.fixture
def table(design):
    return made(design, 3)


@functools.cache
def made(design, seed):
    """A table in which nobody of group b is rare, and some are some."""
    people = [("a", "rare")] * 600 + [("a", "some")] * 800 + [("a", "most")] * 600
    people += [("b", "some")] * 800 + [("b", "most")] * 1_200
    plan = pk.plan(SCHEMA, records=ROWS, k=5, design=design)
    frame = pl.DataFrame(people, schema=["group", "value"], orient="row")
    return pk.release(frame, plan, randomness=pk.Seeded(seed)).crosstab("group", "value")


def share(table, value, group):
    return table.proportion({"value": value}, given={"group": group})


def test_a_number_over_an_uncertain_one_is_flagged(table):
    rare, some = share(table, "rare", "b"), share(table, "some", "b")
    assert abs(rare.unbiased) < Z * rare.standard_error  # or the test says nothing
    assert some.value > 3 * some.standard_error
    above = share(table, "rare", "a")
    for below in (rare, rare * some, some - share(table, "some", "b"), table.count(value="rare", group="b") + 1):
        divided = above / below
        assert "small group" in divided.flag(), str(divided)
        assert "small group" in (1 + 2 * divided).flag()
        assert "small group" in str(divided)
        assert "small group" in repr(divided) + divided._repr_html_()
    assert (above / some).flag() is None
    assert (above / (some * some)).flag() is None


def test_a_share_that_is_not_above_zero_divides_nothing(design):
    """As with the size of a group: there is no value, and no factor below zero."""
    tables = [made(design, seed) for seed in range(12)]
    signs = set()
    for table in tables:
        rare = share(table, "rare", "b")
        found = (share(table, "rare", "a") / rare).on("log")
        signs.add(rare.unbiased > 0)
        assert math.isnan(found.value) == (rare.unbiased <= 0)
        if rare.unbiased <= Z * rare.standard_error:
            assert "small group" in found.flag()
    assert signs == {True, False}


def test_a_ratio_that_cannot_be_told_from_zero_is_flagged(table):
    low = table.ratio({"group": "b", "value": "rare"}, {"group": "a", "value": "some"})
    assert low.flag() == "near zero"
    assert "(near zero)" in str(low)
    odds = table.odds_ratio({"group": "b"}, {"value": "rare"})
    assert odds.unbiased < Z * odds.standard_error
    assert "near zero" in odds.flag()
    sure = table.ratio({"group": "a", "value": "rare"}, {"group": "a", "value": "some"})
    assert sure.flag() is None
    assert table.odds_ratio({"group": "a"}, {"value": "some"}).flag() is None
    assert np.isfinite(sure.interval()).all()


def limits_by_search(x, x_limits, y, y_limits, correlation):
    """All r of a fine grid for which the interval of x - r y, by MOVER, holds zero."""
    r = np.concatenate([np.linspace(0, 8, 80_001), np.geomspace(8, 1e9, 2_000)])
    up, down = (x - x_limits[0], x_limits[1] - x), (y_limits[1] - y, y - y_limits[0])
    low, high = (
        x - r * y + sign * np.sqrt(np.maximum(a**2 + (r * b) ** 2 - 2 * r * correlation * a * b, 0.0))
        for sign, a, b in zip((-1, 1), up, down)
    )
    return r[low <= 0].min(initial=math.inf), r[high >= 0].max(initial=0.0)


def test_the_limits_of_a_ratio_are_all_values_that_are_not_excluded(seed):
    """Also where nothing bounds them below or above."""
    draw = np.random.default_rng(seed)
    kinds = set()
    for _ in range(300):
        x, y = draw.uniform(0.2, 3, 2)
        x_limits, y_limits = ((v - draw.uniform(0.1, 3), v + draw.uniform(0.1, 3)) for v in (x, y))
        correlation = draw.uniform(-0.9, 0.9)
        found = positive_ratio(
            *(np.array([v]) if np.isscalar(v) else tuple(np.array([e]) for e in v) for v in (x, x_limits, y, y_limits)),
            np.array([correlation]),
        )
        low, high = (float(end[0]) for end in found)
        searched = limits_by_search(x, x_limits, y, y_limits, correlation)
        assert low == pytest.approx(searched[0], abs=2e-4)
        if y_limits[0] <= 0:
            assert high == math.inf
            assert searched[1] == 1e9
        elif searched[1] < 8:
            assert high == pytest.approx(searched[1], abs=2e-4)
        else:
            assert high == pytest.approx(searched[1], rel=0.02)
        kinds.add((low > 0, high < math.inf))
    assert len(kinds) == 4


def test_an_uncertain_ratio_has_limits_that_both_parts_give(design):
    table = next(
        table for table in (made(design, seed) for seed in range(12)) if share(table, "rare", "b").unbiased > 0
    )
    rare, some = share(table, "rare", "b"), share(table, "some", "b")
    above = share(table, "rare", "a")
    for divided in (above / rare, (above / rare).on("log"), above / (rare * some)):
        low, high = divided.interval()
        assert (low > 0, high) == (True, math.inf)
        assert divided.test(low * 0.99).rejected()
        assert not divided.test(low * 1.01).rejected()
    assert ("near zero" in (rare / above).flag()) == ((rare / above).interval()[0] == 0)
    assert (rare / above).interval()[1] < math.inf
    assert (above / some).interval() == pytest.approx((above / some).on("log").interval())


def test_a_ratio_without_a_value_has_limits(design):
    tables = [made(design, seed) for seed in range(12)]
    without = [table for table in tables if share(table, "rare", "b").unbiased <= 0]
    lows = []
    for table in without:
        found = (share(table, "rare", "a") / share(table, "rare", "b")).on("log")
        low, high = found.interval()
        assert high == math.inf
        assert "small group" in found.flag()
        lows.append(low)
    assert max(lows) > 1


def test_the_flag_follows_the_level(table):
    below = share(table, "some", "b") - share(table, "most", "b") / 2
    divided = table.count(group="a") / below
    reach = abs(below.unbiased) / below.standard_error
    for level in (0.5, 0.9, 0.99, 0.9999999):
        certain = reach > math.sqrt(2) * _erfinv(level)
        assert (divided.flag(level) is None) == certain


def _erfinv(level):
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < level else (low, middle)
    return low


def test_a_mean_that_may_be_anything_is_flagged_though_its_group_is_large():
    """One value kept in 200: the size of a group that was kept is certain, and the mean of an attribute in it is not known at all."""
    schema = pk.Schema([pk.Attribute("group", ["a", "b"]), pk.Attribute.ranged("score", 1, 5)])
    group, score = schema.units
    rare = pk.Retention(score, round((1 - 1 / 200) * 2**32 / score.size))
    plan = pk.Plan(schema, [pk.Retention(group, 0), rare], records=2_000)
    frame = pl.DataFrame({"group": ["a", "b"] * 1_000, "score": [1, 2, 3, 4, 5] * 400})
    table = pk.release(frame, plan, randomness=pk.Seeded(1)).crosstab("group", "score")
    assert table.count(group="a").flag() is None
    mean = table.mean("score", {"group": "a"})
    assert mean.interval() == (1.0, 5.0)
    assert mean.flag() == "small group"
    for level in (1e-6, 0.5):
        low, high = mean.interval(level)
        assert ("small group" in (mean.flag(level) or "")) == ((low, high) == (1.0, 5.0))


def test_a_sum_that_can_be_negative_is_no_ratio_in_sql_either(design):
    """The sum of a CASE is one function of a group; whether it can be negative is seen in its cells."""
    schema = pk.Schema([pk.Attribute("group", ["a", "b"]), pk.Attribute.ranged("score", 1, 5)])
    frame = pl.DataFrame({"group": ["a", "b"] * 500, "score": [1, 2, 3, 4, 5] * 200})
    release = pk.release(frame, pk.plan(schema, records=1_000, k=5, design=design), randomness=pk.Seeded(1))
    sql = "SELECT {group} SUM(CASE WHEN score > 1 THEN -2 ELSE 1 END) / COUNT(*) FILTER (WHERE score < 5) AS found FROM release"
    for row in (
        release.query(sql.format(group="")).frame.row(0, named=True),
        release.query(sql.format(group='"group",') + ' GROUP BY "group"').frame.row(0, named=True),
    ):
        assert row["found_low_95"] < row["found"] < row["found_high_95"] < 0
