"""Counts under conditions, shares, ratios and odds: do they say what numpy and the textbooks say?

Plans that keep every value leave nothing to estimate: values must equal those of the raw rows, and
standard errors about the population those of simple random sampling. One formula is behind all of them,
with n - 1 where textbooks have n or n - 1: a mean has s / sqrt(n), s with n - 1, and everything else is
scaled alike. What randomisation does to errors is tested in test_every_release.py and in
tests/statistical.
"""

import math

import numpy as np
import polars as pl
import pytest
from raw_people import ROWS, People, inflated
from scipy import stats

import pkanon as pk

CLOSE = 1e-9
"""Differences of sums of 600 terms: 600 * 1e-16 times a few."""


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


def test_counts_under_conditions(people):
    table = people.table("sex", "age", "town", "smokes")
    cases = [
        ({}, np.ones(ROWS, bool)),
        ({"sex": "F"}, people.sex == "F"),
        ({"sex": "F", "age": "20-39"}, (people.sex == "F") & (people.age // 20 == 1)),
        ({"age": ["0-19", "80+"]}, (people.age < 20) | (people.age >= 80)),
        ({"town": "elsewhere"}, np.isin(people.town, ["Trier", "Mainz"])),
        ({"town": ("Ulm", "elsewhere")}, ~np.isin(people.town, ["Bonn", "Kiel"])),
        ({"smokes": None}, np.array([s is None for s in people.smokes])),
        (
            {"smokes": [True, None], "sex": {"M"}},
            (people.sex == "M") & np.array([s is not False for s in people.smokes]),
        ),
        ({"town": []}, np.zeros(ROWS, bool)),
    ]
    for where, chosen in cases:
        counted = table.count(where)
        assert counted.value == pytest.approx(chosen.sum(), abs=CLOSE)
        p = chosen.mean()
        assert counted.standard_error == pytest.approx(inflated(ROWS * p * (1 - p)), abs=1e-5)  # binomial
    assert table.count(sex="F", town="Ulm").value == table.count({"sex": "F"}, town="Ulm").value
    about_people = people.table("sex", "age", about="table").count(sex="F")
    assert (about_people.standard_error, *about_people.interval()) == (0, about_people.value, about_people.value)


def test_values_come_from_anything_that_holds_them(people):
    table = people.table("sex", "score", "smokes")
    for several in (np.array([1, 2]), pl.Series([1, 2]), [np.int64(1), 2], (1, 2), {1, 2}, range(1, 3)):
        if isinstance(several, range):  # not a list of values
            with pytest.raises(pk.InputError, match="is not a value of 'score'"):
                table.count(score=several)
        else:
            assert table.count(score=several).value == pytest.approx(np.isin(people.score, [1, 2]).sum())
    assert table.count(score=np.int8(3)).value == pytest.approx((people.score == 3).sum())
    assert table.count(smokes=np.array([True])).value == pytest.approx(sum(s is True for s in people.smokes))
    assert table.count(sex=np.array(["F"])).value == pytest.approx((people.sex == "F").sum())
    for wrong in ("F", ["F"], 3):
        with pytest.raises(pk.InputError, match=r'which attributes have which values: .*sex="F"'):
            table.proportion(wrong)
        with pytest.raises(pk.InputError, match="which attributes have which values"):
            table.count(wrong)
        with pytest.raises(pk.InputError, match="which attributes have which values"):
            table.count(wrong, sex="F")
    with pytest.raises(pk.InputError, match="'male' is not a value of 'sex'"):
        table.count(sex="male")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"gender": "F"}, "no attribute 'gender'. Available: sex, town, smokes"),
        ({"sez": "F"}, "Did you mean 'sex'"),
        ({"sex": "f"}, "'f' is not a value of 'sex'. Available: F, M"),
        ({"sex": None}, "'sex' has no missing values"),
        ({"town": "Trier"}, "Unlisted values are all 'elsewhere'"),
        ({"town": ["Ulm", "Bon"]}, "Did you mean 'Bonn'"),
        ({"smokes": "True"}, "is not a value of 'smokes'"),
        ({"smokes": 1}, "is not a value of 'smokes'"),
    ],
)
def test_conditions_that_cannot_be_met_are_refused(people, where, words):
    with pytest.raises(pk.InputError, match=words):
        people.table("sex", "town", "smokes").count(where)


def test_proportions_have_binomial_errors(people):
    table = people.table("sex", "town")
    f, ulm = people.sex == "F", people.town == "Ulm"
    p = ulm.mean()
    whole = table.proportion({"town": "Ulm"})
    assert whole.value == pytest.approx(p)
    assert whole.standard_error == pytest.approx(math.sqrt(p * (1 - p) / (ROWS - 1)))
    p = ulm[f].mean()
    within = table.proportion({"town": "Ulm"}, given={"sex": "F"})
    assert within.value == pytest.approx(p)
    assert within.standard_error == pytest.approx(inflated(p * (1 - p) / f.sum()))
    np.testing.assert_allclose(table.proportions(), table.counts / ROWS)
    shares = table.shares(("sex",))
    assert shares.shares[0, 0] == pytest.approx(p)
    assert shares.standard_errors[0, 0] == pytest.approx(within.standard_error)
    nobody = table.proportion({"town": "Ulm"}, given={"town": []})
    assert math.isnan(nobody.value)
    assert math.isnan(nobody.standard_error)


def test_differences_ratios_and_odds(people):
    table = people.table("sex", "town")
    f, ulm = people.sex == "F", people.town == "Ulm"
    a, b, c, d = ((x & y).sum() for x in (f, ~f) for y in (ulm, ~ulm))
    difference = table.difference({"sex": "F", "town": "Ulm"}, {"sex": "M", "town": "Ulm"})
    assert difference.value == pytest.approx(a - c)
    assert difference.standard_error == pytest.approx(inflated(a + c - (a - c) ** 2 / ROWS))  # multinomial
    ratio = table.ratio({"sex": "F", "town": "Ulm"}, {"sex": "M", "town": "Ulm"})
    assert ratio.value == pytest.approx(a / c)
    assert ratio.standard_error / ratio.value == pytest.approx(inflated(1 / a + 1 / c))
    odds = table.odds_ratio({"sex": "F"}, {"town": "Ulm"})
    assert odds.value == pytest.approx(a * d / (b * c))
    woolf = inflated(1 / a + 1 / b + 1 / c + 1 / d)
    assert odds.standard_error / odds.value == pytest.approx(woolf)
    z = stats.norm.ppf(0.975)
    assert np.log(odds.interval()) == pytest.approx(
        [math.log(odds.value) - z * woolf, math.log(odds.value) + z * woolf]
    )
    overlapping = table.ratio({"town": "Ulm"}, {"sex": "F"})  # a + c over a + b: Var log R by the delta method
    x, y = ulm.sum(), f.sum()
    assert overlapping.standard_error / overlapping.value == pytest.approx(inflated(1 / x + 1 / y - 2 * a / (x * y)))
    assert math.isnan(table.ratio({"sex": "F"}, {"town": []}).value)
