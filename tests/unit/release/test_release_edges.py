"""The edges of what a release accepts and says."""

import json
import shutil

import polars as pl
import pytest

import pkanon as pk
from pkanon._cli import run

SCHEMA = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("edu", ["none", "degree"])])
FRAME = pl.DataFrame({"sex": ["F", "M"] * 50, "edu": ["none", "degree", "degree", "none"] * 25})


def test_one_row_fewer_than_planned_is_fewer():
    with pytest.raises(pk.RefusedError, match="allow_fewer"):
        pk.release(FRAME, pk.plan(SCHEMA, records=101, k=2))
    assert pk.release(FRAME, pk.plan(SCHEMA, records=100, k=2)).rows == 100


def test_check_sees_forbidden_combinations():
    bundled = pk.Schema(SCHEMA.attributes, [pk.Bundle(["sex", "edu"], [{"sex": ["F"], "edu": ["degree"]}])])
    with pytest.raises(pk.DataError, match="forbids"):
        pk.check(FRAME, pk.plan(bundled, records=100, k=2))


def test_a_seeded_release_with_passed_columns_states_nothing_at_all():
    schema = pk.Schema([*SCHEMA.attributes, pk.Attribute("w", role="pass")])
    frame = FRAME.with_columns(w=pl.lit("x"))
    made = pk.release(frame, pk.plan(schema, records=100, k=2), allow_pass=True, randomness=pk.Seeded(1))
    assert len(made.certificate.void) == 2
    assert made.certificate.without_passed == {}


def test_linked_releases_count_the_smaller_table():
    small, large = (pk.plan(SCHEMA, records=n, k=2) for n in (100, 1000))
    expected = 1 + 99 * small.anonymity_ratio * large.anonymity_ratio
    assert pk.compose([large, small], linked=True).k == pytest.approx(float(expected))


def test_a_void_certificate_stays_void_when_it_is_read(tmp_path):
    made = pk.release(FRAME, pk.plan(SCHEMA, records=100, k=2), randomness=pk.Seeded(1))
    made.save(tmp_path / "out")
    again = pk.open_release(tmp_path / "out").certificate
    assert again.void == made.certificate.void
    assert not again.claims


def test_rows_that_were_added_to_a_lone_parquet_file_are_noticed(tmp_path):
    pk.release(FRAME, pk.plan(SCHEMA, records=100, k=2)).save(tmp_path / "out")
    metadata = pl.read_parquet_metadata(tmp_path / "out" / "data.parquet")
    frame = pl.read_parquet(tmp_path / "out" / "data.parquet")
    kept = {key: metadata[key] for key in ("pkanon:plan", "pkanon:certificate")}
    pl.concat([frame, frame]).write_parquet(tmp_path / "twice.parquet", metadata=kept)
    with pytest.raises(pk.DataError, match="200 rows"):
        pk.open_release(tmp_path / "twice.parquet")
    shutil.copy(tmp_path / "out" / "data.parquet", tmp_path / "once.parquet")
    assert pk.open_release(tmp_path / "once.parquet").rows == 100


def test_a_release_shows_no_rows_when_it_is_printed():
    made = pk.release(FRAME, pk.plan(SCHEMA, records=100, k=2))
    assert "array" not in repr(made)
    assert "shape" not in repr(made)


def test_nul_bytes_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"sex,edu\n" + b"F,none\n" * 50 + b"F\0,none\n")
    with pytest.raises(pk.DataError, match="NUL"):
        pk.release(path, pk.plan(SCHEMA, records=50, k=2))


def test_a_bug_is_reported_by_its_place_not_by_its_words(monkeypatch, capsys):
    import pkanon._cli.anonymity as verb

    def broken(*args, **kwargs):
        raise RuntimeError("MARKER7f3a")

    monkeypatch.setattr(verb, "text_format", broken)
    assert run(["anonymity", "t.csv", "sex"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "RuntimeError at test_release_edges.py" in err
    assert "MARKER" not in err


def test_json_everywhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("t.csv")
    (tmp_path / "t.toml").write_text(SCHEMA.to_toml())
    for command in (
        ["schema", "t.csv"],
        ["plan", "t.toml", "--records", "100", "--k", "2", "-o", "plan.json"],
        ["plan", "plan.json"],
        ["release", "t.csv", "--plan", "plan.json", "-o", "out"],
        ["release", "t.csv", "--plan", "plan.json", "--check"],
        ["anonymity", "t.csv", "sex"],
        ["compose", "plan.json", "plan.json"],
    ):
        assert run([*command, "--json"]) == 0, command
        json.loads(capsys.readouterr().out)
