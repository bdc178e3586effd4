"""A table of every kind of attribute, released with everything kept and with noise, and the same in duckdb."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np
import polars as pl

import pkanon as pk

ROWS = 40_000
MISSING: Any = None
REGIONS = ["east", "north", "south", "west"]
AGE_EDGES, AGE_MIDDLES = [18, 30, 45, 65], [11.5, 23.5, 37.0, 54.5, 74.5]
"""Middles of <18 (as wide as 18-29: 6 to 17), 18-29, 30-44, 45-64, 65+ (as wide as 45-64: 65 to 84)."""
INCOME_EDGES, INCOME_MIDDLES = [0.0, 10.0, 20.0, 40.0], [5.0, 15.0, 30.0]
WAVES = [dt.date(2020, 1, 1), dt.date(2021, 6, 15), dt.date(2019, 3, 31)]
JOINED_EDGES = [dt.date(2015, 1, 1), dt.date(2016, 1, 1), dt.date(2017, 1, 1), dt.date(2018, 1, 1)]


def make_schema() -> pk.Schema:
    return pk.Schema(
        [
            pk.Attribute("Region", REGIONS, other="elsewhere"),
            pk.Attribute("rooms", [1, 2, 3, 4, 6]),
            pk.Attribute.ranged("children", 0, 5, missing="value"),
            pk.Attribute.binned("age", edges=AGE_EDGES, open="both"),
            pk.Attribute.binned("income", edges=INCOME_EDGES, type="number", missing="value"),
            pk.Attribute("married", [False, True], missing="value"),
            pk.Attribute("wave", WAVES),
            pk.Attribute.binned("joined", edges=JOINED_EDGES, type="date"),
            pk.Attribute("floor", [0, 1, 2], other=99),
            pk.Attribute("person", role="id", type="integer"),
            pk.Attribute("remark", role="drop"),
            pk.Attribute("year", role="pass", type="integer"),
        ],
        [pk.Bundle(["age", "married"], forbid=[{"age": ["<18"], "married": [True]}])],
    )


def make_table(rows: int = ROWS) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    age = draw.integers(0, 95, rows)
    married = np.where(draw.random(rows) < 0.1, MISSING, draw.random(rows) < 0.5)
    married = np.where(age < 18, np.where(draw.random(rows) < 0.2, MISSING, False), married)
    days = draw.integers(0, (JOINED_EDGES[-1] - JOINED_EDGES[0]).days, rows)
    return pl.DataFrame(
        {
            "Region": draw.choice([*REGIONS, "mars", "venus"], rows, p=[0.3, 0.25, 0.2, 0.15, 0.05, 0.05]),
            "rooms": draw.choice([1, 2, 3, 4, 6], rows, p=[0.4, 0.2, 0.2, 0.15, 0.05]),
            "children": [None if x == 6 else int(x) for x in np.minimum(draw.poisson(1.5, rows), 6)],
            "age": age,
            "income": [None if x > 40 else x for x in np.round(draw.uniform(0, 44, rows), 3).tolist()],
            "married": pl.Series(married.tolist(), dtype=pl.Boolean),
            "wave": [WAVES[i] for i in draw.integers(0, 3, rows)],
            "joined": [JOINED_EDGES[0] + dt.timedelta(days=int(day)) for day in days],
            "floor": draw.choice([0, 1, 2, 7, 8], rows),
            "person": np.arange(rows),
            "remark": ["x"] * rows,
            "year": [2020] * rows,
        }
    ).with_columns(pl.when(pl.col("income") < 40).then(pl.col("income")))


def make_release(table: pl.DataFrame, replace: Callable[[pk.Unit], int], seed: int = 1) -> pk.Release:
    schema = make_schema()
    blocks = tuple(pk.Retention(unit, replace=replace(unit)) for unit in schema.units)
    plan = pk.Plan(schema, blocks, records=table.height)
    return pk.release(table, plan, randomness=pk.Seeded(seed), allow_pass=True)


def noisy(unit: pk.Unit) -> int:
    """Three quarters of the answers are kept, the others are drawn anew."""
    return 2**32 // (4 * unit.size)


def _binned(name: str, edges: Sequence[Any], labels: Sequence[str | None]) -> pl.Expr:
    """The label of a bin from the raw value, as an ordered category."""
    code = pl.lit(0)
    for edge in edges:
        code = code + (pl.col(name) >= edge).cast(pl.Int32)
    return code.replace_strict(dict(enumerate(labels)), return_dtype=pl.Enum([x for x in labels if x is not None]))


def _domain(schema: pk.Schema, name: str) -> Any:
    domain = schema.attribute(name).domain
    assert domain is not None
    return domain


def make_database(table: pl.DataFrame) -> duckdb.DuckDBPyConnection:
    """The true table in duckdb, with the columns that stand for bins: ``_bin`` their labels, ``_mid`` their middles."""
    schema = make_schema()
    ages, incomes, joined = (list(map(str, _domain(schema, name).labels())) for name in ("age", "income", "joined"))
    whole = table.with_columns(
        pl.when(pl.col("Region").is_in(REGIONS))
        .then("Region")
        .otherwise(pl.lit("elsewhere"))
        .cast(pl.Enum([*REGIONS, "elsewhere"])),
        floor=pl.when(pl.col("floor") <= 2).then("floor").otherwise(99),
        age_bin=_binned("age", AGE_EDGES, ages),
        income_bin=_binned("income", INCOME_EDGES[:-1], [None, *incomes]),
        joined_bin=_binned("joined", JOINED_EDGES[:-1], [None, *joined]),
    ).with_columns(
        age_mid=pl.col("age_bin").cast(pl.String).replace_strict(dict(zip(ages, AGE_MIDDLES))),
        income_mid=pl.col("income_bin").cast(pl.String).replace_strict(dict(zip(incomes, INCOME_MIDDLES))),
    )
    connection = duckdb.connect()
    connection.register("whole", whole.to_arrow())
    order = ", ".join(f"'{region}'" for region in [*REGIONS, "elsewhere"])
    connection.execute(f"CREATE TABLE release AS SELECT * REPLACE (Region::ENUM({order}) AS Region) FROM whole")
    return connection
