"""Names and roles of columns, all checked before or instead of values."""

import polars as pl
import pytest

from pkanon._errors import DataError
from pkanon._frames import encode, encode_released
from pkanon._schema import Attribute, Schema

SCHEMA = Schema([Attribute("region", ["n", "s"]), Attribute.ranged("age", 0, 99)])


def refused(table, schema=SCHEMA):
    with pytest.raises(DataError) as caught:
        encode(table, schema, exact_counts=True)
    assert caught.value.__context__ is None
    return str(caught.value)


def test_undeclared_and_absent_columns():
    message = refused(pl.DataFrame({"regoin": ["n"], "age": [1]}))
    assert "The table has no column 'region'. Available: regoin, age. Did you mean 'regoin'?" in message
    assert "Column 'regoin' is not in the schema. Available: region, age. Did you mean 'region'?" in message
    assert 'role = "drop"' in message
    message = refused(pl.DataFrame({"region": ["n"], "age": [1]} | {f"x{i}": [1] for i in range(9)}))
    assert message.count("is not in the schema.") == 5
    assert "More columns are not in the schema: 4" in message


def test_names_are_looked_at_before_values():
    assert "nonsense" not in refused(pl.DataFrame({"region": ["nonsense"], "agee": ["nonsense"]}))


def test_a_file_without_a_header_gives_nobody_away(tmp_path):
    """Its first line is a person's row: no word of it may be repeated."""
    path = tmp_path / "t.csv"
    path.write_text("MARKER-7f3a,55\ns,44\n")
    message = refused(path)
    assert "first line" in message
    assert "MARKER" not in message
    assert "55" not in message
    path.write_text("MARKER-7f3a,MARKER-7f3a\ns,44\n")
    assert "MARKER" not in refused(path)
    path.write_text("REGION,AGE\ns,44\n")  # a header after all
    assert "capitals or blanks only" in refused(path)
    path.write_text("REGION,MARKER-7f3a\ns,44\n")  # one value that happens to be a name makes no header
    assert "MARKER" not in refused(path)
    path.write_text("regions,MARKER-7f3a\ns,44\n")
    assert "regions" not in refused(path)


def test_roles(tmp_path):
    schema = Schema(
        [
            Attribute("who", role="id"),
            Attribute("note", role="drop"),
            Attribute("region", ["n", "s"]),
            Attribute("day", role="pass", type="date"),
            Attribute("free", role="pass"),
        ]
    )
    path = tmp_path / "t.csv"
    path.write_text('who,note,region,day,free\n1,,n,2024-02-29,007\n01,x,s,,""\n')
    encoded = encode(path, schema)
    assert list(encoded.codes) == ["region"]
    assert encoded.passed is not None
    assert encoded.passed.schema == {"day": pl.Date, "free": pl.String}
    assert encoded.passed["free"].to_list() == ["007", ""]
    path.write_text("who,note,region,day,free\n1,,n,tomorrow,007\n2,x,s,,\n")
    assert "Column 'day': 1 row holds something that is not a date" in refused(path, schema)


def test_dropped_columns_may_hold_anything():
    schema = Schema([Attribute("region", ["n", "s"]), Attribute("x", role="drop")])
    for values in ([[1]], [{"a": 1}], [b"x"], [object()], [None]):
        assert encode(pl.DataFrame({"region": ["n"], "x": values}), schema).codes["region"].tolist() == [0]
    assert "no column 'x'" in refused(pl.DataFrame({"region": ["n"]}), schema)


@pytest.mark.parametrize("kind", ["frame", "file"])
def test_ids(kind, tmp_path):
    def table(ids):
        frame = pl.DataFrame({"patient": pl.Series(ids, dtype=pl.String), "region": ["n"] * len(ids)})
        if kind == "frame":
            return frame
        frame.write_csv(tmp_path / "t.csv")
        return tmp_path / "t.csv"

    schema = Schema([Attribute("patient", role="id"), Attribute("region", ["n", "s"])])
    assert encode(table(["a", "b", "c"]), schema).rows == 3
    message = refused(table(["a", "b", "a", "c", "c", "c"]), schema)
    assert message.startswith(
        "The id column 'patient' repeats: 5 rows share an id with another, and one row per person"
    )
    assert "2 rows have no id" in refused(table(["a", None, ""]), schema)
    numbers = Schema([Attribute("patient", role="id", type="integer"), Attribute("region", ["n", "s"])])
    assert "2 rows share an id" in refused(table(["7", "007"]), numbers)
    assert "1 row holds something that is not a whole number" in refused(table(["7", "x"]), numbers)
    assert encode(table(["7", "007"]), schema).rows == 2  # different texts


def test_ids_of_other_types():
    schema = Schema([Attribute("patient", role="id"), Attribute("region", ["n", "s"])])
    for ids in ([1, 2], [1.0, 2.0], [True, False]):
        assert encode(pl.DataFrame({"patient": ids, "region": ["n", "s"]}), schema).rows == 2
    assert "1 row has no id" in refused(pl.DataFrame({"patient": [1.0, float("nan")], "region": ["n", "s"]}), schema)


def test_a_released_table_has_no_id_and_no_dropped_columns():
    schema = Schema([Attribute("patient", role="id"), Attribute("x", role="drop"), Attribute("region", ["n", "s"])])
    assert encode_released(pl.DataFrame({"region": ["s"]}), schema).codes["region"].tolist() == [1]
    with pytest.raises(DataError, match="'patient' is not in the schema"):
        encode_released(pl.DataFrame({"region": ["s"], "patient": [1]}), schema)


@pytest.mark.parametrize("lazy", [False, True])
def test_no_rows(lazy):
    frame = pl.DataFrame({"region": [], "age": []}, schema={"region": pl.String, "age": pl.Int64})
    assert refused(frame.lazy() if lazy else frame) == "The table has no rows."
