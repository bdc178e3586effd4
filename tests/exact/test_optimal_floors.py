"""Floors of optimal designs: no table of the floor is worse than in the paper."""

import math
import random
from fractions import Fraction

import pytest
from agreement import eigenvalue
from plans import schema_of
from workloads import RECORDS, SCHEMAS, TARGETS, l1_errors, least_gain, objective, tables_of, tables_up_to

import pkanon as pk
from pkanon._blocks import Agreement

FLOORED = [
    [3, 3],
    [2, 9],
    [2, 2, 2],
    [3, 3, 3],
    [2, 18, 12, 3],
    [5, 9, 4, 3],
    [1000, 2, 30],
    [2, 2, 2, 2, 2, 2],
    [4, 7, 2, 3, 3, 6, 5],
]


@pytest.mark.parametrize("sizes", FLOORED, ids=str)
@pytest.mark.parametrize("floor", [3, "all"])
def test_no_table_of_the_floor_is_worse_than_in_the_paper(sizes, floor):
    schema = schema_of(sizes)
    for target in TARGETS if len(sizes) < 6 else TARGETS[1::3]:
        more = {"records": RECORDS, **target}
        tables = tables_up_to(schema.names, 3 if floor == 3 else len(sizes))
        paper = l1_errors(pk.plan(schema, design="equal-rho", **more), tables)
        for workload in (1, 2, [("a0",)]):
            plan = pk.plan(schema, workload=workload, **({} if floor == 3 else {"floor": floor}), **more)
            gain, table = least_gain(plan, paper)
            assert gain >= 1 - 1e-5, (target, workload, table, gain)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_the_floor_holds_for_parts_of_a_bundle(target):
    schema = SCHEMAS["a bundle"]
    paper = pk.plan(schema, design="equal-rho", records=RECORDS, **target)
    plan = pk.plan(schema, records=RECORDS, **target)
    gain, table = least_gain(plan, l1_errors(paper, tables_up_to(schema.names, 3)))
    assert gain >= 1 - 1e-5, (table, gain)


def test_the_floor_holds_for_random_schemas(seed):
    draw = random.Random(seed)
    for _ in range(30):
        sizes = [draw.choice([2, 2, 3, 4, 5, 8, 12, 20, 45]) for _ in range(draw.randint(2, 5))]
        schema, epsilon = schema_of(sizes), 10 ** draw.uniform(-2, 1.2)
        paper = pk.plan(schema, design="equal-rho", records=RECORDS, epsilon=epsilon)
        plan = pk.plan(schema, records=RECORDS, epsilon=epsilon, workload=draw.choice([1, 2, "full"]))
        gain, table = least_gain(plan, l1_errors(paper, tables_up_to(schema.names, 3)))
        assert gain >= 1 - 1e-5, (sizes, epsilon, table, gain)


@pytest.mark.parametrize("sizes", [[50] * 12 + [2], [2] * 12 + [50]], ids=["one small", "one large"])
def test_the_floor_holds_for_more_units_than_a_block_has(sizes):
    """Here the solver may fail and another design take its place; that must keep the floor too."""
    schema = schema_of(sizes)
    paper = pk.plan(schema, design="equal-rho", records=10**6, k=2)
    plan = pk.plan(schema, records=10**6, k=2, workload=[("a12",)])
    gain, table = least_gain(plan, l1_errors(paper, tables_up_to(schema.names, 3)))
    assert gain >= 1 - 1e-5, (plan.asked, table, gain)


def test_the_floor_holds_for_a_huge_epsilon():
    schema = schema_of([2, 2**30, 2**30])
    paper = pk.plan(schema, design="equal-rho", records=10**6, epsilon=31)
    plan = pk.plan(schema, records=10**6, epsilon=31, workload=[("a0",)])
    gain, table = least_gain(plan, l1_errors(paper, tables_up_to(schema.names, 3)))
    assert gain >= 1 - 1e-5, (table, gain)


def test_without_a_floor_other_tables_may_be_worse():
    schema = schema_of([3, 3, 3, 3])
    paper = pk.plan(schema, design="equal-rho", records=RECORDS, epsilon=3)
    tables = tables_up_to(schema.names, 3)
    free = pk.plan(schema, records=RECORDS, epsilon=3, workload=1, floor=None)
    assert least_gain(free, l1_errors(paper, tables))[0] < 0.99
    floored = pk.plan(schema, records=RECORDS, epsilon=3, workload=1)
    assert least_gain(floored, l1_errors(paper, tables))[0] >= 1 - 1e-5
    ones = tables_of(schema.names, 1)
    assert objective(free, ones) <= objective(floored, ones) * (1 + 1e-6)


FLOORS = [
    {("a0",): 0.4},
    {("a0",): 0.2, ("a1",): 0.2},
    {("a0", "a2"): 0.15},
    {("a0",): 0.3, ("a1", "a2"): 0.03, ("a0", "a1", "a2"): 0.01},
]


@pytest.mark.parametrize("floor", FLOORS, ids=str)
def test_floors_of_ones_own_are_met(floor):
    plan = pk.plan(schema_of([2, 4, 3]), records=RECORDS, epsilon=1.5, floor=floor)
    (block,) = plan.blocks
    assert isinstance(block, Agreement)
    for table, least in floor.items():
        assert abs(eigenvalue(block, table)) >= Fraction(least) * (1 - Fraction(1, 10**6))
    assert plan.asked.fallback is None


def test_floors_that_contradict_each_other_are_explained():
    schema, more = schema_of([2, 4, 3]), {"records": RECORDS, "epsilon": 1}
    most = math.expm1(1) / (math.expm1(1) + 4)  # all of the budget on a1: 0.3005
    with pytest.raises(pk.TargetError, match=r"floor 0\.31 for a1 cannot be met: with this budget at most 0\.3005"):
        pk.plan(schema, floor={("a1",): 0.31}, **more)
    assert pk.plan(schema, floor={("a1",): most * 0.999}, **more).rho["a1"] >= most * 0.998
    with pytest.raises(pk.TargetError, match="cannot all be met with this budget, though each of them could alone"):
        pk.plan(schema, floor={("a0",): 0.4, ("a1",): 0.25}, **more)


def test_the_most_that_a_floor_can_be_is_named_right():
    """Of a x b alone (2 values each) the joint table keeps (e - 1)/(e + 3) = 0.30, but what varies along both axes
    can keep (e - 1)/(e + 1) = 0.46: a message about 0.45 must not say that 0.30 is the most."""
    schema, more = schema_of([2, 2]), {"records": RECORDS, "epsilon": 1}
    (block,) = pk.plan(schema, floor={("a0", "a1"): 0.45}, **more).blocks
    assert eigenvalue(block, ["a0", "a1"]) >= Fraction(0.45)
    with pytest.raises(pk.TargetError, match="cannot all be met"):
        pk.plan(schema, floor={("a0", "a1"): 0.45, ("a0",): 0.3}, **more)


@pytest.mark.parametrize(
    ("sizes", "epsilon"), [([3], 1), ([2] * 13, 1), ([3, 3], 1)], ids=["one unit", "13 units", "two units"]
)
def test_a_floor_that_is_out_of_reach_is_refused_whatever_the_schema(sizes, epsilon):
    with pytest.raises(pk.TargetError, match=r"[Ff]loor"):
        pk.plan(schema_of(sizes), records=RECORDS, epsilon=epsilon, floor={("a0",): 0.99})
