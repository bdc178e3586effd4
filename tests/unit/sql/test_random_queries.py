"""Queries put together at random: with everything kept, duckdb says the same of the true table."""

import math
import random

import pytest

ORDERED = {
    "rooms": ["1", "2", "3", "4", "6"],
    "children": list("012345"),
    "wave": ["'2020-01-01'", "DATE '2021-06-15'"],
}
VALUES = {**ORDERED, "Region": ["'east'", "'north'", "'elsewhere'"], "married": ["TRUE", "FALSE"]}
EDGES = {"age": ["18", "30", "45", "65"], "income": ["0", "10", "20", "40"], "joined": ["'2016-01-01'", "'2017-01-01'"]}
ODD = ["married", "married IS NOT TRUE", "Region LIKE '%s%'", "Region NOT LIKE '_o%'", "children IS NULL"]


class Writer:
    """Writes SQL that can be answered."""

    def __init__(self, seed):
        self.draw = random.Random(seed)

    def comparison(self):
        pick = self.draw.choice
        if self.draw.random() < 0.25:
            name = pick(list(EDGES))
            edge = pick(EDGES[name])
            return pick([f"{name} >= {edge}", f"{name} < {edge}", f"{edge} <= {name}", f"{edge} > {name}"])
        name = pick(list(VALUES))
        value, other = pick(VALUES[name]), pick(VALUES[name])
        forms = [f"{name} = {value}", f"{value} <> {name}", f"{name} IN ({value}, {other})", f"{name} NOT IN ({value})"]
        if name in ORDERED:
            sign = pick(["<", "<=", ">", ">="])
            forms += [f"{name} {sign} {value}", f"{value} {sign} {name}", f"{name} NOT BETWEEN {value} AND {other}"]
        return pick([*forms, pick(ODD)])

    def condition(self, depth=2):
        if depth == 0 or self.draw.random() < 0.3:
            return self.comparison()
        if self.draw.random() < 0.3:
            return f"NOT ({self.condition(depth - 1)})"
        return f"({self.condition(depth - 1)}) {self.draw.choice(['AND', 'OR'])} ({self.condition(depth - 1)})"

    def number(self):
        written = self.draw.choice(
            [
                "COUNT(*)",
                "COUNT(children)",
                "SUM(rooms)",
                "AVG(children)",
                f"SUM(CASE WHEN {self.condition(1)} THEN -2 WHEN {self.comparison()} THEN 0.5 ELSE 1 END)",
                f"AVG(CASE WHEN {self.condition(1)} THEN 1 ELSE 0 END)",
                f"COUNT(CASE WHEN {self.comparison()} THEN 1 END)",
            ]
        )
        if self.draw.random() < 0.3:
            written += f" FILTER (WHERE {self.condition(1)})"
        ends = [
            "",
            "",
            f" {self.draw.choice('+-*')} 2",
            " / COUNT(*)",
            f" - {self.draw.choice(['SUM(rooms)', 'COUNT(*)'])}",
        ]
        return written + self.draw.choice(ends)

    def query(self):
        groups = self.draw.sample(list(VALUES), self.draw.randint(0, 2))
        numbers = [f"{self.number()} AS e{i}" for i in range(self.draw.randint(1, 3))]
        sql = f"SELECT {', '.join([*groups, *numbers])}, COUNT(*) AS n FROM release WHERE {self.condition()}"
        if groups:
            sql += f" GROUP BY {', '.join(groups)}"
            if self.draw.random() < 0.3:
                sql += f" HAVING n > {self.draw.randint(1, 9000)}.5 OR NOT AVG(rooms) > 2.{self.draw.randint(1, 9)}3"
        return sql, len(groups)


@pytest.mark.parametrize("batch", range(6))
def test_random_queries(batch, truth, seed):
    writer = Writer(seed + batch)
    for _ in range(25):
        sql, groups = writer.query()
        answer = truth.kept.query(sql)
        shown = {tuple(row[name] for name in answer.frame.columns[:groups]): row for row in answer.frame.to_dicts()}
        true = {row[:groups]: row[groups:] for row in truth.database.execute(sql).fetchall()}
        assert set(true) <= set(shown), sql
        for group in set(shown) - set(true):
            assert shown[group]["n"] == 0, sql  # in SQL a group of nobody is no group
        for group, numbers in true.items():
            for name, number in zip(answer.estimates, numbers):
                if number is None or math.isnan(number):
                    continue  # NULL, where nobody is summed: 0 here; 0 / 0: null here
                assert math.isclose(shown[group][name], float(number), rel_tol=1e-9, abs_tol=1e-6), sql
        for name in answer.estimates:
            assert not (answer.frame[f"{name}_std_error"].drop_nulls() > 1e-6).any(), sql
