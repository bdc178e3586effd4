"""Hierarchies in the layout of ARX: what is refused, which values a level gives, and that the file is found again."""

import re

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import encode
from pkanon._schema.toml import parse

MARKER = "Zebulon-Quagmire"
GRADES = "9th;secondary;school;*\n10th;secondary;school;*\nBA;degree;university;*\nMA;degree;university;*\n"
SCHEMA = '[attributes.education]\nhierarchy = { file = "grades.csv", level = 1 }\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "grades.csv").write_text(GRADES)
    (tmp_path / "people.toml").write_text(SCHEMA)
    return tmp_path


def test_a_level_gives_values_and_merges(folder):
    education = pk.read_schema(folder / "people.toml").attribute("education")
    assert list(education.labels()) == ["secondary", "degree"]
    assert education.merge == {"secondary": ("9th", "10th"), "degree": ("BA", "MA")}
    assert (education.level, len(education.levels)) == (1, 4)
    assert list(education.at(0).labels()) == ["9th", "10th", "BA", "MA"]
    assert education.at(0).merge == {}
    assert list(education.at(2).labels()) == ["school", "university"]
    assert education.at(2).at(1) == education
    with pytest.raises(pk.SchemaError, match="one value only"):
        education.at(3)
    with pytest.raises(pk.SchemaError, match="levels 0 to 3"):
        education.at(4)
    with pytest.raises(pk.SchemaError, match="has no hierarchy"):
        pk.Attribute("x", ["a", "b"]).at(0)


def test_what_belongs_to_an_attribute_stays_at_every_level(folder):
    hierarchy = pk.read_hierarchy(folder / "grades.csv")
    options = {"other": "other", "missing": "value", "missing_values": ("NA",), "ordered": True}
    one = pk.Attribute("education", hierarchy=hierarchy, **options)
    coarse = one.at(1)
    assert list(coarse.labels()) == ["secondary", "degree", "other", None]
    assert (coarse.ordered, coarse.missing_values, coarse.hierarchy) == (True, ("NA",), hierarchy)


def test_reading_equals_a_table_that_was_merged_before(folder):
    schema = pk.read_schema(folder / "people.toml")
    raw = pl.DataFrame({"education": ["MA", "9th", "10th", "BA", "degree"]})
    coarse = pl.DataFrame({"education": ["degree", "secondary", "secondary", "degree", "degree"]})
    np.testing.assert_array_equal(encode(raw, schema).codes["education"], encode(coarse, schema).codes["education"])
    plan = pk.plan(schema, records=5, k=2)
    assert "grades.csv" not in str(plan.to_json())
    again = pk.Plan.from_json(plan.to_json())
    assert (again, again.schema.attribute("education").levels) == (plan, None)
    np.testing.assert_array_equal(encode(raw, again.schema).codes["education"], [1, 0, 0, 1, 1])


def test_numbers_can_be_raw_values():
    hierarchy = pk.Hierarchy([("1", "1"), ("2", "1"), ("7", "7")])
    attribute = pk.Attribute("x", hierarchy=hierarchy, level=1, type="integer")
    assert (list(attribute.labels()), attribute.merge) == ([1, 7], {1: (2,)})
    assert pk.Attribute("x", hierarchy=hierarchy, level=1).code("2") == 0


def test_the_written_schema_names_the_file_as_its_own_folder_sees_it(folder):
    schema = pk.read_schema(folder / "people.toml")
    assert parse(schema.to_toml(), folder=folder) == schema
    assert 'file = "grades.csv"' in schema.to_toml()
    (folder / "sub").mkdir()
    schema.save(folder / "sub" / "people.toml")
    assert 'file = "../grades.csv"' in (folder / "sub" / "people.toml").read_text()
    again = pk.read_schema(folder / "sub" / "people.toml")
    assert again == schema
    assert again.attribute("education").hierarchy == schema.attribute("education").hierarchy
    other = pk.Schema([schema.attribute("education").at(2)])
    assert parse(other.to_toml(), folder=folder).attribute("education").level == 2


def test_a_hierarchy_that_came_from_no_file_is_written_out():
    attribute = pk.Attribute("x", hierarchy=pk.Hierarchy([("a", "1"), ("b", "1"), ("c", "2")], ordered=True), level=1)
    schema = pk.Schema([attribute])
    assert "hierarchy" not in schema.to_toml()
    assert parse(schema.to_toml()) == schema


def test_a_level_that_mixes_the_order_has_none():
    hierarchy = pk.Hierarchy([("1", "odd"), ("2", "even"), ("3", "odd"), ("4", "even")], ordered=True)
    attribute = pk.Attribute("x", hierarchy=hierarchy)
    assert (attribute.ordered, attribute.at(1).ordered) == (True, False)


def test_commas_and_intervals(tmp_path):
    for text in (
        "9,a,*\n10,a,*\n11,b,*\n",
        "\ufeff9;a;*\r\n10;a;*\r\n\r\n11;b;*\r\n",
        '"9";"a";*\n"10";a;*\n11;"b";*',
    ):
        (tmp_path / "h.csv").write_text(text, encoding="utf-8", newline="")
        assert pk.read_hierarchy(tmp_path / "h.csv").levels[1] == {"a": ("9", "10"), "b": ("11",)}
    (tmp_path / "h.csv").write_text("1;[0, 5[;*\n7;[5, 10[;*\n")
    assert list(pk.read_hierarchy(tmp_path / "h.csv").levels[1]) == ["[0, 5[", "[5, 10["]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        (f"a;x\n{MARKER};\n", "row 2 has an empty cell"),
        (f"a;x\nb\n{MARKER};x\n", "row 2 has 1 levels and row 1 has 2"),
        (f"{MARKER};x\nb;x\n{MARKER};x\n", "row 3 repeats the value"),
        (f"a;{MARKER};1\nb;{MARKER};2\n", "in row 2 a label of level 1 has another label at level 2"),
        (f'"{MARKER};x\n', "quote that is not closed"),
    ],
)
def test_refused_files(tmp_path, text, message):
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(pk.SchemaError, match=message) as caught:
        pk.read_hierarchy(tmp_path / "h.csv")
    assert MARKER not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        ([("a", "b"), (MARKER, "c"), ("b", MARKER)], {"level": 1}, "the name of a raw value"),
        ([("a", "1"), (MARKER, "2")], {"type": "integer"}, "not of type integer"),
        ([("1", "a"), ("01", "b")], {"type": "integer"}, "are one of type integer"),
        ([("a", "1"), ("b", "2"), ("c", "1")], {"level": 1, "ordered": True}, "mixes the order"),
        ([("a", "1"), ("b", "2")], {"level": "1"}, "levels 0 to 1"),
        ([("a", "1"), ("b", "2")], {"level": -1}, "levels 0 to 1"),
        ([("a", "1"), ("b", "2")], {"values": ["a"]}, "leave out values"),
        ([("a", "1"), ("b", "2")], {"merge": {"a": ["z"]}}, "leave out values"),
        ([("a", "1"), ("NA", "1"), ("b", "2")], {"level": 1, "missing_values": ["NA"]}, "a missing value too"),
        ([("a", "1"), ("b", "2")], {"role": "drop"}, "belong to the role"),
    ],
)
def test_refused_attributes(rows, arguments, message):
    with pytest.raises(pk.SchemaError, match=message) as caught:
        pk.Attribute("x", hierarchy=pk.Hierarchy(rows), **arguments)
    assert MARKER not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ('hierarchy = "h.csv"', pk.SchemaError, "write hierarchy ="),
        ("hierarchy = { level = 1 }", pk.SchemaError, "write hierarchy ="),
        ('hierarchy = { file = "none.csv" }', pk.InputError, "Cannot read the hierarchy"),
        ('hierarchy = { file = "h.csv", levels = 1 }', pk.SchemaError, "the key 'levels' is unknown"),
        ('hierarchy = { file = "h.csv" }\nvalues = ["a"]', pk.SchemaError, "not two of them"),
        ("codes = 3", pk.SchemaError, "write codes ="),
        ('codes = "iso3166"', pk.SchemaError, "no code list 'iso3166'"),
        ('codes = { list = "isced2011", level = 2 }', pk.SchemaError, "levels 0 to 1"),
        ('codes = "isced2011"\nrange = [0, 8]', pk.SchemaError, "not two of them"),
        ('values = ["a", "b"]\nlevel = 1', pk.SchemaError, "the key 'level' is unknown"),
    ],
)
def test_refused_in_a_file(text, kind, message, tmp_path):
    (tmp_path / "h.csv").write_text("a;1\nb;1\n")
    with pytest.raises(kind, match=message):
        parse(f"[attributes.x]\n{text}", folder=tmp_path)


def test_latin_files_are_refused(tmp_path):
    (tmp_path / "h.csv").write_bytes("Forlì;x\nRoma;y\n".encode("latin-1"))
    with pytest.raises(pk.SchemaError, match="not UTF-8"):
        pk.read_hierarchy(tmp_path / "h.csv")


# --- the ready lists


def test_every_list_can_be_read_at_every_level():
    assert len(pk.code_lists()) == 8
    for name, said in pk.code_lists().items():
        hierarchy = pk.code_list(name)
        assert said.count("level ") == len(hierarchy.levels)
        for level in range(len(hierarchy.levels)):
            schema = pk.Schema([pk.Attribute("x", hierarchy=hierarchy, level=level)])
            again = parse(schema.to_toml())
            assert again == schema
            assert again.attribute("x").level == level
            assert f'"{name}"' in schema.to_toml()
            assert (
                schema.attribute("x").ordered == hierarchy.ordered == hierarchy.keeps_order(level)
                or not hierarchy.ordered
            )


def test_facts_about_countries():
    two, three, digits = (pk.code_list(f"iso3166-1-{name}") for name in ("alpha2", "alpha3", "numeric"))
    assert all(re.fullmatch("[A-Z]{2}", row[0]) for row in two.rows)
    assert all(re.fullmatch("[A-Z]{3}", row[0]) for row in three.rows)
    assert all(re.fullmatch("[0-9]{3}", row[0]) for row in digits.rows)
    assert {"DE", "FR", "AT"} <= set(two.levels[1]["Western Europe"])
    assert {"IND", "IRN"} <= set(three.levels[1]["Southern Asia"])
    assert {"840", "076"} <= set(digits.levels[2]["Americas"])
    sizes = {label: len(raws) for label, raws in two.levels[2].items()}
    assert sizes == {"Europe": 51, "Asia": 51, "Americas": 57, "Africa": 60, "Oceania": 29, "Antarctica": 1}
    with pytest.raises(pk.SchemaError, match="missing"):  # NA is Namibia
        pk.Attribute("x", hierarchy=two, missing="value", missing_values=["NA"])


def test_facts_about_ages_and_education():
    years = pk.Attribute("age", hierarchy=pk.code_list("eurostat-age"))
    for level, (age, label) in enumerate([("64", "64"), ("64", "Y60-64"), ("64", "Y50-64"), ("64", "Y15-64")]):
        taken = years.at(level)
        assert taken.label(taken.code(age)) == label
    assert [years.at(level).size for level in range(4)] == [121, 18, 6, 3]
    for level in (1, 2, 3):
        for label, raws in years.at(level).hierarchy.levels[level].items():
            low, high = int(raws[0]), int(raws[-1])
            assert list(raws) == [str(age) for age in range(low, high + 1)]
            assert label == (f"Y_LT{high + 1}" if low == 0 else f"Y_GE{low}" if high == 120 else f"Y{low}-{high}")
    assert pk.code_list("eurostat-age5").levels[1]["Y_GE80"] == ("Y80-84", "Y_GE85")
    assert pk.code_list("isced2011-eurostat").levels[1] == {
        "ED0-2": ("ED0", "ED1", "ED2"),
        "ED3_4": ("ED3", "ED4"),
        "ED5-8": ("ED5", "ED6", "ED7", "ED8"),
    }
    assert list(pk.code_list("iso5218").levels[0]) == ["0", "1", "2", "9"]


def test_ages_in_years_are_read_from_whole_numbers():
    schema = pk.Schema([pk.Attribute("age", hierarchy=pk.code_list("eurostat-age"), level=3)])
    codes = encode(pl.DataFrame({"age": [3, 15, 64, 65, 120]}), schema).codes["age"]
    np.testing.assert_array_equal(codes, [0, 1, 1, 2, 2])
