"""Raw rows of every kind of attribute, and tables that keep every value: nothing is left to estimate."""

import math
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._schema import Unit, code_dtype

ROWS = 600
MISSING: Any = None

SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("smokes", [True, False], missing="value"),
        pk.Attribute.binned("age", start=0, stop=80, width=20, open="high"),
        pk.Attribute("income", [1.0, 2.5, 7.0], other=-9.0),
        pk.Attribute.ranged("score", -2, 6, missing="value"),
        pk.Attribute("town", ["Ulm", "Bonn", "Kiel"], other="elsewhere"),
    ]
)


class People:
    """Raw rows drawn once, as Python values; None is missing."""

    def __init__(self, seed: int):
        draw = np.random.default_rng(seed)
        sex = draw.choice(2, ROWS, p=[0.45, 0.55])
        self.sex = np.array(["F", "M"])[sex]
        says = draw.random(ROWS) < 0.6 - 0.3 * sex
        self.smokes = np.where(draw.random(ROWS) < 0.1, MISSING, says)
        self.age = draw.integers(0, 100, ROWS)
        self.income = draw.choice([1.0, 2.5, 7.0, 55.5], ROWS, p=[0.4, 0.3, 0.2, 0.1])  # 55.5 is not listed
        score = np.clip(np.rint(draw.normal(1.5 + sex + self.age / 40, 1.5, ROWS)), -2, 6).astype(int)
        self.score = np.where(draw.random(ROWS) < 0.15, MISSING, score)
        self.town = draw.choice(["Ulm", "Bonn", "Kiel", "Trier", "Mainz"], ROWS, p=[0.3, 0.3, 0.2, 0.1, 0.1])

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        return np.array([score is not None for score in self.score])

    def table(self, *names: str, about: str = "population", schema: pk.Schema = SCHEMA, **more: Any) -> pk.Estimate:
        blocks = tuple(Retention(Unit((a.name,), (a.size,)), 0, 32) for a in schema.attributes)
        codes = {
            a.name: np.array([a.code(value) for value in getattr(self, a.name).tolist()], code_dtype(a.size))
            for a in schema.attributes
            if a.name in names
        }
        return pk.Estimate.of(schema, blocks, codes, names, about=about, **more)


def inflated(variance: float, rows: int = ROWS) -> float:
    """The formula divides by n - 1 where a delta-method textbook divides by n."""
    return math.sqrt(variance * rows / (rows - 1))


def kept(rows: pl.DataFrame, schema: pk.Schema, **more: Any) -> pk.Release:
    """A release in which every answer is kept."""
    blocks = tuple(Retention(unit, 0, 32) for unit in schema.units)
    return pk.release(rows, pk.Plan(schema, blocks, rows.height), randomness=pk.Seeded(1), **more)
