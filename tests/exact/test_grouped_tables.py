"""Tables that show values as one or leave people out: unbiased, with unbiased errors, and true where nothing is randomised.

Small tables are released in every possible way, as in test_every_release.py. A table released with everything kept is compared
with the same table recoded before its release.
"""

import functools
import itertools
import math

import numpy as np
import polars as pl
import pytest
from plans import schema_for
from small_tables import CASES, average, counted, dense_of, functions, records_of, some_people

import pkanon as pk
from pkanon._estimate import Reconstruction
from pkanon._estimate.shares import _covariance
from pkanon._schema import Groups
from pkanon._schema.attribute import regrouped
from pkanon._schema.domain import Listed

EXACT = 1e-9
CLOSE = {"rel": 1e-9, "abs": 1e-9}


def grouped(attribute, places):
    """The groups with these places, of an attribute of a small table."""
    labels = Listed(tuple(f"g{number}" for number in range(max(places) + 1)))
    return Groups(regrouped(attribute, domain=labels, type="text", missing="reject"), tuple(places))


def groups_for(blocks, names, kind):
    """Neighbouring values put together, or the last one left out, or both; and the same as a matrix for each axis."""
    groups, matrices = {}, []
    for attribute in (schema_for(blocks).attribute(name) for name in names):
        size = attribute.size
        places = list(range(size))
        if kind != "left out":
            places = [max(code - 1, 0) for code in places]
        if kind != "merged":
            places[-1] = -1
        if max(places) < 0:
            places = [0] * size
        groups[attribute.name] = grouped(attribute, places)
        matrices.append(np.array(places) == np.arange(max(places) + 1)[:, None])
    return groups, matrices


def shown(x, matrices):
    """The private table in groups."""
    for axis, matrix in enumerate(matrices):
        x = np.moveaxis(np.tensordot(matrix.astype(float), x, (1, axis)), 0, axis)
    return x


every_case = pytest.mark.parametrize(
    "name", [name for name in CASES if name not in ("one of two", "agreement, marginal")]
)
every_kind = pytest.mark.parametrize("kind", ["merged", "left out", "both"])


@every_case
@every_kind
@pytest.mark.parametrize("about", ["table", "population"])
def test_every_release(name, kind, about, seed):
    """Counts are unbiased, and so are the variances of cells, the covariances of functions, and those of cells and groups."""
    blocks, names, people = CASES[name]
    people = min(people, 3)
    a, records = dense_of(blocks), records_of(blocks)
    groups, matrices = groups_for(blocks, names, kind)
    if about == "table":
        chosen = some_people(blocks, people)
        laws = a[chosen]
        x = shown(counted(blocks, [records[i] for i in chosen], names), matrices)
    else:
        p = np.random.default_rng(seed).dirichlet(np.ones(len(records)))
        laws = [p @ a] * people
        x = people * shown(sum(c * counted(blocks, [record], names) for c, record in zip(p, records)), matrices)
    w = functions(x.shape, seed)
    given = (names[0],)
    summed = tuple(range(1, x.ndim))

    def of(table):
        assert table.counts.shape == x.shape
        group = table.counts.sum(summed, keepdims=True)
        return np.concatenate(
            [
                part.ravel()
                for part in (
                    table.counts,
                    np.multiply.outer(table.counts, table.counts),
                    table.plug_in,
                    table.covariance(w),
                    table.counts * group,
                    np.broadcast_to(group, x.shape),
                    _covariance(table, given, group),
                )
            ]
        )

    parts = average(blocks, laws, names, of, about=about, groups=groups)
    size = x.size
    ends = np.cumsum([size, size * size, size, len(w) ** 2, size, size])
    mean, outer, plug_in, between, both, group, common = np.split(parts, ends)
    np.testing.assert_allclose(mean, x.ravel(), atol=EXACT)
    true = outer.reshape(size, size) - np.multiply.outer(mean, mean)
    np.testing.assert_allclose(plug_in, np.diag(true), atol=EXACT)
    flat = w.reshape(len(w), -1)
    np.testing.assert_allclose(between.reshape(len(w), -1), flat @ true @ flat.T, atol=EXACT * 20)
    np.testing.assert_allclose(common, both - mean * group, atol=EXACT)


@pytest.mark.parametrize("name", ["two attributes", "joint, forbidden", "matrix and retention", "agreement"])
@pytest.mark.parametrize("weights", ["passed", "randomised"])
def test_every_release_of_weighted_people(name, weights, seed):
    """The same with a survey weight that was passed on, and with an attribute of the table as the weight."""
    blocks, names, people = CASES[name]
    people = min(people, 3)
    a, records = dense_of(blocks), records_of(blocks)
    chosen = some_people(blocks, people)
    attributes = [attribute for block in blocks for attribute in block.attributes]
    if weights == "passed":
        groups, matrices = groups_for(blocks, names, "both")
        own = [2.5, 0.5, 1.0][:people]
        x = shown(counted(blocks, [records[i] for i in chosen], names, own), matrices)
        passed, more, asked = own, {}, names
    else:
        asked, weight = (names[0],), names[1]
        groups, matrices = groups_for(blocks, asked, "both")
        numbers = np.arange(1.0, schema_for(blocks).attribute(weight).size + 1)
        own = [numbers[records[i][attributes.index(weight)]] for i in chosen]
        x = shown(counted(blocks, [records[i] for i in chosen], asked, own), matrices)
        passed, more = None, {"weights": (weight, numbers)}

    def of(table):
        group = table.counts.sum(keepdims=True)
        outer = np.multiply.outer(table.counts, table.counts)
        common = _covariance(table, (), group)
        return np.concatenate(
            [part.ravel() for part in (table.counts, outer, table.plug_in, table.counts * group, common)]
        )

    if weights == "passed":
        parts = average(blocks, a[chosen], asked, of, passed, groups=groups)
    else:
        parts = _average_weighed(blocks, a[chosen], asked, of, groups, more["weights"])
    size = x.size
    mean, outer, plug_in, both, common = np.split(parts, np.cumsum([size, size * size, size, size]))
    np.testing.assert_allclose(mean, x.ravel(), atol=EXACT)
    true = outer.reshape(size, size) - np.multiply.outer(mean, mean)
    np.testing.assert_allclose(plug_in, np.diag(true), atol=EXACT)
    np.testing.assert_allclose(common, both - mean * mean.sum(), atol=EXACT)


def _average_weighed(blocks, laws, names, of, groups, weights):
    """As small_tables.average, the weight an attribute."""
    attributes = [name for block in blocks for name in block.attributes]
    records, total = records_of(blocks), 0.0
    for outcome in itertools.product(range(len(records)), repeat=len(laws)):
        chance = math.prod(law[v] for law, v in zip(laws, outcome))
        if chance:
            columns = np.array([records[v] for v in outcome]).T
            codes = {name: column.astype(np.uint8) for name, column in zip(attributes, columns)}
            table = Reconstruction.of(schema_for(blocks), blocks, codes, names, weights=weights, groups=groups)
            total = total + chance * of(table)
    return total


ROWS = 3_000
LEVELS = ["9th", "10th", "BA", "MA"]
RECODED = {"9th": "school", "10th": "school", "BA": "degree", "MA": "degree"}
MERGE = {"education": {"school": ["9th", "10th"], "degree": ["BA", "MA"]}, "age": [0, 20, 60]}


def people():
    draw = np.random.default_rng(8)
    education = draw.choice(4, ROWS, p=[0.2, 0.4, 0.3, 0.1])
    age = np.clip(draw.normal(40 + 3 * education, 18, ROWS), 0, 99).astype(int)
    rooms = draw.integers(1, 6, ROWS) + (education > 1)
    silent = draw.random((3, ROWS)) < np.array([[0.3], [0.1], [0.2]])
    return pl.DataFrame(
        {
            "education": [None if quiet else LEVELS[e] for e, quiet in zip(education, silent[0])],
            "age": [None if quiet else int(a) for a, quiet in zip(age, silent[1])],
            "rooms": [None if quiet else int(r) for r, quiet in zip(rooms, silent[2])],
            "sex": draw.choice(["F", "M"], ROWS),
        }
    )


def kept(schema, table):
    blocks = tuple(pk.Retention(unit, replace=0) for unit in schema.units)
    return pk.release(table, pk.Plan(schema, blocks, records=table.height), randomness=pk.Seeded(1))


@functools.cache
def fine():
    schema = pk.Schema(
        [
            pk.Attribute("education", LEVELS, missing="value"),
            pk.Attribute.binned("age", start=0, stop=100, width=5, missing="value"),
            pk.Attribute.ranged("rooms", 1, 7, missing="value"),
            pk.Attribute("sex", ["F", "M"]),
        ]
    )
    return kept(schema, people())


@functools.cache
def coarse(*answered):
    """Recoded before the release; only those who answered these questions."""
    schema = pk.Schema(
        [
            pk.Attribute("education", ["school", "degree"], missing="value"),
            pk.Attribute.binned("age", edges=[0, 20, 60, 100], missing="value"),
            pk.Attribute.ranged("rooms", 1, 7, missing="value"),
            pk.Attribute("sex", ["F", "M"]),
        ]
    )
    table = people().with_columns(pl.col("education").replace(RECODED))
    return kept(schema, table.drop_nulls(list(answered)))


@pytest.mark.parametrize("names", [("education", "age"), ("sex", "education"), ("rooms", "age", "sex")])
@pytest.mark.parametrize("about", ["table", "population"])
@pytest.mark.parametrize("method", ["inverse", "simplex", "em"])
def test_kept_tables_are_those_of_recoded_people(names, about, method):
    after = fine().crosstab(*names, merge=MERGE, about=about, method=method)
    before = coarse().crosstab(*names, about=about, method=method)
    assert after.labels == before.labels
    for given in ((), names[:1]):
        ours, theirs = (each.to_polars(given=given) for each in (after, before))
        for column in ours.columns:
            if ours[column].dtype.is_numeric():
                assert ours[column].to_numpy() == pytest.approx(theirs[column].to_numpy(), **CLOSE, nan_ok=True)
            else:
                assert ours[column].to_list() == theirs[column].to_list()


@pytest.mark.parametrize("names", [("education", "age"), ("sex", "education"), ("rooms", "age", "sex")])
@pytest.mark.parametrize("merge", [None, MERGE])
def test_kept_tables_without_missing_answers(names, merge):
    after = fine().crosstab(*names, merge=merge, missing="exclude")
    table = people() if merge is None else people().with_columns(pl.col("education").replace(RECODED))
    table = table.drop_nulls(list(names))
    bins = [0, 20, 60, 100] if merge else list(range(0, 101, 5))
    labels = [f"{a}-{b - 1}" for a, b in itertools.pairwise(bins)]
    table = table.with_columns(
        pl.col("age").map_elements(lambda a: labels[np.searchsorted(bins, a, "right") - 1], pl.String)
    )
    counts = table.group_by(names).len().to_dicts()
    true = {tuple(str(row[name]) for name in names): row["len"] for row in counts}
    assert not any(None in axis for axis in after.labels)
    frame = after.to_polars()
    for row in frame.to_dicts():
        cell = tuple(str(row[name]) for name in names)
        assert row["estimate"] == pytest.approx(true.get(cell, 0), **CLOSE)
        assert row["proportion"] == pytest.approx(true.get(cell, 0) / table.height, **CLOSE)
        assert row["std_error"] == pytest.approx(0, abs=1e-6)
        assert row["proportion_std_error"] == pytest.approx(0, abs=1e-9)
    assert after.total == pytest.approx(table.height, **CLOSE)
    assert after.marginal(names[0]).counts.sum() == pytest.approx(table.height, **CLOSE)  # who was left out stays out


def test_shares_of_the_answering_are_a_ratio():
    """About the population, a share among n_a people who answered has the variance p (1 - p) / n_a of a ratio."""
    after = fine().crosstab("education", missing="exclude", about="population")
    shares = after.shares()
    n, answering = ROWS, after.total
    expected = np.sqrt(n / (n - 1) * shares.shares * (1 - shares.shares) / answering)
    assert shares.standard_errors == pytest.approx(expected, rel=1e-9)
    assert shares.shares.sum() == pytest.approx(1)


def errors_agree(after, before, rows):
    """Whether errors agree but for n / (n - 1), which a part of the variance has: ``after`` counts those who did not answer, too."""
    factor = math.sqrt(rows / (rows - 1) / (ROWS / (ROWS - 1)))
    return after * (1 - 1e-8) <= before <= after * factor * (1 + 1e-8)


@pytest.mark.parametrize("names", [("education", "age"), ("sex", "education"), ("rooms", "education")])
@pytest.mark.parametrize("missing", ["category", "exclude"])
def test_kept_associations_are_those_of_recoded_people(names, missing):
    after = fine().crosstab(*names, merge=MERGE, missing=missing).association()
    recoded = coarse() if missing == "category" else coarse(*names)
    before = recoded.crosstab(*names, missing=missing).association()
    assert after.degrees_of_freedom == before.degrees_of_freedom
    assert after.chi_square == pytest.approx(before.chi_square, rel=1e-8)
    assert after.p_value == pytest.approx(before.p_value, rel=1e-6, abs=1e-300)
    assert after.cramers_v.value == pytest.approx(before.cramers_v.value, rel=1e-8)
    assert errors_agree(after.cramers_v.standard_error, before.cramers_v.standard_error, recoded.rows)
    # of simulated releases, which are drawn by other numbers
    error = max(after.mutual_information.standard_error, before.mutual_information.standard_error)
    assert abs(after.mutual_information.value - before.mutual_information.value) < error / 2


def test_kept_correlations_and_descriptions():
    pairs = {
        (row["first"], row["second"]): row
        for row in fine().correlations(merge=MERGE, missing="exclude").to_polars().to_dicts()
    }
    for (first, second), row in pairs.items():
        released = coarse(first, second)
        v = released.crosstab(first, second, missing="exclude").association().cramers_v
        assert row["measure"] == "cramers_v"  # a merged attribute has groups, not numbers; the others are rooms and sex
        assert row["value"] == pytest.approx(v.value, rel=1e-8)
        assert errors_agree(row["std_error"], v.standard_error, released.rows)
    plain = fine().correlations("age", "rooms", missing="exclude").to_polars().row(0, named=True)
    again = fine().correlations("age", "rooms").to_polars().row(0, named=True)
    assert plain == again  # numbers of missing answers never counted
    table = people().drop_nulls(["education", "rooms"]).with_columns(pl.col("education").replace(RECODED))
    described = fine().describe("rooms", by=["education"], merge=MERGE, missing="exclude").to_polars()
    means = dict(table.group_by("education").agg(pl.col("rooms").mean()).rows())
    found = described.filter(pl.col("statistic") == "mean")
    assert dict(zip(found["education"], found["value"])) == pytest.approx(means)
    assert sorted(found["education"].to_list()) == ["degree", "school"]


def test_means_keep_the_numbers_of_the_values():
    """A merged attribute has the mean of its values; values of groups can be given; values turned missing have none."""
    whole, after = fine().crosstab("rooms", "sex"), fine().crosstab("rooms", "sex", merge={"rooms": [1, 4]})
    for statistic in ("mean", "deviation", "sum"):
        ours, theirs = (getattr(table, statistic)("rooms", {"sex": "F"}) for table in (after, whole))
        assert ours.value == pytest.approx(theirs.value, **CLOSE)
    assert after.quantile("rooms", 0.5).value == whole.quantile("rooms", 0.5).value
    groups = after.mean("rooms", values={"1-3": 0, "4-7": 1})
    counts = {label: after.count(rooms=label).value for label in ("1-3", "4-7")}
    assert groups.value == pytest.approx(counts["4-7"] / sum(counts.values()))
    quiet = fine().crosstab("rooms", merge={"rooms": {"(missing)": [7]}})
    rooms = people()["rooms"].drop_nulls()
    assert quiet.mean("rooms").value == pytest.approx(rooms.filter(rooms < 7).mean())
    answer = fine().query("SELECT AVG(rooms) AS m, COUNT(rooms) AS n FROM release", merge={"rooms": {"(missing)": [7]}})
    assert answer.frame["m"].item() == pytest.approx(rooms.filter(rooms < 7).mean())
    assert answer.frame["n"].item() == pytest.approx((rooms < 7).sum())


@pytest.mark.parametrize("missing", ["category", "exclude"])
def test_kept_comparisons_are_those_of_recoded_people(missing):
    names = ("education", "sex", "age")
    released = coarse() if missing == "category" else coarse("education", "age")
    after = fine().crosstab(*names, merge=MERGE, missing=missing, about="population")
    before = released.crosstab(*names, missing=missing, about="population")
    degree, women = {"education": "degree"}, {"sex": "F"}
    # a ratio of people who answered has n/(n - 1) of all people, not of those who answered
    rows = math.sqrt(ROWS / (ROWS - 1) * (released.rows - 1) / released.rows)
    ours, theirs = (table.standardised(degree, "age", given=women) for table in (after, before))
    assert (ours.value, ours.standard_error) == pytest.approx((theirs.value, theirs.standard_error * rows), **CLOSE)
    for ours, theirs in zip(
        (after.mantel_haenszel(women, degree, "age"), after.trend(degree, over="age")),
        (before.mantel_haenszel(women, degree, "age"), before.trend(degree, over="age")),
    ):
        one, two = (each.odds_ratio if hasattr(each, "odds_ratio") else each.slope for each in (ours, theirs))
        assert (one.value, one.standard_error) == pytest.approx((two.value, two.standard_error * rows), rel=1e-7)
        # the variance under no association: that of all people, of whom only those who answered have a part
        assert ours.test.statistic == pytest.approx(theirs.test.statistic, rel=1e-7)


@pytest.mark.parametrize("design", ["equal-rho", "optimal"])
def test_comparisons_of_merged_groups_are_those_of_their_values(design):
    """With noise: a merged table says what the table apart says of the same people."""
    plan = pk.plan(fine().plan.schema, records=ROWS, k=5, design=design)
    release = pk.release(people(), plan, randomness=pk.Seeded(3))
    merge = {"education": {"school": ["9th", "10th"], "degree": ["BA", "MA"]}}
    apart = release.crosstab("education", "sex", "rooms", about="population")
    after = release.crosstab("education", "sex", "rooms", about="population", merge=merge)
    degree, women = {"education": "degree"}, {"sex": "F"}
    values = {"education": ["BA", "MA"]}
    one, two = after.mantel_haenszel(women, degree, "rooms"), apart.mantel_haenszel(women, values, "rooms")
    assert one.strata == two.strata
    assert (one.odds_ratio.value, one.odds_ratio.standard_error) == pytest.approx(
        (two.odds_ratio.value, two.odds_ratio.standard_error), rel=1e-7
    )
    one, two = after.trend(degree, over="rooms"), apart.trend(values, over="rooms")
    assert (one.slope.value, one.slope.standard_error) == pytest.approx(
        (two.slope.value, two.slope.standard_error), rel=1e-7
    )
    # the null is that of the nearest table, which differs between the two: negative cells are those of groups
    assert one.test.statistic == pytest.approx(two.test.statistic, rel=0.05)
    both = release.crosstab("education", merge=merge, about="population").count(education="degree") - apart.count(
        values
    )
    assert (both.value, both.standard_error) == pytest.approx((0, 0), abs=1e-6)  # numbers of any two tables
