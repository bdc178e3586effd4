"""Limits of cells, dense and sparse: they solve the equation that defines them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from dense import unit_of
from small_tables import CASES, dense_of, drawn, reconstruct, records_of

from pkanon._blocks import Retention
from pkanon._estimate.interval import honest, normal_quantile
from pkanon._estimate.linear import Shape


def score_distance(blocks, names, table, level):
    """Per cell the ``distance(c, sign)`` of ``_estimate.interval``, from dense matrices and the nearest table.

    A cell with more than half of the people is judged by all others: then ``distance`` is theirs, and ``mirrored`` is true.
    """
    records, a = records_of(blocks), dense_of(blocks)
    b = np.linalg.inv(a)
    attributes = [name for block in blocks for name in block.attributes]
    cells = [tuple(record[attributes.index(name)] for name in names) for record in records]
    people = np.array([table.nearest_whole[cell] for cell in cells])
    z, n = normal_quantile(level), people.sum()
    for j, cell in enumerate(cells):
        counted = np.arange(len(cells)) == j
        mirrored = bool(people[j] > n / 2)
        if mirrored:
            counted = ~counted
        row = b @ counted  # what one released row adds
        inside = people * counted if (people * counted).sum() > 0 else counted.astype(float)
        members = (people * counted).sum()
        own = [float(inside @ (a @ row**power)) / inside.sum() for power in (2, 3)]
        others = [
            (float((a.T @ people) @ row**power) - own[power - 2] * members) / max(n - members, 1.0) for power in (2, 3)
        ]

        def moments(c, own=own, others=others):
            second, third = (others[i] * max(n - c, 0.0) + own[i] * c for i in (0, 1))
            if table.about == "table":  # a person who is counted adds 1 for certain: moments about 1
                return second - c, third - (3 * own[0] - 2) * c
            share = c / n
            return second - c * share, third - 3 * share * second + 2 * share * share * c

        variance, third = moments(members)
        step = np.abs(row[counted]).max()
        steps, skewness = variance / step**2, third / variance**1.5

        def distance(c, sign, moments=moments, half=step / 2 if steps < 10 else 0.0):
            variance, third = moments(max(c, 0.0))
            tilt = (z * z - 1) / 6 * third / variance if variance > 0 else 0.0
            return sign * max(z * math.sqrt(max(variance, 0.0)) + sign * tilt, 0.0) + sign * half

        plain = abs(skewness) < 1 / math.sqrt(50) and steps >= 10
        yield cell, None if plain else distance, mirrored


@pytest.mark.parametrize(
    "name", ["retention", "two attributes", "joint, forbidden", "matrix and retention", "agreement"]
)
@pytest.mark.parametrize("about", ["table", "population"])
def test_limits_of_sparse_cells_solve_the_score_equation(name, about, seed):
    """estimate - c = distance(c) at both limits; found by formulas of the docstring, dense and one cell at a time."""
    blocks, names, _ = CASES[name]
    solved = 0
    for rows, level in ((2, 0.95), (8, 0.95), (8, 0.6), (30, 0.99), (200, 0.95)):
        for number in range(4):
            table = drawn(blocks, names, rows, seed + number, about=about)
            low, high = table.interval(level)
            for cell, distance, mirrored in score_distance(blocks, names, table, level):
                estimate, ends = table.counts[cell], (low[cell], high[cell])
                if mirrored:
                    estimate, ends = rows - estimate, (rows - high[cell], rows - low[cell])
                if distance is None:
                    error = normal_quantile(level) * table.standard_errors[cell]
                    assert ends == pytest.approx((estimate - error, estimate + error))
                    continue
                for limit, sign in zip(ends, (1.0, -1.0)):
                    if limit > rows:  # more than everybody: no variance, and nothing to solve
                        continue
                    solved += 1
                    missed = estimate - limit - distance(limit, sign)
                    # a thousandth of the width of the interval changes nobody's mind
                    assert abs(missed) < 1e-3 * (high[cell] - low[cell]), (rows, level, cell, sign)
    assert solved > 20


@pytest.mark.parametrize(
    ("expected", "error", "used"),
    [
        (19.9, 8.0, math.sqrt((64 + 100) / 2)),  # scarce, and the model says more than the rows do: the mean of both
        (20.0, 8.0, 8.0),
        (19.9, 12.0, 12.0),  # the rows say more: they are believed
        (0.5, 10.0, 10.0),
    ],
)
def test_an_error_is_steadied_where_released_rows_are_scarce(expected, error, used):
    """No person in the cell, 100 elsewhere with a variance of 1 each, no skewness, and steps of 1."""
    one = np.ones(1)
    shape = Shape(
        people=0 * one,
        step=one,
        expected=expected * one,
        own_2=2 * one,
        own_3=4 * one,
        others_2=one,
        others_3=0 * one,
        total=100.0,
    )
    low, high, plain = honest(5 * one, error * one, shape, False, 0.9)
    assert plain[0] == (expected >= 20)
    z = normal_quantile(0.9)
    assert (low[0], high[0]) == pytest.approx((5 - z * used, 5 + z * used), rel=1e-12)


def test_scarce_cells_of_a_table_are_steadied_with_the_variance_of_the_nearest_table(seed):
    """Of two attributes, so that what skews an estimate to both sides nearly cancels; from dense matrices."""
    blocks = (Retention(unit_of(4), 2**32 * 9 // 40, 32), Retention(unit_of(5, names="b"), 2**32 * 9 // 50, 32))
    a = dense_of(blocks)
    b = np.linalg.inv(a)
    z, steadied, plain = normal_quantile(0.95), 0, 0
    for number in range(4):
        table = drawn(blocks, ("a", "b"), 320, seed + number)
        people = table.nearest_whole.ravel()
        expected, variance = a.T @ people, (a.T @ people) @ b**2 - people
        low, high = table.interval()
        cells = score_distance(blocks, ("a", "b"), table, 0.95)
        for j, (cell, distance, mirrored) in enumerate(cells):
            if distance is not None or mirrored:
                continue
            square = table.standard_errors[cell] ** 2
            if expected[j] < 20 and variance[j] > square:
                square, steadied = (square + variance[j]) / 2, steadied + 1
            else:
                plain += 1
            reach = z * math.sqrt(square)
            limits = (table.counts[cell] - reach, table.counts[cell] + reach)
            assert (low[cell], high[cell]) == pytest.approx(limits, rel=1e-9)
    assert steadied > 5
    assert plain > 5


def test_limits_without_negative_cells_are_those_of_the_nearest_possible_estimate():
    """Far below zero: the interval of a zero estimate, cut off at zero. Above the total likewise."""
    block = Retention(unit_of(4), 2**29, 32)  # q = 1/8, rho = 1/2
    z = normal_quantile(0.95)
    table = reconstruct((block,), [(1,)] * 300 + [(2,)] * 350 + [(3,)] * 350, ("a",), method="simplex")
    inverse = replace(table, method="inverse", counts=table.unbiased)
    assert table.unbiased[0] == pytest.approx(-250)  # (0 - 1000/8) / (1/2)
    assert inverse.interval()[1][0] < 0
    low, high = table.interval()
    # (B o B)^T y - B^T y: every row adds (q/rho)^2 = 1/16
    assert table.standard_errors[0] == pytest.approx(math.sqrt(1000 / 16 + 250))
    assert (low[0], high[0]) == pytest.approx((0, z * math.sqrt(1000 / 16 + 250)))
    for i in (1, 2, 3):
        assert low[i] == pytest.approx(min(inverse.interval()[0][i], table.counts[i]))
        assert high[i] == pytest.approx(max(inverse.interval()[1][i], table.counts[i]))
    everybody = reconstruct((block,), [(0,)] * 1000, ("a",), method="simplex")
    assert everybody.unbiased[0] > 1000
    low, high = everybody.interval()
    assert high[0] == 1000
    assert low[0] < 1000 - z * everybody.standard_errors[0] / 2  # around the total, not around what is beyond it
    np.testing.assert_array_equal(low[1:], 0)


def test_a_sparse_cell_far_below_zero_has_the_score_interval_of_zero():
    block = Retention(unit_of(4), 2**29, 32)
    table = reconstruct((block,), [(1,)] * 7 + [(2,)] * 7 + [(3,)] * 7, ("a",), method="simplex")
    low, high = table.interval()
    (_, distance, _), *_ = score_distance((block,), ("a",), table, 0.95)
    assert distance is not None
    assert low[0] == 0
    assert 0 - high[0] == pytest.approx(distance(high[0], -1.0), rel=1e-4)


@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("method", ["inverse", "simplex"])
@pytest.mark.parametrize(
    "name", ["retention", "two attributes", "joint, forbidden", "matrix and retention", "agreement"]
)
def test_limits_of_all_others_are_the_rest(name, method, about, seed):
    """The interval of n - X is n less the interval of X, whichever of both is small."""
    blocks, names, _ = CASES[name]
    for rows in (8, 30):
        table = drawn(blocks, names, rows, seed, about=about, method=method)
        for cell in np.argwhere(table.channel.possible):
            one = np.zeros(table.counts.shape)
            one[tuple(cell)] = 1
            low, high = table.linear(one).interval(0.9)
            others = table.linear(table.channel.possible - one).interval(0.9)
            if method == "inverse" or table.counts[tuple(cell)] <= rows / 2:
                assert others == pytest.approx((rows - high, rows - low), abs=1e-6 * rows)


@pytest.mark.parametrize("about", ["table", "population"])
def test_limits_do_not_depend_on_how_many_cells_are_solved_at_a_time(about, seed, monkeypatch):
    blocks, names, _ = CASES["two attributes"]
    whole, *pieces = (drawn(blocks, names, 200, seed, about=about) for _ in range(3))
    expected = whole.interval()
    for table, size in zip(pieces, (1, 5)):
        monkeypatch.setattr("pkanon._estimate.interval.PIECE", size)
        np.testing.assert_allclose(table.interval(), expected, rtol=1e-12, atol=1e-12 * 200)


@pytest.mark.parametrize("level", [0.01, 0.5, 0.99, 0.9999])
def test_every_level_has_limits_around_the_estimate(level, seed):
    """Low noise and few people: the correction for skewness alone would carry a limit past the estimate."""
    blocks = (Retention(unit_of(40), 2**32 // 2000, 32),)
    for number in range(3):
        table = drawn(blocks, ("a",), 12, seed + number)
        low, high = table.interval(level)
        assert (low <= table.counts).all()
        assert (table.counts <= high).all()
