"""Every kind of table gives the same codes, and nothing is imported that was not there."""

import datetime as dt
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pkanon._errors import DataError
from pkanon._frames import as_kind, decode, encode, encode_released, write_csv, write_parquet
from pkanon._schema import Attribute, Schema

SCHEMA = Schema(
    [
        Attribute("sex", ["M", "F"], missing="value"),
        Attribute.ranged("age", 0, 120, missing="value"),
        Attribute("vote", [True, False], missing="value"),
        Attribute.binned("born", edges=[dt.date(1950, 1, 1), dt.date(2000, 1, 1)], open="both", missing="value"),
        Attribute.binned("pay", edges=[0.0, 10.5, 100.0], open="high", missing="value"),
        Attribute("who", role="id"),
        Attribute("junk", role="drop"),
        Attribute("day", role="pass"),
    ]
)
FRAME = pl.DataFrame(
    {
        "who": ["a", "b", "c", "d"],
        "sex": ["F", "M", None, "F"],
        "age": [0, 120, None, 7],
        "vote": [True, None, False, True],
        "born": [dt.date(1949, 12, 31), dt.date(1950, 1, 1), None, dt.date(2024, 2, 29)],
        "pay": [0.0, 10.5, None, 1e9],
        "day": [3, 2, 1, 0],
        "junk": ["?", "", None, "!"],
    }
)
CODES = {"sex": [1, 0, 2, 1], "age": [0, 120, 121, 7], "vote": [0, 2, 1, 0], "born": [0, 1, 3, 2], "pay": [0, 1, 3, 2]}


def tables(tmp_path):
    write_csv(FRAME, tmp_path / "t.csv")
    write_parquet(FRAME, tmp_path / "t.parquet", {})
    arrow = FRAME.to_arrow()
    frame = FRAME.with_columns(pl.col("sex").cast(pl.Categorical))
    con = duckdb.connect()
    return {
        "polars frame": (FRAME, "polars"),
        "polars categories": (frame, "polars"),
        "polars lazy": (FRAME.lazy(), "polars"),
        "polars, columns in another order": (FRAME.select(reversed(FRAME.columns)), "polars"),
        "pandas": (FRAME.to_pandas(), "pandas"),
        "pandas categories": (FRAME.to_pandas().astype({"sex": "category"}), "pandas"),
        "pandas with pyarrow types": (FRAME.to_pandas(use_pyarrow_extension_array=True), "pandas"),
        "pandas objects": (FRAME.to_pandas().astype({"sex": object, "vote": object}), "pandas"),
        "pandas with an index": (FRAME.to_pandas().set_index(np.array([9, 9, 7, 7])), "pandas"),
        "pyarrow table": (arrow, "pyarrow"),
        "pyarrow dictionary": (
            arrow.set_column(1, "sex", arrow["sex"].combine_chunks().dictionary_encode()),
            "pyarrow",
        ),
        "pyarrow batch": (arrow.combine_chunks().to_batches()[0], "pyarrow"),
        "pyarrow reader": (arrow.to_reader(max_chunksize=3), "pyarrow"),
        "duckdb": (con.from_arrow(arrow), "duckdb"),
        "csv": (tmp_path / "t.csv", "polars"),
        "csv by text": (str(tmp_path / "t.csv"), "polars"),
        "parquet": (tmp_path / "t.parquet", "polars"),
    }


def test_every_kind_gives_the_same_codes(tmp_path):
    for name, (table, kind) in tables(tmp_path).items():
        got = encode(table, SCHEMA)
        assert {column: codes.tolist() for column, codes in got.codes.items()} == CODES, name
        assert list(got.codes) == list(CODES)
        assert all(codes.dtype == np.uint8 for codes in got.codes.values())
        assert got.rows == 4
        assert got.kind == kind, name
        assert got.passed is not None
        assert [str(value) for value in got.passed["day"].to_list()] == ["3", "2", "1", "0"], name


def test_a_duckdb_relation_is_not_used_up():
    relation = duckdb.connect().sql("select 'F' as sex, 1::HUGEINT as n union all select 'M', 2")
    schema = Schema([Attribute("sex", ["F", "M"]), Attribute.ranged("n", 1, 2)])
    for _ in range(2):
        assert sorted(encode(relation, schema).codes["n"].tolist()) == [0, 1]
    assert len(relation.fetchall()) == 2


def test_a_duckdb_relation_leaves_nothing_behind():
    code = (
        "import duckdb; from pkanon._frames import encode; from pkanon._schema import Attribute, Schema;"
        "relation = duckdb.connect().sql(\"select 'F' as sex union all select 'M'\");"
        "print(encode(relation, Schema([Attribute('sex', ['F', 'M'])])).rows)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_a_pandas_frame_of_several_batches():
    n = 300_000
    frame = pd.DataFrame({"age": np.arange(n) % 121, "sex": np.array(["F", "M"], object)[np.arange(n) % 2]})
    frame.loc[frame.index % 7 == 0, "age"] = np.nan  # makes floats of integers
    schema = Schema([Attribute.ranged("age", 0, 120, missing="value"), Attribute("sex", ["M", "F"])])
    got = encode(frame, schema)
    rows = np.arange(n)
    assert np.array_equal(got.codes["age"], np.where(rows % 7 == 0, 121, rows % 121))
    assert np.array_equal(got.codes["sex"], 1 - rows % 2)


def test_a_parquet_file_of_several_batches_keeps_its_order(tmp_path):
    n = 300_000
    frame = pl.DataFrame({"age": pl.int_range(n, eager=True) % 121, "sex": pl.Series(["F", "M", None] * (n // 3))})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=10_000)
    schema = Schema([Attribute.ranged("age", 0, 120), Attribute("sex", ["M", "F"], missing="value")])
    shares: list[float] = []
    got = encode(tmp_path / "t.parquet", schema, progress=lambda step, done: shares.append(done))
    assert np.array_equal(got.codes["age"], np.arange(n) % 121)
    assert np.array_equal(got.codes["sex"], np.tile([1, 0, 2], n // 3))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_pandas_column_of_mixed_types():
    frame = pd.DataFrame({"x": pd.Series([1, "MARKER-7f3a"], dtype=object)})
    with pytest.raises(DataError, match="Column 'x' holds values of several types") as caught:
        encode(frame, Schema([Attribute("x", ["1", "2"])]))
    assert caught.value.__context__ is None


def test_column_names_that_are_no_texts():
    frame = pd.DataFrame({0: [1], 1: [2]})
    with pytest.raises(DataError, match="must be texts"):
        encode(frame, Schema([Attribute.ranged("0", 0, 9)]))


def test_repeated_names_in_frames():
    schema = Schema([Attribute.ranged("a", 0, 9)])
    for table in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])):
        with pytest.raises(DataError, match="'a' occurs more than once"):
            encode(table, schema)


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "duckdb"])
def test_back_to_the_kind_that_came_in(kind):
    encoded = encode(FRAME, SCHEMA)
    frame = decode(SCHEMA, encoded.codes, encoded.passed)
    table = as_kind(frame, kind)
    assert type(table).__module__.partition(".")[0] in (kind, f"_{kind}")
    again = encode_released(table, SCHEMA)
    assert {name: codes.tolist() for name, codes in again.codes.items()} == CODES
    if kind == "duckdb":
        assert len(table.fetchall()) == len(table.fetchall()) == 4
        assert table.order("age").columns == list(frame.columns)


def test_nothing_else_is_imported():
    """polars comes with the first name that needs it; the others only with a table of theirs."""
    code = (
        "import sys; from pkanon._frames import encode; "
        "print([m for m in ('polars', 'pandas', 'pyarrow', 'duckdb') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "['polars']\n"
    )


def test_pandas_without_pyarrow():
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import pandas as pd, datetime as dt
from pkanon._frames import as_kind, decode, encode, encode_released
from pkanon._schema import Attribute, Schema
frame = pd.DataFrame({
    "t": ["x", None, "y"], "c": pd.Categorical(["x", None, "y"]), "n": pd.array([1, None, 2], dtype="Int64"),
    "f": [1.0, float("nan"), 2.0], "b": pd.array([True, None, False], dtype="boolean"),
    "d": [dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)], "i": [1, 2, 2]})
missing = {"missing": "value"}
schema = Schema([Attribute("t", ["x", "y"], **missing), Attribute("c", ["x", "y"], **missing),
    Attribute.ranged("n", 1, 2, **missing), Attribute.ranged("f", 1, 2, **missing),
    Attribute("b", [True, False], **missing), Attribute("d", ["2024-01-01", "2024-01-02"], type="date", **missing),
    Attribute.ranged("i", 1, 2, **missing)])
encoded = encode(frame, schema)
out = as_kind(decode(schema, encoded.codes, None), "pandas")
assert encode_released(out, schema).codes["d"].tolist() == [0, 2, 1]
print([codes.tolist() for codes in encoded.codes.values()], type(out).__name__, out["t"].dtype)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{[[0, 2, 1]] * 6 + [[0, 1, 1]]} DataFrame category\n"
