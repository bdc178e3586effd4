"""Does the interval of Cramer's V hold the truth as often as it says: without a relation, with a weak or strong one, and in noise?

Slack is 3 standard errors of a share of RUNS releases. Where nothing was found the interval begins at zero, so it may hold the truth
more often, up to the half of what is left out. Mutants: limits as if there were no relation, and noise counted three times.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from pipeline import randomised

import pkanon as pk
from pkanon._estimate.statistics import cramers_v
from pkanon._schema import code_dtype

RUNS = 250
SLACK = 3 * math.sqrt(0.95 * 0.05 / RUNS)
CASES = {
    "none, 2 x 2": (2, 2, 0.0, 2, 3_000),
    "weak, 3 x 4": (3, 4, 0.15, 2, 3_000),
    "weak, 5 x 12, much noise": (5, 12, 0.4, 5, 5_000),
    "strong, 2 x 2": (2, 2, 1.0, 10, 10_000),
    "strong, 3 x 4": (3, 4, 1.5, 2, 3_000),
    "strong, 5 x 12, much noise": (5, 12, 1.5, 5, 5_000),
}


def population(rows, columns, strength):
    draw = np.random.default_rng(7)
    a, b = draw.dirichlet(np.full(rows, 3.0)), draw.dirichlet(np.full(columns, 3.0))
    p = np.outer(a, b) * np.exp(strength * np.outer(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns)))
    return p / p.sum()


def strength_of(p):
    independent = np.outer(p.sum(1), p.sum(0))
    return math.sqrt(((p - independent) ** 2 / independent).sum() / (min(p.shape) - 1))


@pytest.fixture(scope="module", params=CASES)
def found(request, seed):
    rows, columns, strength, k, records = CASES[request.param]
    p = population(rows, columns, strength)
    schema = pk.Schema([pk.Attribute.ranged("a", 1, rows), pk.Attribute.ranged("b", 1, columns)])
    plan = pk.plan(schema, records=records, k=k)
    draw = np.random.default_rng(seed)
    measures = []
    for number in range(RUNS):
        cells = np.unravel_index(draw.choice(p.size, records, p=p.ravel()), p.shape)
        people = {name: codes.astype(code_dtype(size)) for name, codes, size in zip("ab", cells, p.shape)}
        released = randomised(plan, people, seed * 1_000 + number)
        measures.append(cramers_v(pk.Estimate.of(schema, plan.blocks, released, ("a", "b"), about="population")))
    return request.param, strength_of(p), measures


def held(truth, measures):
    limits = [measure.interval() for measure in measures]
    return np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in limits])


def test_the_interval_holds_the_truth(found):
    name, truth, measures = found
    share = held(truth, measures)
    assert share > 0.95 - SLACK
    assert share < (0.95 if name.startswith("strong") else 0.975) + SLACK


def test_it_is_above_zero_if_and_only_if_the_test_rejects(found):
    for measure in found[2]:
        assert (measure.interval()[0] > 0) == (measure._relation.p_value < 0.05)


@pytest.mark.parametrize("found", ["strong, 3 x 4"], indirect=True)
def test_mutants_are_found_out(found):
    _, truth, measures = found
    unrelated = [replace(m, _strength=replace(m._strength, slope=0.0), _relation=None) for m in measures]
    assert held(truth, unrelated) < 0.95 - SLACK
    wide = [replace(m, _strength=replace(m._strength, slope=3 * m._strength.slope), _relation=None) for m in measures]
    assert held(truth, wide) > 0.95 + SLACK
