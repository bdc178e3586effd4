"""How tables will read: levels, counts, and the same errors as single predictions."""

import json
import math
import random
from dataclasses import replace

import pytest

import pkanon as pk
from pkanon._plan import LEVELS, Reading, level_of
from pkanon._plan.readable import error_text, readings
from pkanon._report.claims import error_text as report_error
from pkanon._results.charts.readability import _percent as chart_percent

SCHEMA = pk.Schema(
    [pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9), pk.Attribute("job", ["a", "b"])]
)


@pytest.mark.parametrize(
    ("l1", "level"),
    [
        (0.0, "good"),
        (0.0999, "good"),
        (0.1, "fair"),
        (0.2999, "fair"),
        (0.3, "poor"),
        (0.999, "poor"),
        (1.0, "not readable"),
        (math.inf, "not readable"),
    ],
)
def test_levels(l1, level):
    assert level_of(l1) == level


@pytest.mark.parametrize("design", ["equal-rho", "optimal", "joint"])
def test_errors_are_those_of_single_predictions(design):
    plan = pk.plan(SCHEMA, records=5_000, k=20, design=design)
    readable = plan.readable()
    assert len(readable.tables) == 3 + 3
    for table in readable.tables:
        assert table.l1 == plan.predict(*table.attributes).l1
        assert table.cells == plan.predict(*table.attributes).cells


def test_counts_best_and_worst():
    readable = pk.plan(SCHEMA, records=5_000, k=20).readable()
    assert sum(readable.counts(1).values()) == 3
    assert sum(readable.counts(2).values()) == 3
    assert sum(readable.counts().values()) == 6
    assert list(readable.counts()) == list(LEVELS)
    assert readable.best.l1 <= min(table.l1 for table in readable.tables)
    assert readable.worst.name == "sex x rooms" or readable.worst.name == "rooms x job"
    assert readable.of("rooms", "sex") is readable.of("sex", "rooms")


def test_more_rows_read_better():
    plan = pk.plan(SCHEMA, records=5_000, k=20)
    for few, many in zip(plan.readable(records=1_000).tables, plan.readable(records=100_000).tables):
        assert many.l1 == pytest.approx(few.l1 / 10)
    assert plan.readable().records == 5_000


def test_what_is_destroyed_is_not_readable():
    unit = pk.Unit(("sex",), (2,))
    plan = pk.Plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), (pk.Retention(unit, replace=2**31),), 1_000)
    assert plan.readable().of("sex").level == "not readable"


def test_named_tables_of_any_number_of_attributes():
    plan = pk.plan(SCHEMA, records=5_000, k=20)
    readable = plan.readable([("job", "rooms", "sex"), ("rooms", "sex"), "job", ("sex", "rooms")])
    assert len(readable.tables) == 7
    assert readable.of("sex", "rooms", "job").l1 == plan.predict("sex", "rooms", "job").l1
    assert [table.attributes for table in readable.named] == [("job", "rooms", "sex"), ("sex", "rooms"), ("job",)]
    assert readable.counts() == {level: sum(found[level] for found in readable.orders.values()) for level in LEVELS}
    assert list(readable.orders) == [1, 2, 3]


@pytest.mark.parametrize("table", [("sex", "age"), ("sex", "sex"), (), ("sex", "rooms", "sex")])
def test_what_is_no_table(table):
    with pytest.raises(pk.InputError):
        pk.plan(SCHEMA, records=5_000, k=20).readable([table])


def test_usable_and_ranked():
    readable = pk.plan(SCHEMA, records=5_000, k=20).readable()
    assert readable.usable == sum(table.l1 < 0.3 for table in readable.tables)
    errors = [table.l1 for table in readable.ranked]
    assert errors == sorted(errors)
    assert (readable.ranked[0], readable.ranked[-1].l1) == (readable.best, readable.worst.l1)


def test_as_data():
    readable = pk.plan(SCHEMA, records=5_000, k=20).readable()
    frame = readable.to_polars()
    assert frame.columns == ["table", "attributes", "cells", "l1", "level", "exact", "model_l1"]
    assert frame["l1"].to_list() == [table.l1 for table in readable.tables]
    data = json.loads(json.dumps(readable.to_json()))
    assert [tuple(table["attributes"]) for table in data["tables"]] == [t.attributes for t in readable.tables]
    assert data["counts"] == {"1": readable.counts(1), "2": readable.counts(2)}


def test_as_text_and_in_a_notebook():
    readable = pk.plan(SCHEMA, records=5_000, k=20).readable([("sex", "rooms", "job")])
    lines = str(readable).splitlines()
    assert lines[0] == readable.summary
    assert [line.split()[0] for line in lines[2:]] == ["one", "two", "three", "named", "best:", "worst:"]
    assert "<script" not in readable._repr_html_()
    odd = pk.Schema([pk.Attribute("<b>", ["F", "M"]), pk.Attribute("c", ["F", "M"])])
    assert "&lt;b&gt;" in pk.plan(odd, records=1_000, k=20).readable()._repr_html_()


def test_one_attribute_alone():
    readable = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20).readable()
    assert readable.summary == "1 table of one attribute: 1 good"
    assert "worst" not in str(readable)
    assert "best: sex" in str(readable)


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({}, ["sex", "rooms", "job", "sex x rooms", "sex x job", "rooms x job"]),
        ({"workload": 1}, ["sex", "rooms", "job"]),
        ({"workload": "full"}, ["sex x rooms x job"]),
        ({"workload": [("job", "sex")]}, ["job x sex"]),
        ({"design": "equal-rho"}, ["sex", "rooms", "job", "sex x rooms", "sex x job", "rooms x job"]),
    ],
)
def test_the_tables_that_a_plan_serves(more, names):
    plan = pk.plan(SCHEMA, records=5_000, k=20, **more)
    assert [table.name for table in plan.served().tables] == names
    assert plan.served(records=500).records == 500


def test_a_workload_of_too_many_tables_is_cut():
    schema = pk.Schema([pk.Attribute(f"c{number}", ["a", "b"]) for number in range(90)])
    made = pk.plan(schema, records=5_000, k=20, design="equal-rho")
    asked = replace(made, asked=replace(made.asked, workload=80))
    assert {len(table.attributes) for table in asked.served().tables} == {1, 2}


def test_more_cells_than_floats_can_count():
    schema = pk.Schema([pk.Attribute.ranged(f"c{number}", 1, 1_000) for number in range(150)])
    plan = pk.plan(schema, records=5_000, k=20, design="equal-rho")
    assert plan.predict(*schema.names).l1 == math.inf
    assert plan.readable([schema.names]).of(*schema.names).level == "not readable"


@pytest.mark.parametrize(
    ("l1", "text", "percent"),
    [
        (0.0249, "0.025", "2.5"),
        (0.0996, "0.0996", "9.9"),
        (0.1595, "0.16", "16"),
        (0.298, "0.298", "29"),
        (0.29996, "0.29996", "29"),
        (0.3, "0.3", "30"),
        (0.9999, "0.9999", "99"),
        (1.6, "1.6", "160"),
    ],
)
def test_an_error_is_rounded_but_never_into_another_level(l1, text, percent):
    assert error_text(Reading(("a",), 4, l1, True)) == text
    assert chart_percent(l1) == percent
    assert level_of(float(report_error(l1).removeprefix("error ").removesuffix("%")) / 100) == level_of(l1)


def test_readings_of_some_tables_are_those_among_all_of_them():
    plan = pk.plan(pk.demo_schema(), records=50_000, k=20)
    names = [attribute.name for attribute in plan.schema.randomised]
    draws = random.Random(1)
    for _ in range(50):
        tables = [tuple(draws.sample(names, draws.randint(1, 5))) for _ in range(4)]
        assert tuple(readings(plan._predictor, 5_000, names, tables)) == plan.readable(tables, records=5_000).named
    for wrong in (("sex", "sex"), ("sex", "sexes"), ()):
        with pytest.raises(pk.InputError):
            readings(plan._predictor, 5_000, names, [wrong])
