"""How tables will read: levels, counts, and the same errors as single predictions."""

import math

import pytest

import pkanon as pk
from pkanon._plan import LEVELS, level_of

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
