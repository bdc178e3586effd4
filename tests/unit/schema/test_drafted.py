"""A draft stays a draft, whoever takes it apart and puts it together again, until a person confirms it."""

import copy
import pickle

import polars as pl
import pytest

import pkanon as pk

DRAFT = pk.draft_schema(pl.DataFrame({"sex": ["F", "M", "M"], "job": ["a", "b", "a"], "zip": [1, 2, 1]})).schema
OWN = pk.Attribute("own", ["x", "y"])


@pytest.mark.parametrize(
    "attributes",
    [
        DRAFT.attributes,
        DRAFT.attributes[:1],
        (OWN, DRAFT.attribute("sex")),
        pk.plan(DRAFT, records=100, k=2).schema.attributes,
        pk.Plan.from_json(pk.plan(DRAFT, records=100, k=2).to_json()).schema.attributes,
        pk.Schema(DRAFT.attributes, [pk.Bundle(["sex", "job"])]).attributes,
        copy.deepcopy(DRAFT.attributes),
        pickle.loads(pickle.dumps(DRAFT)).attributes,
        pk.Schema([OWN], drafted=True).attributes,
    ],
)
def test_the_mark_travels_with_the_attributes(attributes):
    schema = pk.Schema(attributes)
    assert schema.drafted
    assert pk.plan(schema, records=100, k=2).void_reasons
    assert schema.to_toml().startswith('domains = "drafted"')


def test_confirming_takes_it_away():
    schema = DRAFT.confirm(by="J. Doe", row="one person")
    assert (schema.drafted, schema.confirmed_by, schema.row_is) == (False, "J. Doe", "one person")
    assert not pk.Schema(schema.attributes).drafted
    assert not pk.plan(schema, records=100, k=2).void_reasons
    assert DRAFT.drafted  # itself it stays as it was
    bundled = pk.Schema(DRAFT.attributes, [pk.Bundle(["sex", "job"])], row_is="one visit")
    assert bundled.confirm(by="J. Doe").row_is == "one visit"
    assert bundled.confirm(by="J. Doe").bundles == bundled.bundles
    with pytest.raises(pk.SchemaError, match="still is drafted"):
        pk.Schema(DRAFT.attributes, confirmed_by="J. Doe")
    for nobody in ("", None, 3):
        with pytest.raises((pk.SchemaError, TypeError)):
            DRAFT.confirm(by=nobody)


def test_the_mark_is_no_part_of_an_attribute():
    drafted, own = DRAFT.attribute("sex"), pk.Attribute("sex", ["F", "M"])
    assert (drafted.drafted, own.drafted) == (True, False)
    assert drafted == own
    assert hash(drafted) == hash(own)
    assert drafted.to_json() == own.to_json()
    assert repr(drafted) == repr(own)
    assert not pk.Schema([own]).drafted
