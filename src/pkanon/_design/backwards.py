"""Planning backwards, without any data: how much privacy an error allows, and how many people it needs.

The error of a table is the standard error of its cells as a share of all people (the root of the mean over
cells): 0.02 is plus or minus 2 points. It grows with k, falls with the number of records, and is known before
any data exist (docs/why/theory.md 7), so both questions are answered by searching for the plan that just meets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from numpy.typing import ArrayLike

from .._blocks import TransitionMatrix
from .._errors import InputError, TargetError, did_you_mean
from .._plan import Number, Plan, exact
from .._progress import Progress, quiet
from .._schema import Schema
from .floor import FloorLike
from .planning import plan
from .search import Search
from .workload import WorkloadLike, read_table

LOWEST_EPSILON, HIGHEST_EPSILON = 1e-3, 25.0
"""Between them the epsilon is searched for. At the lowest 0.05% is left of a yes-no question, tanh(epsilon/2); at the highest
a true value is e^25, some 10^11, times as likely as another, and hardly anything is randomised."""
PRECISION = 1e-3
"""How closely epsilon is searched for, as a share of it; the number of records twice as closely, to promise 0.1%."""
MOST_RECORDS = 10**12
"""More than a hundred times the people on earth."""


def plan_for_error(
    schema: Schema,
    *,
    records: int,
    tables: Sequence[Sequence[str]],
    error: float,
    design: str = "optimal",
    workload: WorkloadLike | None = None,
    weighting: str = "relative",
    floor: FloorLike = 3,
    matrices: Mapping[str, TransitionMatrix | ArrayLike] | None = None,
    hide_count: Number | None = None,
    progress: Progress | None = None,
) -> Plan:
    """The most private plan whose tables have at most a given standard error.

    The error of a table is the root mean square of the standard errors of its cells, as a share of all people: 0.02 is
    plus or minus 2 points. Single cells can have more.

    Parameters
    ----------
    schema
        The table to be released.
    records
        How many rows will be released.
    tables
        The cross-tabulations that must meet the error, each a list of attribute names.
    error
        The largest error allowed, between 0 and 1.
    design, weighting, floor, matrices, hide_count
        As in :func:`plan`.
    workload
        The tables an optimal design serves; ``tables`` by default.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> plan = pk.plan_for_error(schema, records=5_000, tables=[("sex", "rooms")], error=0.02)
    >>> plan.predict("sex", "rooms").standard_error <= 0.02
    True
    """
    questions = _checked(schema, tables, error)
    plan_with = partial(
        plan,
        schema,
        records=records,
        design=design,
        workload=questions if workload is None else workload,
        weighting=weighting,
        floor=floor,
        matrices=matrices,
        hide_count=hide_count,
    )

    def design_for(epsilon: float) -> Plan | None:
        try:
            return plan_with(epsilon=f"{epsilon:.6g}")
        except TargetError:
            return None  # the matrices spend more than that

    search = Search(design_for, lambda result: math.log(_worst(result, questions) / error), _looking(progress or quiet))
    best = search.between(math.log(HIGHEST_EPSILON), math.log(LOWEST_EPSILON), PRECISION)
    if best is None:
        least = _worst(plan_with(epsilon=HIGHEST_EPSILON), questions)
        raise TargetError(
            f"A standard error of {error:g} cannot be met with {records:,} records whatever the privacy; "
            f"the least is {least:.3g}. Ask for smaller tables or more people."
        )
    return best


def records_needed(
    schema: Schema,
    *,
    tables: Sequence[Sequence[str]],
    error: float,
    k: Number | None = None,
    epsilon: Number | None = None,
    design: str = "optimal",
    workload: WorkloadLike | None = None,
    weighting: str = "relative",
    floor: FloorLike = 3,
    matrices: Mapping[str, TransitionMatrix | ArrayLike] | None = None,
    hide_count: Number | None = None,
    progress: Progress | None = None,
) -> Plan:
    """The plan for the fewest records whose tables have at most a given standard error: the sample size for a target.

    Found to 0.1% of the records. The error is that of :func:`plan_for_error`.

    Parameters
    ----------
    schema
        The table to be released.
    tables
        The cross-tabulations that must meet the error, each a list of attribute names.
    error
        The largest error allowed, between 0 and 1.
    k, epsilon
        The privacy target, one of them or both.
    design, weighting, floor, matrices, hide_count
        As in :func:`plan`.
    workload
        The tables an optimal design serves; ``tables`` by default.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> pk.records_needed(schema, k=20, tables=[("sex", "rooms")], error=0.02).records
    1153
    """
    questions = _checked(schema, tables, error)
    if k is None and epsilon is None:
        raise TargetError("Ask for k, for epsilon or for both: how many people are needed depends on it.")
    plan_with = partial(
        plan,
        schema,
        k=k,
        epsilon=epsilon,
        design=design,
        workload=questions if workload is None else workload,
        weighting=weighting,
        floor=floor,
        matrices=matrices,
        hide_count=hide_count,
    )
    least = 2 if k is None else max(2, math.ceil(exact(k, "k", up=True)) + 1)

    def design_for(records: float) -> Plan | None:
        try:
            return plan_with(records=round(records))
        except TargetError:
            return None  # too few for this k

    search = Search(design_for, lambda result: math.log(_worst(result, questions) / error), _looking(progress or quiet))
    best = search.between(math.log(MOST_RECORDS), math.log(least), PRECISION / 2)
    if best is None:
        plan_with(records=MOST_RECORDS)  # says what is wrong, if anything
        raise TargetError(
            f"More than {MOST_RECORDS:,} records would be needed; ask for smaller tables or a larger error."
        )
    return best


def _looking(progress: Progress) -> Callable[[int], None]:
    """Reports the progress of a search, which makes about a dozen designs."""
    return lambda looks: progress("searching", 1 - 0.8**looks)


def _checked(schema: Schema, tables: Sequence[Sequence[str]], error: float) -> list[tuple[str, ...]]:
    if not (isinstance(error, (int, float)) and 0 < error < 1):
        raise InputError(f"A standard error is a share of all people, such as 0.02; it cannot be {error}.")
    questions = named_tables(schema, tables)
    if not questions:
        raise InputError("Name at least one table that the error is about.")
    return questions


def named_tables(schema: Schema, tables: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Tables by the names of their attributes, all of which must be randomised."""
    if not isinstance(schema, Schema):
        raise InputError("A schema is needed; read a file with read_schema.")
    schema.refuse_undecided()
    questions = [read_table(table, "question") for table in tables]
    known = [attribute.name for attribute in schema.randomised]
    for name in (name for table in questions for name in table):
        if name not in known:
            raise InputError(
                f"A table for the error names '{name}', which is not randomised. {did_you_mean(str(name), known)}"
            )
    return questions


def _worst(candidate: Plan, tables: Sequence[Sequence[str]]) -> float:
    return max(candidate.predict(*table).standard_error for table in tables)
