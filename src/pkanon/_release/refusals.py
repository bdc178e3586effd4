"""What no release is made of, in whatever engine: plans, numbers of rows, and targets that they miss.

Everything that would weaken the promise is refused unless it is asked for by name. With a hidden record count no sentence
here carries the true count, or a number that was computed from it.
"""

from __future__ import annotations

from .._errors import DataError, PlanError, RefusedError
from .._frames import NO_ROWS
from .._plan import Central, Plan
from .certificate import central_of, misses_central_target


def refuse_plan(
    plan: Plan, *, allow_pass: bool, drafted_not_protected: bool, data_dependent: bool, exact_counts: bool
) -> None:
    """Refuse a plan that no release may be made of, or only one that is asked for by name."""
    if not isinstance(plan, Plan):
        raise PlanError(f"A plan is needed, not an object of type {type(plan).__name__}; read a file with read_plan.")
    if exact_counts and plan.count_noise is not None:
        raise RefusedError(
            "The plan hides the record count, so no error may count rows; leave out exact_counts (--exact-counts)."
        )
    passed = ", ".join(attribute.name for attribute in plan.schema.passed)
    if passed and plan.count_noise is not None:
        raise PlanError(f"The plan hides the record count, so no column can be passed; drop {passed}.")
    if passed and not allow_pass:
        raise RefusedError(
            f"Passed columns ({passed}) are released as they are and void the guarantee; drop them, or say allow_pass "
            "(--allow-pass) if that is meant."
        )
    if plan.schema.drafted and not drafted_not_protected:
        raise RefusedError(
            "The values of the schema were read off a table and nobody has confirmed that they are public knowledge, which "
            "voids the guarantee; confirm them with pkanon confirm (in Python: schema.confirm), or say drafted_not_protected "
            "(--drafted-not-protected) if that is meant."
        )
    if plan.data_dependent and not data_dependent:
        raise RefusedError(
            "The plan has a matrix computed from the private table, which voids the guarantee; say data_dependent "
            "(--data-dependent) if that is meant."
        )


def refuse_rows(plan: Plan, rows: int, *, allow_fewer: bool) -> None:
    """Refuse too few ``rows``, or persons where one row of each is drawn."""
    one, many = ("row", "rows") if plan.schema.repeating is None else ("person", "persons")
    if plan.count_noise is not None:
        if rows < plan.records:  # no numbers: the true count is hidden
            raise DataError(
                f"The table has fewer {many} than the public lower bound of the plan, {plan.records:,}; plan for a lower one."
            )
        return
    if rows == 0:
        raise DataError(NO_ROWS)
    if rows == 1:
        raise DataError(f"The table has one {one}; a single person cannot be hidden.")
    if rows < plan.records and not allow_fewer:
        raise RefusedError(
            f"The table has {rows:,} {many} and the plan was made for {plan.records:,}, so k would be lower than planned; make "
            f"a plan for the {many} there are, or say allow_fewer (--allow-fewer)."
        )


def refuse_central(plan: Plan, rows: int, *, allow_fewer: bool) -> Central | str | None:
    """The central epsilon of these rows, where a target for it was planned for another number of rows; else None.

    Fewer rows hide a person less, and with more rows the delta that was asked for may be too large to mean anything.
    """
    if plan.asked.central_epsilon is None or rows == plan.records or plan.count_noise is not None:
        return None  # a hidden count has no central epsilon, and the true one is not to be told
    central = central_of(plan, rows)
    if misses_central_target(plan, central) and not allow_fewer:
        raise RefusedError(
            f"The central epsilon that was asked for, {plan.asked.central_epsilon}, was planned for {plan.records:,} rows and is "
            f"not reached with {rows:,}; make a plan for the rows there are, or say allow_fewer (--allow-fewer)."
        )
    return central
