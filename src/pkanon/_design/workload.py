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
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

from .._blocks import Block
from .._errors import TargetError, did_you_mean
from .._schema import Unit

Weighting: TypeAlias = Literal["relative", "absolute"]
Workload: TypeAlias = int | str | Iterable[Sequence[str]] | Mapping[tuple[str, ...], float]
"""Every table of up to so many attributes; "full"; or the tables themselves, with weights if wanted."""
Floor: TypeAlias = int | str | Mapping[tuple[str, ...], float] | None
"""No table of up to so many attributes worse than in the paper; "all"; least eigenvalues by table; or none."""
Named: TypeAlias = dict[tuple[str, ...], float]

MOST_TABLES = 100_000
LARGEST_WEIGHT = 1e100


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


def read_workload(workload: Workload) -> int | str | Named:
    """A workload as a number, "full" or tables with weights; read once, as it may be an iterator."""
    number = _whole(workload)
    if number is not None:
        if number < 1:
            raise TargetError(f"workload = {number}: it is at least 1, the tables of single attributes.")
        return number
    if isinstance(workload, str) and workload == "full":
        return "full"
    if isinstance(workload, (str, bool)) or not isinstance(workload, Iterable):
        raise TargetError(f"The workload {workload!r} is unknown: a number of attributes, full, or a list of tables.")
    listed = workload.items() if isinstance(workload, Mapping) else ((table, 1.0) for table in workload)
    result: Named = {}
    for table, weight in listed:
        key = read_table(table, "workload")
        result[key] = result.get(key, 0.0) + _positive(weight, "The weight of a table")
    if not result:
        raise TargetError("The workload is empty; name at least one table.")
    return result


def read_floor(floor: Floor) -> int | str | Named | None:
    """A floor as a number of attributes, "all", tables with their least eigenvalue, or None."""
    if floor is None or (isinstance(floor, str) and floor == "all"):
        return floor
    number = _whole(floor)
    if number is not None and number >= 1:
        return number
    if isinstance(floor, Mapping):
        least = {read_table(table, "floor"): _positive(value, "A least eigenvalue") for table, value in floor.items()}
        return least or None
    raise TargetError(
        f"floor = {floor}: at least 1 attribute, all, none (None in Python), or tables with their least eigenvalue."
    )


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    return int(value) if isinstance(value, Integral) else None


def read_table(table: Any, where: str) -> tuple[str, ...]:
    """The attributes of one table; a single name need not be in a list."""
    names = (table,) if isinstance(table, str) else tuple(table) if isinstance(table, Iterable) else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise TargetError(f"A table of the {where} names at least one attribute, and each once.")
    return names


def _positive(value: Any, what: str) -> float:
    number: Any = math.nan if isinstance(value, bool) or not isinstance(value, Real) else value
    if not 0 < number < LARGEST_WEIGHT:
        raise TargetError(f"{what} must be a positive number, not {str(value)[:20]}.")
    return float(number)


def tables_of(
    workload: int | str | Named, weighting: str, epsilon: float, units: Sequence[Unit], fixed: Sequence[Block]
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


def _named(workload: int | str | Named, names: Sequence[str]) -> Named:
    """Every table of the workload with the weight it was given, its attributes in the order of ``names``."""
    if isinstance(workload, str):
        return {tuple(names): 1.0}
    if isinstance(workload, int):
        most = min(workload, len(names))
        count = sum(math.comb(len(names), size) for size in range(1, most + 1))
        if count > MOST_TABLES:
            raise TargetError(
                f"The workload has {count:,} tables; {MOST_TABLES:,} can be weighed. Lower it, or name the tables that matter."
            )
        return {table: 1.0 for size in range(1, most + 1) for table in itertools.combinations(names, size)}
    result: Named = {}
    for table, weight in workload.items():
        for name in table:
            if name not in names:
                raise TargetError(f"The workload names '{name}', which is not randomised. {did_you_mean(name, names)}")
        ordered = tuple(name for name in names if name in table)
        result[ordered] = result.get(ordered, 0.0) + weight
    return result
