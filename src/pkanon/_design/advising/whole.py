"""The whole way from a question to an advice, without data.

The search works with forecasts (forecast.py); what it finds is planned, and the plan decides. Where a plan misses the level
that its forecast reached, the search is told to stay further below the limit, and looks again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._errors import TargetError
from ..._plan import LEVELS, Number, Plan
from ..._progress import Progress, quiet
from ..._schema import Attribute, Listed, Schema
from ..planning import plan
from .advice import Advice, OpenStep, Step
from .ladder import is_ordered, may_be_codes
from .request import Request, request
from .search import Search
from .space import Choice, Ladder, Space, Tables
from .ways import ways_out

WEIGHTS = (0.0, 100.0, 1000.0)
"""How many times a named table counts beside all tables of one and two attributes; tried in this order."""
ATTEMPTS = 6
"""Plans that are made to see whether the level is reached."""
ROOM = 0.9
"""A plan whose worst table stays below this share of the limit leaves room for more."""
AFFORDABLE = (40, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2)
"""Numbers of values that are tried for a column whose values a person would have to merge."""


def advise(
    schema: Schema,
    *,
    records: int,
    k: Number | None = None,
    epsilon: Number | None = None,
    keep: Iterable[str] = (),
    tables: Iterable[Sequence[str]] = (),
    level: str = "fair",
    min_columns: int = 1,
    k_range: Iterable[Number] = (),
    codes: Iterable[str] = (),
    progress: Progress | None = None,
) -> Advice:
    """Which columns to drop and which values to merge, so that the tables that matter can be read; without data.

    Values with an order (bins, ranges, numbers, dates) are merged with their neighbours at round boundaries; others
    are left as they are or dropped. Bundled attributes stay as they are. The advised schema keeps as many columns and as
    much detail as it can, and its plan was made to see that it does what is promised here.

    Parameters
    ----------
    schema
        The table to be released; drafted or confirmed.
    records
        How many rows will be released.
    k, epsilon
        The privacy target, one of them or both.
    keep
        Columns that must stay; they may be merged.
    tables
        Tables that must reach the level, each a list of names. The others are then read as far as they can be. Without any,
        every table of one and two attributes must reach it.
    level
        ``fair`` (an L1 error below 0.3) or ``good`` (below 0.1).
    min_columns
        How many columns must stay.
    k_range
        Other values of k, to see what they would cost or gain.
    codes
        Columns whose numbers are codes without an order, so that neighbours must not be merged.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> age = pk.Attribute.binned("age", start=0, stop=90, width=5, open="high")
    >>> advice = pk.advise(pk.Schema([pk.Attribute("sex", ["F", "M"]), age]), records=500, k=20)
    >>> print(advice.steps[0])
    merge age: 19 values to 4 (0-29, 30-59, 60-89, 90+)
    """
    asked = request(schema, records, k, epsilon, keep, tables, level, min_columns, k_range, codes)
    return _Adviser(asked, progress or quiet).advice()


@dataclass
class _Found:
    """A choice whose plan reaches the level."""

    choice: Choice
    plan: Plan
    score: float
    search: Search


class _Adviser:
    """One question on its way to an answer."""

    def __init__(self, asked: Request, progress: Progress) -> None:
        self.asked, self.progress = asked, progress
        self.space = Space.of(asked.schema, asked.named, asked.codes)
        names = [ladder.name for ladder in self.space.ladders]
        self.named: list[Tables] = [tuple(names.index(name) for name in table) for table in asked.tables]
        self._looks = 0

    def advice(self) -> Advice:
        asked = self.asked
        self.progress("planning", 0)
        given = self.plan(self.space.given, 0.0)
        found = self._found(given)
        steps = self._steps(found, given)
        opened = self._open_steps(found)
        others = ways_out(asked, self.space, self.named, given, found.plan, self.searched_for, self.progress)
        return Advice(
            schema=self.space.chosen_schema(found.choice),
            plan=found.plan,
            workload=self.workload(found.choice, found.search.weight),
            level=asked.level,
            tables=asked.tables,
            steps=tuple(steps),
            open_steps=tuple(opened),
            ways_out=tuple(others),
            before=given.readable(),
        )

    def plan(self, choice: Choice, weight: float, space: Space | None = None) -> Plan:
        """The plan of a choice."""
        asked = self.asked
        return plan(
            (space or self.space).chosen_schema(choice),
            records=asked.records,
            k=asked.k,
            epsilon=asked.epsilon,
            workload=self.workload(choice, weight),
        )

    def workload(self, choice: Choice, weight: float) -> Any:
        """All tables of one and two attributes, and the named ones so many times."""
        if not self.named or (not weight and all(len(table) <= 2 for table in self.named)):
            return 2
        return {2: 1.0, **dict.fromkeys(self.asked.tables, weight or 1.0)}

    def search(self, weight: float, space: Space | None = None, epsilon: float | None = None) -> Search:
        """A search with named tables of this weight."""
        asked = self.asked
        budget = asked.budget if epsilon is None else epsilon
        served = weight or 1.0 if any(len(table) > 2 for table in self.named) else weight
        return Search(
            space or self.space, budget, asked.records, asked.limit, self.named, served, asked.min_columns, self._look
        )

    def _look(self) -> None:
        self._looks += 1
        self.progress("searching", 1 - 0.995**self._looks)

    def missed(self, candidate: Plan) -> float:
        """The largest error that must be below the limit, as a share of it."""
        if self.asked.tables:
            errors = [candidate.predict(*table).l1 for table in self.asked.tables]
        else:
            errors = [table.l1 for table in candidate.readable().tables]
        return max(errors) / self.asked.limit

    def _found(self, given: Plan) -> _Found:
        """The best choice whose plan reaches the level."""
        if self.missed(given) < 1:
            search = self.search(0.0)
            return _Found(
                self.space.given, given, search.score(self.space.given, search.errors(self.space.given)), search
            )
        rough = []
        for weight in WEIGHTS if self.named else WEIGHTS[:1]:
            search = self.search(weight)
            if (choice := search.best()) is not None:
                rough.append((-search.rank(choice)[0], weight, choice, search))
        nearest = math.inf
        for _, _, choice, search in sorted(rough, key=lambda one: one[:2]):
            found, near = self._settled(search, search.kicked(choice))
            if found is not None:
                return found
            nearest = min(nearest, near)
        found, near = self._careful(self.search(WEIGHTS[-1] if self.named else 0.0))
        if found is None:
            raise TargetError(self._refusal(min(nearest, near)))
        return found

    def _settled(self, search: Search, choice: Choice | None) -> tuple[_Found | None, float]:
        """The choice, or one near it, that its plan confirms; and how near the nearest plan came to the limit."""
        limit = self.asked.limit
        best: _Found | None = None
        nearest = math.inf
        seen: dict[Choice, tuple[Plan, float]] = {}
        for _ in range(ATTEMPTS):
            if choice is None:
                break
            if choice not in seen:
                made = self.plan(choice, search.weight)
                seen[choice] = (made, self.missed(made))
            made, missed = seen[choice]
            nearest = min(nearest, missed)
            if missed < 1:
                score = search.score(choice, search.errors(choice))
                if best is not None and score <= best.score:
                    break
                best = _Found(choice, made, score, search)
                if missed >= ROOM or self.named:
                    break
                search.limit = search.limit / missed * 0.98  # the plan is better than its forecast
                choice = search.up(choice)
                continue
            if best is not None:
                break
            search.limit = min(search.limit, limit) / (missed * 1.005)
            lower = search.down(choice)
            choice = search.up(lower) if lower is not None else None
        return best, nearest

    def _careful(self, search: Search) -> tuple[_Found | None, float]:
        """Go down to the smallest choice with plans instead of forecasts."""
        search.limit = self.asked.limit
        nearest = math.inf
        for share in (0.5, 0.25, 0.0):
            search.limit = self.asked.limit * share
            choice = (search.down(self.space.given) if share else None) or search.smallest()
            made = self.plan(choice, search.weight)
            missed = self.missed(made)
            nearest = min(nearest, missed)
            if missed < 1:
                search.limit = self.asked.limit
                return _Found(choice, made, search.score(choice, search.errors(choice)), search), nearest
        return None, nearest

    def _refusal(self, nearest: float) -> str:
        """Why there is no advice, and what comes nearest."""
        asked = self.asked
        l1 = nearest * asked.limit
        what = " and ".join(" x ".join(table) for table in asked.tables) or "every table of one and two attributes"
        if asked.min_columns > max(1, len(asked.named)):
            fewer = replace(asked, min_columns=1)
            try:
                columns = len(_Adviser(fewer, quiet).columns())
            except TargetError:
                columns = 0
            if columns:
                return (
                    f"No {asked.min_columns} columns make {what} {asked.level} with {asked.target} and {asked.records:,} "
                    f"records; {columns} columns do. Ask for fewer, for {asked.less}, or for a lower level."
                )
        named = "Keep or name fewer columns, merge values of them yourself, ask" if asked.named else "Ask"
        return (
            f"Nothing that can be dropped or merged makes {what} {asked.level} with {asked.target} and {asked.records:,} "
            f"records; the nearest has an error of {l1:.2g} where {asked.limit:g} is the limit. {named} for "
            f"{asked.less}, or have more people."
        )

    def columns(self) -> list[int]:
        """The most columns that reach the level, by forecasts."""
        for least in range(len(self.space.ladders), 0, -1):
            self.asked = replace(self.asked, min_columns=least)
            search = self.search(WEIGHTS[-1] if self.named else 0.0)
            smallest = search.smallest()
            if search.missing(search.errors(smallest)) <= 0:
                return self.space.kept(smallest)
        return []

    def searched_for(self, epsilon: float) -> Choice | None:
        """The choice for another budget, by forecasts."""
        return self.search(WEIGHTS[-1] if self.named else 0.0, epsilon=epsilon).best()

    def _steps(self, found: _Found, given: Plan) -> list[Step]:
        """The changes in the order of their gain, with how tables read after each."""
        search, space = found.search, self.space
        search.limit = self.asked.limit
        choice = space.given
        steps: list[Step] = []
        left = [number for number, place in enumerate(found.choice) if place]
        while left:
            errors = search.errors(choice)

            def gain(number: int) -> tuple[float, int, float, int]:
                other = _with(choice, number, found.choice[number])  # noqa: B023  # used at once
                guess = search.guess(choice, errors, other)  # noqa: B023
                pairs = guess.pairs[np.triu_indices(len(other), 1)]
                there = pairs[pairs > 0]
                mean = float(np.log(there).mean()) if len(there) else 0.0
                named = -search.missing(guess) if self.named else 0.0
                return named, int((there < self._bar).sum()), -mean, -number

            number = max(left, key=gain)
            left.remove(number)
            choice = _with(choice, number, found.choice[number])
            seen = search.errors(choice)
            pairs = seen.pairs[np.triu_indices(len(choice), 1)]
            pairs, worst = pairs[pairs > 0], float((seen.named if self.named else seen.pairs).max())
            if not left:
                pairs = np.array([table.l1 for table in found.plan.readable().tables if len(table.attributes) == 2])
                worst = self.missed(found.plan) * self.asked.limit
            steps.append(self._step(found.choice, number, pairs, worst))
        return steps

    @property
    def _bar(self) -> float:
        """The error below which a pair counts as gained."""
        return LEVELS["fair"] if self.named else self.asked.limit

    def _step(self, choice: Choice, number: int, pairs: Any, worst: float) -> Step:
        ladder = self.space.ladders[number]
        given = ladder.versions[0]
        kept = choice[number] < len(ladder.versions)
        now = ladder.versions[choice[number]] if kept else None
        return Step(
            action="merge" if kept else "drop",
            attribute=given.name,
            before=given.size,
            after=0 if now is None else now.size,
            labels=() if now is None else tuple("(missing)" if label is None else str(label) for label in now.labels()),
            reached=int((pairs < self._bar).sum()),
            pairs=len(pairs),
            l1=float(pairs.mean()) if len(pairs) else 0.0,
            worst=worst,
            codes=kept and may_be_codes(given),
        )

    def _open_steps(self, found: _Found) -> list[OpenStep]:
        """Columns that were dropped for want of an order, and how many values each could have beside the advised ones."""
        steps = []
        for number, (ladder, place) in enumerate(zip(self.space.ladders, found.choice)):
            given = ladder.versions[0]
            ordered = is_ordered(given) and given.name not in self.asked.codes
            if place == len(ladder.versions) and isinstance(given.domain, Listed) and not ordered:
                most = self._affordable(found, number)
                steps += [OpenStep(given.name, given.size, most)] if most else []
        return steps

    def _affordable(self, found: _Found, number: int) -> int:
        """The most values with which a dropped column could stay; the advised columns stay, and may become coarser."""
        given = self.space.ladders[number].versions[0]
        sizes = [size for size in AFFORDABLE if size < given.size]
        low, high = 0, len(sizes)  # sizes[high:] are affordable
        while low < high:
            middle = (low + high) // 2
            if self._stays(found, number, sizes[middle], planned=False):
                high = middle
            else:
                low = middle + 1
        return next((size for size in sizes[high : high + 3] if self._stays(found, number, size, planned=True)), 0)

    def _stays(self, found: _Found, number: int, size: int, *, planned: bool) -> bool:
        ladders, start = [], []
        for other, (ladder, place) in enumerate(zip(self.space.ladders, found.choice)):
            if other == number:
                stand_in = Attribute.ranged(ladder.name, 1, size)
                ladders.append(Ladder((ladder.versions[0], stand_in), False, False))
                start.append(1)
            else:
                ladders.append(replace(ladder, droppable=place == len(ladder.versions)))
                start.append(place)
        space = Space(self.space.schema, tuple(ladders))
        search = self.search(found.search.weight, space)
        reached = search.down(tuple(start))
        if reached is None or not planned:
            return reached is not None
        return self.missed(self.plan(reached, search.weight, space)) < 1


def _with(choice: Choice, number: int, place: int) -> Choice:
    return (*choice[:number], place, *choice[number + 1 :])
