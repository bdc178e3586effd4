"""The pipeline: a table and a plan in, a release out.

    encode -> codes of attributes -> codes of units -> one row of each person -> randomise -> shuffle -> codes of attributes

One row of each person is drawn only where the schema asks for it (``repeats``); all counts are then of persons.

Everything that would weaken the promise is refused unless it is asked for by name. Nothing here
prints or logs. Errors say "some rows"; how many is told only to a custodian who asks (``exact_counts``).
With a hidden record count no error, no progress report and no result carries the true count, or a
number that was computed from it: the count leaves no trace but in memory.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import numpy as np

from .._errors import EnvironmentFailure
from .._frames import Encoded, TextFormat, encode, sort_words
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
    keep_freed_memory,
    randomise,
    thread_count,
)
from .._schema import Codes
from .refusals import refuse_central, refuse_plan, refuse_rows
from .released import Release
from .steps import attribute_columns, certified, round_points, shares_of_others, shown, unit_columns


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
    """Randomise and shuffle a table in memory; the arguments are those of :func:`pkanon.release`."""
    chosen = randomness or System()
    refuse_plan(
        plan,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
    )
    progress = shown(plan, progress or quiet)
    keep_freed_memory()
    with suppress(MemoryError):  # numpy's says how many rows it has no room for
        encoded = _encoded(table, plan, text, exact_counts, progress, unrounded=True)
        refuse_rows(plan, encoded.people, allow_fewer=allow_fewer)
        central = refuse_central(plan, encoded.people, allow_fewer=allow_fewer)
        codes, encoded = encoded.handed_over()
        return _released(plan, codes, encoded, chosen, central, exact_counts, threads, progress)
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
    round_points(plan, codes, source)
    columns = unit_columns(plan, codes, exact_counts=exact_counts)
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
    spare = thread_count(drawn, threads) - 1
    with ThreadPoolExecutor(1) if spare else nullcontext() as pool:
        # the order needs no data: a second thread sorts while the first randomises
        ordering = pool.submit(draw_order, drawn, source, sort_words) if pool else None
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
        order = ordering.result() if ordering else draw_order(drawn, source, sort_words)
    order = order[:rows]  # the last of a uniform order are uniform rows to drop
    moved = records.permuted(order, threads=threads)
    passed = None if passed is None else passed[order]
    progress("shuffling", 1.0)
    return certified(
        plan,
        attribute_columns(plan, moved),
        passed,
        rows,
        central,
        chosen=chosen,
        kind=encoded.kind,
        dropped=encoded.dropped,
        progress=progress,
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
    """Raise what :func:`release` would raise, with the table in memory; the arguments are those of :func:`pkanon.check`."""
    refuse_plan(
        plan,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
    )
    with suppress(MemoryError):
        encoded = _encoded(table, plan, text, exact_counts, shown(plan, progress or quiet))
        refuse_rows(plan, encoded.people, allow_fewer=allow_fewer)
        refuse_central(plan, encoded.people, allow_fewer=allow_fewer)
        codes, encoded = encoded.handed_over()
        unit_columns(plan, codes, exact_counts=exact_counts)
        return shares_of_others(plan, encoded)
    raise EnvironmentFailure("There is not enough memory for this table.")


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
        allow_empty=True,  # refuse_rows sees to it: with a hidden count "no rows" would be a number too
        unrounded=unrounded,
        progress=progress,
    )
