"""Raw values that become declared ones: what is refused, which codes they get, what plans and analysts see of them."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import encode
from pkanon._schema.toml import parse

SCHOOL = {"school": ["9th", "10th"], "degree": ["BA", "MA"]}
EDUCATION = pk.Attribute("education", ["none", "school", "degree"], merge=SCHOOL, ordered=True)


def test_a_raw_value_has_the_code_of_its_declared_value():
    assert [EDUCATION.code(text) for text in ("none", "9th", "school", "10th", "MA", "degree")] == [0, 1, 1, 1, 2, 2]
    assert list(EDUCATION.labels()) == ["none", "school", "degree"]
    assert EDUCATION.merge == {"school": ("9th", "10th"), "degree": ("BA", "MA")}
    with pytest.raises(pk.DataError, match="outside its declared values"):
        EDUCATION.code("8th")


def test_the_keys_are_the_values_where_none_are_listed():
    attribute = pk.Attribute("education", merge=SCHOOL)
    assert list(attribute.labels()) == ["school", "degree"]
    assert pk.Attribute("n", merge={"1": [2, 3], "10": [20]}).type == "integer"
    assert list(pk.Attribute("n", merge={1: [2, 3], 10: [20]}).labels()) == [1, 10]


def test_the_order_in_which_merges_are_written_does_not_matter():
    turned = pk.Attribute("education", ["none", "school", "degree"], merge=dict(reversed(SCHOOL.items())), ordered=True)
    assert turned == EDUCATION
    assert hash(turned) == hash(EDUCATION)
    assert json.dumps(turned.to_json()) == json.dumps(EDUCATION.to_json())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"merge": {"c": ["d"]}}, "not among the declared values"),
        ({"merge": {"a": ["b"]}}, "it is a declared value too"),
        ({"merge": {"a": ["a"]}}, "it is a declared value too"),
        ({"merge": {"a": ["x"], "b": ["x"]}}, "it is merged into 'a' too"),
        ({"merge": {"a": ["x", "x"]}}, "it is merged into 'a' too"),
        ({"merge": {"a": []}}, "no raw values"),
        ({"merge": {"a": "x"}}, "must be a list"),
        ({"merge": ["x"]}, "write merge ="),
        ({"merge": {"a": [3]}}, "not of type text"),
        ({"merge": {"a": [""]}}, "empty text"),
        ({"merge": {"a": ["x"]}, "other": "x"}, "the label of other values too"),
        ({"merge": {"a": ["x"]}, "missing": "value", "missing_values": ["x"]}, "a missing value too"),
        ({"ordered": "yes"}, "true or false"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(pk.SchemaError, match=message) as caught:
        pk.Attribute("x", ["a", "b"], **arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bins = { edges = [0, 1, 2] }\nmerge = { a = [1] }", "listed values"),
        ("range = [0, 9]\nmerge = { a = [1] }", "listed values"),
        ("range = [0, 9]\nordered = true", "ordered anyway"),
        ("values = [1, 2]\nmerge = { one = [3] }", "not of type integer"),
        ('role = "drop"\nmerge = { a = ["b"] }', "belong to the role"),
        ('role = "id"\nordered = true', "belong to the role"),
    ],
)
def test_refused_in_a_file(text, message):
    with pytest.raises(pk.SchemaError, match=message):
        parse(f"[attributes.x]\n{text}\n[attributes.y]\nvalues = [1, 2]")


CASES = {
    "text": (pk.Attribute("x", ["a", "b", "c"], merge={"b": ["p", "q"], "a": ["r"]}), list("abcpqr"), list("abcbba")),
    "integer": (
        pk.Attribute("x", [5, 1, 70_000], merge={1: [-3, 2], 70_000: [900]}),
        [5, 1, 70_000, -3, 2, 900],
        [5, 1, 70_000, 1, 1, 70_000],
    ),
    "number": (pk.Attribute("x", [0.5, 2.0], merge={0.5: [1.5, 1e9]}), [0.5, 2.0, 1.5, 1e9], [0.5, 2.0, 0.5, 0.5]),
    "boolean": (pk.Attribute("x", [True], other=False, type="boolean"), [True, False], [True, False]),
    "date": (
        pk.Attribute("x", [dt.date(2024, 1, 1), dt.date(2025, 1, 1)], merge={"2024-01-01": [dt.date(2023, 5, 6)]}),
        [dt.date(2024, 1, 1), dt.date(2025, 1, 1), dt.date(2023, 5, 6)],
        [dt.date(2024, 1, 1), dt.date(2025, 1, 1), dt.date(2024, 1, 1)],
    ),
}


@pytest.mark.parametrize("how", ["frame", "csv", "parquet", "categories", "enum"])
@pytest.mark.parametrize("name", CASES)
def test_reading_merges_as_if_the_table_had_been_merged_before(name, how, tmp_path):
    attribute, raw, coarse = CASES[name]
    schema = pk.Schema([attribute])

    def codes(values):
        frame = pl.DataFrame({"x": values * 3})
        match how:
            case "csv":
                frame.write_csv(path := tmp_path / f"{len(list(tmp_path.iterdir()))}.csv")
            case "parquet":
                frame.write_parquet(path := tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet")
            case "categories" if name == "text":
                path = frame.cast(pl.Categorical)
            case "enum" if name == "text":
                path = frame.cast(pl.Enum(sorted(raw, reverse=True)))
            case _:
                path = frame
        return encode(path, schema).codes["x"]

    np.testing.assert_array_equal(codes(raw), codes(coarse))
    np.testing.assert_array_equal(codes(raw), [attribute.code(value) for value in raw * 3])


def test_other_and_missing_take_what_is_not_merged(tmp_path):
    attribute = pk.Attribute(
        "x", [1, 2], merge={1: [3]}, other=9, missing="value", missing_values=["NA", "-7"], ordered=True
    )
    (tmp_path / "x.csv").write_text("x,y\n1,a\n3,a\nNA,a\n-7,b\n8,b\n,b\n")
    schema = pk.Schema([attribute, pk.Attribute("y", ["a", "b"])])
    np.testing.assert_array_equal(encode(tmp_path / "x.csv", schema).codes["x"], [0, 0, 3, 3, 2, 3])


def test_many_texts_are_merged_too():
    values = [f"v{i}" for i in range(400)]
    attribute = pk.Attribute("x", values, merge={"v7": [f"r{i}" for i in range(1000)]})
    frame = pl.DataFrame({"x": ["r999", "v399", "r0", "v7"]})
    np.testing.assert_array_equal(encode(frame, pk.Schema([attribute])).codes["x"], [7, 399, 7, 7])


def test_a_plan_reads_the_same_raw_table(tmp_path):
    schema = pk.Schema([EDUCATION, pk.Attribute("sex", ["F", "M"])], others="drop")
    plan = pk.plan(schema, records=400, k=3)
    plan.save(tmp_path / "plan.json")
    again = pk.read_plan(tmp_path / "plan.json")
    assert (again, again.digest) == (plan, plan.digest)
    assert again.schema.attribute("education").merge == EDUCATION.merge
    assert again.schema.attribute("education").ordered
    frame = pl.DataFrame(
        {"education": ["9th", "MA", "none", "school"] * 100, "sex": ["F", "M"] * 200, "note": ["?"] * 400}
    )
    one, two = (pk.release(frame, made, randomness=pk.Seeded(3)) for made in (plan, again))
    assert one.dropped == ("note",)
    assert one.table.equals(two.table)
    assert set(one.table["education"].unique()) <= {"none", "school", "degree"}
    assert "MA" in json.dumps(plan.to_json())
    assert any("merged" in step and "education" in step for step in plan.steps)


def test_old_plans_have_none_of_the_new_keys():
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("n", 1, 4)]), records=100, k=2)
    data = plan.to_json()
    assert list(data) == ["format", "records", "count_noise", "asked", "attributes", "units", "blocks"]
    assert data["attributes"][0] == {"name": "sex", "role": "randomise", "type": "text", "values": ["F", "M"]}
    assert data["attributes"][1] == {"name": "n", "role": "randomise", "type": "integer", "range": ["1", "4"]}


def test_an_analyst_asks_for_declared_values_only():
    schema = pk.Schema([EDUCATION])
    plan = pk.plan(schema, records=300, k=2)
    release = pk.release(pl.DataFrame({"education": ["9th", "none", "MA"] * 100}), plan, randomness=pk.Seeded(1))
    with pytest.raises(pk.InputError, match="'9th' of 'education' was merged before the release; ask for 'school'"):
        release.crosstab("education").count(education="9th")
    assert release.crosstab("education").count(education="school").value > 0
    with pytest.raises(pk.InputError):
        release.crosstab("education").count(education=[["9th"]])
    with pytest.raises(pk.InputError, match="9th"):
        release.query("SELECT COUNT(*) FROM release WHERE education = '9th'")


def test_order():
    dates = [dt.date(2024, 1, 1), dt.date(2025, 1, 1)]
    assert EDUCATION.ordered
    assert pk.Attribute.ranged("x", 1, 3).ordered
    assert pk.Attribute.binned("x", edges=[0, 1, 2]).ordered
    assert pk.Attribute("x", dates).ordered
    assert not pk.Attribute("x", dates[::-1]).ordered
    assert not pk.Attribute("x", [1, 2]).ordered
    assert not pk.Attribute("x", role="drop").ordered
    assert pk.Attribute("x", [1, 2], ordered=True) != pk.Attribute("x", [1, 2])
    assert pk.Attribute("x", dates, ordered=True).to_json() == pk.Attribute("x", dates).to_json()
