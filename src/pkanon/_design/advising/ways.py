"""Other ways to readable tables than dropping and merging: less privacy, more people, a named workload, another k."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..._errors import TargetError
from ..._plan import Plan
from ..._progress import Progress
from ..planning import plan
from ..target import Target, budget
from .request import Request
from .space import Choice, Space, Tables

MOST_RECORDS = 10**12
LARGEST_BUDGET = 25.0
"""With more, hardly anything is randomised."""
LEAST_K = 2


def ways_out(
    asked: Request,
    space: Space,
    named: Sequence[Tables],
    given: Plan,
    advised: Plan,
    searched_for: Callable[[float], Choice | None],
    progress: Progress,
) -> list[str]:
    """A sentence for each, with numbers; none of those that are not needed."""
    progress("comparing", 0)
    subject = _Subject(asked, space, named)
    sentences = []
    if not subject.reached(given):
        sentences.append(subject.less_privacy())
        sentences.append(subject.more_people())
        progress("comparing", 0.3)
        sentences.append(subject.named_workload(given))
    for number, k in enumerate(asked.k_range):
        progress("comparing", 0.3 + 0.7 * number / len(asked.k_range))
        sentences.append(_another_k(asked, space, k, searched_for))
    return sentences


def _another_k(asked: Request, space: Space, k: object, searched_for: Callable[[float], Choice | None]) -> str:
    """What another k would leave."""
    epsilon = budget(Target.of(asked.records, k, asked.epsilon).limit())  # type: ignore[arg-type]  # checked before
    choice = searched_for(epsilon) if epsilon > 0 else None
    if choice is None:
        return f"k = {k} (epsilon {epsilon:.2f}): nothing that can be dropped or merged reaches this level."
    kept = space.kept(choice)
    values = math.prod(space.size(choice, number) for number in kept) ** (1 / len(kept))
    return f"k = {k} (epsilon {epsilon:.2f}): about {len(kept)} of {len(space.ladders)} columns, with {values:.1f} values on average."


class _Subject:
    """The schema as it is, under other circumstances."""

    def __init__(self, asked: Request, space: Space, named: Sequence[Tables]) -> None:
        self.asked, self.space, self.named = asked, space, named
        self.what = "these tables" if asked.tables else "all tables of one and two columns"
        self.goal = f"the aim: {self.what} {asked.level}{'' if asked.level == 'good' else ' or better'}"

    def reached(self, candidate: Plan) -> bool:
        """Whether the tables reach the level."""
        if self.asked.tables:
            return all(candidate.predict(*table).l1 < self.asked.limit for table in self.asked.tables)
        return candidate.readable().worst.l1 < self.asked.limit

    def _worst(self, epsilon: float, records: int) -> float:
        found = self.space.forecast(self.space.given, epsilon, records, dict.fromkeys(self.named, 0.0))
        return max((found[table] for table in self.named), default=max(found.values())) / self.asked.limit

    def less_privacy(self) -> str:
        """The largest k that needs no change."""
        records = self.asked.records
        epsilon = _root(lambda place: self._worst(place, records) < 1, self.asked.budget, LARGEST_BUDGET)
        k = None if epsilon is None else 1 + (records - 1) * math.exp(-2 * epsilon)
        if epsilon is None or k is None or k < LEAST_K:
            return f"Lower k: not even k = 2 would do without a change ({self.goal})."
        if self.asked.k is None:
            return f"Less privacy: with epsilon = {epsilon:.2f} nothing need change ({self.goal})."
        return f"Lower k: with k = {_floor(k)} nothing need change ({self.goal})."

    def more_people(self) -> str:
        """The least number of people that needs no change."""
        asked = self.asked

        def enough(place: float) -> bool:
            records = round(math.exp(place))
            return self._worst(budget(Target.of(records, asked.k, asked.epsilon).limit()), records) < 1

        root = _root(enough, math.log(asked.records), math.log(MOST_RECORDS))
        if root is None:
            return f"More people: more than {MOST_RECORDS:,} would be needed without a change."
        records = _round_up(math.exp(root))
        return f"More people: with about {records:,} records nothing need change ({self.goal})."

    def named_workload(self, given: Plan) -> str:
        """What the schema as it is gives if the plan serves few tables only."""
        asked = self.asked
        if not asked.tables:
            limit = asked.limit
            single = [(number,) for number in range(len(self.space.ladders))]
            found = self.space.forecast(self.space.given, asked.budget, asked.records, {}, single)
            then = sum(found[table] < limit for table in single)
            now = sum(table.l1 < limit for table in given.readable().tables if len(table.attributes) == 1)
            return (
                f"A named workload: name the tables that matter with --tables. With --workload 1 (single columns only) about {then} "
                f"of {len(single)} columns as they are would be {asked.level}; by default {now} are."
            )
        try:
            narrow = plan(
                asked.schema, records=asked.records, k=asked.k, epsilon=asked.epsilon, workload=list(asked.tables)
            )
        except TargetError:
            return "A named workload: no plan was found for it."
        text = "; ".join(",".join(table) for table in asked.tables)
        errors = ", ".join(f"{' x '.join(t)} {narrow.predict(*t).l1:.2g}" for t in asked.tables)
        before = ", ".join(f"{given.predict(*t).l1:.2g}" for t in asked.tables)
        return f'A named workload: with --workload "{text}" and all columns as they are, errors are {errors} (now {before}).'


def _root(enough: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least place between two at which there is enough; None if there is none."""
    if not enough(high):
        return None
    for _ in range(18):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _floor(k: float) -> str:
    """k with two digits, rounded down."""
    step = 10 ** max(0, math.floor(math.log10(k)) - 1)
    return f"{math.floor(k / step) * step:,}" if k >= 10 else f"{math.floor(k * 10) / 10:g}"


def _round_up(records: float) -> int:
    step = int(10 ** max(0, math.floor(math.log10(records)) - 1))
    return math.ceil(records / step) * step
