"""No error ever contains a value, a row number, or a chained exception that does."""

import datetime as dt
import logging
import traceback

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pkanon._errors import EnvironmentFailure, PkanonError
from pkanon._frames import TextFormat, draft_schema, encode, encode_released, group_sizes, write_csv, write_parquet
from pkanon._frames.border import guarded
from pkanon._schema import Attribute, Schema

MARKER = "MARKER-7f3a"


def silent(caught, caplog, capfd=None):
    error = caught.value
    everything = [str(error), repr(error), caplog.text, *traceback.format_exception(error)]
    chain, seen = error, []
    while chain is not None:
        seen.append(chain)
        chain = chain.__cause__ or chain.__context__
    assert seen == [error]
    if capfd is not None:
        everything.extend(capfd.readouterr())
    assert MARKER not in "\n".join(everything)


ATTRIBUTES = {
    "text": Attribute("v", ["x", "y"]),
    "many texts": Attribute("v", [f"x{i}" for i in range(300)]),
    "integer": Attribute.ranged("v", 0, 9),
    "number": Attribute("v", [0.5, 1.5]),
    "boolean": Attribute("v", [True, False]),
    "date": Attribute.binned("v", edges=[dt.date(2000, 1, 1), dt.date(2001, 1, 1)], open="low"),
    "bins": Attribute.binned("v", start=0, stop=9, width=3, missing="value"),
    "passed": Attribute("v", role="pass", type="integer"),
    "id": Attribute("v", role="id", type="date"),
}


def some_tables(values):
    yield pl.DataFrame({"v": values, "w": ["a"] * len(values)})
    yield pl.DataFrame({"v": values, "w": ["a"] * len(values)}).lazy()
    yield pd.DataFrame({"v": values, "w": "a"})
    yield pa.table({"v": values, "w": ["a"] * len(values)})
    yield duckdb.connect().from_arrow(pa.table({"v": values, "w": ["a"] * len(values)}))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_values_that_do_not_fit(name, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    schema = Schema([ATTRIBUTES[name], Attribute("w", ["a", "b"])])
    file = tmp_path / "t.csv"
    file.write_text(f"v,w\n{MARKER},a\n")
    parquet = tmp_path / "t.parquet"
    pl.DataFrame({"v": [MARKER], "w": ["a"]}).write_parquet(parquet)
    for table in (file, parquet, *some_tables([MARKER])):
        with pytest.raises(PkanonError, match="1 row") as caught:
            encode(table, schema, exact_counts=True)
        silent(caught, caplog, capfd)
        with pytest.raises(PkanonError) as caught:
            encode_released(table, schema)
        silent(caught, caplog, capfd)


@pytest.mark.parametrize(
    "content",
    [
        f'v,w\n{MARKER},"a\n',
        f'v,w\n"{MARKER}" ,a\n',
        f"v,w\n{MARKER}\n",
        f"v,w\n{MARKER},a,b\n",
        f"v,w\n{MARKER},\xff\n",
        f"v,w\n{MARKER},\0\n",
        f"{MARKER},a\n1,b\n",
        f"{MARKER};a\n1;b\n",
        f'{MARKER}"q,a\n1,b\n',
        f"{MARKER},{MARKER}\n1,b\n",
    ],
)
def test_files_that_cannot_be_read(content, tmp_path, caplog, capfd):
    file = tmp_path / "t.csv"
    file.write_bytes(content.encode("latin-1"))
    schema = Schema([ATTRIBUTES["integer"], Attribute("w", ["a", "b"])])
    for text in (
        TextFormat(),
        TextFormat(encoding="ascii"),
        TextFormat(encoding="utf-16"),
        TextFormat(encoding="cp1252"),
    ):
        with pytest.raises(PkanonError) as caught:
            encode(file, schema, text=text)
        silent(caught, caplog, capfd)
        with pytest.raises(PkanonError) as caught:
            group_sizes(file, ["v", "z"], text)
        silent(caught, caplog, capfd)


def test_errors_inside_other_libraries(caplog, capfd):
    schema = Schema([ATTRIBUTES["text"]])
    lazy = pl.LazyFrame({"v": [MARKER]}).select(pl.col("v").cast(pl.Int64, strict=True))
    relation = duckdb.connect().sql(f"select cast(v as integer) as v from (values ('{MARKER}')) t(v)")
    mixed = pd.DataFrame({"v": pd.Series([1, MARKER], dtype=object)})
    batches = pa.RecordBatchReader.from_batches(pa.schema([("v", pa.string())]), _failing())
    for table in (lazy, relation, mixed, batches):
        for action in (lambda t: encode(t, schema), lambda t: group_sizes(t, ["v"]), draft_schema):
            with pytest.raises(PkanonError) as caught:
                action(table)
            silent(caught, caplog, capfd)


def _failing():
    yield pa.record_batch({"v": ["x"]})
    raise ValueError(MARKER)


def test_repeated_ids(caplog):
    schema = Schema([Attribute("who", role="id"), ATTRIBUTES["text"]])
    with pytest.raises(PkanonError, match="2 rows share") as caught:
        encode(pl.DataFrame({"who": [MARKER, MARKER], "v": ["x", "y"]}), schema, exact_counts=True)
    silent(caught, caplog)


def test_drafts_name_no_value_in_their_notes(caplog):
    frame = pl.DataFrame(
        {"a": [MARKER] * 60 + ["x"] * 40, "b": [MARKER + str(i) for i in range(100)], "c": [MARKER] * 100}
    )
    assert MARKER not in "\n".join(draft_schema(frame).notes)
    with pytest.raises(PkanonError, match="No column") as caught:
        draft_schema(frame.select("c"))
    silent(caught, caplog)


def test_writing_where_one_cannot(tmp_path, caplog):
    frame = pl.DataFrame({"v": [MARKER]})
    for write in (write_csv, lambda f, p: write_parquet(f, p, {})):
        with pytest.raises(EnvironmentFailure, match="No such file or directory") as caught:
            write(frame, tmp_path / "none" / "t")
        silent(caught, caplog)
        with pytest.raises(EnvironmentFailure, match="No space left on device"):
            write(frame, "/dev/full")
    with pytest.raises(EnvironmentFailure, match="format") as caught:
        write_csv(pl.DataFrame({"v": [[MARKER]]}), tmp_path / "t.csv")
    silent(caught, caplog)


def test_the_guard():
    def fails(error):
        raise error

    for error, kind in [
        (ValueError(MARKER), PkanonError),
        (pl.exceptions.ComputeError(MARKER), PkanonError),
        (pl.exceptions.PanicException(MARKER), PkanonError),
        (MemoryError(MARKER), EnvironmentFailure),
        (OSError(5, "Input/output error", MARKER), EnvironmentFailure),
    ]:
        with pytest.raises(kind) as caught:
            guarded("It failed.", fails, error)
        assert caught.value.__context__ is None
        assert MARKER not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(KeyboardInterrupt):
        guarded("It failed.", fails, KeyboardInterrupt())
    with pytest.raises(EnvironmentFailure, match="ours"):
        guarded("It failed.", fails, EnvironmentFailure("ours"))
