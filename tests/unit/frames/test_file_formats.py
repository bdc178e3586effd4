"""Files of every format: the same people give the same codes, whatever program wrote them."""

import datetime as dt
import io
import sys
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
import tabular_files as files

import pkanon as pk
from pkanon._cli.reading import TABLES
from pkanon._errors import DataError, InputError
from pkanon._frames import TextFormat, count_rows, draft_schema, encode, group_sizes
from pkanon._frames.read import PLAIN, open_source
from pkanon._frames.read.opening import TABLE_SUFFIXES
from pkanon._schema import Attribute, Schema

PEOPLE = files.people()
TRUTH = encode(PEOPLE, files.SCHEMA)


def at(path):
    return pk.TableFile(path, sheet="people" if path.suffix == ".xlsx" else None)


def read(table):
    source = open_source(table, PLAIN)
    return pl.concat([frame for frame, _ in source.batches(source.names)])


@pytest.mark.parametrize("name", files.WRITERS)
def test_every_format_gives_the_same_codes(name, tmp_path):
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    encoded = encode(at(path), files.SCHEMA)
    assert encoded.rows == count_rows(at(path)) == PEOPLE.height
    for column, codes in TRUTH.codes.items():
        np.testing.assert_array_equal(encoded.codes[column], codes, err_msg=column)


@pytest.mark.parametrize("name", files.WRITERS)
def test_a_table_fits_its_own_draft(name, tmp_path):
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    schema = draft_schema(at(path)).schema
    assert encode(at(path), schema).rows == PEOPLE.height
    types = {attribute.name: attribute.type for attribute in schema.attributes}
    assert types["age"] == "integer"
    assert types["born"] == "date"
    assert types["weight"] == "number"
    assert types["member"] == "boolean"
    assert types["job"] == types["sex"] == "text"


@pytest.mark.parametrize("batch", [7, 60])
@pytest.mark.parametrize("name", ["people.sav", "people.zsav", "people.dta", "people.xpt", "people.sqlite"])
def test_batches_lose_no_row(name, batch, tmp_path, monkeypatch):
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    for module in ("statistics", "sqlite"):
        monkeypatch.setattr(f"pkanon._frames.read.formats.{module}.BATCH", batch)
    encoded = encode(path, files.SCHEMA)
    assert {name: codes.tolist() for name, codes in encoded.codes.items()} == {
        name: codes.tolist() for name, codes in TRUTH.codes.items()
    }


def test_the_command_line_knows_the_same_endings():
    assert set(TABLE_SUFFIXES) - {".txt"} == set(TABLES) - {".gz"}  # a schema or a plan may well end in .txt


# Value labels


@pytest.mark.parametrize("name", ["people.sav", "people.zsav", "people.dta"])
def test_labels_are_the_values_in_the_order_of_their_codes(name, tmp_path):
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    draft = draft_schema(path)
    assert list(draft.schema.attribute("job").labels()) == ["farmer", "nurse", "retired", "teacher", None]
    assert draft.schema.attribute("member") == Attribute("member", [False, True])
    (note,) = [note for note in draft.notes if note.startswith("job")]
    assert "4 labels in the file: listed, in the order of their codes" in note
    if path.suffix != ".dta":
        assert "codes that mean missing" in note
        assert draft.schema.attribute("job").ordered
        assert note.endswith("; an order")


def test_missing_codes_are_declared_even_if_nobody_has_one(tmp_path):
    path = tmp_path / "people.sav"
    files.write_sav(PEOPLE.filter(pl.col("job").is_not_null()), path)
    assert draft_schema(path).schema.attribute("job").missing == "value"


def test_a_schema_chooses_between_labels_and_codes(tmp_path):
    path = tmp_path / "people.sav"
    files.write_sav(PEOPLE, path)
    others = [attribute for attribute in files.SCHEMA.attributes if attribute.name != "job"]
    by_code = Schema([*others, Attribute("job", [1, 2, 3, 5], missing="value")])
    as_text = Schema([*others, Attribute("job", ["1", "2", "3", "5"], missing="value")])
    truth = TRUTH.codes["job"].tolist()
    assert encode(path, by_code).codes["job"].tolist() == truth
    assert encode(path, as_text).codes["job"].tolist() == truth


def test_labels_and_codes_can_be_merged(tmp_path):
    path = tmp_path / "people.sav"
    files.write_sav(PEOPLE, path)
    others = [attribute for attribute in files.SCHEMA.attributes if attribute.name != "job"]
    truth = PEOPLE["job"].replace_strict({"farmer": 0, "nurse": 1, "teacher": 1}, default=2).to_list()
    for merge in (
        {"field": ["farmer"], "other": ["nurse", "retired", "teacher"]},
        {"field": ["1"], "other": ["2", "3", "5"]},
    ):
        schema = Schema([*others, Attribute("job", ["field", "other"], merge=merge, missing="value")])
        assert encode(path, schema).codes["job"].tolist() == truth


def test_a_column_with_an_unlabelled_value_is_a_column_of_numbers(tmp_path):
    import pyreadstat

    path = tmp_path / "scale.sav"
    table = pl.DataFrame({"trust": [0, 3, 7, 10] * 10, "t": ["a", "b"] * 20})
    labels = {"trust": {0: "none", 10: "full"}, "t": {"a": "Alpha"}}
    pyreadstat.write_sav(table, str(path), variable_value_labels=labels)
    schema = draft_schema(path).schema
    assert list(schema.attribute("trust").labels()) == [0, 3, 7, 10]
    assert list(schema.attribute("t").labels()) == ["a", "b"]
    assert encode(path, schema).codes["t"].tolist() == [0, 1] * 20


def test_without_a_schema_labels_are_compared(tmp_path):
    path = tmp_path / "people.sav"
    files.write_sav(PEOPLE, path)
    assert sorted(group_sizes(path, ["job", "sex"])) == sorted(group_sizes(PEOPLE, ["job", "sex"]))
    found = pk.anonymity_of(path, ["job"], sensitive=["sex"])
    assert found.k == 15


def test_missing_codes_of_stata_are_letters(tmp_path):
    import pyreadstat

    path = tmp_path / "letters.dta"
    table = pd.DataFrame({"job": [1, 2, "a", 1], "sex": ["F", "M", "", "F"]})
    labels = {"job": {1: "farmer", 2: "nurse", "a": "refused"}}
    pyreadstat.write_dta(table, str(path), variable_value_labels=labels, missing_user_values={"job": ["a"]})
    assert read(path).to_dict(as_series=False) == {"job": [1, 2, None, 1], "sex": ["F", "M", None, "F"]}
    draft = draft_schema(path)
    assert list(draft.schema.attribute("job").labels()) == ["farmer", "nurse", None]


def test_a_file_of_sas(tmp_path):
    path = tmp_path / "people.sas7bdat"
    files.write_sas7bdat({"age": [30.0, None, 41.0], "weight": [50.5, 70.25, None]}, path)
    assert read(path).to_dict(as_series=False) == {"age": [30, None, 41], "weight": [50.5, 70.25, None]}


def test_an_old_portable_file_of_spss(tmp_path):
    path = tmp_path / "people.por"
    files.write_por(PEOPLE, path)
    assert read(path).rename(str.lower).equals(PEOPLE.select("age", "weight", "born"))


def test_the_encoding_of_an_old_file_of_stata(tmp_path):
    import pyreadstat

    path = tmp_path / "old.dta"
    pyreadstat.write_dta(pl.DataFrame({"town": ["Forli", "Koln"]}), str(path), version=10)
    path.write_bytes(path.read_bytes().replace(b"Forli", "Forlì".encode("latin-1")))
    assert read(pk.TableFile(path, encoding="latin1"))["town"].to_list() == ["Forlì", "Koln"]


# Spreadsheets


def sheet(path, rows, name="people", start=0):
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet(name)
        date = book.add_format({"num_format": "yyyy-mm-dd"})
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                if isinstance(value, dt.date):
                    page.write_datetime(start + i, start + j, value, date)
                elif value is not None:
                    page.write(start + i, start + j, value)
        page.write_blank(start + len(rows) + 5, start, None, date)
    return path


def test_cells_of_a_sheet(tmp_path):
    rows = [
        ["code", "mixed", "size", "whole", "day"],
        ["007", 1, 1.5, 3, dt.date(2024, 2, 29)],
        ["x", "many", "NA", None, None],
    ]
    path = sheet(tmp_path / "cells.xlsx", rows, start=2)
    assert read(path).to_dict(as_series=False) == {
        "code": ["007", "x"],
        "mixed": ["1", "many"],
        "size": [1.5, None],
        "whole": [3, None],
        "day": [dt.datetime(2024, 2, 29), None],
    }


def test_the_first_line_of_a_sheet_may_be_a_row(tmp_path):
    path = sheet(tmp_path / "rows.xlsx", [["Ada", 1815], ["Grace", 1906]])
    with pytest.raises(DataError, match="holds a number or a date where a name is expected"):
        draft_schema(path)
    with pytest.raises(DataError, match="Does the first line of the file name the columns") as caught:
        encode(path, Schema([Attribute("name", ["a", "b"]), Attribute("year", [1, 2])]))
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [(["a", "a"], "'a' occurs more than once"), (["a", None], "A column has no name")],
)
def test_names_of_columns_of_a_sheet(tmp_path, names, sentence):
    path = sheet(tmp_path / "names.xlsx", [names, ["x", "y"]])
    with pytest.raises(DataError, match=sentence):
        encode(path, Schema([Attribute("a", ["x", "y"])]))


def test_which_sheet(tmp_path):
    path = tmp_path / "people.xlsx"
    files.write_xlsx(PEOPLE, path)
    with pytest.raises(InputError, match=r"has 2 sheets; name one with sheet= .*Available: notes, people\."):
        count_rows(path)
    with pytest.raises(InputError, match=r"has no sheet 'peple'\. .*Did you mean 'people'"):
        count_rows(pk.TableFile(path, sheet="peple"))
    assert count_rows(sheet(tmp_path / "one.xlsx", [["a"], ["x"]])) == 1
    with pytest.raises(DataError, match="is empty"):
        count_rows(sheet(tmp_path / "none.xlsx", []))


# Archives and standard input


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as zipped:
        for name, text in members.items():
            zipped.writestr(name.replace("_DOT_", "."), text)
    return path


def test_which_file_of_an_archive(tmp_path):
    two = archive(tmp_path / "two.zip", a_DOT_csv="x\n1\n", b_DOT_csv="x\n1\n2\n")
    with pytest.raises(
        InputError, match=r"holds 2 files; name one with member= \(--member\)\. Available: a\.csv, b\.csv"
    ):
        count_rows(two)
    with pytest.raises(InputError, match=r"holds no file 'c\.csv'"):
        count_rows(pk.TableFile(two, member="c.csv"))
    assert count_rows(pk.TableFile(two, member="b.csv")) == 2
    with pytest.raises(InputError, match="has an unknown ending"):
        count_rows(archive(tmp_path / "exe.zip", a_DOT_exe="x"))
    with pytest.raises(DataError, match="holds no file"):
        count_rows(archive(tmp_path / "none.zip"))
    latin = archive(tmp_path / "latin.zip", a_DOT_csv="a;b\nì;1\nx;2\n".encode("latin-1"))
    assert read(pk.TableFile(latin, delimiter=";", encoding="latin-1"))["a"].to_list() == ["ì", "x"]


@pytest.mark.parametrize("cut", [1, 4, 20, 31])
def test_an_archive_without_its_beginning_is_damaged(tmp_path, cut):
    """Places in it then lie before its first byte."""
    whole = archive(tmp_path / "whole.zip", a_DOT_csv="sex\n" + "F\nM\n" * 50)
    (tmp_path / "cut.zip").write_bytes(whole.read_bytes()[cut:])
    with pytest.raises(DataError, match="is a damaged or incomplete zip archive"):
        count_rows(tmp_path / "cut.zip")


class Input:
    """Standard input, as a pipe."""

    def __init__(self, data, terminal=False):
        self.buffer, self._terminal = io.BytesIO(data), terminal

    def isatty(self):
        return self._terminal


def test_standard_input_is_read_once_and_kept(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(b"sex;age\nF;1\nM;2\n"))
    table = pk.TableFile("-", delimiter=";")
    schema = Schema([Attribute("sex", ["F", "M"]), Attribute.ranged("age", 0, 9)])
    assert count_rows(table) == 2
    assert encode(table, schema).codes["age"].tolist() == [1, 2]


def test_standard_input_of_a_terminal_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(b"", terminal=True))
    with pytest.raises(InputError, match="is a terminal"):
        count_rows("-")
    monkeypatch.setattr(sys, "stdin", Input(b""))
    with pytest.raises(DataError, match="standard input is empty"):
        count_rows("-")


# Wrong options


@pytest.mark.parametrize(
    ("name", "option", "sentence"),
    [
        ("people.csv", {"sheet": "x"}, r"sheet= \(--sheet\) is for spreadsheets"),
        ("people.sav", {"query": "x"}, r"query= \(--query\) is for databases"),
        ("people.sqlite", {"sheet": "x"}, "is for spreadsheets"),
        ("people.parquet", {"member": "x"}, "is for zip archives"),
    ],
)
def test_options_that_a_file_does_not_take(name, option, sentence, tmp_path):
    path = tmp_path / name
    files.WRITERS[name](PEOPLE, path)
    with pytest.raises(InputError, match=sentence):
        count_rows(pk.TableFile(path, **option))


def test_a_place_must_be_a_path():
    with pytest.raises(InputError, match="given by its path"):
        pk.TableFile(PEOPLE)


def test_the_text_format_of_a_call_and_of_a_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a;b\n1;2\n")
    assert count_rows(path, text=TextFormat(delimiter=";")) == 1
    assert count_rows(pk.TableFile(path, delimiter=";")) == 1
