"""schema.toml in and out, and what a schema refuses."""

import datetime as dt

import pytest

import pkanon as pk
from pkanon._schema.toml import parse

EVERYTHING = """\
[attributes.age]
type = "integer"
bins = { start = 0, stop = 90, width = 5 }
open = "high"
[attributes.income]
type = "number"
bins = { edges = [0.0, 1000.5, 20000.0], labels = ["low", "high", "top"] }
open = "high"
[attributes.visit]
type = "date"
bins = { edges = [2024-01-01, 2024-07-01, 2025-01-01] }
[attributes.education]
values = ["none", "school", "degree"]
missing = "value"
missing_values = ["", "NA", "-9"]
other = "other"
[attributes.smokes]
type = "boolean"
values = [false, true]
[attributes.zip]
type = "integer"
range = [0, 99999]
other = -1
[attributes.patient]
role = "id"
[attributes.note]
role = "drop"
[attributes.weight]
type = "number"
role = "pass"
[[bundles]]
attributes = ["age", "education"]
forbid = [{ age = ["0-4", "5-9"], education = ["degree"] }, { age = ["0-4"], education = [""] }]
"""


def test_what_the_file_says_is_what_is_read():
    schema = parse(EVERYTHING)
    age, income, visit, education = (schema.attribute(name) for name in ("age", "income", "visit", "education"))
    assert [age.size, age.label(0), age.label(18)] == [19, "0-4", "90+"]
    assert list(income.labels()) == ["low", "high", "top"]
    assert list(visit.labels()) == ["2024-01-01 to 2024-06-30", "2024-07-01 to 2024-12-31"]
    assert visit.code(dt.date(2024, 6, 30)) == 0
    assert list(education.labels()) == ["none", "school", "degree", "other", None]
    assert [education.other_code, education.missing_code] == [3, 4]
    assert schema.attribute("zip").code(5) == 5
    assert schema.attribute("zip").code(-7) == 100_000  # everything else is other
    assert [a.role for a in schema.attributes[-3:]] == ["id", "drop", "pass"]
    bundle = schema.units[0]
    assert bundle.attributes == ("age", "education")
    assert bundle.size == 19 * 5 - 2 - 1


def test_it_comes_back_the_same():
    schema = parse(EVERYTHING)
    again = parse(schema.to_toml())
    assert again == schema
    assert again.digest == schema.digest


def test_a_draft_stays_a_draft_until_it_is_confirmed():
    assert parse('domains = "drafted"\n' + EVERYTHING).drafted
    assert parse(parse('domains = "drafted"\n' + EVERYTHING).to_toml()).drafted
    assert not parse('domains = "confirmed"\n' + EVERYTHING).drafted
    assert not parse(EVERYTHING).drafted
    with pytest.raises(pk.SchemaError, match="domains"):
        parse('domains = "yes"\n' + EVERYTHING)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('missing_values = ["", "NA", "-9"]', 'missing_values = ["none"]', "both a value and in missing_values"),
        ('other = "other"', 'other = "none"', "also a declared value"),
        ('other = "other"', "other = 3", "not of type"),
        ("range = [0, 99999]", "range = [5, 4]", "starts above"),
        ("range = [0, 99999]", "range = [0, 99999999999]", "2\\^31"),
        ('role = "id"', 'role = "id"\nvalues = ["a", "b"]', "randomise"),
        ('["0-4", "5-9"]', '["0-3"]', "not a value of 'age'"),
        ('attributes = ["age", "education"]', 'attributes = ["age", "patient"]', "patient|education"),
        ('attributes = ["age", "education"]', 'attributes = ["age"]', "two"),
        ('open = "high"', 'open = "wide"', "wide"),
        ('values = ["none", "school", "degree"]', 'values = ["none", "school", "degree", "a\\u0000b"]', "NUL"),
        ('values = ["none", "school", "degree"]', 'values = ["none", "school", "degree", ""]', "empty text"),
    ],
)
def test_what_is_refused(old, new, message):
    text = EVERYTHING.replace(old, new)
    assert text != EVERYTHING
    with pytest.raises(pk.SchemaError, match=message):
        parse(text)


def test_joint_keeps_what_bundles_forbid_and_only_that():
    schema = pk.Schema(
        [pk.Attribute(name, ["a", "b"]) for name in ("x", "y", "z")],
        [pk.Bundle(["x", "z"], [{"x": ["a"], "z": ["b"]}])],
    )
    assert schema.unit(["x", "y", "z"]).size == 8 - 2
    assert schema.unit(["x", "y"]).size == 4  # the rule needs z
    assert pk.plan(schema, records=100, k=2, design="joint").units[0].size == 6


@pytest.mark.parametrize("last", [1e9, 1e28, 1e300])
def test_uneven_edges_far_apart_are_written_as_they_are(last):
    """Not as bins of the first width, of which there would be billions."""
    schema = pk.Schema([pk.Attribute.binned("x", edges=[0.0, 1.0, last])])
    assert "edges" in schema.to_toml()
    assert parse(schema.to_toml()) == schema
    with pytest.raises(pk.SchemaError, match="are too many"):
        pk.Attribute.binned("x", start=0.0, stop=last * 10, width=1.0)


@pytest.mark.parametrize(
    ("open_end", "limits"),
    [
        ("none", [(0, 5), (5, 20)]),
        ("low", [(None, 0), (0, 5), (5, 20)]),
        ("high", [(0, 5), (5, 20), (20, None)]),
        ("both", [(None, 0), (0, 5), (5, 20), (20, None)]),
    ],
)
def test_the_limits_of_bins(open_end, limits):
    bins = pk.Attribute.binned("age", edges=[0, 5, 20], open=open_end).domain
    assert bins.limits() == limits
    assert len(limits) == len(bins)
    closed = [(-9 if low is None else low, 99 if high is None else high) for low, high in limits]
    assert bins.limits(-9, 99) == closed


BY, ROW = "J. Doe, 2 May: values as in the questionnaire", "one person"
STATEMENTS = f'confirmed_by = "{BY}"\nrow_is = "{ROW}"\n'
"""As older files have them."""
CONFIRMED = f'[confirmed]\nby = "{BY}"\nrows_are = "{ROW}"\n'


def test_a_schema_says_who_confirmed_it_and_what_a_row_is():
    schema, silent = parse(STATEMENTS + EVERYTHING), parse(EVERYTHING)
    assert (schema.confirmed_by, schema.rows_are) == (BY, ROW)
    assert (silent.confirmed_by, silent.rows_are) == (None, None)
    assert parse(CONFIRMED + EVERYTHING) == schema
    assert parse(schema.to_toml()) == schema
    assert "row_is" not in schema.to_toml()
    assert schema.digest == silent.digest  # they number rows alike


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-05-02", "2026-05-02"),
        ('"2026-05-02"', "2026-05-02"),
        ('"early May"', "early May"),
        ('"2026-99-02"', "2026-99-02"),
    ],
)
def test_a_schema_says_when_it_was_confirmed(written, read):
    schema = parse(f"{CONFIRMED}on = {written}\n{EVERYTHING}")
    assert schema.confirmed_on == read
    assert parse(schema.to_toml()) == schema
    assert pk.Schema(schema.attributes, confirmed_by=BY, confirmed_on=dt.date(2026, 5, 2)).confirmed_on == "2026-05-02"
    assert schema.confirm(by=BY, on=read).confirmed_on == read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[confirmed]\non = 2026-05-02\n", "not by whom"),
        ('[confirmed]\nby = "J. Doe"\nrow = "x"\n', "'row' is unknown"),
        ('confirmed = "J. Doe"\n', "must be a table"),
        ('row_is = "one person"\n[confirmed]\nby = "J. Doe"\n', "remove those two"),
        ('[confirmed]\nby = ["J. Doe"]\n', "confirmed_by must be a text"),
        ('[confirmed]\nby = "J. Doe"\non = 3\n', "confirmed_on must be a text"),
    ],
)
def test_unusable_confirmations(text, message):
    with pytest.raises(pk.SchemaError, match=message):
        parse(text + EVERYTHING)


def test_a_draft_is_confirmed_by_nobody():
    with pytest.raises(pk.SchemaError, match="still is drafted"):
        parse('domains = "drafted"\n' + STATEMENTS + EVERYTHING)
    assert parse('domains = "drafted"\nrow_is = "one person"\n' + EVERYTHING).rows_are == ROW


@pytest.mark.parametrize("key", ["confirmed_by", "rows_are"])
@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "a\u2028b", "bell\a", "x" * 201, 3, True, ["x"]])
def test_statements_are_texts_on_one_line(key, text):
    with pytest.raises(pk.SchemaError, match=f"{key} must be a text on one line"):
        pk.Schema([pk.Attribute("sex", ["F", "M"])], **{key: text})


def test_plans_keep_what_is_said_about_a_schema(tmp_path):
    schema = parse(STATEMENTS + EVERYTHING)
    plan = pk.plan(schema, records=1_000, k=2)
    assert (plan.schema.confirmed_by, plan.schema.rows_are) == (BY, ROW)
    plan.save(tmp_path / "plan.json")
    again = pk.read_plan(tmp_path / "plan.json")
    assert again == plan
    assert again.schema.confirmed_by == BY
    silent = pk.plan(parse(EVERYTHING), records=1_000, k=2).to_json()
    assert plan.to_json() == silent | {"confirmed": {"by": BY, "rows_are": ROW}}
    dated = pk.plan(schema.confirm(by=BY, on="2026-05-02"), records=1_000, k=2)
    assert dated.to_json()["confirmed"]["on"] == "2026-05-02"
    assert pk.Plan.from_json(dated.to_json()) == dated
    with pytest.raises(pk.SchemaError, match="drafted"):
        pk.Plan.from_json(plan.to_json() | {"domains": "drafted"})
    for wrong in ({}, {"by": None}, {"who": BY}, "J. Doe", {"by": BY, "on": None}):
        with pytest.raises(pk.PlanError, match="damaged"):
            pk.Plan.from_json(silent | {"confirmed": wrong})
    with pytest.raises(pk.PlanError, match="unknown key 'row_is'"):
        pk.Plan.from_json(plan.to_json() | {"row_is": ROW})
