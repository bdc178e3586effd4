"""From a database to a release and back into a table, a piece at a time; a connection that breaks leaves nothing half-written."""

import sqlite3
import threading
import time
from contextlib import closing

import duckdb
import polars as pl
import postgres
import psycopg
import pytest
import tabular_files as files
from streaming import streamed

import pkanon as pk

ROWS = 3_000
PLAN = pk.plan(files.SCHEMA, records=ROWS, k=3)
COLUMNS = {
    "postgres": "sex text, job varchar(10), age int, weight numeric(6,2), born date, member boolean",
    "duckdb": "sex text, job text, age int, weight double, born date, member boolean",
    "sqlite": "sex text, job text, age int, weight real, born text, member text",
}


def people():
    some = files.people()
    return pl.concat([some] * (ROWS // some.height + 1))[:ROWS]


@pytest.fixture(scope="module")
def server():
    with postgres.cluster() as cluster:
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            fill(connection.cursor(), "postgres", "%s")
        yield cluster


def fill(cursor, kind, mark):
    cursor.execute(f"CREATE TABLE people ({COLUMNS[kind]})")
    table = people()
    rows = table.with_columns(pl.col("born", "member").cast(pl.String)).rows() if kind == "sqlite" else table.rows()
    cursor.executemany(f"INSERT INTO people VALUES ({', '.join([mark] * table.width)})", rows)


@pytest.fixture(params=["postgres", "duckdb", "sqlite"])
def database(request, server, tmp_path):
    """Where people are, and a way to ask what is there."""
    if request.param == "postgres":

        def ask(sql):
            with psycopg.connect(server.url) as connection:
                return connection.execute(sql).fetchall()

        yield server.url, ask
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS released")
        return
    path = tmp_path / f"people.{request.param}"
    connect = duckdb.connect if request.param == "duckdb" else sqlite3.connect
    with closing(connect(str(path))) as connection:
        fill(connection.cursor(), request.param, "?")
        connection.commit()

    def ask(sql):
        with closing(connect(str(path))) as connection:
            return connection.execute(sql).fetchall()

    yield path, ask


def of_database(rows):
    """Rows as Python values that all databases agree on."""
    return [
        tuple(str(v) if hasattr(v, "isoformat") else int(v) if isinstance(v, bool) else v for v in row) for row in rows
    ]


def test_there_and_back(database, tmp_path):
    place, ask = database
    whole = pk.release(people(), PLAN, randomness=pk.Seeded(7))
    made = streamed(pk.TableFile(place, query="people"), PLAN, tmp_path)
    assert made.certificate.digests == whole.certificate.digests
    assert made.export(place, table="released") == {}
    found = ask("SELECT * FROM released")
    assert of_database(found) == of_database(whole.table.rows())
    with pytest.raises(pk.InputError, match="has a table 'released' already"):
        made.export(place, table="released")
    assert ask("SELECT count(*) FROM released") == [(ROWS,)]


def test_what_is_read_while_rows_are_written_fails(database, tmp_path, monkeypatch):
    """Whatever stops the writing: no table, and those that were there are untouched."""
    place, ask = database
    made = streamed(people(), PLAN, tmp_path)
    monkeypatch.setattr("pkanon._frames.write.database._PIECE", 100)

    def stop(step, done):
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.export(place, table="released", progress=stop)
    assert ask("SELECT count(*) FROM people") == [(ROWS,)]
    with pytest.raises(Exception, match="released"):
        ask("SELECT * FROM released")
    new = tmp_path / "new.duckdb", tmp_path / "new.sqlite"
    for path in new:
        with pytest.raises(KeyboardInterrupt):
            made.export(path, table="released", progress=stop)
        assert not list(tmp_path.glob("new.*"))


def test_a_connection_that_is_killed(server, tmp_path, monkeypatch):
    """Halfway the server ends the connection: one sentence, no table, no address."""
    made = streamed(people(), PLAN, tmp_path)
    monkeypatch.setattr("pkanon._frames.write.database._PIECE", 50)
    killed = []

    def kill(step, done):
        if done > 0.5 and not killed:
            with psycopg.connect(server.url, autocommit=True) as connection:
                others = "pid <> pg_backend_pid() AND application_name = 'pkanon'"
                killed.extend(
                    connection.execute(
                        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
                    ).fetchall()
                )
            time.sleep(0.2)

    with pytest.raises(pk.EnvironmentFailure, match="broke off the connection; nothing was written") as caught:
        made.export(server.url, table="released", progress=kill)
    assert killed == [(True,)]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "postgresql" not in str(caught.value).lower()
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT to_regclass('released')").fetchall() == [(None,)]


def test_a_connection_that_is_killed_while_people_are_read(server, tmp_path):
    """The query would take half a minute; the server ends it at once."""
    killed, over = threading.Event(), threading.Event()

    def kill():
        own = "pid <> pg_backend_pid() AND application_name = 'pkanon' AND query LIKE 'COPY%'"
        with psycopg.connect(server.url, autocommit=True) as connection:
            while not over.is_set():
                if connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {own}").fetchall():
                    killed.set()
                    return
                time.sleep(0.01)

    watch = threading.Thread(target=kill, daemon=True)
    watch.start()
    slow = "SELECT people.* FROM people WHERE pg_sleep(0.01)::text = ''"  # for every row anew
    try:
        with pytest.raises(pk.EnvironmentFailure, match="broke off") as caught:
            streamed(pk.TableFile(server.url, query=slow), PLAN, tmp_path)
    finally:
        over.set()
        watch.join()
    assert caught.value.__context__ is None
    assert killed.is_set()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "table", "sentence"),
    [
        ("postgresql://survey:s3cret@host/db", "t", "holds a password"),
        ("postgresql://?service=none-such", "t", "cannot be reached"),
        ("postgresql://host/db", None, "--table"),
        ("rows.csv", "t", "--table"),
        ("rows.duckdb", None, "--table"),
        ("none/rows.duckdb", "t", "folder does not exist"),
        ("rows.sqlite", "", "needs a name"),
    ],
)
def test_wrong_places(place, table, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = pk.release(people(), PLAN, randomness=pk.Seeded(7))
    with pytest.raises(pk.PkanonError, match=sentence) as caught:
        made.export(place, table=table)
    assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_words_that_must_be_quoted(tmp_path):
    values = ["-", 'a "b"', "c,d", "e\nf", "it's"]
    schema = pk.Schema([pk.Attribute('odd "name', values, missing="value")])
    table = pl.DataFrame({'odd "name': [*values, None] * 20})
    made = pk.release(table, pk.plan(schema, records=120, k=1.5), randomness=pk.Seeded(1))
    for name in ("t.duckdb", "t.sqlite"):
        made.export(tmp_path / name, table='it"s')
        again = pk.release(
            pk.TableFile(tmp_path / name, query='SELECT * FROM "it""s"'), made.plan, randomness=pk.Seeded(2)
        )
        expected = pk.release(made.table, made.plan, randomness=pk.Seeded(2))
        assert again.certificate.digests == expected.certificate.digests


def test_the_command_line(server, tmp_path, monkeypatch, capsys):
    from pkanon._cli import run

    monkeypatch.chdir(tmp_path)
    pk.release(people(), PLAN, randomness=pk.Seeded(7)).save("out")
    assert run(["export", "out", server.url, "--table", "by_command"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Exported 3,000 rows to the table by_command.")
    assert server.url not in out + err
    assert run(["export", "out", server.url, "--table", "by_command"]) == 2
    assert capsys.readouterr().err.startswith("error: The database has a table 'by_command' already")
