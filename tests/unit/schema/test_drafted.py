"""A draft stays a draft, whoever takes it apart and puts it together again, until a person confirms it."""

import copy
import dataclasses
import pickle

import polars as pl
import pytest

import pkanon as pk
from pkanon._schema import parse

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
        [copy.copy(DRAFT.attribute("sex"))],
        dataclasses.replace(DRAFT, bundles=[pk.Bundle(["sex", "job"])]).attributes,
        parse('domains = "drafted"\n[attributes.a]\nvalues = ["x", "y"]').attributes,
        parse('[attributes.a]\nvalues = ["x", "y"]\ndrafted = true\n[attributes.b]\nrange = [1, 3]').attributes,
        parse("[attributes.a]\nbins = { start = 0, stop = 9, width = 3 }\ndrafted = true").attributes,
    ],
)
def test_the_mark_travels_with_the_attributes(attributes):
    schema = pk.Schema(attributes)
    assert schema.drafted
    assert pk.plan(schema, records=100, k=2).void_reasons
    assert "drafted = true" in schema.to_toml()
    assert parse(schema.to_toml()).draft == schema.draft


def test_confirming_takes_it_away():
    schema = DRAFT.confirm(by="J. Doe", rows_are="one person")
    assert (schema.drafted, schema.confirmed_by, schema.rows_are) == (False, "J. Doe", "one person")
    assert not pk.Schema(schema.attributes).drafted
    assert not pk.plan(schema, records=100, k=2).void_reasons
    assert DRAFT.drafted  # itself it stays as it was
    bundled = pk.Schema(DRAFT.attributes, [pk.Bundle(["sex", "job"])], rows_are="one visit")
    assert bundled.confirm(by="J. Doe").rows_are == "one visit"
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


MIXED = pk.Schema([OWN, DRAFT.attribute("sex"), pk.Attribute("note", role="drop")])


@pytest.mark.parametrize(
    "schema",
    [
        MIXED,
        parse(MIXED.to_toml()),
        dataclasses.replace(MIXED, bundles=[]),
        pickle.loads(pickle.dumps(MIXED)),
        pk.Plan.from_json(pk.plan(MIXED, records=100, k=2).to_json()).schema,
    ],
)
def test_only_what_was_drafted_has_the_mark(schema):
    assert schema.drafted
    assert [attribute.name for attribute in schema.draft] == ["sex"]
    assert schema == MIXED
    plan = pk.plan(schema, records=100, k=2).to_json()
    assert (plan["domains"], plan["drafted"]) == ("drafted", ["sex"])


@pytest.mark.parametrize("drafted", [[], ["own"], ["sex", "own"], ["nobody"], "sex", None, 3])
def test_a_plan_says_exactly_what_is_drafted(drafted):
    data = pk.plan(MIXED, records=100, k=2).to_json()
    if drafted == ["own"]:
        changed = pk.Plan.from_json(data | {"drafted": drafted})
        assert [attribute.name for attribute in changed.schema.draft] == ["own"]
        return
    with pytest.raises(pk.PlanError, match="damaged"):
        pk.Plan.from_json(data | {"drafted": drafted})


def test_without_values_there_is_nothing_to_draft():
    assert not pk.Attribute("note", role="drop", drafted=True).drafted
    assert not pk.Schema([OWN, pk.Attribute("note", role="id", drafted=True)]).drafted
    with pytest.raises(pk.SchemaError, match="drafted must be true or false"):
        parse('[attributes.a]\nvalues = ["x", "y"]\ndrafted = "yes"')


UNDECIDED = """
[attributes.own]
values = ["x", "y"]
[attributes.remark]
role = "undecided"
[attributes.job]
role = "undecided"
bins = { start = 0, stop = 9, width = 3 }
drafted = true
"""


def test_nothing_is_planned_while_a_column_is_undecided():
    schema = parse(UNDECIDED)
    assert parse(schema.to_toml()) == schema
    assert [attribute.name for attribute in schema.undecided] == ["remark", "job"]
    assert schema.attribute("job").size == 3
    block = pk.plan(pk.Schema([OWN]), records=100, k=2).blocks
    for refused in (
        lambda: pk.plan(schema, records=100, k=2),
        lambda: pk.Plan(schema, block, 100),
        lambda: pk.plan_for_error(schema, records=100, tables=[("own",)], error=0.1),
        lambda: pk.records_needed(schema, k=2, tables=[("own",)], error=0.1),
        lambda: schema.confirm(by="J. Doe"),
    ):
        with pytest.raises(pk.SchemaError, match="Nobody has given a role to 'remark', 'job'; set role"):
            refused()
    only = parse('[attributes.remark]\nrole = "undecided"')  # a draft may find no column that is safe
    assert (only.randomised, len(only.undecided)) == ((), 1)
    with pytest.raises(pk.SchemaError, match="needs values"):
        pk.Attribute("remark", role="undecided", other="x")
