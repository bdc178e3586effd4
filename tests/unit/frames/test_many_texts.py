"""Attributes of very many texts: codes, marks and refusals are those of few, and files are written alike."""

import json

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._files import canonical, laid_out
from pkanon._frames import encode
from pkanon._frames.read.texts import TextCodes

LABELS = [f"place {number}" for number in range(5_000)]


def drawn(rows: int = 40_000) -> list[str]:
    return [LABELS[i] for i in np.random.default_rng(3).integers(0, len(LABELS), rows)]


@pytest.mark.parametrize("dtype", [pl.String(), pl.Enum(LABELS), pl.Enum(LABELS[::-1]), pl.Categorical()])
def test_every_text_has_the_code_of_its_place(dtype):
    schema = pk.Schema([pk.Attribute("place", LABELS, missing="value")])
    values = pl.DataFrame({"place": [*drawn(), None]})
    codes = encode(values.cast(dtype), schema).codes["place"]
    np.testing.assert_array_equal(codes[:-1], [int(text.split()[1]) for text in values["place"][:-1]])
    assert codes[-1] == len(LABELS)


def test_texts_that_are_not_declared_are_counted():
    schema = pk.Schema([pk.Attribute("place", LABELS)])
    values = pl.DataFrame({"place": [*drawn(), "elsewhere", "place", "place 5000", ""]})
    with pytest.raises(pk.DataError, match="4 rows hold a value that the schema does not list"):
        encode(values, schema, exact_counts=True)


def test_two_texts_with_one_hash_are_told_apart():
    codes = TextCodes({text: code for code, text in enumerate(LABELS)})
    values = pl.Series([*drawn(1_000), None, "elsewhere"])
    found = codes.marked(values)
    without = TextCodes({text: code for code, text in enumerate(LABELS)})
    vars(without)["_hash"] = None  # as if two shared a hash
    np.testing.assert_array_equal(without.marked(values), found)


@pytest.mark.parametrize(
    "value",
    [
        {}, [], {"a": []}, {"a": {}}, [[]], ["ä", 'quote " and \\', "line\nend", "\u2028"], [1, "a", None, True],
        {"a": [{"b": ["c", "d"]}, ["e", ["f"]], 1.5], "g": {"h": None}}, "text", 7, None, ("a", "b"),
    ],
)  # fmt: skip
def test_laid_out_as_json_does(value):
    assert laid_out(value) == json.dumps(value, indent=1, ensure_ascii=False)


def test_no_float_hides_among_texts():
    assert canonical({"a": ["b", "c"]}) == b'{"a":["b","c"]}'
    for value in (["a", 1.5], {"a": ["b", ["c", 1.5]]}, [[1.5]], ("a", {"b": 1.5})):
        with pytest.raises(TypeError, match="no floats"):
            canonical(value)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([*LABELS, ""], "an empty text cannot be a value"),
        ([*LABELS, "a\0b"], "a NUL character"),
        ([*LABELS, LABELS[7]], "the value 'place 7' is listed twice"),
        ([*LABELS, 7], "not of one type"),
    ],
)
def test_one_wrong_value_among_many_is_refused(values, complaint):
    with pytest.raises(pk.SchemaError, match=complaint):
        pk.Attribute("place", values)


@pytest.mark.parametrize("wrong", ["", "a\0b", LABELS[7], 7, None])
def test_a_plan_with_one_wrong_value_is_refused(wrong):
    plan = pk.plan(pk.Schema([pk.Attribute("place", LABELS)]), records=1_000, k=2, design="equal-rho")
    data = json.loads(json.dumps(plan.to_json()))
    assert type(plan).from_json(data) == plan
    data["attributes"][0]["values"][-1] = wrong
    with pytest.raises(pk.PkanonError):
        type(plan).from_json(data)
