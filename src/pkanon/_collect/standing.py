"""How a survey stands: what k is with the answers so far, and what people who lie can do (docs/why/theory.md 4).

k for n answers is 1 + (n - 1) AR, whatever the plan was made for. Answers in released batches hide nobody in the next release, so
n counts the others. The planned k is the other reading, which holds while answers
are missing only if everybody was equally likely to be missing. Rows that the adversary knows or has sent himself hide nobody:
with c of them k is 1 + (n - 1 - c) AR.

A forged row adds a row of the inverse B to the estimated counts. So one forged row moves the estimated count of a value j by at
most ``max over v of |B[v, j]|``, f of them by at most f times that, and no estimator that is right for honest answers can be
less sensitive: an honest answer moves it as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._estimate import Channel
from .._plan import Plan, round_down

if TYPE_CHECKING:
    from .survey import Survey

SHARES = (0, 1, 5, 10, 25, 50)
"""Percent of the answers that the adversary may know or control, as they are shown."""


def known_counts(answers: int) -> list[int]:
    """Some numbers of rows that an adversary may know or control."""
    return sorted({0, *(answers * share // 100 for share in SHARES if answers)})


def k_text(plan: Plan, answers: int, known: int = 0) -> str:
    """k with this many answers, of which the adversary knows or controls some; rounded down."""
    return round_down(plan.k_for(max(answers - known, 1)))


def standing(plan: Plan, answers: int) -> dict[str, Any]:
    """k in both readings, and by the number of rows that are known to the adversary."""
    return {
        "k": k_text(plan, answers),
        "k_planned": plan.k_text,
        "k_if_known": [[known, k_text(plan, answers, known)] for known in known_counts(answers)],
    }


def status_of(
    survey: Survey,
    state: str,
    *,
    accepted: int,
    in_batches: int,
    forged: Mapping[str, float],
    refused: Mapping[str, int],
) -> dict[str, Any]:
    """What is said of a survey, by its service or from its database; ``forged`` is that of :func:`forged_row_moves`."""
    return {
        "state": state,
        "accepted": accepted,
        "in_batches": in_batches,
        "expected": survey.expected,
        **standing(survey.plan, accepted - in_batches),
        "below_chance": survey.plan.below_chance,
        "forged_row": {name: round(most, 3) for name, most in forged.items()},
        "results_every": survey.results_every,
        "refused": dict(sorted(refused.items())),
    }


def forged_row_moves(plan: Plan) -> dict[str, float]:
    """By how much one forged row moves the estimated count of a value, at most; by attribute."""
    return {attribute.name: _largest_shift(plan, attribute.name) for attribute in plan.schema.randomised}


def _largest_shift(plan: Plan, name: str) -> float:
    channel = Channel(plan.blocks, [name])
    cells = np.prod(tuple(channel.sizes.values()), dtype=int)
    largest = 0.0
    for cell in range(cells):
        row = np.zeros(cells)
        row[cell] = 1
        largest = max(largest, float(np.abs(channel.inverse(row.reshape(tuple(channel.sizes.values())))).max()))
    return largest
