"""Predicted errors against the dense computation, and against the sum over every possible release."""

import itertools
import math

import numpy as np
import pytest
from blocks import BLOCKS, dense_on, sizes_of, subsets
from dense import matrix_of, unit_of
from plans import plan_of

import pkanon as pk
from pkanon._blocks import Retention


def factors_by_value(a):
    """h(u) + 1 for every true value u: sum over v of A[u,v] ||B[v,:]||^2 (docs/why/theory.md 7)."""
    lengths = (np.linalg.inv(a) ** 2).sum(axis=1)
    return a @ lengths


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_error_factor_on_every_subset(block):
    for names in subsets(block):
        _, a = dense_on(block, names)
        factors = factors_by_value(a)
        for order in itertools.permutations(names):
            assert block.error_factor(order) == pytest.approx(factors.max(), rel=1e-10)
            if block.error_is_exact(order):
                np.testing.assert_allclose(factors, block.error_factor(order), rtol=1e-10)
    assert block.error_factor([]) == 1.0
    assert block.error_is_exact([])  # a table without its attributes has no error from it


def test_a_table_without_the_bundle_is_predicted_exactly():
    assert plan_of((TWO, FORBIDDING), 10).predict("a").exact


def test_a_bound_is_not_called_exact():
    joint = BLOCKS["joint, forbidden combinations"]
    assert joint.error_is_exact(["a", "b", "c"])
    for names in (["a"], ["a", "b"], ["b", "c"]):
        assert not joint.error_is_exact(names)
        factors = factors_by_value(dense_on(joint, names)[1])
        assert factors.max() > factors.min() * 1.001  # it does depend on the data
    assert not BLOCKS["matrix"].error_is_exact(["a"])


@pytest.mark.parametrize("name", ["matrix on a bundle", "matrix on a bundle, forbidden"])
@pytest.mark.parametrize("kept", ["a", "b"])
def test_a_marginal_of_a_matrix_adds_up_the_inverse(name, kept):
    """The table of the whole bundle is reconstructed and added up: per record the variance of those sums."""
    block = BLOCKS[name]
    a = block.as_matrix()
    b = np.linalg.inv(a)
    cells = [c[block.attributes.index(kept)] for c in itertools.product(*map(range, block.unit.sizes))]
    if block.unit.forbid:
        cells = [c for c, fits in zip(cells, block.unit.allowed.ravel()) if fits]
    summed = b @ (np.array(cells)[:, None] == np.arange(max(cells) + 1))
    assert block.error_factor([kept]) == pytest.approx(float((a @ (summed**2).sum(axis=1)).max()), rel=1e-12)
    assert not block.error_is_exact([kept])


def expected_squared_error(blocks, names, table):
    """E||x_hat - x||^2 by adding up every released table, with the package's own inverse.

    ``table`` lists one cell per record, as codes of ``names``.
    """
    sizes = {name: size for block in blocks for name, size in sizes_of(block).items()}
    shape = [sizes[name] for name in names]
    axes = {name: axis for axis, name in enumerate(names)}
    cells = list(itertools.product(*map(range, shape)))
    # P(released cell | cell), from the forward pass of one record at a time
    laws = []
    for cell in table:
        one = np.zeros(shape)
        one[cell] = 1
        for block in blocks:
            one = block.forward(one, axes)
        laws.append(one)
    x = np.zeros(shape)
    for cell in table:
        x[cell] += 1
    total, mass = 0.0, 0.0
    for outcome in itertools.product(cells, repeat=len(table)):
        chance = math.prod(law[cell] for law, cell in zip(laws, outcome))
        if chance:
            y = np.zeros(shape)
            for cell in outcome:
                y[cell] += 1
            for block in blocks:
                y = block.inverse(y, axes)
            total += chance * float(((y - x) ** 2).sum())
            mass += chance
    assert mass == pytest.approx(1)
    return total


TWO = Retention(unit_of(2), 2**29, 32)
THREE = Retention(unit_of(3, names="b"), 2**29, 32)
FORBIDDING = Retention(unit_of(2, 2, names="cd", forbid=(((0,), (1,)),)), 2**28, 32)
MATRIX = matrix_of(unit_of(2, names="e"), [[7, 1], [2, 6]], 32)


@pytest.mark.parametrize(
    ("blocks", "names"),
    [
        ((TWO,), ("a",)),
        ((THREE,), ("b",)),
        ((TWO, THREE), ("b", "a")),
        ((TWO, THREE), ("b",)),
        ((FORBIDDING,), ("c", "d")),
        ((BLOCKS["agreement"],), ("a", "b")),
        ((BLOCKS["agreement"],), ("b",)),
    ],
)
def test_the_squared_error_of_every_table_of_three_records(blocks, names):
    records = 3
    prediction = plan_of(blocks, records).predict(*names)
    assert prediction.exact
    sizes = {name: size for block in blocks for name, size in sizes_of(block).items()}
    possible = list(itertools.product(*(range(sizes[name]) for name in names)))
    if blocks == (FORBIDDING,):
        possible.remove((0, 1))
    assert prediction.cells == len(possible)
    # n (c - 1), whatever the data are: rmse^2 is the mean over cells
    predicted = prediction.rmse**2 * prediction.cells
    for table in itertools.combinations_with_replacement(possible, records):
        assert expected_squared_error(blocks, names, table) == pytest.approx(predicted, rel=1e-10)


@pytest.mark.parametrize(
    ("blocks", "names"),
    [((FORBIDDING,), ("c",)), ((FORBIDDING,), ("d",)), ((MATRIX,), ("e",)), ((FORBIDDING, MATRIX), ("d", "e"))],
)
def test_a_bound_holds_for_every_table_and_is_reached(blocks, names):
    records = 2
    prediction = plan_of(blocks, records).predict(*names)
    assert not prediction.exact
    sizes = {name: size for block in blocks for name, size in sizes_of(block).items()}
    cells = itertools.product(*(range(sizes[name]) for name in names))
    errors = [
        expected_squared_error(blocks, names, table)
        for table in itertools.combinations_with_replacement(cells, records)
    ]
    assert max(errors) == pytest.approx(prediction.rmse**2 * prediction.cells, rel=1e-10)
    assert min(errors) < max(errors) * 0.999


def test_the_always_valid_bound_on_l1_lies_above_the_prediction():
    # docs/why/theory.md 7: sqrt(V (c - 1)/n) is 1.2533 times the predicted l1, sqrt(pi/2)
    plan = plan_of((TWO, THREE), 50)
    prediction = plan.predict("a", "b")
    bound = math.sqrt(prediction.cells * prediction.rmse**2 * prediction.cells / 50) / math.sqrt(50)
    assert bound / prediction.l1 == pytest.approx(math.sqrt(math.pi / 2))


def test_inverting_as_if_everything_were_allowed_is_wrong():
    # docs/why/theory.md 7: three of four combinations; the marginal of c is not symmetric
    counts = np.array([100.0, 200.0])
    released = FORBIDDING.forward(counts, {"c": 0})
    np.testing.assert_allclose(FORBIDDING.inverse(released, {"c": 0}), counts)
    rho = FORBIDDING.rho("c")
    naive = (released - (1 - rho) * released.sum() / 2) / rho
    assert abs(naive - counts).max() > 10


@pytest.mark.parametrize("names", [(), ("nobody",), ("a", "a")])
def test_predictions_of_nothing_are_refused(names):
    with pytest.raises(pk.InputError):
        plan_of((TWO, THREE), 10).predict(*names)


def test_keeping_everything_has_no_error_and_replacing_everything_has_no_end_of_it():
    kept = plan_of((Retention(unit_of(7), 0, 32),), 10).predict("a")
    assert (kept.l1, kept.rmse) == (0, 0)
    lost = plan_of((Retention(unit_of(2), 2**31, 32), THREE), 10)
    assert lost.predict("a").l1 == math.inf
    assert lost.predict("b").l1 < math.inf
