"""Reconstructions at their edges: wrong questions, releases without rows, marginals of tables."""

import math

import numpy as np
import polars as pl
import pytest
from dense import matrix_of, unit_of
from small_tables import BUNDLED_FORBIDDING, CASES, FORBIDDING, MATRIX, THREE, TWO, drawn, reconstruct, records_of

import pkanon as pk
from pkanon._blocks import Retention


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


def test_em_of_very_many_cells_is_refused_unless_it_has_a_closed_form():
    names = ("a", "b", "c")
    schema = pk.Schema([pk.Attribute.ranged(name, 1, 64) for name in names])  # 262,144 cells
    table = pl.DataFrame({name: np.random.default_rng(1).integers(1, 65, 500) for name in names})
    steps, closed = (pk.plan(schema, records=500, k=1.5, design=design) for design in ("equal-rho", "joint"))
    released = pk.release(table, steps, randomness=pk.Seeded(7))
    with pytest.raises(
        pk.InputError, match=r"most likely table of 262,144 cells.*at most 250,000 cells.*simplex or model"
    ):
        released.crosstab(*names, method="em")
    assert released.crosstab("a", "b", method="em").counts.sum() == pytest.approx(500)
    joint = pk.release(table, closed, randomness=pk.Seeded(7)).crosstab(*names, method="em")
    assert joint.counts.sum() == pytest.approx(500)
