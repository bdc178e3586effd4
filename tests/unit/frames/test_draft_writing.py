"""Drafts of text files: how dates and numbers are written, signs for missing values, spelling, delimiter and encoding."""

import datetime as dt
import gzip

import polars as pl
import pytest

from pkanon._errors import DataError, InputError
from pkanon._frames import TextFormat, draft_schema, encode
from pkanon._frames.draft.labels import near_equal
from pkanon._frames.draft.signs import numbers_apart
from pkanon._frames.draft.writing import Habits, Writing, compact_dates, dates, numbers
from pkanon._schema import Attribute

N = 120


def days(form, count=N, start=dt.date(2020, 1, 1), step=9):
    return [(start + dt.timedelta(step * i)).strftime(form) for i in range(count)]


def file(tmp_path, delimiter=";", name="t.csv", encoding="utf-8", **columns):
    """A text file with these columns, beside one that can always be randomised."""
    columns["z"] = (["p", "q"] * N)[: len(next(iter(columns.values())))]
    path = tmp_path / name
    lines = [delimiter.join(columns), *(delimiter.join(row) for row in zip(*columns.values(), strict=True))]
    path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return path


def column(made, name):
    return next(found for found in made.columns if found.name == name)


@pytest.mark.parametrize(
    "form",
    [
        *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d"),
        *("%d-%b-%Y", "%d %b %Y", "%d%b%Y"),
    ],
)
def test_dates_in_the_ways_that_people_write_them(form, tmp_path):
    path = file(tmp_path, d=[*days(form), "NA", ""])
    made = draft_schema(path)
    attribute = made.schema.attribute("d")
    assert (attribute.type, attribute.date_format, attribute.missing) == ("date", form, "value")
    assert column(made, "d").written == f"dates as {form}"
    assert encode(path, made.schema, text=made.text).rows == N + 2


def test_the_day_and_the_month_are_not_guessed(tmp_path):
    both = ["05/04/2020", "11/12/2021", "01/02/2022"] * 40
    made = draft_schema(file(tmp_path, d=both))
    assert made.schema.attribute("d") == Attribute("d", role="undecided")
    assert any("'d' holds dates, with the day or the month first" in line for line in made.warnings)
    # another column of the same file shows it
    for form in ("%d/%m/%Y", "%m-%d-%Y"):
        made = draft_schema(file(tmp_path, d=both, e=days(form)))
        assert made.schema.attribute("d").date_format == form.replace("-", "/")
    # unless two columns disagree
    made = draft_schema(file(tmp_path, d=both, e=days("%d/%m/%Y"), f=days("%m/%d/%Y")))
    assert made.schema.attribute("d").role == "undecided"
    # points are written with the day first only
    assert [way.date_format for way in dates(pl.Series(["05.04.2020"]))] == ["%d.%m.%Y"]


def test_bins_from_zero_are_said_to_open_downwards(tmp_path):
    from_zero = draft_schema(file(tmp_path, a=[str(7 * (i // 2)) for i in range(N)]))
    assert from_zero.schema.attribute("a").domain.edges[0] == 0
    assert "Where nothing can be below 0" in from_zero.to_toml().split("\n\n")[0]
    above = draft_schema(file(tmp_path, name="above.csv", a=[str(5_000 + 7 * (i // 2)) for i in range(N)]))
    assert "below 0" not in above.to_toml()


@pytest.mark.parametrize("written", ["{},50 €", "${}.50", "{}%", "{} km"])
def test_numbers_with_a_unit_are_told(tmp_path, written):
    made = draft_schema(file(tmp_path, d=[written.format(i % 80) for i in range(120)]))
    assert (column(made, "d").drafted_as, column(made, "d").warning) == ("undecided", "numbers with a unit")


def test_what_is_no_date(tmp_path):
    for texts in (["31/12/2020", "12/31/2020"], ["31/02/2020"], ["1/2/20"], ["01/02/0020"], ["1.2.3"]):
        assert dates(pl.Series(texts)) == []
    for texts in (["20200101", "20200102"], ["20200101", "20200102", "20201301"], ["12345678"] * 3):
        assert compact_dates(pl.Series(texts).unique()) == []
    made = draft_schema(file(tmp_path, d=days("%d/%m/%y"), e=[f"{day} 10:30" for day in days("%d/%m/%Y")]))
    assert [found.drafted_as for found in made.columns] == ["undecided", "undecided", "list"]
    assert column(made, "d").warning == "dates with years of two digits"
    assert column(made, "e").warning == "dates with a time of day"
    assert any("'e'" in warning and 'date_format, such as "%Y-%m-%d %H:%M"' in warning for warning in made.warnings)
    for form in ("%d/%m/%Y", "%Y-%m-%d"):  # a frame has a type for dates; texts are not converted behind anybody's back
        made = draft_schema(pl.DataFrame({"d": days(form), "z": ["p", "q"] * 60}))
        assert (made.columns[0].drafted_as, made.columns[0].warning) == ("undecided", "dates as texts")


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["1,5", "2", "-0,25"], [(",", None)]),
        (["1.234,5", "0,75", "12"], [(",", ".")]),
        (["1,234.5", "12"], [(".", ",")]),
        (["1,234,567", "12"], [(None, ",")]),
        (["1.234.567", "12"], [(None, ".")]),
        (["1 234,5", "12"], [(",", " ")]),
        (["1'234", "12"], [(None, "'")]),
        (["1\u00a0234", "12"], [(None, "\u00a0")]),
        (["1,234", "12"], [(",", None), (None, ",")]),  # one and a bit, or a thousand
        (["1,234", "0,125"], [(",", None)]),
        (["1,234", "1234"], [(",", None)]),  # who writes marks between thousands writes them everywhere
        (["1,23", "1.5"], []),
        (["12,34,567"], []),
        (["abc"], []),
    ],
)
def test_marks_in_numbers(texts, found):
    assert [(way.decimal, way.thousands) for way in numbers(pl.Series(texts))] == found


def test_numbers_with_commas_are_read(tmp_path):
    path = file(
        tmp_path, weight=[f"{60 + i // 4},{i % 4}" for i in range(N)], cost=[f"{i}.234,50" for i in range(1, N + 1)]
    )
    made = draft_schema(path)
    weight, cost = made.schema.attribute("weight"), made.schema.attribute("cost")
    assert (weight.type, weight.decimal, cost.decimal, cost.thousands) == ("number", ",", ",", ".")
    assert cost.domain.edges[0] == 0
    assert cost.domain.edges[-1] > 100_000
    assert column(made, "cost").written == "decimal commas and points between thousands"
    assert encode(path, made.schema, text=made.text).rows == N


def test_a_mark_that_may_mean_two_things_is_not_guessed(tmp_path):
    unclear = [f"{1 + i % 60},{100 + i % 60}" for i in range(N)]
    points = [text.replace(",", ".") for text in unclear]
    made = draft_schema(file(tmp_path, u=unclear))
    assert (made.schema.attribute("u").role, column(made, "u").warning) == (
        "undecided",
        "numbers, with a mark for decimals or for thousands",
    )
    assert draft_schema(file(tmp_path, u=points)).schema.attribute("u").role == "undecided"
    decimal = draft_schema(file(tmp_path, u=unclear, v=[f"0,{i}" for i in range(1, N + 1)])).schema.attribute("u")
    assert (decimal.type, decimal.decimal) == ("number", ",")
    thousands = draft_schema(file(tmp_path, u=points, v=[f"0,{i}" for i in range(1, N + 1)])).schema.attribute("u")
    assert (thousands.type, thousands.thousands) == ("integer", ".")
    plain = draft_schema(file(tmp_path, delimiter=",", u=points)).schema.attribute("u")  # commas are delimiters here
    assert (plain.type, plain.thousands) == ("number", None)


def test_habits():
    comma, both = Writing("number", decimal=","), [Writing("number", decimal=","), Writing("integer", thousands=",")]
    assert Habits.of([comma], commas=False).choice(both) == both[0]
    assert Habits.of([Writing("number", decimal=".")], commas=True).choice(both) == both[1]
    assert Habits.of([], commas=True).choice(both) is None
    assert Habits.of([comma, Writing("number", decimal=".")], commas=False).choice(both) is None


def test_signs_for_a_missing_value(tmp_path):
    ages = [str(20 + i % 60) for i in range(N)]
    made = draft_schema(
        file(
            tmp_path,
            age=[*ages, "-9", "N", "NA", ".", "unknown", "999"],
            code=["1", "2"] * 60 + ["-9", "-99", "-8", "1", "2", "?"],
            answer=["none", "N", "unknown"] * 40 + ["NA", "-9", " ", "none", "?", "."],
        )
    )
    age, code, answer = made.schema.attributes[:3]
    assert (age.type, age.missing, sorted(age.missing_values)) == (
        "integer",
        "value",
        [*sorted(["-9", "N", "NA", ".", "unknown", "999"])],
    )
    assert age.domain.edges[-1] <= 100
    assert (code.domain.low, code.domain.high, sorted(code.missing_values)) == (1, 2, ["-8", "-9", "-99", "?"])
    assert list(answer.domain.values) == ["N", "none", "unknown"]  # they may be answers
    assert sorted(answer.missing_values) == [" ", "-9", ".", "?", "NA"]
    assert "signs for a missing value: 6" in column(made, "age").note
    assert (column(made, "age").warning, column(made, "code").warning) == (
        "signs for missing: 2",
        "signs for missing: 3",
    )
    assert not any(sign in "".join(made.warnings) for sign in ("-9", "999", "unknown"))


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([-9, 0, 1], [-9]),
        ([-99, -9, 0, 1, 2], [-99, -9]),
        ([-9, -3, 0, 1], []),  # -3 is a number like any other
        ([-9, 0], []),
        ([1, 2, 3, 999], [999]),
        ([0, 1, 5, 99], [99]),
        ([60, 61, 98, 99], []),  # the next one is near
        ([0.5, 1.5, 9999.0], [9999.0]),
        ([1, 2, 1000], []),
        ([0, 9, 99999], [99999]),
    ],
)
def test_numbers_that_stand_apart(values, found):
    assert numbers_apart(pl.Series(values)) == found


def test_a_sign_among_typed_numbers_is_told_and_kept():
    made = draft_schema(pl.DataFrame({"a": [1, 2, 3, -9] * 30, "z": ["p", "q"] * 60}))
    assert made.schema.attribute("a") == Attribute("a", [-9, 1, 2, 3])
    assert made.columns[0].warning == "a sign for missing?"


def test_labels_that_are_nearly_equal_are_proposed_as_one(tmp_path):
    answers = ["yes"] * 50 + ["Yes"] * 20 + ["no "] * 30 + ["no"] * 20
    path = file(tmp_path, smoker=answers)
    made = draft_schema(path)
    assert made.schema.attribute("smoker") == Attribute("smoker", ["no", "yes"], merge={"no": ["no "], "yes": ["Yes"]})
    assert (made.columns[0].size, made.columns[0].warning) == (2, "near-equal labels: 2")
    assert not any(label in made.comments[0][1] for label in ("yes", "Yes", "no "))
    assert encode(path, made.schema, text=made.text).rows == N
    values = pl.Series(["A  b", "a b", " A b", "c"])
    assert near_equal(values, pl.Series([3, 3, 1, 9])) == {"A b": (" A b", "A  b", "a b")}
    assert near_equal(pl.Series(["a", "b", "c "]), pl.Series([1, 1, 1])) == {}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("zipped", [False, True])
def test_delimiter_and_encoding_are_guessed_and_told(delimiter, encoding, zipped, tmp_path):
    text = "é" if encoding != "cp1252" else "€"
    path = file(tmp_path, delimiter, encoding=encoding, town=["Bari", text * 3] * 60, size=["1", "2"] * 60)
    if zipped:
        path.with_suffix(".csv.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = path.with_suffix(".csv.gz")
    made = draft_schema(path)
    assert made.schema.names == ("town", "size", "z")
    assert made.text.delimiter == (None if delimiter == "," else delimiter)
    assert made.text.encoding == (None if encoding.startswith("utf-8") else encoding)
    assert list(made.schema.attribute("town").domain.values) == ["Bari", text * 3]
    assert encode(path, made.schema, text=made.text).rows == N


def test_the_name_of_a_file_says_what_is_usual(tmp_path):
    path = file(tmp_path, "\t", name="t.TSV", a=["x,1", "y,2"] * 60)
    assert (draft_schema(path).text, draft_schema(path).schema.names) == (TextFormat(), ("a", "z"))
    path = file(tmp_path, ",", name="t.tab", a=["x", "y"] * 60)
    assert draft_schema(path).text == TextFormat(delimiter=",")


def test_what_is_given_is_not_guessed(tmp_path):
    path = file(tmp_path, ";", a=["x,1", "y,2"] * 60)
    assert draft_schema(path, text=TextFormat(delimiter=";")).text == TextFormat(delimiter=";")
    with pytest.raises(DataError):
        draft_schema(path, text=TextFormat(delimiter=","))
    path = file(tmp_path, a=["é", "b"] * 60, encoding="latin-1")
    with pytest.raises(DataError, match="encoding"):
        draft_schema(path, text=TextFormat(encoding="utf-8"))


def test_some_columns_only(tmp_path):
    path = file(tmp_path, a=["x", "y"] * 60, b=["1", "2"] * 60, c=["k", "l"] * 60)
    made = draft_schema(path, columns=["c", "a"])
    assert (made.schema.names, made.schema.others) == (("c", "a"), "drop")
    assert [found.name for found in made.columns] == ["c", "a"]
    assert encode(path, made.schema, text=made.text).rows == N
    with pytest.raises(DataError, match="no column 'd'"):
        draft_schema(path, columns=["a", "b", "d"])
    for wrong in ([], "a", ["a", "a"]):
        with pytest.raises(InputError, match="a list of different names"):
            draft_schema(path, columns=wrong)


def test_an_id_that_repeats_stays_though_nobody_asked_for_it(tmp_path):
    path = file(tmp_path, patient=[f"P{i % 50:03}" for i in range(N)], a=["x", "y"] * 60, town=["k", "l"] * 60)
    made = draft_schema(path, columns=["a"])
    assert [(attribute.name, attribute.role) for attribute in made.schema.attributes] == [
        ("a", "randomise"),
        ("patient", "undecided"),
    ]
    path = file(tmp_path, x=[f"AB{i % 60:05}" for i in range(N)], a=["x", "y"] * 60)
    made = draft_schema(path, columns=["a"])
    assert made.schema.names == ("a",)  # it may be a code as well, which is told
    assert any("'x' repeats, and its values are written alike" in line for line in made.warnings)
