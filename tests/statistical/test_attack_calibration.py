"""Stated confidences are right, up to the line 1/k itself; and hits above it are noticed."""

import numpy as np
import pytest
from dense import unit_of
from plans import plan_of, schema_of

import pkanon as pk
from pkanon._audit.attacks.rehearsal import Bin, rehearse
from pkanon._audit.shares import lower_share, upper_share
from pkanon._blocks import Retention

ALPHA = 1e-9


def rehearsed(plan, people, times, seed, line=None):
    line = line or 1 / float(plan.k_for(len(people[0])))
    _, bins = rehearse(plan, people, times, pk.Seeded(seed), line, lambda step, done: None)
    return line, bins


def calibrated(bins):
    """Whether the stated confidence of every bin is within the limits of its hits, give or take 3%."""
    return all(
        lower_share(each.hits, each.rows, ALPHA) <= each.stated * 1.03
        and each.stated * 0.97 <= upper_share(each.hits, each.rows, ALPHA)
        for each in bins
    )


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
def test_stated_confidences_are_the_shares_of_hits(design, seed):
    plan = pk.plan(schema_of([2, 5, 4]), records=100, k=3, design=design)
    draw = np.random.default_rng(seed)
    codes = {f"a{i}": draw.choice(size, 100, p=draw.dirichlet(np.ones(size))).astype(np.uint8)
             for i, size in enumerate((2, 5, 4))}  # fmt: skip
    people = [unit.join([codes[name] for name in unit.attributes]) for unit in plan.units]
    line, bins = rehearsed(plan, people, 150, seed)
    assert calibrated(bins)
    assert all(lower_share(each.hits, each.rows, ALPHA) <= line for each in bins)
    doubled = [Bin(2 * each.stated, each.rows, each.hits) for each in bins]
    assert not calibrated(doubled)


def test_the_worst_table_is_attacked_up_to_the_line(seed):
    """One person differs from 29 others: where one row differs too, it is hers with a chance of nearly 1/k."""
    plan = plan_of([Retention(unit_of(40), 300, 16)], 30)
    people = [np.array([0] + [1] * 29, np.uint8)]
    line, bins = rehearsed(plan, people, 500, seed)
    surest = bins[-1]
    assert 0.6 * line < surest.stated <= line
    assert lower_share(surest.hits, surest.rows, ALPHA) <= line < 1.6 * upper_share(surest.hits, surest.rows, ALPHA)
    assert calibrated(bins)


def test_rows_with_less_noise_than_planned_are_noticed(seed):
    """The same table, but its rows keep more than the plan for whose k they are judged."""
    people = [np.array([0] + [1] * 29, np.uint8)]
    promised = plan_of([Retention(unit_of(40), 1600, 16)], 30)
    made = plan_of([Retention(unit_of(40), 100, 16)], 30)
    line = 1 / float(promised.k_for(30))
    _, honest = rehearsed(promised, people, 100, seed)
    _, weak = rehearsed(made, people, 100, seed, line)
    assert max(lower_share(each.hits, each.rows, ALPHA) for each in honest) <= line
    assert max(lower_share(each.hits, each.rows, ALPHA) for each in weak) > line


def test_limits_of_a_share():
    assert lower_share(0, 10, 0.05) == 0
    assert upper_share(10, 10, 0.05) == 1
    assert upper_share(0, 10, 0.05) == pytest.approx(1 - 0.05**0.1)
    assert lower_share(10, 10, 0.05) == pytest.approx(0.05**0.1)
    low, high = Bin(0.1, 20, 5).interval(0.95)
    assert (low, high) == pytest.approx((0.08657, 0.49105), abs=1e-5)  # Clopper and Pearson's, as in any table
