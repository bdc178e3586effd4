"""Whole numbers of every width come out as they were declared, in memory and from a file."""

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import decode, wide_types, write_parquet
from pkanon._schema import code_dtype

ATTRIBUTES = [
    pk.Attribute.ranged("n", -100, 100),  # codes up to 200 do not fit in the 8 bits that the numbers need
    pk.Attribute.ranged("n", -128, 127, missing="value"),
    pk.Attribute.ranged("n", -30_000, 30_000, other=32_767),
    pk.Attribute.ranged("n", 2**40, 2**40 + 5),
    pk.Attribute.ranged("n", -(2**63), -(2**63) + 3),
    pk.Attribute("n", [5, 6, 7, 8], missing="value"),
    pk.Attribute("n", [7, 5, 200, -1], other=9),
    pk.Attribute("n", [2**62, -(2**62)]),
]


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=str)
def test_decoding_every_code(attribute, tmp_path):
    schema = pk.Schema([attribute])
    codes = {"n": np.arange(attribute.size, dtype=code_dtype(attribute.size))}
    expected = list(attribute.labels())
    assert decode(schema, codes, None)["n"].to_list() == expected
    assert decode(schema, codes, None).schema["n"] == pl.Int64
    narrow = decode(schema, codes, None, narrow=True)
    assert narrow["n"].to_list() == expected
    write_parquet(narrow, tmp_path / "t.parquet", {}, wide_types(schema))
    back = pl.read_parquet(tmp_path / "t.parquet")
    assert back["n"].to_list() == expected
    assert back.schema["n"] == pl.Int64
