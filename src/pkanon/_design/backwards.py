"""Planning backwards, without any data: how much privacy an error allows, and how many people it takes.

The error of a table is the standard error of its cells as a share of all people (the root of the mean over
cells): 0.02 is plus or minus 2 points. It grows with k, falls with the number of records, and is known before
any data exist (docs/theory.md 7), so both questions are answered by searching for the plan that just meets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._errors import InputError, TargetError, did_you_mean
from .._plan import Number, Plan, exact
from .._progress import Progress, quiet
from .._schema import Schema
from .planning import plan
from .search import Search
from .workload import read_table

LOWEST_EPSILON, HIGHEST_EPSILON = 1e-3, 25.0
"""Between them the epsilon is searched for. At the lowest 0.05% is left of a yes-no question, tanh(epsilon/2); at the highest
a true value is e^25, some 10^11, times as likely as another, and nothing is randomised to speak of."""
PRECISION = 1e-3
"""How closely epsilon is searched for, as a share of it; the number of records twice as closely, to promise 0.1%."""
MOST_RECORDS = 10**12
"""More than a hundred times the people on earth."""


def afford(
    schema: Schema,
    *,
    records: int,
    tables: Sequence[Sequence[str]],
    error: float,
    design: str = "optimal",
    progress: Progress | None = None,
    **options: Any,
) -> Plan:
    """The most private plan under which the cells of each of ``tables`` have a standard error of at most ``error``.

    Root mean square over the cells of a table, as a share of all people; single cells can have more.

    An optimal design serves just these tables unless ``workload`` says otherwise.
    """
    questions = _checked(schema, tables, error)
    if design == "optimal":
        options.setdefault("workload", questions)

    def design_for(epsilon: float) -> Plan | None:
        try:
            return plan(schema, records=records, epsilon=f"{epsilon:.6g}", design=design, **options)
        except TargetError:
            return None  # given matrices spend more than that

    search = Search(design_for, lambda result: math.log(_worst(result, questions) / error), _looking(progress or quiet))
    most_private = search.between(math.log(HIGHEST_EPSILON), math.log(LOWEST_EPSILON), PRECISION)
    if most_private is None:
        loosest = plan(schema, records=records, epsilon=HIGHEST_EPSILON, design=design, **options)
        raise TargetError(
            f"A standard error of {error:g} cannot be met with {records:,} records whatever the privacy: "
            f"{_worst(loosest, questions):.3g} is the least. Ask for smaller tables or more people."
        )
    return most_private


def records_needed(
    schema: Schema,
    *,
    tables: Sequence[Sequence[str]],
    error: float,
    k: Number | None = None,
    epsilon: Number | None = None,
    design: str = "optimal",
    progress: Progress | None = None,
    **options: Any,
) -> Plan:
    """The plan for the fewest records (to 0.1%) under which the cells of each of ``tables`` have a standard error of at most
    ``error``: root mean square over the cells of a table, as a share of all people.
    """
    questions = _checked(schema, tables, error)
    if design == "optimal":
        options.setdefault("workload", questions)
    if k is None and epsilon is None:
        raise TargetError("Ask for k, for epsilon or for both: how many people are needed depends on it.")

    least = 2 if k is None else max(2, math.ceil(exact(k, "k", up=True)) + 1)

    def design_for(records: float) -> Plan | None:
        try:
            return plan(schema, records=round(records), k=k, epsilon=epsilon, design=design, **options)
        except TargetError:
            return None  # too few for this k

    search = Search(design_for, lambda result: math.log(_worst(result, questions) / error), _looking(progress or quiet))
    fewest = search.between(math.log(MOST_RECORDS), math.log(least), PRECISION / 2)
    if fewest is None:
        # raises what is wrong with the question, if that is the reason
        plan(schema, records=MOST_RECORDS, k=k, epsilon=epsilon, design=design, **options)
        raise TargetError(
            f"More than {MOST_RECORDS:,} records would be needed; ask for smaller tables or a larger error."
        )
    return fewest


def _looking(progress: Progress) -> Callable[[int], None]:
    """About a dozen designs are looked at."""
    return lambda looks: progress("searching", 1 - 0.8**looks)


def _checked(schema: Schema, tables: Sequence[Sequence[str]], error: float) -> list[tuple[str, ...]]:
    if not (isinstance(error, (int, float)) and 0 < error < 1):
        raise InputError(f"A standard error is asked for as a share of all people, such as 0.02; it cannot be {error}.")
    questions = named_tables(schema, tables)
    if not questions:
        raise InputError("Name at least one table that the error is about.")
    return questions


def named_tables(schema: Schema, tables: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Tables by the names of their attributes, all of which must be randomised."""
    if not isinstance(schema, Schema):
        raise InputError("A schema is needed; read a file with read_schema.")
    questions = [read_table(table, "question") for table in tables]
    known = [attribute.name for attribute in schema.randomised]
    for name in (name for table in questions for name in table):
        if name not in known:
            raise InputError(
                f"The error is asked for a table of '{name}', which is not randomised. {did_you_mean(str(name), known)}"
            )
    return questions


def _worst(candidate: Plan, tables: Sequence[Sequence[str]]) -> float:
    return max(candidate.predict(*table).standard_error for table in tables)
