"""What ``plan.explain()`` says is a claim: no number in it may promise more than is true."""

import random
import re
from fractions import Fraction

import pytest
from dense import matrix_of, unit_of

import pkanon as pk
from pkanon._blocks import Retention

SCHEMA = pk.Schema([pk.Attribute("a", ["x", "y", "z"])])


def numbers(text):
    """The confidence, k and the factor that the sentences promise."""
    share = re.search(r"1/k = ([0-9.]+)%", text)
    k = re.search(r"with k = ([0-9.]+)\.\n", text + "\n")
    factor = re.search(r"at most ([0-9.,e]+) times as likely", text)
    return Fraction(share[1]) / 100, Fraction(k[1]), Fraction(factor[1])


def test_claims_are_rounded_to_the_safe_side(seed):
    draw = random.Random(seed)
    for _ in range(300):
        width = draw.choice([32, 64])
        replace = max(1, int(2 ** draw.uniform(0, width - 1.6)))
        plan = pk.Plan(SCHEMA, (Retention(unit_of(3), replace, width),), draw.randint(2, 10 ** draw.randint(1, 9)))
        share, k, factor = numbers(plan.explain())
        true = plan.k_for(plan.records)
        assert share >= 1 / true
        assert k <= true
        assert factor >= plan.epsilon_ratio
        assert share <= (1 / true) * Fraction(102, 100)  # and not by more than the last of three digits
        assert factor <= plan.epsilon_ratio * Fraction(102, 100)


VOID = {
    "values that rule out others": pk.Plan(SCHEMA, (matrix_of(unit_of(3), [[4, 0, 0], [1, 2, 1], [0, 0, 4]], 32),), 10),
    "passed columns": pk.plan(pk.Schema([*SCHEMA.attributes, pk.Attribute("b", role="pass")]), records=9, epsilon=1),
    "drafted domains": pk.plan(pk.Schema(SCHEMA.attributes, drafted=True), records=9, epsilon=1),
    "a matrix of the data": pk.plan(SCHEMA, records=9, matrices={"a": pk.TransitionMatrix.invariant([1, 2, 3], 0.3)}),
}


@pytest.mark.parametrize("plan", VOID.values(), ids=VOID)
def test_what_is_void_promises_no_number(plan):
    first, *reasons = plan.explain().split("What is promised", 1)[1].strip().splitlines()
    assert "Nothing" in first
    assert [reason.strip() for reason in reasons] == plan.void_reasons


def test_a_hidden_count_is_explained():
    plan = pk.plan(SCHEMA, records=9, epsilon=3, hide_count="1/2")
    text = plan.explain()
    assert "p = 1/2" in text
    assert "in the table at all" in text
    stated = [Fraction(number) for number in re.findall(r"epsilon = ([0-9.]+?)[:;]", text)]
    assert len(stated) == 2
    assert stated[0] >= plan.epsilon
    assert stated[1] >= plan.epsilon_unbounded


def test_a_plan_in_one_line_rounds_like_the_rest():
    plan = pk.plan(SCHEMA, records=1000, k=7)
    k, epsilon = re.search(r"k = ([0-9.]+), epsilon = ([0-9.]+)", str(plan)).groups()
    assert Fraction(k) <= plan.k_for(1000)
    assert Fraction(epsilon) >= plan.epsilon


def test_numbers_that_are_rounded_at_random_are_no_records_as_given():
    plain = pk.plan(SCHEMA, records=1000, k=7)
    assert "a person's record as given." in plain.explain()
    assert "rounded" not in plain.explain()
    pointed = pk.Attribute.pointed("weight", [0, 200, 800], type="number")
    text = pk.plan(pk.Schema([*SCHEMA.attributes, pointed]), records=1000, k=7).explain()
    assert "Numbers between two points are first rounded at random to one of them: weight." in text
    assert (
        "stay true in every answer but for the rounding: each of them is a person's record as given, rounded." in text
    )
    assert "as given." not in text


def test_a_plan_with_a_hidden_count_says_that_k_may_be_lower():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    lower = "If the noise leaves fewer rows than planned, k is a little lower"
    assert lower in pk.plan(schema, records=1000, k=20, hide_count="0.5").explain()
    assert lower not in pk.plan(schema, records=1000, k=20).explain()
