"""What is a person's value of one attribute, the target? How often an adversary who knows all the others guesses it.

Statistics teach something about everybody, so two guesses that use nothing of the person herself are given for comparison.

    commonest    everybody has the commonest value
    others       the commonest value among all *other* people with the same known values (naive Bayes from all others, if
                 there is none), or naive Bayes from all others throughout, whichever is right more often

Generalised: the table is searched for the known values; each group whose box holds them is evidence for the values in its
box. Naive Bayes from its two-way tables, and the commonest value in its table of the target, are tried too; the guess that
is right most often counts.

Randomised: naive Bayes from reconstructed tables (by inverse, by simplex, or from that of the target alone, whichever is
right more often), alone or times what the rows say about this very person (``Linkage.likelihood``), which misleads where
there are few people.

All people of the table are attacked. Of equally good guesses one is taken at random, and its chance is what is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from .bayes import NaiveBayes, normalised, share_right
from .combinations import Combinations, Counts, Readable, Whole
from .linkage import Linkage
from .rows import Rows


class Boxes(Readable, Protocol):
    """A generalised table: groups of people, each published as a box of values."""

    def covered(self) -> Counts:
        """How many boxes hold each cell of the full table."""


@dataclass(frozen=True, eq=False)
class Inference:
    """The guesses of an adversary about ``target``; ``people`` are everybody's values."""

    target: int
    people: Combinations = field(repr=False)

    @property
    def values(self) -> Whole:
        """The true value in each cell."""
        return self.people.codes[:, self.target]

    def commonest(self) -> float:
        """The share guessed right by naming the commonest value."""
        return float(self.people.table((self.target,)).max() / self.people.people)

    def others(self) -> dict[str, float]:
        """The share guessed right from everybody else's data; and the share of people with the target of all their likes."""
        alike, bayes = self._alike(), self._bayes_of_others()
        own = np.arange(len(alike)), self.values
        alone = alike.sum(axis=1) == 0
        agreed = ((alike > 0).sum(axis=1) == 1) & (alike[own] > 0)
        return {
            "inference": max(
                share_right(np.where(alone[:, None], bayes, alike), self.values, self.people.counts),
                share_right(bayes, self.values, self.people.counts),
            ),
            "certain": float((agreed * self.people.counts).sum() / self.people.people),
        }

    def belief(self) -> Counts:
        """What everybody else's data say about a person's value: a row of probabilities for each cell.

        The shares among all others with the same known values, with one person added who is spread as naive Bayes says.
        """
        alike = self._alike()
        added: Counts = np.exp(normalised(self._bayes_of_others()))
        return np.asarray((alike + added) / (alike.sum(axis=1, keepdims=True) + 1))

    def _alike(self) -> Counts:
        """How many other people with the same known values have each value, per cell."""
        known, where = self.people.without(self.target)
        groups = np.zeros((len(known.counts), self.people.sizes[self.target]))
        np.add.at(groups, (where, self.values), self.people.counts)
        alike: Counts = groups[where]
        alike[np.arange(len(where)), self.values] -= 1
        return alike

    def _bayes_of_others(self) -> Counts:
        """Scores of naive Bayes from all but the person: she is taken out of the counts of her own value."""
        codes, values = self.people.codes, self.values
        scores = NaiveBayes.of(self.people, self.target, len(self.people.sizes)).scores(codes)
        same = self.people.table((self.target,))[values]
        left = np.log(same)  # one person is added to each cell and she is taken out of hers
        for axis in range(len(self.people.sizes)):
            if axis != self.target:
                pair = self.people.table((min(axis, self.target), max(axis, self.target)))
                at = (codes[:, axis], values) if axis < self.target else (values, codes[:, axis])
                left += np.log(pair[at] / (same - 1 + self.people.sizes[axis]))
        total = self.people.people + self.people.sizes[self.target]
        scores[np.arange(len(values)), values] = left - np.log(total)
        return scores

    def _by_bayes(self, source: Readable) -> list[float]:
        """The shares guessed right by naive Bayes from published tables, and by the commonest value in them."""
        bayes = NaiveBayes.of(source, self.target, len(self.people.sizes))
        return [
            share_right(guess.scores(self.people.codes), self.values, self.people.counts)
            for guess in (bayes, replace(bayes, given={}))
        ]

    def from_generalised(self, published: Boxes) -> dict[str, float]:
        """The share guessed right from boxes; and the share of people for whom they leave one value only."""
        spoken = self._by_value(published.table(tuple(range(len(self.people.sizes)))))
        return {
            "inference": max(share_right(spoken, self.values, self.people.counts), *self._by_bayes(published)),
            "certain": self._certain(self._by_value(published.covered())),
        }

    def from_randomised(self, rows: Rows, linkage: Linkage) -> dict[str, float]:
        """The share guessed right from randomised rows; and the share of people for whom they leave one value only."""
        possible = self._by_value(linkage.likelihood(rows))
        with np.errstate(divide="ignore"):
            spoken = np.log(possible)
        attributes = len(self.people.sizes)
        statistics = [NaiveBayes.of(rows.by(method), self.target, attributes) for method in ("inverse", "simplex")]
        alone = replace(statistics[-1], given={})  # with much noise the other attributes mislead
        scores = [bayes.scores(self.people.codes) for bayes in (*statistics, alone)]
        shares = [
            share_right(guess, self.values, self.people.counts) for own in scores for guess in (own, own + spoken)
        ]
        return {"inference": max(shares), "certain": self._certain(possible)}

    def _certain(self, possible: Counts) -> float:
        """The share of people for whom one value is possible, and no other."""
        only = (possible > 0).sum(axis=1) == 1
        return float((only * self.people.counts).sum() / self.people.people)

    def _by_value(self, full: Counts) -> Counts:
        """From a full table: per cell of the people what it has for each value of the target, all else being equal."""
        found: Counts = np.moveaxis(full, self.target, -1)[tuple(np.delete(self.people.codes, self.target, axis=1).T)]
        return found
