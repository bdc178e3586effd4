"""Planning backwards: the plan that just meets an error, and the chart of what privacy costs."""

import json
import math
from fractions import Fraction

import pytest

import pkanon as pk
from pkanon._design import DESIGNS
from pkanon._design.central import CentralTarget
from pkanon._plan import central_epsilon

SCHEMA = pk.Schema(
    [pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("age", 0, 6), pk.Attribute.ranged("job", 1, 4)]
)
TABLES = [("sex", "age")]


def worst(plan, tables=TABLES):
    return max(plan.predict(*table).standard_error for table in tables)


@pytest.mark.parametrize("design", ["optimal", "equal-rho"])
def test_afford_finds_the_most_private_plan_within_the_error(design):
    plan = pk.plan_for_error(SCHEMA, records=20_000, tables=TABLES, error=0.01, design=design)
    assert worst(plan) <= 0.01
    options = {"workload": TABLES} if design == "optimal" else {}
    # the search stops within 0.1% of epsilon: 0.5% less is too private for this error
    tighter = pk.plan(SCHEMA, records=20_000, epsilon=plan.epsilon * 0.995, design=design, **options)
    assert worst(tighter) > 0.01
    assert tighter.k > plan.k


def test_a_larger_error_affords_a_larger_k():
    found = [pk.plan_for_error(SCHEMA, records=20_000, tables=TABLES, error=error).k for error in (0.003, 0.01, 0.03)]
    assert found == sorted(found)
    assert found[0] < found[-1] / 5


@pytest.mark.parametrize("target", [{"k": 50}, {"epsilon": 2.0}, {"k": 50, "epsilon": 2.0}])
def test_records_needed_are_the_fewest(target):
    plan = pk.records_needed(SCHEMA, tables=TABLES, error=0.01, **target)
    assert worst(plan) <= 0.01
    fewer = math.floor(plan.records * 0.99)  # found to 0.1%
    assert worst(pk.plan(SCHEMA, records=fewer, workload=TABLES, **target)) > 0.01
    assert plan.k >= target.get("k", 1)
    assert plan.epsilon <= target.get("epsilon", math.inf)


def test_both_questions_have_one_answer():
    plan = pk.records_needed(SCHEMA, tables=TABLES, error=0.01, k=50)
    assert pk.plan_for_error(SCHEMA, records=plan.records, tables=TABLES, error=0.01).k == pytest.approx(50, rel=0.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": TABLES, "error": 2}, "is a share of all people"),
        ({"tables": TABLES, "error": 0}, "is a share of all people"),
        ({"tables": [], "error": 0.01}, "at least one table"),
        ({"tables": [("sex", "aeg")], "error": 0.01}, "Did you mean 'age'"),
    ],
)
def test_what_cannot_be_afforded_is_explained(arguments, message):
    with pytest.raises(pk.InputError, match=message):
        pk.plan_for_error(SCHEMA, records=20_000, **arguments)


def test_an_error_can_be_out_of_reach_whatever_the_privacy():
    wide = pk.Schema([pk.Attribute.ranged(f"a{i}", 1, 20) for i in range(14)])
    with pytest.raises(pk.TargetError, match=r"cannot be met with 100 records whatever the privacy; the least is "):
        pk.plan_for_error(wide, records=100, tables=[("a0", "a1", "a2")], error=1e-6, design="equal-epsilon")


def test_records_needed_needs_a_target():
    with pytest.raises(pk.TargetError, match="k, for epsilon or for both"):
        pk.records_needed(SCHEMA, tables=TABLES, error=0.01)
    with pytest.raises(pk.TargetError, match="More than 1,000,000,000,000 records"):
        pk.records_needed(SCHEMA, tables=TABLES, error=1e-9, epsilon=0.01)


def test_tradeoff_has_a_line_per_design_and_a_chart(tmp_path):
    found = pk.tradeoff(SCHEMA, records=5_000, k=10, tables=TABLES)
    frame = found.to_polars()
    assert set(frame["design"]) == set(DESIGNS)
    for design in DESIGNS:
        by_k = frame.filter((frame["design"] == design) & (frame["varied"] == "k")).sort("k")
        # more privacy, more error; an optimal design may trade one table for another on the way
        assert by_k["l1"].is_sorted() if design != "optimal" else by_k["l1"][0] < by_k["l1"][-1]
        by_n = frame.filter((frame["design"] == design) & (frame["varied"] == "records")).sort("records")
        assert by_n["l1"].is_sorted(descending=True) if design != "optimal" else by_n["l1"][0] > by_n["l1"][-1]
    row = frame.filter((frame["design"] == "joint") & (frame["k"] == 100) & (frame["varied"] == "k")).to_dicts()[0]
    plan = pk.plan(SCHEMA, records=5_000, k=100, design="joint")
    assert row["l1"] == pytest.approx(plan.predict("sex", "age").l1)
    pk.save_chart(found.chart(), tmp_path / "cost.svg")
    text = (tmp_path / "cost.svg").read_text(encoding="utf-8")
    assert all(word in text for word in ("What privacy costs", "equal-rho", "optimal", "records"))
    assert json.dumps(found.to_json())


def test_central_is_far_below_local_and_needs_a_small_delta():
    plan = pk.plan(SCHEMA, records=20_000, k=50)
    found = plan.central()
    assert found.lower <= found.epsilon < plan.epsilon / 5
    assert found.delta == 1 / 200_000
    assert plan.central(1e-9).epsilon > found.epsilon
    for delta in (1e-3, 0.0, 1 / 20_000):
        with pytest.raises(pk.TargetError, match="below 1/records"):
            plan.central(delta)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_central_target_is_met_and_not_missed_by_much(design):
    plan = pk.plan(SCHEMA, records=20_000, central_epsilon=0.3, design=design)
    delta = float(plan.asked.delta)
    assert 0.3 * (1 - 0.002) <= plan.central(delta).epsilon <= 0.3
    tight = pk.plan(SCHEMA, records=20_000, central_epsilon=0.3, k=2_000, design=design)
    assert tight.k >= 2_000  # the tighter one binds


def schema_of(*sizes):
    return pk.Schema([pk.Attribute.ranged(f"q{i}", 1, size) for i, size in enumerate(sizes)])


def test_a_central_target_is_used_where_few_rows_hide_the_others():
    # a row that is kept is one of a million possible ones; quick bounds are many times too high
    plan = pk.plan(schema_of(16, 46, 39, 40), records=1_000, central_epsilon=1, delta=1e-5, design="joint")
    assert 0.995 <= plan.central(1e-5).epsilon <= 1


def test_a_budget_beyond_one_that_is_too_large_may_be_good_again():
    # another design is the best there, and its rows hide each other better
    schema, records, delta = schema_of(19, 38, 43), 860_000, 1e-16
    asked = {"records": records, "floor": 1}
    central = [pk.plan(schema, epsilon=epsilon, **asked).central(delta).epsilon for epsilon in (9.9, 10.4, 11.1)]
    assert central[0] < 2.1 < central[1]
    assert central[2] < 2.1
    plan = pk.plan(schema, central_epsilon=2.1, delta=delta, **asked)
    assert plan.epsilon >= 11.1
    assert plan.central(delta).epsilon <= 2.1


@pytest.mark.parametrize("delta", [1e-6, 1e-310])
def test_central_targets_of_any_size_are_numbers(delta):
    for target in (1e-9, 19, 1e5):
        plan = pk.plan(schema_of(3, 2), records=1_000, central_epsilon=target, delta=delta)
        assert plan.central(delta).epsilon <= target


@pytest.mark.parametrize(
    ("records", "target", "delta", "epsilon"),
    [(2, 700, None, 20), (1_000, 400, None, 20), (2, 25, None, 20), (20, 12, 1e-200, 12), (2, 5, 1e-300, 5)],
)
def test_a_central_target_allows_itself_for_a_local_epsilon(records, target, delta, epsilon):
    """Where nobody else hides a row, that is all there is, and the search must not stop before."""
    plan = pk.plan(schema_of(2, 7), records=records, central_epsilon=target, delta=delta, design="equal-rho")
    assert 0.999 * epsilon <= plan.epsilon <= epsilon


def test_a_tiny_central_target_is_met_where_delta_allows_all():
    assert pk.plan(schema_of(2, 7), records=2, central_epsilon="1e-10", design="equal-rho").epsilon > 0.2


def test_central_targets_that_cannot_be():
    for arguments, message in (
        ({"central_epsilon": 0.3, "delta": 0.01}, "below 1/records"),
        ({"delta": 1e-9, "k": 5}, "goes with central_epsilon"),
        ({"central_epsilon": 0}, "above 0"),
        ({"central_epsilon": 0.3, "hide_count": "9/10"}, "hidden record count"),
        ({"central_epsilon": "1e-400"}, "not a number that can be used"),
        ({"central_epsilon": "1e400"}, "not a number that can be used"),
        ({"central_epsilon": 1, "k": 2, "records": 2}, "nothing about anybody"),
    ):
        with pytest.raises(pk.TargetError, match=message):
            pk.plan(SCHEMA, **({"records": 20_000} | arguments))


@pytest.mark.parametrize(("sizes", "design"), [([9] * 20, "optimal"), ([2] * 13, "equal-rho")])
def test_too_many_units_for_a_central_target_are_refused_before_they_are_designed(sizes, design, monkeypatch):
    monkeypatch.setattr(CentralTarget, "meet", lambda *arguments: pytest.fail("something was designed"))
    with pytest.raises(pk.TargetError, match=f"has {len(sizes)} units; a central epsilon is computed for 1 to 12"):
        pk.plan(schema_of(*sizes), records=20_000, central_epsilon=1, design=design)


def test_many_attributes_that_are_best_as_one_unit_have_a_central_target():
    plan = pk.plan(schema_of(*[2] * 13), records=20_000, central_epsilon=1, workload="full", floor=None)
    assert len(plan.blocks) == 1
    assert 0.99 <= plan.central().epsilon <= 1


@pytest.mark.parametrize("k", [4, 5, 6])
def test_a_solver_that_gets_stuck_is_asked_again(k):
    """At k = 5 the first attempt fails; its neighbours do not, and the error hardly differs between them."""
    schema = pk.Schema([pk.Attribute.ranged(f"q{i}", 1, 3) for i in range(8)])
    plan = pk.plan(schema, records=20_000, k=k, workload=[("q0", "q1")])
    assert plan.asked.fallback is None
    assert plan.predict("q0", "q1").l1 < 0.02  # equal-rho: 0.32


def test_a_workload_that_leaves_whole_blocks_out():
    schema = pk.Schema([pk.Attribute.ranged(f"q{i}", 1, 3) for i in range(20)])
    plan = pk.plan(schema, records=20_000, k=5, workload=[("q0", "q1")])
    paper = pk.plan(schema, records=20_000, k=5, design="equal-rho")
    assert plan.predict("q0", "q1").l1 < paper.predict("q0", "q1").l1
    assert plan.predict("q7").l1 <= paper.predict("q7").l1 * (1 + 1e-5)


def _too_generous(units, t, limit):
    """One part in a thousand more budget than there is."""
    from pkanon._design.optimal import rounded

    return rounded(units, t, limit * 1001 / 1000)


def _keeps_more(units, split, limit, target, fixed):
    from pkanon._design.budget import retention_blocks

    return retention_blocks(units, split, limit * 1001 / 1000, target, fixed)


@pytest.mark.parametrize("target", [{"k": 50}, {"epsilon": 2.0}, {"k": 50, "hide_count": "9/10"}])
def test_no_plan_leaves_that_misses_its_target(monkeypatch, target):
    """Whatever goes wrong on the way, the finished integers are held against what was asked for."""
    import pkanon._design.assemble as assemble
    import pkanon._design.planning as design

    monkeypatch.setattr(assemble, "rounded", _too_generous)
    with pytest.raises(pk.TargetError, match="misses its target"):
        pk.plan(SCHEMA, records=20_000, **target)
    monkeypatch.setattr(design, "retention_blocks", _keeps_more)
    for name in ("equal-rho", "equal-epsilon", "joint"):
        with pytest.raises(pk.TargetError, match="misses its target"):
            pk.plan(SCHEMA, records=20_000, design=name, **target)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"design": "x"}, "design 'x' is unknown"),
        ({"floor": {"zz": 0.1}}, "floor names 'zz'"),
        ({"k": 1}, "asks for nothing"),
        ({"k": "abc"}, "not a number"),
        ({"tables": [5]}, "names at least one attribute"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(more, message):
    with pytest.raises(pk.PkanonError, match=message):
        pk.records_needed(SCHEMA, **({"k": 5, "tables": [SCHEMA.names[:1]], "error": 0.05} | more))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"k": "abc"}, "not a number"),
        ({"records": 0}, "number of rows"),
        ({"designs": ["x"]}, "design 'x' is unknown"),
        ({"tables": ["zz"]}, "'zz', which is not randomised"),
    ],
)
def test_a_tradeoff_that_cannot_be_drawn(more, message):
    with pytest.raises(pk.PkanonError, match=message):
        pk.tradeoff(SCHEMA, **({"k": 5, "records": 1_000} | more))


def test_a_tradeoff_counts_given_matrices():
    name = SCHEMA.names[0]
    size = SCHEMA.attribute(name).size
    matrix = pk.TransitionMatrix([[0.9 if i == j else 0.1 / (size - 1) for j in range(size)] for i in range(size)])
    how = {"records": 1_000, "k": 5, "tables": [(name,)], "designs": ["equal-rho"]}
    plain, given = (pk.tradeoff(SCHEMA, matrices=matrices, **how).to_polars() for matrices in (None, {name: matrix}))
    assert not plain["l1"].equals(given["l1"])
    assert given["l1"].n_unique() < plain["l1"].n_unique()  # the matrix is the same for every k


@pytest.mark.parametrize("delta", ["1e-6", 1e-6])
def test_delta_as_people_write_it(delta):
    plan = pk.plan(SCHEMA, records=20_000, k=20)
    assert plan.central(delta).delta == 1e-6
    with pytest.raises(pk.TargetError, match="delta = x"):
        plan.central("x")


@pytest.mark.parametrize("design", DESIGNS)
def test_no_plan_leaves_that_misses_its_central_target(monkeypatch, design):
    """The search is trusted with nothing: what it returns is held against the target once more."""
    monkeypatch.setattr(CentralTarget, "meet", lambda self, design, limit, *others: design(limit))
    with pytest.raises(pk.TargetError, match="misses its target"):
        pk.plan(SCHEMA, records=20_000, central_epsilon=0.01, design=design)


@pytest.mark.parametrize("delta", [1e-9, 1e-305])
def test_a_central_target_is_missed_by_the_least(delta):
    blocks = pk.plan(SCHEMA, records=20_000, k=20).blocks
    reached = Fraction(central_epsilon(blocks, 20_000, delta))
    CentralTarget(reached, delta, 20_000).check(blocks)
    with pytest.raises(pk.TargetError, match="misses its target"):
        CentralTarget(reached * 999 / 1000, delta, 20_000).check(blocks)


def test_delta_decides_also_where_the_noise_seems_to_be_the_same():
    target = CentralTarget(Fraction(1, 2), 1e-6, 20_000)
    assert target._over(0.5, 1e-6) <= 0
    assert target._over(0.5, math.nextafter(1e-6, 1)) > 0


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10), Fraction(3, 10), Fraction(1, 2) - Fraction(1, 10**30), Fraction(10**5)]
)
def test_what_is_proved_is_not_above_the_target(epsilon):
    assert Fraction(CentralTarget(epsilon, 1e-6, 20_000)._aim) <= epsilon


@pytest.mark.parametrize("above", [1.0001, 1.005, 1.02])
def test_a_local_epsilon_above_the_target_is_no_proof(above):
    """With a delta that no sum reaches, the local epsilon is the central one."""
    plan = pk.plan(SCHEMA, records=20_000, epsilon=4)
    local = Fraction(plan.epsilon)
    CentralTarget(local * 10_001 / 10_000, 1e-305, 20).check(plan.blocks)
    with pytest.raises(pk.TargetError, match="misses its target"):
        CentralTarget(local / Fraction(above), 1e-305, 20).check(plan.blocks)


@pytest.mark.parametrize(("target", "most"), [(0.05, 8), (0.5, 18), (3, 18)])
def test_a_central_target_is_met_after_few_looks(target, most):
    said = []
    plan = pk.plan(SCHEMA, records=20_000, central_epsilon=target, progress=lambda step, done: said.append(done))
    assert len(said) <= most
    assert 0.99 * target <= plan.central().epsilon <= target


def test_a_search_for_a_central_epsilon_tells_how_far_it_is():
    said = []
    plan = pk.plan(SCHEMA, records=20_000, central_epsilon=0.05, progress=lambda step, done: said.append((step, done)))
    shares = [done for _, done in said]
    assert {step for step, _ in said} == {"planning"}
    assert len(set(shares)) > 2
    assert shares == sorted(shares)
    assert 0 < shares[-1] <= 1
    assert 0.0495 <= plan.central().epsilon <= 0.05  # nearly all of the target is used
