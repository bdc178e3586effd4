"""A number over an uncertain one says so, whatever it is divided by: a count, a share, a product or a difference."""

import functools
import math

import numpy as np
import polars as pl
import pytest

import pkanon as pk

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
