"""Missing answers are seen in every output, and every output says what was done with them and which values were merged."""

import csv
import functools
import io
import json

import numpy as np
import polars as pl
import pytest

import pkanon as pk

ROWS = 600
MERGE = {"education": {"school": ["9th", "10th"]}}


@functools.cache
def release():
    draw = np.random.default_rng(3)
    people = pl.DataFrame(
        {
            "education": draw.choice(["9th", "10th", "BA", None], ROWS).tolist(),
            "rooms": draw.choice([1, 2, 10, None], ROWS).tolist(),
            "sex": draw.choice(["F", "M"], ROWS).tolist(),
        }
    )
    schema = pk.Schema(
        [
            pk.Attribute("education", ["9th", "10th", "BA"], missing="value"),
            pk.Attribute("rooms", [1, 2, 10], missing="value"),
            pk.Attribute("sex", ["F", "M"]),
        ]
    )
    return pk.release(people, pk.plan(schema, records=ROWS, k=5), randomness=pk.Seeded(2))


def test_nobody_is_lost_in_pandas():
    estimate = release().crosstab("education", "rooms")
    frame = estimate.to_pandas()
    by_hand = frame.groupby("education", observed=True)["estimate"].sum()
    assert by_hand.sum() == pytest.approx(ROWS)
    assert list(by_hand.index) == ["9th", "10th", "BA", "(missing)"]
    pivot = frame.pivot_table(index="education", columns="rooms", values="estimate", observed=True, aggfunc="sum")
    assert list(pivot.columns) == ["1", "2", "10", "(missing)"]  # texts, in the order of the numbers
    assert pivot.to_numpy().sum() == pytest.approx(ROWS)
    nulls = estimate.to_pandas(missing_label=None)
    assert nulls["education"].isna().sum() == 4
    assert nulls["rooms"].dropna().tolist()[:3] == [1, 2, 10]


def test_every_format_has_the_label_unless_null_is_asked_for(tmp_path):
    estimate = release().crosstab("rooms")
    for content, label in ((estimate.to_bytes("csv"), "(missing)"), (estimate.to_bytes("csv", missing_label=None), "")):
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert [row["rooms"] for row in rows] == ["1", "2", "10", label]
    assert [cell["rooms"] for cell in json.loads(estimate.to_bytes("json"))["cells"]] == ["1", "2", "10", "(missing)"]
    assert [cell["rooms"] for cell in estimate.to_json(missing_label=None)["cells"]] == [1, 2, 10, None]
    estimate.save(tmp_path / "a.parquet")
    estimate.save(tmp_path / "b.parquet", missing_label=None)
    assert pl.read_parquet(tmp_path / "a.parquet")["rooms"].to_list() == ["1", "2", "10", "(missing)"]
    assert pl.read_parquet(tmp_path / "b.parquet")["rooms"].to_list() == [1, 2, 10, None]
    assert estimate.to_arrow()["rooms"].to_pylist()[-1] == "(missing)"
    assert release().crosstab("rooms", "sex").conditional("sex")["rooms"][-1] == "(missing)"
    assert estimate.to_polars(missing_label="refused")["rooms"][-1] == "refused"
    with pytest.raises(pk.InputError, match="'10' is a value of 'rooms'"):
        estimate.to_polars(missing_label="10")
    with pytest.raises(pk.InputError, match="not empty"):
        estimate.to_polars(missing_label="")
    assert release().crosstab("sex").to_polars()["sex"].to_list() == ["F", "M"]


def test_answers_and_descriptions_have_it_too():
    answer = release().query("SELECT education, COUNT(*) FROM release GROUP BY education")
    assert answer.to_polars()["education"].to_list() == ["9th", "10th", "BA", "(missing)"]
    assert answer.to_polars(missing_label=None)["education"].to_list()[-1] is None
    assert answer.to_json()["rows"][-1]["education"] == "(missing)"
    assert "(missing)" in answer.to_bytes("csv").decode()
    described = release().describe("rooms", by=["education"])
    assert described.to_polars()["education"].to_list()[-1] == "(missing)"
    assert described.to_polars(missing_label=None)["education"].to_list()[-1] is None
    assert described.to_json()["statistics"][-1]["education"] == "(missing)"


def test_a_value_that_looks_like_the_label():
    schema = pk.Schema([pk.Attribute("x", ["(missing)", "b"], missing="value")])
    people = pl.DataFrame({"x": ["(missing)", "b", None] * 50})
    own = pk.release(people, pk.plan(schema, records=150, k=2), randomness=pk.Seeded(1))
    assert own.crosstab("x").to_polars()["x"].to_list() == ["(missing)", "b", "(no value)"]
    merged = own.crosstab("x", merge={"x": {"(missing)": ["(missing)", "b"]}})
    assert merged.labels == (["(missing)", None],)  # it is a value, so it is a group like others


def test_outputs_say_what_was_done():
    ask = {"merge": MERGE, "missing": "exclude"}
    estimate = release().crosstab("education", "rooms", **ask)
    said = "merged: education (school); missing answers left out: education, rooms"
    assert estimate.caption().endswith(said)
    assert estimate.grid().caption.endswith(said)
    assert said in estimate._repr_html_().replace("&#x27;", "'")
    assert said in str(estimate)
    assert "% of those who answered" in estimate.text_table().header
    data = estimate.to_json()
    assert (data["missing"], data["excluded"]) == ("exclude", ["education", "rooms"])
    assert data["merged"] == {"education": {"school": ["9th", "10th"]}}
    assert release().crosstab("education").caption().endswith("missing answers are a category")
    assert "missing" not in release().crosstab("sex").caption()
    assert release().crosstab("sex", missing="exclude").to_json()["missing"] == "exclude"

    association = estimate.association()
    assert f"{said[:1].upper()}{said[1:]}." in association._repr_html_()
    assert said in str(association)
    assert association.to_json()["missing"] == "exclude"
    assert association.to_json()["merged"] == data["merged"]

    pairs = release().correlations(**ask)
    assert "Merged: education (school). People without an answer are left out of a pair." in pairs._repr_html_()
    assert pairs.to_json()["missing"] == "exclude"
    assert "Missing answers are a category in Cramer's V." in release().correlations().remark
    assert "left out" in json.dumps(pairs.chart().to_dict()["title"])

    described = release().describe("rooms", by=["education"], **ask)
    assert "merged: education (school)" in described.caption
    assert "left out: rooms, education" in described.caption
    assert (described.missing, described.to_json()["merged"]) == ("exclude", data["merged"])
    assert "missing answers are a group" in release().describe("rooms", by=["education"]).caption

    answer = release().query("SELECT education, AVG(rooms) FROM release GROUP BY education", **ask)
    assert "Merged: education (school)." in answer.notes
    assert "Missing answers left out: education, rooms." in answer.notes
    answer = release().query("SELECT education, AVG(rooms) FROM release GROUP BY education")
    assert "Missing answers are a group: education." in answer.notes
    quiet = release().query("SELECT sex, COUNT(*) FROM release GROUP BY sex", missing="exclude")
    assert not any("issing" in note for note in quiet.notes)


def test_values_that_count_as_missing():
    estimate = release().crosstab("education", merge={"education": {"(missing)": ["BA"]}})
    assert estimate.labels == (["9th", "10th", None],)
    assert estimate.caption().endswith("counted as missing: education (BA); missing answers are a category")
    alone = release().crosstab("education", merge={"education": {"(missing)": ["BA"]}}, missing="exclude")
    assert alone.labels == (["9th", "10th"],)
    answer = release().query(
        "SELECT COUNT(*) AS n FROM release WHERE education IS NULL", merge={"education": {"(missing)": ["BA"]}}
    )
    both = release().crosstab("education").count(education=["BA", None])
    assert answer.frame["n"].item() == pytest.approx(both.value)
    assert answer.frame["n_std_error"].item() == pytest.approx(both.standard_error)


def test_conditions_name_groups_or_values():
    table = release().crosstab("education", "sex")
    for condition, values in (
        ("education = 'school'", ["9th", "10th"]),
        ("education = '9th'", ["9th"]),
        ("education <> 'school'", ["BA"]),
        ("education IN ('school', 'BA')", ["9th", "10th", "BA"]),
        ("NOT education IN ('school')", ["BA"]),
    ):
        answer = release().query(f"SELECT COUNT(*) AS n FROM release WHERE {condition}", merge=MERGE)
        assert answer.frame["n"].item() == pytest.approx(table.count(education=values).value)
    having = "SELECT education, COUNT(*) FROM release GROUP BY education HAVING "
    assert release().query(having + "education = 'school'", merge=MERGE).frame["education"].to_list() == ["school"]
    with pytest.raises(pk.InputError, match="splits the group 'school'"):
        release().query(having + "education = '9th'", merge=MERGE)
    inside = "SELECT sex, SUM(CASE WHEN education = 'school' THEN 1 ELSE 0 END) AS n FROM release GROUP BY sex"
    got = release().query(inside, merge=MERGE).frame["n"].to_list()
    assert got == pytest.approx([table.count(education=["9th", "10th"], sex=sex).value for sex in ("F", "M")])


def test_wrong_words():
    for call in (release().crosstab, release().describe, release().correlations):
        with pytest.raises(pk.InputError, match="not 'drop'"):
            call("rooms", "sex", missing="drop") if call != release().describe else call("rooms", missing="drop")
    with pytest.raises(pk.InputError, match=r"no randomised attribute 'educaton'. .* Did you mean 'education'"):
        release().crosstab("sex", merge={"educaton": {"a": ["BA"]}})
    with pytest.raises(pk.InputError, match="which values become one"):
        release().crosstab("sex", merge=[1])
    assert release().crosstab("sex", merge=MERGE).merged == {}  # not in the table: passed over
    grouped = release().crosstab("education", "sex", merge=MERGE)
    with pytest.raises(pk.InputError, match="'9th' is not a value of 'education'"):
        grouped.count(education="9th")
    for names in ((), ("rooms",), ("sex", "sex")):
        with pytest.raises(pk.InputError, match="names some of education, sex"):
            grouped.marginal(*names)


def test_rows_are_exported_with_a_label_if_asked(tmp_path):
    for name, label in (("plain.csv", None), ("labelled.csv", "(missing)")):
        release().export(tmp_path / name, missing_label=label)
    rows = pl.read_csv(tmp_path / "labelled.csv", infer_schema=False)
    plain = pl.read_csv(tmp_path / "plain.csv", infer_schema=False)
    assert rows["rooms"].null_count() == 0
    assert (rows["rooms"] == "(missing)").sum() == plain["rooms"].null_count() > 0
    assert rows.with_columns(pl.all().replace({"(missing)": None})).equals(plain)
    release().export(tmp_path / "plain.parquet")
    assert pk.open_release(tmp_path / "plain.parquet").rows == ROWS
    release().export(tmp_path / "labelled.parquet", missing_label="(missing)")
    with pytest.raises(pk.PkanonError, match="plan"):
        pk.open_release(tmp_path / "labelled.parquet")
    release().save(tmp_path / "out", format="both")
    assert pk.open_release(tmp_path / "out").crosstab("rooms").counts.sum() == pytest.approx(ROWS)
