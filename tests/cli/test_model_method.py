"""--method model on the command line: what is printed, what is written, and what is refused."""

import json

import pytest


@pytest.fixture
def released(place):
    code, _, err = place.release("--seed", "7", "--seeded-not-private")
    assert code == 0, err
    return place


def test_a_table_a_query_and_a_description(released):
    code, out, err = released.run("crosstab", "out", "sex", "age", "--method", "model")
    assert code == 0, err
    assert "model: from a model of all attributes" in out
    assert "note: The model" in err
    code, out, err = released.run("query", "out", "SELECT sex, COUNT(*) FROM release GROUP BY sex", "--method", "model")
    assert code == 0, err
    assert released.run("describe", "out", "age", "--method", "model", "--json")[0] == 0


def test_intervals_on_average_are_a_column_of_their_own(released):
    code, out, err = released.run("crosstab", "out", "sex", "age", "--method", "model", "--average")
    assert code == 0, err
    assert "95% on average over cells" in out
    why = "the release has no more than 100 rows for each of its k."
    assert f"note: No narrower interval on average over cells is given: {why}" in err
    code, out, _ = released.run("crosstab", "out", "sex", "age", "--method", "model", "--average", "--json")
    assert code == 0
    assert "low_95_on_average_over_cells" in json.loads(out)["cells"][0]


def test_wrong_input_is_refused_in_one_sentence(released):
    for arguments, reason in (
        (("crosstab", "out", "sex", "--average"), "--average is for --method model"),
        (
            ("crosstab", "out", "sex", "--method", "model", "--average", "-o", "t.tex"),
            "--average is for tables that are",
        ),
        (("crosstab", "out", "sexx", "--method", "model"), "no randomised attribute 'sexx'"),
    ):
        code, out, err = released.run(*arguments)
        assert (code, out) == (2, "")
        assert reason in err
        assert err.count("\n") == 1


def test_too_few_rows_are_refused(place):
    place.lines(*(f"p{i},F,{i},none" for i in range(60)))
    arguments = ("people.toml", "--records", "60", "--k", "2", "--ks", "none", "-o", "few.json")
    assert place.run("plan", *arguments)[0] == 0
    code, _, err = place.run("release", "people.csv", "--plan", "few.json", "-o", "few")
    assert code == 0, err
    code, out, err = place.run("crosstab", "few", "sex", "--method", "model")
    assert (code, out) == (2, "")
    assert "at least 100 released rows; this release has 60" in err


def test_a_model_is_kept_in_a_file_and_read_again(released):
    table = ("crosstab", "out", "sex", "age", "--method", "model", "--model-file", "model.npz", "--json")
    code, first, err = released.run(*table)
    assert code == 0, err
    kept = (released.folder / "model.npz").read_bytes()
    code, again, err = released.run(*table)
    assert (code, again) == (0, first), err
    for verb in (
        ("query", "out", "SELECT COUNT(*) FROM release", "--method", "model"),
        ("describe", "out", "age", "--method", "model"),
        ("model", "out", "-o", "rows.csv"),
    ):
        code, _, err = released.run(*verb, "--model-file", "model.npz")
        assert code == 0, err
    assert (released.folder / "model.npz").read_bytes() == kept


def test_a_file_that_holds_no_model_of_this_release_is_refused_and_stays(released):
    released.write("mine.csv", "mine")
    for arguments, sentence in (
        (("--method", "model", "--model-file", "mine.csv"), "holds no model that pkanon wrote; name another file"),
        (("--method", "model", "--model-file", "nowhere/model.npz"), "its folder does not exist"),
        (("--model-file", "model.npz"), "--model-file keeps the model of --method model"),
        (("--method", "model", "--weights", "sex", "--model-file", "model.npz"), "every row counts once"),
    ):
        code, out, err = released.run("crosstab", "out", "sex", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments
        assert sentence in err
    assert (released.folder / "mine.csv").read_text() == "mine"
    assert not (released.folder / "model.npz").exists()
