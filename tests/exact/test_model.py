"""A model of all rows: its coordinates, noise, slopes and tables against dense algebra, for every kind of block."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from blocks import BUNDLE, PAIR
from dense import matrix_of, unit_of
from scipy.stats import norm

from pkanon._blocks import Agreement, Block, Retention
from pkanon._errors import InputError
from pkanon._estimate import Channel, StoredCodes
from pkanon._estimate.model import Fitted, Mixture, fit_model, reading, redrawing, resampled, variables
from pkanon._estimate.model.assisting import along_all, rake, shrunk, squared
from pkanon._estimate.model.averages import Cells
from pkanon._estimate.model.choosing import RIDGES, _least, firm, stacked
from pkanon._estimate.model.components import Components, count_pairs
from pkanon._estimate.model.critical import critical_value
from pkanon._estimate.model.descent import descend
from pkanon._estimate.model.mixture import _misfit, fit, independence, mean
from pkanon._estimate.model.redrawing import noise_of
from pkanon._estimate.model.variables import Layout, variables_of

DENSE = [[10, 3, 1, 2], [1, 9, 4, 2], [5, 1, 9, 1], [1, 2, 1, 12]]
RELEASES: dict[str, tuple[Block, ...]] = {
    "retention": (Retention(unit_of(3), 2**28, 32), Retention(unit_of(4, names="x"), 2**28, 32)),
    "a bundle": (Retention(unit_of(2, 3, names="ab"), 2**28, 32), Retention(unit_of(2, names="x"), 2**28, 32)),
    "forbidden combinations": (Retention(BUNDLE, 2**28, 32), Retention(unit_of(3, names="x"), 2**28, 32)),
    "agreement": (
        Agreement((unit_of(2), unit_of(3, names="b")), (2000, 6000, 7536, 50_000), 16),
        Retention(unit_of(2, names="x"), 2**28, 32),
    ),
    "agreement of bundles": (
        Agreement((unit_of(2, 2, names="ab"), unit_of(3, names="x")), (2000, 6000, 7536, 50_000), 16),
    ),
    "a matrix": (
        matrix_of(unit_of(3), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32),
        Retention(unit_of(2, names="x"), 2**28, 32),
    ),
    "a matrix on a bundle": (matrix_of(PAIR, DENSE, 32), Retention(unit_of(2, names="x"), 2**28, 32)),
}
PEOPLE = 10_000


def names_of(blocks: tuple[Block, ...]) -> list[str]:
    return [name for block in blocks for name in block.attributes]


def layout_of(blocks: tuple[Block, ...]) -> Layout:
    variables = variables_of(blocks)
    rng = np.random.default_rng(4)
    return Layout(variables, [rng.dirichlet(np.full(v.size, 5.0)) for v in variables])


def some_mixture(layout: Layout, classes: int = 3) -> Mixture:
    rng = np.random.default_rng(classes)
    return Mixture(layout, rng.dirichlet(np.ones(classes)), layout.softmax(rng.normal(size=(classes, layout.length))))


def pair_shares(blocks: tuple[Block, ...], mixture: Mixture) -> np.ndarray:
    """What is released of all pairs of variables if the mixture is the truth: by the channel of each pair."""
    layout = mixture.layout
    result = np.zeros((layout.length, layout.length))
    for i, first in enumerate(layout.variables):
        for j, second in enumerate(layout.variables):
            names = [*first.attributes, *(second.attributes if j != i else ())]
            channel = Channel(blocks, names)
            whole = channel.forward(mixture.table(list(channel.sizes)))
            table = channel.collapse(whole)
            cells = [
                np.ravel_multi_index(list(v.split(np.arange(v.size)).values()), v.shape(v.attributes))
                for v in (first, second)
            ]
            flat = table.reshape(int(np.prod(first.unit.sizes)), -1)
            if i == j:
                result[layout.place(i), layout.place(i)] = np.diag(flat[cells[0], 0])
            else:
                result[layout.place(i), layout.place(j)] = flat[np.ix_(*cells)]
    return result


@pytest.mark.parametrize("kind", RELEASES)
def test_the_truth_is_at_distance_zero_from_what_is_expected_of_it(kind):
    blocks = RELEASES[kind]
    layout = layout_of(blocks)
    truth = some_mixture(layout)
    seen = Components.of(layout, PEOPLE * pair_shares(blocks, truth))
    assert seen.rows == pytest.approx(PEOPLE)
    assert truth.distance(seen) == pytest.approx(0, abs=1e-15 * PEOPLE)
    assert some_mixture(layout, 2).distance(seen) > 1


@pytest.mark.parametrize("kind", RELEASES)
def test_slopes_are_those_of_small_steps(kind):
    blocks = RELEASES[kind]
    layout = layout_of(blocks)
    seen = Components.of(layout, PEOPLE * pair_shares(blocks, some_mixture(layout)))
    point = some_mixture(layout, 2)
    _, by_weight, by_coordinate = _misfit(layout, seen, point.weights, layout.through(point.tables), slopes=True)
    by_table = layout.back(by_coordinate)

    def value(weights, tables):
        return _misfit(layout, seen, weights, layout.through(tables))[0]

    for c in range(2):
        step = 1e-6 * (np.arange(2) == c)
        numeric = value(point.weights + step, point.tables) - value(point.weights - step, point.tables)
        assert numeric / 2e-6 == pytest.approx(by_weight[c], rel=1e-5, abs=1e-3)
    for c, v in itertools.product(range(2), range(layout.length)):
        step = np.zeros_like(point.tables)
        step[c, v] = 1e-6
        numeric = value(point.weights, point.tables + step) - value(point.weights, point.tables - step)
        assert numeric / 2e-6 == pytest.approx(by_table[c, v], rel=1e-5, abs=1e-3)


@pytest.mark.parametrize("large", [2, 3, 4])
def test_a_large_variable_changes_the_way_that_misfits_are_summed_and_nothing_else(large, monkeypatch):
    blocks = tuple(Retention(unit_of(n, names=name), 2**28, 32) for n, name in zip((2, 4, 3, 4, 2), "abcde"))
    plain = layout_of(blocks)
    seen = Components.of(plain, PEOPLE * pair_shares(blocks, some_mixture(plain)))
    point = some_mixture(plain, 2)
    expected = _misfit(plain, seen, point.weights, plain.through(point.tables), slopes=True)
    monkeypatch.setattr(variables, "LARGE", large)
    monkeypatch.setattr(variables, "STRIPE", 3)
    parted = layout_of(blocks)
    assert any(columns != slice(0, parted.length) for _, columns in parted.rectangles)
    found = _misfit(parted, seen, point.weights, parted.through(point.tables), slopes=True)
    for mine, other in zip(found, expected):
        assert mine == pytest.approx(other)


def test_noise_has_variance_one_on_average_over_the_coordinates():
    blocks = (*RELEASES["a matrix"],)
    layout = layout_of(blocks)
    variable = layout.variables[0]
    shares = np.random.default_rng(4).dirichlet(np.full(3, 5.0))  # those that layout_of gave the matrix
    row = np.zeros((3, layout.length))
    row[:, layout.place(0)] = np.eye(3)
    whitened = layout.seen(row)[:, layout.place(0)]
    covariance = whitened.T @ (np.diag(shares) - np.outer(shares, shares)) @ whitened
    assert variable.matrix is not None
    # 0 along the mean, and 1 on average over the others: noise is taken as half even
    values = np.linalg.eigvalsh(covariance)
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert values[1:].mean() == pytest.approx(1)
    assert values[1:].min() > 0.5


def test_noise_has_variance_one_in_every_direction_where_values_are_released_alike():
    variables = variables_of((Retention(unit_of(4), 2**28, 32), Retention(unit_of(2, names="x"), 2**28, 32)))
    layout = Layout(variables, [np.full(4, 0.25), np.full(2, 0.5)])
    row = np.zeros((4, layout.length))
    row[:, layout.place(0)] = np.eye(4)
    whitened = layout.seen(row)[:, layout.place(0)]
    covariance = whitened.T @ (np.eye(4) / 4 - 1 / 16) @ whitened
    assert np.linalg.eigvalsh(covariance) == pytest.approx([0, 1, 1, 1], abs=1e-12)


@pytest.mark.parametrize("kind", RELEASES)
def test_tables_of_a_mixture_are_sums_over_its_classes(kind):
    blocks = RELEASES[kind]
    mixture = some_mixture(layout_of(blocks))
    names = names_of(blocks)
    whole = 0.0
    for c, weight in enumerate(mixture.weights):
        product = np.ones(())
        for i, variable in enumerate(mixture.layout.variables):
            own = np.zeros(variable.unit.sizes)
            own[tuple(variable.split(np.arange(variable.size)).values())] = mixture.of(i)[c]
            product = np.multiply.outer(product, own)
        whole = whole + weight * product
    order = [name for v in mixture.layout.variables for name in v.attributes]
    whole = np.transpose(whole, [order.index(name) for name in names])
    assert mixture.table(names) == pytest.approx(whole)
    for some in itertools.permutations(names, 2):
        gone = tuple(i for i, name in enumerate(names) if name not in some)
        expected = whole.sum(gone)
        expected = expected if names.index(some[0]) < names.index(some[1]) else expected.T
        assert mixture.table(some) == pytest.approx(expected)


def test_the_mean_of_mixtures_has_the_mean_of_their_tables():
    layout = layout_of(RELEASES["agreement"])
    one, two = some_mixture(layout, 2), some_mixture(layout, 3)
    names = ["a", "x"]
    assert mean([one, two]).table(names) == pytest.approx((one.table(names) + two.table(names)) / 2)


def test_pairs_are_counted_by_part_and_by_weight():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, n, 200).astype(np.uint8) for n in (3, 4, 2)]
    weights, parts = rng.random(200), rng.integers(0, 3, 200)
    whole = count_pairs(columns, [3, 4, 2], weights)
    apart = count_pairs(columns, [3, 4, 2], weights, parts)
    assert apart.sum(0) == pytest.approx(whole)
    assert whole[3 + 2, 0] == pytest.approx(weights[(columns[1] == 2) & (columns[0] == 0)].sum())
    assert apart[1, 0, 3 + 2] == pytest.approx(weights[(columns[1] == 2) & (columns[0] == 0) & (parts == 1)].sum())
    assert whole[7 + 1, 7 + 1] == pytest.approx(weights[columns[2] == 1].sum())
    assert whole[7, 8] == 0


class OnDisk(StoredCodes):
    """Columns that are read in pieces of 70 rows, and never as a whole."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        super().__init__(list(columns), len(next(iter(columns.values()))))
        self.columns = columns

    def pieces(self, names):
        for start in range(0, self.rows, 70):
            yield tuple(self.columns[name][start : start + 70] for name in names)

    def __getitem__(self, name):
        raise AssertionError("a whole column was read")


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_on_a_disk_give_the_same_model_tables_and_limits_piece_by_piece(weighted, monkeypatch):
    blocks = (
        Retention(BUNDLE, 2**28, 32),
        Agreement((unit_of(6, names="x"), unit_of(7, names="y")), _sets((6, 7)), 32),
    )
    rng = np.random.default_rng(2)
    codes = dict(zip(BUNDLE.attributes, BUNDLE.split(rng.integers(0, BUNDLE.size, 1_000).astype(np.uint8))))
    codes |= {"x": rng.integers(0, 6, 1_000).astype(np.uint8)}
    codes |= {"y": (codes["x"] + rng.integers(0, 2, 1_000)).astype(np.uint8)}
    weights = rng.random(1_000) + 0.5 if weighted else None
    one = fit_model(blocks, codes, weights=weights)
    monkeypatch.setattr(reading, "PIECE", 64)
    two = fit_model(blocks, OnDisk(codes), weights=weights)
    monkeypatch.setattr(Fitted, "without_average", lambda *_: None)
    close = {"rel": 1e-6, "abs": 1e-9} if weighted else {"rel": 0, "abs": 0}
    for names in (("x",), ("x", "y"), ("y", BUNDLE.attributes[0])):
        assert two.table(names) == pytest.approx(one.table(names), **close)
        if len(names) == 2:
            for mine, other in zip(one.average_limits(names, 0.95), two.average_limits(names, 0.95)):
                assert other == pytest.approx(mine, **close)
    draws = [resampled(model, np.random.default_rng(1)).table(["x", "y"]) for model in (one, two)]
    assert draws[1] == pytest.approx(draws[0], **close)


def test_limits_on_average_do_not_depend_on_what_was_asked_before(monkeypatch):
    monkeypatch.setattr(redrawing, "MOST_TABLES", 3)
    units = [unit_of(6, names=name) for name in "abcd"]
    blocks = tuple(Retention(unit, 2**26, 32) for unit in units)
    rng = np.random.default_rng(3)
    base = rng.integers(0, 6, 4_000)
    codes = {name: ((base + rng.integers(0, 2, 4_000)) % 6).astype(np.uint8) for name in "abcd"}
    monkeypatch.setattr(Fitted, "without_average", lambda *_: None)
    first, second = fit_model(blocks, codes), fit_model(blocks, codes)
    tables = list(itertools.combinations("abcd", 2))
    limits = {table: first.average_limits(table, 0.95) for table in tables}
    for table in reversed(tables):
        turned = second.average_limits(table[::-1], 0.95)
        assert all((mine == other.T).all() for mine, other in zip(limits[table], turned))


def test_a_fit_finds_the_mixture_behind_exact_shares():
    blocks = (Agreement((unit_of(3, names="a"), unit_of(4, names="b"), unit_of(3, names="c")), _sets((3, 4, 3)), 32),)
    layout = layout_of(blocks)
    truth = some_mixture(layout, 2)
    seen = Components.of(layout, 1e6 * pair_shares(blocks, truth))
    found = fit(seen, classes=4, ridge=1e-3, steps=500, rng=np.random.default_rng(0))
    assert found.distance(seen) < 5
    assert independence(seen).distance(seen) > 1000
    names = ["a", "b", "c"]
    assert np.abs(found.table(names) - truth.table(names)).sum() < 0.02


def _sets(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Shares of sets that survive, out of 2^32: half of the rows keep everything."""
    number = 2 ** len(sizes)
    shares = [2**31 // (number - 1)] * (number - 1)
    return (*shares, 2**32 - sum(shares))


# which ridges, and how much of them


def residuals(own: list[float], seed: int = 0) -> np.ndarray:
    """Products of residuals: noise of 300 coordinates that all fits share, and beyond it so much in a direction of each fit's own."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=300)
    each = np.array([noise + size * direction for size, direction in zip(own, np.eye(300))])
    return each @ each.T


def test_the_stack_is_the_best_of_all_shares():
    products, costs = residuals([30, 20, 15, 10, 10, 15, 20, 40]), np.linspace(0, 30, 8)
    best = _least(products, costs)
    assert best.min() >= 0
    assert best.sum() == pytest.approx(1)

    def value(shares):
        return shares @ products @ shares + costs @ shares

    others = np.concatenate([np.eye(8), np.random.default_rng(1).dirichlet(np.full(8, 0.3), 5_000)])
    assert all(value(best) <= value(other) for other in others)
    assert (best > 0).sum() > 1


def test_relations_that_predict_other_rows_no_better_than_chance_are_left_out():
    for seed in range(20):
        nothing = np.random.default_rng(seed).normal(size=300) / np.sqrt(
            300
        )  # what fits follow, the further the weaker the ridge
        each = np.random.default_rng(100 + seed).normal(size=300) + np.outer([9, 8, 6, 4, 3, 2, 1, 0], nothing)
        assert stacked(each @ each.T, math.sqrt(600)) == {math.inf: 1.0}


def test_relations_beyond_doubt_are_taken_and_doubtful_ones_in_part():
    clear = stacked(residuals([40, 40, 40, 1, 40, 40, 40, 40]), math.sqrt(600))
    assert clear[RIDGES[3]] > 0.9
    assert math.inf not in clear
    doubtful = stacked(residuals([40, 40, 40, 0, 40, 40, 40, 6]), math.sqrt(600))
    assert set(doubtful) == {RIDGES[3], math.inf}
    assert 0.05 < doubtful[RIDGES[3]] < 0.95


def test_what_is_taken_grows_with_the_evidence_from_nothing_to_all():
    taken = [firm(z) for z in np.linspace(-5, 20, 200)]
    assert taken == sorted(taken)
    assert taken[0] == 0
    assert taken[-1] == 1
    assert firm(3) == 0
    assert firm(9) == pytest.approx(1)
    assert firm(4.5) == pytest.approx(0.5)


# the correction of a table


def test_squared_is_the_square_of_the_projection():
    table = np.random.default_rng(0).random((3, 4, 2))
    dense = [np.eye(n) - 1 / n for n in table.shape]
    expected = np.einsum("abc,ai,bj,ck->ijk", table, *(p**2 for p in dense))
    assert squared(table) == pytest.approx(expected)
    assert along_all(table) == pytest.approx(np.einsum("abc,ai,bj,ck->ijk", table, *dense))


def test_raking_gives_the_margins_and_keeps_what_they_do_not_say():
    rng = np.random.default_rng(0)
    table, other = rng.dirichlet(np.ones(12)).reshape(3, 4), rng.dirichlet(np.ones(12)).reshape(3, 4)
    raked = rake(table, [other.sum(0), other.sum(1)])
    assert raked.sum(0) == pytest.approx(other.sum(0), abs=1e-4)
    odds = table[0, 0] * table[1, 1] / table[0, 1] / table[1, 0]
    assert raked[0, 0] * raked[1, 1] / raked[0, 1] / raked[1, 0] == pytest.approx(odds)
    assert rake(table, [np.zeros(4), other.sum(1)]) == pytest.approx(table)  # a contradiction: as it was


def test_only_what_noise_does_not_explain_is_added():
    rng = np.random.default_rng(0)
    base = np.full((10, 10), 0.01)
    noise = np.full(base.shape, 1e-6)
    assert (shrunk(1e-3 * rng.normal(size=base.shape), base, noise) == 0).all()
    signal = 1e-2 * rng.normal(size=base.shape)
    assert shrunk(signal, base, noise) == pytest.approx(signal, rel=0.05)
    assert shrunk(signal, base, 0 * noise) is signal


# whole releases


def drawn(blocks: tuple[Block, ...], rows: int) -> dict[str, np.ndarray]:
    """Released rows: people of a mixture, through the dense channel of all attributes."""
    names = names_of(blocks)
    mixture = some_mixture(layout_of(blocks))
    channel = Channel(blocks, names)
    released = np.maximum(channel.forward(mixture.table(list(channel.sizes))), 0)
    cells = np.random.default_rng(7).choice(released.size, rows, p=released.ravel() / released.sum())
    return {
        name: column.astype(np.uint8) for name, column in zip(channel.sizes, np.unravel_index(cells, released.shape))
    }


@pytest.mark.parametrize("kind", RELEASES)
def test_tables_of_every_kind_are_whole_and_possible(kind):
    blocks = RELEASES[kind]
    model = fit_model(blocks, drawn(blocks, 5_000))
    truth = some_mixture(layout_of(blocks))
    names = names_of(blocks)
    for some in (*((n,) for n in names), *itertools.permutations(names, 2), tuple(names)):
        table = model.table(some)
        assert table.min() >= 0
        assert table.sum() == pytest.approx(1)
        assert (table[~Channel(blocks, some).possible] == 0).all()
        assert np.abs(table - truth.table(some)).sum() < 0.25
    pair = tuple(names[:2])
    assert model.table(pair[::-1]) == pytest.approx(model.table(pair).T)


def test_equal_rows_give_equal_models():
    blocks = RELEASES["agreement"]
    codes = drawn(blocks, 2_000)
    one, two = fit_model(blocks, codes), fit_model(blocks, codes)
    assert (one.mixture.tables == two.mixture.tables).all()
    assert one.report == two.report


def test_too_little_to_fit_is_refused_in_one_sentence():
    blocks = RELEASES["agreement"]
    with pytest.raises(InputError, match="at least 100 released rows; this release has 99"):
        fit_model(blocks, {name: column[:99] for name, column in drawn(blocks, 200).items()})
    single = (Retention(unit_of(3), 2**28, 32),)
    with pytest.raises(InputError, match="has only one"):
        fit_model(single, {"a": np.zeros(200, np.uint8)})


def test_a_descent_ends_where_nothing_is_to_be_gained():
    scale = np.array([1.0, 100.0, 10_000.0])

    def bowl(x):
        return float(((x - 1) ** 2 * scale).sum() + ((x - 1) ** 4).sum()), 2 * (x - 1) * scale + 4 * (x - 1) ** 3

    found = descend(bowl, np.array([5.0, -3.0, 2.0]), 200)
    assert found.converged
    assert found.point == pytest.approx([1, 1, 1], abs=1e-3)
    assert not descend(bowl, np.array([5.0, -3.0, 2.0]), 1).converged


# intervals on average over cells


def test_critical_values_are_the_published_ones():
    # Armstrong, Kolesar and Plagborg-Moller: 7.216 at a mean squared bias of 4, and the usual quantile without bias
    assert critical_value(np.array([0.0, 4.0]), 0.95) == pytest.approx([1.96, 7.216], abs=2e-3)
    wide = critical_value(np.array([0.1, 1.0, 1e6]), 0.9)
    assert (np.diff(wide) > 0).all()


def test_critical_values_cover_on_average_whatever_the_distribution_of_the_bias():
    for bias in (0.2, 1.0, 4.0):
        reach = float(critical_value(np.array([bias]), 0.95)[0])
        for part in (1.0, 0.5, 0.1, 0.03, 0.01):  # this part of the cells has all of the bias
            t = np.sqrt(bias / part)
            missed = part * (norm.cdf(t - reach) + norm.cdf(-t - reach)) + (1 - part) * 2 * norm.cdf(-reach)
            assert missed <= 0.0502


@pytest.mark.parametrize("kind", RELEASES)
def test_the_noise_of_cells_is_that_of_the_channel(kind):
    """Against the dense matrix of the channel, made column by column."""
    blocks = RELEASES[kind]
    model = fit_model(blocks, drawn(blocks, 1_000))
    names = names_of(blocks)[:2]
    channel = Channel(blocks, names)
    people = model.mixture.table(list(channel.sizes)).ravel()
    cells = people.size
    forward = np.stack([channel.forward(e.reshape(tuple(channel.sizes.values()))).ravel() for e in np.eye(cells)])
    back = np.stack([channel.inverse(e.reshape(tuple(channel.sizes.values()))).ravel() for e in np.eye(cells)])
    expected = (people @ forward) @ back**2 - channel.collapse(people.reshape(tuple(channel.sizes.values()))).ravel()
    found = noise_of(model, channel)
    possible = channel.possible
    assert found[possible] == pytest.approx(expected.reshape(possible.shape)[possible] / model.seen.rows, rel=1e-6)
    assert (found[~possible] == 0).all()


def some_cells(bias: float, number: int = 4_000) -> tuple[Cells, np.ndarray]:
    """Cells of 20 tables with noise 1, a model that is off by ``bias`` times its size's shape, and no leverage; and the truth."""
    rng = np.random.default_rng(2)
    rows = 1e6
    model = np.exp(rng.uniform(np.log(0.2), np.log(8), number)) / rows
    shape = rows * model / (1 + rows * model)
    truth = model + np.sqrt(bias * shape) * rng.normal(size=number) / rows
    unbiased = truth + rng.normal(size=number) / rows
    table = np.arange(number) % 20
    return Cells(rows, table, unbiased, model, np.full(number, rows**-2), np.zeros(number)), truth


@pytest.mark.parametrize(("bias", "width"), [(0.01, 0.45), (0.3, 1.0), (10.0, 1.05)])
def test_intervals_on_average_cover_and_are_as_narrow_as_the_model_is_good(bias, width):
    cells, truth = some_cells(bias)
    low, high = cells.limits(0.95)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.95
    assert (high - low).mean() / (2 * 1.96e-6) <= width


def test_large_cells_and_small_tables_have_the_usual_interval():
    cells, _ = some_cells(0.01)
    few = replace(cells, table=np.arange(4_000) // 20)
    low, high = few.limits(0.95)
    assert low == pytest.approx(few.unbiased - 1.959964e-6)
    assert high == pytest.approx(few.unbiased + 1.959964e-6)
    large = replace(cells, model=cells.model + 1e-4, unbiased=cells.unbiased + 1e-4)
    assert large.limits(0.95)[0] == pytest.approx(large.unbiased - 1.959964e-6)


def test_where_model_and_rows_disagree_the_interval_holds_both():
    cells, _ = some_cells(0.01)
    unbiased = cells.unbiased.copy()
    unbiased[7] += 5e-6
    off = replace(cells, unbiased=unbiased)
    assert off.far[7]
    low, high = off.limits(0.95)
    assert high[7] >= unbiased[7] + 1.95e-6
    assert high[7] - low[7] > 1.1 * 2 * 1.96e-6
