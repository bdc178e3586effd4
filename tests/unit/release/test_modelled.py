"""Modelled rows: computed from the release alone, marked in every format, any number of them."""

import json

import fastexcel
import numpy as np
import polars as pl
import pyreadstat
import pytest
import tabular_files as files

import pkanon as pk
from pkanon._errors import EnvironmentFailure, InputError
from pkanon._frames import decode, encode_released
from pkanon._release.modelled import MODELLED_KEY, PIECE, SENTENCES

NAMES = ("rows.csv", "rows.parquet", "rows.feather", "rows.sav", "rows.zsav", "rows.dta", "rows.xlsx")
BESIDE = ("rows.csv", "rows.feather")


@pytest.fixture(scope="module")
def release():
    plan = pk.plan(files.SCHEMA, records=600, k=2)
    return pk.release(files.people(600), plan, randomness=pk.Seeded(3))


@pytest.fixture(scope="module")
def small():
    """Three attributes, the last one passed."""
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            pk.Attribute("job", ["a", "b", "c"]),
            pk.Attribute("year", role="pass"),
        ]
    )
    people = pl.DataFrame({"sex": ["F", "M"] * 200, "job": ["a", "b", "c", "a"] * 100, "year": [2020, 2021] * 200})
    return pk.release(people, pk.plan(schema, records=400, k=2), randomness=pk.Seeded(1), allow_pass=True)


def test_they_are_computed_from_the_released_folder_and_nothing_else(small, tmp_path):
    """What a stranger makes of the folder is what the custodian makes, who has the table: k and epsilon are those of the release."""
    small.save(tmp_path / "out")
    stranger = pk.open_release(tmp_path / "out").modelled(seed=5)
    assert stranger.table.equals(small.modelled(seed=5).table)
    assert stranger.rows == 400
    assert (
        "computed from that release and nothing else, so they tell nothing about anybody that it does not tell"
        in SENTENCES[1]
    )


def test_rows_have_the_schema_of_the_release(release):
    table = release.modelled(300, seed=1).table
    assert table.schema == release.table.schema
    assert table.height == 300


def test_seeds(release):
    first = release.modelled(400, seed=1)
    assert first.table.equals(first.table)
    assert first.table.equals(release.modelled(400, seed=1).table)
    assert not first.table.equals(release.modelled(400, seed=2).table)
    other = release.modelled(400)
    assert other.seed is None
    assert other.table.equals(other.table)
    assert not other.table.equals(release.modelled(400).table)


def test_several_draws_are_numbered_and_differ(release):
    table = release.modelled(200, draws=3, seed=1).table
    assert table.columns == [*release.table.columns, "draw"]
    assert table["draw"].value_counts().sort("draw")["count"].to_list() == [200, 200, 200]
    parts = [part.drop("draw") for part in table.partition_by("draw", maintain_order=True)]
    assert not parts[0].equals(parts[1])
    assert release.modelled(200, draws=2, seed=1).table.equals(table.filter(pl.col("draw") < 3))


def test_the_number_of_a_draw_has_a_name_of_its_own():
    schema = pk.Schema([pk.Attribute("draw", ["won", "lost"]), pk.Attribute("sex", ["F", "M"])])
    people = pl.DataFrame({"draw": ["won", "lost"] * 200, "sex": ["F", "F", "M", "M"] * 100})
    release = pk.release(people, pk.plan(schema, records=400, k=2), randomness=pk.Seeded(1))
    assert release.modelled(5, draws=2, seed=1).table.columns == ["draw", "sex", "draw_2"]


def test_columns_that_were_released_as_they_are_are_not_modelled(small):
    assert small.table.columns == ["sex", "job", "year"]
    assert small.modelled(5, seed=1).table.columns == ["sex", "job"]


def test_pieces(release):
    made = release.modelled(PIECE + 7, seed=1)
    pieces = list(made.pieces())
    assert [piece.height for piece in pieces] == [PIECE, 7]
    assert pl.concat(pieces).equals(made.table)
    assert made.table["sex"].value_counts().sort("sex")["count"].min() > PIECE // 4


@pytest.mark.parametrize("name", NAMES)
def test_every_file_holds_the_rows_and_says_that_they_are_modelled(name, release, tmp_path):
    made = release.modelled(500, seed=4)
    path = tmp_path / name
    assert made.export(path) == {}
    table = pk.TableFile(path, sheet="data" if path.suffix == ".xlsx" else None)
    assert decode(release.plan.schema, encode_released(table, release.plan.schema).codes, None).equals(made.table)
    beside = [f"{name}-metadata.json"] if name in BESIDE else []
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, *beside])
    assert "modelled" in mark_of(path)


def mark_of(path):
    """The sentence about modelled rows, from where the format keeps it."""
    if path.suffix == ".parquet":
        return json.loads(pl.read_parquet_metadata(path)[MODELLED_KEY])["sentences"][0]
    if path.suffix in (".csv", ".feather"):
        about = json.loads(path.with_name(f"{path.name}-metadata.json").read_text(encoding="utf-8"))
        assert about["url"] == path.name
        assert about[MODELLED_KEY]["rows"] == 500
        return about["dc:description"]
    if path.suffix == ".xlsx":
        return str(fastexcel.read_excel(path).load_sheet("about", header_row=None).to_polars())
    reader = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    _, about = reader(str(path), metadataonly=True)
    assert "Modelled rows" in about.file_label
    return about.file_label.lower() if path.suffix == ".dta" else " ".join(about.notes)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_files_written_piece_by_piece_hold_every_row(name, release, tmp_path):
    made = release.modelled(PIECE + 9, draws=2, seed=4)
    made.export(tmp_path / name)
    read = pl.read_csv(tmp_path / name) if name.endswith("csv") else pl.read_parquet(tmp_path / name)
    assert read.height == 2 * (PIECE + 9)
    again = made.table
    for column in ("sex", "job", "draw"):
        assert read[column].cast(pl.String).to_list() == again[column].cast(pl.String).to_list()


def test_modelled_rows_are_not_taken_for_a_release(release, tmp_path):
    release.modelled(50, seed=1).export(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="holds modelled rows, which need no correction"):
        pk.open_release(tmp_path / "rows.parquet")


def test_nothing_is_overwritten_and_nothing_half_written_stays(release, tmp_path):
    made = release.modelled(50, seed=1)
    for name, there in (("a.csv", "a.csv"), ("b.csv", "b.csv-metadata.json"), ("c.sav", "c.sav")):
        (tmp_path / there).write_text("mine")
        with pytest.raises(InputError, match="exists already and is never overwritten"):
            made.export(tmp_path / name)
        assert (tmp_path / there).read_text() == "mine"
    with pytest.raises(InputError, match="unknown ending"):
        made.export(tmp_path / "rows.docx")

    def stop(step, done):
        if done > 0:
            raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    for name in ("d.csv", "d.parquet", "d.feather"):
        with pytest.raises((KeyboardInterrupt, EnvironmentFailure)):
            release.modelled(PIECE + 1, seed=1).export(tmp_path / name, progress=stop)
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rows": 0}, "from 1 to 10,000,000,000"),
        ({"rows": 2.5}, "from 1 to 10,000,000,000"),
        ({"rows": True}, "from 1 to 10,000,000,000"),
        ({"rows": 10**20}, "from 1 to 10,000,000,000"),
        ({"draws": 0}, "from 1 to 100"),
        ({"draws": 101}, "from 1 to 100"),
        ({"seed": -1}, "at least 0"),
        ({"seed": "x"}, "at least 0"),
    ],
)
def test_refused(arguments, sentence, release):
    with pytest.raises(InputError, match=sentence):
        release.modelled(**arguments)


def test_a_release_that_claims_nothing_says_so_in_its_modelled_rows(release):
    assert release.modelled(5, seed=1).sentences[-1].startswith("The release claims nothing: The key was not")
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("job", ["a", "b", "c"])]), records=300, k=2)
    people = pl.DataFrame({"sex": ["F", "M", "M"] * 100, "job": np.array(["a", "b", "c"] * 100)})
    sound = pk.release(people, plan).modelled(5)
    assert sound.sentences[-1].startswith("The release promises, and that holds for these rows too: ")
    assert sound.certificate.statement[0] in sound.sentences[-1]
