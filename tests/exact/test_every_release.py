"""Are estimates and their standard errors unbiased?

Small private tables are released in every possible way, each release with its exact probability. What
the package says of each release is then averaged: no sampling, no approximation.
"""

import itertools
import math

import numpy as np
import pytest
from dense import unit_of
from small_tables import CASES, average, counted, dense_of, functions, reconstruct, records_of, some_people

from pkanon._blocks import Retention
from pkanon._estimate import Channel
from pkanon._estimate.linear import cells
from pkanon._estimate.shares import _covariance
from pkanon._estimate.variance import estimated_variances

EXACT = 1e-9
"""Sums of at most some thousand products of numbers up to 10^3: rounding stays below 1e-16 * 1e3 * 1e3."""
every_case = pytest.mark.parametrize(("blocks", "names", "people"), CASES.values(), ids=CASES)


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
