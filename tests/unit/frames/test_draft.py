"""Drafts: what is proposed, and that a table always fits its own draft."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkanon._errors import DataError, PkanonError
from pkanon._frames import TextFormat, draft_schema, encode
from pkanon._frames.draft.rounding import MOST_BINS, MOST_DATE_BINS, round_bins, round_dates
from pkanon._schema import Attribute, Schema
from pkanon._schema.domain import Bins, Listed, Range
from pkanon._schema.toml import parse

N = 600
RNG = np.random.default_rng(2)


def drafted(values, rows=N) -> tuple[Attribute, str]:
    """The attribute and the note for one column, beside one that can always be randomised; one without entry has the role drop."""
    frame = pl.DataFrame({"c": values, "z": ["p", "q"] * (rows // 2)}, strict=False)
    made = draft_schema(frame)
    assert made.schema.drafted
    assert made.rows == rows
    encode(frame, decided(made.schema))
    named = "c" in made.schema.names
    assert made.schema.others == ("refuse" if named else "drop")
    return made.schema.attribute("c") if named else Attribute("c", role="drop"), made.notes[0]


def decided(schema: Schema) -> Schema:
    """The schema in which somebody has decided to drop what was undecided."""
    attributes = [Attribute(a.name, role="drop") if a.role == "undecided" else a for a in schema.attributes]
    return Schema(attributes, others=schema.others)


def test_texts():
    attribute, note = drafted(["b", "a", "c"] * 200)
    assert attribute == Attribute("c", ["a", "b", "c"])
    assert note == "c: 3 different texts: listed"
    attribute, note = drafted([f"t{i % 51}" for i in range(N)])
    assert (attribute.role, note) == ("drop", "c: 51 different texts; declare its values to keep it: dropped")
    attribute, note = drafted([f"t{i}" for i in range(N)])
    assert (attribute.role, note) == ("undecided", "c: different in every row: undecided")
    assert drafted(["a"] * N)[0].role == "drop"
    attribute, note = drafted(["a", None] * 300)
    assert attribute == Attribute("c", ["a"], missing="value")
    assert note == "c: 1 different text: listed; some rows have no value, which counts as one more value"
    assert drafted([None] * N)[0].role == "drop"
    assert drafted(["", "a", "b"] * 200)[0] == Attribute("c", ["a", "b"], missing="value", missing_values=[""])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("PWGTP", True),
        ("fnlwgt", True),
        ("survey weight", True),
        ("finalWt", True),
        ("weight", False),
        ("Gewicht_kg", False),
    ],
)
def test_survey_weights_are_recognised_by_their_names(name, found):
    frame = pl.DataFrame({name: [i % 300 for i in range(N)], "z": ["p", "q"] * (N // 2)})
    made = draft_schema(frame)
    assert made.columns[0].warning == ("looks like a survey weight" if found else "")
    assert ("points = [0, 200, 800]" in made.to_toml().replace("\n#  ", "")) == found
    assert not draft_schema(frame.with_columns(pl.col(name) % 3)).columns[0].warning  # a list of few values


def test_integers():
    assert drafted([1, 2, 3] * 200)[0] == Attribute.ranged("c", 1, 3)
    assert drafted([1, 2, 4] * 200)[0] == Attribute("c", [1, 2, 4])
    assert drafted(list(range(N)))[0].role == "undecided"
    attribute, note = drafted(RNG.integers(0, 100, N))
    assert attribute.domain == Attribute.binned("c", start=0, stop=100, width=5, open="both").domain
    assert note.endswith("22 bins, open at both ends")
    assert drafted([1.0, 2.0, None] * 200)[0] == Attribute.ranged("c", 1, 2, missing="value")  # as pandas holds gaps
    assert (
        drafted([2**63 - 1 - i % 100 for i in range(N)])[0].role == "undecided"
    )  # long numbers, each of them a few times
    assert drafted(pl.Series([2**64 - 1 - i % 100 for i in range(N)], dtype=pl.UInt64))[0].role == "drop"  # one float


def test_outliers_do_not_set_the_bins():
    values = [*range(100)] * 6
    values[0] = 10**9
    attribute, _ = drafted(values)
    assert isinstance(attribute.domain, Bins)
    assert attribute.domain.open == "both"
    assert attribute.domain.edges[-1] <= 200


def test_numbers():
    assert drafted([0.5, 1.5] * 300)[0] == Attribute("c", [0.5, 1.5])
    attribute, _ = drafted(RNG.normal(0, 1, N))
    assert isinstance(attribute.domain, Bins)
    assert 8 <= attribute.size <= MOST_BINS + 2
    assert drafted([*RNG.normal(0, 1, N - 1), np.inf])[0].role == "drop"
    assert drafted([Decimal("0.5"), Decimal("1.5")] * 300)[0].type == "number"


def test_dates_and_booleans():
    assert drafted([True, False] * 300)[0] == Attribute("c", [False, True])
    day = dt.date(1990, 3, 5)
    attribute, _ = drafted([day + dt.timedelta(i * 12) for i in range(N)])
    assert isinstance(attribute.domain, Bins)
    assert all((edge.month, edge.day) == (1, 1) for edge in attribute.domain.edges)
    attribute, _ = drafted([day + dt.timedelta(i % 300) for i in range(N)])
    assert all(edge.day == 1 for edge in attribute.domain.edges)
    assert isinstance(drafted([day + dt.timedelta(i % 30) for i in range(N)])[0].domain, Listed)
    assert drafted([dt.datetime(2020, 1, 1 + i % 9) for i in range(N)])[0].type == "date"
    attribute, note = drafted([dt.datetime(2020, 1, 1, i % 9) for i in range(N)])
    assert (attribute.role, note) == ("drop", "c: times of day: dropped")


def test_types_that_cannot_be_drafted():
    for values in ([[1]] * N, [b"x"] * N, [dt.timedelta(1)] * N):
        assert drafted(values)[0].role == "drop"


def of_text(tmp_path, column, **text):
    path = tmp_path / "t.csv"
    path.write_text("c,z\n" + "".join(f"{value},{'pq'[i % 2]}\n" for i, value in enumerate(column)))
    made = draft_schema(path, text=TextFormat(**text))
    encode(path, decided(made.schema))
    return made.schema.attribute("c")


def test_types_of_text_files(tmp_path):
    assert of_text(tmp_path, ["1", "2", "-3"] * 20) == Attribute("c", [-3, 1, 2])
    assert of_text(tmp_path, ["1", "02"] * 20) == Attribute("c", ["02", "1"])
    assert of_text(tmp_path, ["1", "+2"] * 20).type == "text"
    assert of_text(tmp_path, ["1.5", "2"] * 20) == Attribute("c", [1.5, 2.0])
    assert of_text(tmp_path, ["true", "FALSE"] * 20) == Attribute("c", [False, True])
    assert of_text(tmp_path, ["2024-02-29", "2024-02-28"] * 20).type == "date"
    assert of_text(tmp_path, ["2024-02-30", "2024-02-28"] * 20).type == "text"
    assert of_text(tmp_path, ["1", "NA", "", "2", "?"] * 20) == Attribute.ranged(
        "c", 1, 2, missing="value", missing_values=["?", "NA"]
    )
    assert of_text(tmp_path, ["a", "b", "NA"] * 20) == Attribute(
        "c", ["a", "b"], missing="value", missing_values=["NA"]
    )
    assert of_text(tmp_path, ["a", "none"] * 20) == Attribute("c", ["a", "none"])  # "none" may well be a value
    assert of_text(tmp_path, ['""', "a", ""] * 20) == Attribute("c", ["a"], missing="value", missing_values=[""])
    assert of_text(tmp_path, ["99999999999999999999", "1"] * 20).type == "number"
    assert isinstance(of_text(tmp_path, [str(i % 40) for i in range(80)]).domain, Range)


def test_a_first_line_of_values_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2,x\n3,4,y\n")
    with pytest.raises(DataError, match="must name the columns"):
        draft_schema(path)
    for line in ("F,nurse,Paris", " F ,clerk,Rome", '"nurse","Paris","x"'):  # texts only, and some of them again below
        path.write_text(f"{line}\nM,nurse,Paris\nF,clerk,Paris\n,Paris,x\n")
        with pytest.raises(DataError, match="looks like a row: a field of it occurs again in its own column") as caught:
            draft_schema(path)
        assert not any(value in str(caught.value) for value in ("nurse", "Paris", "Rome", "clerk"))
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        draft_schema(path)


def test_a_first_line_that_may_be_anything_is_not_taken_silently(tmp_path):
    path = tmp_path / "t.csv"
    for lines, told in (
        ("name,town\nAnn,Rome\nBob,Paris\nBob,Paris\n", True),
        ("name,age\nAnn,30\nBob,31\nBob,31\n", False),  # no row of this file has a word where others have a number
        ("name,born\nAnn,2001-02-03\nBob,2001-02-04\nBob,2001-02-04\n", False),
    ):
        path.write_text(lines)
        assert any("no person's row" in line for line in draft_schema(path).warnings) == told
    frame = pl.DataFrame({"F": ["F", "M"] * 50, "Paris": ["Paris", "Rome"] * 50})  # a file read without its header
    assert "own name as a value" in draft_schema(frame).warnings[0]
    assert draft_schema(pl.DataFrame({"sex": ["F", "M"] * 50})).warnings == ()


def warnings(**columns):
    rows = len(next(iter(columns.values())))
    return draft_schema(pl.DataFrame({**columns, "z": ["p", "q"] * (rows // 2)})).warnings


@pytest.mark.parametrize("values", [[f"P{i:04}" for i in range(N)], list(range(N))], ids=["texts", "numbers"])
@pytest.mark.parametrize("name", ["case", "patient", "c"])
def test_a_draft_never_makes_an_id(name, values, tmp_path):
    frame = pl.DataFrame({name: values, "z": ["p", "q"] * (N // 2)})
    frame.write_csv(tmp_path / "t.csv")
    for table in (frame, tmp_path / "t.csv"):
        made = draft_schema(table)
        assert {attribute.role for attribute in made.schema.attributes} == {"randomise", "undecided"}
        sentence = (
            "Column 'case' holds no value twice and looks like the number of a case: a case is no person, who may have "
            "several; drop it."
            if name == "case"
            else f"Column '{name}' holds no value twice; if it identifies persons (not cases, visits or forms), "
            'make it role = "id".'
        )
        assert sentence in made.warnings
        assert f"# ! {sentence}\n" in made.to_toml().replace("\n#   ", " ")  # long comments are wrapped
        assert parse(made.to_toml()) == made.schema
        assert not any(str(value) in "".join(made.warnings) for value in values[10:])


ADMISSIONS = [i % 200 for i in range(N)]  # 200 patients with three admissions each


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient", ADMISSIONS),
        ("Patient No.", ADMISSIONS),
        ("personId", ADMISSIONS),
        ("customer_number", [f"c{i}" for i in ADMISSIONS]),
        ("SSN", [f"c{i}" for i in ADMISSIONS]),
        ("id", [i % 20 for i in range(N)]),
        ("Patientennummer", ADMISSIONS),
        ("PatNr", ADMISSIONS),
    ],
)
def test_an_id_that_repeats_shows_that_rows_may_not_be_persons(name, values):
    (line,) = warnings(case=list(range(N)), **{name: values})[1:]
    assert line.startswith(f"Column '{name}' repeats and looks like the number or name of a person: rows may not be")


@pytest.mark.parametrize(
    ("name", "values"),
    [("number", [10_000 + i for i in ADMISSIONS]), ("x", [f"AB{i:05}" for i in ADMISSIONS])],
)
def test_values_that_are_written_like_numbers_of_persons(name, values):
    (line,) = warnings(**{name: values})
    assert line.startswith(
        f"Column '{name}' repeats, and its values are written alike, as numbers of persons are: rows"
    )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", [i % 100 for i in range(N)]),
        ("persons", [i % 9 for i in range(N)]),
        ("members", [i % 60 for i in range(N)]),
        ("idea", ["a", "b", "c"] * 200),
        ("member", ["yes", "no"] * 300),
        ("job", [f"job {i}" for i in range(60)] * 10),
        ("income", [i * i for i in ADMISSIONS]),
        ("ward_id", [f"ward {i % 12}" for i in range(N)]),
        ("zip", [10_000 + i for i in ADMISSIONS]),
    ],
)
def test_ordinary_columns_are_not_taken_for_persons(name, values):
    assert warnings(**{name: values}) == ()


def test_a_name_cannot_write_into_the_file():
    made = draft_schema(pl.DataFrame({'a\nrole = "id"': list(range(N)), "z": ["p", "q"] * (N // 2)}))
    assert parse(made.to_toml()) == made.schema


def test_a_draft_can_be_written_and_read_again():
    made = draft_schema(
        pl.DataFrame(
            {"a": ["x", "y"] * 50, "b": RNG.integers(0, 90, 100), "c": RNG.normal(0, 1, 100), "d": [1, None] * 50}
        )
    )
    assert parse(made.schema.to_toml()) == made.schema
    assert len(made.notes) == 4


cells = {
    pl.String: st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
    pl.Int64: st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5),
    pl.Float64: st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0]),
    pl.Boolean: st.booleans(),
    pl.Date: st.dates() | st.dates(dt.date(2000, 1, 1), dt.date(2000, 3, 1)),
}


@settings(max_examples=60)
@given(data=st.data(), dtype=st.sampled_from(list(cells)), spread=st.integers(1, 120))
def test_any_table_fits_its_draft(data, dtype, spread, tmp_path_factory):
    pool = data.draw(st.lists(cells[dtype] | st.none(), min_size=1, max_size=spread))
    values = (pool * 240)[:240]
    frame = pl.DataFrame({"some": pl.Series(values, dtype=dtype), "z": ["p", "q"] * 120})
    assert encode(frame, decided(draft_schema(frame).schema)).rows == 240
    path = tmp_path_factory.mktemp("t") / "t.csv"
    frame.write_csv(path)
    assert encode(path, decided(draft_schema(path).schema)).rows == 240


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12))
def test_round_bins(low, span):
    high = low + span
    if high == low:
        return
    start, stop, width = round_bins(low, high, whole=False)
    assert start <= Decimal(repr(low)) < Decimal(repr(high)) < stop
    assert (stop - start) / width <= MOST_BINS
    assert str(width.normalize()).lstrip("0.")[0] in "125"


days = st.dates(dt.date(1200, 1, 1), dt.date(3000, 1, 1))


@given(days, days)
def test_round_dates(one, two):
    low, high = sorted([one, two])
    edges = round_dates(low, high)
    assert edges[0] <= low <= high < edges[-1]
    assert len(edges) <= MOST_DATE_BINS + 1


def test_nothing_to_randomise():
    with pytest.raises(PkanonError, match="No column of the table can be proposed"):
        draft_schema(pl.DataFrame({"a": ["x"] * 9}))
