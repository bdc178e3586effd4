"""Associations with survey weights: equal weights change nothing, and without randomisation they are those of a design."""

import math

import numpy as np
import polars as pl
import pytest
from plans import schema_for
from raw_people import ROWS, People
from scipy import stats
from small_tables import AGREEMENT, THREE, TWO, dense_of, drawn, records_of

import pkanon as pk
from pkanon._estimate import Reconstruction
from pkanon._estimate.statistics import association, independence
from pkanon._estimate.statistics.association import _Pair
from pkanon._estimate.weighing import Weighing

BLOCKS = {
    # blocks, the two attributes, the weight
    "agreement of the weight with one of them": (
        (AGREEMENT, pk.Retention(pk.Unit(("z",), (3,)), 2**30, 32)),
        "az",
        "b",
    ),
    "blocks of their own": ((TWO, THREE, pk.Retention(pk.Unit(("z",), (3,)), 2**30, 32)), "az", "b"),
    "agreement of both of them": ((AGREEMENT, pk.Retention(pk.Unit(("z",), (3,)), 2**30, 32)), "ab", "z"),
}


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


def same(got, wanted):
    assert got.degrees_of_freedom == wanted.degrees_of_freedom
    assert got.chi_square == pytest.approx(wanted.chi_square, rel=1e-9)
    assert got.p_value == pytest.approx(wanted.p_value, rel=1e-9)
    assert got.cramers_v.value == pytest.approx(wanted.cramers_v.value, rel=1e-9, abs=1e-12)
    assert got.cramers_v.standard_error == pytest.approx(wanted.cramers_v.standard_error, rel=1e-9)
    assert got.cramers_v.interval() == pytest.approx(wanted.cramers_v.interval(), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("names", [("sex", "score"), ("town", "income")])
def test_equal_passed_weights_change_nothing(people, names):
    got = people.table(*names, weights=np.full(ROWS, 3.7)).association()
    same(got, people.table(*names).association())
    assert got.mutual_information is None
    assert "mutual" not in str(got)
    assert got.to_json()["mutual_information"] is None
    assert got.to_json()["weighted"]
    assert "mutual_information" not in got.to_polars()["measure"].to_list()


@pytest.mark.parametrize("case", BLOCKS)
def test_equal_randomised_weights_change_nothing(case, seed):
    blocks, names, weight = BLOCKS[case]
    whole = drawn(blocks, (*names, weight), 3000, seed, about="population")
    weighed = Reconstruction._weighed(Weighing(whole, np.full(whole.counts.shape[-1], 4.0)))
    got, wanted = (association.associate(table) for table in (weighed, whole.marginal(*names)))
    same(got, wanted)


@pytest.mark.parametrize("case", BLOCKS)
def test_the_covariance_is_that_of_all_rows_under_weighted_independence(case, seed):
    """Every record by itself: dense matrices, slopes by differences."""
    blocks, names, weight = BLOCKS[case]
    whole = drawn(blocks, (*names, weight), 3000, seed, about="population")
    numbers = np.array([1.0, 2.0, 4.0][: whole.counts.shape[-1]])
    table = Reconstruction._weighed(Weighing(whole, numbers))
    pair = _Pair.of(table)
    attributes = [name for block in blocks for name in block.attributes]
    records = np.array(records_of(blocks))
    at = [records[:, attributes.index(name)] for name in (*names, weight)]
    people = independence.people_if_independent(pair.table, pair.independent)
    x = people[tuple(at)]  # no attribute but these three
    totals = people @ numbers
    np.testing.assert_allclose(totals / totals.sum(), pair.independent, atol=1e-12)
    assert totals.sum() == pytest.approx(table.total)
    expected = pair.independent

    def d(counts):
        t = np.zeros(expected.shape)
        np.add.at(t, (at[0], at[1]), counts * numbers[at[2]])
        p = t / t.sum()
        return ((p - np.outer(p.sum(1), p.sum(0))) / np.sqrt(expected)).ravel()

    slopes = np.array([(d(x + h) - d(x - h)) / 2e-2 for h in 1e-2 * np.eye(len(x))]).T
    a = dense_of(blocks)
    carried = slopes @ np.linalg.inv(a).T
    dense = (carried * (a.T @ x)) @ carried.T
    np.testing.assert_allclose(pair.covariance, dense, rtol=1e-5, atol=1e-7 * np.abs(dense).max())


def by_design(first, second, weights, moved):
    """Shares, deviations and their covariance from rows alone; ``moved``: people of a cell are as many as if independent."""
    sizes = first.max() + 1, second.max() + 1
    t = np.zeros(sizes)
    np.add.at(t, (first, second), weights)
    p = t / t.sum()
    rows, columns = p.sum(1), p.sum(0)
    m = np.outer(rows, columns)
    d = ((p - m) / np.sqrt(m)).ravel()
    own = np.zeros((len(first), *sizes))
    own[np.arange(len(first)), first, second] = 1
    own -= (first[:, None] == np.arange(sizes[0]))[:, :, None] * columns
    own -= (second[:, None] == np.arange(sizes[1]))[:, None, :] * rows[:, None]
    influence = (weights[:, None, None] * (own + m) / (t.sum() * np.sqrt(m))).reshape(len(first), -1)
    factor = (m / p)[first, second] if moved else np.ones(len(first))
    return d, (influence * factor[:, None]).T @ influence


@pytest.mark.parametrize("way", ["passed", "randomised"])
@pytest.mark.parametrize("bond", [0.0, 0.3])
def test_without_randomisation_it_is_the_test_of_a_design(way, bond, seed, monkeypatch):
    draw = np.random.default_rng(seed)
    rows = 20_000
    a = draw.choice(3, rows, p=[0.5, 0.3, 0.2])
    b = np.where(draw.random(rows) < bond, a, draw.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1]))
    w = np.array([1.0, 3.0, 8.0])[np.minimum(draw.binomial(2, 0.2 + 0.1 * a + 0.05 * b), 2)]  # related to both
    schema = pk.Schema([pk.Attribute.ranged("a", 0, 2), pk.Attribute.ranged("b", 0, 3), pk.Attribute("w", [1, 3, 8])])
    survey = People.__new__(People)
    survey.a, survey.b, survey.w = a, b, w.astype(int)
    if way == "passed":
        table = survey.table("a", "b", schema=schema, weights=w)
    else:
        table = Reconstruction._weighed(Weighing(survey.table("a", "b", "w", schema=schema), np.array([1.0, 3.0, 8.0])))
    pair = _Pair.of(table)
    d, plain = by_design(a, b, w, moved=False)
    np.testing.assert_allclose(pair.d, d, atol=1e-12)
    if bond == 0:  # the textbook's variance, from rows as they are: the same but for chance
        by_rows = d @ np.linalg.pinv(plain, rcond=1e-9) @ d
        assert pair.relation.statistic == pytest.approx(by_rows, rel=0.1)
        assert pair.relation.p_value == pytest.approx(stats.chi2.sf(by_rows, 6), abs=0.05)
    # in the table moved to independence, exactly, where nothing is added to what was seen
    _, moved = by_design(a, b, w, moved=True)
    assert pair.relation.statistic == pytest.approx(d @ np.linalg.pinv(moved, rcond=1e-9) @ d, rel=0.03)
    assert pair.relation.freedom == 6
    # Pearson's with weights for counts is not it
    pearson = w.sum() * float(d @ d)
    assert pearson > 3 * pair.relation.statistic
    v = math.sqrt(max(float(d @ d) - np.trace(moved), 0.0) / 2)
    assert pair.cramers_v().value == pytest.approx(v, abs=0.002)


@pytest.mark.parametrize("way", ["passed", "randomised"])
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.5])
def test_the_lower_limit_is_above_zero_if_and_only_if_the_test_rejects(way, strength, seed):
    weight = pk.Attribute("w", [1, 4]) if way == "randomised" else pk.Attribute("w", role="pass", type="integer")
    schema = pk.Schema([pk.Attribute.ranged("x", 1, 3), pk.Attribute.ranged("y", 1, 4), weight])
    plan = pk.plan(schema, records=3000, epsilon=6)
    draw = np.random.default_rng(seed)
    for number in range(8):
        x = draw.choice(3, 3000, p=[0.7, 0.2, 0.1])
        y = np.where(draw.random(3000) < strength, x, draw.choice(4, 3000, p=[0.5, 0.3, 0.1, 0.1]))
        rows = pl.DataFrame({"x": x + 1, "y": y + 1, "w": np.where(draw.random(3000) < 0.2 + 0.2 * x, 4, 1)})
        released = pk.release(rows, plan, randomness=pk.Seeded(seed + number), allow_pass=True)
        pair = _Pair.of(released.crosstab("x", "y", weights="w"))
        found, p = pair.cramers_v(), pair.relation.p_value
        assert math.isfinite(pair.relation.rest)
        for level in (0.7, 0.9, 0.95, 0.99):
            low, high = found.interval(level)
            assert (low > 0) == (p < 1 - level)
            assert 0 <= low <= found.value <= high <= 1


def test_merged_values_and_people_left_out(seed):
    """The same numbers whether values were merged before or after, but for the weights of the cells that were merged."""
    draw = np.random.default_rng(seed)
    x = draw.integers(0, 4, 8000)
    y = np.where(draw.random(8000) < 0.3, x // 2, draw.integers(0, 3, 8000))
    w = np.where(draw.random(8000) < 0.2 + 0.1 * y, 5, 1)
    answers = {"x": np.array(["p", "q", "r", None])[x].tolist(), "y": np.array(["k", "l", "m"])[y].tolist(), "w": w}
    blocks = [pk.Attribute("y", ["k", "l", "m"]), pk.Attribute("w", [1, 5])]
    fine = pk.Schema([pk.Attribute("x", ["p", "q", "r"], missing="value"), *blocks])
    coarse = pk.Schema([pk.Attribute("x", ["pq", "r"]), *blocks])
    merged = pl.DataFrame(answers).drop_nulls("x").with_columns(pl.col("x").replace({"p": "pq", "q": "pq"}))
    found = []
    for frame, schema, more in (
        (pl.DataFrame(answers), fine, {"merge": {"x": {"pq": ["p", "q"]}}, "missing": "exclude"}),
        (merged, coarse, {}),
    ):
        release = pk.release(frame, pk.plan(schema, records=len(frame), epsilon=50), randomness=pk.Seeded(seed))
        found.append(release.crosstab("x", "y", weights="w", **more).association())
    one, two = found
    assert one.degrees_of_freedom == two.degrees_of_freedom == 2
    assert one.chi_square == pytest.approx(two.chi_square, rel=0.02)
    assert one.cramers_v.value == pytest.approx(two.cramers_v.value, rel=0.002)
    assert one.cramers_v.standard_error == pytest.approx(two.cramers_v.standard_error, rel=0.02)


@pytest.mark.parametrize("method", ["simplex", "em"])
def test_it_does_not_depend_on_the_method(method, seed):
    blocks, names, weight = BLOCKS["blocks of their own"]
    whole = drawn(blocks, (*names, weight), 3000, seed)
    codes = whole.source.codes
    tables = [
        Reconstruction.of(
            schema_for(blocks), blocks, codes, names, weights=(weight, np.array([1.0, 2.0, 9.0])), method=m
        )
        for m in ("inverse", method)
    ]
    same(*(association.associate(table) for table in tables))


def test_what_cannot_be_weighed_is_refused():
    schema = pk.Schema([pk.Attribute("a", ["p", "q"]), pk.Attribute("b", ["p", "q"]), pk.Attribute("w", [0, 3])])
    people = pl.DataFrame({"a": ["p", "q"] * 50, "b": ["p", "p", "q", "q"] * 25, "w": [0] * 100})
    release = pk.release(people, pk.plan(schema, records=100, epsilon=50), randomness=pk.Seeded(1))
    with pytest.raises(pk.InputError, match="total of the weights is not above zero"):
        release.crosstab("a", "b", weights="w").association()
    with pytest.raises(pk.InputError, match="'w' is the weight; it cannot be an attribute"):
        release.correlations("a", "w", weights="w")
    with pytest.raises(pk.InputError, match="'a' cannot be weights"):
        release.correlations(weights="a")
    wide = pk.Schema([pk.Attribute.ranged("x", 1, 60), pk.Attribute.ranged("y", 1, 60), pk.Attribute.ranged("w", 1, 6)])
    rows = People.__new__(People)
    rows.x, rows.y, rows.w = (np.ones(5, int) for _ in range(3))
    table = Reconstruction._weighed(Weighing(rows.table("x", "y", "w", schema=wide), np.arange(1.0, 7)))
    with pytest.raises(pk.InputError, match="21,600 cells with the weight"):
        association.associate(table)


def test_correlations_take_the_weight_and_leave_it_out(seed):
    draw = np.random.default_rng(seed)
    x = draw.integers(1, 4, 5000)
    rows = pl.DataFrame({"x": x, "y": np.minimum(x + draw.integers(0, 2, 5000), 4), "z": draw.choice(["p", "q"], 5000)})
    rows = rows.with_columns(w=np.where(draw.random(5000) < 0.2 * x, 5, 1))
    schema = pk.Schema(
        [pk.Attribute.ranged("x", 1, 3), pk.Attribute.ranged("y", 1, 4), pk.Attribute("z", ["p", "q"]),
         pk.Attribute("w", [1, 5])]
    )  # fmt: skip
    release = pk.release(rows, pk.plan(schema, records=5000, epsilon=60), randomness=pk.Seeded(seed))
    found = release.correlations(weights="w")
    assert found.names == ("x", "y", "z")
    assert "Weighted (by w)." in found.remark
    assert (found.to_json()["weighted"], found.to_json()["weights"]) == (True, "w")
    frame = found.to_polars()
    covariance = np.cov(rows["x"], rows["y"], aweights=rows["w"])
    assert frame["value"][0] == pytest.approx(
        covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1]), rel=1e-3
    )
    v = release.crosstab("x", "z", weights="w").association()
    assert frame.filter(second="z")["value"][0] == v.cramers_v.value
    assert v.weights == "w"
    assert "weighted (by w)" in str(v)


def test_a_value_that_nobody_has(seed):
    """Its cells have no people under independence: no number is lost by that."""
    draw = np.random.default_rng(seed)
    rows = People.__new__(People)
    rows.x, rows.y = draw.integers(1, 3, 2000), draw.integers(1, 4, 2000)
    rows.w = np.where(draw.random(2000) < 0.2 * rows.x, 5, 1)
    schema = pk.Schema([pk.Attribute.ranged("x", 1, 3), pk.Attribute.ranged("y", 1, 3), pk.Attribute("w", [1, 5])])
    table = Reconstruction._weighed(Weighing(rows.table("x", "y", "w", schema=schema), np.array([1.0, 5.0])))
    pair = _Pair.of(table)
    assert pair.relation.freedom == 2
    assert math.isfinite(pair.relation.rest)
