"""Values put together after the release: which groups a rule makes, how rules are written down, and what is refused."""

import datetime as dt

import pytest

import pkanon as pk
from pkanon._schema import groups_of

EDUCATION = pk.Attribute("education", ["9th", "10th", "BA", "MA"], other="else", missing="value")
AGE = pk.Attribute.binned("age", start=0, stop=30, width=5, open="high", missing="value")
DAYS = [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 1, 1)]


@pytest.mark.parametrize(
    ("attribute", "rule", "missing", "labels", "places"),
    [
        (EDUCATION, {"school": ["9th", "10th"]}, "category", ["school", "BA", "MA", "else", None], (0, 0, 1, 2, 3, 4)),
        (EDUCATION, {"degree": ["MA", "BA"]}, "category", ["9th", "10th", "degree", "else", None], (0, 1, 2, 2, 3, 4)),
        (EDUCATION, {"degree": ["MA", "BA"], "less": "*"}, "category", ["degree", "less", None], (1, 1, 0, 0, 1, 2)),
        (EDUCATION, {"less": "*", "degree": ["MA", "BA"]}, "exclude", ["degree", "less"], (1, 1, 0, 0, 1, -1)),
        (EDUCATION, {"BA": ["BA", "MA"]}, "exclude", ["9th", "10th", "BA", "else"], (0, 1, 2, 2, 3, -1)),
        (EDUCATION, {"none": ["9th", None]}, "category", ["none", "10th", "BA", "MA", "else"], (0, 1, 2, 3, 4, 0)),
        (
            EDUCATION,
            {"none": ["9th", "(missing)"]},
            "category",
            ["none", "10th", "BA", "MA", "else"],
            (0, 1, 2, 3, 4, 0),
        ),
        (EDUCATION, {"(missing)": ["else"]}, "category", ["9th", "10th", "BA", "MA", None], (0, 1, 2, 3, 4, 4)),
        (EDUCATION, {"(missing)": "else"}, "exclude", ["9th", "10th", "BA", "MA"], (0, 1, 2, 3, -1, -1)),
        (EDUCATION, {"all": "*"}, "exclude", ["all"], (0, 0, 0, 0, 0, -1)),
        (EDUCATION, None, "exclude", ["9th", "10th", "BA", "MA", "else"], (0, 1, 2, 3, 4, -1)),
        (AGE, [0, 10, 20], "category", ["0-9", "10-19", "20+", None], (0, 0, 1, 1, 2, 2, 2, 3)),
        (AGE, [10], "exclude", ["0-9", "10+"], (0, 0, 1, 1, 1, 1, 1, -1)),
        (AGE, ["25"], "category", ["0-24", "25+", None], (0, 0, 0, 0, 0, 1, 1, 2)),
        (AGE, [5, 30], "category", ["0-4", "5-29", "30+", None], (0, 1, 1, 1, 1, 1, 2, 3)),
        (AGE, {"old": ["25-29", "30+"], "young": "*"}, "exclude", ["old", "young"], (1, 1, 1, 1, 1, 0, 0, -1)),
        (pk.Attribute.ranged("rooms", 1, 5), [3], "category", ["1-2", "3-5"], (0, 0, 1, 1, 1)),
        (pk.Attribute.ranged("rooms", 1, 5), [1.0, 3, 6], "category", ["1-2", "3-5"], (0, 0, 1, 1, 1)),
        (pk.Attribute.ranged("rooms", 1, 3, other=9), [2], "category", ["1", "2-3", "9"], (0, 1, 1, 2)),
        (pk.Attribute("n", [5, 1, 2]), [2], "category", ["<2", "2+"], (1, 0, 1)),
        (pk.Attribute("n", [1, 2, 5]), [1, 3, 6], "category", ["1-2", "3-5"], (0, 0, 1)),
        (pk.Attribute("n", [1, 2, -9]), {"(missing)": [-9]}, "category", [1, 2, None], (0, 1, 2)),
        (pk.Attribute("n", [1.0, 2.5]), {"one": [1]}, "category", ["one", "2.5"], (0, 1)),
        (pk.Attribute("n", [1.0, 2.5]), {"one": ["1"]}, "category", ["one", "2.5"], (0, 1)),
        (pk.Attribute("b", [False, True]), {"any": [True, False]}, "category", ["any"], (0, 0)),
        (pk.Attribute("d", DAYS), ["2021-06-01"], "category", ["before 2021-06-01", "2021-06-01 or later"], (0, 0, 1)),
        (
            pk.Attribute.binned("d", edges=DAYS, open="low"),
            [DAYS[1]],
            "category",
            ["before 2021-01-01", "2021-01-01 to 2021-12-31"],
            (0, 0, 1),
        ),
        (
            pk.Attribute.binned("x", edges=[0, 5, 10, 15], labels=["low", "mid", "high"]),
            [5],
            "category",
            ["low", "5-14"],
            (0, 1, 1),
        ),
    ],
)
def test_groups(attribute, rule, missing, labels, places):
    groups = groups_of(attribute, rule, missing)
    assert list(groups.attribute.labels()) == labels
    assert groups.places == places
    assert groups.attribute.size == len(labels)
    for label, values in groups.merged:  # every group names its values
        if label in labels:
            assert len(values) == sum(place == labels.index(label) for place in places)


def test_nothing_to_do():
    assert groups_of(EDUCATION, None, "category") is None
    assert groups_of(pk.Attribute("sex", ["F", "M"]), None, "exclude") is None


@pytest.mark.parametrize(
    ("attribute", "rule", "sentences"),
    [
        (EDUCATION, {"school": ["9th", "11th"]}, ("'11th' is not one of its values", "Did you mean '10th'?")),
        (EDUCATION, {"a": ["9th"], "b": ["9th"]}, ("'9th' is named twice",)),
        (EDUCATION, {"BA": ["MA"]}, ("'BA' is also a value", "another name")),
        (EDUCATION, {"a": []}, ("'a' has no values",)),
        (EDUCATION, {"a": "*", "b": "*"}, ("cannot both take everything else",)),
        (EDUCATION, {"": ["9th"]}, ("a text that is not empty",)),
        (EDUCATION, {1: ["9th"]}, ("a text that is not empty",)),
        (EDUCATION, {}, ("at least one group",)),
        (EDUCATION, [1, 2], ("edges are for numbers and dates", "type text")),
        (EDUCATION, "9th", ("groups with their values, or a list of edges",)),
        (AGE, [0, 12], ("12 is no edge of its bins", "Possible edges: 0, 5, 10, 15, 20, 25, 30.")),
        (AGE, [0, 40], ("40 is no edge",)),
        (AGE, [10, 5], ("must increase",)),
        (AGE, [], ("at least one edge",)),
        (AGE, ["young"], ("edges are numbers",)),
        (pk.Attribute.ranged("rooms", 1, 5), [9], ("whole numbers from 1 to 6",)),
        (pk.Attribute.ranged("rooms", 1, 5), [2.5], ("2.5 is no edge", "whole numbers from 1 to 6")),
        (pk.Attribute("n", [1, 5]), [2, 4], ("no value lies in 2-3",)),
        (pk.Attribute("d", DAYS), [2020], ("edges are dates such as",)),
        (pk.Attribute("sex", ["F", "M"]), {"any": ["F", None]}, ("no missing values",)),
    ],
)
def test_refusals(attribute, rule, sentences):
    with pytest.raises(pk.InputError) as refused:
        groups_of(attribute, rule, "category")
    for sentence in (f"'{attribute.name}'", *sentences):
        assert sentence in str(refused.value)


def test_missing_answers_cannot_be_kept_and_left_out():
    with pytest.raises(pk.InputError, match="do one of the two"):
        groups_of(EDUCATION, {"none": ["9th", None]}, "exclude")
    only = pk.Attribute("x", ["a"], missing="value")
    with pytest.raises(pk.InputError, match="No value of 'x' is left"):
        groups_of(only, {"(missing)": ["a"]}, "exclude")


def test_a_merge_in_words_or_in_a_file(tmp_path):
    odd = {"a, b": ["x|y", "="], "c:d": "*"}
    (tmp_path / "merge.json").write_text(
        '{"e:1": {"a, b": ["x|y", "="], "c:d": "*"}, "age": [0, 5], "n": {"none": [null]}}'
    )
    (tmp_path / "merge.toml").write_text('age = [0, 5]\n["e:1"]\n"a, b" = ["x|y", "="]\n"c:d" = "*"\n')
    assert pk.read_merge(tmp_path / "merge.json") == {"e:1": odd, "age": [0, 5], "n": {"none": [None]}}
    assert pk.read_merge(str(tmp_path / "merge.toml")) == {"e:1": odd, "age": [0, 5]}
    assert pk.read_merge("e: a = x | y , b=*") == {"e": {"a": ["x", "y"], "b": "*"}}
    assert pk.read_merge("when:2020-01-01,2021-01-01") == {"when": ["2020-01-01", "2021-01-01"]}


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("education", "says no merge"),
        (":a=b", "says no merge"),
        ("education:", "says no merge"),
        ("education:a=b,,c=d", "says no merge"),
        ("education:a=b,c", "'c' in a merge of 'education'"),
        ("education:a=", "names no group"),
        ("education:=b", "names no group"),
        ("education:a=b=c", "names no group"),
        ("education:a=b,a=c", "twice"),
        ("absent.toml", "Cannot read absent.toml"),
    ],
)
def test_words_that_say_no_merge(source, sentence):
    with pytest.raises(pk.InputError) as refused:
        pk.read_merge(source)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", "[1]", "one entry per attribute"),
        ("a.json", "{", "not valid JSON"),
        ("a.toml", "a = ", "not valid TOML"),
        ("a.toml", "age = 5", "a list of edges"),
        ("a.json", "[" * 100_000, ""),
    ],
)
def test_files_that_say_no_merge(tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content)
    with pytest.raises(pk.InputError) as refused:
        pk.read_merge(tmp_path / name)
    assert sentence in str(refused.value)
    (tmp_path / name).write_bytes(b"\xff\xfe")
    with pytest.raises(pk.InputError, match="UTF-8"):
        pk.read_merge(tmp_path / name)
