"""Do releases by an optimal plan have the errors that were predicted, and do their intervals cover?

A skewed table of 20,000 people and four related attributes, drawn from the ``seed`` fixture. The total squared error
of a table is n (c_M - 1) whatever the data are (docs/why/theory.md 7); its mean over releases is compared within 4
standard errors, from the spread between releases. Cells of one release depend on each other, so that the error of a
coverage comes from the spread between releases too.
"""

import itertools
import math

import numpy as np
import pytest
from pipeline import randomised

import pkanon as pk
from pkanon._blocks import Agreement

ROWS = 20_000
SIZES = {"a": 2, "b": 5, "c": 4, "d": 3}
RELEASES = 250
TABLES = [c for count in (1, 2) for c in itertools.combinations(SIZES, count)]
DENSE = 10
"""People a cell needs, so that an interval covers neither too seldom nor too often."""

SCHEMA = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in SIZES.items()])
PLANS = {
    "k = 50": pk.plan(SCHEMA, records=ROWS, k=50),  # eps = 3.0
    "k = 5, tables of one and two": pk.plan(SCHEMA, records=ROWS, k=5, weighting="absolute", floor=None),
    "epsilon = 2": pk.plan(SCHEMA, records=ROWS, epsilon=2),
}


def people_of(seed):
    """Codes by attribute: Zipf shares, and neighbouring attributes alike."""
    draw = np.random.default_rng(seed)
    p = np.ones(())
    for size in SIZES.values():
        p = np.multiply.outer(p, 1 / np.arange(1, size + 1))
    codes = np.indices(p.shape)
    for i, j in itertools.pairwise(range(p.ndim)):
        p = p * (1 + 2.0 * (codes[i] == codes[j]))
    cells = draw.choice(p.size, ROWS, p=(p / p.sum()).ravel())
    return {n: c.astype(np.uint8) for n, c in zip(SIZES, np.unravel_index(cells, p.shape))}


def true_table(people, names):
    table = np.zeros([SIZES[name] for name in names])
    np.add.at(table, tuple(people[name] for name in names), 1.0)
    return table


def measured(plan, seed, spoiled=None):
    """By table: squared errors and shares of dense cells that are covered, one per release."""
    people = people_of(seed)
    truth = {names: true_table(people, names) for names in TABLES}
    errors, covered = {names: [] for names in TABLES}, {names: [] for names in TABLES}
    for number in range(RELEASES):
        codes = randomised(spoiled or plan, people, seed * 1000 + number)
        for names, x in truth.items():
            table = pk.Estimate.of(SCHEMA, plan.blocks, codes, names)
            low, high = table.interval(0.95)
            errors[names].append(float(((table.counts - x) ** 2).sum()))
            covered[names].append(float(((low <= x + 1e-6) & (x - 1e-6 <= high))[x >= DENSE].mean()))
    return errors, covered


def deviation(plan, names, errors):
    """How many standard errors the measured error is above n (c - 1)."""
    prediction = plan.predict(*names)
    assert prediction.exact
    expected = prediction.rmse**2 * prediction.cells
    error = np.std(errors) / math.sqrt(RELEASES)
    assert error < 0.15 * np.mean(errors)  # or the comparison would mean little
    return float((np.mean(errors) - expected) / error)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_errors_and_coverage(plan, seed):
    assert any(isinstance(block, Agreement) for block in plan.blocks)
    errors, covered = measured(plan, seed)
    for names in TABLES:
        away = deviation(plan, names, errors[names])
        print(f"{' x '.join(names)}: {away:+.2f} standard errors, covered {100 * np.mean(covered[names]):.2f}")
        assert abs(away) < 4
    runs = np.mean(list(covered.values()), axis=0)  # over tables, one per release
    print(f"covered {100 * runs.mean():.2f} +- {100 * runs.std() / math.sqrt(RELEASES):.2f}")
    assert 0.94 <= runs.mean() <= 0.96


def test_another_plan_than_the_one_stated_is_noticed(seed):
    """The comparison is worth something: people released by a plan that keeps less show larger errors."""
    plan = PLANS["k = 50"]
    errors, _ = measured(plan, seed, pk.plan(SCHEMA, records=ROWS, k=200))
    assert max(abs(deviation(plan, names, errors[names])) for names in TABLES) > 4
