"""The pipeline: a table and a plan in, a release out.

    encode -> codes of attributes -> codes of units -> one row of each person -> randomise -> shuffle -> codes of attributes

One row of each person is drawn only where the schema asks for it (``repeats``); all counts are then of persons.

Everything that would weaken the promise is refused unless it is asked for by name. Nothing here
prints or logs. Errors say "some rows"; how many is told only to a custodian who asks (``exact_counts``).
With a hidden record count no error, no progress report and no result carries the true count, or a
number that was computed from it: the count leaves no trace but in memory.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np

from .._errors import DataError, EnvironmentFailure, PlanError, RefusedError
from .._frames import NO_ROWS, Encoded, TextFormat, encode
from .._plan import Central, Plan
from .._progress import Progress, quiet
from .._sample import (
    Keystream,
    Randomness,
    Records,
    System,
    draw_change,
    draw_one_each,
    draw_order,
    dummy_columns,
    is_private,
    randomise,
    round_places,
    thread_count,
)
from .._schema import Codes, Points
from .certificate import Certificate, central_of, data_digest, misses_central_target
from .predicted import warn_of_unreadable
from .released import Release


def release(
    table: object,
    plan: Plan,
    *,
    randomness: Randomness | None = None,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    drafted_not_protected: bool = False,
    data_dependent: bool = False,
    exact_counts: bool = False,
    text: TextFormat | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Randomise and shuffle a table according to a plan.

    Refused: whatever does not fit the schema, a table of one row, and what only the switches below accept. Where most
    tables that the plan serves cannot be read, it warns (:class:`ReadabilityWarning`).

    Parameters
    ----------
    table
        A polars, pandas or pyarrow table, a duckdb relation, the path of a file, or a :class:`TableFile`.
    plan
        What to do, from :func:`plan` or :func:`read_plan`.
    randomness
        Where the key comes from: the operating system by default. ``Seeded(7)``, or any object that is not exactly
        ``System()``, makes a release that claims nothing, for tests and teaching.
    allow_fewer
        Accept fewer rows than planned; k is then lower.
    allow_pass
        Accept columns that are released as they are; they void the guarantee.
    drafted_not_protected
        Accept a schema that was drafted from data and that nobody has confirmed; it voids the guarantee.
    data_dependent
        Accept matrices that were computed from the table; they void the guarantee.
    exact_counts
        Say in errors how many rows are at fault, not only that some are; refused for a hidden record count. Such a number is
        a fact about the private table: keep it as confidential as the table.
    text
        Delimiter and encoding, if the table is a text file.
    threads
        How many threads to use; chosen by the number of rows if not set. The result does not depend on it.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    Release
        Rows, plan and certificate; its ``table`` is of the kind that came in, polars for a path.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> pk.release(people, plan)
    <Release of 1,000 rows of 1 attribute: k = 20, epsilon = 1.9812>
    """
    chosen = randomness or System()
    _refuse_plan(
        plan,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
    )
    progress = _shown(plan, progress or quiet)
    with suppress(MemoryError):  # numpy's says how many rows it has no room for
        encoded = _encoded(table, plan, text, exact_counts, progress, unrounded=True)
        _refuse_rows(plan, encoded.people, allow_fewer=allow_fewer)
        central = _refuse_central(plan, encoded.people, allow_fewer=allow_fewer)
        codes, encoded = encoded.handed_over()
        made = _released(plan, codes, encoded, chosen, central, exact_counts, threads, progress)
        if is_private(chosen):  # others are for tests and teaching
            warn_of_unreadable(plan, made.rows)
        return made
    raise EnvironmentFailure("There is not enough memory for this table.")


def _released(
    plan: Plan,
    codes: dict[str, Codes],
    encoded: Encoded,
    chosen: Randomness,
    central: Central | str | None,
    exact_counts: bool,
    threads: int | None,
    progress: Progress,
) -> Release:
    """The release of the rows in ``codes``, which is emptied on the way; ``encoded`` is the rest of the table's record."""
    source = Keystream(chosen.key())
    _round(plan, codes, source)
    columns = _unit_columns(plan, codes, exact_counts=exact_counts)
    rows, passed = encoded.people, encoded.passed
    if encoded.persons is not None:
        kept = draw_one_each(encoded.persons, source)
        columns = [column[kept] for column in columns]
        passed = None if passed is None else passed[kept]
    if plan.count_noise is not None:
        change = draw_change(rows, plan.count_noise.p, source)
        if change > 0:
            added = dummy_columns(plan.units, change, source)
            columns = [np.concatenate(pair) for pair in zip(columns, added)]
        rows += change
    drawn = len(columns[0])
    records = Records([column.dtype for column in columns], drawn)
    with ThreadPoolExecutor(1) as pool:
        # the order needs no data: a second thread sorts while the first randomises
        spare = thread_count(drawn, threads) - 1
        ordering = pool.submit(draw_order, drawn, source) if spare else None
        randomise(
            plan.blocks,
            columns,
            source,
            out=records.columns,
            threads=spare or 1,
            progress=progress,
        )
        del columns
        progress("shuffling", 0.0)
        order = ordering.result() if ordering else draw_order(drawn, source)
    order = order[:rows]  # the last of a uniform order are uniform rows to drop
    moved = records.permuted(order, threads=threads)
    passed = None if passed is None else passed[order]
    progress("shuffling", 1.0)
    released = _attribute_columns(plan, moved)
    claims = is_private(chosen) and not plan.void_reasons
    if claims and central is None:
        progress("certifying", 0.0)
        central = central_of(plan, rows)
        progress("certifying", 1.0)
    return Release(
        plan=plan,
        certificate=Certificate.of(plan, rows, data_digest(plan, released), central, private=is_private(chosen)),
        codes=released,
        passed=passed,
        kind=encoded.kind,
        dropped=encoded.dropped,
    )


def check(
    table: object,
    plan: Plan,
    *,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    drafted_not_protected: bool = False,
    data_dependent: bool = False,
    exact_counts: bool = False,
    text: TextFormat | None = None,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Raise what :func:`release` would raise with the same arguments; release nothing.

    Parameters
    ----------
    table
        A polars, pandas or pyarrow table, a duckdb relation, the path of a file, or a :class:`TableFile`.
    plan
        The plan it is to be released with.
    allow_fewer, allow_pass, drafted_not_protected, data_dependent
        What to accept, as in :func:`release`.
    exact_counts
        Say in errors how many rows are at fault, as in :func:`release`.
    text
        Delimiter and encoding, if the table is a text file.
    progress
        Called with the name of a step and the share of it that is done.

    Returns
    -------
    dict
        About which share of the rows would be taken as ``other``, per attribute, in whole percents rounded up; nothing
        if the plan hides the record count.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> schema = pk.Schema([pk.Attribute("job", ["farmer", "nurse"], other="other")])
    >>> plan = pk.plan(schema, records=4, k=2)
    >>> pk.check(pl.DataFrame({"job": ["nurse", "farmer", "pilot", "nurse"]}), plan)
    {'job': 0.25}
    """
    _refuse_plan(
        plan,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
    )
    with suppress(MemoryError):
        encoded = _encoded(table, plan, text, exact_counts, _shown(plan, progress or quiet))
        _refuse_rows(plan, encoded.people, allow_fewer=allow_fewer)
        _refuse_central(plan, encoded.people, allow_fewer=allow_fewer)
        codes, encoded = encoded.handed_over()
        _unit_columns(plan, codes, exact_counts=exact_counts)
        if plan.count_noise is not None:
            return {}
        return {name: math.ceil(100 * share) / 100 for name, share in encoded.others.items()}
    raise EnvironmentFailure("There is not enough memory for this table.")


def _shown(plan: Plan, progress: Progress) -> Progress:
    """``progress``; for a hidden record count only where each step begins and ends, for shares tell how many rows there are."""
    if plan.count_noise is None:
        return progress
    told: set[tuple[str, float]] = set()

    def begin_and_end(step: str, done: float) -> None:
        for mark in (0.0, 1.0):
            if mark <= done and (step, mark) not in told:
                told.add((step, mark))
                progress(step, mark)

    return begin_and_end


def _encoded(
    table: object,
    plan: Plan,
    text: TextFormat | None,
    exact_counts: bool,
    progress: Progress,
    *,
    unrounded: bool = False,
) -> Encoded:
    return encode(
        table,
        plan.schema,
        text=text or TextFormat(),
        exact_counts=exact_counts,
        allow_repeats=True,
        allow_empty=True,  # _refuse_rows sees to it: with a hidden count "no rows" would be a number too
        unrounded=unrounded,
        progress=progress,
    )


def _refuse_plan(
    plan: Plan, *, allow_pass: bool, drafted_not_protected: bool, data_dependent: bool, exact_counts: bool
) -> None:
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


def _refuse_rows(plan: Plan, rows: int, *, allow_fewer: bool) -> None:
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


def _refuse_central(plan: Plan, rows: int, *, allow_fewer: bool) -> Central | str | None:
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


def _round(plan: Plan, codes: dict[str, Codes], source: Keystream) -> None:
    """Numbers between points become codes, at random."""
    for column, attribute in enumerate(plan.schema.randomised):
        if isinstance(attribute.domain, Points):
            places = codes[attribute.name].astype(np.uint32, copy=False)
            codes[attribute.name] = round_places(places, attribute.domain.bits, attribute.size, column, source)


def _unit_columns(plan: Plan, codes: dict[str, Codes], *, exact_counts: bool) -> list[Codes]:
    """One column of codes per unit. Empties ``codes``: a column that is joined with others is freed at once."""
    return [unit.join([codes.pop(name) for name in unit.attributes], exact_counts=exact_counts) for unit in plan.units]


def _attribute_columns(plan: Plan, columns: list[Codes]) -> dict[str, Codes]:
    split: dict[str, Codes] = {}
    for unit, column in zip(plan.units, columns):
        split.update(zip(unit.attributes, unit.split(column)))
    return {attribute.name: split[attribute.name] for attribute in plan.schema.randomised}
