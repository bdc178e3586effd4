"""Sums, means, deviations, correlations and quantiles: do they say what numpy says of the raw rows?"""

import datetime as dt
import math

import numpy as np
import pytest
from raw_people import ROWS, People, inflated
from scipy import stats

import pkanon as pk
from pkanon._estimate.statistics import representative


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


def test_sums_means_and_deviations(people):
    table = people.table("score", "sex", "income")
    x = np.array(people.score[people.scored], float)
    n = len(x)
    mean = table.mean("score")
    assert mean.value == pytest.approx(x.mean())
    assert mean.standard_error == pytest.approx(inflated(x.var() / n))
    total = table.sum("score")
    assert total.value == pytest.approx(x.sum())
    filled = np.where(people.scored, people.score, 0).astype(float)  # who has no number adds nothing
    assert total.standard_error == pytest.approx(math.sqrt(ROWS * filled.var(ddof=1)))
    deviation = table.deviation("score")
    assert deviation.value == pytest.approx(x.std())
    influence = ((x - x.mean()) ** 2 - x.var()) / (2 * x.std())
    assert deviation.standard_error == pytest.approx(inflated((influence**2).sum() / n**2))
    factor = math.exp(stats.norm.ppf(0.975) * deviation.standard_error / deviation.value)  # on the logarithm: above 0
    assert deviation.interval() == pytest.approx((x.std() / factor, x.std() * factor))
    men = (people.sex == "M") & people.scored
    y = people.score[men].astype(float)
    assert table.mean("score", {"sex": "M"}).value == pytest.approx(y.mean())
    assert table.mean("score", {"sex": "M"}).standard_error == pytest.approx(inflated(y.var() / len(y)))
    assert table.deviation("score", {"sex": "M"}).value == pytest.approx(y.std())
    assert table.sum("score", {"sex": "M"}).value == pytest.approx(y.sum())
    listed = people.income[people.income < 10]  # the label for unlisted values is no income of -9
    assert table.mean("income").value == pytest.approx(listed.mean())
    everyone = np.where(people.income < 10, people.income, 20.0)
    assert table.mean("income", values={-9.0: 20.0}).value == pytest.approx(everyone.mean())
    assert table.mean("income", values={-9.0: 20.0, 7.0: 8.0}).value == pytest.approx(
        np.where(everyone == 7, 8, everyone).mean()
    )
    whole = people.table("income").mean("income", values={-9.0: 20.0})
    assert whole.standard_error == pytest.approx(
        everyone.std(ddof=1) / math.sqrt(ROWS)
    )  # the s / sqrt(n) of every textbook


def test_booleans_and_texts_with_numbers(people):
    table = people.table("smokes", "town")
    says = np.array([s for s in people.smokes if s is not None], float)
    assert table.mean("smokes").value == pytest.approx(says.mean())
    inhabitants = {"Ulm": 126.0, "Bonn": 330.0, "Kiel": 247.0}
    known = np.array([inhabitants[town] for town in people.town if town in inhabitants])
    assert table.mean("town", values=inhabitants).value == pytest.approx(known.mean())
    assert table.quantile("town", 0.5, values=inhabitants).value == np.quantile(known, 0.5, method="inverted_cdf")
    with pytest.raises(pk.InputError, match=r"'town' is of type text.*values"):
        table.mean("town")
    with pytest.raises(pk.InputError, match="'Bon' is not a value"):
        table.mean("town", values={"Bon": 1.0})
    with pytest.raises(pk.InputError, match="number for every value of 'town'; 'Ulm' has none"):
        table.mean("town", values={})
    with pytest.raises(pk.InputError, match="'Bonn' has none"):
        table.mean("town", values={"Ulm": 126.0})
    some = table.mean("town", values=inhabitants | {"Kiel": None}).value
    assert some == pytest.approx(np.mean([inhabitants[town] for town in people.town if town in ("Ulm", "Bonn")]))
    with pytest.raises(pk.InputError, match="No value of 'town' stands for a number"):
        table.mean("town", values=dict.fromkeys(inhabitants))
    with pytest.raises(pk.InputError, match=r"no attribute 'smoke'.*Did you mean 'smokes'"):
        table.mean("smoke")


def test_correlation(people):
    table = people.table("age", "score")
    middles = np.array([9.5, 29.5, 49.5, 69.5, 89.5])[np.minimum(people.age // 20, 4)][people.scored]
    x = people.score[people.scored].astype(float)
    r = np.corrcoef(middles, x)[0, 1]
    got = table.correlation("age", "score")
    assert got.value == pytest.approx(r)
    u, v = ((z - z.mean()) / z.std() for z in (middles, x))
    influence = u * v - r / 2 * (u**2 + v**2)
    assert got.standard_error == pytest.approx(inflated((influence**2).sum() / len(x) ** 2))
    z = stats.norm.ppf(0.95)
    error = got.standard_error / (1 - r * r)
    assert got.interval(0.9) == pytest.approx(
        (math.tanh(math.atanh(r) - z * error), math.tanh(math.atanh(r) + z * error))
    )
    assert table.correlation("score", "age").value == pytest.approx(r)


def test_quantiles_of_listed_values_and_ranges(people):
    table = people.table("score", "sex", "income")
    x = np.sort(people.score[people.scored].astype(float))
    for q in (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999):
        got = table.quantile("score", q)
        assert got.value == np.quantile(x, q, method="inverted_cdf")
        # Woodruff: the share up to the quantile, plus and minus z errors, read back; the larger error of both sides
        error = max(
            inflated(share * (1 - share) / len(x)) for share in ((x < got.value).mean(), (x <= got.value).mean())
        )
        z = stats.norm.ppf(0.975)
        assert got.interval() == (
            np.quantile(x, max(q - z * error, 0), method="inverted_cdf"),
            np.quantile(x, min(q + z * error, 1), method="inverted_cdf"),
        )
        assert got.standard_error == pytest.approx((got.interval()[1] - got.interval()[0]) / (2 * z))
    women = people.score[people.scored & (people.sex == "F")].astype(float)
    assert table.quantile("score", 0.3, {"sex": "F"}).value == np.quantile(women, 0.3, method="inverted_cdf")
    listed = people.income[people.income < 10]
    assert table.quantile("income", 0.6).value == np.quantile(listed, 0.6, method="inverted_cdf")
    assert people.table("score", about="table").quantile("score", 0.5).interval() == (np.median(x),) * 2
    assert math.isnan(table.quantile("score", 0.5, {"sex": []}).value)


def test_quantiles_of_bins_are_read_off_a_straight_line(people):
    table = people.table("age")
    edges = np.array([0, 20, 40, 60, 80, 100.0])  # the open bin is as wide as its neighbour
    reached = np.append(0, np.cumsum(np.bincount(np.minimum(people.age // 20, 4), minlength=5)) / ROWS)
    for q in (0.001, 0.2, 0.5, 0.77, 0.99):
        got = table.quantile("age", q)
        assert got.value == pytest.approx(np.interp(q, reached, edges))
        # (people below x) - q (all people) is a sum over people, spread evenly in their bins; where it can be zero, x stays
        grid = np.linspace(0, 100, 10_001)
        part = np.clip((grid[:, None] - edges[:-1]) / 20, 0, 1) - q
        people_in = np.bincount(np.minimum(people.age // 20, 4), minlength=5)
        lead, squares = part @ people_in, part**2 @ people_in
        reach = stats.norm.ppf(0.975) * np.sqrt(np.maximum(squares - lead**2 / ROWS, 0) * ROWS / (ROWS - 1))
        low, high = grid[lead + reach >= 0].min(), grid[lead - reach <= 0].max()
        assert got.interval() == pytest.approx([min(low, got.value), max(high, got.value)], abs=0.011)
    given = dict.fromkeys(["0-19", "20-39", "40-59", "60-79"], 0.0) | {"80+": 1.0}
    assert table.quantile("age", 0.5, values=given).value == 0.0


@pytest.mark.parametrize("q", [0, 1, -0.1, 50, math.nan, "half"])
def test_quantiles_outside_zero_and_one_are_refused(people, q):
    with pytest.raises(pk.InputError, match="quantile lies between 0 and 1"):
        people.table("age").quantile("age", q)


@pytest.mark.parametrize(
    ("attribute", "numbers"),
    [
        (pk.Attribute.binned("x", start=0, stop=15, width=5), [2, 7, 12]),  # 0..4 have the middle 2
        (pk.Attribute.binned("x", start=0.0, stop=15.0, width=5.0), [2.5, 7.5, 12.5]),
        (
            pk.Attribute.binned("x", edges=[0, 1, 10, 30], open="low"),
            [-1, 0, 5, 19.5],
        ),  # [-1, 0) is the whole number -1
        (pk.Attribute.binned("x", edges=[0, 1, 10, 30], open="high"), [0, 5, 19.5, 39.5]),
        (pk.Attribute.binned("x", edges=[0.0, 1.0, 10.0], open="both"), [-0.5, 0.5, 5.5, 14.5]),
        (pk.Attribute.binned("x", edges=[5.0], open="both"), [4.5, 5.5]),
        (pk.Attribute.binned("x", edges=[0, 2, 4], other="none", missing="value"), [0.5, 2.5, math.nan, math.nan]),
        (pk.Attribute.ranged("x", -1, 2, other=99, missing="value"), [-1, 0, 1, 2, math.nan, math.nan]),
        (pk.Attribute("x", [7, 3, 5]), [7, 3, 5]),
        (pk.Attribute("x", [True, False]), [1, 0]),
    ],
)
def test_which_number_stands_for_a_value(attribute, numbers):
    np.testing.assert_array_equal(representative(attribute), numbers)


def test_dates_stand_for_no_number_unless_said():
    attribute = pk.Attribute.binned("born", edges=[dt.date(1990, 1, 1), dt.date(2000, 1, 1), dt.date(2010, 1, 1)])
    with pytest.raises(pk.InputError, match="'born' is of type date"):
        representative(attribute)
    labels = list(attribute.labels())
    np.testing.assert_array_equal(representative(attribute, {labels[0]: 1995, labels[1]: 2005}), [1995, 2005])


def test_unsorted_lists_are_sorted_for_quantiles():
    schema = pk.Schema([pk.Attribute("x", [7, 3, 5])])
    rows = People.__new__(People)
    rows.x = np.array([7] * 2 + [3] * 5 + [5] * 3)
    table = rows.table("x", schema=schema)
    assert [table.quantile("x", q).value for q in (0.4, 0.5, 0.51, 0.8, 0.81)] == [3, 3, 5, 5, 7]
