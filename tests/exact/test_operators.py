"""Every pass of every block, and of several blocks together, equals the dense matrix it stands for.

On every subset of attributes and in several axis orders. The dense matrix of a marginal is found by
adding up cells (tests/support/dense.py), never by the formulas the blocks use. Cells that no allowed
combination has stay out of the comparison: counts are zero there, and weights there must not matter.
"""

import itertools
from functools import reduce

import numpy as np
import pytest
from blocks import BLOCKS, BUNDLE, dense_on, sizes_of, subsets, through
from dense import declared_words, matrix_of, unit_of

import pkanon as pk
from pkanon._blocks import Agreement, Matrix, Retention
from pkanon._estimate import Channel

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
                got = through(block, name, counts, axes)
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
    got = through(block, name, counts, {"y": 0, "z": 1})
    np.testing.assert_allclose(got, counts, rtol=1e-12)


def test_a_block_that_keeps_nothing_has_no_inverse():
    block = Retention(unit_of(4), 2**30, 32)
    counts = np.ones(4)
    for name in ("inverse", "inverse_transpose", "squared_inverse"):
        with pytest.raises(pk.PlanError, match="rho = 0"):
            through(block, name, counts, {"a": 0})
    np.testing.assert_allclose(block.forward(np.array([8.0, 0, 0, 0]), {"a": 0}), 2.0)


def test_a_singular_matrix_has_no_inverse():
    block = matrix_of(unit_of(2), [[3, 1], [3, 1]], 32)
    for name in ("inverse", "inverse_transpose", "squared_inverse"):
        with pytest.raises(pk.PlanError, match="no inverse"):
            through(block, name, np.ones(2), {"a": 0})
    assert block.error_factor(["a"]) == np.inf


@pytest.mark.parametrize("name", PASSES)
def test_a_matrix_on_a_bundle_has_no_marginals(name):
    with pytest.raises(pk.PlanError, match="all of its attributes or none"):
        through(BLOCKS["matrix on a bundle"], name, np.ones(2), {"a": 0})


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
            table = through(block, name, table, axes)
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


def cells_of(shape, names, kept):
    """The number of the cell on ``kept`` (row-major, in the order of ``names``) of each cell on ``names``."""
    codes = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), int)
    cells = np.zeros(int(np.prod(shape)), int)
    for name, size, code in zip(names, shape, codes):
        if name in kept:
            cells = cells * size + code
    return cells


def spread_inverse(b, cells):
    """``[v, j]``: the inverse added up over the cells that share the marginal value of j."""
    return b @ (cells[:, None] == cells[None, :])


def tables_of(block):
    """The attributes a table of the block may have, with its possible cells and dense matrix."""
    return [(names, *dense_on(block, names)) for names in subsets(block)]


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_products_of_inverses_on_marginals(block, seed):
    """Every choice of up to three marginals: all, some or none of the attributes, also repeated."""
    draw = np.random.default_rng(seed)
    sizes = sizes_of(block)
    for names, possible, a in tables_of(block):
        b = np.linalg.inv(a)
        shape = [sizes[name] for name in names]
        flat = np.zeros((np.prod(shape), 2))
        flat[possible] = draw.uniform(-1, 2, (len(possible), 2))
        factors = [c for count in range(len(names) + 1) for c in itertools.combinations(names, count)]
        spread = {kept: spread_inverse(b, cells_of(shape, names, kept)[possible]) for kept in factors}
        for order in ([*names, "other"], ["other", *reversed(names)]):
            axes = {name: axis for axis, name in enumerate(order)}
            own = [axes[name] for name in names]
            counts = np.moveaxis(flat.reshape([*shape, 2]), range(len(shape)), own)
            for count in (1, 2, 3):
                for kept in itertools.combinations_with_replacement(factors, count):
                    dense = np.prod([spread[k] for k in kept], axis=0)
                    expected = dense.T @ flat[possible]
                    got = np.moveaxis(block.product_inverse(counts, axes, *kept), own, range(len(own)))
                    got = got.reshape(-1, 2)
                    atol = TOLERANCE * max(1.0, float(np.abs(dense).max()))
                    np.testing.assert_allclose(got[possible], expected, rtol=TOLERANCE, atol=atol, err_msg=str(kept))
                    # the same all along an axis of no factor, also where the rest of the cell is forbidden
                    shared = cells_of(shape, names, set().union(*kept))
                    for place, cell in enumerate(possible):
                        along = got[shared == shared[cell]]
                        np.testing.assert_allclose(
                            along, np.broadcast_to(expected[place], along.shape), rtol=TOLERANCE, atol=atol
                        )


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_product_of_no_inverses_adds_everything_up(block):
    sizes = sizes_of(block)
    counts = np.arange(1.0, 1 + np.prod(list(sizes.values()))).reshape(list(sizes.values()))
    (_, possible, _) = tables_of(block)[-1]
    mask = _mask(possible, sizes, list(sizes)).reshape(counts.shape)
    axes = {name: axis for axis, name in enumerate(sizes)}
    got = block.product_inverse(counts * mask, axes)
    np.testing.assert_allclose(got[mask], (counts * mask).sum(), rtol=TOLERANCE)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_what_one_row_and_one_person_of_a_cell_add(block):
    """B[j, j] and sum_v A[j, v] B[v, j]^power, on every subset in every order.

    A matrix on a bundle has no matrix on part of it: the largest over the people of a cell is asked for.
    """
    sizes = sizes_of(block)
    whole = tuple(sizes)
    for count in range(1, len(whole) + 1):
        for names in itertools.permutations(whole, count):
            shape = [sizes[name] for name in names]
            inside = tuple(n for n in whole if n in names)
            partial = block.kind == "matrix"
            table = whole if partial else inside
            possible, a = dense_on(block, table)
            full = [sizes[n] for n in table]
            cells = cells_of(full, table, inside)[possible]
            b = spread_inverse(np.linalg.inv(a), cells)
            wanted = {1: np.diag(b)} | {power: (a * (b**power).T).sum(axis=1) for power in (2, 3)}
            for power, values in wanted.items():
                expected = np.full(int(np.prod([sizes[n] for n in inside])), -np.inf)
                np.maximum.at(expected, cells, values)
                expected = expected.reshape([sizes[n] for n in inside])
                expected = np.transpose(expected, [inside.index(n) for n in names])
                got = block.inverse_diagonal(names) if power == 1 else block.own_moment(names, power)
                assert list(got.shape) == shape
                can_be = np.isfinite(expected)
                scale = max(1.0, float(np.abs(expected[can_be]).max()))
                np.testing.assert_allclose(got[can_be], expected[can_be], rtol=TOLERANCE, atol=TOLERANCE * scale)


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("name", ["forward", "forward_transpose", "inverse", "inverse_transpose"])
def test_results_go_where_they_are_asked_to(block, name, seed):
    """``out`` may be the counts themselves, another array, one with strides; with and without the block's axes."""
    draw = np.random.default_rng(seed)
    sizes = sizes_of(block)
    own = {attribute: axis for axis, attribute in enumerate([*reversed(sizes), "other"])}
    for axes in (own, {"other": len(sizes)}):
        counts = draw.uniform(0, 3, [*reversed(sizes.values()), 3])
        plain = getattr(block, name)(counts.copy(), axes)
        elsewhere = np.full(counts.shape, np.nan)
        strided = np.full([*counts.shape, 2], np.nan)[..., 0]
        for out in (elsewhere, strided):
            kept = counts.copy()
            assert getattr(block, name)(counts, axes, out=out) is out
            assert (counts == kept).all()
            np.testing.assert_array_equal(out, plain)
        same = counts.copy()
        assert getattr(block, name)(same, axes, out=same) is same
        np.testing.assert_array_equal(same, plain)


EVERY_KIND = (
    Retention(unit_of(2, names="a"), 2**29, 32),
    Retention(unit_of(2, 2, names="bc"), 2**28, 32),
    Retention(unit_of(2, 3, names="de", forbid=(((0,), (2,)),)), 2**28, 32),
    matrix_of(unit_of(3, names="f"), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32),
    matrix_of(
        unit_of(2, 3, names="gh", forbid=(((1,), (0, 2)),)),
        [[10, 3, 1, 2], [1, 9, 4, 2], [5, 1, 9, 1], [1, 2, 1, 12]],
        32,
    ),
    Agreement((unit_of(2, names="i"), unit_of(3, names="j")), (2000, 6000, 7536, 50_000), 16),
)
ALL_SIZES = {name: size for block in EVERY_KIND for name, size in sizes_of(block).items()}
TABLES = [
    names for count in (1, 2, 3, 4) for names in itertools.combinations(ALL_SIZES, count)
]  # 10 + 45 + 120 + 210 = 385 of them


class Textbook:
    """What :class:`Channel` does, by Kronecker products; cells are those that can occur, in the channel's order."""

    def __init__(self, blocks, names):
        self.used = [b for b in blocks if set(b.attributes) & set(names)]
        own = [b.attributes if isinstance(b, Matrix) else [n for n in b.attributes if n in names] for b in self.used]
        self.table = [*names, *(n for attributes in own for n in attributes if n not in names)]
        self.shape = [ALL_SIZES[n] for n in self.table]
        parts = [dense_on(block, tuple(attributes)) for block, attributes in zip(self.used, own)]
        grouped = [n for attributes in own for n in attributes]
        mask = reduce(np.multiply.outer, [_mask(cells, ALL_SIZES, n) for (cells, _), n in zip(parts, own)])
        # cells of the blocks' order, as cells of the table's
        number = np.arange(mask.size).reshape([ALL_SIZES[n] for n in self.table])
        moved = np.transpose(number, [self.table.index(n) for n in grouped]).ravel()[mask.ravel()]
        order = np.argsort(moved)
        self.possible = moved[order]
        self.a = reduce(np.kron, [a for _, a in parts])[np.ix_(order, order)]
        self.b = reduce(np.kron, [np.linalg.inv(a) for _, a in parts])[np.ix_(order, order)]
        self.kept = cells_of(self.shape, self.table, names)[self.possible]
        self.cells = int(np.prod([ALL_SIZES[n] for n in names]))
        self.summed = self.b @ (self.kept[:, None] == np.arange(self.cells))  # the inverse on the table asked for

    def whole(self, values, elsewhere=0.0):
        """Values of possible cells as an array with all axes."""
        flat = np.full(int(np.prod(self.shape)), elsewhere)
        flat[self.possible] = values
        return flat.reshape(self.shape)

    def largest(self, values):
        """The largest over the people of each cell; NaN where nobody can be."""
        result = np.full(self.cells, -np.inf)
        np.maximum.at(result, self.kept, values)
        return np.where(np.isfinite(result), result, np.nan)


def close(got, expected, scale, cells=slice(None)):
    got = np.asarray(got, float).ravel()[cells]
    np.testing.assert_allclose(got, np.asarray(expected), rtol=TOLERANCE, atol=TOLERANCE * max(1.0, float(scale)))


def check_channel(blocks, names, draw):
    """Every method of a channel against the textbook."""
    channel, book = Channel(blocks, names), Textbook(EVERY_KIND, names)
    assert [*channel.names, *channel.extra] == book.table
    shape = [ALL_SIZES[n] for n in names]
    scale = np.abs(book.b).max()
    x = draw.uniform(0, 3, len(book.possible))
    people = book.whole(x)
    before = people.copy()
    close(channel.forward(people), book.a.T @ x, 1, book.possible)
    close(channel.forward_transpose(book.whole(x, 17.0 if channel.extra == () else 0.0)), book.a @ x, 1, book.possible)
    close(channel.inverse_whole(people), book.b.T @ x, scale, book.possible)
    close(channel.inverse(people), book.summed.T @ x, scale * len(x))
    assert (people == before).all()

    can_be = np.unique(book.kept)
    np.testing.assert_array_equal(np.flatnonzero(channel.possible.ravel()), can_be)
    for batch in ((), (3,), (2, 2)):
        weights = draw.normal(size=[*batch, *shape])
        got = channel.inverse_transpose(weights).reshape(-1, int(np.prod(book.shape)))
        for carried, w in zip(got, weights.reshape(-1, book.cells)):
            close(carried, book.b @ w[book.kept], scale * 4, book.possible)

    first = draw.choice(len(names), size=draw.integers(0, len(names) + 1), replace=False)
    some = [names[i] for i in first]
    for kept in ((names,), (names, names), (names, names, names), (names, some), (some, some), (names, some, names)):
        dense = np.prod(
            [spread_inverse(book.b, cells_of(book.shape, book.table, k)[book.possible]) for k in kept], axis=0
        )
        got = channel.product_inverse(people, *kept).ravel()
        assert got.size == book.cells
        close(got[book.kept], dense.T @ x, np.abs(dense).max() * len(x))

    # step and moments: of people who differ within a cell of a matrix's marginal, the largest of each block
    by_block = [Textbook(EVERY_KIND, [n for n in names if n in block.attributes]) for block in book.used]
    for power in (1, 2, 3):
        got = channel.step if power == 1 else channel.own_moment(power)
        got = np.broadcast_to(got, shape)
        expected = np.ones(shape)
        for block, own in zip(book.used, by_block):
            inside = [n for n in names if n in block.attributes]
            b = own.summed[:, own.kept]
            values = np.diag(b) if power == 1 else (own.a * (b**power).T).sum(axis=1)
            lengths = [ALL_SIZES[n] if n in inside else 1 for n in names]
            expected = expected * own.largest(values).reshape(lengths)
        if not channel.extra:
            b = book.b
            direct = np.diag(b) if power == 1 else (book.a * (b**power).T).sum(axis=1)
            close(expected, direct, np.abs(direct).max(), book.possible)
        close(got, expected.ravel()[can_be], np.nanmax(np.abs(expected)), can_be)

    factors = book.a @ (book.summed**2).sum(axis=1)
    assert channel.error_factor == pytest.approx(factors.max(), rel=TOLERANCE)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_channel_is_a_kronecker_product(count, seed):
    draw = np.random.default_rng(seed)
    for names in (names for names in TABLES if len(names) == count):
        orders = {tuple(names[i] for i in draw.permutation(count))}
        for order in sorted(orders if count > 3 else orders | {names, names[::-1]}):
            check_channel(EVERY_KIND, order, draw)


@pytest.mark.parametrize("names", [("h", "a", "g"), ("e", "f"), ("j", "i", "d"), ("g",)])
def test_a_channel_with_another_matrix_is_noticed(names, seed):
    """The check above is worth something: a rho or two entries of a matrix off by a thousandth do not pass."""
    spoiled = []
    for block in EVERY_KIND:
        if isinstance(block, Retention):
            spoiled.append(Retention(block.unit, block.replace + 2**32 // 1000, 32))
        elif isinstance(block, Matrix):
            first = list(block.rows[0])
            first[0], first[1] = first[0] - 2**32 // 1000, first[1] + 2**32 // 1000
            spoiled.append(Matrix(block.unit, (tuple(first), *block.rows[1:]), 32))
        else:
            sets = list(block.sets)
            sets[0], sets[-1] = sets[0] + 65, sets[-1] - 65
            spoiled.append(Agreement(block.units, tuple(sets), 16))
    with pytest.raises(AssertionError):
        check_channel(spoiled, names, np.random.default_rng(seed))
