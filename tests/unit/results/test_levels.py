"""Results hold their level, name their columns in one place, and take no argument that they would ignore."""

import json

import numpy as np
import polars as pl
import pytest

import pkanon as pk

ROWS = 2000
SCHEMA = pk.Schema([pk.Attribute("sex", ["M", "F"]), pk.Attribute.binned("age", start=0, stop=40, width=10)])
FRAME = pl.DataFrame({"sex": ["M", "F"] * (ROWS // 2), "age": [i % 40 for i in range(ROWS)]})
SQL = "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex"


@pytest.fixture(scope="module")
def made(seed):
    return pk.release(FRAME, pk.plan(SCHEMA, records=ROWS, k=3), randomness=pk.Seeded(seed))


@pytest.fixture(scope="module")
def results(made):
    return {
        "crosstab": made.crosstab("sex", "age"),
        "query": made.query(SQL),
        "describe": made.describe("age"),
        "correlations": made.correlations(),
        "tradeoff": pk.tradeoff(SCHEMA, records=ROWS, k=3, designs=["equal-rho"]),
    }


@pytest.mark.parametrize("name", ["crosstab", "query", "describe", "correlations", "tradeoff"])
@pytest.mark.parametrize("form", ["to_polars", "to_json", "to_pandas", "to_arrow", "to_bytes", "save"])
def test_an_argument_that_would_be_ignored_is_an_error(results, name, form, tmp_path):
    call = getattr(results[name], form)
    first = {"to_bytes": ("csv",), "save": (tmp_path / "out.csv",)}.get(form, ())
    call(*first)
    before = list(tmp_path.iterdir())
    wrong = [((*first, 0.5), {}), (first, {"levle": 0.5})]
    if name != "crosstab":  # every other result holds its level, and has no groups to choose
        wrong += [(first, {"level": 0.5}), (first, {"given": ("sex",)})]
    for arguments, options in wrong:
        with pytest.raises(TypeError, match="argument"):
            call(*arguments, **options)
    assert list(tmp_path.iterdir()) == before


def test_an_estimate_holds_its_level(made):
    usual, held = made.crosstab("sex", "age"), made.crosstab("sex", "age", level=0.5)
    assert (usual.level, held.level, held.marginal("sex").level) == (0.95, 0.5, 0.5)
    for mine, asked in zip(held.interval(), usual.interval(0.5)):
        np.testing.assert_array_equal(mine, asked)
    assert (held.interval()[0] > usual.interval()[0]).all()
    np.testing.assert_array_equal(held.interval(0.95), usual.interval())
    np.testing.assert_array_equal(held.near_zero(), usual.near_zero(0.5))
    np.testing.assert_array_equal(held.shares("sex").low, usual.shares("sex", 0.5).low)
    assert held.marginal("sex").to_polars().equals(usual.marginal("sex").to_polars(level=0.5))
    for given in ((), ("sex",)):
        assert held.to_polars(given=given).equals(usual.to_polars(level=0.5, given=given))
        assert held.to_json(given=given) == usual.to_json(level=0.5, given=given)
        assert held.to_bytes("csv", given=given) == usual.to_bytes("csv", level=0.5, given=given)
        assert held.chart(given=given).to_dict() == usual.chart(level=0.5, given=given).to_dict()
    assert held.conditional("sex").equals(usual.conditional("sex", level=0.5))
    assert held.caption() == usual.caption(0.5)
    assert "50% intervals" in held.caption()
    assert set(held.to_xarray()) == {"estimate", "std_error", "low_50", "high_50", "released"}
    assert held.to_json()["level"] == 0.5


def test_every_form_of_an_estimate_takes_another_level_and_groups(made, tmp_path):
    table, how = made.crosstab("sex", "age"), {"level": 0.9, "given": "sex"}
    frame = table.to_polars(**how)
    assert pl.from_pandas(table.to_pandas(**how))["proportion_low_90"].equals(frame["proportion_low_90"])
    assert table.to_arrow(**how).column("low_90").to_pylist() == frame["low_90"].to_list()
    table.save(tmp_path / "a.csv", **how)
    assert (tmp_path / "a.csv").read_bytes() == table.to_bytes("csv", **how) == frame.write_csv().encode()
    table.save(tmp_path / "a.json", **how)
    data = json.loads((tmp_path / "a.json").read_text())
    assert (data["level"], data["given"]) == (0.9, ["sex"])
    assert data["cells"][0]["proportion"] == frame["proportion"][0]


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan")])
def test_what_is_no_level_is_refused_before_anything_is_counted(made, level, monkeypatch):
    monkeypatch.setattr(pk.Estimate, "of", None)
    with pytest.raises(pk.InputError, match="level"):
        made.crosstab("sex", level=level)


def test_an_unknown_format_is_refused(results):
    with pytest.raises(pk.InputError, match="csv, json, parquet, latex, html, markdown, xlsx, not as 'docx'"):
        results["query"].to_bytes("docx")


@pytest.mark.parametrize(("level", "text"), [(0.95, "95"), (0.999, "99.9"), (0.5, "50"), (1 / 3, "33.3333")])
def test_results_know_the_names_of_their_columns(made, level, text):
    table = made.crosstab("sex", level=level)
    assert tuple(table.columns()) == ("estimate", "std_error", f"low_{text}", f"high_{text}")
    assert table.share_columns().low == f"proportion_low_{text}"
    assert table.to_polars().columns == ["sex", *table.columns(), *table.share_columns(), "released", "flag"]
    answer = made.query(SQL, level=level)
    assert answer.frame.columns == ["sex", *answer.columns("n"), "n_flag"]
    assert answer.columns("n").high == f"n_high_{text}"
    for found, words in (
        (made.describe("age", level=level), {"attribute", "statistic", "flag"}),
        (made.correlations(level=level), {"first", "second", "measure", "flag"}),
    ):
        assert set(found.to_polars().columns) == words | set(found.columns())
        assert found.columns().low == f"low_{text}"


def test_a_chart_of_shares_does_not_speak_of_counts(made):
    table = made.crosstab("sex", "age")
    shares, counts = (" ".join(table.chart(given=g).to_dict()["title"]["subtitle"]) for g in ("sex", ()))
    assert shares.startswith("Shares within sex from 2,000 released rows")
    assert counts.startswith("Counts from 2,000 released rows")
    assert "ounts" not in shares
    both = made.crosstab("sex", "age").caption(given=("sex", "age"))
    assert both.startswith("shares within sex x age from")
