"""Are estimates and their standard errors unbiased, and is the most likely table the most likely one?

Small private tables are released in every possible way, each release with its exact probability. What
the package says of each release is then averaged: no sampling, no approximation. Methods that have an
optimum are compared with the conditions that define it (Karush, Kuhn and Tucker), with plain EM and
with a general solver.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from blocks import BLOCKS, whole_unit
from dense import declared_words, matrix_of, unit_of
from scipy.optimize import brentq, minimize

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._estimate import LARGEST_TABLE, Channel, Reconstruction, maximum_likelihood, nearest, tabulate
from pkanon._estimate.interval import honest, normal_quantile, ratio, wald
from pkanon._estimate.linear import Listed, Shape, cells
from pkanon._estimate.shares import _covariance
from pkanon._estimate.tabulate import PIECE, check_size
from pkanon._estimate.variance import _evenly, estimated_variances
from pkanon._schema import code_dtype

EXACT = 1e-9
"""Sums of at most some thousand products of numbers up to 10^3: rounding stays below 1e-16 * 1e3 * 1e3."""


# --- every release of a small table ---------------------------------------------------------------------------


def schema_of(blocks):
    sizes = {name: size for block in blocks for unit in block.units for name, size in zip(unit.attributes, unit.sizes)}
    return pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in sizes.items()])


def records_of(blocks):
    """Every record that can occur, as a tuple of codes in the order of the blocks' attributes."""
    parts = []
    for block in blocks:
        unit = whole_unit(block)
        parts.append(list(zip(*unit.split(np.arange(unit.size, dtype=np.uint32)))))
    return [tuple(int(code) for part in parts for code in part) for parts in itertools.product(*parts)]


def dense_of(blocks):
    """The transition matrix of whole records, in the order of :func:`records_of`."""
    result = np.ones((1, 1))
    for block in blocks:
        words = np.array(declared_words(block), float)
        result = np.kron(result, words / words.sum(axis=1, keepdims=True))
    return result


def reconstruct(blocks, records, names, weights=None, **more):
    """The package's table from released records."""
    attributes = [name for block in blocks for name in block.attributes]
    columns = np.array(records, int).reshape(len(records), len(attributes)).T
    codes = {name: column.astype(np.uint8) for name, column in zip(attributes, columns)}
    weights = None if weights is None else np.asarray(weights, float)
    return Reconstruction.of(schema_of(blocks), blocks, codes, names, weights=weights, **more)


def counted(blocks, records, names, weights=None):
    """The private table itself."""
    attributes = [name for block in blocks for name in block.attributes]
    sizes = dict(zip(attributes, (a.size for a in schema_of(blocks).attributes)))
    table = np.zeros([sizes[name] for name in names])
    for record, weight in zip(records, weights or [1.0] * len(records)):
        table[tuple(record[attributes.index(name)] for name in names)] += weight
    return table


def average(blocks, laws, names, of, weights=None, **more):
    """The expectation of ``of(table)`` over all releases; person i is released as record v with chance laws[i][v]."""
    records = records_of(blocks)
    total, mass = 0.0, 0.0
    for outcome in itertools.product(range(len(records)), repeat=len(laws)):
        chance = math.prod(law[v] for law, v in zip(laws, outcome))
        if chance:
            table = reconstruct(blocks, [records[v] for v in outcome], names, weights, **more)
            total = total + chance * of(table)
            mass += chance
    assert mass == pytest.approx(1, abs=1e-12)
    return total


TWO = Retention(unit_of(2), 2**29, 32)
THREE = Retention(unit_of(3, names="b"), 2**29, 32)
FOUR = Retention(unit_of(4), 2**29, 32)
JOINT = Retention(unit_of(2, 2, names="cd"), 2**28, 32)
FORBIDDING = Retention(unit_of(2, 3, names="cd", forbid=(((0,), (2,)), ((1,), (0,)))), 2**28, 32)
MATRIX = matrix_of(unit_of(3, names="e"), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32)
BUNDLED = BLOCKS["matrix on a bundle"]
BUNDLED_FORBIDDING = BLOCKS["matrix on a bundle, forbidden"]
AGREEMENT = BLOCKS["agreement"]

CASES = {
    "retention": ((FOUR,), ("a",), 4),
    "two attributes": ((TWO, THREE), ("b", "a"), 3),
    "one of two": ((TWO, THREE), ("b",), 3),
    "joint": ((JOINT,), ("d", "c"), 4),
    "joint, forbidden": ((FORBIDDING,), ("c", "d"), 4),
    "joint, forbidden, marginal": ((FORBIDDING,), ("d",), 4),
    "matrix": ((MATRIX,), ("e",), 4),
    "matrix and retention": ((MATRIX, TWO), ("a", "e"), 3),
    "matrix on a bundle": ((BUNDLED,), ("b", "a"), 3),
    "matrix on a bundle, marginal": ((BUNDLED,), ("b",), 3),
    "matrix on a bundle, forbidden, marginal": ((BUNDLED_FORBIDDING,), ("a",), 3),
    "matrix on a bundle, forbidden, other marginal": ((BUNDLED_FORBIDDING,), ("b",), 3),
    "agreement": ((AGREEMENT,), ("b", "a"), 3),
    "agreement, marginal": ((AGREEMENT,), ("b",), 3),
}
every_case = pytest.mark.parametrize(("blocks", "names", "people"), CASES.values(), ids=CASES)


def some_people(blocks, people):
    """Unlike people, two of them alike: records 0, 0, 1, 2, ... as far as there are so many."""
    records = len(records_of(blocks))
    return [0, *(i % records for i in range(people - 1))]


def functions(shape, seed):
    """Three random linear functions of a table."""
    return np.random.default_rng(seed).normal(size=(3, *shape))


@every_case
def test_the_people_in_the_table(blocks, names, people, seed):
    """E x_hat = x; the estimated variances and covariances have the true ones as expectation, before any fallback."""
    a, records = dense_of(blocks), records_of(blocks)
    chosen = some_people(blocks, people)
    x = counted(blocks, [records[i] for i in chosen], names)
    w = functions(x.shape, seed)
    parts = average(
        blocks,
        a[chosen],
        names,
        lambda table: np.concatenate(
            [
                part.ravel()
                for part in (
                    table.counts,
                    table.counts**2,
                    np.multiply.outer(table.counts, table.counts),
                    plug_in_of(table),
                    table.covariance(w),
                    np.array(((table.counts - x) ** 2).sum()),
                )
            ]
        ),
    )
    size = x.size
    mean, second, outer, plug_in, between, squared = np.split(
        parts, np.cumsum([size, size, size * size, size, len(w) ** 2])
    )
    np.testing.assert_allclose(mean, x.ravel(), atol=EXACT)
    true = outer.reshape(size, size) - np.multiply.outer(x.ravel(), x.ravel())
    np.testing.assert_allclose(plug_in, second - x.ravel() ** 2, atol=EXACT)
    flat = w.reshape(len(w), -1)
    np.testing.assert_allclose(between.reshape(len(w), -1), flat @ true @ flat.T, atol=EXACT * 10)
    channel = Channel(blocks, names)
    if all(block.error_is_exact([n for n in block.attributes if n in names]) for block in blocks):
        assert squared == pytest.approx(people * (channel.error_factor - 1), rel=1e-10)
    else:
        assert squared <= people * (channel.error_factor - 1) * (1 + 1e-10)


@every_case
def test_the_population_behind_the_table(blocks, names, people, seed):
    """People are drawn too: the expected variance is that of sampling and randomising together."""
    a, records = dense_of(blocks), records_of(blocks)
    p = np.random.default_rng(seed).dirichlet(np.ones(len(records)))
    people = min(people, 3)
    share = sum(chance * counted(blocks, [record], names) for chance, record in zip(p, records))
    w = functions(share.shape, seed)
    flat = w.reshape(len(w), -1)
    # a sampled person is released as v with chance (p A)[v]
    parts = average(
        blocks,
        [p @ a] * people,
        names,
        lambda table: np.concatenate(
            [
                part.ravel()
                for part in (
                    table.counts,
                    np.multiply.outer(table.counts, table.counts),
                    plug_in_of(table),
                    table.covariance(w),
                )
            ]
        ),
        about="population",
    )
    size = share.size
    mean, outer, plug_in, between = np.split(parts, np.cumsum([size, size * size, size]))
    np.testing.assert_allclose(mean, people * share.ravel(), atol=EXACT)
    true = outer.reshape(size, size) - np.multiply.outer(mean, mean)
    np.testing.assert_allclose(plug_in, np.diag(true), atol=EXACT)
    np.testing.assert_allclose(between.reshape(len(w), -1), flat @ true @ flat.T, atol=EXACT * 10)


WEIGHTED = {name: CASES[name] for name in ("retention", "two attributes", "joint, forbidden, marginal", "matrix")} | {
    "matrix on a bundle, marginal": CASES["matrix on a bundle, marginal"]
}


@pytest.mark.parametrize(("blocks", "names", "people"), WEIGHTED.values(), ids=WEIGHTED)
def test_survey_weights(blocks, names, people, seed):
    """The same with a weight per person: of the people in the table, and of a population of (person, weight)."""
    a, records = dense_of(blocks), records_of(blocks)
    chosen, weights = some_people(blocks, people), [2.5, 0.5, 1.0, 3.0][:people]
    x = counted(blocks, [records[i] for i in chosen], names, weights)
    w = functions(x.shape, seed)
    flat = w.reshape(len(w), -1)
    of = lambda table: np.concatenate(  # noqa: E731  # named once, used twice
        [
            part.ravel()
            for part in (
                table.counts,
                np.multiply.outer(table.counts, table.counts),
                plug_in_of(table),
                table.covariance(w),
            )
        ]
    )
    size = x.size
    mean, outer, plug_in, between = np.split(
        average(blocks, a[chosen], names, of, weights), np.cumsum([size, size * size, size])
    )
    np.testing.assert_allclose(mean, x.ravel(), atol=EXACT)
    true = outer.reshape(size, size) - np.multiply.outer(mean, mean)
    np.testing.assert_allclose(plug_in, np.diag(true), atol=EXACT)
    np.testing.assert_allclose(between.reshape(len(w), -1), flat @ true @ flat.T, atol=EXACT * 20)

    # population: two people, each with weight 1 or 3 by the flip of a coin that knows the record
    p = np.random.default_rng(seed).dirichlet(np.ones(len(records)))
    heavy = np.linspace(0.2, 0.9, len(records))  # P(weight 3 | record)
    laws = {1.0: (p * (1 - heavy)) @ a, 3.0: (p * heavy) @ a}
    parts = sum(
        math.prod(laws[weight].sum() for weight in pair)
        * average(
            blocks, [laws[weight] / laws[weight].sum() for weight in pair], names, of, list(pair), about="population"
        )
        for pair in itertools.product((1.0, 3.0), repeat=2)
    )
    mean, outer, plug_in, between = np.split(parts, np.cumsum([size, size * size, size]))
    share = sum(c * (1 + 2 * h) * counted(blocks, [record], names) for c, h, record in zip(p, heavy, records))
    np.testing.assert_allclose(mean, 2 * share.ravel(), atol=EXACT)
    true = outer.reshape(size, size) - np.multiply.outer(mean, mean)
    np.testing.assert_allclose(plug_in, np.diag(true), atol=EXACT)
    np.testing.assert_allclose(between.reshape(len(w), -1), flat @ true @ flat.T, atol=EXACT * 20)


@pytest.mark.parametrize("name", ["two attributes", "joint, forbidden", "matrix and retention", "agreement"])
@pytest.mark.parametrize("about", ["table", "population"])
def test_a_cell_and_its_group_vary_together_as_estimated(name, about, seed):
    """Shares of a group need Cov(cell, group); its estimate is unbiased too."""
    blocks, names, people = CASES[name]
    a, records = dense_of(blocks), records_of(blocks)
    people = min(people, 3)
    chosen = some_people(blocks, people)
    laws = a[chosen]
    if about == "population":
        laws = [np.random.default_rng(seed).dirichlet(np.ones(len(records))) @ a] * people
    given = (names[0],)

    def of(table):
        group = table.counts.sum(axis=1, keepdims=True)
        common = _covariance(table, given, group)
        return np.array([table.counts, np.broadcast_to(group, table.counts.shape), table.counts * group, common])

    cell, group, both, common = average(blocks, laws, names, of, about=about)
    np.testing.assert_allclose(common, both - cell * group, atol=EXACT)


def plug_in_of(table):
    """The estimated variance of each cell, before any fallback."""
    return estimated_variances(table, cells(table.channel))[0].reshape(table.counts.shape)


def variance_of_even_people(blocks, names):
    """Per cell the variance that one person causes who is spread evenly over the released cells, from dense matrices."""
    a, records = dense_of(blocks), records_of(blocks)
    attributes = [name for block in blocks for name in block.attributes]

    def places_in(names):
        return [tuple(record[attributes.index(name)] for name in names) for record in records]

    places, whole = places_in(names), places_in(Channel(blocks, names).sizes)
    b, x = np.linalg.inv(a), np.array([1 / (len(set(whole)) * whole.count(place)) for place in whole])
    sizes = {name: size for block in blocks for unit in block.units for name, size in zip(unit.attributes, unit.sizes)}
    found = np.zeros([sizes[name] for name in names])
    for cell in set(places):
        inside = np.array([place == cell for place in places], float)
        found[cell] = (a.T @ x) @ (b @ inside) ** 2 - x @ inside
    return found


def test_the_evenly_spread_variance_of_a_cell_is_the_predicted_one():
    """In a value-symmetric design: n (c - 1), shared by all cells."""
    blocks, names, _ = CASES["two attributes"]
    table = reconstruct(blocks, records_of(blocks)[:4], names)
    np.testing.assert_allclose(
        4 * variance_of_even_people(blocks, names), 4 * (table.channel.error_factor - 1) / table.counts.size
    )


@every_case
@pytest.mark.parametrize("about", ["table", "population"])
def test_standard_errors_are_numbers_above_zero_and_the_fallback_is_told(blocks, names, people, about):
    people = 2
    records = records_of(blocks)
    evenly = variance_of_even_people(blocks, names)
    told = 0
    for outcome in itertools.combinations_with_replacement(records, people):
        table = reconstruct(blocks, outcome, names, about=about)
        possible, errors = table.channel.possible, table.standard_errors
        assert np.isfinite(errors).all()
        assert (errors[possible] > 0).all()
        assert (errors[~possible] == 0).all()
        plug_in = plug_in_of(table)
        np.testing.assert_array_equal(
            table.fallback, (plug_in <= EXACT) & possible
        )  # equal rows: zero but for rounding
        np.testing.assert_allclose(errors[~table.fallback & possible] ** 2, plug_in[~table.fallback & possible])
        predicted = people * evenly + (about == "population")  # with sampling one person more
        np.testing.assert_allclose(errors[table.fallback] ** 2, predicted[table.fallback])
        told += int(table.fallback.any())
        for level in (0.5, 0.95):
            low, high = table.interval(level)
            assert np.isfinite([low, high]).all()
            assert (low <= high).all()
            assert (low[~possible] == 0).all()
            assert (high[~possible] == 0).all()
    if about == "table" and len(blocks) > 1 and len(names) > 1:
        assert told  # with one retention block (B o B)^T y - B^T y is never negative, with two it is


def test_what_is_kept_is_known_exactly():
    kept = (Retention(unit_of(3), 0, 32), Retention(unit_of(2, names="b"), 0, 32))
    table = reconstruct(kept, [(0, 0), (0, 1), (2, 1), (2, 1)], ("a", "b"))
    assert (table.standard_errors == 0).all()
    assert not table.fallback.any()
    for limit in table.interval():
        np.testing.assert_array_equal(limit, [[1, 1], [0, 0], [0, 2]])
    assert table.linear([[1, 2], [3, 4], [5, 6]]).standard_error == 0


def score_distance(blocks, names, table, level):
    """Per cell the ``distance(c, sign)`` of ``_estimate.interval``, from dense matrices and the nearest table."""
    records, a = records_of(blocks), dense_of(blocks)
    b = np.linalg.inv(a)
    attributes = [name for block in blocks for name in block.attributes]
    cells = [tuple(record[attributes.index(name)] for name in names) for record in records]
    people = np.array([table.nearest_whole[cell] for cell in cells])
    z, n = normal_quantile(level), people.sum()
    for j, cell in enumerate(cells):
        own = [float(a[j] @ b[:, j] ** power) for power in (2, 3)]
        others = [
            (float((a.T @ people) @ b[:, j] ** power) - own[power - 2] * people[j]) / max(n - people[j], 1.0)
            for power in (2, 3)
        ]

        def moments(c, own=own, others=others):
            second, third = (others[i] * max(n - c, 0.0) + own[i] * c for i in (0, 1))
            if table.about == "table":  # a person in the cell adds 1 for certain: moments about 1
                return second - c, third - (3 * own[0] - 2) * c
            share = c / n
            return second - c * share, third - 3 * share * second + 2 * share * share * c

        variance, third = moments(people[j])
        steps, skewness = variance / b[j, j] ** 2, third / variance**1.5

        def distance(c, sign, moments=moments, half=b[j, j] / 2 if steps < 10 else 0.0):
            variance, third = moments(max(c, 0.0))
            spread = math.sqrt(max(variance, 0.0))
            return sign * (z * spread + half) + ((z * z - 1) / 6 * third / variance if variance > 0 else 0.0)

        yield cell, distance if abs(skewness) >= 1 / math.sqrt(50) or steps < 10 else None


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
            for cell, distance in score_distance(blocks, names, table, level):
                estimate = table.counts[cell]
                if distance is None:
                    error = normal_quantile(level) * table.standard_errors[cell]
                    assert (low[cell], high[cell]) == pytest.approx((estimate - error, estimate + error))
                    continue
                for limit, sign in ((low[cell], 1.0), (high[cell], -1.0)):
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
        unit=one,
        people=0 * one,
        step=one,
        expected=expected * one,
        own_2=2 * one,
        own_3=4 * one,
        known_2=one,
        known_3=one,
        cross=2 * one,
        others_2=one,
        others_3=0 * one,
        total=100.0,
    )
    low, high = honest(5 * one, error * one, shape, False, 0.9)
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
        for j, (cell, distance) in enumerate(cells):
            if distance is not None:
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
    (_, distance), *_ = score_distance((block,), ("a",), table, 0.95)
    assert distance is not None
    assert low[0] == 0
    assert 0 - high[0] == pytest.approx(distance(high[0], -1.0), rel=1e-4)


# --- variances of linear functions, quantities, shares ---------------------------------------------------------


def drawn(blocks, names, rows, seed, **more):
    """A table reconstructed from random records: dense enough that no variance is estimated below zero."""
    draw = np.random.default_rng(seed)
    records = records_of(blocks)
    p = draw.dirichlet(np.full(len(records), 5.0))
    return reconstruct(blocks, [records[i] for i in draw.choice(len(records), rows, p=p)], names, **more)


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
    """A ratio near zero with a large error: exp overflows at 709, and an interval must come out all the same."""
    blocks, names, _ = CASES["two attributes"]
    count = drawn(blocks, names, 30, seed).linear(np.eye(3, 2))
    wide = (value * (count * count) / (count * count)).on(scale)
    vars(wide)["standard_error"] = math.sqrt(10.0)  # a cached property
    low, high = wide.interval()
    assert low <= value <= high
    assert high - low > 1  # it does not pretend to know


def test_numbers_of_two_tables_are_not_combined(seed):
    blocks, names, _ = CASES["two attributes"]
    one, other = drawn(blocks, names, 30, seed), drawn(blocks, names, 30, seed)
    with pytest.raises(pk.InputError, match="one and the same table"):
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


# --- the nearest table -------------------------------------------------------------------------------------------


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


# --- the most likely table -----------------------------------------------------------------------------------------


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


# --- counting ---------------------------------------------------------------------------------------------------------


SHAPES = [(2,), (7, 3), (256, 256), (257, 256), (3, 2**16), (2**16, 3), (70_000, 2), (2, 70_000, 3), (5, 4, 3, 2, 2)]


@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_counting_against_unique(sizes, seed):
    """Every type of code, tables around 2^16 cells where the numbering widens, the last cell included."""
    draw = np.random.default_rng(seed)
    rows = 5000
    columns = [draw.integers(0, size, rows).astype(code_dtype(size)) for size in sizes]
    for column, size in zip(columns, sizes):
        column[:3], column[3:6] = size - 1, 0
    assert {c.dtype for c in columns} == {np.dtype(code_dtype(s)) for s in sizes}
    cells, counts = np.unique(np.ravel_multi_index([c.astype(np.int64) for c in columns], sizes), return_counts=True)
    before = [column.copy() for column in columns]
    got = tabulate(columns, sizes)
    assert got.shape == sizes
    assert got.dtype == np.float64
    assert (np.flatnonzero(got) == cells).all()
    assert (got.ravel()[cells] == counts).all()
    assert all((a == b).all() for a, b in zip(before, columns))


@pytest.mark.parametrize("rows", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3])
def test_counting_around_the_ends_of_pieces(rows, seed):
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, size, rows).astype(code_dtype(size)) for size in (3, 300, 2)]
    weights = draw.uniform(0, 5, rows)
    cells = np.ravel_multi_index([c.astype(np.int64) for c in columns], (3, 300, 2))
    np.testing.assert_array_equal(tabulate(columns, (3, 300, 2)).ravel(), np.bincount(cells, minlength=1800))
    expected = np.bincount(cells, weights, minlength=1800)
    # at most some hundred additions per cell in another order: 100 * 1e-16 * 500
    np.testing.assert_allclose(tabulate(columns, (3, 300, 2), weights=weights).ravel(), expected, atol=1e-10)


def test_a_table_beyond_the_limit_is_refused_by_name():
    check_size({"a": 10**4, "b": 10**4})
    assert LARGEST_TABLE == 10**8
    with pytest.raises(pk.InputError, match=r"b.* 100,010,000 cells.*100,000,000.*Leave out 'b' \(10,001 values\)"):
        check_size({"a": 10**4, "b": 10**4 + 1})
    with pytest.raises(pk.InputError, match=r"Leave out 'c' \(1,000,000,000 values\) and 'a' \(20,000 values\),"):
        check_size({"a": 20_000, "b": 10_000, "c": 10**9})
    blocks = (Retention(unit_of(20_000), 1, 32), Retention(unit_of(6000, names="b"), 1, 32))
    codes = {"a": np.zeros(3, np.uint16), "b": np.zeros(3, np.uint16)}
    with pytest.raises(pk.InputError, match="Leave out 'a'"):
        Reconstruction.of(schema_of(blocks), blocks, codes, ("b", "a"))


# --- wrong input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "more", "words"),
    [
        (("aa",), {}, "no randomised attribute 'aa'. Available: a, b"),
        (("bee",), {}, "Available: a, b"),
        (("a", "a"), {}, "each attribute once"),
        ((), {}, "at least one attribute"),
        (("a",), {"method": "inverted"}, "no method 'inverted'.*Did you mean 'inverse'"),
        (("a",), {"method": "EM"}, "no method 'EM'. Available: inverse, simplex, em"),
        (("a",), {"about": "sample"}, "'table' or the 'population', not 'sample'"),
    ],
)
def test_wrong_questions_are_refused(names, more, words):
    with pytest.raises(pk.InputError, match=words):
        reconstruct((TWO, THREE), [(0, 0), (1, 2)], names, **more)


def test_a_name_that_is_nearly_right_is_suggested():
    block = Retention(unit_of(2, names=("region",)), 1, 32)
    with pytest.raises(pk.InputError, match="Did you mean 'region'"):
        reconstruct((block,), [(0,)], ("regoin",))
    with pytest.raises(pk.InputError, match="Did you mean 'region'"):
        reconstruct((block,), [(0,)], ("region",)).shares(("regin",))


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan, "0.95", None])
def test_levels_outside_zero_and_one_are_refused(level):
    table = reconstruct((TWO, THREE), [(0, 0), (1, 2), (1, 1)], ("a", "b"))
    for ask in (table.interval, table.near_zero, table.linear(1.0).interval, lambda x: table.shares(("a",), x)):
        with pytest.raises(pk.InputError, match="confidence level"):
            ask(level)


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0, 4.0], np.ones((3, 2, 1)), [[math.nan] * 3] * 2, math.inf, "many"])
def test_wrong_weights_of_a_linear_function_are_refused(weights):
    table = reconstruct((TWO, THREE), [(0, 0), (1, 2), (1, 1)], ("a", "b"))
    with pytest.raises(pk.InputError, match="Weights must be"):
        table.linear(weights)


LOST = {
    "rho = 0": (Retention(unit_of(4, names="x"), 2**30, 32), ("x",)),
    "rho = 2^-63": (Retention(unit_of(2, names="x"), 2**63 - 1, 64), ("x",)),
    "joint, rho = 0": (Retention(unit_of(2, 2, names="xy"), 2**30, 32), ("y",)),
    "singular": (matrix_of(unit_of(2, names="x"), [[3, 1], [3, 1]], 32), ("x",)),
    "singular on a bundle": (matrix_of(unit_of(2, 2, names="xy"), [[1, 1, 1, 1]] * 4, 32), ("y",)),
}


@pytest.mark.parametrize(("block", "names"), LOST.values(), ids=LOST)
@pytest.mark.parametrize("method", ["inverse", "simplex", "em"])
def test_what_was_not_kept_cannot_be_reconstructed(block, names, method):
    records = [(0,) * (1 + len(block.attributes))] * 3
    with pytest.raises(pk.PlanError, match=f"cannot be reconstructed: the plan leaves nothing of {names[0]}"):
        reconstruct((TWO, block), records, ("a", *names), method=method)
    table = reconstruct((TWO, block), records, ("a",), method=method)  # the rest can be had
    assert table.counts.sum() == pytest.approx(3)


@pytest.mark.parametrize("method", ["inverse", "simplex", "em"])
@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("name", CASES)
def test_a_release_without_rows(name, method, about):
    blocks, names, _ = CASES[name]
    table = reconstruct(blocks, [], names, method=method, about=about)
    assert (table.counts == 0).all()
    assert table.rows == 0
    assert (table.standard_errors == 0).all()
    assert all((limit == 0).all() for limit in table.interval())
    assert (table.linear(1.0).value, table.linear(1.0).standard_error) == (0, 0)
    table.shares()
    if len(names) > 1:
        shares = table.shares(names[:1])
        assert not shares.bounded[table.channel.possible].any()
        assert (shares.low == 0).all()


@pytest.mark.parametrize("method", ["inverse", "simplex", "em"])
@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("name", CASES)
def test_a_release_of_one_row(name, method, about):
    blocks, names, _ = CASES[name]
    for record in records_of(blocks):
        table = reconstruct(blocks, [record], names, method=method, about=about)
        assert table.counts.sum() == pytest.approx(1)
        assert np.isfinite([table.counts, table.standard_errors, *table.interval()]).all()
        if len(names) > 1:
            table.shares(names[:1])


def test_a_marginal_of_a_table_is_the_table_of_the_marginal(seed):
    blocks = (BUNDLED_FORBIDDING, MATRIX, FORBIDDING)
    for about in ("table", "population"):
        large = drawn(blocks, ("e", "a", "d"), 500, seed, about=about)
        for names in (("a",), ("d", "e"), ("e",), ("d", "a")):
            small = drawn(blocks, names, 500, seed, about=about)
            got = large.marginal(*names)
            assert got.names == names
            np.testing.assert_allclose(got.counts, small.counts, atol=1e-9)
            np.testing.assert_allclose(got.standard_errors, small.standard_errors, rtol=1e-9)
            for a, b in zip(got.interval(), small.interval()):
                np.testing.assert_allclose(a, b, atol=1e-6)
