"""Rows that devices have randomised, to a release: checked, shuffled, certified.

    codes of attributes, randomised -> shuffle -> release

Nothing is randomised here. The rows are released once, or in disjoint batches each with its own number of rows
(docs/why/theory.md 9): which rows were released before is for the caller to know.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._errors import DataError, PlanError, RefusedError
from .._plan import Collection, Plan
from .._progress import Progress, quiet
from .._sample import Keystream, System, draw_order
from .._schema import Codes, code_dtype
from .certificate import Certificate, central_of, data_digest
from .predicted import warn_of_unreadable
from .released import Release


def collected(
    plan: Plan,
    codes: Mapping[str, Codes],
    *,
    collection: Collection,
    allow_fewer: bool = False,
    progress: Progress | None = None,
) -> Release:
    """The release of rows whose ``codes`` devices have randomised by ``plan``, in a fresh random order."""
    progress = progress or quiet
    if plan.count_noise is not None:
        raise PlanError("A plan that hides the record count cannot be used for collected rows.")
    if plan.void_reasons:
        raise PlanError(f"The plan promises nothing, so no answers can be released by it. {plan.void_reasons[0]}")
    names = [attribute.name for attribute in plan.schema.randomised]
    columns = {name: np.asarray(codes[name]) for name in names}
    rows = len(columns[names[0]])
    _refuse_rows(plan, rows, allow_fewer=allow_fewer)
    for attribute in plan.schema.randomised:
        column = columns[attribute.name]
        if len(column) != rows or (column < 0).any() or (column >= attribute.size).any():
            raise DataError(f"The answers do not fit the plan: '{attribute.name}' has other values.")
        columns[attribute.name] = column.astype(code_dtype(attribute.size))
    for unit in plan.units:
        unit.join([columns[name] for name in unit.attributes])  # refuses forbidden combinations
    progress("shuffling", 0.0)
    order = draw_order(rows, Keystream(System().key()))
    released = {name: column[order] for name, column in columns.items()}
    progress("shuffling", 1.0)
    progress("certifying", 0.0)
    central = central_of(plan, rows)
    progress("certifying", 1.0)
    certificate = Certificate.of(plan, rows, data_digest(plan, released), central, private=True, collection=collection)
    warn_of_unreadable(plan, rows)
    return Release(plan=plan, certificate=certificate, codes=released)


def _refuse_rows(plan: Plan, rows: int, *, allow_fewer: bool) -> None:
    if rows < 2:
        raise DataError(
            f"There {'is one answer' if rows == 1 else 'are no answers'} to release; nobody can be hidden among so few."
        )
    if rows < plan.records and not allow_fewer:
        raise RefusedError(
            f"There are {rows:,} answers and people were promised k for {plan.records:,}, so k would be lower than promised; "
            "wait for more, or say allow_fewer (--allow-fewer)."
        )
