"""The method model wherever a method is asked for: tables, SQL, descriptions, files, weights, merged values, refusals."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import pkanon as pk

N = 12_000


def people(n: int = N) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(0, 10, n)
    job = np.minimum(age // 2 + rng.integers(0, 3, n), 6)
    sex = (rng.random(n) < 0.3 + 0.05 * job).astype(int)
    return pl.DataFrame({"age": age, "job": job, "sex": sex, "points": 1 + age % 3, "weight": 1.0 + sex})


SCHEMA = pk.Schema(
    [
        pk.Attribute.ranged("age", 0, 9),
        pk.Attribute.ranged("job", 0, 6),
        pk.Attribute.ranged("sex", 0, 1),
        pk.Attribute.ranged("points", 1, 3),
        pk.Attribute("weight", role="pass", type="number"),
    ]
)


@pytest.fixture(scope="module")
def release():
    return pk.release(people(), pk.plan(SCHEMA, records=N, k=5), randomness=pk.Seeded(1), allow_pass=True)


def truth(*names: str) -> np.ndarray:
    frame = people()
    shape = [SCHEMA.attribute(name).size for name in names]
    counts = np.zeros(shape)
    first = [1 if name == "points" else 0 for name in names]
    np.add.at(counts, tuple(frame[name].to_numpy() - low for name, low in zip(names, first)), 1)
    return counts


def test_it_is_nearer_to_the_truth_than_the_most_likely_table(release):
    names = ("age", "job", "sex")
    error = {m: np.abs(release.crosstab(*names, method=m).counts - truth(*names)).sum() for m in ("model", "em")}
    assert error["model"] < error["em"]


def test_a_table_has_counts_errors_intervals_and_says_how_it_was_made(release):
    made = release.crosstab("age", "job", method="model")
    assert made.counts.sum() == pytest.approx(N)
    assert made.counts.min() >= 0
    unbiased = release.crosstab("age", "job")
    assert made.standard_errors == pytest.approx(unbiased.standard_errors)
    low, high = made.interval()
    assert ((low <= made.counts) & (made.counts <= high)).all()
    assert any("mixture of 8 classes" in note for note in made.notes)
    assert "usually nearest to the truth" in made.caption()
    assert made.to_json()["method"] == "model"


def test_the_model_is_fitted_once_for_all_tables(release):
    release.crosstab("age", method="model")
    first = release._kept["model"][0][1]
    release.crosstab("job", "sex", method="model")
    assert [model for _, model in release._kept["model"]] == [first]
    release.crosstab("job", "sex", method="model", weights="weight")
    assert len(release._kept["model"]) == 2


def test_intervals_on_average_are_narrower_named_so_and_hold_the_estimate(release):
    made = release.crosstab("age", "job", method="model")
    low, high = made.interval(kind="average")
    wide = made.interval()
    assert (high - low).mean() < 0.9 * (wide[1] - wide[0]).mean()
    assert ((low <= made.counts) & (made.counts <= high)).all()
    assert (low == np.floor(low)).all() or (low <= made.counts).all()
    real = truth("age", "job")
    assert ((low <= real) & (real <= high)).mean() >= 0.93
    frame = made.to_polars(average=True)
    assert frame["low_95_on_average_over_cells"].to_list() == pytest.approx(low.ravel().tolist())
    assert "high_90_on_average_over_cells" in made.to_polars(average=True, level=0.9).columns
    assert made.without_average is None


def test_where_there_are_no_such_intervals_those_of_each_cell_are_given_and_why(release):
    small = release.crosstab("sex", "points", method="model")
    assert "fewer than 30 cells" in small.without_average
    assert small.interval(kind="average")[1] == pytest.approx(small.interval()[1])
    assert "two and three attributes" in release.crosstab("age", method="model").without_average
    sampled = release.crosstab("age", "job", method="model", about="population")
    assert "not the population" in sampled.without_average
    merged = release.crosstab("age", "job", method="model", merge={"age": [0, 5, 10]})
    assert "merged" in merged.without_average
    assert merged.interval(kind="average")[0] == pytest.approx(merged.interval()[0])
    few = pk.release(people(400), pk.plan(SCHEMA, records=400, k=20), randomness=pk.Seeded(1), allow_pass=True)
    assert "100 rows for each of its k" in few.crosstab("age", "job", method="model").without_average
    for rows, k, why in (
        (400, 4, "100 rows for each of its k"),
        (400, 3.9, "fewer than 10,000 rows"),
        (9_999, 2, "fewer than 10,000 rows"),
        (10_000, 2, "None"),
    ):
        made = pk.release(people(rows), pk.plan(SCHEMA, records=rows, k=k), randomness=pk.Seeded(1), allow_pass=True)
        assert why in str(made.crosstab("age", "job", method="model").without_average)


def test_other_methods_have_no_intervals_on_average(release):
    with pytest.raises(pk.InputError, match="'model' alone"):
        release.crosstab("age").interval(kind="average")
    with pytest.raises(pk.InputError, match="'each' cell or on 'average'"):
        release.crosstab("age", method="model").interval(kind="best")
    assert release.crosstab("age").without_average is None


def test_sql_descriptions_merged_values_and_weights_take_it(release):
    answer = release.query("SELECT sex, COUNT(*) FROM release GROUP BY sex", method="model")
    table = release.crosstab("sex", method="model")
    assert answer.to_polars()["count"].to_list() == pytest.approx(table.counts.tolist())
    described = release.describe("age", by=["sex"], method="model")
    assert described.method == "model"
    merged = release.crosstab("age", "sex", method="model", merge={"age": [0, 5, 10]})
    whole = release.crosstab("age", "sex", method="model").counts
    assert merged.counts == pytest.approx(np.stack([whole[:5].sum(0), whole[5:].sum(0)]))
    weighted = release.crosstab("sex", method="model", weights="weight")
    assert weighted.total == pytest.approx(people()["weight"].sum())
    by_points = release.crosstab("sex", method="model", weights="points")
    assert by_points.counts.sum() == pytest.approx(people()["points"].sum(), rel=0.05)
    assert release.crosstab("age", "job", method="model").chart() is not None


def test_answers_and_descriptions_say_which_model_was_used(release):
    said = release.crosstab("sex", method="model").notes[0]
    assert said.startswith("the model is a mixture of 8 classes")
    answer = release.query("SELECT sex, COUNT(*) FROM release GROUP BY sex", method="model")
    assert said[:1].upper() + said[1:] in answer.notes
    assert release.describe("age", "points", method="model").remarks.count(said) == 1
    assert not any("mixture" in note for note in release.query("SELECT COUNT(*) FROM release").notes)


def test_a_report_is_plain_json(release):
    report = release.model()
    found = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert (found["classes"], found["independent"], found["explained"]) == (
        report.classes,
        report.independent,
        report.explained,
    )
    assert [(r["ridge"], r["share"]) for r in found["ridges"]] == list(report.ridges)
    assert report.independent < 1
    assert sum(share for _, share in report.ridges) == pytest.approx(1)
    assert [tried["classes"] for tried in found["tried"]] == [classes for classes, _ in report.tried]
    alone = replace(report, ridges=((float("inf"), 1.0),))
    assert alone.independent == 1
    assert alone.to_json()["ridges"] == [{"ridge": None, "share": 1.0}]


def test_everything_kept_is_given_back_as_it_is():
    frame = people(2_000).drop("weight")
    schema = pk.Schema([SCHEMA.attribute(name) for name in frame.columns])
    kept = pk.Plan(schema, tuple(pk.Retention(unit, 0) for unit in schema.units), records=2_000)
    whole = pk.release(frame, kept, randomness=pk.Seeded(1), allow_pass=True)
    for names in (["age"], ["age", "job"], ["sex", "points", "age"]):
        table = whole.crosstab(*names, method="model")
        assert table.counts == pytest.approx(whole.crosstab(*names).counts, abs=2.0)


def test_a_cell_where_model_and_rows_disagree_is_flagged(release):
    made = release.crosstab("age", "job", method="model")
    flags = made.flags_of().to_list()
    assert [flag is not None and "model differs" in flag for flag in flags] == made.differs.ravel().tolist()
    assert not release.crosstab("age", "job").differs.any()


def test_wrong_input_is_one_sentence(release):
    with pytest.raises(pk.InputError, match="no randomised attribute 'agee'"):
        release.crosstab("agee", method="model")
    tiny = pk.release(people(60), pk.plan(SCHEMA, records=60, k=2), randomness=pk.Seeded(1), allow_pass=True)
    with pytest.raises(pk.InputError, match="at least 100 released rows; this release has 60"):
        tiny.crosstab("age", method="model")


def test_an_unreadable_table_says_what_the_model_usually_comes_to(release):
    unread = release.crosstab("age", "job", "sex", "points")
    assert unread.unreadable is not None
    assert "'model'" not in unread.unreadable  # four attributes: nothing was measured
    poor = release.crosstab("age", "job")
    assert "Method 'model' (method=\"model\", --method model) usually comes to" in poor.unreadable
    assert "not promised" in poor.unreadable
    assert release.crosstab("age", "job", method="model").unreadable.startswith("unbiased, the plan predicts")


def test_a_model_is_kept_in_a_file_and_serves_its_own_release_only(release, tmp_path):
    report = release.model(tmp_path / "model.npz")
    again = pk.release(people(), release.plan, randomness=pk.Seeded(1), allow_pass=True)
    assert again.model(tmp_path / "model.npz") == report
    names = ("age", "job")
    assert again.crosstab(*names, method="model").counts == pytest.approx(
        release.crosstab(*names, method="model").counts
    )
    other = pk.release(people(), release.plan, randomness=pk.Seeded(2), allow_pass=True)
    with pytest.raises(pk.DataError, match="the model of another release"):
        other.model(tmp_path / "model.npz")
    (tmp_path / "torn.npz").write_bytes((tmp_path / "model.npz").read_bytes()[:200])
    with pytest.raises(pk.DataError, match="holds no model that pkanon wrote"):
        release.model(tmp_path / "torn.npz")
    assert report.classes * report.starts >= 1
    assert report.misfit <= report.limit or not report.explained


def test_where_limits_on_average_are_those_of_each_cell_json_says_why(release):
    small = release.crosstab("sex", "points", method="model")
    assert any("fewer than 30 cells" in remark for remark in small.to_json(average=True)["remarks"])
    assert not any("narrower" in remark for remark in small.to_json()["remarks"])


def test_limits_on_average_do_not_go_silently_missing_in_a_paper(release, tmp_path):
    with pytest.raises(pk.InputError, match="csv, json and parquet"):
        release.crosstab("age", "job", method="model").save(tmp_path / "t.tex", average=True)
    assert not (tmp_path / "t.tex").exists()


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("tables", lambda tables: -tables),
        ("tables", lambda tables: 3 * tables),
        ("tables", lambda tables: np.full(tables.shape, "x")),
        ("weights", lambda weights: 2 * weights),
        ("weights", lambda weights: weights * np.nan),
        ("starts", lambda starts: 0 * starts),
    ],
)
def test_a_kept_model_that_holds_no_shares_is_refused(part, changed, release, tmp_path):
    release.model(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as found:
        parts = dict(found)
    parts[part] = changed(parts[part])
    np.savez(tmp_path / "other.npz", **parts)
    with pytest.raises(pk.DataError, match="remove it, and the model is fitted again"):
        release.model(tmp_path / "other.npz")


def test_an_empty_file_and_a_folder_hold_no_model(release, tmp_path):
    (tmp_path / "empty.npz").touch()
    with pytest.raises(pk.DataError, match="holds no model"):
        release.model(tmp_path / "empty.npz")
    with pytest.raises(pk.InputError):
        release.model(tmp_path)
