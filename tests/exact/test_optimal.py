"""Optimal designs (docs/why/theory.md 8): how good they are, and what they promise, from their integers.

The objective is computed here, from predictions of every table of the workload: V_M (c_M - 1), times a weight.
"""

import itertools
import json
import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from agreement import eigenvalue
from brute import highest_likelihood_ratio, highest_posterior
from dense import declared_words, whole
from digits import exp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plans import schema_of
from workloads import (
    MATRIX,
    RECORDS,
    SCHEMAS,
    SIMPLE,
    TARGETS,
    l1_errors,
    least_gain,
    objective,
    tables_of,
    tables_up_to,
    total_error,
    weighted,
)

import pkanon as pk
from pkanon._blocks import Agreement, Retention
from pkanon._design import optimal

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS["optimal_objective"])
def test_reference_objectives(vector):
    schema, workload = schema_of(vector["sizes"]), vector["workload_up_to"]
    plan = pk.plan(
        schema,
        records=vector["records"],
        k=vector["k"],
        design="optimal",
        workload=workload,
        weighting="absolute",
        floor=None,
    )
    found = objective(plan, tables_of(schema.names, workload))
    print(f"{vector['sizes']}, {workload}: {found / vector['objective'] - 1:+.1e}")
    assert found == pytest.approx(vector["objective"], rel=1e-3)
    assert plan.epsilon == pytest.approx(vector["epsilon"], rel=1e-4)


def workloads_of(names):
    weighted = {(names[0],): 3.0, tuple(names[-2:]): 0.25} if len(names) > 1 else {(names[0],): 3.0}
    return [1, 2, 3, "full", weighted]


def relative(plan, tables):
    """The weights of a workload, each divided by what its table could reach alone with the budget of ``plan``."""
    ratio = math.prod(block.epsilon_ratio for block in plan.blocks if block.kind != "matrix")
    fixed = [name for block in plan.blocks if block.kind == "matrix" for name in block.attributes]
    result = {}
    for table, weight in tables.items():
        inside = [name for name in table if name not in fixed]
        if inside:
            size = plan.predict(*inside).cells
            rho = float(ratio - 1) / (float(ratio - 1) + size)  # joint on M with everything
            alone = (size - 1) / size * (1 / rho**2 - 1)
            result[table] = weight / (plan.predict(*table).cells * alone)
    return result


def eigenvalues_up_to(plan, most):
    """|lam_T| for every set of up to ``most`` units, those of a schema (bundles stay together)."""
    units = list(plan.units)
    result = {}
    for chosen in (c for count in range(1, most + 1) for c in itertools.combinations(units, count)):
        value = 1.0
        for block in plan.blocks:
            inside = [unit for unit in chosen if unit in block.units]
            if isinstance(block, Agreement) and inside:
                value *= abs(float(eigenvalue(block, [unit.attributes[0] for unit in inside])))
            elif isinstance(block, Retention) and inside:
                value *= float(block.exact_rho)
        result[frozenset(name for unit in chosen for name in unit.attributes)] = value
    return result


def keeps_the_floor(plan, paper, design):
    """Whether a simple design has the eigenvalues of equal-rho for all sets of up to 3 units."""
    if design == "joint":
        rho = min(float(block.exact_rho) for block in plan.blocks if isinstance(block, Retention))
        return all(rho >= least for least in eigenvalues_up_to(paper, 3).values())
    mine = eigenvalues_up_to(plan, 3)
    return all(mine[table] >= least for table, least in eigenvalues_up_to(paper, 3).items())


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("name", [*SCHEMAS, "a matrix"])
def test_never_worse_than_a_simple_design(name, target):
    schema = SCHEMAS["mixed sizes" if name == "a matrix" else name]
    more = {"records": RECORDS, **target, **({"matrices": MATRIX} if name == "a matrix" else {})}
    if name == "a matrix" and target.get("epsilon", 1) < 0.318:  # the matrix alone spends more
        with pytest.raises(pk.TargetError, match="cannot be met"):
            pk.plan(schema, **more)
        return
    simple = {design: pk.plan(schema, design=design, **more) for design in SIMPLE}
    kept = {design: keeps_the_floor(plan, simple["equal-rho"], design) for design, plan in simple.items()}
    assert kept["equal-rho"]
    for workload in workloads_of(schema.names):
        plain = tables_of(schema.names, workload)
        errors = {design: {table: total_error(plan, table) for table in plain} for design, plan in simple.items()}
        for weighting, floor in itertools.product(("relative", "absolute"), (None, 3)):
            plan = pk.plan(schema, workload=workload, weighting=weighting, floor=floor, **more)
            tables = relative(simple["equal-rho"], plain) if weighting == "relative" else plain
            mine = objective(plan, tables)
            for design in simple:
                if floor is None or kept[design]:
                    best = weighted(errors[design], tables)
                    assert mine <= best * (1 + 1e-9), (workload, weighting, floor, design)


@st.composite
def asked_for(draw):
    sizes = draw(st.lists(st.integers(2, 60), min_size=1, max_size=5))
    records = draw(st.integers(10, 10**8))
    k = 1 + Fraction(draw(st.integers(1, 999)), 1000) ** 3 * (records - 1)
    epsilon = Fraction(draw(st.integers(1, 2500)), 100)
    what = draw(st.sampled_from(["k", "epsilon", "both"]))
    return sizes, records, None if what == "epsilon" else k, None if what == "k" else epsilon


@settings(max_examples=100)
@given(
    target=asked_for(),
    workload=st.sampled_from([1, 2, 3, "full"]),
    weighting=st.sampled_from(["relative", "absolute"]),
    floor=st.sampled_from([3, None, "all", 1]),
)
@example(target=([3, 3, 3], 10**6, None, Fraction(1)), workload=2, weighting="absolute", floor=None)
@example(target=([60] * 5, 10**8, None, Fraction(25)), workload=2, weighting="relative", floor=3)
@example(target=([2, 3], 10, Fraction(99, 10), None), workload=2, weighting="relative", floor=3)
def test_what_is_asked_for_is_reached(target, workload, weighting, floor):
    sizes, records, k, epsilon = target
    more = {"records": records, "k": k, "epsilon": epsilon, "workload": workload, "weighting": weighting}
    plan = pk.plan(schema_of(sizes), floor=floor, **more)
    ratio = math.prod((block.epsilon_ratio for block in plan.blocks), start=Fraction(1))  # from the integers
    for block in plan.blocks:
        if isinstance(block, Agreement):
            f = [
                Fraction(count, math.prod(u.size - 1 for bit, u in enumerate(block.units) if not mask >> bit & 1))
                for mask, count in enumerate(block.sets)
            ]
            assert sum(block.sets) == 2**64
            assert block.epsilon_ratio == max(f) / min(f)
    reached = 1 + (records - 1) / ratio**2
    assert plan.k_for(records) == reached
    wanted = []
    if k is not None:
        assert reached >= k
        wanted.append(k - 1)
    if epsilon is not None:
        assert ratio <= Fraction(exp(epsilon)) * (1 + Fraction(1, 10**80))
        wanted.append((records - 1) / Fraction(exp(2 * epsilon)))
    assert reached - 1 <= max(wanted) * Fraction(1001, 1000) * (1 + Fraction(1, 10**50))

    again = pk.Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    assert again.digest == plan.digest
    assert pk.plan(schema_of(sizes), floor=floor, **more) == plan  # no chance in it


def test_a_plan_says_what_was_asked():
    schema = schema_of([2, 3, 4])
    plan = pk.plan(schema, records=1000, k=5)
    assert plan.asked.to_json() == {
        "design": "optimal",
        "workload": "2",
        "weighting": "relative",
        "floor": "3",
        "k": "5",
    }
    plan = pk.plan(schema, records=1000, epsilon=2, workload={("a0", "a1"): 2.0, ("a2",): 0.5}, floor={("a2",): 0.1})
    assert plan.asked.to_json()["workload"] == "a0,a1=2; a2=0.5"
    assert plan.asked.to_json()["floor"] == "a2=0.1"
    assert pk.plan(schema, records=1000, epsilon=2, workload=["a0", ("a1", "a2")], floor=None).asked.to_json() == {
        "design": "optimal",
        "workload": "a0; a1,a2",
        "weighting": "relative",
        "floor": "none",
        "epsilon": "2",
    }


def test_negative_eigenvalues_where_they_pay(monkeypatch):
    """(3,3,3), eps = 1, 1- and 2-way tables: sum of V_M (c_M - 1) is 1936 against 4372, as docs/why/theory.md 8 says.

    (With V_M c_M both are higher by 3 x 3 + 3 x 9 = 36.) The second is the minimum over positive eigenvalues by the
    certificate below.
    """
    schema = schema_of([3, 3, 3])
    tables = tables_of(schema.names, 2)

    def solved():
        plan = pk.plan(schema, records=10**6, epsilon=1, workload=2, weighting="absolute", floor=None)
        return plan, objective(plan, tables)

    plan, best = solved()
    assert best <= 1973 * 1.01
    assert best == pytest.approx(1935.87, rel=1e-4)
    assert all(rho < 0 for rho in plan.rho.values())
    monkeypatch.setattr(optimal, "SMALL_EPSILON", 0.0)
    plan, positive = solved()
    assert positive == pytest.approx(4402, rel=0.01)
    assert positive == pytest.approx(4371.95, rel=1e-4)
    assert all(rho > 0 for rho in plan.rho.values())


@pytest.mark.parametrize("count", [12, 13, 60])
def test_many_attributes(count):
    """Tables of one and two attributes have smaller errors than in the simple designs, on average."""
    schema = schema_of([2 + i * 7 % 19 for i in range(count)])
    plans = {d: pk.plan(schema, records=10**6, k=2, design=d) for d in ("optimal", "equal-rho", "equal-epsilon")}
    plan = plans["optimal"]
    assert plan.asked.fallback is None
    assert all(isinstance(block, Agreement) for block in plan.blocks)
    assert plan.k_for(10**6) >= 2
    assert plan.k_for(10**6) - 1 <= Fraction(1001, 1000)
    tables = tables_up_to(schema.names, 2)
    errors = {design: l1_errors(plan, tables) for design, plan in plans.items()}
    for design in ("equal-rho", "equal-epsilon"):
        gains = [errors[design][table] / errors["optimal"][table] for table in tables]
        print(
            f"{count} attributes against {design}: {np.exp(np.mean(np.log(gains))):.2f} times, at least {min(gains):.4f}"
        )
        assert np.mean(list(errors["optimal"].values())) < np.mean(list(errors[design].values()))
        assert np.exp(np.mean(np.log(gains))) > 1
    threes = random.Random(count).sample(list(itertools.combinations(schema.names, 3)), 100)
    assert min(errors["equal-rho"][table] / errors["optimal"][table] for table in tables) >= 1 - 1e-5
    assert least_gain(plan, l1_errors(plans["equal-rho"], threes))[0] >= 1 - 1e-5


@pytest.mark.parametrize(
    ("sizes", "records", "more"),
    [
        ([2, 2], 3, {"k": "2.2"}),
        ([2, 2], 2, {"epsilon": 1, "floor": {("a0",): 0.35}}),
        ([2, 3], 2, {"epsilon": "0.7", "floor": None}),
        ([3, 3], 2, {"epsilon": "0.5", "floor": None, "weighting": "absolute"}),
    ],
    ids=str,
)
def test_k_and_epsilon_by_brute_force(sizes, records, more):
    """Theorem 2 and differential privacy over all tables and releases: exactly what the plan certifies."""
    plan = pk.plan(schema_of(sizes), records=records, **more)
    (block,) = plan.blocks
    assert isinstance(block, Agreement)
    matrix = whole(declared_words(block))
    assert highest_posterior(matrix, records) == 1 / plan.k_for(records)
    assert highest_likelihood_ratio(matrix, records) == plan.epsilon_ratio
    if "k" in more:
        assert plan.k_for(records) >= Fraction(more["k"])
    else:
        assert plan.epsilon_ratio <= Fraction(exp(Fraction(more["epsilon"])))
