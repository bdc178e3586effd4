"""The cross-tabulations an optimal design should serve best, and how much each of them counts.

A table M with V_M cells has the total squared error ``n (c_M - 1)`` (docs/theory.md 7); the objective is a
weighted sum of ``V_M (c_M - 1)`` over tables. Absolute weights are 1. Relative ones divide each table by
what it could reach alone, all of the budget spent on it: large tables then do not drown small ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .._blocks import Block
from .._errors import TargetError, did_you_mean
from .._schema import Unit

Weighting: TypeAlias = Literal["relative", "absolute"]
Workload: TypeAlias = int | str | Iterable[Sequence[str]] | Mapping[tuple[str, ...], float]
"""Every table of up to so many attributes; "full"; or the tables themselves, with weights if wanted."""

MOST_TABLES = 100_000


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


def tables_of(
    workload: Workload, weighting: str, epsilon: float, units: Sequence[Unit], fixed: Sequence[Block]
) -> list[Table]:
    """The tables of a workload, weighted for a budget of ``epsilon``."""
    if weighting not in ("relative", "absolute"):
        raise TargetError(f"The weighting '{weighting}' is unknown: relative or absolute.")
    names = [name for unit in units for name in unit.attributes] + [n for block in fixed for n in block.attributes]
    found = []
    for table, asked in _named(workload, names).items():
        cells = {}
        for number, unit in enumerate(units):
            inside = [name for name in unit.attributes if name in table]
            if inside:
                shares = unit.shares(inside) if unit.forbid else None
                sizes = (unit.sizes[unit.attributes.index(name)] for name in inside)
                cells[number] = int((shares > 0).sum()) if shares is not None else math.prod(sizes)
        factor, given = 1.0, 1
        for block in fixed:
            inside = [name for name in block.attributes if name in table]
            factor *= block.error_factor(inside)
            given *= block.units[0].size if inside else 1
        if not cells or not math.isfinite(factor):
            continue
        size = math.prod(cells.values())
        weight = asked
        if weighting == "relative":
            weight /= given * size * max(alone(size, epsilon), 1e-300)
        found.append(Table(table, cells, factor * given, weight))
    if not found:
        raise TargetError("The workload has no table that the design could change.")
    return found


def alone(cells: int, epsilon: float) -> float:
    """c - 1 of a table with so many cells that has the whole budget to itself: the joint design on it."""
    gain = math.expm1(min(epsilon, 700.0))
    rho = gain / (gain + cells)
    return (cells - 1) / cells * (1 / rho**2 - 1) if rho else math.inf


def _named(workload: Workload, names: Sequence[str]) -> dict[tuple[str, ...], float]:
    """Every table of the workload with the weight it was given."""
    if workload == "full":
        return {tuple(names): 1.0}
    if isinstance(workload, str):
        raise TargetError(f"The workload '{workload}' is unknown: a number of attributes, full, or a list of tables.")
    if isinstance(workload, int):
        if isinstance(workload, bool) or workload < 1:
            raise TargetError(f"workload = {workload}: it is at least 1, the tables of single attributes.")
        most = min(workload, len(names))
        count = sum(math.comb(len(names), size) for size in range(1, most + 1))
        if count > MOST_TABLES:
            raise TargetError(
                f"The workload has {count:,} tables; {MOST_TABLES:,} can be weighed. Lower it, or name the tables that matter."
            )
        return {table: 1.0 for size in range(1, most + 1) for table in itertools.combinations(names, size)}
    if not isinstance(workload, Iterable):
        raise TargetError(f"The workload {workload!r} is unknown: a number of attributes, full, or a list of tables.")
    listed = workload.items() if isinstance(workload, Mapping) else ((table, 1.0) for table in workload)
    result: dict[tuple[str, ...], float] = {}
    for table, weight in listed:
        key = (table,) if isinstance(table, str) else tuple(table)
        for name in key:
            if name not in names:
                raise TargetError(f"The workload names '{name}', which is not randomised. {did_you_mean(name, names)}")
        if not key or len(set(key)) < len(key):
            raise TargetError("A table of the workload names at least one attribute, and each once.")
        if not (isinstance(weight, (int, float)) and math.isfinite(weight) and weight > 0):
            raise TargetError(f"The weight of a table must be a positive number, not {weight}.")
        ordered = tuple(name for name in names if name in key)
        result[ordered] = result.get(ordered, 0.0) + float(weight)
    if not result:
        raise TargetError("The workload is empty; name at least one table.")
    return result
