"""What is made of an attribute is kept for its next table: by that attribute alone, and no longer than it."""

import gc

import polars as pl
import pytest

import pkanon as pk
from pkanon._errors import DataError
from pkanon._frames import encode
from pkanon._frames.read import columns


def test_a_coder_is_made_once_and_goes_with_its_attribute():
    attribute = pk.Attribute("rooms", [1, 2, 3])
    gc.collect()  # attributes of earlier tests
    before = len(columns._coders)
    first, again = (columns.columns_of(pk.Schema([attribute]))[0] for _ in range(2))
    assert first.coder is again.coder
    assert columns.columns_of(pk.Schema([attribute]), unrounded=True)[0].coder is not first.coder
    assert len(columns._coders) == before + 2
    del attribute, first, again
    gc.collect()
    assert len(columns._coders) == before


def test_large_attributes_keep_none():
    attribute = pk.Attribute("code", [f"v{i}" for i in range(columns._MOST_KEPT + 1)])
    first, again = (columns.columns_of(pk.Schema([attribute]))[0] for _ in range(2))
    assert first.coder is not again.coder


def test_attributes_that_look_alike_have_their_own():
    """In Python 1, 1.0 and True are equal, and so are lists of them."""
    whole = pk.Attribute("n", [0, 1], type="number")
    texts = pk.Attribute("n", ["0", "1"])
    truth = pk.Attribute("n", [False, True])
    codes = [
        encode(pl.DataFrame({"n": values}), pk.Schema([attribute])).codes["n"].tolist()
        for attribute, values in ((whole, [1.0, 0.0]), (texts, ["1", "0"]), (truth, [True, False])) * 2
    ]
    assert codes == [[1, 0]] * 6


def test_one_table_leaves_nothing_for_the_next():
    schema = pk.Schema([pk.Attribute("job", ["farmer", "nurse"]), pk.Attribute("rooms", [1, 2])])
    good = pl.DataFrame({"job": ["nurse", "farmer"], "rooms": [2, 1]})
    tables = [
        good,
        good.with_columns(pl.col("job").cast(pl.Enum(["nurse", "farmer"]))),  # numbered in another way
        good.with_columns(pl.col("job").cast(pl.Enum(["farmer", "nurse"]))),
        good.with_columns(pl.col("rooms").cast(pl.Int8)),
    ]
    for table in tables * 2:
        codes = encode(table, schema).codes
        assert codes["job"].tolist() == [1, 0]
        assert codes["rooms"].tolist() == [1, 0]
        with pytest.raises(DataError, match="does not list"):
            encode(table.with_columns(rooms=pl.lit(9)), schema)


def test_a_table_that_is_read_meanwhile_in_another_thread_changes_nothing():
    """Two tables of one schema, read at once: the other one is read at the worst moment, while types are compared."""
    coder = columns.columns_of(pk.Schema([pk.Attribute("job", ["farmer", "nurse"])]))[0].coder
    in_order, turned = pl.Enum(["farmer", "nurse"]), pl.Enum(["nurse", "farmer"])

    class Compared(pl.Enum):
        def __eq__(self, other):
            coder.conversion(turned)
            return super().__eq__(other)

    coder.conversion(in_order)
    assert not coder.conversion(Compared(["farmer", "nurse"])).unchanged  # its numbers are the codes
    assert coder.conversion(turned).unchanged


def test_what_a_type_becomes_is_kept_for_the_next_table():
    coder = columns.columns_of(pk.Schema([pk.Attribute("rooms", [1, 2])]))[0].coder
    assert coder.conversion(pl.Int64()) is coder.conversion(pl.Int64())
    assert coder.conversion(pl.String()) is not coder.conversion(pl.Int64())


def test_equal_plans_have_one_hash():
    def made() -> pk.Plan:
        return pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=100, k=5)

    assert made() == made()
    assert hash(made()) == hash(made())
    assert hash(made()) != hash(pk.plan(made().schema, records=101, k=5))
