"""What to say of a table that cannot be read, and what to ask instead.

Everything follows from the plan and the number of rows: whoever asks is told before a number is believed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .modelled import usual_text
from .readable import LEVELS, Reading, error_text, readings

if TYPE_CHECKING:
    from .plan import Plan

MOST_NAMED = 3
"""Smaller tables that are named."""
MOST_TRIED = 5_000
"""Smaller tables that are looked at."""
READABLE = ("good", "fair")


def unreadable(
    plan: Plan, table: Sequence[str], rows: int, *, query: bool = False, method: str = "inverse"
) -> str | None:
    """Sentences on a table that the plan predicts to be poor or not readable; None if it can be read.

    What the method 'model' usually comes to is said beside it; a table by that ``method`` is not called unreadable. Of a
    ``query`` that needs the table, only if it is not readable: sums over many of its cells may be exact all the same.
    """
    if not table or rows < 1:
        return None
    (reading,) = _readings(plan, [tuple(table)], rows)
    if reading.level in READABLE or (query and reading.level == "poor"):
        return None
    error = f"the plan predicts an error of {error_text(reading)} ({reading.level})"
    if math.isinf(reading.l1):
        error = f"the plan leaves nothing of it ({reading.level})"
    usual = usual_text(reading, how=method != "model")
    if method == "model" and usual is not None:
        return f"unbiased, {error}; {usual}."
    if query:
        subject = (
            f"the query needs the table {reading.name}, which cannot be read: {error}. Trust no number beyond its error"
        )
    elif reading.level == "poor":
        subject = f"only the largest cells of this table can be read: {error}"
    else:
        subject = f"this table cannot be read: {error}"
    better = "" if usual is None else f" {usual[:1].upper()}{usual[1:]}."
    return f"{subject}. {_instead(plan, reading, rows)}{better}"


def _readings(plan: Plan, tables: Iterable[tuple[str, ...]], rows: int) -> list[Reading]:
    return readings(plan._predictor, rows, [attribute.name for attribute in plan.schema.randomised], tables)


def _instead(plan: Plan, reading: Reading, rows: int) -> str:
    names = [f"{found.name} ({found.level})" for found in itertools.islice(_smaller(plan, reading, rows), MOST_NAMED)]
    if names:
        *others, last = names
        listed = f"{', '.join(others)} or {last}" if others else last
        return f"Ask for {listed}, or merge values."
    if len(reading.attributes) == 1:
        return "Merge values."
    return "No smaller table of these attributes can be read as it is: merge values."


def _smaller(plan: Plan, reading: Reading, rows: int) -> Iterator[Reading]:
    """Tables of fewer of the attributes that can be read: the largest first, of those the most exact; none inside another."""
    names = reading.attributes
    found: list[Reading] = []
    tried = 0
    for size in range(len(names) - 1, 0, -1):
        number = math.comb(len(names), size)
        if tried + number > MOST_TRIED:
            continue
        tried += number
        tables = _readings(plan, itertools.combinations(names, size), rows)
        for table in sorted(tables, key=lambda each: each.l1):
            inside = any(set(table.attributes) <= set(larger.attributes) for larger in found)
            if table.l1 < LEVELS["fair"] and not inside:
                found.append(table)
                yield table
