"""What an audit compares with: worst pairs, laws of scores, bounds and tails."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from dense import matrix_of, unit_of
from plans import plan_of
from scipy.stats import binom, binomtest, hypergeom

from pkanon._audit.differential import tails
from pkanon._audit.differential.inputs import Mixture, compared_tables, patterns, places_of_first, shares_of
from pkanon._audit.differential.law import Comparison, law, of_two, worst_pair
from pkanon._blocks import Agreement, Retention

SEX = unit_of(2, names=("sex",))
JOB = unit_of(3, names=("job",))
HOME = unit_of(2, 3, names=("age", "degree"), forbid=(((0,), (1, 2)),))
PLANS = {
    "retention": plan_of((Retention(SEX, 2**30), Retention(JOB, 2**29)), 100),
    "bundle": plan_of((Retention(HOME, 2**28), Retention(SEX, 2**30)), 100),
    "agreement": plan_of((Agreement((SEX, JOB), (2**14, 2**12, 2**13, 2**16 - 2**14 - 2**12 - 2**13), 16),), 100),
    "agreement of bundles": plan_of((Agreement((HOME, SEX), (2**14, 2**13, 2**13, 2**15), 16),), 100),
    "matrix": plan_of(
        (matrix_of(JOB, [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32), matrix_of(SEX, [[9, 7], [1, 15]], 32)), 100
    ),
}


def whole_law(plan, record):
    """The law of a released record as a dict, from the dense matrices."""
    rows = []
    for block in plan.blocks:
        own = law(block, record)
        rows.append({tuple(zip(block.attributes, cell)): p for cell, p in np.ndenumerate(own) if p > 0})
    return {
        tuple(itertools.chain(*cells)): math.prod(row[cell] for row, cell in zip(rows, cells))
        for cells in itertools.product(*rows)
    }


@pytest.mark.parametrize("name", PLANS)
def test_the_worst_pair_reaches_epsilon_and_nothing_is_beyond(name):
    plan = PLANS[name]
    compared = Comparison(plan, *worst_pair(plan))
    assert compared.scores.values[0] == pytest.approx(plan.epsilon, abs=1e-8)
    assert compared.scores.values[-1] >= -plan.epsilon - 1e-8


@pytest.mark.parametrize("name", PLANS)
def test_the_law_of_a_score(name):
    plan = PLANS[name]
    first, second = worst_pair(plan)
    compared = Comparison(plan, first, second)
    likely, unlikely = whole_law(plan, first), whole_law(plan, second)
    assert sum(likely.values()) == pytest.approx(1)
    assert likely.keys() == unlikely.keys()
    for value, p, q in zip(compared.scores.values, compared.scores.first, compared.scores.second):
        cells = [cell for cell in likely if abs(math.log(likely[cell] / unlikely[cell]) - value) < 1e-6]
        assert sum(likely[cell] for cell in cells) == pytest.approx(p)
        assert sum(unlikely[cell] for cell in cells) == pytest.approx(q)
        codes = {attribute: np.array([code]) for attribute, code in cells[0]}
        assert compared.score(codes)[0] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("name", PLANS)
def test_two_rows_are_compared_by_their_likelihood_as_a_set(name):
    plan = PLANS[name]
    first, second = worst_pair(plan)
    likely, unlikely = whole_law(plan, first), whole_law(plan, second)
    compared = Comparison(plan, first, second)
    scores = {cell: math.log(likely[cell] / unlikely[cell]) for cell in likely}
    for a, b in itertools.islice(itertools.product(likely, repeat=2), 200):
        near = 2 * likely[a] * likely[b]
        far = unlikely[a] * likely[b] + likely[a] * unlikely[b]
        assert float(of_two(np.array(scores[a]), np.array(scores[b]))) == pytest.approx(math.log(near / far))
    two = compared.two_rows()
    assert two.values[0] == pytest.approx(plan.epsilon, abs=1e-6)  # both rows as u: the whole factor, even shuffled
    assert two.first.sum() == pytest.approx(1)
    assert two.second.sum() == pytest.approx(1)


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (1, 10), (7, 10), (10, 10), (300, 10_000)])
@pytest.mark.parametrize("error", [0.05, 1e-6])
def test_shares_are_bounded_as_clopper_and_pearson_do(hits, runs, error):
    wanted = binomtest(hits, runs).proportion_ci(1 - 2 * error, method="exact")
    assert float(tails.lower_share(hits, runs, error)) == pytest.approx(wanted.low, rel=1e-6)
    assert float(tails.upper_share(hits, runs, error)) == pytest.approx(wanted.high, rel=1e-6)


@pytest.mark.parametrize(("runs", "p", "q"), [(40, 0.6, 0.2), (60, 0.3, 0.1), (25, 0.9, 0.5)])
def test_the_bound_on_epsilon_is_too_high_as_rarely_as_it_says(runs, p, q):
    """Every outcome of a small experiment, with its probability: no simulation."""
    error, truth = 0.1, math.log(p / q)
    first, second = np.meshgrid(np.arange(runs + 1), np.arange(runs + 1), indexing="ij")
    chances = np.multiply.outer(binom.pmf(np.arange(runs + 1), runs, p), binom.pmf(np.arange(runs + 1), runs, q))
    bounds = tails.epsilon_below(first, runs, second, runs, error)
    assert 0 < chances[bounds > truth].sum() <= error
    assert bounds.max() > truth  # and it can come close


def test_nothing_seen_bounds_nothing():
    assert float(tails.epsilon_below(0, 100, 0, 100, 0.05)) == 0
    assert 0 < float(tails.epsilon_below(100, 100, 0, 100, 0.05)) < math.inf


def test_binomial_tails():
    counts, shares = np.array([0, 3, 10, 100]), np.array([0.0, 0.05, 0.05, 1.0])
    wanted = np.minimum(1, 2 * np.minimum(binom.cdf(counts, 100, shares), binom.sf(counts - 1, 100, shares)))
    assert tails.binomial_tails(counts, 100, shares) == pytest.approx(wanted)
    assert tails.binomial_tails(np.array([1]), 100, np.array([0.0])) == [0.0]  # what cannot happen did


@pytest.mark.parametrize("shares", [(0.1, 0.9, 0.5, 0.5), (0.0, 1.0, 0.2), (0.3,) * 6, (0.01, 0.02, 0.9, 0.95, 0.5)])
def test_tails_of_draws_with_different_probabilities_are_bounded(shares):
    """Every outcome: the law of the sum by convolution, and tails of it on either side of the mean."""
    law_of_sum = np.ones(1)
    for share in shares:
        law_of_sum = np.convolve(law_of_sum, [1 - share, share])
    counts = np.arange(len(shares) + 1)
    bounds = tails.mixed_tails(counts, len(shares), np.full(len(counts), np.mean(shares)))
    for count, bound in zip(counts, bounds):
        exact = min(1, 2 * min(law_of_sum[: count + 1].sum(), law_of_sum[count:].sum()))
        assert exact <= bound + 1e-12


@pytest.mark.parametrize("name", PLANS)
def test_shares_of_a_mixture(name):
    """From the whole laws of its records, cell by cell."""
    plan = PLANS[name]
    first, second = worst_pair(plan)
    mixture = Mixture((first, second), (3, 1))
    laws = [whole_law(plan, record) for record in (first, second)]
    tables = compared_tables(plan)
    assert len({len(table) for table in tables}) > 1
    for table, shares in zip(tables, shares_of(plan, mixture, tables)):
        wanted = np.zeros(shares.shape)
        for weight, law_of_one in zip((0.75, 0.25), laws):
            for cell, share in law_of_one.items():
                wanted[tuple(dict(cell)[attribute] for attribute in table)] += weight * share
        assert shares == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("rows", [1_000, 20_001, 1_000_000])
def test_the_record_of_a_place_leans_on_every_pattern(rows):
    """By 0.1 or more: a shuffle that keeps any one pattern leaves the records spread unevenly over it."""
    first = places_of_first(rows)
    assert 0.3 < first.mean() < 0.7
    for pattern in patterns(rows):
        assert first[pattern].mean() - first[~pattern].mean() > 0.1


@pytest.mark.parametrize(("rows", "marked", "drawn"), [(10, 4, 5), (12, 12, 3), (12, 0, 3), (200, 130, 20)])
def test_tails_of_rows_that_are_drawn(rows, marked, drawn):
    for found in range(max(0, drawn + marked - rows), min(drawn, marked) + 1):
        exact = hypergeom(rows, marked, drawn)
        wanted = min(1, 2 * min(exact.cdf(found), exact.sf(found - 1)))
        assert tails.drawn_tail(found, rows, marked, drawn) == pytest.approx(wanted, rel=1e-9)


def test_tails_of_many_rows_that_are_drawn():
    exact = hypergeom(1_000_000, 460_000, 500_000)
    for found in (226_000, 229_900, 230_000, 231_000, 235_000):
        wanted = min(1, 2 * min(exact.cdf(found), exact.sf(found - 1)))
        assert tails.drawn_tail(found, 1_000_000, 460_000, 500_000) == pytest.approx(wanted, rel=1e-5, abs=1e-300)
    assert tails.drawn_tail(300_000, 1_000_000, 460_000, 500_000) == 0


@pytest.mark.parametrize(("pairs", "marked"), [(4, 3), (4, 5), (3, 6), (3, 0), (5, 5)])
def test_tails_of_pairs_by_listing_all_orders(pairs, marked):
    counts = {}
    for places in itertools.combinations(range(2 * pairs), marked):
        both = sum(2 * i in places and 2 * i + 1 in places for i in range(pairs))
        counts[both] = counts.get(both, 0) + 1
    total = sum(counts.values())
    for found in counts:
        below = Fraction(sum(n for both, n in counts.items() if both <= found), total)
        above = Fraction(sum(n for both, n in counts.items() if both >= found), total)
        assert tails.paired_tail(found, pairs, marked) == pytest.approx(float(min(1, 2 * min(below, above))))
