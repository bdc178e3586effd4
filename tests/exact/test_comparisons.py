"""Standardised shares, Mantel-Haenszel and trends: without randomisation they are those of the textbooks and of statsmodels."""

import itertools
import math

import numpy as np
import pytest
from raw_people import MISSING, People
from small_tables import MATRIX, THREE, TWO, average, counted, dense_of, records_of, some_people
from statsmodels.stats.contingency_tables import StratifiedTable, Table

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._estimate.statistics import comparisons

RAW = 1e-9


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


def smoking(people):
    """Who answered: women, smokers, and the bin of the age."""
    said = np.array([answer is not MISSING for answer in people.smokes])
    return said, people.sex == "F", people.smokes == True, np.minimum(people.age // 20, 4)  # noqa: E712  # objects


@pytest.mark.parametrize("about", ["table", "population"])
class TestStandardised:
    def rates(self, people):
        _, women, smoke, bins = smoking(people)
        return np.array([smoke[women & (bins == b)].mean() for b in range(5)]), np.bincount(bins), women, bins

    def test_to_everybody(self, people, about):
        table = people.table("age", "sex", "smokes", about=about)
        rates, sizes, _, _ = self.rates(people)
        found = table.standardised({"smokes": True}, over="age", given={"sex": "F"})
        assert found.value == pytest.approx((rates * sizes).sum() / sizes.sum(), rel=RAW)
        assert (found.standard_error == 0) == (about == "table")

    def test_to_another_group(self, people, about):
        table = people.table("smokes", "age", "sex", about=about)
        rates, _, women, bins = self.rates(people)
        men = np.bincount(bins[~women], minlength=5)
        found = table.standardised({"smokes": True}, "age", given={"sex": "F"}, to={"sex": "M"})
        assert found.value == pytest.approx((rates * men).sum() / men.sum(), rel=RAW)

    def test_to_a_population_known_from_elsewhere(self, people, about):
        table = people.table("sex", "smokes", "age", about=about)
        rates, _, women, bins = self.rates(people)
        weights = {"0-19": 3.0, "20-39": 2.0, "40-59": 1.0, "80+": 4.0}
        found = table.standardised({"smokes": True}, "age", given={"sex": "F"}, to=weights)
        shares = np.array([3, 2, 1, 0, 4]) / 10
        assert found.value == pytest.approx((rates * shares).sum(), rel=RAW)
        if about == "population":  # strata are independent given their sizes
            sizes = np.bincount(bins[women], minlength=5)
            variance = (shares**2 * rates * (1 - rates) / sizes).sum()
            assert found.standard_error**2 == pytest.approx(variance, rel=0.01)  # n/(n - 1)

    def test_over_two_attributes(self, people, about):
        table = people.table("sex", "smokes", "age", "town", about=about)
        _, women, smoke, bins = smoking(people)
        towns = np.array([town if town in ("Ulm", "Bonn", "Kiel") else "elsewhere" for town in people.town])
        total = 0.0
        for b, town in itertools.product(range(5), set(towns.tolist())):
            stratum = (bins == b) & (towns == town)
            total += stratum.mean() * smoke[stratum & women].mean()
        found = table.standardised({"smokes": True}, ["age", "town"], given={"sex": "F"})
        assert found.value == pytest.approx(total, rel=RAW)

    def test_without_a_group_it_is_the_share(self, people, about):
        table = people.table("sex", "smokes", about=about)
        found = table.standardised({"smokes": True}, "sex")
        plain = table.proportion({"smokes": True})
        assert found.value == pytest.approx(plain.value, rel=RAW)
        assert found.standard_error == pytest.approx(plain.standard_error, rel=RAW, abs=1e-12)


@pytest.mark.parametrize("about", ["table", "population"])
def test_mantel_haenszel_is_that_of_statsmodels(people, about):
    table = people.table("town", "smokes", "sex", "age", about=about)
    _, women, smoke, bins = smoking(people)
    strata = [
        np.array([[(inside & a & b).sum() for b in (smoke, ~smoke)] for a in (women, ~women)])
        for inside in ((bins == b) for b in range(5))
    ]
    oracle = StratifiedTable(strata)
    found = table.mantel_haenszel({"sex": "F"}, {"smokes": True}, within="age")
    assert found.odds_ratio.value == pytest.approx(oracle.oddsratio_pooled, rel=RAW)
    assert (found.strata, found.left_out) == (5, ())
    if about == "table":
        assert found.odds_ratio.standard_error == 0
        return
    test = oracle.test_null_odds(correction=False)
    assert found.test.statistic == pytest.approx(test.statistic, rel=RAW)
    assert found.test.p_value == pytest.approx(test.pvalue, rel=1e-7)
    # its variance is that of Robins, Breslow and Greenland to first order
    assert found.odds_ratio.log().standard_error == pytest.approx(oracle.logodds_pooled_se, rel=0.05)


@pytest.mark.parametrize("about", ["table", "population"])
def test_a_trend_is_that_of_statsmodels(people, about):
    table = people.table("smokes", "age", "sex", about=about)
    _, women, smoke, bins = smoking(people)
    scores = np.array(
        [9.5, 29.5, 49.5, 69.5, 89.5]
    )  # the middles of whole years; an open bin is as wide as its neighbour
    found = table.trend({"smokes": True}, over="age")
    slope = np.polyfit(scores[bins], smoke.astype(float), 1)[0]
    assert found.slope.value == pytest.approx(slope, rel=RAW)
    assert list(found.scores.values()) == scores.tolist()
    counts = np.array([[((bins == b) & (smoke == s)).sum() for s in (False, True)] for b in range(5)])
    if about == "population":
        oracle = Table(counts, shift_zeros=False).test_ordinal_association(row_scores=scores, col_scores=np.arange(2))
        assert found.test.statistic == pytest.approx(oracle.zscore**2, rel=RAW)
        assert found.test.p_value == pytest.approx(oracle.pvalue, rel=1e-7)
    among = table.trend(
        {"smokes": True}, over="age", given={"sex": "F"}, scores=dict(zip(found.scores, (1, 2, 4, 8, 16)))
    )
    counts = np.array([[(women & (bins == b) & (smoke == s)).sum() for s in (False, True)] for b in range(5)])
    own = np.array([1, 2, 4, 8, 16])
    assert among.slope.value == pytest.approx(np.polyfit(own[bins[women]], smoke[women].astype(float), 1)[0], rel=RAW)
    if about == "population":
        oracle = Table(counts, shift_zeros=False).test_ordinal_association(row_scores=own, col_scores=np.arange(2))
        assert among.test.statistic == pytest.approx(oracle.zscore**2, rel=RAW)


def test_a_trend_over_words_follows_their_order_and_leaves_out_the_unlisted(people):
    found = people.table("town", "sex").trend({"sex": "F"}, over="town")
    assert found.scores == {"Ulm": 0, "Bonn": 1, "Kiel": 2}
    listed = np.isin(people.town, ["Ulm", "Bonn", "Kiel"])
    codes = np.array([["Ulm", "Bonn", "Kiel"].index(town) for town in people.town[listed]])
    assert found.slope.value == pytest.approx(np.polyfit(codes, (people.sex[listed] == "F") * 1.0, 1)[0], rel=RAW)


def test_empty_strata_are_left_out():
    schema = pk.Schema([pk.Attribute.ranged("s", 1, 4), pk.Attribute("x", [0, 1]), pk.Attribute("y", [0, 1])])
    rows = People.__new__(People)
    rows.s, rows.x, rows.y = np.repeat([1, 3], 40), np.tile([0, 0, 1, 1], 20), np.tile([0, 1, 0, 1, 1], 16)
    found = rows.table("s", "x", "y", schema=schema).mantel_haenszel({"x": 1}, {"y": 1}, "s")
    assert (found.strata, found.left_out) == (2, (2, 4))
    assert "2 too small to be used" in str(found)


CONDITIONS = {
    "strata that are a condition": lambda t: t.mantel_haenszel({"sex": "F"}, {"age": "0-19"}, "age"),
    "one attribute in both conditions": lambda t: t.mantel_haenszel({"sex": "F"}, {"sex": "M"}, "age"),
    "no such attribute": lambda t: t.standardised({"sex": "F"}, "town"),
    "no strata": lambda t: t.standardised({"sex": "F"}, ()),
    "no such stratum": lambda t: t.standardised({"sex": "F"}, "age", to={"90-99": 1}),
    "weights below zero": lambda t: t.standardised({"sex": "F"}, "age", to={"0-19": -1}),
    "weights of two attributes": lambda t: t.standardised({"smokes": True}, ("age", "sex"), to={"0-19": 1}),
    "no number": lambda t: t.standardised({"sex": "F"}, "age", to={"0-19": "many"}),
    "a trend over its own condition": lambda t: t.trend({"age": "0-19"}, "age"),
    "one score": lambda t: t.trend({"sex": "F"}, "smokes", scores={True: 1, False: None}),
    "nobody": lambda t: t.trend({"sex": "F"}, "smokes", given={"age": "0-19"}),
}


@pytest.mark.parametrize("ask", CONDITIONS.values(), ids=CONDITIONS)
def test_what_makes_no_sense_is_refused(ask):
    rows = People.__new__(People)
    rows.sex, rows.smokes, rows.age = np.array(["F", "M"]), np.array([True, False]), np.array([30, 50])
    with pytest.raises(pk.InputError):
        ask(rows.table("sex", "smokes", "age"))


def test_a_group_without_people_in_a_stratum_is_refused():
    rows = People.__new__(People)
    rows.sex, rows.age = np.repeat(["F", "M"], [20, 40]), np.tile([10, 30, 90], 20)
    rows.age[:20] = 30
    rows.smokes = np.tile([True, False], 30)
    table = rows.table("sex", "age", "smokes")
    with pytest.raises(pk.InputError, match=r"too small to have a share in age = 0-19, 80\+"):
        table.standardised({"smokes": True}, "age", given={"sex": "F"})
    assert table.standardised({"smokes": True}, "age", given={"sex": "M"}).value == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "blocks", [(TWO, Retention(THREE.units[0], 2**28, 32)), (TWO, MATRIX)], ids=["retention", "matrix"]
)
def test_products_of_counts_less_their_noise_are_unbiased(blocks):
    """E (a d - cov) = a d, over all releases: what the sums of Mantel and Haenszel are made of."""
    names = tuple(name for block in blocks for name in block.attributes)
    records, a = records_of(blocks), dense_of(blocks)
    chosen = some_people(blocks, 3)
    x = counted(blocks, [records[i] for i in chosen], names)
    kinds = [np.zeros(x.shape) for _ in range(2)]
    kinds[0][:, 0], kinds[1][:, 1:] = 1.0, 1.0

    def of(table):
        noise = comparisons._noise(table, 1, kinds)
        sums = [(table.unbiased * kind).sum(1) for kind in kinds]
        return np.array([sums[0] * sums[1] - noise[:, 0, 1], sums[0] * sums[1]])

    found, raw = average(blocks, a[chosen], names, of)
    truth = (x * kinds[0]).sum(1) * (x * kinds[1]).sum(1)
    np.testing.assert_allclose(found, truth, atol=1e-9)
    assert np.abs(raw - truth).max() > 0.01  # without it they would be biased


def test_the_variance_of_a_test_is_that_of_the_null(seed):
    """Of all releases of people drawn where both conditions are independent: the sum has mean 0 and the variance said."""
    from small_tables import reconstruct

    blocks = (TWO, Retention(pk.Unit(("b",), (2,)), 2**29, 32))
    records, a = records_of(blocks), dense_of(blocks)
    draw = np.random.default_rng(seed)
    p, q = draw.uniform(0.3, 0.7, 2)
    shares = np.outer([p, 1 - p], [q, 1 - q])
    law = np.array([shares[record] for record in records]) @ a
    n = 4000
    rows = draw.choice(len(records), n, p=law)
    table = reconstruct(blocks, [records[i] for i in rows], ("a", "b"), about="population")
    weights = (np.array([1, 0]) - p)[:, None] * (np.array([1, 0]) - q)
    carried = table.channel.inverse_transpose(weights)
    exact = n * sum(chance * carried[record] ** 2 for chance, record in zip(law, records))
    assert comparisons._null_variance(table, weights, n * shares) == pytest.approx(exact, rel=1e-9)
    assert sum(chance * carried[record] for chance, record in zip(law, records)) == pytest.approx(0, abs=1e-12)
    assert math.isfinite(exact)
