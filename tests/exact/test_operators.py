"""Every pass of every block equals the dense matrix it stands for, on every subset of attributes and axis order.

The dense matrix of a marginal is found by adding up cells (tests/support/dense.py), never by the
formulas the blocks use. Cells that no allowed combination has stay out of the comparison: counts
are zero there, and weights there must not matter.
"""

import itertools
from functools import reduce

import numpy as np
import pytest
from agreement import Agreement
from blocks import BLOCKS, BUNDLE, dense_on, sizes_of, subsets
from dense import declared_words, matrix_of, unit_of

import pkanon as pk
from pkanon._blocks import Retention

TOLERANCE = 1e-10

PASSES = {
    "forward": lambda a, b: a.T,
    "forward_transpose": lambda a, b: a,
    "inverse": lambda a, b: b.T,
    "inverse_transpose": lambda a, b: b,
    "squared_inverse": lambda a, b: (b * b).T,
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_passes_on_every_subset_and_axis_order(block, seed):
    draw = np.random.default_rng(seed)
    sizes = sizes_of(block)
    for names in subsets(block):
        possible, a = dense_on(block, names)
        b = np.linalg.inv(a)
        shape = [sizes[name] for name in names]
        for order in itertools.permutations([*names, "other"]):  # "other" belongs to another block
            axes = {name: axis for axis, name in enumerate(order)}
            own = [axes[name] for name in names]
            for name, matrix_for in PASSES.items():
                flat = np.zeros((np.prod(shape), 4))
                flat[possible] = draw.uniform(-1, 2, (len(possible), 4))
                expected = matrix_for(a, b) @ flat[possible]
                if name.endswith("transpose"):  # weights of cells that cannot be released must not matter
                    flat[np.setdiff1d(np.arange(len(flat)), possible)] = 17.0
                counts = np.moveaxis(flat.reshape([*shape, 4]), range(len(shape)), own)
                kept = counts.copy()
                got = getattr(block, name)(counts, axes)
                assert (counts == kept).all()
                assert got.shape == counts.shape
                back = np.moveaxis(got, own, range(len(own))).reshape(-1, 4)
                scale = max(1.0, float(np.abs(matrix_for(a, b)).max()))
                np.testing.assert_allclose(back[possible], expected, rtol=TOLERANCE, atol=TOLERANCE * scale)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_inverse_undoes_forward(block, seed):
    draw = np.random.default_rng(seed)
    sizes = sizes_of(block)
    for names in subsets(block):
        possible, a = dense_on(block, names)
        flat = np.zeros(np.prod([sizes[name] for name in names]))
        flat[possible] = draw.integers(0, 100, len(possible))
        counts = flat.reshape([sizes[name] for name in names])
        axes = {name: axis for axis, name in enumerate(names)}
        back = block.inverse(block.forward(counts, axes), axes)
        np.testing.assert_allclose(back, counts, atol=TOLERANCE * 100 * np.linalg.cond(a))
        assert block.forward(counts, axes).sum() == pytest.approx(counts.sum())
        assert block.inverse(counts, axes).sum() == pytest.approx(counts.sum())


ELSEWHERE = {
    **BLOCKS,
    "retention, rho = 0": Retention(unit_of(4), 2**30, 32),
    "retention, rho = 2^-31": Retention(unit_of(2), 2**31 - 1, 32),
    "retention, rho = 2^-63": Retention(unit_of(2), 2**63 - 1, 64),
    "joint, rho about 2^-60": Retention(BUNDLE, 2**64 // 7, 64),
}


@pytest.mark.parametrize("block", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("name", PASSES)
def test_a_block_without_an_axis_in_the_table_leaves_it_alone(block, name):
    counts = np.array([[1.0, 2.0, 3.5], [0.0, -4.0, 1e6]])
    got = getattr(block, name)(counts, {"y": 0, "z": 1})
    np.testing.assert_allclose(got, counts, rtol=1e-12)


def test_a_block_that_keeps_nothing_has_no_inverse():
    block = Retention(unit_of(4), 2**30, 32)
    counts = np.ones(4)
    for name in ("inverse", "inverse_transpose", "squared_inverse"):
        with pytest.raises(pk.PlanError, match="rho = 0"):
            getattr(block, name)(counts, {"a": 0})
    np.testing.assert_allclose(block.forward(np.array([8.0, 0, 0, 0]), {"a": 0}), 2.0)


def test_a_singular_matrix_has_no_inverse():
    block = matrix_of(unit_of(2), [[3, 1], [3, 1]], 32)
    for name in ("inverse", "inverse_transpose", "squared_inverse"):
        with pytest.raises(pk.PlanError, match="no inverse"):
            getattr(block, name)(np.ones(2), {"a": 0})
    assert block.error_factor(["a"]) == np.inf


@pytest.mark.parametrize("name", PASSES)
def test_a_matrix_on_a_bundle_has_no_marginals(name):
    with pytest.raises(pk.PlanError, match="all of its attributes or none"):
        getattr(BLOCKS["matrix on a bundle"], name)(np.ones(2), {"a": 0})


ACROSS = (
    Retention(unit_of(2, names="a"), 2**29, 32),
    Retention(unit_of(2, 3, names="bc", forbid=(((0,), (2,)),)), 2**28, 32),
    matrix_of(unit_of(3, names="d"), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32),
    Agreement((unit_of(2, names="e"), unit_of(3, names="f")), (2000, 6000, 7536, 50_000), 16),
)


@pytest.mark.parametrize(
    "names",
    [
        ("a", "d"),
        ("d", "b", "a"),
        ("c", "d", "b"),
        ("f", "c", "a"),
        ("e", "d", "c", "b"),
        ("b", "f", "a", "e", "c", "d"),
    ],
)
def test_passes_across_blocks_are_a_kronecker_product(names, seed):
    draw = np.random.default_rng(seed)
    axes = {name: axis for axis, name in enumerate(names)}
    sizes = {name: size for block in ACROSS for name, size in sizes_of(block).items()}
    shape = [sizes[name] for name in names]
    # cells in the order of the blocks, then moved to the order of the table
    grouped = [tuple(n for n in sizes_of(block) if n in names) for block in ACROSS]
    parts = [dense_on(block, own) for block, own in zip(ACROSS, grouped) if own]
    in_order = [name for own in grouped for name in own]
    possible = reduce(
        np.multiply.outer, [_mask(cells, sizes, own) for (cells, _), own in zip(parts, [g for g in grouped if g])]
    )
    for name, matrix_for in PASSES.items():
        dense = reduce(np.kron, [matrix_for(a, np.linalg.inv(a)) for _, a in parts])
        flat = draw.uniform(0, 3, possible.size) * possible.ravel()
        expected = np.zeros(possible.size)
        expected[possible.ravel()] = dense @ flat[possible.ravel()]
        table = np.transpose(flat.reshape([sizes[n] for n in in_order]), [in_order.index(n) for n in names])
        assert list(table.shape) == shape
        for block in ACROSS:
            table = getattr(block, name)(table, axes)
        back = np.transpose(table, [names.index(n) for n in in_order]).ravel()
        keep = possible.ravel()
        np.testing.assert_allclose(back[keep], expected[keep], rtol=TOLERANCE, atol=TOLERANCE * np.abs(dense).max())


def _mask(cells, sizes, names):
    mask = np.zeros(int(np.prod([sizes[name] for name in names])), bool)
    mask[cells] = True
    return mask


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_as_matrix_is_the_declared_matrix(block):
    words = np.array(declared_words(block), float)
    np.testing.assert_allclose(block.as_matrix(), words / words.sum(axis=1, keepdims=True), rtol=1e-15)
