"""How exact the tables of a release will be: predicted.csv in its folder, and a warning where most cannot be read.

Everything follows from the plan and the number of rows released. One line per table of one and two attributes, then per
table that the workload names; ``l1`` has six digits, and ``level`` is that of the number as it stands there.

    table       the attributes, for people: sex x age
    attributes  the same as a JSON list
    cells       how many cells it has
    l1          the expected sum of absolute errors of the corrected table, divided by the rows; inf: nothing is left of it
    level       good (l1 < 0.1), fair (< 0.3), poor (< 1), not readable
    exact       true, or false where l1 depends on the data and is an upper bound
"""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from collections.abc import Mapping
from functools import lru_cache

from .._errors import ReadabilityWarning
from .._plan import Asked, Plan, level_of

HEADER = ["table", "attributes", "cells", "l1", "level", "exact"]
DIGITS = 6
CLOSE = 2 * 10.0 ** (1 - DIGITS)
"""Machines may differ in the last digit that is written, relative to the number."""


def predicted(plan: Plan, rows: int) -> str:
    """The text of predicted.csv for ``rows`` released rows."""
    return _text([HEADER, *_lines(plan, rows)])


def _text(lines: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def disagreements(text: str, plan: Plan, rows: int) -> list[str]:
    """What in the text of a predicted.csv is not what ``plan`` gives for ``rows`` rows, a sentence each."""
    try:
        header, *lines = csv.reader(io.StringIO(text), strict=True)
    except (csv.Error, ValueError):
        return ["It cannot be read."]
    if header != HEADER or _text([header, *lines]) != text:
        return ["It is not in the form that pkanon writes."]
    right = _lines(plan, rows)
    if len(lines) != len(right):
        return [f"It has {len(lines):,} tables, not {len(right):,}."]
    wrong = sum(not _agree(line, own) for line, own in zip(lines, right))
    return [f"{wrong:,} of its {len(right):,} lines are not what the plan gives."] if wrong else []


def _agree(line: list[str], right: list[str]) -> bool:
    if len(line) != len(HEADER) or [*line[:3], line[5]] != [*right[:3], right[5]]:
        return False
    try:
        l1, expected = float(line[3]), float(right[3])
    except ValueError:
        return False
    if math.isnan(l1) or _number(l1) != line[3] or line[4] != level_of(l1):
        return False
    return l1 == expected or math.isclose(l1, expected, rel_tol=CLOSE)


def _lines(plan: Plan, rows: int) -> list[list[str]]:
    # as plan.json has it: names with commas make a list of tables that cannot be read back
    workload = Asked.from_json(plan.asked.to_json(), plan.schema.names).workload
    readable = plan.readable(workload if isinstance(workload, Mapping) else None, records=max(rows, 1))
    return [
        [
            table.name,
            json.dumps(table.attributes, ensure_ascii=False),
            str(table.cells),
            l1,
            level_of(float(l1)),
            str(table.exact).lower(),
        ]
        for table in readable.tables
        for l1 in [_number(table.l1)]
    ]


def _number(l1: float) -> str:
    return f"{l1:.{DIGITS}g}"


def warn_of_unreadable(plan: Plan, rows: int) -> None:
    """Warn the caller's caller if most tables of the workload cannot be read in ``rows`` rows."""
    if sentence := _warning(plan.digest, plan, rows):
        warnings.warn(sentence, ReadabilityWarning, stacklevel=3)


@lru_cache(maxsize=8)
def _warning(digest: str, plan: Plan, rows: int) -> str | None:
    """Once for many releases with one plan. The ``digest`` tells plans apart whose values are equal in Python: 1 and True."""
    return plan.served(records=max(rows, 1)).warning
