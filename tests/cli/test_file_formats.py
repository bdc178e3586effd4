"""Tables of every kind at the command line: one sentence and exit code 2 where something is wrong, and no value in it."""

import json
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing

import polars as pl
import postgres
import psycopg
import pytest
import xlsxwriter

import pkanon as pk

MARKER = "MARKER-7f3a"
AT = {
    "people.jsonl": [],
    "people.feather": [],
    "people.zip": ["--member", "people.csv"],
    "people.xlsx": ["--sheet", "people"],
    "people.sqlite": ["--query", "SELECT * FROM people"],
}


@pytest.fixture
def people(place):
    """The table of the place in other formats, with something else beside it where a file can hold more."""
    table = pl.read_csv("people.csv")
    table.write_ndjson("people.jsonl")
    table.write_ipc("people.feather")
    with zipfile.ZipFile("people.zip", "w") as archive:
        archive.write("people.csv")
        archive.writestr("notes.csv", MARKER)
    with xlsxwriter.Workbook("people.xlsx") as book:
        book.add_worksheet("notes").write(0, 0, MARKER)
        table.write_excel(book, worksheet="people")
    with closing(sqlite3.connect("people.sqlite")) as database, database:
        database.execute("CREATE TABLE people (patient, sex, age, education)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", table.rows())
        database.execute(f"CREATE TABLE codes AS SELECT '{MARKER}' AS code")
    return place


@pytest.mark.parametrize("name", AT)
def test_every_verb_that_reads_a_table(people, name):
    at = AT[name]
    seeded = ["--seed", "7", "--seeded-not-private"]
    assert people.run("schema", name, *at, "-o", "draft.toml")[0] == 0
    assert set(pk.read_schema("draft.toml").names) == {"patient", "sex", "age", "education"}
    # the rows are counted, then read; both times by the same options
    released = people.run("release", name, *at, "--schema", "people.toml", "--k", "3", "-o", "other", *seeded)
    assert released[0] == 0, released
    assert people.run("release", "people.csv", "--schema", "people.toml", "--k", "3", "-o", "out", *seeded)[0] == 0
    assert pk.open_release("other").table.equals(pk.open_release("out").table)
    assert people.run("release", name, *at, "--plan", "plan.json", "--check")[0] == 0
    expected = people.run("anonymity", "people.csv", "sex", "education")
    assert people.run("anonymity", name, "sex", "education", *at) == expected
    attacked = people.run("attack", name, "out", "--rehearsals", "1", "--json", *at)
    assert attacked[0] in (0, 1)
    assert json.loads(attacked[1])


def test_standard_input(place):
    with open("people.csv", "rb") as table:
        done = subprocess.run(
            [sys.executable, "-m", "pkanon", "release", "-", "--schema", "people.toml", "--k", "3", "-o", "out"],
            stdin=table, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert pk.open_release("out").rows == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["people.xlsx"], "has 2 sheets; name one with sheet= (--sheet). Available: notes, people."),
        (["people.xlsx", "--sheet", "peple"], "has no sheet 'peple'."),
        (["people.zip"], "holds 2 files; name one with member= (--member)."),
        (["people.zip", "--member", "x.csv"], "holds no file 'x.csv'."),
        (["people.sqlite"], "has 2 tables; name one with query= (--query), or give a SELECT."),
        (["people.sqlite", "--query", "nobody"], "has no table 'nobody'."),
        (
            ["people.sqlite", "--query", f"SELECT * FROM people WHERE sex = '{MARKER}' AND"],
            "The database refuses the query",
        ),
        (["people.sqlite", "--query", "DROP TABLE people"], "nothing else is sent to a database"),
        (["people.csv", "--query", "people"], "query= (--query) is for databases"),
        (["people.sav", "--sheet", "people"], "There is no file people.sav."),
        ([f"postgresql://survey:{MARKER}@host/people"], "holds a password; leave it out"),
        (["damaged.sav"], "is not a complete SPSS file"),
        (["damaged.xlsx"], "is not a complete spreadsheet"),
        (["damaged.duckdb"], "is no SQLite and no DuckDB database"),
    ],
)
def test_one_sentence(people, arguments, sentence):
    for name in ("damaged.sav", "damaged.xlsx", "damaged.duckdb"):
        people.write(name, f"{MARKER}\n" * 40)
    before = people.names()
    for verb, rest in (("schema", []), ("anonymity", ["sex"]), ("release", ["--plan", "plan.json", "-o", "out"])):
        code, out, err = people.run(verb, *arguments, *rest)
        assert (code, out) == (2, "")
        assert sentence in err
        assert err.count("\n") == 1
        assert MARKER not in err
    assert people.names() == before


def test_a_database_that_is_named_by_its_service(people, monkeypatch):
    with postgres.cluster() as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE people (patient text, sex text, age int, education text)")
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s)", pl.read_csv("people.csv").rows())
        people.write(
            "services.conf", f"[register]\nhost={server.folder}\nuser=survey\ndbname=postgres\npassword={MARKER}\n"
        )
        monkeypatch.setenv("PGSERVICEFILE", "services.conf")
        place = "postgresql://?service=register"
        code, out, err = people.run(
            "release", place, "--query", "people", "--plan", "plan.json", "-o", "out", "--report"
        )
        assert code == 0, err
        traces = "".join([out, err, *(path.read_text(errors="replace") for path in people.folder.glob("out/*"))])
        assert MARKER not in traces
        assert "register" not in traces.replace("registrar", "")
        code, _, err = people.run("schema", place, "--query", "SELECT nobody FROM people")
        assert (code, err.count("\n")) == (2, 1)
    code, _, err = people.run("schema", place, "--query", "people")
    assert (code, err.count("\n")) == (3, 1)
    assert MARKER not in err


@pytest.mark.parametrize("ending", ["sav", "dta", "xlsx", "csv", "parquet", "feather"])
def test_export(place, ending):
    place.release()
    code, out, err = place.run("export", "out", f"rows.{ending}")
    assert code == 0
    assert out == f"Exported 200 rows to rows.{ending}.\n"
    assert "counts of this file are biased" in err
    assert "nothing is broken" in place.run("verify", "out")[1]
    again = place.run("export", "out", f"rows.{ending}")
    assert (again[0], again[1]) == (2, "")
    code, out, _ = place.run("export", "out", f"more.{ending}", "--json")
    assert json.loads(out) == {"file": f"more.{ending}", "rows": 200, "renamed": {}, "void": []}


def test_exports_that_are_refused(place):
    place.release()
    for arguments, sentence in (
        (["out", "rows.docx"], "unknown ending; a release is exported to"),
        (["people.csv", "rows.sav"], "is not a release"),
        (["out", "nowhere/rows.sav"], "its folder does not exist"),
    ):
        code, out, err = place.run("export", *arguments)
        assert (code, out) == (2, "")
        assert sentence in err


def test_an_export_of_a_release_that_claims_nothing_says_so(place):
    """A file of rows holds no certificate: whoever passes it on has to be told."""
    place.release()
    assert "claims nothing" not in place.run("export", "out", "rows.csv")[2]
    place.release("--seed", "7", "--seeded-not-private", "-o", "void")
    code, _, err = place.run("export", "void", "void.csv")
    assert code == 0
    assert "warning: this release claims nothing: The key was not the operating system's own" in err
    _, out, _ = place.run("export", "void", "void.parquet", "--json")
    assert len(json.loads(out)["void"]) == 1
