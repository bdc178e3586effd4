"""Codes that a column holds already are taken as they are: the same codes, marks and refusals as by any other way."""

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import encode

JOBS = ["farmer", "nurse", "pilot"]
SCHEMA = pk.Schema(
    [
        pk.Attribute("job", JOBS, missing="value"),
        pk.Attribute("rooms", [0, 1, 2, 3], missing="value"),
        pk.Attribute("year", list(range(1990, 2000))),
    ]
)
ROWS = 50_000  # several threads where there are texts


def people(seed: int = 1, *, nulls: bool = False) -> pl.DataFrame:
    draws = np.random.default_rng(seed)
    job = draws.integers(0, 3, ROWS)
    rooms = draws.integers(0, 4, ROWS)
    frame = pl.DataFrame(
        {"job": pl.Series(np.array(JOBS)[job]), "rooms": rooms, "year": draws.integers(1990, 2000, ROWS)}
    )
    if not nulls:
        return frame
    gone = pl.Series(draws.random(ROWS) < 0.1)
    return frame.with_columns(pl.when(~gone).then(pl.col("job", "rooms")).name.keep())


KINDS = {
    "categories numbered like the codes": pl.Enum(JOBS),
    "fewer categories, numbered like the codes": None,
    "categories in another order": pl.Enum(JOBS[::-1]),
    "more categories than values": pl.Enum([*JOBS, "priest"]),
    "categories of this table only": pl.Categorical(),
    "texts": pl.String(),
}


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("integer", [pl.Int8, pl.UInt8, pl.Int16, pl.Int32, pl.UInt32, pl.Int64])
def test_whole_numbers_of_every_type_have_the_same_codes(integer, nulls):
    plain = people(nulls=nulls)
    narrow = plain.with_columns(pl.col("rooms").cast(integer))
    for name, codes in encode(plain, SCHEMA).codes.items():
        np.testing.assert_array_equal(encode(narrow, SCHEMA).codes[name], codes)


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_releases_do_not_depend_on_how_a_column_holds_its_values(kind, nulls):
    plain = people(nulls=nulls)
    dtype = KINDS[kind]
    if dtype is None:
        plain = plain.with_columns(pl.col("job").replace("pilot", "nurse"))
        dtype = pl.Enum(JOBS[:2])
    typed = plain.with_columns(pl.col("job").cast(dtype))
    plan = pk.plan(SCHEMA, records=ROWS, k=2)
    one, other = (pk.release(frame, plan, randomness=pk.Seeded(7)) for frame in (plain, typed))
    assert one.table.equals(other.table)
    assert one.certificate.to_json() == other.certificate.to_json()


def test_the_same_seed_gives_the_rows_of_the_first_version():
    """The digest is that of the release before codes were taken as they are."""
    table = pk.demo_table().head(20_000)
    for design, digest in DIGESTS.items():
        plan = pk.plan(pk.demo_schema(), records=20_000, k=2, design=design)
        released = pk.release(table, plan, randomness=pk.Seeded(7))
        assert released.certificate.digests["data"] == digest


DIGESTS = {
    "equal-rho": "ac7e45eefcc526ab20b35fc80623c6ead900b32660280be44b90d385add60b58",
    "joint": "5f597eba2fd8e207317dd04be0ea1c2fd7d2c5117e3ddf236aee3195b2034421",
}


def test_a_category_that_is_not_declared_is_refused_where_it_occurs_only():
    typed = people().with_columns(pl.col("job").cast(pl.Enum([*JOBS, "priest"])))
    assert encode(typed, SCHEMA).rows == ROWS
    one = typed.with_columns(pl.when(pl.int_range(ROWS) == 9).then(pl.lit("priest")).otherwise("job").alias("job"))
    with pytest.raises(pk.DataError, match="Column 'job': 1 row holds a value that the schema does not list"):
        encode(one.with_columns(pl.col("job").cast(typed["job"].dtype)), SCHEMA, exact_counts=True)


def test_nulls_are_refused_where_missing_is_no_value():
    schema = pk.Schema([pk.Attribute("job", JOBS)])
    typed = people(nulls=True).select(pl.col("job").cast(pl.Enum(JOBS)))
    count = typed["job"].null_count()
    with pytest.raises(pk.DataError, match=f"Column 'job': {count:,} rows have no value"):
        encode(typed, schema, exact_counts=True)


def test_a_category_that_means_missing_is_missing():
    schema = pk.Schema([pk.Attribute("job", JOBS, missing="value", missing_values=("?",))])
    texts = pl.DataFrame({"job": ["farmer", "?", None, "pilot"]})
    typed = texts.cast(pl.Enum(["farmer", "nurse", "pilot", "?"]))
    np.testing.assert_array_equal(encode(typed, schema).codes["job"], [0, 3, 3, 2])
    np.testing.assert_array_equal(encode(texts, schema).codes["job"], [0, 3, 3, 2])


def test_the_custodians_table_cannot_be_changed_through_codes():
    typed = people().with_columns(pl.col("job").cast(pl.Enum(JOBS)), pl.col("rooms").cast(pl.UInt8))
    before = typed.clone()
    codes = encode(typed, SCHEMA).codes
    with pytest.raises(ValueError, match="read-only"):
        codes["job"][0] = 1
    pk.release(typed, pk.plan(SCHEMA, records=ROWS, k=2), randomness=pk.Seeded(7))
    assert typed.equals(before)


def test_released_codes_stay_those_of_the_digest():
    released = pk.release(people(), pk.plan(SCHEMA, records=ROWS, k=2), randomness=pk.Seeded(7))
    with pytest.raises(ValueError, match="read-only"):
        released.codes["job"][0] = 1


def test_plans_that_python_takes_for_equal_have_certificates_of_their_own():
    table = pl.DataFrame({"answer": [0, 1] * 500})
    numbers = pk.plan(pk.Schema([pk.Attribute("answer", [0, 1])]), records=1_000, k=2)
    truths = pk.plan(pk.Schema([pk.Attribute("answer", [False, True])]), records=1_000, k=2)
    one = pk.release(table, numbers, randomness=pk.Seeded(7))
    other = pk.release(table.cast(pl.Boolean), truths, randomness=pk.Seeded(7))
    assert one.certificate.digests["plan"] == numbers.digest != truths.digest == other.certificate.digests["plan"]
    again = pk.release(table, numbers, randomness=pk.Seeded(8))
    assert again.certificate.digests["data"] != one.certificate.digests["data"]
