"""Honest releases are not suspected more often than stated; rows that keep a little more are."""

import numpy as np
import pytest
from plans import plan_of, schema_of

import pkanon as pk
from pkanon._audit.attacks.likeness import counts_likeness, order_likeness
from pkanon._audit.attacks.mechanism import Mechanism
from pkanon._blocks import Retention
from pkanon._sample import Keystream, randomise

RELEASES, OFTEN = 200, 0.05


def people_of(plan, rows, seed):
    draw = np.random.default_rng(seed)
    codes = {
        attribute.name: draw.choice(attribute.size, rows, p=draw.dirichlet(np.ones(attribute.size))).astype(np.uint16)
        for attribute in plan.schema.randomised
    }
    return [unit.join([codes[name] for name in unit.attributes]) for unit in plan.units]


def chances(plan, people, seed, *, made_by=None, shuffled=True):
    """What both checks say of one release."""
    source = Keystream(pk.Seeded(seed).key())
    rows = [np.empty_like(column) for column in people]
    randomise((made_by or plan).blocks, people, source, out=rows)
    if shuffled:
        order = np.random.default_rng(seed).permutation(len(rows[0]))
        rows = [column[order] for column in rows]
    mechanism = Mechanism.of(plan, [people, rows])
    return counts_likeness(mechanism, people, rows).chance, order_likeness(mechanism, people, rows).chance


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
@pytest.mark.parametrize("rows", [8, 300])
def test_honest_releases_are_rarely_suspected(design, rows, seed):
    plan = pk.plan(schema_of([2, 4, 3]), records=rows, k=2, design=design)
    people = people_of(plan, rows, seed)
    found = np.array([chances(plan, people, seed + number) for number in range(RELEASES)])
    # the bounds are wide, so far fewer than one in twenty fall below 1/20
    assert (found < OFTEN).mean(axis=0).max() <= OFTEN
    assert found.min() > 1e-5


@pytest.mark.parametrize("design", ["equal-rho", "joint"])
def test_honest_releases_of_few_of_many_values_are_rarely_suspected(design, seed):
    """Most of 900 values or 1,800 combinations occur in neither table, and others in the release alone."""
    plan = pk.plan(schema_of([900, 2]), records=500, k=5, design=design)
    people = people_of(plan, 500, seed)
    found = np.array([chances(plan, people, seed + number)[0] for number in range(RELEASES)])
    assert (found < OFTEN).mean() <= OFTEN
    assert chances(plan, people, seed, made_by=plan_of([Retention(u, 0, 32) for u in plan.units], 500))[0] < 1e-7


def test_rows_that_keep_a_little_more_are_suspected(seed):
    plan = pk.plan(schema_of([2, 4, 3]), records=50_000, k=50, design="equal-rho")
    more = plan_of([Retention(block.unit, round(block.replace * 0.9), block.width) for block in plan.blocks], 50_000)
    people = people_of(plan, 50_000, seed)
    assert chances(plan, people, seed)[0] > 1e-3
    assert chances(plan, people, seed, made_by=more)[0] < 1e-7


def test_rows_in_their_order_are_suspected(seed):
    plan = pk.plan(schema_of([2, 4, 3]), records=3_000, k=10)
    people = people_of(plan, 3_000, seed)
    assert chances(plan, people, seed)[1] > 1e-3
    assert chances(plan, people, seed, shuffled=False)[1] < 1e-7
