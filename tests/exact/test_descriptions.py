"""Descriptions of many attributes say what their tables say."""

import numpy as np
import polars as pl
import pytest
from raw_people import kept

import pkanon as pk
from pkanon._blocks import Retention

NAMED = pk.Schema(
    [
        pk.Attribute("value", ["p", "q"]),
        pk.Attribute("flag", [True, False]),
        pk.Attribute.ranged("score", 1, 5),
        pk.Attribute("weight", role="pass", type="number"),
    ]
)


@pytest.fixture(scope="module")
def named(seed):
    draw = np.random.default_rng(seed)
    rows = pl.DataFrame(
        {
            "value": draw.choice(["p", "q"], 300),
            "flag": draw.random(300) < 0.5,
            "score": draw.integers(1, 6, 300),
            "weight": draw.uniform(0.5, 3, 300),
        }
    )
    return kept(rows, NAMED, allow_pass=True)


def test_descriptions_say_what_tables_say(named):
    found = named.describe("score", by="value", about="population", level=0.9)
    assert (found.by, found.method, found.about, found.level) == (("value_",), "inverse", "population", 0.9)
    assert "300 released rows" in found.caption
    assert "90% intervals" in found.caption
    frame = found.to_polars()
    assert frame.columns == ["value_", "attribute", "statistic", "value", "std_error", "low_90", "high_90", "flag"]
    assert frame.height == 2 * 8
    assert frame.equals(named.describe("score", by=["value"], about="population", level=0.9).to_polars())
    table = named.crosstab("score", "value", about="population")
    for group in "pq":
        where = {"value": group}
        rows = {row["statistic"]: row for row in frame.filter(pl.col("value_") == group).to_dicts()}
        for statistic, wanted in {
            "mean": table.mean("score", where),
            "deviation": table.deviation("score", where),
            "sum": table.sum("score", where),
            "quantile_0.25": table.quantile("score", 0.25, where),
        }.items():
            row = rows[statistic]
            assert (row["value"], row["std_error"]) == pytest.approx((wanted.value, wanted.standard_error))
            assert (row["low_90"], row["high_90"]) == pytest.approx(wanted.interval(0.9))
    assert frame["flag"].null_count() == frame.height


def test_names_that_results_use_get_an_underscore(named):
    described = named.describe(by=["value", "flag"])
    assert described.by == ("value_", "flag_")
    assert described.to_polars()["attribute"].unique().to_list() == ["score"]  # flag is numeric, but a group here
    assert described.to_json()["by"] == ["value_", "flag_"]
    assert named.crosstab("flag", "value").to_polars().columns[:3] == ["flag_", "value", "estimate"]
    with pytest.raises(pk.InputError, match="'score' cannot be both described and grouped by"):
        named.describe("score", by="score")


def test_described_weights(named):
    frame, weights = named.table, named.table["weight"].to_numpy()
    found = named.describe("score", by="value", weights="weight").to_polars()
    assert "weighted statistics" in named.describe("score", weights="weight").caption
    for group in "pq":
        inside = (frame["value"] == group).to_numpy()
        rows = found.filter((pl.col("value_") == group) & pl.col("statistic").is_in(["mean", "sum"]))["value"].to_list()
        score = frame["score"].to_numpy()
        assert rows == pytest.approx(
            [np.average(score[inside], weights=weights[inside]), (score * weights)[inside].sum()]
        )
    with pytest.raises(pk.InputError, match="'value' cannot be weights"):
        named.describe("score", weights="value")


def test_small_groups_are_flagged_in_descriptions(seed):
    """The interval of the group's size reaches zero, or twice the size: at the level asked."""
    schema = pk.Schema([pk.Attribute("group", ["few", "many"]), pk.Attribute.ranged("score", 1, 5)])
    blocks = tuple(Retention(unit, 2**31 // unit.size, 32) for unit in schema.units)  # rho = 1/2
    draw = np.random.default_rng(seed)
    flags = set()
    for few in (0, 40, 150, 2000):
        rows = pl.DataFrame(
            {"group": ["few"] * few + ["many"] * (4000 - few), "score": draw.integers(1, 6, 4000)},
        )
        release = pk.release(rows, pk.Plan(schema, blocks, 4000), randomness=pk.Seeded(few))
        for level in (0.5, 0.95):
            frame = release.describe("score", by="group", level=level).to_polars()
            table = release.crosstab("score", "group")
            for group in ("few", "many"):
                people = table.count(group=group)
                low, high = people.interval(level)
                wanted = None if low > 0 and high < 2 * people.value else "small group"
                own = frame.filter(pl.col("group") == group)
                for statistic, flag in own.select("statistic", "flag").rows():
                    assert flag == (None if statistic == "sum" else wanted)  # a sum is divided by nothing
                assert table.mean("score", {"group": group}).flag(level) == wanted
                assert table.quantile("score", 0.5, {"group": group}).flag(level) == wanted
                if wanted:  # nothing but the values themselves bounds a mean
                    mean = own.filter(pl.col("statistic") == "mean")
                    assert mean.row(0)[-3:-1] == (1.0, 5.0)
                flags.add((group, few, wanted))
    assert ("few", 0, "small group") in flags
    assert ("few", 2000, None) in flags
    assert not any(group == "many" and flag for group, _, flag in flags)
