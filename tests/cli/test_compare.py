"""pkanon compare: a folder and a summary, or one sentence."""

import json

import pytest


def run(place, *arguments):
    return place.run(
        "compare", "people.csv", "--schema", "people.toml", "--releases", "1", "--queries", "30", *arguments
    )


def test_a_run(place):
    code, out, err = run(place, "--ks", "2, 5,1000", "--target", "education", "-o", "compared")
    assert (code, err) == (0, "")
    assert "people.csv, 200 rows" in out
    assert "Target: education" in out
    assert "Left out, as k goes up to a fifth of the rows: k = 1,000." in out
    assert "Seeded releases protect nobody" in out
    assert "Tables of two attributes. Best:" in out
    assert "Written to compared" in out
    assert (place.folder / "compared" / "index.html").is_file()
    assert not [name for name in place.names() if name.endswith(".incomplete")]


def test_json_and_a_free_name(place):
    (place.folder / "pkanon-compare").mkdir()
    code, out, _ = run(place, "--ks", "2,3,4,5", "--quick", "--seed", "9", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["folder"] == "pkanon-compare-2"
    assert (result["seed"], result["releases"], result["queries"], result["quick"]) == (9, 1, 30, True)
    assert result["k"] == [2, 3, 4, 5]  # --quick drops none of those that were asked for
    assert {"way", "measure", "value"} <= set(result["numbers"][0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--ks", "2,x"), "whole numbers with commas"),
        (("--ks", "1"), "2 or more"),
        (("--ks", "100"), "a fifth of them, 40"),
        (("--ks", "²"), "whole numbers with commas"),
        (("--k", "2"), "--ks 2,10,100"),
        (("--k", "2,5"), "--ks 2,10,100"),
        (("--target", "weight"), "not a randomised attribute"),
        (("-o", "plan.json"), "exists already"),
        (("-o", "none/compared"), "does not exist"),
        (("--releases", "0"), "--releases"),
        (("--queries", "0"), "--queries"),
    ],
)
def test_wrong_input_is_one_sentence_and_nothing_is_written(place, arguments, words):
    before = place.names()
    code, out, err = run(place, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert words in err
    assert err.count("\n") == 1
    assert place.names() == before


def test_a_table_needs_its_schema(place):
    code, _, err = place.run("compare", "people.csv")
    assert code == 2
    assert "with its schema" in err
