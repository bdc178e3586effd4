"""Are regressions those of statsmodels where nothing is randomised, and are their errors those of linear functions elsewhere?

Three oracles: statsmodels on rows that are kept as they are; the covariance of linear functions of the whole table, which other
tests enumerate; and every possible release of small tables.
"""

import functools
import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from dense import matrix_of, unit_of
from small_tables import CASES, counted, dense_of, records_of, some_people

import pkanon as pk
from pkanon._estimate.regression import Rows

CLOSE = 1e-8
ROWS = 1_500
REGIONS, SEXES = ["north", "east", "the south", "west"], ["F", "M"]


def schema(*bundles):
    return pk.Schema(
        [
            pk.Attribute("sex", SEXES),
            pk.Attribute("region", REGIONS),
            pk.Attribute.ranged("age", 0, 5),
            pk.Attribute("ill", ["no", "it's > 1"]),
            pk.Attribute.ranged("hours", 0, 8),
            pk.Attribute.ranged("visits", 0, 3, missing="value"),
            pk.Attribute("owns", [False, True]),
            pk.Attribute("w", [1, 2, 4], type="integer"),
            pk.Attribute("weight", role="pass", type="number"),
        ],
        bundles,
    )


@functools.cache
def people():
    draw = np.random.default_rng(11)
    sex, region, age = draw.integers(0, 2, ROWS), draw.choice(4, ROWS), draw.integers(0, 6, ROWS)
    eta = -0.8 + 0.7 * sex + np.array([0, 0.4, -0.5, 0.2])[region] + 0.15 * age
    visits = [
        None if gone else int(n) for gone, n in zip(draw.random(ROWS) < 0.1, draw.poisson(np.exp(eta)).clip(0, 3))
    ]
    return pl.DataFrame(
        {
            "sex": np.array(SEXES)[sex],
            "region": np.array(REGIONS)[region],
            "age": age,
            "ill": np.array(["no", "it's > 1"])[(draw.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int)],
            "hours": np.clip((3 + eta + draw.normal(0, 1, ROWS)).round(), 0, 8).astype(int),
            "visits": visits,
            "owns": draw.random(ROWS) < 0.4,
            "w": draw.choice([1, 2, 4], ROWS),
            "weight": draw.choice([0.5, 1.0, 3.0], ROWS),
        }
    )


@functools.cache
def kept():
    """A release that keeps everything."""
    described = schema()
    plan = pk.Plan(described, [pk.Retention(unit, replace=0) for unit in described.units], records=ROWS)
    return pk.release(people(), plan, randomness=pk.Seeded(1), allow_pass=True)


@functools.cache
def frame():
    """The same people in pandas, categories in the order of the schema."""
    table = people().to_pandas()
    table["region"] = pd.Categorical(table["region"], REGIONS)
    table["sick"] = (table["ill"] != "no").astype(int)
    return table


def equal(fit, other, factor=1.0):
    """The same coefficients by the same names, and ``factor`` times the covariance."""
    names = [name.replace(" ** ", "**").replace(" / ", "/") for name in other.params.index]
    assert sorted(fit.names) == sorted(names)
    places = [names.index(name) for name in fit.names]
    np.testing.assert_allclose([each.value for each in fit], other.params.to_numpy()[places], rtol=CLOSE, atol=CLOSE)
    covariance = other.cov_params().to_numpy()[np.ix_(places, places)] * factor
    np.testing.assert_allclose(fit.covariance, covariance, rtol=CLOSE, atol=CLOSE * np.abs(covariance).max())
    return places


@pytest.mark.parametrize(
    "formula",
    [
        "hours ~ sex + age",
        "hours ~ 1",
        "hours ~ sex * region + I(age**2)",
        "hours ~ 0 + sex + region",
        "hours ~ region - 1",
        "hours ~ sex:region",
        "hours ~ age:sex - 1",
        "hours ~ sex + region:age",
        "hours ~ (sex + region + age)**2",
        "hours ~ sex * region * age",
        "hours ~ sex:region + age:region",
        "hours ~ C(region, Treatment('the south')) + np.log(I(age + 1))",
        "hours ~ owns + C(age)",
        "I(hours/2) ~ sex + owns:age",
        "sick ~ sex + age",
    ],
)
def test_least_squares_is_that_of_statsmodels(formula):
    other = smf.ols(formula, frame()).fit(cov_type="HC1")
    fit = kept().regress(formula.replace("sick", "I(ill != 'no')"))
    places = equal(fit, other)
    assert fit.r_squared[0] == pytest.approx(other.rsquared, abs=CLOSE)
    low, high = fit.interval(0.9)
    limits = other.conf_int(0.1).to_numpy()[places]
    np.testing.assert_allclose(np.transpose([low, high]), limits, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_allclose([each.p_value for each in fit], other.pvalues.to_numpy()[places], rtol=1e-6, atol=CLOSE)
    if len(fit.names) > 1 and "Intercept" in fit.names:
        chosen = [name for name in other.params.index if name != "Intercept"]
        wald = other.wald_test(
            np.eye(len(places))[[list(other.params.index).index(n) for n in chosen]], use_f=False, scalar=True
        )
        test = fit.test()
        assert (test.chi_square, test.degrees_of_freedom) == (pytest.approx(wald.statistic, rel=1e-6), len(chosen))
        assert test.p_value == pytest.approx(wald.pvalue, rel=1e-6, abs=CLOSE)


@pytest.mark.parametrize("terms", ["sex + age", "sex * region + age", "0 + region + sex:age", "1"])
@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_likelihoods_are_those_of_statsmodels(family, terms):
    response, same = {"logistic": ("sick", "ill[it's > 1]"), "poisson": ("hours", "hours")}[family]
    link = {"logistic": sm.families.Binomial(), "poisson": sm.families.Poisson()}[family]
    other = smf.glm(f"{response} ~ {terms}", frame(), family=link).fit(cov_type="HC0", tol=1e-14, maxiter=200)
    fit = kept().regress(f"{same} ~ {terms}", family=family)
    p = len(fit.names)
    equal(fit, other, ROWS / (ROWS - p))
    if terms == "sex + age":
        new = pd.DataFrame({"sex": ["M"], "age": [2.5]})
        assert fit.predict(sex="M", age=2.5).value == pytest.approx(other.predict(new)[0], rel=CLOSE)


@pytest.mark.parametrize("weights", ["weight", "w"])
@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_survey_weights_passed_and_randomised(weights, family):
    fit = kept().regress("ill != 'no' ~ sex + age", family=family, weights=weights)
    column = frame()[weights].astype(float)
    if family == "linear":
        equal(fit, smf.wls("sick ~ sex + age", frame(), weights=column).fit(cov_type="HC1"))
        return
    # statsmodels has no robust errors of weighted likelihoods, so the sandwich is written out
    other = smf.glm("sick ~ sex + age", frame(), family=sm.families.Binomial(), freq_weights=column).fit(tol=1e-14)
    x = np.column_stack([np.ones(ROWS), frame()["sex"] == "M", frame()["age"]]).astype(float)
    mean = 1 / (1 + np.exp(-x @ other.params.to_numpy()))
    bread = np.linalg.inv((x * (column.to_numpy() * mean * (1 - mean))[:, None]).T @ x)
    scores = x * (column.to_numpy() * (frame()["sick"].to_numpy() - mean))[:, None]
    np.testing.assert_allclose([each.value for each in fit], other.params, rtol=CLOSE)
    np.testing.assert_allclose(fit.covariance, bread @ scores.T @ scores @ bread * ROWS / (ROWS - 3), rtol=CLOSE)


def test_people_without_a_value_are_left_out_or_a_category():
    answered = frame().dropna(subset="visits")
    for formula in ("visits ~ sex + age", "hours ~ sex + visits"):
        fit = kept().regress(formula)
        equal(fit, smf.ols(formula, answered.astype({"visits": float})).fit(cov_type="HC1"))
        assert fit.people == pytest.approx(len(answered))
        assert "People without a value are left out: visits." in fit.remarks
    labels = ["(missing)" if visits is None else str(visits) for visits in people()["visits"]]
    table = frame().assign(visits=pd.Categorical(labels, [*map(str, range(4)), "(missing)"]))
    fit = kept().regress("hours ~ C(visits)", missing="category")
    equal(fit, smf.ols("hours ~ C(visits)", table).fit(cov_type="HC1"))
    assert fit.people == ROWS


def test_what_is_kept_is_known_exactly_about_the_table():
    for family, formula in (
        ("linear", "hours ~ sex * age"),
        ("logistic", "owns ~ sex + age"),
        ("poisson", "age ~ sex"),
    ):
        fit = kept().regress(formula, family=family, about="table")
        assert (np.diag(fit.covariance) == 0).all()
        assert not any("not known well enough" in remark for remark in fit.remarks)


FORBID = pk.Bundle(["sex", "age"], forbid=[{"sex": ["F"], "age": [5]}])


def block_plan(kind):
    """Plans whose blocks randomise attributes apart, together, with forbidden combinations, by a matrix without marginals."""
    if kind in ("equal-rho", "optimal", "joint"):
        described = pk.Schema(schema().attributes[:5])
        return pk.plan(
            described, records=ROWS, epsilon={"joint": 12, "optimal": 12, "equal-rho": 14}[kind], design=kind
        )
    described = pk.Schema(schema().attributes[:5], [FORBID if kind == "forbidden" else pk.Bundle(["sex", "age"])])
    blocks = []
    for unit in described.units:
        if unit.attributes == ("sex", "age") and kind == "matrix":
            draw = np.random.default_rng(2)
            rows = draw.integers(1, 2**25, (unit.size, unit.size))
            rows[np.diag_indices(unit.size)] += 2**32 - rows.sum(1)
            blocks.append(pk.Matrix(unit, tuple(tuple(map(int, row)) for row in rows)))
        else:
            blocks.append(pk.Retention(unit, replace=2**30 // unit.size))
    return pk.Plan(described, blocks, records=ROWS)


@functools.cache
def randomised(kind):
    table = people().select("sex", "region", "age", "ill", "hours")
    if kind == "forbidden":
        table = table.with_columns(age=pl.when(pl.col("sex") == "F").then(pl.min_horizontal("age", 4)).otherwise("age"))
    return pk.release(table, block_plan(kind), randomness=pk.Seeded(5))


def written_out(release, formula, family, about):
    """The same regression from the whole table: coefficients and the covariance of linear functions of it."""
    response, terms = ("hours", ["sex", "age"]) if family == "linear" else ("ill", ["sex", "age"])
    table = release.crosstab(response, *terms, about=about)
    y, sex, age = np.meshgrid(*(np.arange(size) for size in table.counts.shape), indexing="ij")
    x = np.stack([np.ones(y.shape), sex, age, sex * age]).astype(float)
    b = np.zeros(4)
    for _ in range(100):
        eta = np.tensordot(b, x, 1)
        mean = {"linear": eta, "logistic": 1 / (1 + np.exp(-eta)), "poisson": np.exp(eta)}[family]
        slope = {"linear": np.ones_like(eta), "logistic": mean * (1 - mean), "poisson": mean}[family]
        flat = x.reshape(4, -1)
        information = (flat * (slope * table.counts).ravel()) @ flat.T
        score = (x * (y - mean) * table.counts).reshape(4, -1).sum(1)
        b = b + np.linalg.solve(information, score)
    moves = np.tensordot(np.linalg.inv(information), x * (y - mean), 1)
    return b, table.covariance(moves)


@pytest.mark.parametrize("kind", ["equal-rho", "optimal", "joint", "bundle", "forbidden", "matrix"])
@pytest.mark.parametrize("family", ["linear", "logistic", "poisson"])
def test_tables_of_pairs_give_the_covariance_of_the_whole_table(kind, family):
    """One owner of errors: those of Reconstruction.covariance, on the table of all attributes."""
    release = randomised(kind)
    formula = "hours ~ sex * age" if family == "linear" else "ill != 'no' ~ sex * age"
    for about in ("population", "table"):
        fit = release.regress(formula, family=family, about=about)
        b, covariance = written_out(release, formula, family, about)
        np.testing.assert_allclose([each.value for each in fit], b, rtol=1e-7, atol=1e-7)
        if about == "population":  # n/(n - p) instead of n/(n - 1)
            covariance = covariance * (ROWS - 1) / (ROWS - 4)
        assert not any("not known well enough" in remark for remark in fit.remarks)
        np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-6, atol=1e-9 * np.abs(covariance).max())


TWO_SETS = {
    name: CASES[name]
    for name in ("two attributes", "joint, forbidden", "matrix and retention", "matrix on a bundle", "agreement")
}


@pytest.mark.parametrize(("blocks", "names", "number"), TWO_SETS.values(), ids=TWO_SETS)
@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_different_tables_vary_as_estimated(blocks, names, number, about, weighted, seed):
    """Every release of a small table: functions on one set of attributes, on another, on both, and constants."""
    number = 2
    matrix, records = dense_of(blocks), records_of(blocks)
    chosen = some_people(blocks, number)
    weights = [2.5, 0.5, 1.0][:number] if weighted else [1.0] * number
    attributes = [name for block in blocks for name in block.attributes]
    sizes = {name: counted(blocks, [], [name]).size for name in names}
    draw = np.random.default_rng(seed)
    sets = [(), names[:1], names[1:], names]
    parts = {some: draw.normal(size=(2, *(sizes[name] for name in some))) for some in sets}
    laws = matrix[chosen]
    if about == "population":
        if weighted:
            return  # a weight belongs to a person: survey weights are tested with the tables
        laws = [draw.dirichlet(np.ones(len(records))) @ matrix] * number
    mean, second, stated = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2))
    for outcome in itertools.product(range(len(records)), repeat=number):
        chance = math.prod(law[v] for law, v in zip(laws, outcome))
        if not chance:
            continue
        columns = np.array([records[v] for v in outcome]).T
        codes = {name: column.astype(np.uint8) for name, column in zip(attributes, columns)}
        rows = Rows.of(blocks, codes, names, np.array(weights) if weighted else None)
        total, products = rows.total(parts), rows.products(parts)
        if about == "table":
            covariance = products - rows.fixed(parts)[0]
        else:
            covariance = (products - np.outer(total, total) / number) * number / (number - 1)
        mean += chance * total
        second += chance * np.outer(total, total)
        stated += chance * covariance
    np.testing.assert_allclose(stated, second - np.outer(mean, mean), atol=1e-9 * np.abs(second).max())
    if about == "table":
        x = counted(blocks, [records[i] for i in chosen], names, weights)
        true = (
            parts[()] * x.sum()
            + np.tensordot(parts[names[:1]], x.sum(1), 1)
            + np.tensordot(parts[names[1:]], x.sum(0), 1)
        )
        np.testing.assert_allclose(
            mean, true + (parts[names] * x).reshape(2, -1).sum(1), atol=1e-9 * np.abs(second).max()
        )


def test_a_matrix_that_is_not_symmetric_is_inverted_the_right_way_round():
    """The mean of a yes-or-no attribute is its regression on nothing."""
    unit = unit_of(2, names="a")
    block = matrix_of(unit, [[12, 4], [1, 15]], 32)
    described = pk.Schema([pk.Attribute("a", [0, 1])])
    plan = pk.Plan(described, [block], records=400)
    release = pk.release(pl.DataFrame({"a": [0, 1, 1, 1] * 100}), plan, randomness=pk.Seeded(3))
    fit, mean = release.regress("a ~ 1"), release.crosstab("a", about="population").mean("a")
    assert fit["Intercept"].value == pytest.approx(mean.value, rel=1e-12)
    assert fit["Intercept"].standard_error == pytest.approx(mean.standard_error, rel=1e-9)
