"""Does the interval of a ratio hold the truth in 95% of all releases, also if what it is divided by can hardly be told from zero?

No release is left out: a ratio without an upper limit counts, and one without a value. A mutant, plus or minus z standard errors on the
logarithm, holds it too seldom. Slack is 3 standard errors of a share of RUNS releases.
"""

import math

import numpy as np
import pytest
from pipeline import randomised

import pkanon as pk
from pkanon._schema import code_dtype

RUNS = 500
SLACK = 3 * math.sqrt(0.95 * 0.05 / RUNS)
Z = 1.959963984540054
SCHEMA = pk.Schema([pk.Attribute("group", ["a", "b"]), pk.Attribute("value", ["rare", "some", "most"])])
SHARES = np.array([[0.04, 0.16, 0.3], [0.01, 0.19, 0.3]])
ROWS = 2_000


def ratio(table):
    shares = [table.proportion({"value": "rare"}, given={"group": group}) for group in "ab"]
    return (shares[0] / shares[1]).on("log")


def on_the_logarithm(number):
    """What the delta method would give: everything, if there is no value."""
    if not number.unbiased > 0:
        return 0.0, math.inf
    reach = Z * number.standard_error / number.unbiased
    return number.unbiased * math.exp(-reach), number.unbiased * math.exp(reach)


@pytest.fixture(scope="module")
def found(seed):
    plan = pk.plan(SCHEMA, records=ROWS, k=5)
    draw = np.random.default_rng(seed)
    numbers = []
    for number in range(RUNS):
        cells = np.unravel_index(draw.choice(SHARES.size, ROWS, p=SHARES.ravel()), SHARES.shape)
        people = {name: codes.astype(code_dtype(size)) for name, codes, size in zip(SCHEMA.names, cells, SHARES.shape)}
        released = randomised(plan, people, seed * 10_000 + number)
        numbers.append(ratio(pk.Estimate.of(SCHEMA, plan.blocks, released, SCHEMA.names, about="population")))
    truth = SHARES[0, 0] / SHARES[1, 0]
    return truth, numbers


def held(truth, limits):
    return np.mean([low <= truth <= high for low, high in limits])


def test_the_interval_holds_the_truth_in_all_releases(found):
    truth, numbers = found
    flagged = sum("small group" in (number.flag() or "") for number in numbers)
    assert 50 < flagged < 450  # both kinds of release, or the test says little
    assert abs(held(truth, [number.interval() for number in numbers]) - 0.95) < SLACK
    for number in numbers:
        assert (number.interval()[1] == math.inf) == ("small group" in (number.flag() or ""))


def test_a_mutant_is_found_out(found):
    truth, numbers = found
    unflagged = [number for number in numbers if "small group" not in (number.flag() or "")]
    assert held(truth, [on_the_logarithm(number) for number in unflagged]) < 0.95 - 3 * math.sqrt(
        0.0475 / len(unflagged)
    )
