"""Variances of linear functions of a table, quantities made of several, shares."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from small_tables import CASES, dense_of, drawn, functions, reconstruct, records_of

import pkanon as pk
from pkanon._estimate.interval import normal_quantile, ratio, wald
from pkanon._estimate.linear import Listed
from pkanon._estimate.variance import _evenly


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("about", ["table", "population"])
def test_the_variance_of_one_function_is_on_the_diagonal_of_many(name, about, seed):
    blocks, names, _ = CASES[name]
    table = drawn(blocks, names, 3000, seed, about=about)
    w = functions(table.counts.shape, seed)
    np.testing.assert_allclose(table.variances_of(w), np.diag(table.covariance(w)), rtol=1e-9)
    for cell in np.argwhere(table.channel.possible):
        one = np.zeros(table.counts.shape)
        one[tuple(cell)] = 1
        assert table.linear(one).value == pytest.approx(table.counts[tuple(cell)])
        assert table.linear(one).standard_error == pytest.approx(table.standard_errors[tuple(cell)], rel=1e-7)


def test_a_linear_function_with_a_negative_estimated_variance_has_that_of_people_spread_evenly():
    """... and that is the exact variance if they are the truth."""
    blocks, names, _ = CASES["two attributes"]
    found = 0
    for outcome in itertools.combinations_with_replacement(records_of(blocks), 2):
        table = reconstruct(blocks, outcome, names)
        for w in np.eye(table.counts.size).reshape(-1, *table.counts.shape):
            if table.covariance(w[None])[0, 0] <= 0:
                found += 1
                people = np.full(table.counts.shape, 2.0 / table.counts.size)
                a = dense_of(blocks)
                order = [(r[1], r[0]) for r in records_of(blocks)]  # the table is b x a
                x, t = np.array([people[c] for c in order]), np.array([w[c] for c in order])
                carried = np.linalg.inv(a) @ t
                assert table.variances_of(w[None])[0] == pytest.approx(
                    float((a.T @ x) @ carried**2 - x @ t**2), rel=1e-9
                )
    assert found


@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("name", ["two attributes", "joint, forbidden", "matrix on a bundle, marginal"])
def test_weights_of_two_make_variances_fourfold(name, about, seed):
    """Also where people spread evenly stand in: twice as many of each kind, and each counts twice."""
    blocks, names, _ = CASES[name]
    plain, double = (drawn(blocks, names, 5, seed, about=about, weights=w) for w in (None, np.full(5, 2.0)))
    assert double.weighted
    for w in functions(plain.counts.shape, seed):
        listed = Listed(plain.channel, w[None])
        evenly = _evenly(plain, listed)
        assert evenly > 0
        assert _evenly(double, listed) == pytest.approx(4 * evenly, rel=1e-9)
        assert double.variances_of(w[None]) == pytest.approx(4 * plain.variances_of(w[None]), rel=1e-9)


def differentiated(table, of, step=1e-4):
    """The gradient of ``of(table).value`` with respect to the counts, by central differences."""
    gradient = np.zeros(table.counts.shape)
    for cell in np.ndindex(*table.counts.shape):
        ends = []
        for sign in (1, -1):
            counts = table.counts.copy()
            counts[cell] += sign * step
            ends.append(of(replace(table, counts=counts)).value)
        gradient[cell] = (ends[0] - ends[1]) / (2 * step)
    return gradient


ARITHMETIC = {
    "sum": lambda p, q, r: p + q + 3,
    "difference": lambda p, q, r: 7 - p - (q - 2.5),
    "product": lambda p, q, r: p * q * r * 2,
    "quotient": lambda p, q, r: p / q,
    "reciprocal": lambda p, q, r: 1000 / q,
    "share of a share": lambda p, q, r: (p / q) / (r / 4),
    "square root": lambda p, q, r: (p * q).sqrt(),
    "square": lambda p, q, r: p * p - -r,
}


@pytest.mark.parametrize("of", ARITHMETIC.values(), ids=ARITHMETIC)
def test_arithmetic_follows_the_delta_method(of, seed):
    blocks, names, _ = CASES["two attributes"]
    table = drawn(blocks, names, 3000, seed)
    w = np.abs(functions(table.counts.shape, seed))

    def made(table):
        return of(*(table.linear(one) for one in w))

    quantity, gradient = made(table), differentiated(table, made)
    # central differences: truncation h^2 f'''/6 and rounding 1e-16 f/h are both below 1e-6 of the slope here
    np.testing.assert_allclose(quantity.weights, gradient, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())
    assert quantity.standard_error == pytest.approx(math.sqrt(table.variances_of(gradient[None])[0]), rel=1e-5)
    z = normal_quantile(0.9)
    low, high = quantity.interval(0.9)
    if quantity._basis.ratio(quantity._number) is not None:  # its limits have a test of their own
        assert low < quantity.value < high
        return
    assert (low, high) == pytest.approx(
        (quantity.value - z * quantity.standard_error, quantity.value + z * quantity.standard_error)
    )
    if quantity.value > 0:
        low, high = quantity.on("log").interval(0.9)
        relative = quantity.standard_error / quantity.value
        assert (math.log(low), math.log(high)) == pytest.approx(
            (math.log(quantity.value) - z * relative, math.log(quantity.value) + z * relative)
        )


@pytest.mark.parametrize(("scale", "value"), [("log", 1e-4), ("log", 1e6), ("atanh", 0.5), ("plain", 1e-4)])
def test_an_interval_that_knows_nothing_has_ends_all_the_same(scale, value, seed):
    """A number near zero with a large error: exp overflows at 709, and an interval must come out all the same."""
    blocks, names, _ = CASES["two attributes"]
    count = drawn(blocks, names, 30, seed).linear(np.eye(3, 2))
    wide = (value * (0.0 * count * count).exp()).on(scale)
    vars(wide)["standard_error"] = math.sqrt(10.0)  # a cached property
    low, high = wide.interval()
    assert low <= value <= high
    assert high - low > 1  # it does not pretend to know


def test_numbers_of_two_releases_are_not_combined(seed):
    blocks, names, _ = CASES["two attributes"]
    one, other = drawn(blocks, names, 30, seed), drawn(blocks, names, 30, seed + 1)
    with pytest.raises(pk.InputError, match="different releases"):
        one.linear(1.0) + other.linear(1.0)
    nothing = one.linear(0.0)
    for undefined in (one.linear(1.0) / nothing, 1 / nothing, nothing / 0, (nothing - 1).sqrt()):
        assert math.isnan(undefined.value)
        assert math.isnan(undefined.standard_error)
        assert all(map(math.isnan, undefined.interval()))


@pytest.mark.parametrize("name", ["two attributes", "joint, forbidden", "matrix and retention", "agreement"])
@pytest.mark.parametrize("about", ["table", "population"])
def test_shares_of_a_group_are_ratios_of_counts(name, about, seed):
    """Value, standard error (delta method) and limits (Fieller), each found another way."""
    blocks, names, _ = CASES[name]
    table = drawn(blocks, names, 20_000, seed, about=about)
    for given in ((names[0],), (names[1],), names[::-1]):
        shares = table.shares(given, 0.9)
        for cell in np.argwhere(table.channel.possible):
            cell = tuple(cell)
            one, group = np.zeros(table.counts.shape), np.zeros(table.counts.shape)
            one[cell] = 1
            group[tuple(code if n in given else slice(None) for n, code in zip(names, cell))] = 1
            quantity = table.linear(one) / table.linear(group)
            assert shares.shares[cell] == pytest.approx(quantity.value, rel=1e-9)
            # where the group is the cell, all is rounding: the root of 1e-16 times a few
            assert shares.standard_errors[cell] == pytest.approx(quantity.standard_error, rel=1e-5, abs=1e-7)
            # {r: (x - r y)^2 <= z^2 Var(x - r y)} from the covariance matrix itself; 20,000 rows are
            # so many that every interval is the normal one
            covariance = table.covariance(np.array([one, group]))
            x, y, z = table.counts[cell], float((table.counts * group).sum()), normal_quantile(0.9)

            def outside(r, x=x, y=y, z=z, c=covariance):
                return (x - r * y) ** 2 - z * z * (c[0, 0] - 2 * r * c[0, 1] + r * r * c[1, 1])

            if set(given) == set(names):
                assert (shares.low[cell], shares.high[cell]) == pytest.approx((1, 1), abs=1e-6)
                continue
            reach = 20 * quantity.standard_error
            low = brentq(outside, quantity.value - reach, quantity.value, xtol=1e-14)
            high = brentq(outside, quantity.value, quantity.value + reach, xtol=1e-14)
            assert (shares.low[cell], shares.high[cell]) == pytest.approx((low, high), abs=1e-7)
        assert shares.bounded.all()
    whole = table.shares((), 0.9)
    np.testing.assert_allclose(whole.shares, table.counts / 20_000)
    np.testing.assert_allclose(whole.standard_errors, table.standard_errors / 20_000)
    np.testing.assert_allclose(whole.low, table.interval(0.9)[0] / 20_000)


def test_weighted_shares_of_a_population_have_an_uncertain_total(seed):
    blocks, names, _ = CASES["two attributes"]
    weights = np.random.default_rng(seed).gamma(0.2, 5.0, 5000)
    table = drawn(blocks, names, 5000, seed, weights=weights, about="population")
    shares = table.shares()
    for cell in np.ndindex(*table.counts.shape):
        one = np.zeros(table.counts.shape)
        one[cell] = 1
        quantity = table.linear(one) / table.linear(1.0)
        assert shares.shares[cell] == pytest.approx(quantity.value)
        assert shares.standard_errors[cell] == pytest.approx(quantity.standard_error, rel=1e-6)
    assert not np.allclose(shares.standard_errors, table.standard_errors / table.total, rtol=0.01)


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.6, 0.99])
def test_limits_of_a_ratio_are_fiellers(correlation):
    above, below = np.array([30.0, -4.0, 0.0, 55.0, 2.0]), np.array([50.0, 40.0, 20.0, 60.0, 3.0])
    errors = np.array([5.0, 3.0, 2.0, 6.0, 1.0]), np.array([6.0, 5.0, 3.0, 4.0, 2.9])
    z = normal_quantile(0.95)
    low, high, bounded = ratio(
        above, wald(above, errors[0], 0.95), below, wald(below, errors[1], 0.95), np.full(5, correlation)
    )
    assert bounded.tolist() == [True, True, True, True, False]  # 3 < 1.96 * 2.9: the last could be zero
    for i in range(4):

        def outside(r, i=i):
            variance = errors[0][i] ** 2 + (r * errors[1][i]) ** 2 - 2 * r * correlation * errors[0][i] * errors[1][i]
            return (above[i] - r * below[i]) ** 2 - z * z * variance

        middle = above[i] / below[i]
        assert low[i] == pytest.approx(brentq(outside, middle - 10, middle), abs=1e-9)
        assert high[i] == pytest.approx(brentq(outside, middle, middle + 10), abs=1e-9)
