"""--merge and --missing on every verb that prints estimates, as in Python; refusals in one sentence and exit code 2."""

import json

import polars as pl
import pytest

import pkanon as pk

MERGE = "education:some=school|degree"


@pytest.fixture
def released(place):
    text = (place.folder / "people.toml").read_text()
    place.write(
        "people.toml", text.replace('"degree"]\n[[', '"degree"]\nmissing = "value"\nmissing_values = ["NA"]\n[[')
    )
    place.lines(
        *(f"p{i},{'FM'[i % 2]},{10 + i % 80},{('NA', 'none', 'school', 'degree')[i % 7 % 4]}" for i in range(4_000))
    )
    (place.folder / "plan.json").unlink()
    options = ("--schema", "people.toml", "--k", "2", "--seed", "1", "--seeded-not-private", "-o", "out")
    code, _, err = place.run("release", "people.csv", *options)
    assert code == 0, err
    return place


def test_a_table(released):
    code, out, err = released.run(
        "crosstab", "out", "education", "age", "--merge", MERGE, "--merge", "age:0,30", "--missing", "exclude"
    )
    assert code == 0, err
    assert "% of those who answered" in out
    assert "merged: education (some), age (0-29, 30+); missing answers left out: education." in out
    assert [line.split()[:2] for line in out.splitlines()[2:6]] == [
        ["none", "0-29"], ["none", "30+"], ["some", "0-29"], ["some", "30+"],
    ]  # fmt: skip
    estimate = pk.open_release("out").crosstab(
        "education", "age", merge={"education": {"some": ["school", "degree"]}, "age": [0, 30]}, missing="exclude"
    )
    released.write("merge.toml", 'age = [0, 30]\n[education]\nsome = ["school", "degree"]\n')
    released.write("merge.json", '{"age": [0, 30], "education": {"some": ["school", "degree"]}}')
    for file in ("merge.toml", "merge.json"):
        code, out, err = released.run(
            "crosstab", "out", "education", "age", "--merge", file, "--missing", "exclude", "--json"
        )
        assert code == 0, err
        assert json.loads(out) == json.loads(estimate.to_bytes("json"))


def test_every_other_verb(released):
    release = pk.open_release("out")
    merge = {"education": {"some": ["school", "degree"]}}
    ask = ("--merge", MERGE, "--missing", "exclude", "--json")
    for arguments, expected in (
        (("association", "out", "sex", "education"), release.crosstab("sex", "education", merge=merge, missing="exclude").association()),
        (("correlations", "out", "sex", "education"), release.correlations("sex", "education", merge=merge, missing="exclude")),
        (("describe", "out", "age", "--by", "education"), release.describe("age", by="education", merge=merge, missing="exclude")),
        (
            ("query", "out", "SELECT education, COUNT(*) FROM release GROUP BY education"),
            release.query("SELECT education, COUNT(*) FROM release GROUP BY education", merge=merge, missing="exclude"),
        ),
    ):  # fmt: skip
        code, out, err = released.run(*arguments, *ask)
        assert code == 0, err
        assert json.loads(out) == json.loads(expected.to_bytes("json"))
        code, out, err = released.run(*arguments, *ask[:-1])
        assert code == 0, err
        assert "erged: education (some)" in out + err
        assert "eft out" in out + err


@pytest.mark.parametrize("verb", [("crosstab", "out", "education"), ("correlations", "out", "sex", "education")])
def test_a_chart_says_it(released, verb):
    code, _, err = released.run(*verb, "--merge", MERGE, "--missing", "exclude", "--chart", "chart.json")
    assert code == 0, err
    chart = (released.folder / "chart.json").read_text()
    assert "erged: education (some)" in " ".join(json.loads(chart)["title"]["subtitle"])
    assert '"school"' not in chart


def test_missing_answers_have_a_label_in_files(released):
    for typed, label in (
        ((), "(missing)"),
        (("--missing-label", "none given"), "none given"),
        (("--missing-label", ""), None),
    ):
        code, out, err = released.run("crosstab", "out", "education", "--csv", *typed)
        assert code == 0, err
        assert pl.read_csv(out.encode())["education"].to_list() == ["none", "school", "degree", label]
    code, _, err = released.run("export", "out", "rows.csv", "--missing-label", "(missing)")
    assert code == 0, err
    exported = pl.read_csv(released.folder / "rows.csv")
    assert exported["education"].null_count() == 0
    assert (exported["education"] == "(missing)").sum() == pk.open_release("out").table["education"].null_count()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--merge", "age:0,7"), "7 is no edge of its bins. Possible edges: 0, 10, 20, 30, 40, 50, 60, 70, 80, 90."),
        (("--merge", "education:a=scool"), "Did you mean 'school'?"),
        (("--merge", "educaton:a=school"), "Did you mean 'education'?"),
        (("--merge", "nothing"), "says no merge"),
        (("--merge", "absent.toml"), "Cannot read absent.toml"),
        (("--merge", MERGE, "--merge", "education:a=none"), "'education' is merged twice"),
    ],
)
def test_refusals(released, arguments, sentence):
    code, out, err = released.run("crosstab", "out", "education", "age", *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
