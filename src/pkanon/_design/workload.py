"""The cross-tabulations an optimal design should serve best, and how much each of them counts.

A table M with V_M cells has the total squared error ``n (c_M - 1)`` (docs/why/theory.md 7); the objective is a
weighted sum of ``V_M (c_M - 1)`` over tables. Absolute weights are 1. Relative ones divide each table by
what it could reach alone, all of the budget spent on it: large tables then do not drown small ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

from .._blocks import Block
from .._errors import TargetError, did_you_mean
from .._plan import Tables
from .._schema import Unit

WorkloadLike: TypeAlias = int | str | Iterable[Sequence[str]] | Mapping[Any, float]
"""A workload as people ask for it: a number of attributes; "full"; or the tables themselves, with optional weights. Among
tables with weights, a number of attributes stands for every table of up to that many: ``{2: 1, ("sex", "age"): 30}``."""

MOST_TABLES = 100_000
"""Tables are weighed one by one, at about 30 microseconds each: 3 seconds for all."""
LARGEST_WEIGHT = 1e100
"""Weights of several tables are multiplied by errors and added up; floats end at 1e308."""


@dataclass(frozen=True)
class Workload:
    """Every table of up to ``most`` attributes, the ``listed`` tables with their weights, or both; else the full table."""

    most: int | None = None
    listed: Tables | None = None

    @classmethod
    def of(cls, workload: WorkloadLike) -> Workload:
        """The workload as it was asked for, read once, as it may be an iterator; refuses what is not a workload."""
        number = whole_number(workload)
        if number is not None:
            if number < 1:
                raise TargetError(f"workload = {number}: it is at least 1, the tables of single attributes.")
            return cls(number)
        if isinstance(workload, str) and workload == "full":
            return cls()
        if isinstance(workload, (str, bool)) or not isinstance(workload, Iterable):
            raise TargetError(
                f"The workload {workload!r} is unknown: a number of attributes, full, or a list of tables."
            )
        pairs = workload.items() if isinstance(workload, Mapping) else ((table, 1.0) for table in workload)
        listed: dict[tuple[str, ...], float] = {}
        most = None
        for table, weight in pairs:
            if (size := whole_number(table)) is not None:
                if size < 1 or most is not None or positive(weight, "The weight of a table") != 1:
                    raise TargetError(
                        "Beside tables, one number of attributes can be served, from 1 on, with weight 1."
                    )
                most = size
                continue
            key = read_table(table, "workload")
            listed[key] = listed.get(key, 0.0) + positive(weight, "The weight of a table")
        if not listed:
            if most is not None:
                return cls(most)
            raise TargetError("The workload is empty; name at least one table.")
        return cls(most, listed)

    @property
    def asked(self) -> int | str | Tables:
        """The workload as a plan records it."""
        if self.most and self.listed:
            named = "; ".join(",".join(table) + (f"={w:g}" if w != 1 else "") for table, w in self.listed.items())
            return f"{self.most}; {named}"
        return self.most or self.listed or "full"

    def weights(self, names: Sequence[str]) -> Tables:
        """Every table of attributes ``names`` with the weight it was given, its attributes in the order of ``names``."""
        if self.listed is not None:
            weights = dict(Workload(self.most).weights(names)) if self.most else {}
            for table, weight in self._listed_weights(self.listed, names).items():
                weights[table] = weights.get(table, 0.0) + weight
            return weights
        if self.most is None:
            return {tuple(names): 1.0}
        most = min(self.most, len(names))
        count = sum(math.comb(len(names), size) for size in range(1, most + 1))
        if count > MOST_TABLES:
            raise TargetError(
                f"The workload has {count:,} tables; {MOST_TABLES:,} can be weighed. Lower it, or name the tables that matter."
            )
        return {table: 1.0 for size in range(1, most + 1) for table in itertools.combinations(names, size)}

    @staticmethod
    def _listed_weights(listed: Tables, names: Sequence[str]) -> Tables:
        weights: dict[tuple[str, ...], float] = {}
        for table, weight in listed.items():
            for name in table:
                if name not in names:
                    raise TargetError(
                        f"The workload names '{name}', which is not randomised. {did_you_mean(name, names)}"
                    )
            ordered = tuple(name for name in names if name in table)
            weights[ordered] = weights.get(ordered, 0.0) + weight
        return weights


@dataclass(frozen=True)
class Table:
    """One table of a workload, as the units to be designed see it.

    ``cells``: how many cells each unit (by its number) has in it. ``fixed``: error factor times cells of blocks that
    are given already. ``weight``: how much its ``V_M (c_M - 1)`` counts.
    """

    names: tuple[str, ...]
    cells: Mapping[int, int]
    fixed: float
    weight: float

    @property
    def mask(self) -> int:
        """The units it has."""
        return sum(1 << unit for unit in self.cells)


def whole_number(value: object) -> int | None:
    """A number of attributes; None if it is no whole number."""
    if isinstance(value, bool):
        return None
    return int(value) if isinstance(value, Integral) else None


def read_table(table: Any, where: str) -> tuple[str, ...]:
    """The attributes of one table; a single name need not be in a list."""
    names = (table,) if isinstance(table, str) else tuple(table) if isinstance(table, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise TargetError(f"A table of the {where} names at least one attribute, and each once.")
    return names


def positive(value: Any, what: str) -> float:
    """A weight or an eigenvalue, checked; ``what`` is its name in errors."""
    number: Any = math.nan if isinstance(value, bool) or not isinstance(value, Real) else value
    if not 0 < number < LARGEST_WEIGHT:
        raise TargetError(f"{what} must be a positive number, not {str(value)[:20]}.")
    return float(number)


def tables_of(
    workload: Workload, weighting: str, epsilon: float, units: Sequence[Unit], fixed: Sequence[Block]
) -> list[Table]:
    """The tables of a workload, weighted for a budget of ``epsilon``."""
    if weighting not in ("relative", "absolute"):
        raise TargetError(f"The weighting '{weighting}' is unknown: relative or absolute.")
    names = [name for unit in units for name in unit.attributes] + [n for block in fixed for n in block.attributes]
    tables = []
    for table, weight in workload.weights(names).items():
        cells = {}
        for number, unit in enumerate(units):
            inside = [name for name in unit.attributes if name in table]
            if inside:
                shares = unit.shares(inside) if unit.forbid else None
                sizes = (unit.sizes[unit.attributes.index(name)] for name in inside)
                cells[number] = int((shares > 0).sum()) if shares is not None else math.prod(sizes)
        factor, fixed_cells = 1.0, 1
        for block in fixed:
            inside = [name for name in block.attributes if name in table]
            factor *= block.error_factor(inside)
            fixed_cells *= block.units[0].size if inside else 1
        if not cells or not math.isfinite(factor):
            continue
        size = math.prod(cells.values())
        if weighting == "relative":
            weight /= fixed_cells * size * max(alone(size, epsilon), 1e-300)
        tables.append(Table(table, cells, factor * fixed_cells, weight))
    if not tables:
        raise TargetError("The workload has no table that the design could change.")
    return tables


def alone(cells: int, epsilon: float) -> float:
    """c - 1 of a table with ``cells`` cells that has the whole budget to itself: the joint design on it."""
    gain = math.expm1(min(epsilon, 700.0))
    rho = gain / (gain + cells)
    return (cells - 1) / cells * (1 / rho**2 - 1) if rho else math.inf


def total_error(blocks: Sequence[Block], tables: Sequence[Table]) -> float:
    """The weighted error of a workload, which an optimal design minimises."""
    factors: dict[tuple[int, tuple[str, ...]], float] = {}
    total = 0.0
    for table in tables:
        factor = table.fixed
        for number, block in enumerate(blocks):
            inside = tuple(name for name in block.attributes if name in table.names)
            if (number, inside) not in factors:
                factors[number, inside] = block.error_factor(inside)
            factor *= factors[number, inside]
        cells = math.prod(table.cells.values())
        total += table.weight * (cells * factor - cells)
    return total
