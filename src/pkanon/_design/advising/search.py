"""The search for the choice that is worth most among those whose tables reach their level, by forecasts.

It goes down from the schema as it is, always where a unit of worth buys most, until the tables reach their level; and up
again by single moves and exchanges as long as something is gained. Another start is made from the smallest schema. Between
forecasts, errors are guessed from the last one in proportion to the errors of the paper's design, which has a closed form.
Nothing is random, and nothing depends on how fast the machine is: the same question has the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..._blocks import LARGEST_AGREEMENT
from .space import Choice, Space, Tables

Floats = NDArray[np.float64]

UNREADABLE = 1.0
PENALTY = 0.4
"""What a pair that cannot be read takes from the worth of a choice, where only named tables must reach a level."""
TRIED_DOWN, TRIED_UP = 3, 6
"""Forecasts per move."""
MOST_FORECASTS = 150
"""Forecasts on one way up."""
MOST_KICKS = 3
HOPEFUL = 0.1
"""By how much, in logarithms, the guess of all errors together may miss the limit for a forecast to be made."""
STEEP = 3
"""The power of an error in the load of a choice: errors near the limit count most."""


@dataclass(frozen=True)
class Errors:
    """The L1 errors of all tables of one and two columns, in a square (0: not there), and of the named tables."""

    pairs: Floats
    named: Floats


@dataclass
class Search:
    """What is asked of a choice, and the forecasts that were made."""

    space: Space
    epsilon: float
    records: int
    limit: float
    named: Sequence[Tables]
    """Tables that must reach the level; none: every table of one and two columns must."""
    weight: float
    """How many times a named table counts in the workload, beside all tables of one and two columns."""
    least: int
    """Columns that must stay."""
    looked: Callable[[], None]
    _errors: dict[Choice, Errors] = field(default_factory=dict)
    _paper: dict[Choice, Errors] = field(default_factory=dict)

    def errors(self, choice: Choice) -> Errors:
        """The forecast for a choice."""
        if choice not in self._errors:
            self.looked()
            extra = dict.fromkeys(self.named, self.weight)
            found = self.space.forecast(choice, self.epsilon, self.records, extra)
            square = np.zeros((len(choice), len(choice)))
            for table, error in found.items():
                if len(table) <= 2:
                    square[table[0], table[-1]] = error
            self._errors[choice] = Errors(square, np.array([found[table] for table in self.named]))
        return self._errors[choice]

    def missing(self, errors: Errors) -> float:
        """By how much errors miss the limit, in logarithms, all together; 0 if every table reaches its level."""
        tables = errors.named if self.named else errors.pairs
        return float(np.log(np.maximum(tables / self.limit, 1.0)).sum())

    def score(self, choice: Choice, errors: Errors) -> float:
        """What a choice is worth, and less where tables beside the named ones cannot be read."""
        worth = self.space.worth(choice)
        if not self.named:
            return worth
        return worth - PENALTY * int(np.count_nonzero(np.triu(errors.pairs, 1) >= UNREADABLE))

    def _load(self, errors: Errors) -> float:
        """How much of the way to the limit is used up."""
        whole = ((errors.pairs / (UNREADABLE if self.named else self.limit)) ** STEEP).sum()
        return float(whole + ((errors.named / self.limit) ** STEEP).sum())

    def best(self) -> Choice | None:
        """A good choice, from several starts; None if no choice reaches the level."""
        if not self.named and self.missing(self.errors(self.space.given)) <= 0:
            return self.space.given
        found: list[Choice] = []
        for start in self._starts():
            reached = self.down(start)
            if reached is not None:
                found.append(self.up(reached))
        return max(found, key=self.rank, default=None)

    def rank(self, choice: Choice) -> tuple[float, Choice]:
        """What orders choices: the score, and for equal scores the choice itself."""
        return round(self.score(choice, self.errors(choice)), 9), choice

    def kicked(self, choice: Choice) -> Choice:
        """A choice is often better without one of its columns: drop each in turn, and go up with the others."""
        for _ in range(MOST_KICKS):
            others = [choice]
            kept = self.space.kept(choice)
            for number in kept:
                ladder = self.space.ladders[number]
                if ladder.droppable and len(kept) > max(self.least, 1):
                    others.append(self.up(_with(choice, number, ladder.end - 1), barred=[number]))
            best = max(others, key=self.rank)
            if best == choice:
                break
            choice = self.up(best)
        return choice

    def _starts(self) -> list[Choice]:
        """The schema as it is; without so many columns that one block holds the others; and the smallest one."""
        space = self.space
        choice = list(space.given)
        falling = sorted(
            (number for number, ladder in enumerate(space.ladders) if ladder.droppable),
            key=lambda n: (-space.ladders[n].versions[-1].size, -space.ladders[n].versions[0].size, n),
        )
        for number in falling:  # what cannot be merged and has many values goes first
            if len(space.units(tuple(choice))[0]) <= LARGEST_AGREEMENT or len(space.kept(tuple(choice))) <= self.least:
                break
            choice[number] = space.ladders[number].end - 1
        return list(dict.fromkeys([space.given, tuple(choice), self.smallest()]))

    def smallest(self) -> Choice:
        """The coarsest choice with just as many columns as must stay: those with the fewest values."""
        space = self.space
        choice = list(space.coarsest)
        rising = sorted(
            (number for number, ladder in enumerate(space.ladders) if ladder.droppable),
            key=lambda n: (space.ladders[n].versions[-1].size, space.ladders[n].versions[0].size, n),
        )
        for number in rising:
            if len(space.kept(tuple(choice))) >= max(self.least, 1):
                break
            choice[number] = len(space.ladders[number].versions) - 1
        return tuple(choice)

    def down(self, choice: Choice) -> Choice | None:
        """A choice that reaches the level, by steps down from one that may not; None if there is none."""
        while True:
            errors = self.errors(choice)
            missing = self.missing(errors)
            if missing <= 0:
                return choice
            worth = self.space.worth(choice)
            rated = []
            for other in self._below(choice):
                gained = missing - self.missing(self.guess(choice, errors, other))
                rated.append((-gained / max(worth - self.space.worth(other), 1e-9), other))
            if not rated:
                return None
            tried = []
            many = len(self.space.kept(choice)) > LARGEST_AGREEMENT
            for _, other in sorted(rated)[: 1 if many else TRIED_DOWN]:
                gained = missing - self.missing(self.errors(other))
                tried.append((-gained / max(worth - self.space.worth(other), 1e-9), other))
            choice = min(tried)[1]

    def up(self, choice: Choice, barred: Sequence[int] = ()) -> Choice:
        """A better choice by moves that keep the level, as long as there are some; columns ``barred`` stay as they are."""
        start = len(self._errors)
        while len(self._errors) - start < MOST_FORECASTS:
            errors = self.errors(choice)
            score, load = self.score(choice, errors), self._load(errors)
            for moves in (self._alone, self._exchanges):
                better = self._best_of(moves(choice), choice, errors, score, load, barred)
                if better is not None:
                    choice = better
                    break
            else:
                return choice
        return choice

    def _best_of(
        self, moves: Iterator[Choice], choice: Choice, errors: Errors, score: float, load: float, barred: Sequence[int]
    ) -> Choice | None:
        """The first that keeps the level, of the moves that seem to gain most for what they use up."""
        rated = []
        for other in moves:
            if any(other[number] != choice[number] for number in barred):
                continue
            guess = self.guess(choice, errors, other)
            gain = self.score(other, guess) - score
            if gain > 1e-9 and self.missing(guess) <= HOPEFUL:
                rated.append((-gain / max(self._load(guess) - load, 1e-3), other))
        for _, other in sorted(rated)[:TRIED_UP]:
            found = self.errors(other)
            if self.missing(found) <= 0 and self.score(other, found) > score + 1e-9:
                return other
        return None

    def _below(self, choice: Choice) -> Iterator[Choice]:
        """One column coarser or dropped."""
        kept = self.space.kept(choice)
        for number, ladder in enumerate(self.space.ladders):
            for place in range(choice[number] + 1, ladder.end):
                if place < len(ladder.versions) or len(kept) > max(self.least, 1):
                    yield _with(choice, number, place)

    def _above(self, choice: Choice) -> Iterator[Choice]:
        """One column finer or there again."""
        for number in range(len(choice)):
            for place in range(choice[number]):
                yield _with(choice, number, place)

    def _alone(self, choice: Choice) -> Iterator[Choice]:
        """One column finer; where only named tables count, also one coarser."""
        yield from self._above(choice)
        if self.named:
            yield from self._below(choice)

    def _exchanges(self, choice: Choice) -> Iterator[Choice]:
        """One column coarser by a step or dropped, and another finer by a step or there again."""
        worth = self.space.worth(choice)
        ladders = self.space.ladders
        for down in self._below(choice):
            number = next(n for n, place in enumerate(down) if place != choice[n])
            if down[number] > choice[number] + 1 and down[number] < len(ladders[number].versions):
                continue
            lower = self.space.worth(down)
            for other, place in enumerate(down):
                if other == number or not place:
                    continue
                dropped = place == len(ladders[other].versions)
                for higher in range(place) if dropped else (place - 1,):
                    if lower + ladders[other].worth(higher) - ladders[other].worth(place) > worth:
                        yield _with(down, other, higher)

    def guess(self, choice: Choice, errors: Errors, other: Choice) -> Errors:
        """The errors of ``other``, from those of ``choice`` and how the paper's design changes."""
        before, after = self._by_paper(choice), self._by_paper(other)
        known = (before.pairs > 0) & (errors.pairs > 0)
        ratio = np.divide(errors.pairs, before.pairs, out=np.zeros_like(errors.pairs), where=known)
        mean = math.exp(float(np.log(ratio[known]).mean())) if known.any() else 1.0
        named = errors.named / np.maximum(before.named, 1e-300) * after.named
        return Errors(np.where(known, ratio, mean) * after.pairs, named)

    def _by_paper(self, choice: Choice) -> Errors:
        """The errors of the paper's design, but for a factor that all have."""
        if choice not in self._paper:
            cells = self.space.sizes[np.arange(len(choice)), choice]
            units = np.append(cells[self.space.free & (cells > 0)], self.space.bundles)
            parts = np.where(cells > 0, 1 + (cells - 1) * (1 + 1 / _odds(units, self.epsilon)) ** 2, 0.0)
            square = np.triu(np.outer(parts, parts) - np.outer(cells, cells), 1) + np.diag(parts - cells)
            named = [parts[list(table)].prod() - cells[list(table)].prod() for table in self.named]
            self._paper[choice] = Errors(np.sqrt(np.maximum(square, 0.0)), np.sqrt(np.maximum(named, 0.0)))
        return self._paper[choice]


def _odds(sizes: Floats, epsilon: float) -> float:
    """rho / (1 - rho) of the paper's design: log(1 + V odds) of all units add up to epsilon."""
    place = math.log(max(epsilon, 1e-12)) - math.log(sizes.sum())  # the root or below it
    for _ in range(40):
        terms = sizes * math.exp(place)
        step = (epsilon - float(np.log1p(terms).sum())) / float((terms / (1 + terms)).sum())
        place += step
        if abs(step) < 1e-9:
            break
    return math.exp(min(place, 300.0))


def _with(choice: Choice, number: int, place: int) -> Choice:
    return (*choice[:number], place, *choice[number + 1 :])
