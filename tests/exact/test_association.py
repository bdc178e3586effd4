"""Association and its strength: without randomisation they are those of the textbooks."""

import math

import numpy as np
import polars as pl
import pytest
from blocks import BLOCKS
from dense import declared_words, unit_of
from raw_people import ROWS, People, kept
from scipy import stats

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._estimate.statistics.association import Relation, Strength, _Pair


@pytest.fixture(scope="module")
def people(seed):
    return People(seed)


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


@pytest.mark.parametrize("strength", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("design", ["equal-rho", "optimal"])
def test_the_interval_of_cramers_v_agrees_with_the_test(strength, design, seed):
    """Its lower limit is above zero if and only if independence is rejected at that level; it always holds the estimate."""
    schema = pk.Schema([pk.Attribute.ranged("x", 1, 4), pk.Attribute.ranged("y", 1, 7)])
    plan = pk.plan(schema, records=3000, k=5, design=design)
    draw = np.random.default_rng(seed)
    answers = set()
    for number in range(12):
        x = draw.choice(4, 3000, p=[0.7, 0.2, 0.07, 0.03])
        y = np.where(draw.random(3000) < strength, x, draw.choice(7, 3000, p=[0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01]))
        people = pl.DataFrame({"x": x + 1, "y": y + 1})
        table = pk.release(people, plan, randomness=pk.Seeded(seed + number)).crosstab("x", "y")
        pair = _Pair.of(table)
        found, p = pair.cramers_v(), pair.relation.p_value
        for level in (0.7, 0.8, 0.9, 0.95, 0.99, 0.999):
            low, high = found.interval(level)
            assert (low > 0) == (p < 1 - level)
            assert 0 <= low <= found.value <= high <= 1
            answers.add(low > 0)
    assert len(answers) == 2 or strength > 0.1


def test_the_least_deviation_that_the_test_does_not_reject(seed):
    """No shorter vector is as near, and the one found is."""
    draw = np.random.default_rng(seed)
    relation = Relation(draw.normal(size=6), draw.uniform(0.01, 1.0, 6))
    distance = relation.statistic / 3
    least = relation.least(distance)
    for _ in range(2000):
        other = relation.deviations + draw.normal(size=6) * np.sqrt(relation.variances)
        step = other - relation.deviations
        step *= math.sqrt(distance / (step**2 / relation.variances).sum())  # on the border
        assert np.linalg.norm(relation.deviations + step) >= least - 1e-9
    assert relation.least(relation.statistic * 1.001) == 0
    equal = Relation(relation.deviations, np.full(6, 0.25))
    length = np.linalg.norm(equal.deviations)
    assert equal.least(1.0) == pytest.approx(length - 0.5)  # a ball of radius sqrt(0.25)


@pytest.mark.parametrize("freedom", [1, 4, 60])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_limits_of_v_are_those_of_the_noncentral_distribution(freedom, level):
    """Where C is a projection over n, n sum d^2 is noncentral chi-square: its three moments are matched, so its limits nearly are."""
    from scipy.optimize import brentq
    from scipy.stats import ncx2

    n, tail = 1_000, (1 - level) / 2
    for seen in (0.9 * freedom, 2.0 * freedom, 5.0 * freedom, 20.0 * freedom, 300.0 * freedom):
        strength = Strength(seen / n - freedom / n, freedom / n**2, freedom / n**3, 1 / n, 1.0)
        low, high = (limit**2 * n for limit in strength.limits(level))
        used = max(seen, float(freedom))  # less than nothing was found: the upper limit is that of nothing
        far = 10 * seen + 100
        exact_high = brentq(lambda truth, x: ncx2.cdf(x, freedom, truth) - tail, 1e-9, far, args=(used,))
        exact_low = 0.0
        if ncx2.sf(seen, freedom, 1e-9) < tail:
            exact_low = brentq(lambda truth, x: ncx2.sf(x, freedom, truth) - tail, 1e-9, far, args=(seen,))
        width = exact_high - exact_low
        assert low == pytest.approx(exact_low, abs=0.07 * width)
        assert high == pytest.approx(exact_high, abs=0.07 * width)


def test_the_strength_has_no_noise_and_no_error_where_all_is_known():
    assert Strength.of(0.25, np.zeros((4, 4)), 0.0, 1.0).limits(0.95) == pytest.approx((0.5, 0.5))
    assert Strength.of(0.0, np.zeros((4, 4)), 0.0, 1.0).limits(0.95) == (0.0, 0.0)
