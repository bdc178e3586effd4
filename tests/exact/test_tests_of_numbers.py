"""Tests of numbers agree with their intervals; families, formats, powers and logarithms."""

import math

import numpy as np
import polars as pl
import pytest
from dense import unit_of
from raw_people import People
from scipy import stats
from small_tables import MATRIX, THREE, TWO, drawn, reconstruct

import pkanon as pk
from pkanon._blocks import Retention

LEVELS = (0.8, 0.95, 0.999)


def numbers(table):
    """Numbers of every kind: counts, shares, sums, ratios, differences."""
    yield table.linear([[1, 0, 0], [0, 0, 0]])
    yield table.linear([[1, 1, 1], [0, 0, 0]])
    yield table.linear([[1, 0, 0], [0, 0, 0]]) / table.linear([[1, 1, 1], [0, 0, 0]])
    yield table.linear([[1, 2, 0], [0, -3, 0]])
    yield (table.linear([[1, 0, 0], [0, 0, 0]]) / table.linear([[0, 1, 0], [0, 0, 0]])).on("log")
    yield table.linear([[1, 0, 0], [0, 0, 0]]) / table.linear([[0, 1, 0], [0, 0, 0]]) - 1
    yield (table.linear([[1, 2, 0], [0, -3, 0]]) / 1e4).within(-1, 1).on("atanh")


@pytest.mark.parametrize("rows", [12, 400])
@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("method", ["inverse", "simplex"])
def test_a_value_is_rejected_where_it_lies_outside_the_interval(rows, about, method, seed):
    """For sparse and dense tables, by every method; in sparse ones at 95%, else at every level."""
    table = drawn((TWO, THREE), ("a", "b"), rows, seed, about=about, method=method)
    checked = 0
    for number in numbers(table):
        if not math.isfinite(number.standard_error) or (number.scale == "log" and number.unbiased <= 0):
            continue
        for level in LEVELS if rows > 100 else (0.95,):
            low, high = number.interval(level)
            width = max(high - low, 1e-6)
            for limit, sign in ((low, -1), (high, 1)):
                if number.scale != "log" or limit - 1e-4 * width > 0:
                    inside, outside = (number.test(limit + sign * step * width) for step in (-1e-4, 1e-4))
                    if limit in number.bounds:
                        continue
                    assert inside.p_value >= 1 - level - 1e-7
                    assert outside.p_value <= 1 - level + 1e-7
                    assert outside.rejected(level - 1e-6)
                    checked += 1
    assert checked > 4


def test_where_intervals_are_normal_it_is_the_z_test(seed):
    table = drawn((TWO, THREE), ("a", "b"), 2000, seed)
    number = table.linear([[1, 2, 0], [0, -3, 0]])
    test = number.test(number.value + 2.5 * number.standard_error)
    assert test.statistic == pytest.approx(-2.5)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(2.5))
    assert number.test(number.value - 50 * number.standard_error).p_value == pytest.approx(
        2 * stats.norm.sf(50), abs=1e-300
    )
    odds = table.linear([[1, 0, 0], [0, 0, 0]]) * table.linear([[0, 0, 0], [0, 0, 1]])
    odds = (odds / (table.linear([[0, 0, 1], [0, 0, 0]]) * table.linear([[0, 0, 0], [1, 0, 0]]))).on("log")
    assert odds.flag() is None
    assert odds.test().null == 1
    assert odds.test().statistic == pytest.approx(math.log(odds.value) / (odds.standard_error / odds.value))


def test_a_ratio_is_1_if_the_difference_is_zero(seed):
    """A ratio may be r if and only if its top less r times its bottom may be zero."""
    table = drawn((TWO, THREE), ("a", "b"), 2000, seed)
    above, below = table.linear([[1, 0, 0], [0, 0, 0]]), table.linear([[0, 1, 0], [0, 0, 0]])
    for ratio in (above / below, (above / below).on("log")):
        for null in (ratio.value * 0.9, ratio.value * 1.2):
            assert ratio.test(null).statistic == pytest.approx((above - null * below).test().statistic, rel=1e-6)
    assert (above / below).on("log").test().null == 1
    with pytest.raises(pk.InputError, match="ratio is above zero"):
        ratio.test(0)


def test_what_is_certain_and_what_has_no_value():
    kept = (Retention(unit_of(2), 0, 32),)
    table = reconstruct(kept, [(0,)] * 3 + [(1,)], ("a",))
    certain = table.linear([1, 0])
    assert certain.test(3).p_value == 1
    assert certain.test(2).p_value == 0
    nothing = certain / (certain - 3)
    assert math.isnan(nothing.test().p_value)
    assert "nothing can be tested" in nothing.test().sentence
    assert "differs from 2: z = inf, p < 1e-15" in certain.test(2).sentence
    assert "<p>" in certain.test(2)._repr_html_()


def test_powers_and_logarithms_have_the_slopes_of_calculus(seed):
    table = drawn((TWO, THREE), ("a", "b"), 500, seed)
    x = table.linear([[1, 1, 1], [0, 0, 0]])
    same = [
        (x**2, x * x),
        (x**-1, 1 / x),
        (x**0.5, x.sqrt()),
        (x.log().exp(), x),
        ((2 * x.log()).exp(), x**2),
        (x**1, x),
    ]
    for one, two in same:
        assert one.value == pytest.approx(two.value)
        assert one.standard_error == pytest.approx(two.standard_error)
    assert x.log().standard_error == pytest.approx(x.standard_error / x.value)
    assert x.exp().scale == "log"
    assert math.isnan((-x).log().value)
    assert math.isnan(((-x) ** 0.5).value)
    assert ((-x) ** 2).value == pytest.approx(x.value**2)
    with pytest.raises(pk.InputError, match="exponent"):
        x**x


def test_numbers_are_written_with_their_errors(seed):
    table = drawn((TWO, THREE), ("a", "b"), 5000, seed)
    x = table.linear([[1, 1, 1], [0, 0, 0]])
    assert f"{x:.1f}" == f"{x.value:.1f} ± {x.standard_error:.1f}"
    assert f"{x / 5000:.1%}" == f"{x.value / 5000:.1%} ± {x.standard_error / 5000:.1%}"
    assert f"{x}" == str(x)
    assert repr(x) == f"<Quantity {x}>"
    whole, tenths, hundreds = round(x), round(x, 1), round(x, -2)
    assert (whole.value, tenths.value, hundreds.value) == (round(x.value), round(x.value, 1), round(x.value, -2))
    assert str(whole) == f"{x.value:,.0f} ± {x.standard_error:,.0f}"
    assert str(tenths) == f"{x.value:,.1f} ± {x.standard_error:,.1f}"
    assert whole.interval() == x.interval()
    assert (whole * 2).value == pytest.approx(2 * x.value)  # calculations go on with all digits
    assert "± " in whole._repr_html_()
    measure = pk.Measure(0.2, 0.05)
    assert repr(measure) == "<Measure 0.2 ± 0.05>"


class TestQuantiles:
    @pytest.fixture
    def table(self, seed):
        schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.binned("age", start=0, stop=90, width=10)])
        blocks = tuple(Retention(unit, 2**32 // (4 * size), 32) for unit, size in zip(schema.units, (2, 9)))
        draw = np.random.default_rng(seed)
        sex = draw.integers(0, 2, 4000)
        age = np.clip(draw.normal(4 + sex, 1.5, 4000), 0, 8.99).astype(int)
        return pk.Estimate.of(
            schema, blocks, {"sex": sex.astype(np.uint8), "age": age.astype(np.uint8)}, ("sex", "age")
        )

    def test_a_difference_is_between_its_extremes_and_agrees_with_its_test(self, table):
        women, men = (table.quantile("age", 0.5, {"sex": sex}) for sex in "FM")
        difference = men - women
        assert difference.value == men.value - women.value
        low, high = difference.interval()
        sides = [(q.value - q.interval()[0], q.interval()[1] - q.value) for q in (men, women)]
        assert difference.value - low <= sides[0][0] + sides[1][1]  # no correlation makes it wider than both together
        assert high - difference.value >= abs(sides[0][1] - sides[1][0])
        for level in LEVELS:
            for limit, sign in zip(difference.interval(level), (-1, 1)):
                assert difference.test(limit + sign * 1e-3).p_value <= 1 - level + 1e-6
                assert difference.test(limit - sign * 1e-3).p_value >= 1 - level - 1e-6
        assert "95%:" in repr(difference)
        assert f"{difference:.1f}".startswith(f"{difference.value:.1f} (95%: ")
        assert (men - men).interval() == pytest.approx((0, 0), abs=0.1)  # the same number, its limits not symmetric

    def test_it_takes_quantiles_only(self, table):
        with pytest.raises(pk.InputError, match="another one"):
            table.quantile("age", 0.5) - 3

    def test_of_two_releases_they_are_put_together_first(self, table, seed):
        other = pk.Estimate.of(
            table.source.schema,
            table.source.blocks,
            {name: column[:3000] for name, column in table.source.codes.items()},
            ("age",),
        )
        first, second = table.quantile("age", 0.5), other.quantile("age", 0.5)
        with pytest.raises(pk.InputError, match="different releases"):
            first - second
        one, two = pk.together(first, second, people="disjoint")
        low, _ = (one - two).interval()
        reach = math.hypot(first.value - first.interval()[0], second.interval()[1] - second.value)
        assert low == pytest.approx(first.value - second.value - reach)
        with pytest.raises(pk.InputError, match="not pooled"):
            pk.pool([first, second], people="disjoint")


class TestFamilies:
    @pytest.fixture
    def table(self, seed):
        return drawn((TWO, MATRIX), ("e", "a"), 800, seed)

    def test_holm_and_bonferroni(self, table):
        found = [table.linear(np.eye(6)[i].reshape(3, 2)) for i in range(6)]
        holm, bonferroni = (pk.family(found, null=130, method=method) for method in ("holm", "bonferroni"))
        p = np.array([number.test(130).p_value for number in found])
        assert bonferroni.adjusted == pytest.approx(np.minimum(6 * p, 1))
        order, running = np.argsort(p), 0.0
        for step, place in enumerate(order):  # the textbook's loop
            running = max(running, min((6 - step) * p[place], 1))
            assert holm.adjusted[place] == pytest.approx(running)
        assert sum(holm.rejected) >= sum(bonferroni.rejected)
        for number, limits, rejected in zip(found, bonferroni.intervals, bonferroni.rejected):
            assert limits == number.interval(1 - 0.05 / 6)
            assert rejected == (not limits[0] <= 130 <= limits[1])
        frame = holm.to_polars()
        assert frame["adjusted_p_value"].to_list() == pytest.approx(list(holm.adjusted))
        assert holm.to_json()["numbers"][2]["null"] == 130
        assert "adjusted by Holm" in str(holm)
        assert "<table" in holm._repr_html_()
        assert isinstance(pl.read_csv(holm.to_bytes("csv")), pl.DataFrame)

    def test_one_number_is_not_adjusted(self, table):
        number = table.linear(np.eye(6)[0].reshape(3, 2))
        single = pk.family({"first": number})
        assert single.adjusted == (number.test().p_value,)
        assert single.intervals == (number.interval(),)
        assert "nothing is adjusted" in str(single)

    def test_trends_and_odds_ratios_bring_their_tests(self, seed):
        table = People(seed).table("age", "sex", "smokes")
        trend = table.trend({"smokes": True}, "age")
        ratio = table.mantel_haenszel({"sex": "F"}, {"smokes": True}, "age")
        found = pk.family({"trend": trend, "ratio": ratio})
        assert found.tests == (trend.test, ratio.test)
        with pytest.raises(pk.InputError, match="test of its own"):
            pk.family([trend], null=0)

    def test_refusals(self, table):
        number = table.linear(np.eye(6)[0].reshape(3, 2))
        with pytest.raises(pk.InputError, match="at least one"):
            pk.family([])
        with pytest.raises(pk.InputError, match="'holm' or 'bonferroni'"):
            pk.family([number], method="sidak")
        with pytest.raises(pk.InputError, match="but a float"):
            pk.family([number, 3.0])
        with pytest.raises(pk.InputError, match="has no value"):
            pk.family({"gone": (-(number * number)).log()})
        with pytest.raises(pk.InputError, match="confidence level"):
            pk.family([number], level=95)
