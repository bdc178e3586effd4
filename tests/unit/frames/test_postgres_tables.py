"""Tables of a real PostgreSQL server: types, wrong queries, nothing written, no address and no value in a message."""

import logging
import sys
import traceback

import numpy as np
import postgres
import psycopg
import pytest
import tabular_files as files

import pkanon as pk
from pkanon._errors import EnvironmentFailure, InputError, PkanonError
from pkanon._frames import count_rows, draft_schema, encode, group_sizes
from pkanon._frames.read import PLAIN, open_source

MARKER, SECRET, USER = "MARKER-7f3a", "s3cret-of-pg", "guest"
PEOPLE = files.people()
TRUTH = encode(PEOPLE, files.SCHEMA)


@pytest.fixture(scope="module")
def server():
    with postgres.cluster() as cluster:
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE people (sex text, job varchar(10), age int, weight numeric(6,2), born date, member boolean)"
            )
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", PEOPLE.rows())
            connection.execute("CREATE SEQUENCE numbers")
            connection.execute("CREATE SCHEMA old")
            connection.execute(f"CREATE TABLE old.people AS SELECT '{MARKER}'::text AS sex")
            connection.execute(f"CREATE ROLE {USER} LOGIN")
        yield cluster


def silent(action, caplog, capfd, *hidden):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(PkanonError) as caught:
        action()
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    everything = "\n".join([str(error), caplog.text, *traceback.format_exception(error), *capfd.readouterr()])
    assert not any(text in everything for text in (MARKER, *hidden))
    assert "\n" not in str(error)
    return error


def test_the_same_people_give_the_same_codes(server):
    encoded = encode(pk.TableFile(server.url, query="people"), files.SCHEMA)
    for column, codes in TRUTH.codes.items():
        np.testing.assert_array_equal(encoded.codes[column], codes, err_msg=column)
    schema = draft_schema(pk.TableFile(server.url, query="people")).schema
    assert {a.name: a.type for a in schema.attributes} == {a.name: a.type for a in files.SCHEMA.attributes}


def test_pieces_lose_no_row(server, monkeypatch):
    monkeypatch.setattr("pkanon._frames.read.formats.postgres._PIECE", 50)
    encoded = encode(pk.TableFile(server.url, query="people"), files.SCHEMA)
    assert encoded.codes["age"].tolist() == TRUTH.codes["age"].tolist()


def test_types(server):
    query = """
    SELECT * FROM (VALUES
      (1::smallint, 2::bigint, 1.5::real, 'NaN'::float8, 'ab'::char(5), '', 'a"b,c
d', timestamp '2024-02-29 00:00', '{1,2}'::int[], interval '1 day', '{"a": 1}'::jsonb, 'x'::bytea),
      (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    ) AS t (small, big, single, nan, fixed, empty, quoted, moment, list, span, json, bytes)"""
    source = open_source(pk.TableFile(server.url, query=query), PLAIN)
    ((frame, _),) = source.batches(source.names)
    first, second = frame.rows()
    assert first[:3] == (1, 2, 1.5)
    assert np.isnan(first[3])
    assert first[4:7] == ("ab", "", 'a"b,c\nd')
    assert str(first[7]) == "2024-02-29 00:00:00"
    assert first[8:11] == ("{1,2}", "1 day", '{"a": 1}')
    assert second == (None,) * 12


def test_an_empty_text_is_no_missing_value(server):
    table = pk.TableFile(server.url, query="SELECT * FROM (VALUES ('', 1), (NULL, 2), ('', 3)) AS t (a, b)")
    assert sorted(group_sizes(table, ["a"]).tolist()) == [1, 2]


def test_which_table(server):
    with pytest.raises(InputError, match=r"The database has 2 tables; .*Available: old\.people, people\."):
        count_rows(server.url)
    assert count_rows(pk.TableFile(server.url, query="old.people")) == 1
    with pytest.raises(InputError, match=r"has no table 'peopel'\. .*Did you mean 'people'"):
        count_rows(pk.TableFile(server.url, query="peopel"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT nobody FROM people",
        f"SELECT sex FROM people WHERE sex = '{MARKER}' AND",
        f"SELECT '{MARKER}'::int",
        "SELECT sex::int AS sex FROM old.people",
        "SELECT 1 / (age - age) AS sex FROM people",
        "SELECT 1 AS sex; SELECT 2",
        "SELECT 1) TO STDOUT; DROP TABLE people; COPY (SELECT 1",
        "DELETE FROM people",
        "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
        "SELECT nextval('numbers') AS sex",
        "SELECT set_config('transaction_read_only', 'off', false) AS sex, nextval('numbers') AS n",
        "SELECT pg_read_file('nowhere') AS sex",
        "SELECT sex, sex FROM people",
        "",
    ],
)
def test_wrong_queries(server, query, caplog, capfd):
    error = silent(
        lambda: group_sizes(pk.TableFile(server.url, query=query), ["sex"]), caplog, capfd, str(server.folder)
    )
    assert error.exit_code == 2
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone() == (60,)
        assert connection.execute("SELECT is_called FROM numbers").fetchone() == (False,)


def test_a_user_without_the_right_to_read(server, caplog, capfd):
    address = server.url.replace("survey@", f"{USER}@")
    error = silent(lambda: count_rows(pk.TableFile(address, query="SELECT * FROM people")), caplog, capfd, USER)
    assert (str(error), error.exit_code) == ("The user of the database may not read what the query asks for.", 2)


def test_who_asks_comes_from_the_environment(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PGHOST", str(server.folder))
    monkeypatch.setenv("PGUSER", "survey")
    monkeypatch.setenv("PGDATABASE", "postgres")
    assert count_rows(pk.TableFile("postgresql://", query="people")) == 60
    monkeypatch.delenv("PGHOST")
    services = tmp_path / "services.conf"
    services.write_text(f"[people]\nhost={server.folder}\nuser=survey\ndbname=postgres\npassword={MARKER}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert count_rows(pk.TableFile("postgresql://?service=people", query="people")) == 60


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://survey:{MARKER}@host/people",
        f"postgres://survey:{MARKER}@host/people",
        f"postgresql://host/people?password={MARKER}",
        f"POSTGRESQL://host/people?user=x&pass%77ord={MARKER}",
        f"postgresql://host/people?sslpassword={MARKER}",
        f"postgresql://survey:@host/{MARKER}",
    ],
)
def test_a_password_in_the_address_is_refused(address, caplog, capfd):
    for action in (pk.TableFile, count_rows, draft_schema):
        error = silent(lambda action=action: action(address), caplog, capfd)
        assert "holds a password; leave it out" in str(error)
        assert error.exit_code == 2


@pytest.mark.parametrize(
    ("address", "code"),
    [
        (f"postgresql://[{MARKER}/people", 2),
        (f"postgresql://host/people?{MARKER}=1", 2),
        (f"postgresql://{MARKER}@/people?host=/nowhere", 3),
        (f"postgresql://?service={MARKER}", 3),
    ],
)
def test_a_server_that_cannot_be_reached(address, code, caplog, capfd, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    error = silent(lambda: count_rows(pk.TableFile(address, query="people")), caplog, capfd, SECRET)
    assert error.exit_code == code


def test_a_connection_that_breaks_off(server, caplog, capfd):
    query = "SELECT pg_terminate_backend(pg_backend_pid())::text AS sex"
    error = silent(lambda: group_sizes(pk.TableFile(server.url, query=query), ["sex"]), caplog, capfd)
    assert (error.exit_code, str(error)) == (
        3,
        "The database broke off the connection or gave up the query; run it again.",
    )


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(EnvironmentFailure, match='install the extra "databases"'):
        count_rows("postgresql://?service=people")
