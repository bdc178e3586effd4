"""The pieces of the Spark engine that need no Spark: the private line, order words and their ties, pseudonyms, the command line."""

import datetime as dt
import json
import socket
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._engines.spark.channel import Refused, call
from pkanon._engines.spark.host import Expected, Host
from pkanon._engines.spark.ids import pseudonyms
from pkanon._engines.spark.marks import CHANGED, TIED, Failure, Tied, watched
from pkanon._engines.spark.steps import _buckets, _order

KEY = bytes(range(32))


@pytest.fixture
def host():
    with Host("127.0.0.1", "127.0.0.1", 0, KEY) as made:
        yield made


def asked(host, question, token=None):
    line = call(host.line.address, token or host.line.token)
    line.send(json.dumps(question).encode())
    try:
        return json.loads(line.receive())
    finally:
        line.close()


def test_the_key_is_told_once_the_rows_are_known_and_to_their_partitions(host):
    with pytest.raises(Refused):
        asked(host, {"ask": "words", "partition": 0})
    host.expect({0: Expected(7, 3, "digest")})
    told = asked(host, {"ask": "words", "partition": 0})
    assert bytes.fromhex(told["key"]) == KEY
    assert (told["first"], told["rows"], told["digest"]) == (7, 3, "digest")
    assert asked(host, {"ask": "digest"})["key"] == told["digest_key"]
    for question in ({"ask": "words", "partition": 1}, {"ask": "everything"}, {}, [], {"ask": "part", "messages": 0}):
        with pytest.raises((Refused, OSError)):
            asked(host, question)


def test_who_has_another_token_is_told_nothing(host):
    host.expect({0: Expected(0, 1, "digest")})
    with pytest.raises((Refused, OSError)):
        asked(host, {"ask": "words", "partition": 0}, token=bytes(32))
    with socket.create_connection(host.line.address) as plain:  # nor who speaks another language
        plain.sendall(b"GET / HTTP/1.1\r\nHost: driver\r\n\r\n" + bytes(64))
        plain.settimeout(5)
        heard = plain.recv(1000)
    assert KEY not in heard
    assert len(heard) <= 32  # a public key and nothing else


def test_a_watcher_sees_no_key(host):
    host.expect({0: Expected(0, 1, "digest")})
    seen = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as between:
        import threading

        def forward(source, target):
            while data := source.recv(65536):
                seen.extend(data)
                target.sendall(data)

        def relay():
            caller, _ = between.accept()
            with caller, socket.create_connection(host.line.address) as driver:
                back = threading.Thread(target=forward, args=(driver, caller), daemon=True)
                back.start()
                forward(caller, driver)

        threading.Thread(target=relay, daemon=True).start()
        line = call(between.getsockname(), host.line.token)
        line.send(json.dumps({"ask": "words", "partition": 0}).encode())
        assert bytes.fromhex(json.loads(line.receive())["key"]) == KEY
        line.close()
    assert len(seen) > 100
    assert KEY not in seen
    assert KEY.hex().encode() not in seen
    assert host.line.token not in seen


def test_a_part_that_the_disk_of_the_driver_does_not_take(host, tmp_path):
    """Executors hear nothing; the driver knows why."""
    host.take_parts(tmp_path / "gone")
    with pytest.raises((Refused, OSError)):
        asked(host, {"ask": "part", "part": 0, "attempt": 1, "messages": 0})
    assert host.trouble.strerror == "No such file or directory"
    host.trouble = None
    host.take_parts(tmp_path)
    line = call(host.line.address, host.line.token)
    line.send(json.dumps({"ask": "part", "part": 0, "attempt": 1, "messages": 1}).encode())
    line._connection.shutdown(socket.SHUT_WR)  # one that goes away is no trouble of the disk
    with pytest.raises((Refused, OSError)):
        line.receive()
    line.close()
    assert host.trouble is None


def test_after_its_end_nobody_answers(host):
    host.__exit__(None, None, None)
    with pytest.raises(OSError):
        call(host.line.address, host.line.token)


def test_ranges_of_words_follow_each_other_and_are_equally_wide():
    words = np.array([0, 2**62, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    assert _buckets(words, 2).tolist() == [0, 0, 0, 1, 1]
    assert _buckets(words, 1).tolist() == [0] * 5
    many = np.sort(np.random.default_rng(1).integers(0, 2**64, 10_000, np.uint64, endpoint=False))
    found = _buckets(many, 7)
    assert (np.diff(found) >= 0).all()
    assert np.bincount(found).min() > 1_200


def test_tied_rows_ask_for_another_word():
    first = np.array([5, 9, 5, 1], np.uint64)
    with pytest.raises(Failure, match=TIED):
        _order([first])
    assert _order([first, np.array([8, 0, 3, 7], np.uint64)]).tolist() == [3, 2, 0, 1]
    with pytest.raises(Failure, match=TIED):
        _order([first, np.zeros(4, np.uint64)])
    with pytest.raises(Tied):
        watched("failed", _order, [first])


def test_words_of_spark_are_not_repeated():
    def fail(text):
        raise RuntimeError(f"[CAST_INVALID_INPUT] The value 'secret' ... {text}")

    for text, kind in (
        (CHANGED, pk.DataError),
        ("anything", pk.EnvironmentFailure),
        ("MALFORMED_RECORD", pk.DataError),
    ):
        with pytest.raises(kind) as caught:
            watched("Spark failed.", fail, text)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([1, 2, 3, 2**40, -1]),
        pl.Series(["", "a", "a\0", "b" * 16, "b" * 17, "ä" * 40]),
        pl.Series([0.5, 1.0, 2.0]),
        pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
    ],
    ids=["integers", "texts", "numbers", "dates"],
)
def test_equal_ids_have_equal_pseudonyms_and_no_others(ids):
    found = pseudonyms(ids, KEY)
    assert len({tuple(row) for row in found.tolist()}) == len(ids)
    for size in range(1, len(ids) + 1):  # whatever else is in the batch
        np.testing.assert_array_equal(pseudonyms(ids[:size], KEY), found[:size])
    np.testing.assert_array_equal(pseudonyms(ids[::-1], KEY), found[::-1])
    assert not (pseudonyms(ids, bytes(32)) == found).any()


def test_minus_zero_is_zero():
    np.testing.assert_array_equal(*(pseudonyms(pl.Series([zero]), KEY) for zero in (0.0, -0.0)))


def test_a_session_of_ours_enciphers_what_it_writes(monkeypatch):
    """Shuffle files tell which released row was which record."""
    import pyspark.sql

    from pkanon._engines.spark import opening

    class Builder:
        def __init__(self):
            self.settings = {}

        def appName(self, name):
            return self

        def config(self, name, value):
            self.settings[name] = value
            return self

        master = appName

        def getOrCreate(self):
            return self.settings

    class Sessions:
        builder = Builder()
        getActiveSession = staticmethod(lambda: None)

    monkeypatch.setattr(pyspark.sql, "SparkSession", Sessions)
    began, settings = opening._session(None)
    assert began
    assert settings["spark.io.encryption.enabled"] == "true"
    assert settings["spark.log.level"] == "OFF"


def pkanon(*arguments, folder):
    done = subprocess.run(
        [sys.executable, "-m", "pkanon", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--engine", "spark", "--check"], "--check reads the table in this process"),
        (["--engine", "spark", "--ledger", "l", "--subject", "s"], "--engine spark keeps no ledger"),
        (["--engine", "spark", "--threads", "2"], "the master says how many tasks"),
        (["--engine", "spark", "--memory", "2GB"], "--memory is for this process"),
        (["--master", "local[2]"], "go with --engine spark"),
        (["--engine", "spark"], "Spark reads .parquet"),
    ],
)
def test_options_that_do_not_go_with_spark(tmp_path, options, told):
    pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=100, k=2).save(tmp_path / "plan.json")
    code, text = pkanon("release", "people.xlsx", "--plan", "plan.json", "-o", "out", *options, folder=tmp_path)
    assert code == 2
    assert told in text


def test_the_command_line_releases_as_memory_does(tmp_path):
    people = pl.DataFrame({"sex": ["F", "M", "M"] * 500, "age": [1, 2, 3, 4, 5] * 300})
    people.write_csv(tmp_path / "people.csv")
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("age", 1, 5)]), records=1_500, k=5)
    plan.save(tmp_path / "plan.json")
    seeded = ["--seed", "7", "--seeded-not-private", "--engine", "spark", "--master", "local[2]"]
    code, text = pkanon("release", "people.csv", "--plan", "plan.json", "-o", "out", *seeded, folder=tmp_path)
    assert code == 0, text
    assert text.startswith("warning: this release claims nothing")  # and not a word of Spark's
    direct = pk.release(people, plan, randomness=pk.Seeded(7))
    assert pk.open_release(tmp_path / "out").certificate.digests == direct.certificate.digests
    with open(tmp_path / "people.csv", "a") as file:
        file.write("secret\n")
    code, text = pkanon("release", "people.csv", "--plan", "plan.json", "-o", "again", *seeded, folder=tmp_path)
    assert (code, "too few or too many fields" in text, "secret" in text) == (2, True, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.csv", "plan.json"]
