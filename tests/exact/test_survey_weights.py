"""Statistics with survey weights, and of releases without rows."""

import math

import numpy as np
import polars as pl
import pytest
from raw_people import ROWS, People, inflated

import pkanon as pk


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


def test_weighted_means_and_shares(people, seed):
    weights = np.random.default_rng(seed).gamma(2.0, 3.0, ROWS)
    table = people.table("sex", "income", weights=weights)
    f = people.sex == "F"
    assert table.count(sex="F").value == pytest.approx(weights[f].sum())
    p = weights[f].sum() / weights.sum()
    share = table.proportion({"sex": "F"})
    assert share.value == pytest.approx(p)
    # the ratio estimator of survey sampling with replacement: sum w^2 (z - p)^2 / (sum w)^2 n/(n-1)
    assert share.standard_error == pytest.approx(inflated((weights**2 * (f - p) ** 2).sum() / weights.sum() ** 2))
    listed = people.income < 10
    assert table.mean("income").value == pytest.approx(np.average(people.income[listed], weights=weights[listed]))
    exactly = people.table("sex", "income", weights=weights, about="table")
    assert exactly.count(sex="F").standard_error == 0


def test_wrong_weights_are_refused_where_they_come_in():
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            *(pk.Attribute(n, role="pass", type="number") for n in ("w", "hole", "below", "nought")),
        ]
    )
    plan = pk.plan(schema, records=4, epsilon=1)
    rows = pl.DataFrame(
        {
            "sex": ["F", "M", "M", "F"],
            "w": [1.0, 2.0, 0.5, 0.0],
            "hole": [1.0, None, 1.0, 1.0],
            "below": [1.0, -1.0, 1.0, 1.0],
            "nought": [0.0] * 4,
        }
    )
    release = pk.release(rows, plan, randomness=pk.Seeded(1), allow_pass=True)
    assert release.crosstab("sex", weights="w").counts.sum() == pytest.approx(3.5)
    for name in ("hole", "below", "nought"):
        with pytest.raises(pk.DataError, match=f"Column '{name}' cannot be weights"):
            release.crosstab("sex", weights=name)
    with pytest.raises(pk.InputError, match="no column 'v' of weights"):
        release.crosstab("sex", weights="v")


def test_a_release_without_rows_has_no_statistics_but_no_crash_either():
    """A table without rows is refused, but with a hidden record count none may be left."""
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("score", 1, 3)])
    rows = People.__new__(People)
    rows.sex = rows.score = np.array([])
    for method in ("inverse", "simplex", "em"):
        for about in ("table", "population"):
            table = rows.table("sex", "score", schema=schema, method=method, about=about)
            assert (table.count(sex="F").value, table.count(sex="F").standard_error) == (0, 0)
            for undefined in (
                table.proportion({"sex": "F"}),
                table.mean("score"),
                table.deviation("score"),
                table.odds_ratio({"sex": "F"}, {"score": 1}),
                table.quantile("score", 0.5),
                table.correlation("score", "score"),
            ):
                assert math.isnan(undefined.value)
                assert math.isnan(undefined.standard_error) or undefined.flag() == "small group"
            # all that they could be
            assert table.proportion({"sex": "F"}).interval() == (0, 1)
            assert table.mean("score").interval() == table.quantile("score", 0.5).interval() == (1, 3)
            assert table.odds_ratio({"sex": "F"}, {"score": 1}).interval() == (0, math.inf)
            assert all(map(math.isnan, table.deviation("score").interval()))
            with pytest.raises(pk.InputError, match="at least two rows"):
                table.association()
            frame = table.to_polars(given=["sex"])
            assert len(frame) == 6
            assert frame["estimate"].sum() == 0
            assert frame["proportion"].null_count() == 6
