"""With everything kept, an answer is what duckdb says of the true table; with noise, it is off by its own errors."""

import math

import numpy as np
import pytest
from mixed import make_release, noisy

import pkanon as pk

GROUPED = [
    "SELECT Region, COUNT(*) FROM release GROUP BY Region",
    "SELECT region AS r, COUNT(*) AS n FROM release x GROUP BY x.region",
    "SELECT married, COUNT(*), COUNT(children), SUM(children), AVG(children) FROM release GROUP BY 1",
    "SELECT rooms, wave, COUNT(*) FROM release GROUP BY rooms, wave",
    ("SELECT age, married, COUNT(*) FROM release GROUP BY age, married", "age", "age_bin"),
    ("SELECT age, SUM(rooms), AVG(children) FROM release WHERE married GROUP BY age", "age", "age_bin"),
    ("SELECT income, COUNT(*) FROM release GROUP BY income", "income", "income_bin"),
    ("SELECT joined, COUNT(*) FROM release WHERE wave > '2019-12-31' GROUP BY joined", "joined", "joined_bin"),
    "SELECT rooms, COUNT(*) FILTER (WHERE married) AS c, COUNT(*) FROM release GROUP BY rooms",
    "SELECT rooms, SUM(CASE WHEN Region = 'east' THEN 1 ELSE 0 END) / COUNT(*) AS share FROM release GROUP BY rooms",
    "SELECT rooms, AVG(CASE WHEN married THEN 1 WHEN NOT married THEN 0 END) AS share FROM release GROUP BY rooms",
    "SELECT rooms, SUM(rooms), COUNT(*) FROM release WHERE rooms <> 3 GROUP BY rooms",
    "SELECT rooms, COUNT(*) FROM release WHERE (rooms > 2 AND married) OR (rooms <= 2 AND NOT married) GROUP BY rooms",
    "SELECT rooms, SUM(children) FROM release WHERE rooms = 1 OR children >= 2 GROUP BY rooms",
    "SELECT CASE WHEN rooms <= 2 THEN 'few' ELSE 'many' END AS size, COUNT(*), AVG(children) FROM release GROUP BY 1",
    "SELECT CASE Region WHEN 'east' THEN 'E' WHEN 'west' THEN 'W' END AS side, COUNT(*) FROM release GROUP BY side",
    "SELECT CASE WHEN rooms > 3 THEN 'large' END AS l, married, COUNT(*) "
    "FROM release GROUP BY CASE WHEN rooms > 3 THEN 'large' END, married",
    "SELECT married, CASE WHEN age >= 65 THEN 3 WHEN children > 1 THEN 2 ELSE 1 END AS c, SUM(rooms) FROM release GROUP BY 1, 2",
    (
        "SELECT CASE WHEN Region IN ('east', 'west') THEN 'sides' ELSE Region END AS r, COUNT(*) FROM release GROUP BY 1",
        "ELSE Region",
        "ELSE Region::VARCHAR",
    ),
    "SELECT IF(children IS NULL, 'no', 'yes') AS said, wave, COUNT(*) FROM release WHERE rooms < 4 GROUP BY 1, wave",
    "SELECT CASE WHEN married THEN 'a' WHEN NOT married THEN 'b' ELSE 'c' END AS m, "
    "CASE WHEN rooms = 1 THEN 'x' ELSE 'y' END AS r, AVG(rooms) FROM release GROUP BY m, r",
    "SELECT wave, COUNT(*) * 100.0 / (COUNT(*) + SUM(rooms)) AS x FROM release WHERE children IS NOT NULL GROUP BY wave",
]
SINGLE = [
    "SELECT COUNT(*) FROM release",
    "select count(1) as n from Release",
    "SELECT COUNT(*) FROM release WHERE Region = 'east'",
    "SELECT COUNT(*) FROM release WHERE 'east' = Region AND NOT rooms = 1",
    "SELECT COUNT(*) FROM release WHERE Region IN ('east', 'elsewhere') OR rooms > 3",
    "SELECT COUNT(*) FROM release WHERE Region NOT IN ('east', 'west')",
    "SELECT COUNT(*) FROM release WHERE Region LIKE '%st'",
    "SELECT COUNT(*) FROM release WHERE Region NOT LIKE '_o%' AND Region ILIKE '%T'",
    "SELECT COUNT(*) FROM release WHERE children > 1",
    "SELECT COUNT(*) FROM release WHERE NOT children > 1",
    "SELECT COUNT(*) FROM release WHERE children <> 2",
    "SELECT COUNT(*) FROM release WHERE NOT (children = 2 AND married)",
    "SELECT COUNT(*) FROM release WHERE NOT (children = 2 OR married)",
    "SELECT COUNT(*) FROM release WHERE children NOT IN (0, 1)",
    "SELECT COUNT(*) FROM release WHERE children IS NULL OR married IS NULL",
    "SELECT COUNT(*) FROM release WHERE children BETWEEN 1 AND 3 AND married IS NOT TRUE",
    "SELECT COUNT(*) FROM release WHERE children NOT BETWEEN 1 AND 3",
    "SELECT COUNT(*) FROM release WHERE 3 > children AND rooms >= 2.5",
    "SELECT COUNT(*) FROM release WHERE married = FALSE OR NOT married IS NULL AND TRUE",
    "SELECT COUNT(*) FROM release WHERE age >= 30",
    "SELECT COUNT(*) FROM release WHERE age > 29 AND age < 65",
    "SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 64",
    "SELECT COUNT(*) FROM release WHERE age < 18 OR age > 64.5",
    "SELECT COUNT(*) FROM release WHERE NOT age < 45 AND married",
    "SELECT COUNT(*) FROM release WHERE income < 20",
    "SELECT COUNT(*) FROM release WHERE NOT income >= 10.0",
    "SELECT COUNT(*) FROM release WHERE income >= 0 AND income <= 40",
    "SELECT COUNT(*) FROM release WHERE joined >= '2016-01-01'",
    "SELECT COUNT(*) FROM release WHERE joined <= DATE '2016-12-31' AND wave = DATE '2020-01-01'",
    "SELECT COUNT(*) FROM release WHERE wave < '2020-06-01'",
    "SELECT COUNT(*) FROM release WHERE floor = 99 OR floor = 1",
    ("SELECT COUNT(*) FROM release WHERE age = '30-44' OR age IN ('65+')", "age", "age_bin"),
    ("SELECT COUNT(*) FROM release WHERE age LIKE '%-%'", "age", "age_bin"),
    ("SELECT SUM(age), AVG(age) FROM release WHERE age < 65", "(age)", "(age_mid)"),
    ("SELECT SUM(income), AVG(income), COUNT(income) FROM release WHERE married", "(income)", "(income_mid)"),
    ("SELECT AVG(age) - AVG(rooms) * 2 AS d FROM release", "AVG(age)", "AVG(age_mid)"),
    "SELECT -SUM(children) / 2 + 1 AS x, (COUNT(*) - 5) * (2 - 3) AS y FROM release",
    "SELECT SUM(rooms) FILTER (WHERE children > 1) AS s, AVG(rooms) FILTER (WHERE NOT married) AS a FROM release",
    "SELECT SUM(CASE Region WHEN 'east' THEN 2.5 WHEN 'west' THEN -1 END) AS s FROM release WHERE rooms < 4",
    "SELECT COUNT(CASE WHEN children > 1 THEN 1 END) AS n FROM release",
    "SELECT SUM(IF(children > 1, 1, 0)) AS n FROM release",
]
CHOSEN = [
    "SELECT Region, COUNT(*) AS n FROM release GROUP BY Region ORDER BY n DESC LIMIT 3",
    "SELECT Region, COUNT(*) FROM release GROUP BY Region ORDER BY 1 DESC LIMIT 2 OFFSET 1",
    "SELECT rooms, AVG(children) FROM release GROUP BY rooms HAVING COUNT(*) > 5000 ORDER BY rooms",
    "SELECT rooms, COUNT(*) AS n FROM release GROUP BY rooms HAVING n BETWEEN 5000 AND 9000 OR rooms = 6 ORDER BY 2",
    "SELECT wave, COUNT(*) FROM release GROUP BY wave HAVING wave >= '2020-01-01' ORDER BY wave",
    "SELECT children, COUNT(*) FROM release GROUP BY children HAVING NOT COUNT(*) < 100 ORDER BY children NULLS FIRST",
    "SELECT children, married, COUNT(*) FROM release GROUP BY 1, 2 ORDER BY married DESC, children LIMIT 9",
    "SELECT CASE WHEN rooms < 3 THEN 2 ELSE 1 END AS r, COUNT(*) AS n FROM release GROUP BY r HAVING n > 10 ORDER BY r DESC",
    "SELECT CASE WHEN rooms < 3 THEN 'a' WHEN rooms = 6 THEN 'b' END AS r, COUNT(*) FROM release GROUP BY r ORDER BY r NULLS FIRST",
    "SELECT CASE WHEN rooms < 3 THEN 'a' ELSE 'b' END AS r, Region, COUNT(*) FROM release GROUP BY 1, 2 "
    "ORDER BY CASE WHEN rooms < 3 THEN 'a' ELSE 'b' END DESC, Region LIMIT 4",
    "SELECT children, AVG(rooms) AS a FROM release GROUP BY children HAVING a IS NOT NULL ORDER BY AVG(rooms) + 1",
]  # fmt: skip


def both(query):
    """(what we are asked, what duckdb is asked)."""
    if isinstance(query, str):
        return query, query
    text, ours, theirs = query
    return text, text.replace(ours, theirs)


def as_rows(answer):
    """(labels, numbers) of every row."""
    names = [name for name in answer.frame.columns if not name.endswith(("_std_error", "_low_95", "_high_95", "_flag"))]
    return [
        (
            tuple(row[name] for name in names if name not in answer.estimates),
            [row[name] for name in names if name in answer.estimates],
        )
        for row in answer.frame.to_dicts()
    ]


def same(ours, theirs):
    # sums of at most 40,000 numbers below 100: rounding stays below 40,000 * 2^-53 relative
    return all(
        a == b if a is None or b is None else math.isclose(a, float(b), rel_tol=1e-10, abs_tol=1e-9)
        for a, b in zip(ours, theirs)
    )


@pytest.mark.parametrize("query", GROUPED + SINGLE + CHOSEN, ids=lambda query: both(query)[0][7:])
def test_kept_answers_are_true(query, truth):
    ours, theirs = both(query)
    answer = truth.kept.query(ours)
    found = as_rows(answer)
    labels = len(found[0][0])
    expected = [(row[:labels], list(row[labels:])) for row in truth.database.execute(theirs).fetchall()]
    if query in CHOSEN:
        assert [row for row, _ in found] == [row for row, _ in expected]
        assert all(same(a, b) for (_, a), (_, b) in zip(found, expected))
    else:
        wanted = dict(expected)
        assert set(wanted) <= {row for row, _ in found}
        for row, numbers in found:
            # a group that nobody is in does not appear in SQL; here it counts nobody
            assert same(numbers, wanted[row]) if row in wanted else all(not number for number in numbers)
    for name in answer.estimates:
        spread = answer.frame[f"{name}_std_error"].drop_nulls()
        assert (spread == 0).all()
        for end in ("low_95", "high_95"):
            off = answer.frame[f"{name}_{end}"] - answer.frame[name]
            assert off.abs().fill_null(0).max() <= 1e-9 * max(answer.frame[name].abs().fill_null(0).max(), 1)


def test_there_are_enough_queries():
    assert len(GROUPED + SINGLE + CHOSEN) >= 40


SEEDS = 24
TOLERANCE = 0.23
"""Numbers of one release hang together, so their mean squared deviation has a standard deviation of 0.22 (measured in 60
releases, mean 1.02). That of the mean of 24 releases is 0.22 / sqrt(24) = 0.045; five of them."""


@pytest.fixture(scope="module")
def deviations(truth, seed):
    """(estimate - truth) / standard error of every number in every query, one row per release."""
    asked = [both(query)[0] for query in GROUPED + SINGLE]
    true = [truth.kept.query(sql) for sql in asked]
    rows = []
    for number in range(SEEDS):
        release = make_release(truth.table, noisy, seed=seed + number)
        row = []
        for sql, kept in zip(asked, true):
            answer = release.query(sql)
            for name in answer.estimates:
                off = (answer.frame[name] - kept.frame[name]).to_numpy()
                spread = answer.frame[f"{name}_std_error"].to_numpy()
                assert (np.abs(off[spread == 0]) < 1e-6).all()
                row.append(off[spread > 0] / spread[spread > 0])
        rows.append(np.concatenate(row))
    return rows


def test_noisy_answers_are_off_by_their_errors(deviations):
    # 24 x 150 numbers, each beyond 5 with probability 6e-7: 0.2% in all
    assert max(np.abs(row).max() for row in deviations) < 5


def test_the_mean_squared_deviation_is_one(deviations):
    square = float(np.mean([np.mean(row**2) for row in deviations]))
    assert abs(square - 1) < TOLERANCE
    assert abs(square * 1.25**2 - 1) > TOLERANCE  # errors that are a fifth too small
    assert abs(square * 0.75**2 - 1) > TOLERANCE  # errors that are a third too large


def test_levels_and_populations(truth):
    release = make_release(truth.table, noisy)
    sql = "SELECT rooms, AVG(children) AS a FROM release WHERE married GROUP BY rooms"
    narrow, wide = (release.query(sql, level=level).frame for level in (0.5, 0.99))
    assert (narrow["a_low_50"] > wide["a_low_99"]).all()
    table, population = (release.query(sql, about=about).frame for about in ("table", "population"))
    assert (table["a_std_error"] < population["a_std_error"]).all()
    with pytest.raises(pk.InputError, match="level"):
        release.query(sql, level=95)
