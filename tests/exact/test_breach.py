"""How far a belief can move: by brute force over priors and properties, never beyond the bounds, and up to them."""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from blocks import BLOCKS, dense_on
from dense import matrix_of, unit_of
from plans import plan_of, schema_of

import pkanon as pk
from pkanon._blocks import Agreement, Matrix, Retention

RECORDS = ["retention", "joint, forbidden combinations", "matrix", "matrix on a bundle", "agreement"]
PRIORS = ("0.001", "0.05", "0.5", "0.9")


def posterior(matrix, prior, inside, seen):
    """The probability of a property, given the released cells ``seen``."""
    joint = prior * matrix[:, seen].sum(axis=1)
    return joint[inside].sum() / joint.sum()


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("rho1", PRIORS)
def test_no_belief_about_a_record_moves_further(name, rho1, seed):
    block = BLOCKS[name]
    _, matrix = dense_on(block, block.attributes)
    found = plan_of([block], 10).breach(rho1)
    draw = np.random.default_rng(seed)
    cells = len(matrix)
    properties = [np.array(flags, bool) for flags in itertools.product((0, 1), repeat=cells)] if cells < 6 else []
    properties += [draw.random(cells) < 0.4 for _ in range(20)]
    for inside in properties:
        if not inside.any() or inside.all():
            continue
        for _ in range(5):
            prior = draw.dirichlet(np.full(cells, 0.3))
            share = max(prior[inside].sum(), 1e-300), max(prior[~inside].sum(), 1e-300)
            prior = np.where(inside, prior / share[0] * float(rho1), prior / share[1] * (1 - float(rho1)))
            for seen in range(cells):
                after = posterior(matrix, prior, inside, [seen])
                assert found.posterior_below - 1e-9 <= after <= found.posterior_above + 1e-9


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("rho1", PRIORS)
def test_two_true_records_move_a_belief_to_both_bounds(name, rho1):
    block = BLOCKS[name]
    _, matrix = dense_on(block, block.attributes)
    found = plan_of([block], 10).breach(rho1)
    high, low, seen = max(
        itertools.product(range(len(matrix)), repeat=3), key=lambda c: matrix[c[0], c[2]] / matrix[c[1], c[2]]
    )
    up, down = np.zeros(len(matrix)), np.zeros(len(matrix))
    up[[high, low]] = float(rho1), 1 - float(rho1)
    down[[low, high]] = float(rho1), 1 - float(rho1)
    inside = np.arange(len(matrix))
    assert posterior(matrix, up, inside == high, [seen]) == pytest.approx(found.posterior_above, rel=1e-6)
    assert posterior(matrix, down, inside == low, [seen]) == pytest.approx(found.posterior_below, rel=1e-6)


ATTRIBUTES = {
    "retention": [Retention(unit_of(10), 3000, 16)],
    "of a bundle": [BLOCKS["joint, forbidden combinations"]],
    "of an agreement": [Agreement((unit_of(2), unit_of(10, names="b")), (2000, 6000, 7536, 50_000), 16)],
}


@pytest.mark.parametrize("name", ATTRIBUTES)
@pytest.mark.parametrize("relative", [0.5, 1, 3])
def test_no_set_of_values_becomes_likelier_than_stated(name, relative, seed):
    """Every set S, priors with P(S) <= rho1 and P(S) / w(S) <= s, given that the released value is in S."""
    plan, rho1 = plan_of(ATTRIBUTES[name], 10), 0.2
    draw = np.random.default_rng(seed)
    nearest = 0.0
    for each in plan.breach(rho1, relative).attributes:
        block = plan.blocks[0]
        _, matrix = dense_on(block, [each.attribute])
        replaced = matrix.min(axis=0) / (1 - each.rho)  # w: what a value is drawn from when it is not kept
        for inside in itertools.product((False, True), repeat=len(matrix)):
            chosen = np.array(inside)
            if not chosen.any() or chosen.all():
                continue
            most = min(rho1, relative * replaced[chosen].sum())
            own, others = draw.dirichlet(np.ones(chosen.sum())), draw.dirichlet(np.ones((~chosen).sum()))
            for share in (most, most / 3):
                prior = np.empty(len(matrix))
                prior[chosen], prior[~chosen] = own * share, others * (1 - share)
                after = posterior(matrix, prior, chosen, np.flatnonzero(chosen))
                assert after <= each.posterior + 1e-9
                nearest = max(nearest, after / each.posterior)
    assert nearest > (0.65 if name == "of a bundle" else 0.9)  # few sets have just the share that is needed


def test_the_bound_on_a_set_is_reached():
    """Ten values, rho1 = 0.2 and s = 1: a set of two values has w(S) = 0.2."""
    plan = plan_of(ATTRIBUTES["retention"], 10)
    (each,) = plan.breach("0.2").attributes
    _, matrix = dense_on(plan.blocks[0], ["a"])
    prior = np.full(10, 0.1)
    inside = np.arange(10) < 2
    assert posterior(matrix, prior, inside, [0, 1]) == pytest.approx(each.posterior, rel=1e-9)


def test_numbers_of_an_example():
    plan = pk.plan(schema_of([2]), records=1000, k=112, design="equal-rho")  # rho = 0.5: 3/4 and 1/4
    found = plan.breach("0.05")
    assert plan.epsilon_ratio <= 3
    assert found.posterior_above == pytest.approx(3 * 0.05 / 1.1, rel=1e-6)
    assert found.posterior_below == pytest.approx(0.05 / 2.9, rel=1e-6)
    assert found.attributes[0].posterior == pytest.approx((0.5 + 0.5 * 0.05) / 1.0, rel=1e-6)
    assert Fraction(found.posterior_above) >= plan.epsilon_ratio / 20 / (1 + (plan.epsilon_ratio - 1) / 20)


def test_what_nothing_bounds_and_what_is_not_of_the_form():
    found = plan_of([BLOCKS["matrix with zeros"]], 10).breach(0.1)
    assert (found.amplification, found.posterior_above, found.posterior_below) == (None, 1, 0)
    assert found.attributes[0].posterior is None
    assert "may become certain" in found.sentences[0]
    assert len(found.sentences) == 1
    turned = plan_of([Agreement((unit_of(3),), (60_000, 5_536), 16)], 10).breach(0.1)
    assert turned.attributes[0].rho < 0
    assert turned.attributes[0].posterior is None
    kept = plan_of([BLOCKS["retention, rho = 1"]], 10).breach(0.1)
    assert kept.attributes[0].posterior == 1


def test_sentences_are_rounded_to_the_safe_side():
    plan = plan_of([matrix_of(unit_of(2), [[12, 4], [4, 12]], 16)], 10)
    (first,) = plan.breach(0.3).sentences
    assert "between 0.125 and 0.5625 after seeing that record alone" in first  # 0.3 / 2.4 and 0.9 / 1.6
    # 30,001 / 10,001 = 2.99980..., 55,535 / 35,535 less
    uneven = plan_of([Matrix(unit_of(2), ((30_001, 35_535), (10_001, 55_535)), 16)], 10).breach(0.3)
    assert uneven.amplification >= Fraction(30_001, 10_001)
    assert "(amplification 2.9999)" in uneven.sentences[0]


def test_people_who_are_alike_move_a_belief_further():
    """Two relatives who answered alike, e^eps = 3: the second record is evidence too, so the sentence names one."""
    block = matrix_of(unit_of(2), [[12, 4], [4, 12]], 16)
    found = plan_of([block], 10).breach("0.3")
    both = 9 * 0.3 / (9 * 0.3 + 0.7)  # each of the two records is three times as likely
    assert both > found.posterior_above
    assert "people who are alike can tell more" in found.sentences[0]


PROMISE_NOTHING = {
    "passed": pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("zip", role="pass")]),
    "drafted": pk.draft_schema(pl.DataFrame({"sex": ["F", "M"] * 50})).schema,
}


@pytest.mark.parametrize("schema", PROMISE_NOTHING.values(), ids=PROMISE_NOTHING)
def test_a_plan_that_promises_nothing_bounds_nothing(schema):
    plan = pk.plan(schema, records=100, k=5)
    with pytest.raises(pk.TargetError, match="promises nothing, so it bounds no breach"):
        plan.breach(0.1)


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, "x", None])
def test_a_prior_is_a_probability(prior):
    with pytest.raises(pk.TargetError, match="prior"):
        plan_of([BLOCKS["retention"]], 10).breach(prior)


def test_a_relative_prior_is_positive():
    with pytest.raises(pk.TargetError, match="relative prior is above 0"):
        plan_of([BLOCKS["retention"]], 10).breach(0.1, relative=0)
