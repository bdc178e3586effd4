"""Texts in another notation: 29/02/2024, 1.234,5. Read strictly, in that notation and in no other."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pkanon as pk
from pkanon._frames import encode
from pkanon._schema.toml import parse

MARKER = "77/88/9999"


def date_code(text, date_format):
    """What a text is read as: a date, or None."""
    attribute = pk.Attribute.binned(
        "x", edges=[dt.date(2000, 1, 1)], open="both", date_format=date_format, other="other", missing="value"
    )
    exact = pk.Attribute("x", DAYS, type="date", date_format=date_format, other=dt.date(1900, 1, 1), missing="value")
    codes = [int(encode(pl.DataFrame({"x": [text]}), pk.Schema([a])).codes["x"][0]) for a in (attribute, exact)]
    assert (codes[0] == 2) == (codes[1] == len(DAYS))  # other in both or in neither
    return exact.label(codes[1]) if codes[1] != len(DAYS) else "refused"


DAYS = [dt.date(2024, 2, 1), dt.date(2024, 1, 2), dt.date(2024, 11, 2), dt.date(2024, 12, 1), dt.date(2024, 2, 29)]
FEBRUARY, JANUARY = DAYS[:2]


@pytest.mark.parametrize(
    ("date_format", "text", "expected"),
    [
        ("%d/%m/%Y", "01/02/2024", FEBRUARY),
        ("%d/%m/%Y", "1/2/2024", FEBRUARY),
        ("%m/%d/%Y", "01/02/2024", JANUARY),
        ("%d.%m.%Y", "29.02.2024", DAYS[4]),
        ("%d/%m/%Y", "29/02/2023", "refused"),
        ("%d/%m/%Y", "01/02/24", "refused"),
        ("%d/%m/%Y", "01/02/02024", "refused"),
        ("%d/%m/%Y", "01/02/0000", "refused"),
        ("%d/%m/%Y", "+1/02/2024", "refused"),
        ("%d/%m/%Y", " 01/02/2024", "refused"),
        ("%d/%m/%Y", "01/02/2024 ", "refused"),
        ("%d/%m/%Y", "01-02-2024", "refused"),
        ("%d/%m/%Y", "2024-02-01", "refused"),
        ("%d/%m/%Y", "01/02/2024 10:30", "refused"),
        ("%d/%m/%Y", "001/02/2024", "refused"),
        ("%d/%m/%Y", "", None),
        ("%d/%m/%Y %H:%M", "01/02/2024 10:30", FEBRUARY),
        ("%d/%m/%Y %H:%M", "01/02/2024 24:30", "refused"),
        ("%d/%m/%Y %H:%M", "01/02/2024", "refused"),
        ("%Y-%m-%dT%H:%M:%SZ", "2024-02-01T23:59:59Z", FEBRUARY),
        ("%m/%d/%Y %I:%M %p", "2/1/2024 9:05 pm", FEBRUARY),
        ("%I:%M:%S %p, %B %d %Y", "12:00:01 AM, february 1 2024", FEBRUARY),
        ("%d/%m/%Y %H", "1/2/2024 7", FEBRUARY),
        ("%d-%b-%Y %Hh", "1-Feb-2024 23h", FEBRUARY),
        ("%d/%m/%Y %H:%S", "29/02/2023 07:10", "refused"),
        ("%d/%m/%Y %H:%M", "29/02/2023 07:10", "refused"),
        ("%d%m%Y", "01022024", FEBRUARY),
        ("%d%m%Y", "1122024", "refused"),  # 1 December or 11 February
        ("%Y%m%d", "20240201", FEBRUARY),
        ("%d %b %Y", "1 feb 2024", FEBRUARY),
        ("%d %b %Y", "1 February 2024", "refused"),
        ("%B %d, %Y", "February 1, 2024", FEBRUARY),
        ("%d%b%Y", "01FEB2024", FEBRUARY),
        ("%d/%m/%Y (%%)", "01/02/2024 (%)", FEBRUARY),
    ],
)
def test_dates(date_format, text, expected):
    assert date_code(text, date_format) == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)), min_size=1, max_size=20, unique=True))
def test_every_date_is_read_back(days):
    listed = sorted({*days, dt.date(2000, 1, 1), dt.date(2000, 1, 2)})
    for date_format in ("%d/%m/%Y", "%Y%m%d", "%d. %B %Y", "%b %d %Y %H"):
        schema = pk.Schema([pk.Attribute("x", listed, date_format=date_format)])
        written = [_written(day, date_format) for day in listed]
        np.testing.assert_array_equal(encode(pl.DataFrame({"x": written}), schema).codes["x"], range(len(listed)))


def _written(day, date_format):
    return day.strftime(date_format.replace("%Y", f"{day.year:04}"))


def number(text, type="number", **notation):
    attribute = pk.Attribute("x", [1234, 1, 1234567], type=type, other=0, missing="value", **notation)
    if type == "number":
        attribute = pk.Attribute("x", [1234.5, 1.5, 1234567.0], type=type, other=0, missing="value", **notation)
    code = int(encode(pl.DataFrame({"x": [text]}), pk.Schema([attribute])).codes["x"][0])
    return "refused" if code == 3 else attribute.label(code)


@pytest.mark.parametrize(
    ("notation", "text", "expected"),
    [
        ({"decimal": ","}, "1234,5", 1234.5),
        ({"decimal": ","}, "1,5e0", 1.5),
        ({"decimal": ","}, "+1,5", 1.5),
        ({"decimal": ","}, "1.5", "refused"),
        ({"decimal": ","}, "1.234,5", "refused"),
        ({"decimal": ","}, "1,234,5", "refused"),
        ({"decimal": ","}, "nan", None),
        ({"decimal": ","}, "  ", None),
        ({"decimal": ",", "thousands": "."}, "1.234,5", 1234.5),
        ({"decimal": ",", "thousands": "."}, "1234,5", 1234.5),
        ({"decimal": ",", "thousands": "."}, "1.5", "refused"),
        ({"decimal": ",", "thousands": "."}, "12.34,5", "refused"),
        ({"decimal": ",", "thousands": "."}, "1.234.567", 1234567.0),
        ({"decimal": ",", "thousands": "."}, "1.234567", "refused"),
        ({"decimal": ",", "thousands": "."}, "1234.567", "refused"),
        ({"thousands": ","}, "1,234.5", 1234.5),
        ({"thousands": "'"}, "1'234'567", 1234567.0),
        ({"thousands": "’"}, "1’234.5", 1234.5),
        ({"thousands": " "}, " 1 234.5", 1234.5),
        ({"thousands": "\u202f", "decimal": ","}, "1\u202f234,5", 1234.5),
        ({"thousands": "\u202f", "decimal": ","}, "1 234,5", "refused"),
        ({"type": "integer", "thousands": "."}, "1.234", 1234),
        ({"type": "integer", "thousands": "."}, "1234", 1234),
        ({"type": "integer", "thousands": "."}, "1.23", "refused"),
        ({"type": "integer", "thousands": "."}, "1,234", "refused"),
    ],
)
def test_numbers(notation, text, expected):
    assert number(text, **notation) == expected


def test_files_and_frames_agree(tmp_path):
    schema = parse("""
        [attributes.day]
        type = "date"
        bins = { edges = [2023-01-01, 2024-01-01, 2025-01-01] }
        date_format = "%d/%m/%Y"
        missing = "value"
        missing_values = ["-9", "NA"]
        [attributes.paid]
        type = "number"
        bins = { edges = [0, 10, 1000, 2000] }
        decimal = ","
        thousands = "."
        missing = "value"
        missing_values = ["-9", "NA"]
        [attributes.rooms]
        range = [1, 2000]
        thousands = "."
        other = 0
        [attributes.case]
        type = "date"
        role = "id"
        date_format = "%d.%m.%Y"
    """)
    (tmp_path / "people.csv").write_text(
        "day;paid;rooms;case\n31/12/2023;9,99;1.999;01.01.2024\n1/1/2024;1.000,0;2;02.01.2024\nNA;-9;3x;03.01.2024\n",
        encoding="latin-1",
    )
    read = encode(tmp_path / "people.csv", schema, text=pk.TextFormat(delimiter=";", encoding="latin-1"))
    typed = pl.DataFrame(
        {
            "day": [dt.date(2023, 12, 31), dt.date(2024, 1, 1), None],
            "paid": [9.99, 1000.0, None],
            "rooms": [1999, 2, 5000],
            "case": [dt.date(2024, 1, day) for day in (1, 2, 3)],
        }
    )
    frame = encode(typed, schema)
    for name in ("day", "paid", "rooms"):
        np.testing.assert_array_equal(read.codes[name], frame.codes[name])
    assert pk.Plan.from_json(pk.plan(schema, records=3, k=2).to_json()).schema == pk.plan(schema, records=3, k=2).schema
    assert parse(schema.to_toml()) == schema


def test_a_passed_column_is_read_in_its_notation(tmp_path):
    (tmp_path / "people.csv").write_text('sex,weight\nF,"1,5"\nM,"2,25"\n')
    schema = pk.Schema(
        [pk.Attribute("sex", ["F", "M"]), pk.Attribute("weight", type="number", role="pass", decimal=",")]
    )
    assert encode(tmp_path / "people.csv", schema).passed["weight"].to_list() == [1.5, 2.25]


@pytest.mark.parametrize(
    ("attribute", "text", "message"),
    [
        (pk.Attribute("x", DAYS, date_format="%d/%m/%Y"), MARKER, "not a date written as %d/%m/%Y"),
        (pk.Attribute("x", [1.0, 2.0], decimal=",", thousands="."), MARKER, "not a number written as 1.234,5"),
        (pk.Attribute.ranged("x", 1, 5, thousands=" "), MARKER, "not a whole number written as 1 234"),
    ],
)
def test_errors_name_the_column_and_the_rule_and_no_value(attribute, text, message):
    with pytest.raises(pk.DataError, match=f"Column 'x': some rows hold something that is {message}") as caught:
        encode(pl.DataFrame({"x": [text]}), pk.Schema([attribute]))
    assert MARKER not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%m/%y"', "two digits can be read in two ways"),
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%Y"', "a day, a month and a year"),
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%m/%b/%Y"', "a day, a month and a year"),
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%m/%Y %d"', "a day, a month and a year"),
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%m/%Y %Z"', "it can hold"),
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%m/%Y %"', "it can hold"),
        ('type = "date"\nrole = "pass"\ndate_format = "%d/%m/%Y 0"', "has a digit"),
        ('type = "date"\nrole = "pass"\ndate_format = 3', "is a text such as"),
        ('type = "text"\nrole = "pass"\ndate_format = "%d/%m/%Y"', "belongs to the type date"),
        ('type = "integer"\nrole = "pass"\ndecimal = ","', "belongs to the type number"),
        ('type = "number"\nrole = "pass"\ndecimal = ";"', 'decimal is "." or ","'),
        ('type = "number"\nrole = "pass"\nthousands = "."', "set decimal to the other one"),
        ('type = "number"\nrole = "pass"\nthousands = ","\ndecimal = ","', "set decimal to the other one"),
        ('type = "number"\nrole = "pass"\nthousands = ";"', "one of these characters"),
        ('type = "date"\nrole = "pass"\nthousands = "."', "belongs to the types integer and number"),
        ('range = [1, 2]\ndecimal = ","', "does not belong to a range"),
    ],
)
def test_refused_notations(text, message):
    with pytest.raises(pk.SchemaError, match=message):
        parse(f"[attributes.x]\n{text}\n[attributes.y]\nvalues = [1, 2]")


def test_a_notation_is_in_a_plan_only_where_there_is_one():
    plain = pk.Attribute("x", [1.0, 2.0], decimal=".")
    assert plain == pk.Attribute("x", [1.0, 2.0])
    assert set(plain.to_json()) == {"name", "role", "type", "values"}
    written = pk.Attribute("x", [1.0, 2.0], decimal=",", thousands=".")
    assert written.to_json() == plain.to_json() | {"decimal": ",", "thousands": "."}
    assert pk.Attribute.from_json(written.to_json()) == written
