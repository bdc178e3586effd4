"""People drawn from a model: as many of each class and value as it says, never one that it rules out."""

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate import Mixture, draw_people
from pkanon._estimate.model.variables import Layout, variables_of

SIZES = {"a": 3, "b": 4, "c": 2}
ROWS = 30_000


@pytest.fixture(scope="module")
def mixture():
    """Three classes, one of them empty; some values that a class does not have."""
    schema = pk.Schema([pk.Attribute.ranged(name, 0, size - 1) for name, size in SIZES.items()])
    plan = pk.plan(schema, records=1_000, k=3, design="equal-rho")
    variables = variables_of(plan.blocks)
    layout = Layout(variables, [np.full(v.size, 1 / v.size) for v in variables])
    shares = {
        "a": [[0.5, 0.25, 0.25], [0.0, 0.125, 0.875], [1.0, 0.0, 0.0]],
        "b": [[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
        "c": [[0.3, 0.7], [1.0, 0.0], [0.0, 1.0]],
    }
    tables = np.concatenate([np.array(shares[v.attributes[0]]) for v in variables], axis=1)
    return Mixture(layout, np.array([0.6, 0.4, 0.0]), tables)


def counted(people):
    return np.histogramdd(
        np.array([people[name] for name in SIZES]).T, [np.arange(n + 1) - 0.5 for n in SIZES.values()]
    )[0]


@pytest.mark.parametrize("independent", [False, True])
def test_what_the_model_rules_out_does_not_occur(mixture, seed, independent):
    expected = mixture.table(list(SIZES))
    for rows in (1, 2, 7, ROWS):
        found = counted(draw_people(mixture, rows, np.random.default_rng(seed), independent=independent))
        assert found.sum() == rows
        assert (found[expected == 0] == 0).all()
    assert (found[expected > 0] > 0).all()


def test_systematic_draws_have_as_many_of_each_value_as_the_model_says(mixture, seed):
    """Within one of the expected number in each of the two classes, and so within two."""
    people = draw_people(mixture, ROWS, np.random.default_rng(seed))
    for name, size in SIZES.items():
        found = np.bincount(people[name], minlength=size)
        assert np.abs(found - ROWS * mixture.table([name])).max() < 2 + 1  # and one for the size of the class itself


def test_independent_draws_do_not(mixture, seed):
    """Chance moves their counts by dozens: what the test above asks is not what any draw would give."""
    people = draw_people(mixture, ROWS, np.random.default_rng(seed), independent=True)
    assert np.abs(np.bincount(people["a"]) - ROWS * mixture.table(["a"])).max() > 10


@pytest.mark.parametrize("independent", [False, True])
def test_values_go_together_as_the_model_says(mixture, seed, independent):
    """Every cell within five standard errors; a draw whose columns were mixed apart is far outside."""
    expected = mixture.table(list(SIZES))
    people = draw_people(mixture, ROWS, np.random.default_rng(seed), independent=independent)
    limit = 5 * np.sqrt(ROWS * expected * (1 - expected)) + 1
    assert (np.abs(counted(people) - ROWS * expected) <= limit).all()
    apart = people | {"a": np.random.default_rng(seed).permutation(people["a"])}
    assert (np.abs(counted(apart) - ROWS * expected) > limit).any()


def test_rows_come_in_random_order(mixture, seed):
    """Classes are not one after the other: the first half has about half of everything."""
    half = draw_people(mixture, ROWS, np.random.default_rng(seed))["c"][: ROWS // 2]
    share = mixture.table(["c"])[1]
    assert abs(half.sum() - ROWS / 2 * share) <= 5 * np.sqrt(ROWS / 4 * share * (1 - share))


def test_forbidden_combinations_do_not_occur(seed):
    schema = pk.Schema(
        [
            pk.Attribute("age", ["child", "adult"]),
            pk.Attribute("degree", ["none", "one", "two"]),
            pk.Attribute("sex", ["F", "M"]),
        ],
        bundles=[pk.Bundle(["age", "degree"], forbid=[{"age": ["child"], "degree": ["one", "two"]}])],
    )
    rng = np.random.default_rng(seed)
    age = rng.choice(["child", "adult"], 2_000)
    degree = np.where(age == "child", "none", rng.choice(["none", "one", "two"], 2_000))
    people = pl.DataFrame({"age": age, "degree": degree, "sex": rng.choice(["F", "M"], 2_000)})
    release = pk.release(people, pk.plan(schema, records=2_000, k=5, design="equal-rho"), randomness=pk.Seeded(seed))
    found = release.modelled(20_000, seed=seed).table
    children = found.filter(pl.col("age") == "child")
    assert children["degree"].unique().to_list() == ["none"]
    assert 5_000 < children.height < 15_000
    several = release.modelled(2_000, draws=3, seed=seed).table
    assert several.filter(pl.col("age") == "child")["degree"].unique().to_list() == ["none"]
