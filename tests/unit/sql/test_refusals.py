"""What is not answered is refused: the reason, and the nearest thing that is answered. And what is missed if it were not."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._results.sql import evaluate, logic

REFUSED = [
    # rows instead of groups
    ("SELECT * FROM release", "rows", "GROUP BY"),
    ("FROM release", "rows", "GROUP BY"),
    ("SELECT r.* FROM release r", "rows", "GROUP BY"),
    ("SELECT rooms FROM release", "rows", "data.parquet"),
    ("SELECT rooms FROM release GROUP BY rooms", "rows", "COUNT"),
    ("SELECT DISTINCT rooms, COUNT(*) FROM release GROUP BY rooms", "DISTINCT", "GROUP BY"),
    ("SELECT rooms, COUNT(*) FROM release", "'rooms' is in SELECT but not in GROUP BY", "aggregate it"),
    ("SELECT rooms + COUNT(*) FROM release GROUP BY rooms", "'rooms' stands outside an aggregate", "COUNT(rooms)"),
    ("SELECT COUNT(*), 1 + 1 FROM release", "no aggregate", "COUNT"),
    # aggregates
    ("SELECT COUNT(DISTINCT rooms) FROM release", "COUNT(DISTINCT rooms)", "GROUP BY rooms"),
    ("SELECT MAX(age) FROM release", "MAX(age)", ".quantile('age', 0.99)"),
    ("SELECT MIN(age) FROM release", "one randomised row", ".quantile('age', 0.01)"),
    ("SELECT MEDIAN(age) FROM release", "no sum", ".quantile('age', 0.5)"),
    ("SELECT QUANTILE_CONT(age, 0.5) FROM release", "no sum", "quantile"),
    ("SELECT STDDEV(age) FROM release", "no sum", ".deviation('age')"),
    ("SELECT CORR(age, rooms) FROM release", "CORR", "correlation"),
    ("SELECT SUM(Region) FROM release", "SUM needs numbers", "type text", "GROUP BY Region"),
    ("SELECT AVG(wave) FROM release", "AVG needs numbers", "type date"),
    ("SELECT SUM(age * 2) FROM release", "age * 2", "as they are"),
    ("SELECT SUM(*) FROM release", "SUM(*)", "name an attribute"),
    ("SELECT COUNT() FROM release", "needs something"),
    ("SELECT COUNT(rooms, age) FROM release", "cannot be answered"),
    ("SELECT SUM(CASE WHEN married THEN rooms ELSE 0 END) FROM release", "CASE gives numbers", "rooms"),
    ("SELECT COUNT(*) OVER () FROM release", "window", "GROUP BY"),
    ("SELECT ROUND(AVG(age), 1) FROM release", "ROUND", "cannot be answered"),
    ("SELECT COUNT(*), COUNT(*) FROM release", "Two columns would be called 'count'", "AS"),
    ("SELECT COUNT(*) AS n, COUNT(rooms) AS n_std_error FROM release", "n_std_error", "AS"),
    # other tables, other statements
    ("SELECT COUNT(*) FROM people", "no table people", "FROM release"),
    ("SELECT COUNT(*) FROM main.release", "no table main.release", "FROM release"),
    ("SELECT COUNT(*) FROM 'release.parquet'", "FROM release"),
    ("SELECT COUNT(*)", "FROM release"),
    ("SELECT COUNT(*) FROM release TABLESAMPLE 10%", "alias"),
    ("SELECT COUNT(*) FROM release AS r(rooms) WHERE rooms = 1", "alias"),
    ("SELECT COUNT(*) FROM release JOIN x ON TRUE", "JOIN", "one query"),
    ("SELECT COUNT(*) FROM release, release b", "JOIN", "one query"),
    ("SELECT COUNT(*) FROM (SELECT * FROM release)", "one SELECT", "two queries"),
    ("SELECT COUNT(*) FROM release WHERE rooms IN (SELECT 1)", "one SELECT"),
    ("SELECT COUNT(*) FROM release WHERE EXISTS (SELECT 1)", "one SELECT"),
    ("WITH t AS (SELECT 1) SELECT COUNT(*) FROM t", "WITH", "one SELECT"),
    ("SELECT COUNT(*) FROM release UNION SELECT COUNT(*) FROM release", "UNION", "one by one"),
    ("SELECT COUNT(*) FROM release; SELECT COUNT(*) FROM release", "several statements", "one query"),
    ("DROP TABLE release", "Only SELECT", "DROP"),
    ("INSERT INTO release VALUES (1)", "Only SELECT", "INSERT"),
    ("EXPLAIN SELECT COUNT(*) FROM release", "Only SELECT", "EXPLAIN"),
    ("", "SELECT COUNT(*) FROM release"),
    (" ; ", "SELECT COUNT(*) FROM release"),
    ("SELEC COUNT(*) FROM release", "Only SELECT", "not SELEC. Did you mean SELECT?"),
    ("DELETE FROM release", "Only SELECT", "not DELETE: a query never changes a release"),
    ("SELECT COUNT(* FROM release", "cannot be parsed as SQL", "near 'FROM'"),
    ("SELECT COUNT(*) FROM release WHERE rooms = = 3", "cannot be parsed as SQL"),
    ("SELECT COUNT(*) FROM release WHERE Region = 'east", "cannot be parsed as SQL", "left open"),
    ("SELECT COUNT(*) FROM release QUALIFY 1 = 1", "QUALIFY", "HAVING"),
    # names
    ("SELECT COUNT(*) FROM release WHERE regoin = 'east'", "no attribute 'regoin'", "Did you mean 'Region'?"),
    ("SELECT COUNT(*) FROM release WHERE year = 2020", "'year' is passed", "not randomised", "data.parquet"),
    ("SELECT COUNT(*) FROM release WHERE remark = 'x'", "'remark' was dropped", "not in the release"),
    ("SELECT person, COUNT(*) FROM release GROUP BY person", "'person' was dropped", "id"),
    ("SELECT COUNT(*) FROM release WHERE b.rooms = 1", "no table 'b'", "release"),
    # conditions
    ("SELECT COUNT(*) FROM release WHERE rooms = children", "two attributes", "GROUP BY both"),
    ("SELECT COUNT(*) FROM release WHERE rooms * 2 = 4", "rooms * 2", "as they are"),
    ("SELECT COUNT(*) FROM release WHERE UPPER(Region) = 'EAST'", "UPPER(Region)", "as they are"),
    ("SELECT COUNT(*) FROM release WHERE COUNT(*) > 3", "COUNT(*)"),
    ("SELECT COUNT(*) FROM release WHERE 1 = 1", "constant"),
    ("SELECT COUNT(*) FROM release WHERE children = NULL", "never true", "IS NULL"),
    ("SELECT COUNT(*) FROM release WHERE children NOT IN (1, NULL)", "never true", "IS NULL"),
    ("SELECT COUNT(*) FROM release WHERE Region = 'easst'", "not a value of 'Region'", "Did you mean 'east'?"),
    ("SELECT COUNT(*) FROM release WHERE Region IN ('east', 'mars')", "Unlisted values are all 'elsewhere'"),
    ("SELECT COUNT(*) FROM release WHERE Region > 'east'", "no order", "IN"),
    ("SELECT COUNT(*) FROM release WHERE married > FALSE", "no order", "TRUE"),
    ("SELECT COUNT(*) FROM release WHERE Region = 5", "texts", "quotes"),
    ("SELECT COUNT(*) FROM release WHERE rooms = '3'", "whole numbers", "without quotes"),
    ("SELECT COUNT(*) FROM release WHERE rooms = 5", "'5' is not a value of 'rooms'", "Available: 1, 2, 3, 4, 6"),
    ("SELECT COUNT(*) FROM release WHERE children = 9", "9 is not a value of 'children'", "from 0 to 5"),
    ("SELECT COUNT(*) FROM release WHERE children = 1.5", "whole numbers"),
    ("SELECT COUNT(*) FROM release WHERE married = 1", "TRUE or FALSE"),
    ("SELECT COUNT(*) FROM release WHERE wave = '2020'", "YYYY-MM-DD"),
    ("SELECT COUNT(*) FROM release WHERE wave = DATE '2020-13-01'", "YYYY-MM-DD"),
    ("SELECT COUNT(*) FROM release WHERE wave = TRY_CAST('2020-01-01' AS DATE)", "TRY_CAST", "as a constant"),
    ("SELECT COUNT(*) FROM release WHERE floor = 7", "Unlisted values are all '99'"),
    ("SELECT COUNT(*) FROM release WHERE rooms IS NULL AND rooms LIKE '1'", "LIKE is for texts"),
    ("SELECT COUNT(*) FROM release WHERE Region LIKE 5", "LIKE takes a text"),
    # bins
    ("SELECT COUNT(*) FROM release WHERE age >= 32", "32 splits the bin '30-44'", "age >= 30 or age >= 45."),
    ("SELECT COUNT(*) FROM release WHERE age <= 30", "<= 30 splits the bin '30-44'", "age < 30 or age < 45."),
    ("SELECT COUNT(*) FROM release WHERE age > 70", "70 splits the bin '65+'", "Ask for age >= 65."),
    ("SELECT COUNT(*) FROM release WHERE age < 10", "10 splits the bin '<18'", "Ask for age < 18."),
    ("SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 40", "40 splits", "age < 45"),
    ("SELECT COUNT(*) FROM release WHERE age = 32", "32 splits the bin '30-44'", "age = '30-44'"),
    ("SELECT COUNT(*) FROM release WHERE age = '30-34'", "not a value of 'age'", "30-44"),
    ("SELECT COUNT(*) FROM release WHERE age >= '30-44'", "takes a number", "= or IN"),
    ("SELECT COUNT(*) FROM release WHERE income <= 20", "<= 20 splits the bin '[20, 40)'", "income < 20 or income < 40"),
    ("SELECT COUNT(*) FROM release WHERE income = 50", "outside the bins"),
    ("SELECT COUNT(*) FROM release WHERE joined > '2016-01-01'", "splits the bin", "joined >= '2016-01-01'"),
    ("SELECT COUNT(*) FILTER (WHERE age > 31) FROM release", "31 splits the bin"),
    # groups and choices
    ("SELECT COUNT(*) FROM release GROUP BY age * 2", "GROUP BY takes attributes", "age * 2"),
    ("SELECT COUNT(*) FROM release GROUP BY ALL", "name them"),
    ("SELECT COUNT(*) FROM release GROUP BY ROLLUP(rooms)", "GROUP BY takes attributes"),
    ("SELECT COUNT(*) FROM release GROUP BY 1", "GROUP BY takes attributes"),
    ("SELECT rooms, COUNT(*) FROM release GROUP BY 3", "GROUP BY 3", "2 columns"),
    # groups by labels
    ("SELECT CASE WHEN rooms > 2 THEN 'a' END, COUNT(*) FROM release GROUP BY rooms", "not in GROUP BY", "there too"),
    ("SELECT CASE WHEN rooms > 2 THEN 'a' END FROM release GROUP BY 1", "rows", "COUNT"),
    ("SELECT COUNT(*) FROM release GROUP BY CASE WHEN rooms > 2 THEN age + 1 END", "a text, a number or an attribute"),
    ("SELECT COUNT(*) FROM release GROUP BY CASE WHEN COUNT(*) > 2 THEN 'a' END", "COUNT(*)"),
    ("SELECT COUNT(*) FROM release GROUP BY CASE WHEN age > 20 THEN 'a' END", "splits the bin"),
    ("SELECT COUNT(*) FROM release GROUP BY CASE WHEN rooms > 2 THEN person END", "'person' was dropped"),
    ("SELECT CASE WHEN rooms > 2 THEN 'a' END AS r, COUNT(*) FROM release GROUP BY r HAVING r = 'a'", "WHERE"),
    ("SELECT CASE WHEN rooms > 2 THEN 1 END AS r, SUM(r) FROM release GROUP BY r", "no attribute 'r'"),
    ("SELECT CASE WHEN rooms > 2 THEN 1 END AS r, COUNT(*) FROM release GROUP BY r ORDER BY r + 1", "no number"),
    ("SELECT rooms, COUNT(*) FROM release GROUP BY rooms ORDER BY CASE WHEN rooms > 2 THEN 1 END", "not in GROUP BY"),
    ("SELECT rooms, COUNT(*) FROM release GROUP BY rooms HAVING age > 30", "'age' is not in GROUP BY", "WHERE"),
    ("SELECT rooms, COUNT(*) FROM release GROUP BY rooms HAVING COUNT(*) > age", "'age' stands outside"),
    ("SELECT rooms, COUNT(*) AS age FROM release GROUP BY rooms HAVING age > 3", "can mean", "another name"),
    ("SELECT rooms, COUNT(*) FROM release GROUP BY rooms ORDER BY age", "not in GROUP BY", "rooms"),
    ("SELECT rooms, COUNT(*) FROM release GROUP BY rooms ORDER BY 3", "ORDER BY 3", "2 columns"),
    ("SELECT COUNT(*) FROM release LIMIT rooms", "LIMIT takes a whole number", "rooms"),
    ("SELECT COUNT(*) FROM release LIMIT 1.5", "LIMIT takes a whole number"),
    ("SELECT COUNT(*) FROM release LIMIT 10 PERCENT", "cannot be answered"),
    ("SELECT COUNT(*) FROM release WHERE " + "NOT (" * 5000 + "married" + ")" * 5000, "nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "words"), [(sql, words) for sql, *words in REFUSED], ids=lambda value: str(value)[:70])
def test_refused_with_the_reason_and_a_way_out(sql, words, truth, caplog):
    with pytest.raises(pk.InputError) as caught:
        truth.kept.query(sql)
    message = str(caught.value)
    for word in words:
        assert word in message
    assert "\n" not in message
    assert "\x1b" not in message
    assert "sqlglot" not in message
    assert message.endswith((".", "?"))
    assert not caplog.records  # the parser warns of some statements by itself


def test_too_large_a_table_is_refused_as_crosstab_refuses_it():
    names = [f"a{i}" for i in range(5)]
    schema = pk.Schema([pk.Attribute.ranged(name, 0, 99) for name in names])
    plan = pk.Plan(schema, tuple(pk.Retention(unit, replace=2**20) for unit in schema.units), records=2)
    table = pl.DataFrame({name: [1, 2] for name in names})
    release = pk.release(table, plan, randomness=pk.Seeded(1))
    with pytest.raises(pk.InputError, match="Leave out"):
        release.query(f"SELECT COUNT(*) FROM release GROUP BY {', '.join(names)}")


def test_without_sqlglot(truth, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(pk.EnvironmentFailure, match=r"pip install \"\.\[sql\]\""):
        truth.kept.query("SELECT COUNT(*) FROM release")


def test_everything_but_queries_works_without_sqlglot(tmp_path):
    program = f"""
import sys
sys.modules["sqlglot"] = None
import polars as pl
import pkanon as pk
schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
plan = pk.plan(schema, records=100, k=2)
pk.release(pl.DataFrame({{"sex": ["F", "M"] * 50}}), plan, randomness=pk.Seeded(1)).save(r"{tmp_path / "out"}")
opened = pk.open_release(r"{tmp_path / "out"}")
print(round(opened.crosstab("sex").counts.sum()))
try:
    opened.query("SELECT COUNT(*) FROM release")
except pk.EnvironmentFailure as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    sentence = 'Queries need the package sqlglot: install the extra "sql", in a clone with pip install ".[sql]".'
    assert done.stdout.splitlines() == ["100", sentence]


def test_sqlglot_is_loaded_with_the_first_query_and_not_before():
    program = "import sys, pkanon as pk; pk.open_release, pk.Estimate, pk.Answer; print('sqlglot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "False"


def test_unknown_methods_are_refused(truth):
    with pytest.raises(pk.InputError, match="no method"):
        truth.kept.query("SELECT COUNT(*) FROM release", method="guess")
    with pytest.raises(pk.InputError, match="population"):
        truth.kept.query("SELECT COUNT(*) FROM release", about="sample")


@pytest.mark.parametrize(
    "where", ["NOT children > 1", "NOT (children = 2 AND married)", "children NOT IN (0, 1)", "children <> 2"]
)
def test_a_logic_of_two_values_would_be_seen(where, truth, monkeypatch):
    """The comparison with duckdb fails for a mutant that takes a missing value as 'does not meet the condition'."""
    sql = f"SELECT COUNT(*) FROM release WHERE {where}"
    (expected,) = truth.database.execute(sql).fetchone()
    assert truth.kept.query(sql).frame["count"].item() == pytest.approx(expected)

    def two_values(leaf, attribute):
        met = logic.truth_of_codes(leaf, attribute).true
        if where == "children <> 2":  # the comparison itself has the missing value on the wrong side
            met = met | (np.arange(attribute.size) == attribute.missing_code)
        return logic.Truth(met, ~met)

    monkeypatch.setattr(evaluate, "truth_of_codes", two_values)
    assert truth.kept.query(sql).frame["count"].item() > expected + 1
