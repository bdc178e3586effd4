"""Counts at scale: a release on a disk answers as one in memory does, reads only what it needs, and in one pass."""

import numpy as np
import polars as pl
import pytest
from mixed import make_schema, make_table
from streaming import streamed

import pkanon as pk
from pkanon._estimate import StoredCodes
from pkanon._release import stored

ROWS = 8_000


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    plan = pk.plan(make_schema(), records=ROWS, k=1.5)
    whole = pk.release(make_table(ROWS), plan, randomness=pk.Seeded(7), allow_pass=True)
    whole.save(folder / "out", format="both")
    return whole, folder / "out"


@pytest.fixture(params=["kept in memory", "read in pieces", "spooled", "csv"])
def other(request, releases, tmp_path, monkeypatch):
    """The same release, its rows on a disk."""
    whole, folder = releases
    if request.param == "spooled":
        monkeypatch.setattr("pkanon._engines.streaming.columns.PIECE", 1_000)
        return streamed(make_table(ROWS), whole.plan, tmp_path)
    if request.param != "kept in memory":
        monkeypatch.setattr(stored, "ROOM", 0)
    if request.param == "csv":
        rows = stored.FileRows(folder / "data.csv", whole.plan, ROWS)
        return stored.StoredRelease.of(whole.plan, whole.certificate, rows)
    return pk.open_release(folder)


QUESTIONS = {
    "crosstab": lambda r: r.crosstab("Region", "rooms").to_polars(),
    "bundle": lambda r: r.crosstab("age", "floor", about="population").to_polars(),
    "em": lambda r: r.crosstab("rooms", "children", method="em").to_polars(),
    "merged": lambda r: r.crosstab("Region", "rooms", merge={"Region": {"top": ["north"], "rest": "*"}}).to_polars(),
    "weights": lambda r: r.crosstab("Region", weights="year").to_polars(),
    "randomised weights": lambda r: r.crosstab("Region", weights="rooms").to_polars(),
    "query": lambda r: r.query("SELECT Region, COUNT(*), AVG(rooms) FROM release GROUP BY Region").to_polars(),
    "describe": lambda r: r.describe("rooms", "children", by=["Region"]).to_polars(),
    "correlations": lambda r: r.correlations("rooms", "children", "floor", "Region").to_polars(),
    "regress": lambda r: r.regress("rooms ~ children + Region").to_polars(),
    "weighted regress": lambda r: r.regress("rooms ~ children", weights="year").to_polars(),
    "table": lambda r: r.table,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_answers(releases, other, question):
    whole, _ = releases
    assert isinstance(other.codes, StoredCodes)
    one, two = QUESTIONS[question](whole), QUESTIONS[question](other)
    assert one.columns == two.columns
    for name in one.columns:
        if one[name].dtype.is_float():  # sums of weights are added up in another order
            assert np.allclose(one[name].to_numpy(), two[name].to_numpy(), rtol=1e-9, equal_nan=True)
        else:
            assert one[name].equals(two[name])


class Watched:
    """The columns that were read, pass by pass."""

    def __init__(self, release):
        self.passes = []
        file = release.codes._file
        honest = file.batches

        def batches(names):
            self.passes.append(sorted(names))
            return honest(names)

        file.batches = batches


def test_only_the_columns_of_the_table_are_read(releases, monkeypatch):
    monkeypatch.setattr(stored, "ROOM", 0)
    opened = pk.open_release(releases[1])
    watched = Watched(opened)
    opened.crosstab("rooms", "Region")
    assert watched.passes == [["Region", "rooms"]]


def test_all_pairs_are_counted_in_one_pass(releases, monkeypatch):
    monkeypatch.setattr(stored, "ROOM", 0)
    opened = pk.open_release(releases[1])
    watched = Watched(opened)
    opened.correlations("rooms", "children", "floor", "wave")
    assert watched.passes == [["children", "floor", "rooms", "wave"]]
    watched.passes.clear()
    opened.describe("rooms", "children", by=["floor"])
    assert watched.passes == [["children", "floor", "rooms"]]
    assert opened.codes.counted == {}


def test_columns_of_a_small_release_are_read_once(releases):
    opened = pk.open_release(releases[1])
    watched = Watched(opened)
    opened.crosstab("rooms", "Region")
    opened.crosstab("Region", "floor")
    assert watched.passes == [["Region", "rooms"], ["floor"]]


def test_nothing_is_read_when_a_release_is_opened(releases, monkeypatch):
    read = []
    honest = stored.ReleasedFile.batches
    monkeypatch.setattr(stored.ReleasedFile, "batches", lambda self, names: read.append(names) or honest(self, names))
    opened = pk.open_release(releases[1])
    assert read == []
    assert opened.passed["year"].len() == ROWS
    assert read == [["year"]]


def test_a_file_that_changed_after_it_was_opened(releases, tmp_path):
    """The hash was right when it was opened; a file of another length is still seen."""
    whole, _ = releases
    whole.save(tmp_path / "out")
    opened = pk.open_release(tmp_path / "out")
    file = tmp_path / "out" / "data.parquet"
    short = pl.read_parquet(file)[:100]
    file.unlink()
    short.write_parquet(file)
    with pytest.raises(pk.PkanonError):
        opened.crosstab("rooms")


def test_rows_of_another_release_alone_in_a_file(releases, tmp_path):
    """A Parquet file without its folder has no hash to compare with: its rows are compared with its certificate."""
    _, folder = releases
    file = folder / "data.parquet"
    inside = {key: text for key, text in pl.read_parquet_metadata(file).items() if key.startswith("pkanon:")}
    pl.read_parquet(file).write_parquet(tmp_path / "same.parquet", metadata=inside)
    assert pk.open_release(tmp_path / "same.parquet").rows == ROWS
    pl.read_parquet(file).reverse().write_parquet(tmp_path / "other.parquet", metadata=inside)
    with pytest.raises(pk.DataError, match="does not hold the rows"):
        pk.open_release(tmp_path / "other.parquet")


def test_saved_once_more(releases, tmp_path, monkeypatch):
    """A release on a disk is copied a piece at a time."""
    monkeypatch.setattr(stored, "ROOM", 0)
    whole, folder = releases
    opened = pk.open_release(folder)
    opened.save(tmp_path / "again", format="both")
    for name in ("data.csv", "plan.json", "predicted.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
    assert pk.open_release(tmp_path / "again").table.equals(whole.table)
    for name in ("t.csv", "t.parquet", "t.feather", "t.dta"):
        opened.export(tmp_path / name)
        whole.export(tmp_path / f"whole-{name}")
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "whole-t.csv").read_bytes()
    assert pl.read_parquet(tmp_path / "t.parquet").equals(whole.table)
    assert pl.read_ipc(tmp_path / "t.feather").equals(whole.table)
    assert (tmp_path / "t.dta").stat().st_size == (tmp_path / "whole-t.dta").stat().st_size
