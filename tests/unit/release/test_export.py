"""Rows of a release for other programs: labels, dates and missing values survive, and the file reads as the release."""

import datetime as dt
import sys

import fastexcel
import numpy as np
import polars as pl
import pyreadstat
import pytest
import tabular_files as files

import pkanon as pk
from pkanon._errors import EnvironmentFailure, InputError
from pkanon._frames import encode_released
from pkanon._frames.write.spreadsheet import MOST_ROWS, write_sheet
from pkanon._frames.write.statistics import file_names

NAMES = ("rows.csv", "rows.parquet", "rows.feather", "rows.sav", "rows.zsav", "rows.dta", "rows.xlsx")


@pytest.fixture(scope="module")
def release():
    plan = pk.plan(files.SCHEMA, records=600, k=2)
    return pk.release(files.people(600), plan, randomness=pk.Seeded(3))


@pytest.mark.parametrize("name", NAMES)
def test_the_file_holds_the_rows_of_the_release(name, release, tmp_path):
    path = tmp_path / name
    assert release.export(path) == {}
    table = pk.TableFile(path, sheet="data" if path.suffix == ".xlsx" else None)
    read = encode_released(table, release.plan.schema)
    for column, codes in release.codes.items():
        np.testing.assert_array_equal(read.codes[column], codes, err_msg=column)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["rows.sav", "rows.dta"])
def test_labels_stand_for_the_whole_domain(name, release, tmp_path):
    release.export(tmp_path / name)
    reader = pyreadstat.read_sav if name.endswith("sav") else pyreadstat.read_dta
    frame, about = reader(str(tmp_path / name), output_format="polars")
    assert about.variable_value_labels["job"] == {1: "farmer", 2: "nurse", 3: "retired", 4: "teacher"}
    assert list(about.variable_value_labels["born"].values()) == [
        str(label) for label in release.plan.schema.attribute("born").labels() if label is not None
    ]
    assert about.variable_value_labels["member"] == {0: "false", 1: "true"}
    assert frame["job"].null_count() == release.table["job"].null_count() > 0
    assert "biased" in about.file_label
    if name == "rows.sav":
        measures = {
            "sex": "nominal",
            "job": "nominal",
            "age": "scale",
            "weight": "scale",
            "born": "ordinal",
            "member": "nominal",
        }
        assert about.variable_measure == measures


def test_a_parquet_file_carries_its_plan(release, tmp_path):
    release.export(tmp_path / "rows.parquet")
    assert pk.open_release(tmp_path / "rows.parquet").certificate.to_json() == release.certificate.to_json()


def test_a_workbook_says_what_its_rows_are(release, tmp_path):
    release.export(tmp_path / "rows.xlsx")
    about = fastexcel.read_excel(str(tmp_path / "rows.xlsx")).load_sheet("about", header_row=None).to_polars()
    said = about.to_series().to_list()
    assert any("biased" in sentence for sentence in said)
    assert release.certificate.statement[0] in said


def test_a_workbook_does_not_promise_without_saying_what_it_rests_on(tmp_path):
    people = pl.DataFrame({"sex": ["F", "M"] * 300})
    release = pk.release(
        people, pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=500, k=5, hide_count="9/10")
    )
    release.export(tmp_path / "rows.xlsx")
    about = fastexcel.read_excel(str(tmp_path / "rows.xlsx")).load_sheet("about", header_row=None).to_polars()
    said = " ".join(about.to_series())
    for sentence in (*release.certificate.statement, *release.certificate.assumptions, *release.certificate.outside):
        assert sentence in said


def test_passed_columns_and_dates(tmp_path):
    schema = pk.Schema(
        [
            pk.Attribute("day", [dt.date(1999, 12, 31), dt.date(2024, 2, 29)], missing="value"),
            pk.Attribute("note", role="pass"),
            pk.Attribute("size", role="pass", type="number"),
        ]
    )
    people = pl.DataFrame(
        {
            "day": [dt.date(1999, 12, 31), None] * 50,
            "note": ["=1+1", "http://x.example"] * 50,
            "size": [1.5, None] * 50,
        }
    )
    plan = pk.plan(schema, records=100, k=2)
    release = pk.release(people, plan, allow_pass=True, randomness=pk.Seeded(3))
    for name in NAMES[2:]:
        release.export(tmp_path / name)
        table = pk.TableFile(tmp_path / name, sheet="data" if name.endswith("xlsx") else None)
        read = encode_released(table, schema)
        assert read.codes["day"].tolist() == release.codes["day"].tolist()
        assert read.passed["note"].to_list() == release.passed["note"].to_list()
        assert read.passed["size"].to_list() == release.passed["size"].to_list()


def test_names_that_a_program_does_not_take(tmp_path):
    assert file_names(["a", "A", "in", "1st", "marital-status", "é"], ".dta") == {
        "a": "a",
        "A": "A_2",
        "in": "v_in",
        "1st": "v_1st",
        "marital-status": "marital_status",
        "é": "v__",
    }
    long = [f"{'x' * 40}{i}" for i in range(12)]
    short = file_names(long, ".dta")
    assert len(set(short.values())) == 12
    assert max(map(len, short.values())) <= 32
    schema = pk.Schema([pk.Attribute("marital-status", ["a", "b"]), pk.Attribute("with", ["a", "b"])])
    people = pl.DataFrame({"marital-status": ["a", "b"] * 50, "with": ["a", "b"] * 50})
    release = pk.release(people, pk.plan(schema, records=100, k=2), randomness=pk.Seeded(3))
    for name in ("rows.sav", "rows.dta"):
        renamed = release.export(tmp_path / name)
        assert renamed == {"marital-status": "marital_status", "with": "v_with"}
        reader = pyreadstat.read_sav if name.endswith("sav") else pyreadstat.read_dta
        _, about = reader(str(tmp_path / name), output_format="polars")
        assert about.column_names_to_labels == {"marital_status": "marital-status", "v_with": "with"}


def test_what_a_format_does_not_take(release, tmp_path):
    with pytest.raises(InputError, match="has an unknown ending; a release is exported to"):
        release.export(tmp_path / "rows.docx")
    with pytest.raises(InputError, match="holds 1,048,575 rows"):
        write_sheet(pl.DataFrame({"a": pl.repeat(1, MOST_ROWS + 1, eager=True)}), tmp_path / "big.xlsx", [])
    (tmp_path / "there.sav").write_bytes(b"kept")
    with pytest.raises(InputError, match="never overwritten"):
        release.export(tmp_path / "there.sav")
    assert (tmp_path / "there.sav").read_bytes() == b"kept"
    with pytest.raises(InputError, match="its folder does not exist"):
        release.export(tmp_path / "nowhere" / "rows.sav")
    label = "ì" * 61
    schema = pk.Schema([pk.Attribute("sex", [label, "M"])])
    long = pk.release(pl.DataFrame({"sex": [label, "M"] * 50}), pk.plan(schema, records=100, k=2))
    with pytest.raises(InputError, match="more than 120 bytes"):
        long.export(tmp_path / "long.sav")
    long.export(tmp_path / "long.dta")


@pytest.mark.parametrize(
    ("name", "package", "extra"), [("r.sav", "pyreadstat", "statistics"), ("r.xlsx", "xlsxwriter", "excel")]
)
def test_packages_that_are_missing(name, package, extra, release, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EnvironmentFailure, match=f'install the extra "{extra}"'):
        release.export(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
