"""From a target to a plan.

target.py  what is asked for, as one exact budget
paper.py   Algorithms 1-3 of the paper
budget.py  how the budget is split over units and rounded to the private side
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction

from numpy.typing import ArrayLike

from .._blocks import Matrix, Retention, TransitionMatrix
from .._errors import PlanError, SchemaError, TargetError, did_you_mean
from .._plan import CountNoise, Plan
from .._schema import Schema, Unit
from .budget import Split, equal_epsilon, equal_rho, retention_blocks
from .paper import rho_from_both, rho_from_epsilon, rho_from_k
from .target import Number, Target, check_records

__all__ = ["DESIGNS", "plan", "rho_from_both", "rho_from_epsilon", "rho_from_k"]

_SPLITS: dict[str, Split] = {"equal-rho": equal_rho, "equal-epsilon": equal_epsilon, "joint": equal_epsilon}
DESIGNS = tuple(_SPLITS)
MATRIX_WIDTH = 32


def plan(
    schema: Schema,
    *,
    records: int,
    k: Number | None = None,
    epsilon: Number | None = None,
    design: str = "equal-rho",
    matrices: Mapping[str, TransitionMatrix | ArrayLike] | None = None,
    hide_count: Number | None = None,
) -> Plan:
    """The plan that meets a target, made without any data.

    ``records`` is the number of rows to be released; with ``hide_count`` it is a public lower bound
    on it, and epsilon then bounds the stronger promise that includes whether a person is in the
    table at all. ``design`` is ``equal-rho`` (one rho for all attributes, the paper),
    ``equal-epsilon`` (the same share of the budget for each) or ``joint`` (all attributes one unit).
    ``matrices`` fixes the transition matrix of single attributes; the design divides what is left of
    the budget among the others. With matrices for all attributes k and epsilon may be left out.
    """
    if not isinstance(schema, Schema):
        raise SchemaError(
            f"A schema is needed, not an object of type {type(schema).__name__}; read a file with read_schema."
        )
    if design not in _SPLITS:
        raise TargetError(f"The design '{design}' is unknown. {did_you_mean(design, DESIGNS)}")
    noise = None if hide_count is None else _count_noise(hide_count)
    given = _matrix_blocks(schema, matrices or {})
    units = _units_to_design(schema, design, set(given))
    if not units and k is None and epsilon is None:
        check_records(records)
        designed: list[Retention] = []
    else:
        target = Target.of(records, k, epsilon, noise.p if noise else None)
        fixed = list(given.values())
        limit = target.limit(fixed)
        designed = retention_blocks(units, _SPLITS[design], limit, target, fixed) if units else []
    blocks = sorted([*given.values(), *designed], key=lambda block: _first(schema, block.units[0]))
    asked = {"design": design}
    if k is not None:
        asked["k"] = _text(k)
    if epsilon is not None:
        asked["epsilon"] = _text(epsilon)
    return Plan(schema, tuple(blocks), int(records), asked, noise)


def _matrix_blocks(schema: Schema, matrices: Mapping[str, TransitionMatrix | ArrayLike]) -> dict[str, Matrix]:
    blocks = {}
    for name, matrix in matrices.items():
        attribute = schema.attribute(name)
        if attribute.role != "randomise":
            raise PlanError(f"A matrix is given for '{name}', whose role is '{attribute.role}'.")
        if any(name in bundle.attributes for bundle in schema.bundles):
            raise PlanError(
                f"A matrix is given for '{name}', which is in a bundle; a bundle is randomised as one thing."
            )
        given = matrix if isinstance(matrix, TransitionMatrix) else TransitionMatrix(matrix)
        blocks[name] = given.to_block(Unit((name,), (attribute.size,)), MATRIX_WIDTH)
    return blocks


def _units_to_design(schema: Schema, design: str, given: set[str]) -> list[Unit]:
    if design != "joint":
        return [unit for unit in schema.units if unit.attributes[0] not in given]
    names = [attribute.name for attribute in schema.randomised if attribute.name not in given]
    if not names:
        return []
    try:
        return [schema.unit(names)]
    except SchemaError as error:
        problem = str(error)
    raise TargetError(f"The design 'joint' makes one unit of all attributes: {problem}")


def _first(schema: Schema, unit: Unit) -> int:
    return min(schema.names.index(name) for name in unit.attributes)


def _count_noise(hide_count: Number) -> CountNoise:
    try:
        return CountNoise(Fraction(repr(hide_count)) if isinstance(hide_count, float) else Fraction(hide_count))
    except (ValueError, TypeError, ZeroDivisionError) as error:
        if isinstance(error, PlanError):
            raise
    raise TargetError(f"hide_count = {hide_count} is not a ratio such as 9/10 or 0.9.")


def _text(value: Number) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Fraction):
        return str(Context(prec=30).divide(Decimal(value.numerator), Decimal(value.denominator)))
    return str(value)
