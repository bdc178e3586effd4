"""Do statistics on top of a table say what numpy, scipy and the textbooks say?

Plans that keep every value leave nothing to estimate: values must equal those of the raw rows, and
standard errors about the population those of simple random sampling. One formula is behind all of them,
with n - 1 where textbooks have n or n - 1: a mean has s / sqrt(n), s with n - 1, and everything else is
scaled alike. What randomisation does to errors is tested in test_reconstruction.py and in
tests/statistical.
"""

import datetime as dt
import math
from functools import cached_property

import numpy as np
import polars as pl
import pytest
from blocks import BLOCKS
from dense import declared_words, unit_of
from scipy import stats

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._estimate.statistics import representative
from pkanon._estimate.statistics.association import _Pair
from pkanon._schema import Unit, code_dtype

ROWS = 600
CLOSE = 1e-9
"""Differences of sums of 600 terms: 600 * 1e-16 times a few."""

SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("smokes", [True, False], missing="value"),
        pk.Attribute.binned("age", start=0, stop=80, width=20, open="high"),
        pk.Attribute("income", [1.0, 2.5, 7.0], other=-9.0),
        pk.Attribute.ranged("score", -2, 6, missing="value"),
        pk.Attribute("town", ["Ulm", "Bonn", "Kiel"], other="elsewhere"),
    ]
)


class People:
    """Raw rows drawn once, as Python values; None is missing."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed)
        sex = draw.choice(2, ROWS, p=[0.45, 0.55])
        self.sex = np.array(["F", "M"])[sex]
        says = draw.random(ROWS) < 0.6 - 0.3 * sex
        self.smokes = np.where(draw.random(ROWS) < 0.1, None, says)
        self.age = draw.integers(0, 100, ROWS)
        self.income = draw.choice([1.0, 2.5, 7.0, 55.5], ROWS, p=[0.4, 0.3, 0.2, 0.1])  # 55.5 is not listed
        score = np.clip(np.rint(draw.normal(1.5 + sex + self.age / 40, 1.5, ROWS)), -2, 6).astype(int)
        self.score = np.where(draw.random(ROWS) < 0.15, None, score)
        self.town = draw.choice(["Ulm", "Bonn", "Kiel", "Trier", "Mainz"], ROWS, p=[0.3, 0.3, 0.2, 0.1, 0.1])

    @cached_property
    def scored(self):
        return np.array([score is not None for score in self.score])

    def table(self, *names, about="population", schema=SCHEMA, **more):
        blocks = tuple(Retention(Unit((a.name,), (a.size,)), 0, 32) for a in schema.attributes)
        codes = {
            a.name: np.array([a.code(value) for value in getattr(self, a.name).tolist()], code_dtype(a.size))
            for a in schema.attributes
            if a.name in names
        }
        return pk.Estimate.of(schema, blocks, codes, names, about=about, **more)


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


def inflated(variance, rows=ROWS):
    """The formula divides by n - 1 where a delta-method textbook divides by n."""
    return math.sqrt(variance * rows / (rows - 1))


# --- counts and what is made of two of them ---------------------------------------------------------------------------


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


# --- numbers ---------------------------------------------------------------------------------------------------------------


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
        # (people up to an edge) - q (all people) is a sum of 1 - q and -q; where it can be zero the edge stays
        below = np.array([np.minimum(people.age // 20, 4) < edge for edge in range(6)])
        lead, reach = below.sum(1) - q * ROWS, stats.norm.ppf(0.975) * np.sqrt(ROWS * below.var(axis=1, ddof=1))
        low = np.interp(0, np.maximum.accumulate(lead + reach), edges)
        high = np.interp(0, np.minimum.accumulate((lead - reach)[::-1])[::-1], edges)
        assert got.interval() == pytest.approx([low, high])
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


# --- association -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"), [("sex", "score"), ("town", "age"), ("smokes", "sex"), ("income", "town")]
)
@pytest.mark.parametrize("about", ["table", "population"])
def test_without_randomisation_it_is_pearsons_test(people, first, second, about):
    table = people.table(first, second, about=about)
    got = table.association()
    statistic, p_value, freedom, _ = stats.chi2_contingency(table.counts, correction=False)
    assert got.attributes == (first, second)
    assert got.chi_square == pytest.approx(statistic, rel=1e-9)
    assert got.degrees_of_freedom == pytest.approx(freedom, rel=1e-9)
    assert got.p_value == pytest.approx(p_value, rel=1e-7)
    # Bergsma: the expectation of phi^2 under independence taken off, (I-1)(J-1)/n
    smaller = min(table.counts.shape) - 1
    phi2 = statistic / ROWS
    assert got.cramers_v.value == pytest.approx(math.sqrt(max(phi2 - freedom / ROWS, 0) / smaller), abs=1e-9)
    assert got.cramers_v.standard_error > 0
    low, high = got.cramers_v.interval()
    assert 0 <= low <= got.cramers_v.value <= high
    p = table.counts / ROWS
    seen = stats.entropy(p.ravel(), np.outer(p.sum(1), p.sum(0)).ravel())
    information = got.mutual_information
    # its bias is about (I-1)(J-1)/(2n) (Miller and Madow); 200 repetitions show it to within 4 errors of their mean
    slack = 4 * information.standard_error / math.sqrt(200) + 0.2 * freedom / (2 * ROWS)
    assert information.value == pytest.approx(max(seen - freedom / (2 * ROWS), 0), abs=slack)
    assert table.association() == got  # the same every time


def test_a_perfect_association_has_cramers_v_of_one():
    schema = pk.Schema([pk.Attribute("x", [1, 2, 3]), pk.Attribute("y", [1, 2, 3])])
    rows = People.__new__(People)
    rows.x = rows.y = np.repeat([1, 2, 3], 200)
    got = rows.table("x", "y", schema=schema).association()
    assert got.chi_square == pytest.approx(1200)  # n (min(I, J) - 1)
    assert got.cramers_v.value == pytest.approx(math.sqrt((2 - 4 / 600) / 2))
    assert got.mutual_information.value == pytest.approx(math.log(3), abs=0.01)
    assert got.p_value < 1e-200


def test_values_that_nobody_has_are_left_out_of_the_test():
    schema = pk.Schema([pk.Attribute("x", [1, 2, 3]), pk.Attribute("y", [1, 2, 3, 4])])
    rows = People.__new__(People)
    rows.x, rows.y = np.repeat([1, 3], 50), np.tile([1, 2, 2, 4, 4], 20)
    table = rows.table("x", "y", schema=schema)
    statistic, p_value, freedom, _ = stats.chi2_contingency(table.counts[[0, 2]][:, [0, 1, 3]], correction=False)
    got = table.association()
    assert (got.chi_square, got.degrees_of_freedom) == pytest.approx((statistic, freedom), abs=1e-9)
    assert got.p_value == pytest.approx(p_value)


def test_an_attribute_with_one_value_in_use_has_no_association():
    """Nothing can be tested: say so, do not divide by zero."""
    schema = pk.Schema([pk.Attribute("x", [1, 2]), pk.Attribute("y", [1, 2])])
    rows = People.__new__(People)
    rows.x, rows.y = np.ones(50, int), np.tile([1, 2], 25)
    table = rows.table("x", "y", schema=schema)
    with pytest.raises(pk.InputError):
        table.association()


def test_associations_that_cannot_be_computed_are_refused(people):
    with pytest.raises(pk.InputError, match="between two attributes; the table has 3"):
        people.table("sex", "age", "town").association()
    with pytest.raises(pk.InputError, match="leave out the weights"):
        people.table("sex", "age", weights=np.ones(ROWS)).association()
    wide = pk.Schema([pk.Attribute.ranged("x", 1, 70), pk.Attribute.ranged("y", 1, 60)])
    rows = People.__new__(People)
    rows.x, rows.y = np.ones(5, int), np.ones(5, int)
    with pytest.raises(pk.InputError, match="4,200 cells"):
        rows.table("x", "y", schema=wide).association()
    rows.x, rows.y = np.ones(1, int), np.ones(1, int)
    small = pk.Schema([pk.Attribute.ranged("x", 1, 2), pk.Attribute.ranged("y", 1, 2)])
    with pytest.raises(pk.InputError, match="at least two rows"):
        rows.table("x", "y", schema=small).association()


def test_the_covariance_of_a_matrix_on_a_bundle_with_forbidden_combinations(seed):
    """Rows (a, b, e): b is not asked for, but the matrix of (a, b) must be inverted whole; 2 of 6 pairs cannot be."""
    blocks = (BLOCKS["matrix on a bundle, forbidden"], Retention(unit_of(3, names="e"), 2**29, 32))
    words = [np.array(declared_words(block), float) for block in blocks]
    a = np.kron(*(w / w.sum(1, keepdims=True) for w in words))
    pairs = list(zip(*blocks[0].unit.split(np.arange(4, dtype=np.uint32))))
    records = np.array([(*pair, e) for pair in pairs for e in range(3)], int)  # in the order of a
    draw = np.random.default_rng(seed)
    rows = records[draw.choice(len(records), 400, p=draw.dirichlet(np.full(len(records), 5.0)))]
    schema = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in zip("abe", (2, 3, 3))])
    codes = {name: column.astype(np.uint8) for name, column in zip("abe", rows.T)}
    table = pk.Estimate.of(schema, blocks, codes, ("a", "e"))
    pair = _Pair.of(table)
    assert table.channel.extra
    p = table.counts / 400
    assert (p.sum(0) > 0).all()  # so the marginals are those of the estimate itself
    assert (p.sum(1) > 0).all()
    expected = np.outer(p.sum(1), p.sum(0))
    np.testing.assert_allclose(pair.d, ((p - expected) / np.sqrt(expected)).ravel(), atol=1e-12)

    # people under independence: evenly over the b that are possible with each a
    possible = np.bincount(records[:, 0]) / 3
    q = np.array([expected[i, e] / possible[i] for i, _, e in records])
    assert q.sum() == pytest.approx(1)

    # the slopes of d with respect to shares of records, by central differences
    def d(shares):
        cells = np.zeros((2, 3))
        np.add.at(cells, (records[:, 0], records[:, 2]), shares)
        return ((cells - np.outer(cells.sum(1), cells.sum(0))) / np.sqrt(expected)).ravel()

    slopes = np.array([(d(q + h) - d(q - h)) / 2e-4 for h in 1e-4 * np.eye(len(q))]).T
    released = a.T @ q
    # of n released rows, each v with chance released[v]; the estimate of q is B^T y / n
    carried = slopes @ np.linalg.inv(a).T
    dense = (carried * released) @ carried.T - np.outer(carried @ released, carried @ released)
    np.testing.assert_allclose(pair.covariance, dense / 400, atol=1e-9)
    freedom = table.association().degrees_of_freedom
    assert freedom == 2


@pytest.mark.parametrize("seed_of_rows", range(4))
def test_strengths_stay_where_they_can_be(seed_of_rows):
    """With much noise: correlations in [-1, 1], Cramer's V and its limits in [0, 1], limits of deviations above 0."""
    schema = pk.Schema([pk.Attribute.ranged(name, 1, 3) for name in "xyz"])
    blocks = tuple(Retention(unit, 2**32 * 11 // 36, 32) for unit in schema.units)  # rho = 1/12
    draw = np.random.default_rng(seed_of_rows)
    x = draw.integers(1, 4, 3000)
    rows = pl.DataFrame({"x": x, "y": x, "z": draw.integers(1, 4, 3000)})
    release = pk.release(rows, pk.Plan(schema, blocks, 3000), randomness=pk.Seeded(seed_of_rows))
    for method in ("inverse", "em"):
        table = release.crosstab("x", "y", method=method)
        found = table.correlation("x", "y")
        low, high = found.interval()
        if math.isfinite(found.unbiased):
            assert -1 <= low <= found.value <= high <= 1
        else:  # an estimated variance below zero
            assert math.isnan(found.standard_error)
            assert math.isnan(low)
            assert math.isnan(high)
        deviation = table.deviation("x")
        if math.isfinite(deviation.value) and math.isfinite(deviation.unbiased):
            assert 0 < deviation.interval()[0] <= deviation.value + 1e-9
    for pair in (("x", "y"), ("x", "z")):
        for level in (0.5, 0.95, 0.999):
            low, high = release.crosstab(*pair).association().cramers_v.interval(level)
            assert 0 <= low <= high <= 1


def test_a_correlation_beyond_one_is_moved_to_it():
    """Where the estimated covariance is larger than both estimated variances allow."""
    schema = pk.Schema([pk.Attribute("x", [0, 1]), pk.Attribute("y", [0, 1])])
    blocks = tuple(Retention(unit, 2**30, 32) for unit in schema.units)  # rho = 1/2
    codes = {name: np.repeat([0, 1], 50).astype(np.uint8) for name in "xy"}
    table = pk.Estimate.of(schema, blocks, codes, ("x", "y"))
    assert table.counts == pytest.approx(np.array([[125, -75], [-75, 125]]))  # rho^2 = 1/4: 25 + 4 * 25, 25 - 4 * 25
    found = table.correlation("x", "y")
    assert found.unbiased == pytest.approx(4)
    assert (found.value, found.bounds) == (1, (-1, 1))
    assert -1 <= found.interval()[0] <= found.interval()[1] == 1
    codes["y"] = 1 - codes["y"]
    turned = pk.Estimate.of(schema, blocks, codes, ("x", "y")).correlation("x", "y")
    assert (turned.unbiased, turned.value, turned.interval()[0]) == (pytest.approx(-4), -1, -1)


def kept(rows, schema, **more):
    """A release in which every answer is kept."""
    blocks = tuple(Retention(unit, 0, 32) for unit in schema.units)
    return pk.release(rows, pk.Plan(schema, blocks, rows.height), randomness=pk.Seeded(1), **more)


def test_a_pair_of_which_nothing_can_be_said_leaves_the_others_alone():
    schema = pk.Schema([pk.Attribute("x", ["p", "q"]), pk.Attribute("y", ["p", "q"]), pk.Attribute("z", ["p", "q"])])
    rows = pl.DataFrame({"x": ["p", "q"] * 50, "y": ["p"] * 100, "z": ["p"] * 40 + ["q"] * 60})
    found = kept(rows, schema).correlations()
    frame = found.to_polars()
    assert frame.select("first", "second").rows() == [("x", "y"), ("x", "z"), ("y", "z")]
    assert frame["value"].is_null().to_list() == [True, False, True]
    for column in ("std_error", "low_95", "high_95"):
        assert (frame[column].is_null() == frame["value"].is_null()).all()
    assert found.matrix()[0] == [1.0, None, frame["value"][1]]
    assert found.to_json()["pairs"][0]["value"] is None
    found.chart().to_dict()


# --- descriptions ----------------------------------------------------------------------------------------------------------------


NAMED = pk.Schema(
    [
        pk.Attribute("value", ["p", "q"]),
        pk.Attribute("flag", [True, False]),
        pk.Attribute.ranged("score", 1, 5),
        pk.Attribute("weight", role="pass", type="number"),
    ]
)


@pytest.fixture(scope="module")
def named(seed):
    draw = np.random.default_rng(seed)
    rows = pl.DataFrame(
        {
            "value": draw.choice(["p", "q"], 300),
            "flag": draw.random(300) < 0.5,
            "score": draw.integers(1, 6, 300),
            "weight": draw.uniform(0.5, 3, 300),
        }
    )
    return kept(rows, NAMED, allow_pass=True)


def test_descriptions_say_what_tables_say(named):
    found = named.describe("score", by="value", about="population", level=0.9)
    assert (found.by, found.method, found.about, found.level) == (("value_",), "inverse", "population", 0.9)
    assert "300 released rows" in found.caption
    assert "90% intervals" in found.caption
    frame = found.to_polars()
    assert frame.columns == ["value_", "attribute", "statistic", "value", "std_error", "low_90", "high_90", "flag"]
    assert frame.height == 2 * 8
    assert frame.equals(named.describe("score", by=["value"], about="population", level=0.9).to_polars())
    table = named.crosstab("score", "value", about="population")
    for group in "pq":
        where = {"value": group}
        rows = {row["statistic"]: row for row in frame.filter(pl.col("value_") == group).to_dicts()}
        for statistic, wanted in {
            "mean": table.mean("score", where),
            "deviation": table.deviation("score", where),
            "sum": table.sum("score", where),
            "quantile_0.25": table.quantile("score", 0.25, where),
        }.items():
            row = rows[statistic]
            assert (row["value"], row["std_error"]) == pytest.approx((wanted.value, wanted.standard_error))
            assert (row["low_90"], row["high_90"]) == pytest.approx(wanted.interval(0.9))
    assert frame["flag"].null_count() == frame.height


def test_names_that_results_use_get_an_underscore(named):
    described = named.describe(by=["value", "flag"])
    assert described.by == ("value_", "flag_")
    assert described.to_polars()["attribute"].unique().to_list() == ["score"]  # flag is numeric, but a group here
    assert described.to_json()["by"] == ["value_", "flag_"]
    assert named.crosstab("flag", "value").to_polars().columns[:3] == ["flag_", "value", "estimate"]
    with pytest.raises(pk.InputError, match="'score' cannot be described by itself"):
        named.describe("score", by="score")


def test_described_weights(named):
    frame, weights = named.table, named.table["weight"].to_numpy()
    found = named.describe("score", by="value", weights="weight").to_polars()
    assert "weighted counts" in named.describe("score", weights="weight").caption
    for group in "pq":
        inside = (frame["value"] == group).to_numpy()
        rows = found.filter((pl.col("value_") == group) & pl.col("statistic").is_in(["mean", "sum"]))["value"].to_list()
        score = frame["score"].to_numpy()
        assert rows == pytest.approx(
            [np.average(score[inside], weights=weights[inside]), (score * weights)[inside].sum()]
        )
    with pytest.raises(pk.InputError, match="Weights must be a column that was passed"):
        named.describe("score", weights="value")


def test_small_groups_are_flagged_in_descriptions(seed):
    """Fewer people than four standard errors of their number."""
    schema = pk.Schema([pk.Attribute("group", ["few", "many"]), pk.Attribute.ranged("score", 1, 5)])
    blocks = tuple(Retention(unit, 2**31 // unit.size, 32) for unit in schema.units)  # rho = 1/2
    draw = np.random.default_rng(seed)
    flags = set()
    for few in (0, 40, 150, 2000):
        rows = pl.DataFrame(
            {"group": ["few"] * few + ["many"] * (4000 - few), "score": draw.integers(1, 6, 4000)},
        )
        release = pk.release(rows, pk.Plan(schema, blocks, 4000), randomness=pk.Seeded(few))
        frame = release.describe("score", by="group").to_polars()
        for group in ("few", "many"):
            people = release.crosstab("score", "group").count(group=group)
            wanted = "small group" if people.value < 4 * people.standard_error else None
            assert set(frame.filter(pl.col("group") == group)["flag"].to_list()) == {wanted}
            flags.add((group, few, wanted))
    assert ("few", 0, "small group") in flags
    assert ("few", 2000, None) in flags
    assert not any(group == "many" and flag for group, _, flag in flags)


# --- survey weights ------------------------------------------------------------------------------------------------------------


def test_weighted_means_and_shares(people, seed):
    weights = np.random.default_rng(seed).gamma(2.0, 3.0, ROWS)
    table = people.table("sex", "income", weights=weights)
    f = people.sex == "F"
    assert table.count(sex="F").value == pytest.approx(weights[f].sum())
    p = weights[f].sum() / weights.sum()
    share = table.proportion({"sex": "F"})
    assert share.value == pytest.approx(p)
    # the ratio estimator of survey sampling with replacement: sum w^2 (z - p)^2 / (sum w)^2 n/(n-1)
    assert share.standard_error == pytest.approx(inflated((weights**2 * (f - p) ** 2).sum() / weights.sum() ** 2))
    listed = people.income < 10
    assert table.mean("income").value == pytest.approx(np.average(people.income[listed], weights=weights[listed]))
    exactly = people.table("sex", "income", weights=weights, about="table")
    assert exactly.count(sex="F").standard_error == 0


def test_wrong_weights_are_refused_where_they_come_in():
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            *(pk.Attribute(n, role="pass", type="number") for n in ("w", "hole", "below", "nought")),
        ]
    )
    plan = pk.plan(schema, records=4, epsilon=1)
    rows = pl.DataFrame(
        {
            "sex": ["F", "M", "M", "F"],
            "w": [1.0, 2.0, 0.5, 0.0],
            "hole": [1.0, None, 1.0, 1.0],
            "below": [1.0, -1.0, 1.0, 1.0],
            "nought": [0.0] * 4,
        }
    )
    release = pk.release(rows, plan, randomness=pk.Seeded(1), allow_pass=True)
    assert release.crosstab("sex", weights="w").counts.sum() == pytest.approx(3.5)
    for name in ("hole", "below", "nought"):
        with pytest.raises(pk.DataError, match=f"Column '{name}' cannot be weights"):
            release.crosstab("sex", weights=name)
    with pytest.raises(pk.InputError, match="'sex' is randomised"):
        release.crosstab("sex", weights="sex")
    with pytest.raises(pk.InputError, match=r"'v' is not in the release\. Passed columns: w, hole"):
        release.crosstab("sex", weights="v")


def test_a_release_without_rows_has_no_statistics_but_no_crash_either():
    """A table without rows is refused, but with a hidden record count none may be left."""
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("score", 1, 3)])
    rows = People.__new__(People)
    rows.sex = rows.score = np.array([])
    for method in ("inverse", "simplex", "em"):
        for about in ("table", "population"):
            table = rows.table("sex", "score", schema=schema, method=method, about=about)
            assert (table.count(sex="F").value, table.count(sex="F").standard_error) == (0, 0)
            for undefined in (
                table.proportion({"sex": "F"}),
                table.mean("score"),
                table.deviation("score"),
                table.odds_ratio({"sex": "F"}, {"score": 1}),
                table.quantile("score", 0.5),
                table.correlation("score", "score"),
            ):
                assert math.isnan(undefined.value)
                assert all(map(math.isnan, undefined.interval()))
            with pytest.raises(pk.InputError, match="at least two rows"):
                table.association()
            frame = table.to_polars(given=["sex"])
            assert len(frame) == 6
            assert frame["estimate"].sum() == 0
            assert frame["proportion"].null_count() == 6
