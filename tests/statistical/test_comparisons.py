"""Do comparisons cover as often as they say, over whole releases? And do tests reject as seldom?

Standardised shares, Mantel-Haenszel, trends, numbers of two tables, differences of quantiles, pooled releases; each about the
population, drawn anew for every release. Slack is 3 standard errors of a share of RUNS releases. A release in which a group is
too small to be standardised does not count.
"""

import math

import numpy as np
import pytest
from pipeline import randomised

import pkanon as pk
from pkanon._schema import code_dtype

RUNS = 120
ROWS = {"optimal": 4_000, "equal-rho": 20_000}
SIZES = {"stratum": 3, "group": 2, "outcome": 2, "score": 5}
SCHEMA = pk.Schema(
    [
        pk.Attribute.ranged("stratum", 1, 3),
        pk.Attribute("group", ["a", "b"]),
        pk.Attribute("outcome", ["no", "yes"]),
        pk.Attribute.binned("score", start=0, stop=50, width=10),
    ]
)


def population():
    """Shares by stratum, group, outcome and score: groups differ in their strata, outcomes follow all three others."""
    stratum, group, outcome, score = np.indices(tuple(SIZES.values()))
    logit = -0.8 + 0.5 * stratum + 0.7 * group + 0.3 * (score - 2)
    yes = 1 / (1 + np.exp(-logit))
    p = np.array([0.5, 0.3, 0.2])[stratum] * (1 + 0.4 * (group == stratum % 2)) * (1 + 0.2 * (score == stratum))
    p = p * np.where(outcome == 1, yes, 1 - yes)
    return p / p.sum()


def ask(tables):
    """All numbers, from the tables of one release."""
    three, scored = tables("stratum", "group", "outcome"), tables("group", "score", "outcome")
    yes, b = {"outcome": "yes"}, {"group": "b"}
    medians = [scored.quantile("score", 0.5, {"group": group}) for group in "ab"]
    return {
        "standardised": three.standardised(yes, "stratum", given=b),
        "standardised difference": three.standardised(yes, "stratum", given=b)
        - three.standardised(yes, "stratum", given={"group": "a"}),
        "mantel-haenszel": three.mantel_haenszel(b, yes, "stratum").odds_ratio,
        "trend": scored.trend(yes, "score").slope,
        "two tables": three.proportion(yes, {"stratum": 1}) - scored.proportion(yes, {"score": "40-49"}),
        "ratio of two tables": (three.count(stratum=1, outcome="yes") / scored.count(score="0-9", group="a")).on("log"),
        "medians": medians[1] - medians[0],
    }


def drawn(plan, draw, number):
    p = population()
    cells = draw.choice(p.size, plan.records, p=p.ravel())
    people = {n: c.astype(code_dtype(s)) for (n, s), c in zip(SIZES.items(), np.unravel_index(cells, p.shape))}
    return randomised(plan, people, number)


@pytest.fixture(scope="module", params=[("optimal", 5), ("equal-rho", 3)], ids=lambda p: p[0])
def runs(request, seed):
    design, k = request.param
    plan = pk.plan(SCHEMA, records=ROWS[design], k=k, design=design)
    draw = np.random.default_rng(seed)
    kept = [pk.Retention(unit, 0) for unit in SCHEMA.units]
    # the population itself: shares as weights of one row per cell
    cells = np.indices(tuple(SIZES.values())).reshape(4, -1)
    codes = {n: c.astype(code_dtype(s)) for (n, s), c in zip(SIZES.items(), cells)}

    def of_population(*names):
        return pk.Estimate.of(SCHEMA, kept, codes, names, weights=1e6 * population().ravel())

    truth = {name: number.value for name, number in ask(of_population).items()}
    found = []
    for number in range(RUNS):
        released = drawn(plan, draw, seed * 1000 + number)

        def tables(*names, released=released):
            return pk.Estimate.of(SCHEMA, plan.blocks, released, names, about="population")

        try:
            found.append(ask(tables))
        except pk.InputError:
            continue
    assert len(found) > 0.9 * RUNS
    return truth, found


@pytest.mark.parametrize(
    "name",
    [
        "standardised",
        "standardised difference",
        "mantel-haenszel",
        "trend",
        "two tables",
        "ratio of two tables",
        "medians",
    ],
)
def test_coverage(runs, name):
    truth, found = runs
    limits = np.array([numbers[name].interval() for numbers in found])
    inside = float(((limits[:, 0] <= truth[name]) & (truth[name] <= limits[:, 1])).mean())
    spread = np.std([numbers[name].value for numbers in found])
    said = np.mean([numbers[name].standard_error for numbers in found])
    print(f"{name}: truth {truth[name]:.4g}, covered {100 * inside:.1f}%, error said / seen {said / spread:.3f}")
    slack = 3 * math.sqrt(0.95 * 0.05 / RUNS)
    assert inside > 0.95 - slack
    if name != "medians":  # quantiles inside bins are found by a straight line, and wide where it is uncertain
        assert inside < 0.95 + slack + 0.01
        assert 0.8 < said / spread < 1.25
