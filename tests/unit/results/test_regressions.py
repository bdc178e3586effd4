"""What a regression says: its numbers in every form, its remarks, and the sentences in which it refuses."""

import functools
import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._estimate.regression.fitting import LEAST, SURE, WEAK, Fitted

ROWS = 4_000


@functools.cache
def release(rho=0.7):
    """People whose hours rise with their age; a share ``rho`` of all answers is kept."""
    draw = np.random.default_rng(4)
    sex, age = draw.integers(0, 2, ROWS), draw.integers(0, 80, ROWS)
    hours = np.clip(2 + sex + age / 40 + draw.choice([-1, 0, 1], ROWS), 0, 7).round().astype(int)
    table = {
        "sex": np.array(["F", "M"])[sex],
        "age": age,
        "hours": [None if gone else int(h) for gone, h in zip(draw.random(ROWS) < 0.05, hours)],
        "town": np.where(draw.random(ROWS) < 0.01, "Ulm", "Bonn"),
        "pay": draw.integers(0, 11, ROWS),
        "weight": draw.choice([1.0, 2.0], ROWS),
    }
    schema = pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            pk.Attribute.binned("age", edges=[0, 20, 40, 60, 80]),
            pk.Attribute.ranged("hours", 0, 7, missing="value"),
            pk.Attribute("town", ["Bonn", "Ulm"]),
            pk.Attribute.pointed("pay", [0, 5, 10]),
            pk.Attribute("weight", role="pass", type="number"),
        ]
    )
    blocks = [pk.Retention(unit, replace=round((1 - rho) * 2**32 / unit.size)) for unit in schema.units]
    plan = pk.Plan(schema, blocks, records=ROWS)
    return pk.release(pl.DataFrame(table, strict=False), plan, randomness=pk.Seeded(9), allow_pass=True)


def test_the_summary_is_laid_out_as_statsmodels_does():
    fit = release().regress("hours ~ sex * age", level=0.9)
    lines = str(fit).splitlines()
    assert lines[0].strip() == "Linear regression, corrected for the randomisation"
    assert lines[1] == "=" * len(lines[1])
    assert "Response:" in lines[2]
    assert "Released rows:" in lines[2]
    assert lines[7].split() == ["coef", "std", "err", "z", "P>|z|", "[0.05", "0.95]"]
    assert [line.split()[0] for line in lines[9:13]] == ["Intercept", "sex[T.M]", "age", "sex[T.M]:age"]
    assert lines[10].split()[1] == f"{fit['sex[T.M]'].value:.4f}"
    assert "A bin counts as its middle: age." in str(fit)
    assert repr(fit) == "<Regression hours ~ sex * age: 4 coefficients, linear>"


def test_the_same_numbers_in_every_form(tmp_path):
    fit = release().regress("hours ~ sex + age", weights="weight", level=0.9)
    frame = fit.to_polars()
    assert frame.columns == ["name", "coefficient", "std_error", "low_90", "high_90", "z", "p_value", "flag"]
    assert frame["coefficient"].to_list() == [each.value for each in fit]
    assert fit.to_pandas()["std_error"].tolist() == np.sqrt(np.diag(fit.covariance)).tolist()
    data = json.loads(fit.to_bytes("json"))
    assert data["coefficients"] == frame.to_dicts()
    assert data["covariance"] == fit.covariance.tolist()
    assert (data["family"], data["about"], data["weights"], data["missing"]) == (
        "linear",
        "population",
        "weight",
        "exclude",
    )
    assert data["r_squared"]["value"] == fit.r_squared[0]
    fit.save(tmp_path / "fit.csv")
    assert pl.read_csv(tmp_path / "fit.csv")["coefficient"].to_list() == frame["coefficient"].to_list()
    html = fit._repr_html_()
    assert "sex[T.M]" in html
    assert "Robust errors about the population" in html


def test_ratios_of_odds_and_rates():
    fit = release().regress("hours ~ sex", family="poisson")
    frame = fit.to_polars()
    assert frame["ratio"].to_list() == pytest.approx([math.exp(each.value) for each in fit])
    assert frame["ratio_high_95"].to_list() == pytest.approx([math.exp(each.high) for each in fit])
    assert fit.r_squared is None


def test_sums_tests_and_means_agree_with_one_another():
    fit = release().regress("hours ~ sex * age")
    assert fit.test("sex").p_value == pytest.approx(fit["sex[T.M]"].p_value)
    assert fit.test("sex:age").names == ("sex[T.M]:age",)
    assert fit.test().degrees_of_freedom == 3
    women, men = fit.predict(sex="F", age=30), fit.predict({"sex": "M"}, age=30)
    gap = fit.linear({"sex[T.M]": 1, "sex[T.M]:age": 30})
    assert men.value - women.value == pytest.approx(gap.value)
    assert (women.low + women.high) / 2 == pytest.approx(women.value)
    assert fit.predict(sex="F", age="20-39").value == pytest.approx(fit.predict(sex="F", age=29.5).value)
    assert float(fit.linear({"age": 10})) == pytest.approx(10 * fit["age"].value)
    assert fit.linear({"age": 10}).p_value == pytest.approx(fit["age"].p_value)
    logistic = release().regress("sex[M] ~ hours", family="logistic").predict(hours=3)
    assert 0 < logistic.low < logistic.value < logistic.high < 1


def test_means_by_category_are_those_of_the_table():
    """A regression on a category alone is a table of means; errors differ in n/(n - p) only."""
    fit = release().regress("age ~ 0 + sex")
    table = release().crosstab("age", "sex", about="population")
    for sex in ("F", "M"):
        mean = table.mean("age", {"sex": sex})
        assert fit[f"sex[{sex}]"].value == pytest.approx(mean.value, rel=1e-9)
        assert fit[f"sex[{sex}]"].standard_error == pytest.approx(
            mean.standard_error * math.sqrt((ROWS - 1) / (ROWS - 2)), rel=1e-6
        )


def test_remarks_say_what_must_be_known():
    fit = release().regress("hours ~ pay + sex", about="table")
    assert any("rounded at random to points: pay" in remark for remark in fit.remarks)
    assert any("left out: hours" in remark for remark in fit.remarks)
    assert any("those about the population" in remark for remark in fit.remarks)
    assert all(remark in fit._repr_html_() for remark in fit.remarks)
    assert 0.9 * ROWS < fit.people < ROWS
    assert release().regress("sex == 'F' ~ 1").remarks == ()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"formula": "hours ~ sex", "family": "probit"}, "no family 'probit'. Available: linear, logistic, poisson"),
        ({"formula": "hours ~ sex", "about": "world"}, "not 'world'"),
        ({"formula": "hours ~ sex", "missing": "drop"}, "not 'drop'"),
        ({"formula": "hours ~ sex", "level": 95}, "Did you mean 0.95"),
        ({"formula": "hours ~ sex", "weights": "w"}, "no column 'w' of weights"),
        ({"formula": "hours ~ sex", "weights": "hours"}, "it cannot be in the formula too"),
        ({"formula": "hours ~ sex", "values": {"sox": {}}}, "no randomised attribute 'sox'"),
        ({"formula": "hours ~ sex", "family": "logistic"}, "a response that is 0 or 1"),
        ({"formula": "I(hours - 3) ~ sex", "family": "poisson"}, "has values below zero"),
        ({"formula": "hours ~ weight"}, "no randomised attribute 'weight'"),
        ({"formula": "hours ~ age + I(age * 2)"}, "The predictors determine each other: age, I\\(age \\* 2\\)"),
        ({"formula": "hours ~ age + I(age + 1)", "family": "poisson"}, "The predictors determine each other"),
    ],
)
def test_wrong_questions_are_refused(asked, sentence):
    with pytest.raises(pk.InputError, match=sentence):
        release().regress(**asked)


def test_wrong_names_of_coefficients_and_predictors():
    fit = release().regress("hours ~ sex + C(age)")
    with pytest.raises(pk.InputError, match=r"no coefficient 'sex'. Available: Intercept, sex\[T.M\]"):
        fit["sex"]
    with pytest.raises(pk.InputError, match="no coefficient 'x'"):
        fit.test("x")
    with pytest.raises(pk.InputError, match="none is given for age"):
        fit.predict(sex="F")
    with pytest.raises(pk.InputError, match="no predictor 'town'"):
        fit.predict(sex="F", age=30, town="Ulm")
    with pytest.raises(pk.InputError, match="99 is not among the values of 'age'"):
        fit.predict(sex="F", age=99)
    with pytest.raises(pk.InputError, match="nothing to test"):
        release().regress("hours ~ 1").test()


@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_what_cannot_be_known_is_refused_and_never_guessed(family):
    """1 in 100 lives in Ulm, and four in five answers are replaced: nobody can say how they differ."""
    with pytest.raises(pk.InputError, match=r"coefficients? of .*town\[T.Ulm\].* cannot be known"):
        release(0.2).regress("sex == 'F' ~ town + age", family=family)


def test_a_response_that_never_varies_in_a_group_has_no_finite_coefficient():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("ill", ["no", "yes"])])
    plan = pk.Plan(schema, [pk.Retention(unit, replace=0) for unit in schema.units], records=200)
    table = pl.DataFrame({"sex": ["F", "M"] * 100, "ill": ["no", "no", "no", "yes"] * 50})
    kept = pk.release(table, plan, randomness=pk.Seeded(1))
    with pytest.raises(pk.InputError, match="run to infinity"):
        kept.regress("ill == 'yes' ~ sex", family="logistic")


def test_more_coefficients_than_people_and_tables_that_are_too_large():
    large = pk.Schema([pk.Attribute.ranged(name, 0, 3_000) for name in "abcd"])
    plan = pk.Plan(large, [pk.Retention(unit, replace=0) for unit in large.units], records=3)
    rows = pl.DataFrame({name: [1, 2, 3] for name in "abcd"})
    few = pk.release(rows, plan, randomness=pk.Seeded(1))
    with pytest.raises(pk.InputError, match="3 coefficients need more than 3 people"):
        few.regress("a ~ b + c")
    many = pk.release(pl.concat([rows] * 9), plan, randomness=pk.Seeded(1))
    with pytest.raises(pk.InputError, match=r"table of .* would have 27,0.*cells; the limit is"):
        many.regress("a ~ b + c + d", family="poisson")
    with pytest.raises(pk.InputError, match="needs the table of a, b with 9,006,001 cells"):
        many.regress("a ~ b + I(b**2) + log(I(b + 1))")


def test_a_weak_coefficient_is_flagged_and_its_interval_is_that_of_fieller():
    """In numbers: value 1, error 0.5, a denominator of 3 standard errors that varies with the numerator."""
    fitted = Fitted(np.array([1.0]), np.array([[0.25]]), 100.0, np.array([3.0]), np.array([-0.5]), None, False)
    assert fitted.weak.all()
    z = 1.959963984540054
    for limit in (fitted.limits(0.95)[0][0], fitted.limits(0.95)[1][0]):
        d = limit - 1.0  # distance^2 = z^2 times the variance of numerator less distance times denominator
        assert d**2 == pytest.approx(z**2 * (0.25 - 2 * d * -0.5 * 0.5 / 3 + d**2 / 9))
    p = fitted.p_values[0]
    low, high = fitted.limits(1 - p)
    assert min(abs(low[0]), abs(high[0])) == pytest.approx(0, abs=1e-9)  # the test and the interval agree
    assert [limit[0] for limit in fitted.limits(0.999)] == [-math.inf, math.inf]
    sure = Fitted(np.array([1.0]), np.array([[0.25]]), 100.0, np.array([SURE]), np.array([-0.5]), None, False)
    assert sure.limits(0.95)[0][0] == pytest.approx(1 - z * 0.5)
    assert z < LEAST  # so that every 95% interval has ends


def test_a_weak_coefficient_has_its_flag_wherever_it_is_shown():
    """Also in a sum and a mean that it is part of; and nothing else has it."""
    fit = release().regress("hours ~ sex + age")
    weak = replace(fit, _fitted=replace(fit._fitted, strengths=np.array([9.0, WEAK - 1, 9.0])))
    name = weak.names[1]
    for shown in (weak[name], weak.linear({name: 2.0, "age": 1.0}), weak.predict(sex="M", age=30)):
        assert shown.flag == "weak"
        assert all("(weak)" in text for text in (str(shown), repr(shown), shown._repr_html_()))
    for shown in (weak["age"], weak.linear({"age": 1.0}), weak.predict(sex="F", age=30), *fit):
        assert shown.flag is None
        assert "weak" not in repr(shown) + shown._repr_html_()
    assert weak.to_polars()["flag"].to_list() == [None, "weak", None]
    row = next(line for line in str(weak).splitlines() if line.startswith(name))
    assert "weak" in row
    assert all(text.count("weak") == 1 for text in (weak.to_markdown(), weak.to_html(), weak.to_latex()))


def test_an_r_squared_of_which_nothing_is_known_is_flagged():
    fit = release().regress("hours ~ sex + age")
    assert fit.r_squared_flag is None
    assert "weak" not in str(fit)
    value, _ = fit.r_squared
    for found, shown, flag in (
        ((1.2, 0.9), 1.0, "weak"),  # may be anything
        ((1.2, 0.15), 1.0, None),  # cut to what it can be
        ((-0.1, 0.1), 0.0, None),
        ((1.2, 0.05), 1.0, "weak"),  # nothing of the interval is possible
        ((1 + 1e-12, 0.0), 1.0, None),  # digits lost where everything is kept
        ((value, 0.0), value, None),
    ):
        other = replace(fit, _fitted=replace(fit._fitted, r_squared=found))
        assert other.r_squared == (shown, found[1])
        assert other.r_squared_flag == other.to_json()["r_squared"]["flag"] == flag
        assert ("(weak)" in str(other)) == ("nothing is known of it" in str(other)) == (flag is not None)


def test_an_intercept_that_cannot_be_known_is_not_to_be_left_out():
    with pytest.raises(pk.InputError, match=r"of Intercept cannot be known.*C\(name, ref='label'\)"):
        release(0.36).regress("hours ~ C(town, ref='Ulm')")
