"""Table to codes, codes to table, table to codes: nothing is lost, in memory or in files."""

import datetime as dt
import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkanon._errors import DataError
from pkanon._frames import as_kind, decode, encode_released, write_csv, write_parquet
from pkanon._schema import Attribute, Schema, code_dtype

both = {"missing": "value"}
ATTRIBUTES = [
    Attribute("t", ["b", "a", "c,d", 'q"r', "line\nfeed", " e ", "ä", "\r", "#", "NA", "7"], **both),
    Attribute("t", [f"v{i}" for i in range(256)]),
    Attribute("t", [f"v{i}" for i in range(70_000)], other="other", **both),
    Attribute.ranged("n", -3, 3, **both),
    Attribute.ranged("n", -3, 3, other=100_000, **both),
    Attribute.ranged("n", 0, 2_000_000_000, other=-1, **both),
    Attribute("n", [5, -3, 2**62], other=0, **both),
    Attribute.binned("n", start=0, stop=90, width=5, open="high", other="else", **both),
    Attribute.binned("x", edges=[0.1, 0.2, 1e300], open="low", **both),
    Attribute.binned("d", edges=[dt.date(1950, 1, 1), dt.date(2000, 1, 1), dt.date(2000, 1, 2)], open="both", **both),
    Attribute("d", ["2024-02-29", "0001-01-01"], type="date", other="9999-12-31", **both),
    Attribute("x", [0.1, -0.0, 1e-300, 1 / 3, 5e15], other=2.5, **both),
    Attribute("b", [True, False], **both),
]


def some_codes(attribute: Attribute) -> np.ndarray:
    size = attribute.size
    codes = np.arange(size) if size < 100_000 else np.r_[0:50, size // 2, size - 50 : size]
    return codes.astype(code_dtype(size))


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: f"{a.name}{a.size}")
def test_round_trip(attribute, tmp_path):
    schema = Schema([attribute])
    codes = some_codes(attribute)
    frame = decode(schema, {attribute.name: codes}, None)
    assert frame.columns == [attribute.name]
    labels = [attribute.label(code) for code in codes[:300].tolist()]
    assert frame[attribute.name][:300].to_list() == labels
    kinds = {"text": pl.Enum, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean, "date": pl.Date}
    assert frame[attribute.name].dtype == kinds[attribute.released_type]
    write_csv(frame, tmp_path / "t.csv")
    write_parquet(frame, tmp_path / "t.parquet", {"k": "v"})
    frames = (frame, frame.lazy(), as_kind(frame, "pandas"), as_kind(frame, "pyarrow"))
    for table in (*frames, tmp_path / "t.parquet", tmp_path / "t.csv"):
        got = encode_released(table, schema).codes[attribute.name]
        assert got.dtype == codes.dtype
        assert np.array_equal(got, codes)


def test_all_columns_together_in_a_csv_file(tmp_path):
    renamed = [(f"{a.name}{i}", a) for i, a in enumerate(ATTRIBUTES)]
    attributes = [Attribute.from_json(json.loads(json.dumps(a.to_json())) | {"name": name}) for name, a in renamed]
    schema = Schema([*attributes, Attribute("p", role="pass", type="integer")])
    rng = np.random.default_rng(5)
    n = 2000
    codes = {a.name: rng.integers(0, a.size, n).astype(code_dtype(a.size)) for a in attributes}
    passed = pl.DataFrame({"p": rng.integers(0, 9, n)})
    frame = decode(schema, codes, passed)
    assert frame.columns == [*codes, "p"]
    write_csv(frame, tmp_path / "t.csv")
    write_parquet(frame, tmp_path / "t.parquet", {})
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        again = encode_released(path, schema)
        assert all(np.array_equal(again.codes[name], codes[name]) for name in codes)
        assert again.passed is not None
        assert again.passed.equals(passed)


def test_a_release_takes_labels_only():
    schema = Schema(
        [Attribute.binned("age", start=0, stop=10, width=5, other="else"), Attribute("t", ["x"], other="o")]
    )
    fine = pl.DataFrame({"age": ["0-4", "5-9", "else"], "t": ["x", "o", "o"]})
    got = encode_released(fine, schema)
    assert [codes.tolist() for codes in got.codes.values()] == [[0, 1, 2], [0, 1, 1]]
    for bad in ({"age": ["0-5"], "t": ["x"]}, {"age": ["0-4"], "t": ["anything"]}):
        with pytest.raises(DataError, match="some rows hold a value that the schema does not list; this table was not"):
            encode_released(pl.DataFrame(bad), schema)
    with pytest.raises(DataError, match="some rows have no value"):
        encode_released(pl.DataFrame({"age": [None], "t": ["x"]}), schema)
    with pytest.raises(DataError, match="does not list"):
        encode_released(pl.DataFrame({"age": ["NA"], "t": ["x"]}), schema)


def test_what_others_see_in_the_parquet_file(tmp_path):
    schema = Schema(
        [
            Attribute("t", ["b", "a"], **both),
            Attribute.ranged("n", 0, 9),
            Attribute("d", ["2024-02-29"], type="date", **both),
        ]
    )
    codes = {"t": np.array([0, 2, 1], np.uint8), "n": np.array([1, 2, 3], np.uint8), "d": np.array([0, 1, 0], np.uint8)}
    path = tmp_path / "t.parquet"
    write_parquet(decode(schema, codes, None), path, {"pkanon-plan": '{"format": "x"}'})
    arrow = pq.read_table(path)
    assert pq.read_metadata(path).metadata[b"pkanon-plan"] == b'{"format": "x"}'
    assert str(arrow.schema.field("t").type).startswith("dictionary<values=")
    assert arrow["t"].to_pylist() == ["b", None, "a"]
    frame = pd.read_parquet(path)
    assert frame["t"].cat.categories.tolist() == ["b", "a"]
    assert frame["n"].dtype == np.int64
    rows = duckdb.connect().sql(f"select t, n, d from '{path}'").fetchall()
    assert rows == [("b", 1, dt.date(2024, 2, 29)), (None, 2, None), ("a", 3, dt.date(2024, 2, 29))]


def test_csv_of_a_release(tmp_path):
    schema = Schema(
        [Attribute("t", ["b", 'a,"'], **both), Attribute("x", [0.5, 2.0], **both), Attribute("b", [True, False])]
    )
    codes = {"t": np.array([0, 2, 1], np.uint8), "x": np.array([2, 0, 1], np.uint8), "b": np.array([0, 1, 0], np.uint8)}
    write_csv(decode(schema, codes, None), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b't,x,b\nb,,true\n,0.5,false\n"a,""",2.0,true\n'


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)


@given(listed=st.lists(texts, min_size=2, max_size=20, unique=True), data=st.data())
def test_any_labels_survive_a_csv_file(listed, data, tmp_path_factory):
    schema = Schema([Attribute("a", listed[1:], other=listed[0], **both), Attribute("b", listed, **both)])
    draws = {a.name: data.draw(st.lists(st.integers(0, a.size - 1), min_size=5, max_size=5)) for a in schema.attributes}
    codes = {name: np.array(drawn, np.uint8) for name, drawn in draws.items()}
    path = tmp_path_factory.mktemp("t") / "t.csv"
    write_csv(decode(schema, codes, None), path)
    again = encode_released(path, schema).codes
    assert {name: column.tolist() for name, column in again.items()} == draws
