"""Is the nearest table the nearest, and the most likely one the most likely?

Both are compared with the conditions that define them (Karush, Kuhn and Tucker), with plain EM and
with a general solver.
"""

import itertools
import math

import numpy as np
import pytest
from blocks import BLOCKS
from dense import unit_of
from scipy.optimize import minimize
from small_tables import AGREEMENT, BUNDLED_FORBIDDING, CASES, FORBIDDING, MATRIX, THREE, TWO, drawn

from pkanon._blocks import Retention
from pkanon._estimate import Channel, maximum_likelihood, nearest


def nearest_by_trying(values, total):
    """The best of all tables that are positive on a chosen set and zero elsewhere."""
    best, least = None, math.inf
    for chosen in itertools.product((False, True), repeat=len(values)):
        inside = np.array(chosen)
        if inside.any():
            x = np.where(inside, values - (values[inside].sum() - total) / inside.sum(), 0.0)
            distance = float(((x - values) ** 2).sum())
            if (x >= -1e-12).all() and distance < least:
                best, least = x, distance
    return best


def test_the_nearest_table_is_the_nearest(seed):
    draw = np.random.default_rng(seed)
    for total in (0.0, 0.3, 5.0, 100.0):
        for size in (1, 2, 3, 6):
            for spread in (0.1, 10.0, 1000.0):
                values = draw.normal(total / size, spread, size)
                got = nearest(values, total, np.ones(size, bool))
                assert (got >= 0).all()
                assert got.sum() == pytest.approx(total, abs=1e-9 * max(spread, 1))
                np.testing.assert_allclose(got, nearest_by_trying(values, total), atol=1e-9 * max(spread, 1))
    possible = np.array([[True, False], [True, True]])
    got = nearest(np.array([[3.0, 99.0], [-1.0, 4.0]]), 5.0, possible)
    np.testing.assert_allclose(got, [[2.0, 0.0], [0.0, 3.0]])  # (3, 4) less 1 each


def test_the_simplex_method_keeps_the_total_and_the_possible_cells(seed):
    blocks, names, _ = CASES["joint, forbidden"]
    table = drawn(blocks, names, 7, seed, method="simplex")
    assert (table.counts >= 0).all()
    assert (table.counts[~table.channel.possible] == 0).all()
    assert table.counts.sum() == pytest.approx(7)
    inverse = drawn(blocks, names, 7, seed)
    assert (inverse.counts < 0).any()  # otherwise the methods would not differ
    np.testing.assert_array_equal(inverse.standard_errors, table.standard_errors)


def optimality(channel, y, x):
    """By how much the conditions of the maximum fail: (largest gradient - 1, largest |gradient - 1| where people are).

    The log-likelihood is concave, so that a table that meets them is a maximum, whatever found it.
    """
    ratio = np.divide(y, channel.forward(x), out=np.zeros_like(y), where=y > 0)
    gradient = channel.forward_transpose(ratio)[channel.possible_whole]
    inside = x[channel.possible_whole] > 1e-9 * y.sum()
    return float(gradient.max() - 1), float(np.abs(gradient[inside] - 1).max())


ONE_BLOCK = {
    "retention": (Retention(unit_of(5), 2**29, 32), ("a",)),
    "retention, little kept": (Retention(unit_of(5), 2**32 // 5 - 2**24, 32), ("a",)),
    "retention, 64 bits": (Retention(unit_of(5), 2**60 + 12345, 64), ("a",)),
    "retention, nearly all kept": (Retention(unit_of(5), 1, 64), ("a",)),
    "joint": (BLOCKS["joint"], ("c", "a", "b")),
    "joint, marginal": (BLOCKS["joint"], ("c", "a")),
    "forbidden": (BLOCKS["joint, forbidden combinations"], ("b", "c", "a")),
    "forbidden, marginal": (BLOCKS["joint, forbidden combinations"], ("b", "a")),
    "forbidden, one attribute": (BLOCKS["joint, forbidden combinations"], ("b",)),
}


def released_tables(channel, seed):
    """Dense, sparse and lopsided tables of released counts, and one of weights."""
    draw = np.random.default_rng(seed)
    possible = channel.possible_whole
    for rows, shape in ((10_000, 5.0), (40, 0.5), (7, 1.0), (1, 1.0)):
        p = draw.dirichlet(np.full(int(possible.sum()), shape))
        y = np.zeros(possible.shape)
        y[possible] = draw.multinomial(rows, p)
        yield y
    yield np.where(possible, draw.gamma(0.3, 5.0, possible.shape), 0.0)


@pytest.mark.parametrize(("block", "names"), ONE_BLOCK.values(), ids=ONE_BLOCK)
def test_the_closed_form_is_the_maximum(block, names, seed):
    channel = Channel((block,), names)
    for y in released_tables(channel, seed):
        x, found = maximum_likelihood(channel, y)
        assert (found.gap, found.passes, found.converged) == (0.0, 0, True)
        assert (x >= 0).all()
        assert (x[~channel.possible_whole] == 0).all()
        assert x.sum() == pytest.approx(y.sum(), rel=1e-9)
        above, off = optimality(channel, y, x)
        assert above < 1e-7  # x is rounded at 1e-16/rho of n, and rho is at least 0.004
        assert off < 1e-7
        plain, run = maximum_likelihood(channel, y, accelerate=False, tolerance=1e-4, most_steps=3000)
        assert run.log_likelihood <= found.log_likelihood + 1e-9 * max(1, abs(found.log_likelihood))
        assert found.log_likelihood - run.log_likelihood <= run.gap + 1e-9 * abs(found.log_likelihood)
        if run.converged and block.rho("a") > 0.3:  # otherwise the likelihood is too flat to tell
            np.testing.assert_allclose(x, plain, atol=0.02 * y.sum() ** 0.5 + 1e-6)


@pytest.mark.parametrize("replace", [2**63 - 1, 2**63 - 100])
def test_the_closed_form_where_hardly_anything_is_kept(replace):
    """A rho of 1e-19 is rounded away beside the shares of the values."""
    channel = Channel((Retention(unit_of(2), replace, 64),), ("a",))
    for released in ([3.0, 3.0], [7.0, 0.0], [0.0, 1.0]):
        people, _ = maximum_likelihood(channel, np.array(released))
        assert np.isfinite(people).all()
        assert people.min() >= 0


def test_the_closed_form_where_nothing_is_replaced_and_where_nobody_is():
    for block in (Retention(unit_of(4), 0, 32), Retention(BLOCKS["joint, forbidden combinations"].unit, 0, 32)):
        channel = Channel((block,), block.attributes)
        y = np.where(channel.possible_whole, np.arange(1.0, 1 + channel.possible_whole.size).reshape(channel.shape), 0)
        y.flat[0] = 0
        np.testing.assert_array_equal(maximum_likelihood(channel, y)[0], y)
    for block, names in ONE_BLOCK.values():
        channel = Channel((block,), names)
        x, found = maximum_likelihood(channel, np.zeros(channel.shape))
        assert (x == 0).all()
        assert (found.gap, found.log_likelihood, found.converged) == (0, 0, True)


CLIMBS = {
    "two attributes": ((TWO, THREE), ("b", "a")),
    "matrix": ((MATRIX,), ("e",)),
    "matrix with zeros": ((BLOCKS["matrix with zeros"],), ("a",)),
    "matrix and forbidden": ((MATRIX, FORBIDDING), ("d", "e", "c")),
    "matrix on a bundle, marginal": ((BUNDLED_FORBIDDING, MATRIX), ("a", "e")),
    "agreement": ((AGREEMENT, MATRIX), ("e", "b")),
}


@pytest.mark.parametrize(("blocks", "names"), CLIMBS.values(), ids=CLIMBS)
def test_acceleration_leads_to_the_same_table(blocks, names, seed):
    channel = Channel(blocks, names)
    for y in released_tables(channel, seed):
        scale = max(1.0, float(y.sum()))
        x, found = maximum_likelihood(channel, y, tolerance=1e-6)
        assert found.converged
        assert (x >= 0).all()
        assert (x[~channel.possible_whole] == 0).all()
        assert x.sum() == pytest.approx(y.sum(), rel=1e-9)
        above, _ = optimality(channel, y, x)
        assert above * y.sum() == pytest.approx(found.gap, abs=1e-8 * scale)
        plain, run = maximum_likelihood(channel, y, accelerate=False, tolerance=1e-6, most_steps=3000)
        # both are below the maximum by at most their gaps
        assert found.log_likelihood >= run.log_likelihood - found.gap - 1e-10 * scale
        assert run.log_likelihood >= found.log_likelihood - run.gap - 1e-10 * scale
        if run.converged:
            # near the maximum, log-likelihood d lower means q off by sqrt(2 d q/n) or so, and x by that over rho
            np.testing.assert_allclose(x, plain, atol=0.05 * math.sqrt(scale) + 0.02)


@pytest.mark.parametrize(("blocks", "names"), CLIMBS.values(), ids=CLIMBS)
def test_the_gap_is_never_understated_and_the_likelihood_never_falls(blocks, names, seed):
    channel = Channel(blocks, names)
    for y in list(released_tables(channel, seed))[:3]:
        _, best = maximum_likelihood(channel, y, tolerance=1e-9, most_steps=20_000)
        before = -math.inf
        for most in (1, 2, 4, 8, 16, 32):
            for accelerate in (True, False):
                _, found = maximum_likelihood(channel, y, tolerance=0.0, most_steps=most, accelerate=accelerate)
                missing = best.log_likelihood - found.log_likelihood
                assert missing <= found.gap + 1e-9 * max(1, abs(best.log_likelihood))
                if accelerate:
                    assert found.log_likelihood >= before - 1e-9 * max(1, abs(before) if before > -math.inf else 1)
                    before = found.log_likelihood


@pytest.mark.parametrize("name", ["two attributes", "matrix", "matrix and forbidden"])
def test_a_general_solver_finds_nothing_better(name, seed):
    blocks, names = CLIMBS[name]
    channel = Channel(blocks, names)
    possible = channel.possible_whole
    for y in list(released_tables(channel, seed))[:3]:
        n = float(y.sum())
        _, found = maximum_likelihood(channel, y, tolerance=1e-7)

        def loss(p, y=y, n=n):
            x = np.zeros(possible.shape)
            x[possible] = p * n
            q = channel.forward(x) / n
            ratio = np.divide(y, q, out=np.zeros_like(y), where=y > 0)
            value = -float((y[y > 0] * np.log(q[y > 0])).sum())
            return value / n, -channel.forward_transpose(ratio)[possible] / n

        cells = int(possible.sum())
        result = minimize(
            loss,
            np.full(cells, 1 / cells),
            jac=True,
            method="SLSQP",
            bounds=[(0, 1)] * cells,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            options={"maxiter": 500, "ftol": 1e-14},
        )
        # the solver meets its constraint to about 1e-12: that much can be gained unfairly
        assert -result.fun * n <= found.log_likelihood + found.gap + 1e-8 * n
        assert -result.fun * n >= found.log_likelihood - 1e-3 * max(1.0, n / 1000)


def test_em_reports_how_it_went(seed):
    blocks, names = CLIMBS["two attributes"]
    table = drawn(blocks, names, 500, seed, method="em")
    assert table.convergence.converged
    assert 0 <= table.convergence.gap <= 1
    assert table.convergence.passes >= 1
    assert table.counts.min() >= 0
    assert table.counts.sum() == pytest.approx(500)
    steps = []
    channel = Channel(blocks, names)
    y = list(released_tables(channel, seed))[1]
    maximum_likelihood(channel, y, tolerance=1e-6, progress=lambda step, done: steps.append(done))
    assert steps == sorted(steps) or max(steps) == 1.0
    assert all(0 <= step <= 1 for step in steps)
    assert steps[-1] == 1.0


@pytest.mark.parametrize("method", ["em", "simplex"])
def test_weighted_tables_without_negative_cells(method, seed):
    blocks, names = CLIMBS["matrix and forbidden"]
    weights = np.random.default_rng(seed).uniform(0.1, 4, 60)
    table = drawn(blocks, names, 60, seed, method=method, weights=weights)
    assert (table.counts >= 0).all()
    assert table.counts.sum() == pytest.approx(weights.sum())
    low, high = table.interval()
    assert (low <= table.counts).all()
    assert (table.counts <= high).all()
    if method == "em":  # the conditions of the maximum hold for weights as for counts
        whole, _ = maximum_likelihood(table.channel, table.released, tolerance=1e-7)
        assert optimality(table.channel, table.released, whole)[0] * weights.sum() <= 1.01e-7
