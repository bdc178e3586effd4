"""Tables of a workload and their total error, from predictions: V_M (c_M - 1), times a weight."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from plans import schema_of

import pkanon as pk

Table = tuple[str, ...]
Workload = Mapping[Table, float]

SIMPLE = ("equal-rho", "equal-epsilon", "joint")


def tables_up_to(names: Sequence[str], most: int) -> list[Table]:
    return [c for count in range(1, min(most, len(names)) + 1) for c in itertools.combinations(names, count)]


def tables_of(names: Sequence[str], workload: int | Workload | Iterable[Table] | Literal["full"]) -> dict[Table, float]:
    """Every table of a workload with its weight."""
    if workload == "full":
        return {tuple(names): 1.0}
    if isinstance(workload, int):
        return dict.fromkeys(tables_up_to(names, workload), 1.0)
    return dict(workload) if isinstance(workload, Mapping) else dict.fromkeys(workload, 1.0)


def total_error(plan: pk.Plan, table: Table) -> float:
    """V_M (c_M - 1): rmse^2 is n (c_M - 1) / V_M."""
    prediction = plan.predict(*table)
    return prediction.rmse**2 * prediction.cells**2 / plan.records


def objective(plan: pk.Plan, tables: Workload) -> float:
    return weighted({table: total_error(plan, table) for table in tables}, tables)


def weighted(errors: Mapping[Table, float], tables: Workload) -> float:
    """The sum over the tables of a workload, each with its weight."""
    return sum(weight * errors[table] for table, weight in tables.items())


SCHEMAS = {
    "one attribute": schema_of([7]),
    "all binary": schema_of([2, 2, 2, 2]),
    "mixed sizes": schema_of([2, 18, 5]),
    "a bundle": pk.Schema(
        [pk.Attribute.ranged("a0", 1, 2), pk.Attribute.ranged("a1", 1, 3), pk.Attribute.ranged("a2", 1, 4)],
        [pk.Bundle(["a1", "a2"], forbid=[{"a1": [1], "a2": [2, 3, 4]}, {"a1": [2], "a2": [1]}])],
    ),
}
MATRIX = {"a0": [[0.6, 0.4], [0.45, 0.55]]}  # e^eps = 55/40, 0.318
TARGETS: list[dict[str, Any]] = [
    {"epsilon": 0.001},
    {"epsilon": 0.3},
    {"epsilon": 1},
    {"epsilon": 2.5},
    {"epsilon": 6},
    {"epsilon": 28},
    {"k": 2},
    {"k": 40_000},
]
RECORDS = 100_000


def l1_errors(plan: pk.Plan, tables: Iterable[Table]) -> dict[Table, float]:
    """The predicted L1 error of each table."""
    return {table: plan.predict(*table).l1 for table in tables}


def least_gain(plan: pk.Plan, paper: Mapping[Table, float]) -> tuple[float, Table]:
    """The smallest factor by which the paper's predicted L1 error is larger, and its table."""
    return min((error / plan.predict(*table).l1, table) for table, error in paper.items())
