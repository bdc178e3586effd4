"""Agreement blocks on bundles, with and without forbidden combinations, against the dense matrix."""

import itertools
from math import prod

import numpy as np
import pytest
from agreement import eigenvalue
from agreement_examples import BUNDLES, EXAMPLES, Dense, orders_of
from blocks import through
from dense import declared_words, naive_anonymity_ratio, naive_epsilon_ratio
from plans import plan_of

import pkanon as pk


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_passes_on_bundles(block, seed):
    draw = np.random.default_rng(seed)
    for names in orders_of(block, most=4):
        book = Dense(block, names)
        x = draw.uniform(0, 3, len(book.possible))
        for name, matrix in {
            "forward": book.a.T,
            "forward_transpose": book.a,
            "inverse": book.b.T,
            "inverse_transpose": book.b,
            "squared_inverse": (book.b**2).T,
        }.items():
            # weights of cells that nobody can have do not matter
            counts = book.counts(x, 17.0 if name.endswith("transpose") else 0.0)
            before = counts.copy()
            book.check(through(block, name, counts, book.axes), matrix @ x, matrix)
            assert (counts == before).all()


def nested(block, names):
    """Marginals for :meth:`product_inverse`, each inside the one before: what estimates of a table ask for."""
    smaller = [c for count in range(len(names)) for c in itertools.combinations(names, count)]
    yield (names, names, names)
    for kept in smaller:  # each of them splits a bundle if it can
        yield (names, kept)
        yield (kept, kept)
        yield (names, kept, kept)
        yield (names, names, kept)
    for first, second in itertools.combinations(smaller, 2):
        if set(first) < set(second):
            yield (second, first)
            yield (names, second, first)


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_products_of_inverses_on_bundles(block, seed):
    draw = np.random.default_rng(seed)
    for names in orders_of(block):
        book = Dense(block, names)
        x = draw.uniform(-1, 2, len(book.possible))
        spread = {c: book.spread(c) for count in range(len(names) + 1) for c in itertools.combinations(names, count)}
        for kept in nested(block, names):
            dense = np.prod([spread[k] for k in kept], axis=0)
            got = block.product_inverse(book.counts(x), book.axes, *kept)
            book.check(got, dense.T @ x, dense)


def test_marginals_of_one_bundle_that_are_not_nested_are_refused(seed):
    """Nothing in the package asks for them, but the contract of Block.product_inverse has them."""
    block = BUNDLES["a bundle and an attribute"]
    book = Dense(block, ("b", "c"))
    x = np.random.default_rng(seed).uniform(0, 3, len(book.possible))
    with pytest.raises(pk.PlanError):
        block.product_inverse(book.counts(x), book.axes, ("b",), ("c",))


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_what_one_row_and_one_person_add_on_bundles(block):
    for names in orders_of(block, most=3):
        book = Dense(block, names)
        diagonal = np.diag(book.b)
        book.check(block.inverse_diagonal(names), diagonal, diagonal)
        for power in (2, 3, 4):
            moment = (book.a * (book.b**power).T).sum(axis=1)
            book.check(block.own_moment(names, power), moment, moment)


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_error_factors_on_bundles(block):
    plan = plan_of([block], 50)
    for names in orders_of(block, most=3):
        book = Dense(block, names)
        factors = book.a @ (book.b**2).sum(axis=1)  # h(u) + 1
        assert block.error_factor(names) == pytest.approx(factors.max(), rel=1e-10)
        prediction = plan.predict(*names)
        assert prediction.cells == len(book.possible)
        assert prediction.rmse**2 * prediction.cells / 50 == pytest.approx(factors.max() - 1, rel=1e-10)
        assert block.error_is_exact(names) or factors.min() <= factors.max()
        if block.error_is_exact(names):
            np.testing.assert_allclose(factors, factors[0], rtol=1e-10)
    assert block.error_factor([]) == 1.0


@pytest.mark.parametrize("block", [*EXAMPLES.values(), *BUNDLES.values()], ids=[*EXAMPLES, *BUNDLES])
def test_eigenvalues_are_exact(block):
    for mask, value in enumerate(block.eigenvalues):
        inside = [unit.attributes[0] for bit, unit in enumerate(block.units) if mask >> bit & 1]
        assert value == eigenvalue(block, inside)
    # and they are those of the dense matrix, as often as docs/why/theory.md 7 says
    expected = [
        float(value)
        for mask, value in enumerate(block.eigenvalues)
        for _ in range(prod(unit.size - 1 for bit, unit in enumerate(block.units) if mask >> bit & 1))
    ]
    found = np.linalg.eigvalsh(np.array(declared_words(block), float))
    np.testing.assert_allclose(found, sorted(expected), atol=1e-13)
    for bit, unit in enumerate(block.units):
        assert all(block.rho(name) == float(block.eigenvalues[1 << bit]) for name in unit.attributes)


@pytest.mark.parametrize("block", BUNDLES.values(), ids=BUNDLES)
def test_ratios_on_bundles(block):
    dense = declared_words(block)
    assert naive_epsilon_ratio(dense) == block.epsilon_ratio
    assert naive_anonymity_ratio(dense) == block.anonymity_ratio
