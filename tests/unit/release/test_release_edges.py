"""The edges of what a release accepts and says."""

import json
import shutil

import polars as pl
import pytest

import pkanon as pk
from pkanon._cli import run
from pkanon._frames import count_rows

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
        ["explain", "plan.json"],
        ["release", "t.csv", "--plan", "plan.json", "-o", "out"],
        ["release", "t.csv", "--plan", "plan.json", "--check"],
        ["anonymity", "t.csv", "sex"],
        ["compose", "plan.json", "plan.json"],
    ):
        assert run([*command, "--json"]) == 0, command
        json.loads(capsys.readouterr().out)


VOID_SCHEMAS = {
    "drafted": (pk.Schema(SCHEMA.attributes, drafted=True), {}),
    "passed": (pk.Schema([*SCHEMA.attributes, pk.Attribute("w", role="pass")]), {}),
    "matrix": (SCHEMA, {"sex": pk.TransitionMatrix.invariant([1, 1], 0.2)}),
}


@pytest.mark.parametrize("reason", VOID_SCHEMAS)
def test_plans_that_promise_nothing_compose_to_nothing(reason):
    schema, matrices = VOID_SCHEMAS[reason]
    void = pk.plan(schema, records=100, k=2, matrices=matrices)
    total = pk.compose([pk.plan(SCHEMA, records=100, k=2), void])
    assert (total.k, total.epsilon) == (None, None)
    assert total.void == tuple(void.void_reasons)
    assert "void" in str(void)


@pytest.mark.parametrize("reason", VOID_SCHEMAS)
def test_a_certificate_without_its_reasons_is_refused(reason):
    schema, matrices = VOID_SCHEMAS[reason]
    plan = pk.plan(schema, records=100, k=2, matrices=matrices)
    certificate = pk.Certificate.of(plan, 100, "0" * 64, None, private=True)
    data = certificate.to_json()
    assert pk.Certificate.from_json(data, plan) == certificate  # without_passed and all
    rows = [{"planned": 100, "released": wrong} for wrong in (99.0, "100", True)]
    claims = {
        "k": "2",
        "k_planned": "2",
        "epsilon": "3",
        "epsilon_unbounded": None,
        "central": None,
        "central_absent": "x",
    }
    changes = [{"rows": wrong} for wrong in (100, [100], *rows)]
    for change in (
        {"void": []},
        {"void": "x"},
        {"surplus": 1},
        {"k": "2"},
        {"claims": claims},
        {"claims": 2},
        *changes,
    ):
        with pytest.raises(pk.PlanError):
            pk.Certificate.from_json(data | change, plan)


def test_a_hidden_count_is_not_told_by_the_share_of_others():
    schema = pk.Schema([pk.Attribute("sex", ["F"], other="X"), SCHEMA.attribute("edu")])
    hidden = pk.plan(schema, records=50, epsilon=3, hide_count="1/2")
    assert pk.check(FRAME, hidden) == {}
    assert pk.check(FRAME, pk.plan(schema, records=100, k=2)) == {"sex": 0.5}


def test_a_matrix_from_the_data_stays_marked_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.toml").write_text(SCHEMA.to_toml())
    (tmp_path / "m.csv").write_text("0.75,0.25\n0.25,0.75\n")
    for option, expected in (("--matrix", False), ("--data-matrix", True)):
        assert (
            run(["plan", "t.toml", "--records", "1000", "--k", "2", option, "sex=m.csv", "-o", f"{option}.json"]) == 0
        )
        assert pk.read_plan(f"{option}.json").data_dependent is expected
    capsys.readouterr()


@pytest.mark.parametrize("end", ['F,"none', 'F,none"', '"F,none'])
def test_a_quote_left_open_at_the_end_is_refused(tmp_path, end):
    path = tmp_path / "t.csv"
    path.write_text("sex,edu\n" + "F,none\n" * 50 + end)
    with pytest.raises(pk.DataError):
        pk.release(path, pk.plan(SCHEMA, records=50, k=2))


def test_the_first_row_of_a_file_without_a_header_is_not_repeated(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("MARKER7f3a,MARKER7f3a,3\n" + "a,b,1\n" * 50)
    with pytest.raises(pk.DataError) as caught:
        count_rows(path)
    assert "MARKER" not in str(caught.value)


def test_numbers_of_numpy_are_numbers():
    import numpy as np

    plain = pk.plan(SCHEMA, records=1000, k=100, epsilon=2.5)
    assert pk.plan(SCHEMA, records=np.int64(1000), k=np.int16(100), epsilon=np.float64(2.5)).blocks == plain.blocks
