"""The whole way from a target to a plan.

Given matrices take their share of the budget first; the design divides the rest over the other units. Whatever a design
does on the way, the finished integers are checked against the target before a plan leaves here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

from numpy.typing import ArrayLike

from .._blocks import Block, Matrix, TransitionMatrix
from .._errors import PlanError, SchemaError, TargetError, did_you_mean
from .._plan import Asked, CountNoise, Number, Plan, check_units
from .._progress import Progress, quiet
from .._schema import Schema, Unit
from .assemble import optimal_blocks
from .budget import Split, equal_epsilon, equal_rho, retention_blocks
from .central import CentralTarget
from .floor import Floor, FloorLike
from .lost import lost
from .target import Target, budget, check_records
from .workload import Workload, WorkloadLike, tables_of

_SPLITS: dict[str, Split] = {"equal-rho": equal_rho, "equal-epsilon": equal_epsilon, "joint": equal_epsilon}
DESIGNS: tuple[str, ...] = ("optimal", *_SPLITS)
MATRIX_WIDTH = 32


def plan(
    schema: Schema,
    *,
    records: int,
    k: Number | None = None,
    epsilon: Number | None = None,
    central_epsilon: Number | None = None,
    delta: float | None = None,
    design: str = "optimal",
    workload: WorkloadLike = 2,
    weighting: str = "relative",
    floor: FloorLike = 3,
    matrices: Mapping[str, TransitionMatrix | ArrayLike] | None = None,
    hide_count: Number | None = None,
    progress: Progress | None = None,
) -> Plan:
    """The plan that meets a target, made without any data.

    The tightest of all targets binds. Refused: a target that no plan can meet, with the nearest one that can be met.

    Parameters
    ----------
    schema
        The table to be released.
    records
        The number of rows to be released; with ``hide_count`` a public lower bound on it.
    k, epsilon
        The privacy target, one of them or both. With ``hide_count`` epsilon bounds the stronger promise that includes
        whether a person is in the table at all.
    central_epsilon, delta
        The differential privacy of the shuffled release as a whole, which is far below epsilon; ``delta`` is
        1/(10 records) by default.
    design
        ``optimal`` (the least error for the ``workload``), ``equal-rho`` (one rho for all attributes, the paper),
        ``equal-epsilon`` (the same share of the budget for each) or ``joint`` (all attributes one unit).
    workload
        What an optimal design serves: a number, for every table of up to that many attributes; "full", for the table of
        all attributes; or a list of tables, also with weights.
    weighting
        How tables count: "relative" to what each could reach alone, or "absolute".
    floor
        Which tables must not be worse than in the paper's design with the same epsilon: a number, for every table of up
        to that many attributes; "all"; None; or tables with their least eigenvalue.
    matrices
        Transition matrices of single attributes, by name; the design divides what is left of the budget among the
        others. With matrices for all attributes k and epsilon may be left out.
    hide_count
        Hide the record count with two-sided geometric noise: its ratio p, such as "9/10".
    progress
        Called with a word for the step and how much of it is done, while a plan for a central epsilon is searched for.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> pk.plan(schema, records=1_000, k=20)
    <Plan for 1,000 records of 2 attributes: k = 20, epsilon = 1.9812>
    """
    if not isinstance(schema, Schema):
        raise SchemaError(
            f"A schema is needed, not an object of type {type(schema).__name__}; read a file with read_schema."
        )
    if design not in DESIGNS:
        raise TargetError(f"The design '{design}' is unknown. {did_you_mean(str(design), DESIGNS)}")
    if matrices is not None and not isinstance(matrices, Mapping):
        raise PlanError("Matrices are given by the name of their attribute: {'sex': matrix}.")
    noise = None if hide_count is None else _count_noise(hide_count)
    served, bound = Workload.of(workload), Floor.of(floor)
    schema.refuse_undecided()
    by_matrix = _matrix_blocks(schema, matrices or {})
    units = _units_to_design(schema, design, set(by_matrix))
    central = CentralTarget.of(central_epsilon, delta, records, hidden=noise is not None)
    if central is not None and not (design == "optimal" and _can_be_one(schema, set(by_matrix))):
        check_units(len(units) + len(by_matrix))  # before they are designed, which may take long
    if not units and k is None and epsilon is None and central is None:
        check_records(records)
        designed: list[Block] = []
        problem: str | None = None
    else:
        whole = central.loosest if central is not None and k is None and epsilon is None else epsilon
        target = Target.of(records, k, whole, noise.p if noise else None)
        fixed = list(by_matrix.values())

        def design_for(limit: Fraction) -> tuple[list[Block], str | None]:
            if not units:
                return [], None
            if design != "optimal":
                return list(retention_blocks(units, _SPLITS[design], limit, target, fixed)), None
            tables = tables_of(served, weighting, budget(limit), units, fixed)
            return optimal_blocks(
                units, tables, limit, target, fixed, bound, lambda: _units_to_design(schema, "joint", set(by_matrix))[0]
            )

        limit = target.limit(fixed)
        designed, problem = (
            design_for(limit)
            if central is None
            else central.meet(design_for, limit, fixed, bool(units), progress or quiet)
        )
        target.check([*fixed, *designed])
        if central is not None:
            central.check([*fixed, *designed])
    blocks = sorted([*by_matrix.values(), *designed], key=lambda block: _first(schema, block.units[0]))
    asked = Asked(
        design=design,
        k=_text(k),
        epsilon=_text(epsilon),
        central_epsilon=_text(central_epsilon),
        delta=None if central is None else repr(float(central.delta)),
    )
    if design == "optimal" and units:
        asked = replace(
            asked,
            workload=served.asked,
            weighting=weighting,
            floor=bound.asked,
            fallback=problem,
            lost=lost(designed),
        )
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
        transition = matrix if isinstance(matrix, TransitionMatrix) else TransitionMatrix(matrix)
        blocks[name] = transition.to_block(Unit((name,), (attribute.size,)), MATRIX_WIDTH)
    return blocks


def _units_to_design(schema: Schema, design: str, by_matrix: set[str]) -> list[Unit]:
    if design != "joint":
        return [unit for unit in schema.units if unit.attributes[0] not in by_matrix]
    names = [attribute.name for attribute in schema.randomised if attribute.name not in by_matrix]
    if not names:
        return []
    try:
        return [schema.unit(names)]
    except SchemaError as error:
        problem = str(error)
    raise TargetError(f"The design 'joint' makes one unit of all attributes: {problem}")


def _can_be_one(schema: Schema, by_matrix: set[str]) -> bool:
    """Whether all attributes can be one unit, which an optimal design falls back to where that is better."""
    try:
        return bool(_units_to_design(schema, "joint", by_matrix))
    except TargetError:
        return False


def _first(schema: Schema, unit: Unit) -> int:
    return min(schema.names.index(name) for name in unit.attributes)


def _count_noise(hide_count: Number) -> CountNoise:
    try:
        return CountNoise(Fraction(repr(float(hide_count))) if isinstance(hide_count, float) else Fraction(hide_count))
    except (ValueError, TypeError, ZeroDivisionError) as error:
        if isinstance(error, PlanError):
            raise
    raise TargetError(f"hide_count = {hide_count} is not a ratio such as 9/10 or 0.9.")


def _text(value: Number | None) -> str | None:
    """A number as it was asked for, with all its digits."""
    if value is None:
        return None
    if isinstance(value, float):
        return repr(float(value))  # numpy's float64 is a float with another repr
    if isinstance(value, Fraction):
        return str(Context(prec=30).divide(Decimal(value.numerator), Decimal(value.denominator)))
    return str(value)
