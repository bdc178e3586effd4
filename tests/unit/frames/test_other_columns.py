"""Columns that the schema does not name: refused, or dropped unread where it says so."""

import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import encode
from pkanon._schema.toml import parse

SEX = pk.Attribute("sex", ["F", "M"])
MARKER = "Zebulon-Quagmire"


def test_they_are_refused_unless_the_schema_drops_them(tmp_path):
    frame = pl.DataFrame({"note": [MARKER, MARKER], "sex": ["F", "M"], "x": [1, 2]})
    frame.write_csv(tmp_path / "people.csv")
    for table in (frame, tmp_path / "people.csv"):
        with pytest.raises(pk.DataError, match=r"Column 'note' is not in the schema\..* others = .drop.") as caught:
            encode(table, pk.Schema([SEX]))
        assert MARKER not in str(caught.value)
        encoded = encode(table, pk.Schema([SEX], others="drop"))
        assert encoded.dropped == ("note", "x")
        assert list(encoded.codes) == ["sex"]


def test_declared_columns_must_still_be_there():
    frame = pl.DataFrame({"Sex": ["F", "M"], "age": [1, 2]})
    with pytest.raises(pk.DataError, match="has no column 'sex'"):
        encode(frame, pk.Schema([SEX], others="drop"))


def test_a_file_without_a_header_is_refused(tmp_path):
    (tmp_path / "people.csv").write_text(f"F,{MARKER}\nM,x\n")
    with pytest.raises(pk.DataError, match="Does the first line") as caught:
        encode(tmp_path / "people.csv", pk.Schema([SEX], others="drop"))
    assert MARKER not in str(caught.value)


def test_columns_that_cannot_be_read_do_not_matter():
    frame = pl.DataFrame({"sex": ["F", "M"], "odd": [[1], [2]]})
    assert encode(frame, pk.Schema([SEX], others="drop")).rows == 2


def test_the_schema_the_plan_and_the_certificate_say_it():
    schema = parse('others = "drop"\nattributes.sex.values = ["F", "M"]')
    assert schema == pk.Schema([SEX], others="drop")
    assert schema.digest != pk.Schema([SEX]).digest
    assert schema.confirm(by="J. Doe").others == "drop"
    plan = pk.plan(schema, records=100, k=2)
    assert plan.to_json()["others"] == "drop"
    assert pk.Plan.from_json(plan.to_json()) == plan
    release = pk.release(pl.DataFrame({"sex": ["F", "M"] * 50, "secret_column": [1] * 100}), plan)
    assert release.dropped == ("secret_column",)
    assert any("schema does not name" in sentence for sentence in release.certificate.outside)
    assert "secret_column" not in str(release.certificate.to_json()) + str(plan.to_json())
    assert any("dropped unread" in step for step in plan.steps)
    with pytest.raises(pk.SchemaError, match="others = 'keep' is unknown"):
        parse('others = "keep"\nattributes.sex.values = ["F", "M"]')
