"""Is the association of weighted rows calibrated, where weights depend on both attributes? Independent people, related rows."""

import math

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate.statistics.association import _Pair

RATES = np.array([[1.0, 0.6, 0.4, 0.8], [0.4, 1.0, 0.6, 0.5], [0.7, 0.4, 1.0, 0.4]])
"""By which people are sampled: not a product, so in the rows the two attributes are related."""
INDEPENDENT = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
RELATED = INDEPENDENT + np.array([[2, -2, 0, 0], [-2, 3, -1, 0], [0, -1, 1, 0]]) / 50


def pairs(way, rows, target, shares, seed, releases):
    """The tables of this many samples and their releases."""
    weight = (
        pk.Attribute("w", role="pass", type="number")
        if way == "passed"
        else pk.Attribute.pointed("w", [0, 200, 1000], type="number")
    )
    schema = pk.Schema([pk.Attribute.ranged("a", 0, 2), pk.Attribute.ranged("b", 0, 3), weight])
    plan = pk.plan(schema, records=rows, **target)
    draw = np.random.default_rng(seed)
    sampled = (shares * RATES / (shares * RATES).sum()).ravel()
    for number in range(releases):
        cell = draw.choice(12, rows, p=sampled)
        weights = np.minimum(100 / RATES.ravel()[cell] * draw.gamma(4, 0.25, rows), 1000)
        people = pl.DataFrame({"a": cell // 4, "b": cell % 4, "w": weights})
        release = pk.release(people, plan, randomness=pk.Seeded(seed * 1000 + number), allow_pass=way == "passed")
        yield release.crosstab("a", "b", weights="w"), release


CASES = [
    ("randomised", 10_000, {"k": 20}),
    ("randomised", 2_000, {"epsilon": 50}),
    ("passed", 3_000, {"epsilon": 3}),
]


@pytest.mark.parametrize(("way", "rows", "target"), CASES)
def test_the_test_has_its_level(way, rows, target, seed):
    """5 in 100 are rejected: 3 to 7 over 1000 releases, which is 3 standard errors of 0.69."""
    p = np.array([_Pair.of(t).relation.p_value for t, _ in pairs(way, rows, target, INDEPENDENT, seed, 1000)])
    print(f"{way}, n = {rows}: level {100 * (p < 0.05).mean():.1f}, {100 * (p < 0.5).mean():.1f} below a half")
    assert 0.03 < (p < 0.05).mean() < 0.07
    assert abs((p < 0.5).mean() - 0.5) < 0.08


def test_rows_alone_would_mislead(seed):
    """In the rows the two attributes are related: without weights independence is rejected, as it should be."""
    tables = pairs("randomised", 2_000, {"epsilon": 50}, INDEPENDENT, seed, 20)
    p = np.array([_Pair.of(release.crosstab("a", "b")).relation.p_value for _, release in tables])
    assert (p < 0.05).all()


@pytest.mark.parametrize(("way", "rows", "target"), CASES)
def test_the_interval_of_cramers_v_holds_the_truth(way, rows, target, seed):
    shares = RELATED / RELATED.sum()
    product = np.outer(shares.sum(1), shares.sum(0))
    truth = math.sqrt(((shares - product) ** 2 / product).sum() / 2)
    limits = [_Pair.of(t).cramers_v().interval() for t, _ in pairs(way, rows, target, shares, seed, 400)]
    held = np.mean([low <= truth <= high for low, high in limits])
    print(f"{way}, n = {rows}: V {truth:.3f}, held {100 * held:.1f}")
    assert 0.917 < held <= 1  # 95 in a hundred with 400 releases, 3 errors of 1.1
