"""A solver that fails is replaced and that is said; what cannot be designed is refused."""

import math
from fractions import Fraction

import pytest
from digits import exp
from plans import schema_of
from workloads import MATRIX, RECORDS, SIMPLE, l1_errors, least_gain, objective, tables_of

import pkanon as pk
from pkanon._design import optimal


@pytest.mark.parametrize("sizes", [[3, 4, 2], [3] * 13], ids=["one block", "two blocks"])
def test_a_solver_that_fails_is_replaced_and_that_is_said(sizes, monkeypatch):
    monkeypatch.setattr(optimal, "_solve_once", lambda *_: (None, False))
    schema = schema_of(sizes)
    plan = pk.plan(schema, records=RECORDS, epsilon=2)
    design, _, why = plan.asked.fallback.partition(":")
    assert design in SIMPLE
    assert why
    other = pk.plan(schema, records=RECORDS, epsilon=2, design=design)
    assert plan.blocks == other.blocks
    assert plan.epsilon_ratio <= Fraction(exp(Fraction(2)))
    assert plan.asked.design == "optimal"
    assert pk.Plan.from_json(plan.to_json()) == plan
    paper = pk.plan(schema, records=RECORDS, epsilon=2, design="equal-rho")
    gain, table = least_gain(plan, l1_errors(paper, [("a0",), ("a1",)]))
    assert gain >= 1 - 1e-5, table


def test_a_solver_that_fails_without_a_floor_leaves_the_best_simple_design(monkeypatch):
    monkeypatch.setattr(optimal, "_solve_once", lambda *_: (None, False))
    schema, tables = schema_of([2, 18, 12, 3]), tables_of([f"a{i}" for i in range(4)], "full")
    more = {"records": RECORDS, "k": 2}
    plan = pk.plan(schema, workload="full", weighting="absolute", floor=None, **more)
    errors = {design: objective(pk.plan(schema, design=design, **more), tables) for design in SIMPLE}
    best = min(errors, key=errors.get)
    assert best == "joint"
    assert plan.asked.fallback.startswith("joint:")
    assert objective(plan, tables) == pytest.approx(errors[best], rel=1e-12)


REFUSED = {
    "workload in words": ({"workload": "pairs"}, "workload 'pairs' is unknown"),
    "workload 0": ({"workload": 0}, "at least 1"),
    "workload -1": ({"workload": -1}, "at least 1"),
    "workload true": ({"workload": True}, "workload True is unknown"),
    "workload 2.5": ({"workload": 2.5}, "workload"),
    "workload none": ({"workload": None}, "workload"),
    "empty": ({"workload": []}, "empty"),
    "empty mapping": ({"workload": {}}, "empty"),
    "a table of nothing": ({"workload": [()]}, "at least one attribute"),
    "twice in a table": ({"workload": [("age", "age")]}, "each once"),
    "unknown name": ({"workload": [("agee", "sex")]}, "Did you mean 'age'"),
    "weight 0": ({"workload": {("age",): 0}}, "positive number"),
    "weight -1": ({"workload": {("age",): -1.0}}, "positive number"),
    "weight nan": ({"workload": {("age",): math.nan}}, "positive number"),
    "weight inf": ({"workload": {("age",): math.inf}}, "positive number"),
    "weight in words": ({"workload": {("age",): "much"}}, "positive number"),
    "weighting": ({"weighting": "fair"}, "weighting 'fair' is unknown"),
    "floor in words": ({"floor": "most"}, "floor = most"),
    "floor 0": ({"floor": 0}, "floor = 0"),
    "floor -1": ({"floor": -1}, "floor = -1"),
    "floor true": ({"floor": True}, "floor = True"),
    "floor 2.5": ({"floor": 2.5}, "floor"),
    "floor for an unknown name": ({"floor": {("sx",): 0.1}}, "Did you mean 'sex'"),
    "floor above 1": ({"floor": {("sex",): 1.5}}, "cannot be met"),
    "design": ({"design": "optimum"}, "Did you mean 'optimal'"),
}


@pytest.mark.parametrize(("more", "match"), REFUSED.values(), ids=REFUSED)
def test_refusals(more, match):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("age", 1, 9), pk.Attribute("x", [1, 2])])
    with pytest.raises(pk.TargetError, match=match):
        pk.plan(schema, records=1000, epsilon=1, **more)


def test_an_unknown_floor_is_refused_for_one_attribute_too():
    with pytest.raises(pk.TargetError, match="floor = most"):
        pk.plan(schema_of([3]), records=1000, epsilon=1, floor="most")


def test_too_many_tables_are_refused():
    with pytest.raises(pk.TargetError, match=r"tables; 100,000 can be weighed"):
        pk.plan(schema_of([2] * 60), records=1000, epsilon=1, workload=4)  # 60 + 1770 + 34220 + 487635


def test_a_workload_that_only_has_a_given_matrix_is_refused():
    with pytest.raises(pk.TargetError, match="no table that the design could change"):
        pk.plan(schema_of([2, 3]), records=1000, epsilon=1, matrices=MATRIX, workload=[("a0",)])
