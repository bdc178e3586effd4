"""Damaged files, wrong sheets and wrong queries: one sentence, no value, no chain, whatever the library says."""

import logging
import sqlite3
import sys
import traceback
from contextlib import closing

import duckdb
import polars as pl
import pytest
import tabular_files as files

import pkanon as pk
from pkanon._errors import EnvironmentFailure, InputError, PkanonError
from pkanon._frames import count_rows, draft_schema, encode, group_sizes
from pkanon._schema import Attribute, Schema

MARKER = "MARKER-7f3a"
PEOPLE = files.people().with_columns(
    sex=pl.when(pl.int_range(pl.len()) == 31).then(pl.lit(MARKER)).otherwise(pl.col("sex"))
)
DROPPED = Schema([a if a.name == "sex" else Attribute(a.name, role="drop") for a in files.SCHEMA.attributes])


def silent(action, caplog, capfd, kind=InputError):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(PkanonError) as caught:
        action()
    error = caught.value
    assert isinstance(error, kind), error
    assert error.__cause__ is None
    assert error.__context__ is None
    everything = [str(error), caplog.text, *traceback.format_exception(error), *capfd.readouterr()]
    assert MARKER not in "\n".join(everything)
    assert str(error).count("\n") == 0
    return str(error)


def at(path):
    return pk.TableFile(path, sheet="people" if path.suffix == ".xlsx" else None)


BINARY = [name for name in files.WRITERS if name not in ("people.csv", "people.jsonl", "people.csv.gz")]


@pytest.mark.parametrize("name", files.WRITERS)
def test_a_value_that_does_not_fit(name, tmp_path, caplog, capfd):
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    sentence = silent(lambda: encode(at(path), DROPPED), caplog, capfd)
    assert "'sex': some rows hold a value that the schema does not list" in sentence


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9])
@pytest.mark.parametrize("name", BINARY)
def test_a_file_that_is_cut_off(name, share, tmp_path, caplog, capfd):
    path = tmp_path / name
    files.WRITERS[name](files.people(400).with_columns(sex=pl.lit(MARKER)), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    silent(lambda: encode(at(path), DROPPED), caplog, capfd)


@pytest.mark.parametrize("name", ["people.jsonl", "people.ndjson.gz", *BINARY])
def test_a_file_of_something_else(name, tmp_path, caplog, capfd):
    path = tmp_path / name
    path.write_bytes(f"{MARKER},{MARKER}\n1,2\n".encode() * 50)
    for action in (encode, lambda table, _: draft_schema(table), lambda table, _: group_sizes(table, ["sex"])):
        silent(lambda action=action: action(at(path), DROPPED), caplog, capfd)


@pytest.mark.parametrize(
    "text",
    [
        '{"sex": "MARKER-7f3a"}\n{"sex": "F"\n',
        '{"sex": "F"}\n["MARKER-7f3a"]\n',
        '["MARKER-7f3a"]\n{"sex": "F"}\n',
        '{"sex": "F"}\nMARKER-7f3a\n',
        '[{"sex": "MARKER-7f3a"}]',
        "\n\n",
        "",
    ],
)
def test_lines_that_are_no_json_objects(text, tmp_path, caplog, capfd):
    path = tmp_path / "people.jsonl"
    path.write_text(text)
    silent(lambda: encode(path, Schema([Attribute("sex", ["F", "M"])])), caplog, capfd)


QUERIES = [
    f"SELECT {MARKER.replace('-', '_')} FROM people",
    f"SELECT sex FROM people WHERE sex = '{MARKER}' AND",
    f"SELECT '{MARKER}'; SELECT 1",
    f"DELETE FROM people WHERE sex = '{MARKER}'",
    f"UPDATE people SET sex = '{MARKER}'",
    "DROP TABLE people",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "SELECT * FROM (DELETE FROM people RETURNING *)",
    f"ATTACH '{MARKER}' AS other",
    f"COPY people TO '{MARKER}'",
    "PRAGMA table_info(people)",
    "",
    "nowhere",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", ["people.sqlite", "people.duckdb"])
def test_wrong_queries(name, query, tmp_path, caplog, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    before = path.read_bytes()
    silent(lambda: count_rows(pk.TableFile(path, query=query)), caplog, capfd)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('secret.csv')",
        "SELECT * FROM 'secret.csv'",
        "SELECT * FROM read_text('secret.csv')",
        "FROM glob('*')",
    ],
)
def test_duckdb_reaches_no_other_file(query, tmp_path, caplog, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text(f"sex\n{MARKER}\n")
    files.write_duckdb(PEOPLE, tmp_path / "people.duckdb")
    silent(lambda: count_rows(pk.TableFile("people.duckdb", query=query)), caplog, capfd)


def test_a_conversion_that_fails_while_rows_are_read(tmp_path, caplog, capfd):
    files.write_duckdb(PEOPLE, tmp_path / "people.duckdb")
    table = pk.TableFile(tmp_path / "people.duckdb", query="SELECT sex::INTEGER AS sex FROM people")
    silent(lambda: group_sizes(table, ["sex"]), caplog, capfd)


def test_texts_of_sqlite_that_are_no_utf8(tmp_path, caplog, capfd):
    path = tmp_path / "latin.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE people (sex)")
        database.execute("INSERT INTO people VALUES (CAST(x'" + (MARKER + "ì").encode("latin-1").hex() + "' AS TEXT))")
    assert "not UTF-8" in silent(lambda: group_sizes(path, ["sex"]), caplog, capfd)


@pytest.mark.parametrize("name", ["people.sqlite", "people.duckdb"])
def test_queries_that_are_right(name, tmp_path):
    path = tmp_path / name
    files.WRITERS[name](files.people(), path)
    for query, rows in [
        (None, 60),
        ("people", 60),
        ("SELECT sex FROM people WHERE age < 10;", 9),
        ("select sex -- and nothing else", None),
        ("WITH young AS (SELECT * FROM people WHERE age < 10) SELECT sex, age FROM young -- all of them", 9),
        (" \n SELECT job, count(*) AS n FROM people GROUP BY job", 4),
    ]:
        if rows is not None:
            assert count_rows(pk.TableFile(path, query=query)) == rows
        else:
            with pytest.raises(InputError):
                count_rows(pk.TableFile(path, query=query))


def test_which_table(tmp_path):
    files.write_sqlite(files.people(), tmp_path / "two.db")
    with closing(sqlite3.connect(tmp_path / "two.db")) as database, database:
        database.execute("CREATE VIEW young AS SELECT sex FROM people WHERE age < 10")
    with pytest.raises(InputError, match=r"has 2 tables; name one with query= .*Available: people, young\."):
        count_rows(tmp_path / "two.db")
    assert count_rows(pk.TableFile(tmp_path / "two.db", query="young")) == 9
    with closing(duckdb.connect(str(tmp_path / "empty.duckdb"))):
        pass
    with pytest.raises(InputError, match="has no tables"):
        count_rows(tmp_path / "empty.duckdb")


def test_any_cell_of_sqlite_may_hold_any_type(tmp_path):
    path = tmp_path / "any.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE people (mixed, number, whole, empty, bytes)")
        rows = [(1, 1, 1, None, b"x"), ("one", 2.5, 2, None, b"y"), (None, None, None, None, None)]
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    assert group_sizes(path, ["mixed"]).tolist() == [1, 1, 1]
    draft = draft_schema(path)
    assert [attribute.type for attribute in draft.schema.attributes] == ["text", "number", "integer"]
    assert draft.schema.others == "drop"
    assert {column.name for column in draft.columns if column.drafted_as == "dropped"} == {"empty", "bytes"}


def test_types_of_duckdb_that_polars_has_not(tmp_path, capfd):
    path = tmp_path / "types.duckdb"
    with closing(duckdb.connect(str(path))) as database:
        database.execute(
            "CREATE TABLE people AS SELECT i % 2 AS sex, INTERVAL 1 DAY AS span, [1, 2] AS list, {'a': 1} AS pair, "
            "TIME '12:00' AS hour, 'a'::ENUM('a', 'b') AS letter, 1.5::DECIMAL(9, 2) AS size, uuid() AS id FROM range(4) t(i)"
        )
    draft = draft_schema(path)
    assert draft.schema.attribute("sex").type == "integer"
    assert "panicked" not in capfd.readouterr().err


MISSING = {
    "people.sav": ("pyreadstat", "statistics"),
    "people.dta": ("pyreadstat", "statistics"),
    "people.xlsx": ("fastexcel", "excel"),
    "people.duckdb": ("duckdb", "databases"),
}


@pytest.mark.parametrize("name", MISSING)
def test_packages_that_are_missing(name, tmp_path, monkeypatch):
    package, extra = MISSING[name]
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EnvironmentFailure, match=f'install the extra "{extra}"') as caught:
        count_rows(at(path))
    assert caught.value.__context__ is None
