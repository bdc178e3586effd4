"""Releases larger than memory: the same verdicts in the same words, and never more than a piece of the rows in memory."""

import errno
import importlib.util
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pipeline import randomised
from plans import schema_of
from tampering import cover_up, forged, rehash, reordered

import pkanon as pk
from pkanon._audit.verification import case, order, pieces, spooled, suspicions
from pkanon._audit.verification import rows as checks
from pkanon._estimate import StoredCodes
from pkanon._frames.read.formats import columnar
from pkanon._release import stored


def tamperings():
    """The module of all tamperings, which is a module of tests."""
    spec = importlib.util.spec_from_file_location("tamperings", Path(__file__).with_name("test_verify_tampered.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TAMPERED = tamperings()
CASES = {
    **{f"{name}, clumsily": tamper for name, (tamper, _) in TAMPERED.CLUMSY.items()},
    **{f"{name}, covered up": tamper for name, (tamper, _) in TAMPERED.COVERED.items()},
    "nothing": lambda folder: None,
}


@pytest.fixture
def on_disk(monkeypatch):
    """A function from which on every file of rows is too large for memory, and a piece is small."""

    def begin(piece=64, block=32):
        monkeypatch.setattr(case, "ROOM", -1)
        monkeypatch.setattr(stored, "ROOM", -1)
        monkeypatch.setattr(columnar, "_LONG", 0)
        monkeypatch.setattr(pieces, "PIECE", piece)
        monkeypatch.setattr(suspicions, "BLOCK", block)
        monkeypatch.setattr(order, "FEW_ROWS", 0)

        def whole(codes, name):
            raise AssertionError(f"All rows of {name} were read at once.")

        monkeypatch.setattr(StoredCodes, "__getitem__", whole)

    return begin


def found_in(place):
    try:
        return [(check.name, check.verdict, check.sentence) for check in pk.verify(place)]
    except pk.InputError as error:
        return str(error)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    place = tmp_path_factory.mktemp("release")
    pk.release(TAMPERED.people(), TAMPERED.PLAN).save(place / "out", format="both")
    return place / "out"


@pytest.mark.parametrize("what", CASES)
def test_a_tampered_release_gets_the_same_verdicts_in_the_same_words(saved, tmp_path, on_disk, what):
    folder = tmp_path / "out"
    folder.mkdir()
    for file in saved.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    CASES[what](folder)
    places = folder, folder / "data.parquet"
    in_memory = [found_in(place) for place in places]
    on_disk()
    assert [found_in(place) for place in places] == in_memory


COUNT = 4_000
SIZES = (2, 6, 4, 12)
PLAN = pk.plan(schema_of(SIZES), records=COUNT, k=20, design="optimal")


def honest(seed):
    draw = np.random.default_rng(seed)
    first = draw.choice(2, COUNT, p=[0.8, 0.2])
    columns = first, 3 * first, draw.choice(4, COUNT, p=[0.9, 0.06, 0.03, 0.01]), 5 * first + draw.integers(0, 3, COUNT)
    return {f"a{i}": column.astype(np.uint8) for i, column in enumerate(columns)}


FORGED = {
    "honest": (lambda codes, people: codes, set()),
    "never randomised": (lambda codes, people: people, {"tables"}),
    "sorted by one column": (lambda codes, people: reordered(codes, np.argsort(codes["a1"], kind="stable")), {"order"}),
    "sorted by all": (lambda codes, people: reordered(codes, np.lexsort([codes[f"a{i}"] for i in (3, 2, 1, 0)])), {"order"}),
    "in stretches": (lambda codes, people: reordered(codes, np.argsort(codes["a3"] + np.arange(COUNT) // 500)), {"order"}),
    "every row twice": (
        lambda codes, people: reordered(codes, np.repeat(np.arange(COUNT // 2), 2)),
        {"order", "tables"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("format", ["csv", "parquet", "both"])
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_release_gets_the_same_verdicts(tmp_path, on_disk, seed, what, format):
    people = honest(seed)
    forge, broken = FORGED[what]
    codes = reordered(randomised(PLAN, people, seed), np.random.default_rng(seed).permutation(COUNT))
    release = forged(PLAN, forge(codes, people))
    release.save(tmp_path / "out", format=format)
    in_memory = [(check.name, check.verdict) for check in pk.verify(tmp_path / "out")]
    assert {name for name, verdict in in_memory if verdict == "broken"} == broken
    on_disk()
    assert [(check.name, check.verdict) for check in pk.verify(tmp_path / "out")] == in_memory
    opened = pk.open_release(tmp_path / "out").verify()
    assert set(opened.broken) == broken


@pytest.mark.parametrize("format", ["csv", "parquet", "both"])
def test_passed_columns(tmp_path, on_disk, format):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("day", role="pass", type="date")])
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 2, 29), eager=True)
    people = pl.DataFrame({"sex": ["F", "M"] * 30, "day": days})
    plan = pk.plan(schema, records=60, k=2)
    pk.release(people, plan, allow_pass=True).save(tmp_path / "honest", format=format)
    forged(plan, {"sex": np.tile(np.array([0, 1], np.uint8), 30)}, people[["day"]]).save(
        tmp_path / "sorted", format=format
    )
    in_memory = {name: found_in(tmp_path / name) for name in ("honest", "sorted")}
    on_disk(piece=7, block=5)
    assert {name: found_in(tmp_path / name) for name in ("honest", "sorted")} == in_memory
    assert pk.verify(tmp_path / "honest").ok
    assert "day" in pk.verify(tmp_path / "sorted")["order"].sentence
    if format == "both":
        text = (tmp_path / "honest" / "data.csv").read_text()
        (tmp_path / "honest" / "data.csv").write_text(text.replace("2024-01-07", "2024-01-08", 1))
        rehash(tmp_path / "honest")
        assert pk.verify(tmp_path / "honest").broken == ("copies",)


@pytest.mark.parametrize("format", ["csv", "both"])
@pytest.mark.parametrize("row", [0, 63, 64, 4_999])
def test_a_mark_in_any_piece_is_found(tmp_path, on_disk, format, row):
    people = pl.DataFrame({"sex": ["F", "M"] * 2_500})
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=5_000, k=5)
    pk.release(people, plan).save(tmp_path / "out", format=format)
    on_disk()
    assert pk.verify(tmp_path / "out").ok
    file = tmp_path / "out" / "data.csv"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[: row + 1], b'"' + lines[row + 1].strip() + b'"\n', *lines[row + 2 :]]))
    rehash(tmp_path / "out")
    assert pk.verify(tmp_path / "out").broken == ("values",)
    other = b"M" if lines[row + 1].strip() == b"F" else b"F"
    file.write_bytes(b"".join([*lines[: row + 1], other + b"\n", *lines[row + 2 :]]))
    cover_up(tmp_path / "out")
    assert pk.verify(tmp_path / "out").broken == (("copies",) if format == "both" else ("digests",))


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_no_more_than_a_piece_is_in_memory(tmp_path, on_disk, format):
    """What is allocated at the same time does not grow with the rows; in memory the codes alone would be four times as much."""
    schema = schema_of((2, 3))
    most = {}
    for rows in (2_000, 100_000, 400_000):  # the first loads what is loaded once
        people = pl.DataFrame({"a0": [1, 2] * (rows // 2), "a1": [1, 2, 3, 1] * (rows // 4)})
        pk.release(people, pk.plan(schema, records=rows, k=20)).save(tmp_path / str(rows), format=format)
    on_disk(piece=2**10, block=2**10)
    for rows in (2_000, 100_000, 400_000):
        tracemalloc.start()
        assert pk.verify(tmp_path / str(rows)).ok
        most[rows] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most[400_000] < 1.5 * most[100_000]


def test_a_full_disk_is_no_verdict(tmp_path, on_disk, monkeypatch):
    people = pl.DataFrame({"sex": ["F", "M"] * 50})
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=100, k=5)
    pk.release(people, plan).save(tmp_path / "out", format="csv")

    class Full(tempfile.SpooledTemporaryFile):
        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spooled.tempfile, "TemporaryFile", Full)
    on_disk()
    with pytest.raises(pk.PkanonError, match="no room for a temporary file of the codes, 1 B a row: No space left"):
        pk.verify(tmp_path / "out")


@pytest.mark.parametrize("rows", [100, 60])
@pytest.mark.parametrize("disk", [True, False])
def test_a_file_that_changes_meanwhile_is_no_verdict(tmp_path, on_disk, rows, disk):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("edu", ["none", "school"])])
    people = pl.DataFrame({"sex": ["F", "M"] * 50, "edu": ["none", "school"] * 50})
    pk.release(people, pk.plan(schema, records=100, k=5)).save(tmp_path / "out")
    if disk:
        on_disk()
    other = people[:rows].write_parquet

    def write(step, done):
        if step == "order":
            other(tmp_path / "out" / "data.parquet")

    with pytest.raises(pk.EnvironmentFailure, match="changed while it was verified; run it again"):
        pk.verify(tmp_path / "out", progress=write)


def test_a_file_that_cannot_be_read_again_has_no_forbidden_combinations(tmp_path, on_disk):
    schema = pk.Schema(
        [pk.Attribute("sex", ["F", "M"]), pk.Attribute("edu", ["none", "school"])],
        bundles=[pk.Bundle(["sex", "edu"], forbid=[{"sex": ["F"], "edu": ["none"]}])],
    )
    people = pl.DataFrame({"sex": ["M", "F"] * 50, "edu": ["none", "school"] * 50})
    pk.release(people, pk.plan(schema, records=100, k=5)).save(tmp_path / "out")
    on_disk()
    held = case.Case.of(tmp_path / "out")
    assert held.table is not None
    people[:60].write_parquet(tmp_path / "out" / "data.parquet")
    with pytest.raises(pk.DataError, match="not a complete Parquet file"):
        checks.combinations(held)


def test_steps_are_shown_while_rows_are_read(saved, on_disk):
    on_disk()
    told = {}
    pk.verify(saved, progress=lambda step, done: told.setdefault(step, []).append(done))
    assert {"opening", "reading", "comparing", "order", "tables"} <= set(told)
    for step in ("comparing", "order", "tables"):
        assert told[step] == sorted(told[step]), step
        assert told[step][-1] == 1.0
        assert len(set(told[step])) > 4
