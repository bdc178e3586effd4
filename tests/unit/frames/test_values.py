"""Values to codes: many at once as ``Attribute.code`` says for one, whatever the type of the column."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkanon._errors import DataError
from pkanon._frames import decode, encode
from pkanon._schema import Attribute, Schema, code_dtype

MOST, LEAST = 2**63 - 1, -(2**63)


def one_by_one(attribute: Attribute, values: list[object]) -> list[int | None]:
    codes: list[int | None] = []
    for value in values:
        try:
            codes.append(attribute.code(value))
        except DataError:
            codes.append(None)
    return codes


def agrees(attribute: Attribute, values: list[object], dtype: pl.DataType | None = None) -> None:
    """All values that are allowed get the code of ``Attribute.code``; one that is not is refused."""
    want = one_by_one(attribute, values)
    schema = Schema([attribute])
    fine = [value for value, code in zip(values, want) if code is not None]
    if fine:
        got = encode(pl.DataFrame({attribute.name: pl.Series(fine, dtype=dtype)}), schema).codes[attribute.name]
        assert got.dtype == code_dtype(attribute.size)
        assert got.tolist() == [code for code in want if code is not None]
    bad = [value for value, code in zip(values, want) if code is None]
    for value in bad:
        with pytest.raises(DataError, match=f"Column '{attribute.name}': 1 row h"):
            encode(pl.DataFrame({attribute.name: pl.Series([value], dtype=dtype)}), schema, exact_counts=True)
    if bad:
        with pytest.raises(DataError):
            encode(pl.DataFrame({attribute.name: pl.Series(values, dtype=dtype)}), schema)


INTEGERS = [None, *range(-30, 40), 99, 1000, 2**31, -(2**31) - 1, 2**40, MOST, LEAST]
INTEGER_ATTRIBUTES = [
    Attribute.ranged("n", 0, 19),
    Attribute.ranged("n", -5, 12, missing="value"),
    Attribute.ranged("n", -5, 12, missing="value", other=1000),
    Attribute.ranged("n", 10, 2**31 - 100),
    Attribute.ranged("n", LEAST, LEAST + 40, missing="value"),
    Attribute.ranged("n", MOST - 3, MOST, other=0),
    Attribute("n", [7, -3, 5, 0]),
    Attribute("n", [5, -3, 99, 2**40, LEAST], missing="value"),
    Attribute("n", [7, 5], other=-1, missing="value"),
    Attribute.binned("n", start=0, stop=20, width=5),
    Attribute.binned("n", start=-10, stop=30, width=10, open="low", missing="value"),
    Attribute.binned("n", start=-10, stop=30, width=10, open="high"),
    Attribute.binned("n", edges=[-7, 1, 2, 30], open="both", missing="value"),
    Attribute.binned("n", edges=[-7, 1, 2, 2**41], open="both"),
    Attribute.binned("n", edges=[-7, 1, 2, 2**41], missing="value", other="?"),
    Attribute.binned("n", edges=[LEAST, 0, MOST]),
]


@pytest.mark.parametrize("attribute", INTEGER_ATTRIBUTES)
def test_integers(attribute):
    agrees(attribute, INTEGERS, pl.Int64)


WIDTHS = {
    pl.Int8: (-(2**7), 2**7 - 1),
    pl.UInt8: (0, 2**8 - 1),
    pl.Int16: (-(2**15), 2**15 - 1),
    pl.UInt16: (0, 2**16 - 1),
    pl.Int32: (-(2**31), 2**31 - 1),
    pl.UInt32: (0, 2**32 - 1),
    pl.UInt64: (0, 2**64 - 1),
    pl.Int128: (-(2**70), 2**70),
}


@pytest.mark.parametrize("attribute", INTEGER_ATTRIBUTES)
def test_integers_of_any_width(attribute):
    for dtype, (low, high) in WIDTHS.items():
        fitting = [value for value in INTEGERS[::3] if value is None or low <= value <= high]
        agrees(attribute, [*fitting, low, high], dtype)


@pytest.mark.parametrize("attribute", INTEGER_ATTRIBUTES)
def test_floats_for_integers(attribute):
    """pandas makes floats of integers with gaps: whole floats are integers, NaN is missing."""
    whole = [value for value in INTEGERS if value is None or abs(value) < 2**53]
    schema = Schema([attribute])
    for value, code in zip(whole, one_by_one(attribute, whole)):
        frame = pl.DataFrame({"n": pl.Series([math.nan if value is None else float(value)], dtype=pl.Float64)})
        if code is None:
            with pytest.raises(DataError):
                encode(frame, schema)
        else:
            assert encode(frame, schema).codes["n"].tolist() == [code]
    for value in (0.5, -1e-9, math.inf, 1e300):
        frame = pl.DataFrame({"n": [value]})
        if attribute.other_code is None:
            with pytest.raises(DataError, match="1 row holds something that is not a whole number"):
                encode(frame, schema, exact_counts=True)
        else:
            assert encode(frame, schema).codes["n"].tolist() == [attribute.other_code]


NUMBERS = [None, 0.0, -0.0, 0.1, 0.25, 1.0, 2, 2.5, 3.0, -7.75, 1e300, -1e300, 5e-324, math.inf, -math.inf, 10**15 + 1]
NUMBER_ATTRIBUTES = [
    Attribute("x", [0.1, 2.5, 0.0], type="number"),
    Attribute("x", [-7.75, 1e300, 2.0], missing="value", other=3.0),
    Attribute.binned("x", start=0.0, stop=3.0, width=0.1),
    Attribute.binned("x", edges=[-1.5, 0.1, 0.25, 1e300], open="both", missing="value"),
    Attribute.binned("x", edges=[0.0, 1.0], open="low", other="?"),
    Attribute.binned("x", edges=[0.0, 1.0], open="high", missing="value"),
]


@pytest.mark.parametrize("attribute", NUMBER_ATTRIBUTES)
def test_numbers(attribute):
    agrees(attribute, NUMBERS, pl.Float64)
    nan = pl.DataFrame({"x": [math.nan]})
    if attribute.missing_code is None:
        with pytest.raises(DataError, match="no value"):
            encode(nan, Schema([attribute]))
    else:
        assert encode(nan, Schema([attribute])).codes["x"].tolist() == [attribute.missing_code]


DATES = [
    None,
    dt.date(1969, 12, 31),
    dt.date(1970, 1, 1),
    dt.date(2024, 2, 29),
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
]
DATE_ATTRIBUTES = [
    Attribute("d", [dt.date(2024, 2, 29), dt.date(1, 1, 1)], missing="value"),
    Attribute("d", [dt.date(2024, 2, 29)], other=dt.date(1900, 1, 1)),
    Attribute.binned("d", edges=[dt.date(1970, 1, 1), dt.date(2000, 1, 1)], open="both"),
    Attribute.binned("d", start=dt.date(1969, 12, 1), stop=dt.date(1970, 2, 9), width=7, other="else", missing="value"),
]


@pytest.mark.parametrize("attribute", DATE_ATTRIBUTES)
def test_dates(attribute):
    agrees(attribute, DATES, pl.Date)


def test_dates_with_a_time():
    schema = Schema([Attribute("d", [dt.date(2024, 2, 29)], missing="value", other=dt.date(1900, 1, 1))])
    midnight, noon = dt.datetime(2024, 2, 29), dt.datetime(2024, 2, 29, 12)
    for zone in (None, "Europe/Amsterdam"):
        for unit in ("ms", "us", "ns"):
            times = pl.Series("d", [midnight, None, dt.datetime(2020, 1, 1)]).cast(pl.Datetime(unit))
            frame = times.dt.replace_time_zone(zone).to_frame()
            assert encode(frame, schema).codes["d"].tolist() == [0, 2, 1]
    with pytest.raises(DataError, match="2 rows hold a time of day"):  # other does not take them
        encode(pl.DataFrame({"d": [midnight, noon, noon]}), schema, exact_counts=True)


@pytest.mark.parametrize("values", [[False, True], [True, False]])
def test_booleans(values):
    agrees(Attribute("b", values), [True, False, None], pl.Boolean)
    agrees(Attribute("b", values, missing="value"), [True, False, None], pl.Boolean)


TEXTS = [None, "a", "b", "A", "a ", "", "é", "e\u0301", "NA", "a much longer text than twelve bytes", "\n"]
TEXT_ATTRIBUTES = [
    Attribute("t", ["b", "a"]),
    Attribute("t", ["é", "a much longer text than twelve bytes", "\n"], missing="value"),
    Attribute("t", ["a", "A"], other="other", missing="value"),
    Attribute("t", [f"v{i}" for i in range(255)] + ["a"]),  # 256 values fill a byte
    Attribute("t", [f"v{i}" for i in range(300)] + ["a"], missing="value"),  # too many for the hash
    Attribute("t", [f"v{i}" for i in range(70_000)] + ["a"], other="b"),
]


@pytest.mark.parametrize("attribute", TEXT_ATTRIBUTES)
def test_texts(attribute):
    values = [*TEXTS, "v0", "v254", "v299"]
    agrees(attribute, values, pl.String)
    agrees(attribute, values, pl.Categorical)
    agrees(attribute, values, pl.Enum(list(reversed([value for value in values if value is not None]))))


def test_texts_that_mean_missing_in_frames():
    attribute = Attribute("t", ["a"], missing="value", missing_values=["", "NA"])
    for dtype in (pl.String, pl.Categorical, pl.Enum(["NA", "a", ""])):
        frame = pl.DataFrame({"t": pl.Series(["a", "NA", "", None], dtype=dtype)})
        assert encode(frame, Schema([attribute])).codes["t"].tolist() == [0, 1, 1, 1]
    number = Attribute.ranged("n", 0, 9, missing="value", missing_values=["-9"])
    frame = pl.DataFrame({"n": ["1", "-9", "", " ", None, " 4"]})
    assert encode(frame, Schema([number])).codes["n"].tolist() == [1, 10, 10, 10, 10, 4]


def test_other_types_written_as_text():
    schema = Schema([Attribute("t", ["7", "true", "2024-02-29"], missing="value")])
    for values in ([7, None], [True, None], [dt.date(2024, 2, 29), None]):
        codes = encode(pl.DataFrame({"t": values}), schema).codes["t"].tolist()
        assert codes[1] == 3
        assert codes[0] == schema.attribute("t").code(str(values[0]).lower())


def test_decimals():
    whole = Schema([Attribute.ranged("n", 0, 9, missing="value")])
    frame = pl.DataFrame({"n": [Decimal("3.0"), None, Decimal("9.0")]})
    assert encode(frame, whole).codes["n"].tolist() == [3, 10, 9]
    with pytest.raises(DataError, match="1 row holds something that is not a whole number"):
        encode(pl.DataFrame({"n": [Decimal("3.5"), Decimal("3.0")]}), whole, exact_counts=True)
    bins = Schema([Attribute.binned("n", edges=[0.0, 3.25, 9.0])])
    assert encode(pl.DataFrame({"n": [Decimal("3.25"), Decimal("3.24")]}), bins).codes["n"].tolist() == [1, 0]


@pytest.mark.parametrize(
    "attribute", [Attribute.ranged("n", 0, 9), Attribute("n", [0.5, 1]), Attribute("n", [True, False])]
)
def test_a_column_of_nulls(attribute):
    with pytest.raises(DataError, match="2 rows have no value"):
        encode(pl.DataFrame({"n": [None, None]}), Schema([attribute]), exact_counts=True)


@pytest.mark.parametrize(
    ("type_name", "values"),
    [
        ("integer", [True, False]),
        ("integer", [dt.date(2024, 1, 1)]),
        ("number", [True]),
        ("boolean", [0, 1]),
        ("date", [19_000]),
        ("text", [1.5]),
        ("text", [dt.datetime(2024, 1, 1)]),
        ("text", [[1]]),
        ("text", [b"x"]),
        ("integer", [{"a": 1}]),
        ("text", [dt.timedelta(1)]),
    ],
)
def test_a_column_of_another_type_is_refused_even_with_other(type_name, values):
    listed = {
        "integer": [0, 1],
        "number": [0.5, 1.5],
        "boolean": [True, False],
        "date": ["2024-01-01", "2024-01-02"],
        "text": ["x", "y"],
    }
    other = {"integer": 9, "number": 9.5, "date": "2000-01-01", "text": "z"}.get(type_name)
    schema = Schema([Attribute("c", listed[type_name], type=type_name, other=other)])
    with pytest.raises(DataError, match=f"Column 'c' has the type .* its schema says {type_name}"):
        encode(pl.DataFrame({"c": values}), schema)


@given(
    listed=st.lists(st.integers(-(2**62), 2**62) | st.integers(-50, 50), min_size=2, max_size=20, unique=True),
    values=st.lists(st.integers(LEAST, MOST) | st.integers(-60, 60) | st.none(), max_size=30),
    other=st.booleans(),
)
def test_any_listed_integers(listed, values, other):
    attribute = Attribute("n", listed[1:] if other else listed, missing="value", other=listed[0] if other else None)
    agrees(attribute, [*listed, *values], pl.Int64)


@given(
    edges=st.lists(st.integers(-(2**40), 2**40) | st.integers(-50, 50), min_size=2, max_size=20, unique=True).map(
        sorted
    ),
    values=st.lists(st.integers(LEAST, MOST) | st.integers(-60, 60) | st.none(), max_size=30),
    ends=st.sampled_from(["none", "low", "high", "both"]),
    other=st.sampled_from([None, "other"]),
)
def test_any_bins_of_integers(edges, values, ends, other):
    attribute = Attribute.binned("n", edges=edges, open=ends, missing="value", other=other)
    agrees(attribute, [*edges, *values], pl.Int64)


@given(
    edges=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20, unique=True).map(sorted),
    values=st.lists(st.floats(allow_nan=False) | st.none(), max_size=30),
    ends=st.sampled_from(["none", "low", "high", "both"]),
)
def test_any_bins_of_numbers(edges, values, ends):
    attribute = Attribute.binned("x", edges=edges, open=ends, missing="value", other="other", type="number")
    agrees(attribute, [*edges, *values], pl.Float64)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    listed=st.lists(texts.filter(lambda text: text and "\0" not in text), min_size=2, max_size=40, unique=True),
    values=st.lists(texts | st.none(), max_size=20),
    dtype=st.sampled_from([pl.String, pl.Categorical]),
)
def test_any_texts(listed, values, dtype):
    attribute = Attribute("t", listed[1:], missing="value", other=listed[0])
    agrees(attribute, [*listed, *values], dtype)


@pytest.mark.parametrize("top", [2**8, 2**15, 2**16])
@pytest.mark.parametrize("less", range(5))
def test_codes_fill_their_type_to_the_last_one(top, less):
    """Code types change at 2^8 and 2^16, and ours for tables at 2^15: off by one would wrap around."""
    count = top - less
    ranged = Attribute.ranged("n", 0, count - 1, other=-1, missing="value")
    listed = Attribute("t", [str(i) for i in range(count)], other="else", missing="value")
    numbers = [0, count - 2, count - 1, None, count]
    frame = pl.DataFrame({"n": numbers, "t": [None if i is None else str(i) for i in numbers]})
    want = [0, count - 2, count - 1, count + 1, count]
    codes = encode(frame, Schema([ranged, listed])).codes
    assert codes["n"].tolist() == codes["t"].tolist() == want
    assert codes["n"].dtype == code_dtype(count + 2)


def test_codes_do_not_depend_on_the_data():
    """The same value has the same code whatever stands around it, in whatever batch."""
    attribute = Attribute("t", [f"v{i}" for i in range(20)])
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 20, 300_000)
    column = pl.Series("t", attribute.domain.values)[pl.Series(drawn)]
    got = encode(column.alias("t").to_frame(), Schema([attribute]))
    assert np.array_equal(got.codes["t"], drawn)
    assert np.array_equal(encode(column[::-1].alias("t").to_frame(), Schema([attribute])).codes["t"], drawn[::-1])


def test_decode_refuses_what_no_code_stands_for():
    schema = Schema([Attribute("t", ["x", "y"])])
    with pytest.raises(DataError, match="has 2 codes"):
        decode(schema, {"t": np.array([0, 2], np.uint8)}, None)
    two = Schema([Attribute("t", ["x", "y"]), Attribute("p", role="pass")])
    with pytest.raises(DataError, match="'p'"):
        decode(two, {"t": np.array([0], np.uint8)}, None)
    with pytest.raises(DataError, match="one length"):
        decode(two, {"t": np.array([0], np.uint8)}, pl.DataFrame({"p": [1, 2]}))
