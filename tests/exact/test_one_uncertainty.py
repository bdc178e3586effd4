"""Does one number have one error? A cell, a count, a share and a query of the same thing agree, however they are asked for.

Tables are sparse, so that intervals are not just z standard errors; every kind of block, both readings, all methods, weights.
"""

import functools
import itertools

import numpy as np
import polars as pl
import pytest
from r_releases import few_people

import pkanon as pk

ROWS = 250
CLOSE = {"rel": 1e-9, "abs": 1e-9}
"""The same sums in another order."""
COLOURS, SIZES, SHAPES = ["red", "green", "blue", "grey"], [1, 2, 3, 4, 5], ["round", "square"]


def schema(*bundles):
    return pk.Schema(
        [
            pk.Attribute("colour", COLOURS),
            pk.Attribute("size", SIZES, type="integer"),
            pk.Attribute("shape", SHAPES),
            pk.Attribute("weight", role="pass", type="number"),
        ],
        bundles,
    )


def table():
    draw = np.random.default_rng(3)
    size = draw.choice(5, ROWS, p=[0.55, 0.3, 0.1, 0.04, 0.01])
    colour = np.where(draw.random(ROWS) < 0.5, np.minimum(size, 3), draw.choice(4, ROWS, p=[0.7, 0.2, 0.08, 0.02]))
    colour = np.where((size == 0) & (colour == 3), 0, colour)  # a combination that is forbidden below
    return pl.DataFrame(
        {
            "colour": [COLOURS[i] for i in colour],
            "size": size + 1,
            "shape": draw.choice(SHAPES, ROWS),
            "weight": draw.choice([0.5, 1.0, 3.0], ROWS),
        }
    )


def matrix_plan(described):
    """A bundle with a matrix that is not symmetric; its marginals have no matrix."""
    unit = described.units[0]
    draw = np.random.default_rng(2)
    rows = []
    for i in range(unit.size):
        row = draw.integers(1, 2**24, unit.size)
        row[i] += 2**32 - row.sum()
        rows.append(tuple(int(x) for x in row))
    blocks = (pk.Matrix(unit, tuple(rows)), pk.Retention(described.units[1], replace=2**29))
    return pk.Plan(described, blocks, records=ROWS)


FORBID = pk.Bundle(["colour", "size"], forbid=[{"colour": ["grey"], "size": [1]}])
PLANS = {
    "equal-rho": lambda: pk.plan(schema(), records=ROWS, epsilon=4, design="equal-rho"),
    "joint": lambda: pk.plan(schema(), records=ROWS, epsilon=4, design="joint"),
    "optimal": lambda: pk.plan(schema(), records=ROWS, epsilon=4),
    "forbidden": lambda: pk.plan(schema(FORBID), records=ROWS, epsilon=5),
    "forbidden, equal-rho": lambda: pk.plan(schema(FORBID), records=ROWS, epsilon=5, design="equal-rho"),
    "matrix": lambda: matrix_plan(schema(pk.Bundle(["colour", "size"]))),
}


@functools.cache
def release(name):
    return pk.release(table(), PLANS[name](), randomness=pk.Seeded(4), allow_pass=True)


def parts(quantity, level=0.9):
    return quantity.value, quantity.standard_error, *quantity.interval(level)


def answered(answer, name):
    frame = answer.to_polars()
    return [frame[column].to_numpy() for column in (name, *(f"{name}_{e}" for e in ("std_error", "low_90", "high_90")))]


every_release = pytest.mark.parametrize("name", PLANS)
every_reading = pytest.mark.parametrize("about", ["table", "population"])
every_method = pytest.mark.parametrize("method", ["inverse", "simplex", "em"])


@every_release
@every_reading
@every_method
def test_cells_counts_and_queries(name, about, method):
    ask = {"about": about, "method": method}
    estimate = release(name).crosstab("colour", "size", **ask)
    cells = [estimate.counts, estimate.standard_errors, *estimate.interval(0.9)]
    frame = estimate.to_polars(level=0.9)
    for column, part in zip(("estimate", "std_error", "low_90", "high_90"), cells):
        np.testing.assert_array_equal(frame[column].to_numpy(), part.ravel())
    possible = estimate.channel.possible
    flags = np.array(estimate.flags_of(0.9).to_list(), object).reshape(possible.shape)
    # the flags of a row are those of its count and of its share
    shares = [estimate.proportion({"colour": c, "size": s}).flag(0.9) for c in COLOURS for s in SIZES]
    assert frame["flag"].to_list() == ["impossible" if f == "impossible" else s for f, s in zip(flags.ravel(), shares)]
    assert set(flags[possible]) == {None, "near zero"} | ({"near zero, predicted error"} & set(flags[possible]))
    for i, j in np.ndindex(possible.shape):
        count = estimate.count(colour=COLOURS[i], size=SIZES[j])
        assert parts(count) == tuple(part[i, j] for part in cells)
        assert count.flag(0.9) == flags[i, j]
    grouped = release(name).query("SELECT colour, size, COUNT(*) AS n FROM release GROUP BY 1, 2", level=0.9, **ask)
    for got, part in zip(answered(grouped, "n"), cells):
        np.testing.assert_array_equal(got, part[possible])
    assert grouped.to_polars()["n_flag"].to_list() == flags[possible].tolist()
    for i, j in ((0, 1), (2, 4), (3, 3)):
        one = f"SELECT COUNT(*) AS n FROM release WHERE colour = '{COLOURS[i]}' AND size = {SIZES[j]}"
        filtered = f"SELECT colour, COUNT(*) FILTER (WHERE size = {SIZES[j]}) AS n FROM release GROUP BY colour"
        for query, place in ((one, 0), (filtered, i)):
            got = answered(release(name).query(query, level=0.9, **ask), "n")
            assert [part[place] for part in got] == [part[i, j] for part in cells]


@every_release
@every_reading
@every_method
def test_a_smaller_table_says_the_same(name, about, method):
    """A count that does not look at an attribute is the cell of the table without it."""
    ask = {"about": about, "method": method}
    whole = release(name).crosstab("colour", "size", "shape", **ask)
    smaller = whole.marginal("size")
    for j, size in enumerate(SIZES):
        expected = (smaller.counts[j], smaller.standard_errors[j], *(limit[j] for limit in smaller.interval(0.9)))
        assert parts(whole.count(size=size)) == pytest.approx(expected, **CLOSE)
        assert parts(whole.count(size=size, shape=SHAPES)) == pytest.approx(expected, **CLOSE)
    if method == "inverse":
        alone = release(name).crosstab("size", **ask)
        assert alone.counts == pytest.approx(smaller.counts, **CLOSE)
        for mine, other in zip(alone.interval(), smaller.interval()):
            assert mine == pytest.approx(other, rel=1e-6)


@every_release
@every_reading
@every_method
def test_merged_values(name, about, method):
    """Several values counted together, and a sum."""
    ask = {"about": about, "method": method}
    estimate = release(name).crosstab("colour", "size", **ask)
    sql = (
        "SELECT COUNT(*) AS n, SUM(size) AS s, AVG(size) AS m, 2 * COUNT(*) - 1 AS twice FROM release "
        "WHERE colour IN ('blue', 'grey') AND size >= 3"
    )
    answer = release(name).query(sql, level=0.9, **ask)
    where = {"colour": ["blue", "grey"], "size": [3, 4, 5]}
    count = estimate.count(where)
    for column, quantity in (
        ("n", count),
        ("s", estimate.sum("size", where)),
        ("m", estimate.mean("size", where)),
        ("twice", 2 * count - 1),
    ):
        got = [part[0] for part in answered(answer, column)]
        assert got == pytest.approx(parts(quantity), **CLOSE, nan_ok=True)
        assert answer.to_polars()[f"{column}_flag"].item() == quantity.flag(0.9)
    assert parts(2 * count - 1) == pytest.approx(
        (2 * count.value - 1, 2 * count.standard_error, *(2 * end - 1 for end in count.interval(0.9))), **CLOSE
    )
    together = sum((estimate.count(colour=c, size=s) for c in ("blue", "grey") for s in (3, 4, 5)), 0)
    assert parts(together) == pytest.approx(parts(count), **CLOSE)


@every_release
@every_reading
@every_method
@pytest.mark.parametrize("given", [("colour",), ("size",)])
def test_shares_of_a_group(name, about, method, given):
    ask = {"about": about, "method": method}
    estimate = release(name).crosstab("colour", "size", **ask)
    (group_name,) = given
    other = "size" if group_name == "colour" else "colour"
    rows = [row for row in estimate.conditional(*given, level=0.9).to_dicts() if row["flag"] != "impossible"]
    queried = {}
    for value in SIZES if other == "size" else COLOURS:
        sql = f"SELECT {group_name} AS g, COUNT(*) FILTER (WHERE {other} = {value!r}) / COUNT(*) AS s FROM release GROUP BY {group_name}"
        answer = release(name).query(sql, level=0.9, **ask)
        columns = [*answered(answer, "s"), answer.to_polars()["s_flag"].to_list()]
        for place, group in enumerate(answer.to_polars()["g"]):
            queried[group, value] = [column[place] for column in columns]
    small = 0
    for row in rows:
        cell = {"colour": row["colour"], "size": row["size"]}
        group = {group_name: cell[group_name]}
        quantity = estimate.proportion(cell, group)
        expected = [row[c] for c in ("proportion", "proportion_std_error", "proportion_low_90", "proportion_high_90")]
        expected = [np.nan if number is None else number for number in expected]
        people = estimate.count(group)
        assert np.isnan(expected[0]) == (people.value <= 0)
        assert np.isnan(expected[1]) == (min(people.value, people.unbiased) <= 0)
        assert parts(quantity) == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True)
        low, high = quantity.interval(0.9)
        assert 0 <= low <= high <= 1
        assert not quantity.value < low
        assert not quantity.value > high
        assert (100 * quantity).interval(0.9) == pytest.approx((100 * low, 100 * high), **CLOSE)
        assert (1 - quantity).interval(0.9) == pytest.approx((1 - high, 1 - low), **CLOSE)
        assert (1 - quantity).value == pytest.approx(1 - quantity.value, **CLOSE, nan_ok=True)
        *numbers, flag = queried[cell[group_name], cell[other]]
        assert numbers == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True)
        assert flag == row["flag"] == quantity.flag(0.9)
        assert ("out of range" in (flag or "")) == (low == high and quantity.standard_error > 0 and "small" not in flag)
        if "small group" in (flag or ""):
            small += 1
            assert (low, high) == (0, 1)
            assert (1 - quantity).flag(0.9) == (100 * quantity - 1).flag(0.9) == "small group"
    assert small < len(rows)


@every_release
@every_reading
@every_method
def test_means_of_a_group(name, about, method):
    """By SQL, by ``mean`` and by ``describe``; a mean is a share if its numbers are 0 and 1."""
    ask = {"about": about, "method": method}
    estimate = release(name).crosstab("colour", "size", **ask)
    asked = "SELECT colour, AVG(size) AS m FROM release GROUP BY colour"
    answer = release(name).query(asked, level=0.9, **ask)
    described = release(name).describe("size", by="colour", level=0.9, **ask).to_polars()
    described = described.filter(statistic="mean")
    flags = set()
    for place, colour in enumerate(COLOURS):
        group = {"colour": colour}
        mean = estimate.mean("size", group)
        assert [part[place] for part in answered(answer, "m")] == pytest.approx(parts(mean), **CLOSE, nan_ok=True)
        row = described.row(place, named=True)
        numbers = [np.nan if row[c] is None else row[c] for c in ("value", "std_error", "low_90", "high_90")]
        assert numbers == pytest.approx(parts(mean), **CLOSE, nan_ok=True)
        assert answer.to_polars()["m_flag"][place] == row["flag"] == mean.flag(0.9)
        people, possible = estimate.count(group), estimate.channel.possible[place]
        least, largest = np.array(SIZES)[possible][[0, -1]]
        low, high = mean.interval(0.9)
        assert least <= low <= high <= largest
        ends = people.interval(0.9)
        if people.unbiased <= 0 or ends[0] <= 0 or ends[1] >= 2 * people.unbiased:
            assert (mean.flag(0.9), low, high) == ("small group", least, largest)
        else:
            assert mean.flag(0.9) in (None, "out of range")
        flags.add(mean.flag(0.9))
        # shifted and scaled numbers, shifted and scaled limits
        other = estimate.mean("size", group, values={size: 10 * size - 7 for size in SIZES})
        assert parts(other) == pytest.approx(
            [10 * mean.value - 7, 10 * mean.standard_error, 10 * low - 7, 10 * high - 7],
            rel=1e-6,
            abs=1e-6,
            nan_ok=True,
        )
        one = estimate.mean("size", group, values={size: float(size > 1) for size in SIZES})
        share = estimate.proportion({"size": SIZES[1:]}, group)
        assert parts(one) == pytest.approx(parts(share), **CLOSE, nan_ok=True)
        assert one.flag(0.9) == share.flag(0.9)
    assert None in flags


@every_release
@every_reading
def test_shares_of_all(name, about):
    estimate = release(name).crosstab("colour", "size", about=about)
    shares = estimate.shares(level=0.9)
    for i, j in np.argwhere(estimate.channel.possible)[::3]:
        quantity = estimate.proportion({"colour": COLOURS[i], "size": SIZES[j]})
        expected = [part[i, j] for part in (shares.shares, shares.standard_errors, shares.low, shares.high)]
        assert parts(quantity) == pytest.approx(expected, **CLOSE)


@every_release
@every_reading
@every_method
def test_weights(name, about, method):
    estimate = release(name).crosstab("colour", "size", about=about, method=method, weights="weight")
    cells = (estimate.counts, estimate.standard_errors, *estimate.interval(0.9))
    for i, j in np.argwhere(estimate.channel.possible):
        assert parts(estimate.count(colour=COLOURS[i], size=SIZES[j])) == tuple(part[i, j] for part in cells)
    ask = {"about": about, "method": method, "weights": "weight", "level": 0.9}
    grouped = release(name).query("SELECT colour, size, COUNT(*) AS n FROM release GROUP BY 1, 2", **ask)
    for got, part in zip(answered(grouped, "n"), cells):
        np.testing.assert_array_equal(got, part[estimate.channel.possible])
    assert grouped.notes[0].startswith("Estimated weighted counts from 250 released rows")
    everybody = release(name).query("SELECT COUNT(*) AS n FROM release", **ask)
    assert everybody.to_polars()["n"].item() == pytest.approx(estimate.total)
    asked = "SELECT colour, COUNT(*) FILTER (WHERE size = 2) / COUNT(*) AS s, AVG(size) AS m FROM release GROUP BY 1"
    answer = release(name).query(asked, **ask)
    for place, colour in enumerate(COLOURS):
        share, mean = estimate.proportion({"size": 2}, {"colour": colour}), estimate.mean("size", {"colour": colour})
        for column, quantity in (("s", share), ("m", mean)):
            got = [part[place] for part in answered(answer, column)]
            assert got == pytest.approx(parts(quantity), rel=1e-6, abs=1e-9, nan_ok=True)
            assert answer.to_polars()[f"{column}_flag"][place] == quantity.flag(0.9)
    if method != "inverse":  # what cannot be is not in any interval, whichever cells are counted
        low, high = estimate.count(colour=["blue", "grey"], size=[3, 4]).interval(0.9)
        assert 0 <= low <= high <= estimate.total * (1 + 1e-12)
        return
    shares = estimate.shares(("colour",), level=0.9)
    for i, j in np.argwhere(estimate.channel.possible & (estimate.counts.sum(1, keepdims=True) > 0)):
        quantity = estimate.proportion({"size": SIZES[j]}, {"colour": COLOURS[i]})
        expected = [part[i, j] for part in (shares.shares, shares.standard_errors, shares.low, shares.high)]
        assert parts(quantity) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@every_release
def test_a_passed_column_weighs_and_is_not_asked(name):
    with pytest.raises(
        pk.InputError, match=r"'weight' is passed .* count by it with weights='weight' \(--weights weight\)"
    ):
        release(name).query("SELECT SUM(weight) FROM release")


def test_the_intervals_here_are_not_just_standard_errors():
    """Otherwise the tests above would compare next to nothing."""
    estimate = release("joint").crosstab("colour", "size")
    low, high = estimate.interval(0.95)
    assert (np.abs((high - low) / (2 * 1.959964 * estimate.standard_errors) - 1) > 0.05).sum() > 5


def test_everybody_is_counted_for_certain():
    for name in PLANS:
        estimate = release(name).crosstab("colour", "size")
        assert parts(estimate.count()) == pytest.approx((ROWS, 0, ROWS, ROWS), **CLOSE)
        got = [part[0] for part in answered(release(name).query("SELECT COUNT(*) AS n FROM release", level=0.9), "n")]
        assert got == pytest.approx((ROWS, 0, ROWS, ROWS), **CLOSE)


@every_release
def test_what_is_out_of_range_is_cut_and_flagged(name):
    """At a low level, whole intervals lie outside; they are flagged in every way to ask."""
    estimate = release(name).crosstab("colour", "size")
    rows = estimate.conditional("colour", level=0.2).to_dicts()
    asked = "SELECT colour, COUNT(*) FILTER (WHERE size = {0}) / COUNT(*) AS s FROM release GROUP BY colour"
    answers = {size: release(name).query(asked.format(size), level=0.2).to_polars() for size in SIZES}
    beyond = 0
    for row in rows:
        quantity = estimate.proportion({"size": row["size"]}, {"colour": row["colour"]})
        if row["flag"] == "impossible":
            continue
        assert quantity.flag(0.2) == row["flag"] == answers[row["size"]]["s_flag"][COLOURS.index(row["colour"])]
        outside = not 0 <= quantity.unbiased <= 1
        if "out of range" in (row["flag"] or ""):
            beyond += 1
            assert outside
            assert (
                row["proportion"]
                == row["proportion_low_20"]
                == row["proportion_high_20"]
                == round(quantity.unbiased > 0.5)
            )
        assert (1 - quantity).flag(0.2) == (
            ", ".join(word for word in ("small group", "out of range") if word in (row["flag"] or "")) or None
        )
    assert beyond > 0 or name in ("forbidden, equal-rho", "matrix")


WARM = {"colour": {"warm": ["red", "blue"]}}
LARGE = {"size": [3]}
LEFT_OUT = {"colour": {"(missing)": ["grey"]}, "size": {"small": [1, 2], "(missing)": [5]}}
GROUPED = {
    "colours": (WARM, "category"),
    "sizes": (LARGE, "category"),
    "both": (WARM | LARGE, "category"),
    "everything in one": ({"size": {"any": "*"}}, "category"),
    "some left out": (LEFT_OUT, "exclude"),
}
every_grouping = pytest.mark.parametrize("grouping", GROUPED)


def members(shown, whole, grouping):
    """For each attribute the values behind each label, in the order of the labels."""
    merge, _ = GROUPED[grouping]
    found = []
    for attribute, groups in zip(whole.attributes, shown.labels):
        rule = merge.get(attribute.name)
        if rule == [3]:
            rule = {"<3": [1, 2], "3+": [3, 4, 5]}
        named = rule or {}
        if named.get("any") == "*":
            named = {"any": list(attribute.labels())}
        found.append(
            [named.get(label) or [next(v for v in attribute.labels() if str(v) == str(label))] for label in groups]
        )
    return found


@every_release
@every_reading
@pytest.mark.parametrize("method", ["inverse", "em"])
@every_grouping
def test_a_merged_cell_is_the_count_of_its_values(name, about, method, grouping):
    """Cells of grouped tables, counts of the table apart, CASE and merge in SQL: value, error and limits are one."""
    merge, missing = GROUPED[grouping]
    ask = {"about": about, "method": method}
    whole = release(name).crosstab("colour", "size", **ask)
    shown = release(name).crosstab("colour", "size", merge=merge, missing=missing, **ask)
    cells = [shown.counts, shown.standard_errors, *shown.interval(0.9)]
    values = members(shown, whole, grouping)
    possible = shown.possible
    for place in np.argwhere(possible):
        where = {n: values[axis][code] for axis, (n, code) in enumerate(zip(("colour", "size"), place))}
        expected = [part[tuple(place)] for part in cells]
        assert parts(whole.count(where)) == pytest.approx(expected, **CLOSE)
        label = {n: shown.labels[axis][code] for axis, (n, code) in enumerate(zip(("colour", "size"), place))}
        assert parts(shown.count(label)) == pytest.approx(expected, **CLOSE)
    sql = "SELECT colour, size, COUNT(*) AS n FROM release GROUP BY colour, size"
    answer = release(name).query(sql, merge=merge, missing=missing, level=0.9, **ask)
    labels = [[None if label is None else str(label) for label in axis] for axis in shown.labels]
    rows = dict(zip(zip(*(map(str, answer.frame[n]) for n in ("colour", "size"))), zip(*answered(answer, "n"))))
    assert len(rows) == possible.sum()
    for place in np.argwhere(possible):
        row = rows[tuple(labels[axis][code] for axis, code in enumerate(place))]
        assert tuple(row) == tuple(part[tuple(place)] for part in cells)  # to the last bit


@every_release
@every_reading
def test_case_makes_the_same_groups(name, about):
    shown = release(name).crosstab("colour", "size", merge=WARM | LARGE, about=about)
    sql = (
        "SELECT CASE WHEN colour IN ('red', 'blue') THEN 'warm' ELSE colour END AS c, "
        "CASE WHEN size < 3 THEN '<3' ELSE '3+' END AS s, COUNT(*) AS n FROM release GROUP BY c, s"
    )
    answer = release(name).query(sql, about=about, level=0.9)
    rows = {(row["c"], row["s"]): row for row in answer.frame.to_dicts()}
    low, high = shown.interval(0.9)
    for place in np.argwhere(shown.possible):
        row = rows[tuple(shown.labels[axis][code] for axis, code in enumerate(place))]
        expected = [part[tuple(place)] for part in (shown.counts, shown.standard_errors, low, high)]
        assert [row[c] for c in ("n", "n_std_error", "n_low_90", "n_high_90")] == pytest.approx(expected, **CLOSE)


@every_release
@every_reading
@pytest.mark.parametrize("grouping", ["both", "everything in one", "some left out"])
@pytest.mark.parametrize("given", [(), ("colour",)])
@pytest.mark.parametrize(("method", "weights"), [("inverse", None), ("em", None), ("inverse", "weight")])
def test_shares_among_those_shown(name, about, grouping, given, method, weights):
    merge, missing = GROUPED[grouping]
    ask = {"about": about, "method": method, "weights": weights}
    shown = release(name).crosstab("colour", "size", merge=merge, missing=missing, **ask)
    shares = shown.shares(given, level=0.9)
    compared = 0
    for place in np.argwhere(shown.possible)[::3]:
        cell = {n: shown.labels[axis][code] for axis, (n, code) in enumerate(zip(("colour", "size"), place))}
        group = {n: cell[n] for n in given}
        people = shown.count(group)
        if min(people.value, people.unbiased) <= 0:
            continue
        expected = [part[tuple(place)] for part in (shares.shares, shares.standard_errors, shares.low, shares.high)]
        assert parts(shown.proportion(cell, group)) == pytest.approx(expected, rel=1e-6, abs=1e-9)
        compared += 1
    assert compared


@every_reading
@every_method
@pytest.mark.parametrize("missing", ["category", "exclude"])
def test_shares_of_groups_that_may_be_nobody(about, method, missing):
    """Also of cells that are impossible, and of those that are alone in their group: frame, number and query agree."""
    few, ask, seen = few_people(), {"about": about, "method": method, "missing": missing}, set()
    for names, given in itertools.permutations(("a", "c", "e"), 2):
        table = few.crosstab(names, given, level=0.9, **ask)
        for row in table.conditional(given).to_dicts():
            value, group = (None if row[name] == "(missing)" else row[name] for name in (names, given))
            asked = f"{names} IS NULL" if value is None else f"{names} = '{value}'"
            sql = f"SELECT {given}, COUNT(*) FILTER (WHERE {asked}) / COUNT(*) AS s FROM release GROUP BY {given}"
            frame = few.query(sql, level=0.9, **ask).to_polars().filter(pl.col(given) == row[given])
            quantity = table.proportion({names: value}, {given: group})
            expected = [
                row[c] for c in ("proportion", "proportion_std_error", "proportion_low_90", "proportion_high_90")
            ]
            queried = [frame[f"s{end}"].item() for end in ("", "_std_error", "_low_90", "_high_90")]
            for found in (parts(quantity), queried):
                assert [np.nan if x is None else x for x in found] == pytest.approx(
                    [np.nan if x is None else x for x in expected], **CLOSE, nan_ok=True
                )
            assert row["flag"] == quantity.flag(0.9) == frame["s_flag"].item()
            if expected[1] is None:
                seen.add((row["flag"], *expected[2:]))
    if missing == "exclude" and method == "inverse":
        assert {("impossible", 0.0, 0.0), ("near zero, small group", 1.0, 1.0)} <= seen
