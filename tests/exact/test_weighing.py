"""A randomised attribute as the survey weight: unbiased, with the right variance, over all releases of small tables."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from plans import schema_for
from small_tables import (
    AGREEMENT,
    BUNDLED,
    FORBIDDING,
    MATRIX,
    THREE,
    TWO,
    counted,
    dense_of,
    drawn,
    records_of,
    some_people,
)

import pkanon as pk
from pkanon._estimate import Reconstruction, weight_error
from pkanon._estimate.linear import Listed, cells
from pkanon._estimate.variance import estimated_variances

CASES = {
    # blocks, attributes of the table, the weight
    "blocks of their own": ((TWO, THREE), ("a",), "b"),
    "one agreement block": ((AGREEMENT,), ("a",), "b"),
    "agreement, the other way": ((AGREEMENT,), ("b",), "a"),
    "a bundle with forbidden combinations": ((FORBIDDING,), ("d",), "c"),
    "a matrix on a bundle": ((BUNDLED,), ("b",), "a"),
    "matrix and retention": ((MATRIX, TWO), ("e",), "a"),
}


def numbers_of(blocks, weight, seed):
    sizes = {n: s for block in blocks for u in block.units for n, s in zip(u.attributes, u.sizes)}
    return np.random.default_rng(seed).gamma(2.0, 3.0, sizes[weight])


def releases(blocks, people):
    """Every release of these people (numbers of records) with its chance: (chance, codes by attribute)."""
    attributes = [name for block in blocks for name in block.attributes]
    records, laws = records_of(blocks), dense_of(blocks)[people]
    for outcome in itertools.product(range(len(records)), repeat=len(people)):
        chance = math.prod(law[v] for law, v in zip(laws, outcome))
        if chance:
            columns = np.array([records[v] for v in outcome]).T
            yield chance, {name: column.astype(np.uint8) for name, column in zip(attributes, columns)}


@pytest.mark.parametrize("case", CASES)
def test_unbiased_with_the_variance_it_states(case, seed):
    blocks, names, weight = CASES[case]
    numbers = numbers_of(blocks, weight, seed)
    records = records_of(blocks)
    people = some_people(blocks, 3)
    place = [name for block in blocks for name in block.attributes].index(weight)
    true = counted(blocks, [records[i] for i in people], names, [float(numbers[records[i][place]]) for i in people])
    w = np.random.default_rng(seed).normal(size=true.shape)
    expected, mass = np.zeros(3 + true.size), 0.0
    for chance, codes in releases(blocks, people):
        table = Reconstruction.of(schema_for(blocks), blocks, codes, names, weights=(weight, numbers))
        value = float((w * table.unbiased).sum())
        variance = float(estimated_variances(table, Listed(table.channel, w[None]))[0][0])
        expected += chance * np.array([value, value**2, variance, *table.counts.ravel()])
        mass += chance
    assert mass == pytest.approx(1)
    np.testing.assert_allclose(expected[3:], true.ravel(), rtol=1e-9, atol=1e-9)
    assert expected[0] == pytest.approx(float((w * true).sum()), rel=1e-9)
    assert expected[2] == pytest.approx(expected[1] - expected[0] ** 2, rel=1e-8)


@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("case", CASES)
def test_every_way_to_a_number_agrees(case, about, seed):
    """Cells, counts, marginals and the covariance matrix are those of the larger table."""
    blocks, names, weight = CASES[case]
    numbers = numbers_of(blocks, weight, seed)
    whole = drawn(blocks, (*names, weight), 3000, seed, about=about)
    table = Reconstruction._weighed(whole_weighing(whole, numbers))
    np.testing.assert_allclose(table.counts, whole.counts @ numbers)
    for cell in np.argwhere(table.channel.possible):
        one = np.zeros(table.counts.shape)
        one[tuple(cell)] = 1
        lifted = whole.linear(one[..., None] * numbers)
        assert table.linear(one).standard_error == pytest.approx(lifted.standard_error, rel=1e-7)
        assert table.standard_errors[tuple(cell)] == pytest.approx(lifted.standard_error, rel=1e-7)
    found = estimated_variances(table, cells(table.channel))[0].reshape(table.counts.shape)
    np.testing.assert_allclose(
        found, np.diag(table.covariance(np.eye(found.size).reshape(-1, *found.shape))).reshape(found.shape), rtol=1e-7
    )
    shares = table.shares()
    total = table.linear(1.0)
    for cell in np.argwhere(table.channel.possible):
        one = np.zeros(table.counts.shape)
        one[tuple(cell)] = 1
        share = table.linear(one) / total
        assert shares.shares[tuple(cell)] == pytest.approx(share.value)
        assert shares.standard_errors[tuple(cell)] == pytest.approx(share.standard_error, rel=1e-6)


def whole_weighing(whole, numbers):
    from pkanon._estimate.weighing import Weighing

    return Weighing(whole, numbers)


@pytest.fixture(scope="module")
def survey():
    """A survey with weights in bins, and the plan that keeps everything."""
    draw = np.random.default_rng(5)
    people = pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], 900),
            "work": draw.choice(["yes", "no"], 900),
            "age": draw.integers(1, 5, 900),
            "weight": draw.choice([100, 250, 700], 900),
        }
    )
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            pk.Attribute("work", ["yes", "no"]),
            pk.Attribute.ranged("age", 1, 4),
            pk.Attribute("weight", [100, 250, 700]),
        ]
    )
    return people, pk.release(people, pk.plan(schema, records=900, epsilon=60), randomness=pk.Seeded(3))


def test_weighted_statistics_of_a_release_that_changed_hardly_anything(survey):
    people, release = survey
    weight = people["weight"].to_numpy()
    women = (people["sex"] == "F").to_numpy()
    table = release.crosstab("sex", "work", weights="weight")
    assert table.weighted
    assert table.count(sex="F").value == pytest.approx(weight[women].sum(), rel=1e-6)
    busy = (people["work"] == "yes").to_numpy()
    share = weight[women & busy].sum() / weight[women].sum()
    assert table.proportion({"work": "yes"}, {"sex": "F"}).value == pytest.approx(share, rel=1e-6)
    assert table.conditional("sex")["proportion"][0] == pytest.approx(share, rel=1e-6)
    ages = release.crosstab("age", weights="weight")
    age = people["age"].to_numpy()
    assert ages.mean("age").value == pytest.approx(np.average(age, weights=weight), rel=1e-6)
    answer = release.query("SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM release GROUP BY sex", weights="weight")
    frame = answer.to_polars()
    assert frame["n"][0] == pytest.approx(weight[women].sum(), rel=1e-6)
    assert frame["a"][0] == pytest.approx(np.average(age[women], weights=weight[women]), rel=1e-6)
    everybody = release.query("SELECT COUNT(*) AS n FROM release", weights="weight").to_polars()
    assert everybody["n"][0] == pytest.approx(weight.sum(), rel=1e-6)
    described = release.describe("age", by="sex", weights="weight").to_polars().filter(statistic="mean")
    assert described["value"][0] == pytest.approx(np.average(age[women], weights=weight[women]), rel=1e-6)


def test_one_number_one_error_with_weights(survey):
    _, release = survey
    table = release.crosstab("sex", "work", weights="weight")
    count = table.count(sex="F", work="yes")
    assert count.standard_error == table.standard_errors[0, 0]
    low, high = table.interval()
    assert count.interval() == (low[0, 0], high[0, 0])
    frame = release.query(
        "SELECT COUNT(*) AS n FROM release WHERE sex = 'F' AND work = 'yes'", weights="weight"
    ).to_polars()
    assert frame["n"][0] == pytest.approx(count.value, rel=1e-12)
    assert frame["n_std_error"][0] == pytest.approx(count.standard_error, rel=1e-12)


@pytest.mark.parametrize("method", ["simplex", "em"])
def test_other_methods_weigh_their_own_table(survey, method):
    _, release = survey
    table = release.crosstab("sex", "work", method=method, weights="weight")
    whole = release.crosstab("sex", "work", "weight", method=method)
    np.testing.assert_allclose(table.counts, whole.counts @ np.array([100.0, 250.0, 700.0]))
    low, high = table.interval()
    assert (low <= table.counts).all()
    assert (table.counts <= high).all()


def test_what_cannot_weigh_is_refused(survey):
    _, release = survey
    with pytest.raises(pk.InputError, match="'weight' is the weight; it cannot be an attribute"):
        release.crosstab("sex", "weight", weights="weight")
    with pytest.raises(pk.InputError, match="'sex' cannot be weights"):
        release.crosstab("work", weights="sex")
    with pytest.raises(pk.InputError, match=r"no column 'wieght' of weights.* Did you mean 'weight'"):
        release.crosstab("work", weights="wieght")


def test_how_far_bins_may_be_off_is_said():
    binned = pk.Attribute.binned("w", edges=[100, 300, 900], type="number")
    assert weight_error(binned, np.array([200.0, 600.0])) == 0.5  # 100 or 300 beside 200, 300 or 900 beside 600
    assert weight_error(pk.Attribute("w", [1, 2]), np.array([1.0, 2.0])) == 0
    opened = pk.Attribute.binned("w", edges=[100, 300, 900], open="high", type="number")
    assert weight_error(opened, np.array([200.0, 600.0, 1200.0])) is None
    points = [pk.Attribute.pointed("w", [0, 200, 800], open=end) for end in ("none", "high")]
    assert [weight_error(attribute, np.array([0.0, 200.0, 800.0])) for attribute in points] == [0, None]
    people = pl.DataFrame({"sex": ["F", "M"] * 50, "w": [100.0, 299.0, 500.0, 899.0] * 25})
    for attribute, words in (
        (binned, "whose bins may shift totals by up to 50%"),
        (opened, "may shift totals without limit"),
    ):
        schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), attribute])
        release = pk.release(people, pk.plan(schema, records=100, k=2), randomness=pk.Seeded(1))
        assert words in str(release.crosstab("sex", weights="w"))


def test_a_description_leaves_the_weight_out():
    schema = pk.Schema([pk.Attribute.ranged("rooms", 1, 3), pk.Attribute.pointed("weight", [0, 10, 20])])
    people = pl.DataFrame({"rooms": [1, 2, 3, 3] * 100, "weight": [3, 8, 15, 20] * 100})
    release = pk.release(people, pk.plan(schema, records=400, k=2), randomness=pk.Seeded(1))
    assert set(release.describe(weights="weight").to_polars()["attribute"]) == {"rooms"}
    assert set(release.describe().to_polars()["attribute"]) == {"rooms", "weight"}
