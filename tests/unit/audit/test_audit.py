"""pk.audit: made-up tables, refusals, and what is said."""

import datetime as dt
import json
import math

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._audit.differential.inputs import MOST_COMBINATIONS, MOST_TABLES, covered_values, mixtures
from pkanon._audit.differential.tables import Pipeline
from pkanon._frames import encode

SCHEMA = pk.Schema(
    [
        pk.Attribute("id", role="id"),
        pk.Attribute("text", ["a", "b"], other="else", missing="value", missing_values=["NA"]),
        pk.Attribute("whole", [1, 2, 30], other=0),
        pk.Attribute("number", [0.5, 1.5]),
        pk.Attribute("flag", [True, False], missing="value"),
        pk.Attribute.ranged("rooms", 1, 4, other=99),
        pk.Attribute.binned("age", start=0, stop=40, width=20, open="high"),
        pk.Attribute.binned("height", edges=[1.5, 1.75], open="both", other="unknown"),
        pk.Attribute("note", role="drop"),
    ]
)
SEX = pk.Schema([pk.Attribute("sex", ["F", "M"])])
PLAN = pk.plan(SEX, records=1_000, epsilon=2)


def test_every_value_can_be_made_up():
    pipeline = Pipeline(pk.plan(SCHEMA, records=1_000, epsilon=5, design="equal-rho"))
    names = [attribute.name for attribute in SCHEMA.randomised]
    records = [{name: code % SCHEMA.attribute(name).size for name in names} for code in range(5)]
    table = pipeline._table([(record, 2) for record in records])
    codes = encode(table, pipeline.plan.schema).codes
    for name in names:
        assert codes[name].tolist() == np.repeat([record[name] for record in records], 2).tolist()


def test_tables_are_made_up_in_the_notation_of_the_schema():
    schema = pk.Schema(
        [
            pk.Attribute("a", [dt.date(2024, 2, 1), dt.date(5, 1, 2)], date_format="%d. %B %Y %I:%M %p"),
            pk.Attribute.binned("b", edges=[0.5, 1.5, 2e9], open="both", decimal=",", thousands=".", missing="value"),
            pk.Attribute("c", ["x", "y"], merge={"x": ["z"]}, other="w"),
            pk.Attribute.ranged("d", 1_000, 1_003, thousands="."),
        ],
        others="drop",
    )
    plan = pk.plan(schema, records=1_000, epsilon=5, design="equal-rho")
    assert len(Pipeline(plan).release([({"a": 1, "b": 2, "c": 0, "d": 3}, 1_000)])["a"]) == 1_000


def test_the_whole_way_is_run(monkeypatch):
    """From a table of texts to a release with a certificate, under a key of the operating system."""
    from pkanon._audit.differential import tables

    seen = []
    honest = tables.release

    def spy(table, plan, **options):
        made = honest(table, plan, **options)
        seen.append((set(table.dtypes), type(options["randomness"]), made.certificate.claims, table.height))
        return made

    monkeypatch.setattr(tables, "release", spy)
    pk.audit(PLAN, runs=100, rows=1_000)
    assert {dtype for dtypes, *_ in seen for dtype in dtypes} == {pl.String}
    assert {(key, claims) for _, key, claims, _ in seen} == {(pk.System, True)}
    assert sum(rows == 2 for *_, rows in seen) == 100
    assert sum(rows == 1_000 for *_, rows in seen) >= 5


def test_every_value_of_every_column_is_put_in():
    towns = pk.Schema([pk.Attribute.ranged("town", 1, 300), pk.Attribute.ranged("age", 0, 99), *SEX.attributes])
    plan = pk.plan(towns, records=1_000, epsilon=9, design="equal-rho")
    made = mixtures(plan, 10_000)
    assert len(made) == MOST_TABLES + 1
    assert [mixture.rows for mixture in made] == [10_000] * len(made)
    for attribute in towns.attributes:
        covering = [record[attribute.name] for mixture in made[:-1] for record in mixture.records]
        assert set(covering) == set(range(attribute.size))
    assert len(made[-1].records) > 0.9 * MOST_COMBINATIONS
    assert mixtures(plan, 10_000) == made  # they follow from the plan
    for mixture in made[:-1]:
        assert len(set(mixture.repeats)) == len(mixture.repeats)


def test_every_combination_is_put_in_if_there_are_few():
    plan = pk.plan(SCHEMA, records=1_000, epsilon=5, design="equal-rho")
    small = pk.plan(pk.Schema(SCHEMA.randomised[:3]), records=1_000, epsilon=5, design="equal-rho")
    assert len(mixtures(small, 1_000)[-1].records) == 4 * 4 * 2
    assert len(mixtures(plan, 1_000)[-1].records) <= MOST_COMBINATIONS


def test_a_long_column_is_put_in_as_far_as_its_laws_can_be_written_out():
    plan = pk.plan(pk.Schema([pk.Attribute.ranged("town", 1, 100_000)]), records=10**6, epsilon=9)
    assert MOST_TABLES <= covered_values(plan) < 100_000
    assert "hold every value" in pk.audit(PLAN, runs=100, rows=1_000).checks[2].about


def test_a_plan_that_changes_next_to_nothing_hides_repeated_keys_and_it_is_said():
    audit = pk.audit(pk.plan(SEX, records=1_000, epsilon=12), runs=100, rows=1_000)
    assert audit.passed
    assert audit.checks[-1].about.endswith("the plan changes too few rows to tell a repeated key from chance")


def test_the_pieces_of_an_audit():
    audit = pk.audit(PLAN, runs=100, rows=2_000, confidence=0.9)
    assert audit.plan_digest == PLAN.digest
    assert audit.epsilon == PLAN.epsilon
    assert [check.name for check in audit.checks] == [
        "epsilon of a row",
        "epsilon of a release",
        "transition probabilities",
        "order of a large table",
        "orders of two releases",
        "order of two rows",
        "repeated releases",
    ]
    assert [check.lower is None for check in audit.checks] == [False] * 2 + [True] * 5
    assert [check.chance is None for check in audit.checks] == [True] * 2 + [False] * 5
    assert audit.lower == max(check.lower for check in audit.checks[:2])
    document = json.loads(json.dumps(audit.to_json(), allow_nan=False))
    assert document["passed"] is audit.passed
    assert document["confidence"] == 0.9
    assert document["false_alarm"] == 1e-6
    assert len(document["checks"]) == 7
    assert repr(audit).startswith("<Audit passed: epsilon at least ")
    assert repr(audit).endswith(" (90% confidence), 2 claimed>")
    assert audit.void == ()


def test_a_higher_confidence_lowers_the_bound_of_the_same_counts():
    from pkanon._audit.differential.tails import epsilon_below

    assert epsilon_below(70, 100, 10, 100, 0.01) < epsilon_below(70, 100, 10, 100, 0.05)


def test_the_higher_of_two_bounds_holds_with_the_stated_confidence(monkeypatch):
    """Each bound takes half of the error: a higher one of two with 95% each would hold with 90% only."""
    from pkanon._audit.differential import checking
    from pkanon._audit.differential.verdict import FALSE_ALARM

    honest, seen = checking.epsilon_below, []

    def spy(first, first_runs, second, second_runs, error):
        bound = honest(first, first_runs, second, second_runs, error)
        if np.ndim(bound) == 0:
            seen.append(error)
        return bound

    monkeypatch.setattr(checking, "epsilon_below", spy)
    audit = pk.audit(PLAN, runs=100, rows=1_000, confidence=0.95)
    stated = [error for error in seen if error > FALSE_ALARM]  # the others are for the verdict
    assert len(stated) == sum(check.lower is not None for check in audit.checks)
    assert sum(stated) == pytest.approx(1 - audit.confidence)


def test_steps_are_shown():
    steps = []
    pk.audit(PLAN, runs=100, rows=1_000, progress=lambda step, done: steps.append((step, done)))
    assert ("small tables", 1.0) in steps
    assert ("large tables", 1.0) in steps
    assert ("repeated tables", 1.0) in steps
    for step in ("small tables", "large tables", "repeated tables"):
        shares = [done for name, done in steps if name == step]
        assert shares == sorted(shares)


def test_a_plan_without_epsilon_is_audited_all_the_same():
    plan = pk.plan(SEX, records=1_000, matrices={"sex": pk.TransitionMatrix([[1, 0], [0.5, 0.5]])})
    audit = pk.audit(plan, runs=100, rows=2_000)
    assert audit.passed
    assert math.isinf(audit.epsilon)
    assert audit.to_json()["epsilon"] is None
    assert audit.left_out == (
        "The plan claims nothing: some released values rule out some true values for certain: k is 1 and nothing bounds "
        "epsilon.",
    )
    assert "unbounded by the plan's integers" in repr(audit)


PASSED = pk.plan(pk.Schema([*SEX.attributes, pk.Attribute("weight", role="pass")]), records=1_000, epsilon=2)
DRAFTED = pk.plan(pk.Schema(SEX.attributes, drafted=True), records=1_000, epsilon=2)
COMPUTED = pk.plan(
    SEX,
    records=1_000,
    matrices={"sex": pk.TransitionMatrix([[0.7, 0.3], [0.3, 0.7]], data_dependent=True)},
)


@pytest.mark.parametrize("plan", [PASSED, DRAFTED, COMPUTED], ids=["passed", "drafted", "data-dependent"])
def test_a_plan_that_claims_nothing_is_audited_and_no_claim_is_named(plan):
    audit = pk.audit(plan, runs=100, rows=2_000)
    assert audit.passed
    assert audit.void == tuple(plan.void_reasons)
    assert audit.to_json()["void"] == plan.void_reasons
    assert [sentence for sentence in audit.left_out if sentence.startswith("The plan claims nothing: ")] == [
        f"The plan claims nothing: {reason[0].lower()}{reason[1:]}" for reason in plan.void_reasons
    ]
    assert "by the plan's integers>" in repr(audit)
    assert "claimed" not in repr(audit)


def test_a_plan_that_gives_nothing_away_is_audited_all_the_same():
    plan = pk.Plan(SEX, (pk.Retention(pk.Unit(("sex",), (2,)), 2**31),), 1_000)  # rho = 0
    audit = pk.audit(plan, runs=100, rows=2_000)
    assert audit.passed
    assert audit.lower < 0.2
    json.dumps(audit.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"runs": 99}, "at least 100 runs and 1,000 rows"),
        ({"rows": 999}, "at least 100 runs and 1,000 rows"),
        ({"confidence": 1.0}, "it is at least 0.5 and below 1"),
        ({"confidence": 95}, "it is at least 0.5 and below 1"),
    ],
)
def test_wrong_options(options, sentence):
    with pytest.raises(pk.InputError, match=sentence):
        pk.audit(PLAN, **options)


def test_a_schema_is_no_plan():
    with pytest.raises(pk.PlanError, match="A plan is needed, not an object of type Schema"):
        pk.audit(SEX)


def test_a_large_schema_is_refused():
    schema = pk.Schema([pk.Attribute.ranged(name, 0, 9_999) for name in "ab"])
    with pytest.raises(pk.InputError, match="up to 2\\^22 combinations"):
        pk.audit(pk.plan(schema, records=1_000_000, k=2, design="joint"))
