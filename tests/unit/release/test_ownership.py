"""Who owns the codes of a table: readers leave them where they are, a release takes them over and frees them."""

import weakref

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._frames import encode
from pkanon._release import pipeline, unit_columns

SCHEMA = pk.Schema(
    [pk.Attribute.ranged("a", 0, 4), pk.Attribute.ranged("b", 0, 3), pk.Attribute.ranged("c", 0, 2)],
    [pk.Bundle(["a", "c"])],
)
NUMBER = np.arange(60)
TABLE = pl.DataFrame({"a": NUMBER % 5, "b": NUMBER % 4, "c": NUMBER % 3})


@pytest.fixture
def plan():
    return pk.plan(SCHEMA, records=60, k=2)


def test_a_record_is_not_emptied_by_whoever_reads_it(plan):
    encoded = encode(TABLE, SCHEMA)
    codes, rest = encoded.handed_over()
    unit_columns(plan, codes, exact_counts=False)
    assert codes == {}
    assert list(encoded.codes) == ["a", "b", "c"]
    assert encoded.codes["a"].tolist() == (NUMBER % 5).tolist()
    assert list(rest.codes) == []
    assert (rest.rows, rest.kind, rest.others) == (encoded.rows, encoded.kind, encoded.others)


@pytest.mark.parametrize("action", [pk.release, pk.check])
def test_the_columns_of_a_bundle_are_freed_when_they_are_joined(plan, action, monkeypatch):
    """Only the joined column is still there when the next step begins, whoever made it."""
    arrays = {}

    def watched(*arguments, **options):
        encoded = encode(*arguments, **options)
        arrays.update({name: weakref.ref(codes) for name, codes in encoded.codes.items()})
        return encoded

    def joined(plan, codes, **options):
        columns = unit_columns(plan, codes, **options)
        assert {name for name, array in arrays.items() if array() is None} == {"a", "c"}
        return columns

    monkeypatch.setattr(pipeline, "encode", watched)
    monkeypatch.setattr(pipeline, "unit_columns", joined)
    action(TABLE, plan)
    assert set(arrays) == {"a", "b", "c"}


def test_a_plan_can_release_one_table_twice(plan):
    first, second = (pk.release(TABLE, plan, randomness=pk.Seeded(3)).table for _ in range(2))
    assert first.equals(second)
