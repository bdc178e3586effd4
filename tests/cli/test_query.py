"""pkanon query: what it prints, what it writes, what it refuses."""

import json

import polars as pl
import pytest

import pkanon as pk

SQL = "SELECT sex, COUNT(*) AS n, AVG(age) FROM release WHERE age >= 10 GROUP BY sex"


@pytest.fixture
def released(place):
    code, _, err = place.release()
    assert code == 0, err
    return place


def test_a_readable_table(released):
    code, out, err = released.run("query", "out", SQL)
    assert code == 0
    header, line, *rows, blank, how = out.splitlines()
    assert header.split() == ["sex", "n", "95%", "interval", "avg_age", "95%", "interval"]
    assert set(line) <= {"-", " "}
    assert [row.split()[0] for row in rows] == ["F", "M"]
    assert blank == ""
    assert "200 released rows" in how
    assert all(line.startswith("note: ") for line in err.splitlines())
    assert "middle" in err


def test_csv(released):
    code, out, _ = released.run("query", "out", SQL, "--csv", "--level", "0.9")
    assert code == 0
    expected = pk.open_release("out").query(SQL, level=0.9).frame
    found = pl.read_csv(out.encode(), schema=expected.schema)
    assert found.equals(expected)
    assert "n_low_90" in found.columns


def test_json(released):
    code, out, err = released.run("query", "out", SQL, "--json", "--about", "population")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert data["sql"] == SQL
    assert any("population" in note for note in data["notes"])
    assert [row["sex"] for row in data["rows"]] == ["F", "M"]


@pytest.mark.parametrize(("name", "flags"), [("a.parquet", ()), ("a", ("--parquet",)), ("a.csv", ()), ("a.json", ())])
def test_files(released, name, flags):
    code, out, _ = released.run("query", "out", SQL, *flags, "-o", name)
    assert (code, out) == (0, f"Written to {name}.\n")
    expected = pk.open_release("out").query(SQL).frame
    if "parquet" in (*flags, name.rpartition(".")[2]) or flags:
        assert pl.read_parquet(name).equals(expected)
    elif name.endswith("csv"):
        assert pl.read_csv(name, schema=expected.schema).equals(expected)
    else:
        assert len(json.loads((released.folder / name).read_text())["rows"]) == expected.height
    code, out, err = released.run("query", "out", SQL, *flags, "-o", name)
    assert (code, out) == (2, "")
    assert "never overwritten" in err


def test_methods(released):
    code, out, err = released.run(
        "query", "out", "SELECT age, COUNT(*) FROM release GROUP BY age", "--method", "em", "--json"
    )
    assert code == 0, err
    assert all(row["count"] >= 0 for row in json.loads(out)["rows"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["SELECT * FROM release"], "GROUP BY"),
        (["SELECT COUNT(*) FROM release WHERE age > 12"], "12 splits the bin '10-19'"),
        (["SELECT COUNT(*) FROM release WHERE sxe = 'F'"], "Did you mean 'sex'?"),
        (["SELECT COUNT(*) FROM release WHERE patient = 'p1'"], "'patient' was dropped"),
        (["SELECT COUNT(* FROM release"], "cannot be parsed as SQL"),
        (["DROP TABLE release"], "Only SELECT"),
        ([SQL, "--parquet"], "-o"),
        ([SQL, "-o", "answer.txt"], ".csv, .json, .parquet, .tex, .html, .md or .xlsx"),
        ([SQL, "-o", "nowhere/answer.csv"], "folder does not exist"),
        ([SQL, "--level", "95"], "level"),
        ([SQL, "--method", "guess"], "guess"),
        ([], "SQL"),
    ],
)
def test_wrong_input(released, arguments, words):
    code, out, err = released.run("query", "out", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words in err
    assert released.names() == ["out", "people.csv", "people.toml", "plan.json"]  # nothing written


def test_no_release(place):
    code, out, err = place.run("query", "nowhere", SQL)
    assert (code, out) == (2, "")
    assert "nowhere" in err
