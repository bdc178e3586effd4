"""The steps that every engine shares: what happens to some rows, and the release of rows that are done.

An engine reads a table, gives each row its number, and calls these on as many rows at a time as it likes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .._estimate import StoredCodes
from .._frames import Encoded, Kind
from .._plan import Central, Plan
from .._progress import Progress
from .._sample import Keystream, Randomness, is_private, round_places
from .._schema import Codes, Points
from .certificate import Certificate, central_of, data_digest
from .released import Release

if TYPE_CHECKING:
    import polars as pl


def shown(plan: Plan, progress: Progress) -> Progress:
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


def round_points(plan: Plan, codes: dict[str, Codes], source: Keystream, *, first_record: int = 0) -> None:
    """Numbers between points become codes, at random; ``first_record`` is the number of the first row in the whole table."""
    for column, attribute in enumerate(plan.schema.randomised):
        if isinstance(attribute.domain, Points):
            places = codes[attribute.name].astype(np.uint32, copy=False)
            codes[attribute.name] = round_places(
                places, attribute.domain.bits, attribute.size, column, source, first_record=first_record
            )


def unit_columns(plan: Plan, codes: dict[str, Codes], *, exact_counts: bool) -> list[Codes]:
    """One column of codes per unit. Empties ``codes``: a column that is joined with others is freed at once."""
    return [unit.join([codes.pop(name) for name in unit.attributes], exact_counts=exact_counts) for unit in plan.units]


def attribute_columns(plan: Plan, columns: Sequence[Codes]) -> dict[str, Codes]:
    """The columns of the attributes, from one column per unit."""
    split: dict[str, Codes] = {}
    for unit, column in zip(plan.units, columns):
        split.update(zip(unit.attributes, unit.split(column)))
    return {attribute.name: split[attribute.name] for attribute in plan.schema.randomised}


def shares_of_others(plan: Plan, encoded: Encoded) -> dict[str, float]:
    """Which share of the rows is taken as ``other``, in whole percents; nothing if the record count is hidden."""
    if plan.count_noise is not None:
        return {}
    return {name: math.ceil(100 * share) / 100 for name, share in encoded.others.items()}


def certified(
    plan: Plan,
    codes: Mapping[str, Codes],
    passed: pl.DataFrame | None,
    rows: int,
    central: Central | str | None,
    *,
    chosen: Randomness,
    kind: Kind,
    dropped: tuple[str, ...],
    progress: Progress,
) -> Release:
    """The release of ``rows`` randomised and shuffled rows, with its certificate; ``central`` is computed where it is None."""
    if is_private(chosen) and not plan.void_reasons and central is None:
        progress("certifying", 0.0)
        central = central_of(plan, rows)
        progress("certifying", 1.0)
    if not isinstance(codes, StoredCodes):  # those are on a disk, and reading a column gives a copy
        for column in codes.values():
            column.flags.writeable = False  # the digest is computed when somebody looks, and must be that of these rows
    digest = partial(data_digest, plan, codes)
    return Release(
        plan=plan,
        certificate=Certificate.of(plan, rows, digest, central, private=is_private(chosen)),
        codes=codes,
        passed=passed,
        kind=kind,
        dropped=dropped,
    )
