"""pkanon reproduce: a folder and a summary, or one sentence."""

import json

import pytest

import pkanon as pk


@pytest.fixture
def census(place):
    pk.demo_table().sample(1_500, seed=5).write_csv(place.folder / "census.csv")
    return place


def test_a_run(census):
    code, out, err = census.run("reproduce", "--data", "census.csv", "-o", "paper", "--quick", "--releases", "1")
    assert (code, err) == (0, "")
    assert "census.csv (labelled), 1,500 rows" in out
    assert "they protect nobody" in out
    assert "confirmed: Epsilon increases as the record count increases" in out
    assert "Written to paper" in out
    assert (census.folder / "paper" / "index.html").is_file()
    assert not [name for name in census.names() if name.endswith(".incomplete")]


def test_json_and_a_free_name(census):
    (census.folder / "pkanon-reproduce").mkdir()
    arguments = ("reproduce", "--data", "census.csv", "--quick", "--releases", "1", "--seed", "9", "--json")
    code, out, _ = census.run(*arguments)
    assert code == 0
    result = json.loads(out)
    assert result["folder"] == "pkanon-reproduce-2"
    assert (result["seed"], result["releases"], result["quick"], result["synthetic"]) == (9, 1, True, False)
    assert {point["experiment"] for point in result["points"]} == {"records", "attributes", "k"}
    assert {statement["verdict"] for statement in result["statements"]} <= {"confirmed", "corrected", "not checked"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--data", "none.csv"), "does not exist"),
        (("--data", "people.csv"), "not one of the files"),
        (("--data", "census.csv", "-o", "plan.json"), "exists already"),
        (("--data", "census.csv", "-o", "none/paper"), "does not exist"),
        (("--releases", "0"), "--releases"),
        (("--seed", "x"), "--seed"),
    ],
)
def test_wrong_input_is_one_sentence_and_nothing_is_written(census, arguments, words):
    before = census.names()
    code, out, err = census.run("reproduce", *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert words in err
    assert err.count("\n") == 1
    assert census.names() == before
