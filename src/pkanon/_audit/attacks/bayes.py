"""Naive Bayes from cross-tabulations: each attribute is separate evidence for the value of the target.

It needs only the two-way tables of the target with every other attribute, so every way of publishing supports it.
Negative cells of a reconstruction count as 0, and one person is added to every cell.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .combinations import Counts, Readable, Whole


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """Logarithms: ``prior`` of each value of the target, and per other attribute (value, value of the target)."""

    target: int
    prior: Counts = field(repr=False)
    given: dict[int, Counts] = field(repr=False)

    @classmethod
    def of(cls, source: Readable, target: int, attributes: int) -> NaiveBayes:
        """Trained on the tables of a source."""
        prior = np.log(np.maximum(source.table((target,)), 0) + 1)
        given = {}
        for axis in range(attributes):
            if axis != target:
                pair = source.table((min(axis, target), max(axis, target)))
                counts = np.maximum(pair.T if target < axis else pair, 0) + 1
                given[axis] = np.log(counts / counts.sum(axis=0))
        return cls(target, prior - np.log(np.exp(prior).sum()), given)

    def scores(self, codes: Whole) -> Counts:
        """Log-probabilities of the target's values up to a constant, one row per row of codes of all attributes."""
        total = np.repeat(self.prior[None, :], len(codes), axis=0)
        for axis, logs in self.given.items():
            total += logs[codes[:, axis]]
        return total


def normalised(scores: Counts) -> Counts:
    """Log-probabilities that sum to 1 in each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def share_right(scores: Counts, values: Whole, counts: Whole) -> float:
    """The share of people whose value has the highest score; of equal scores one is guessed at random.

    One row of scores for each of the ``counts`` people who have the value.
    """
    highest = scores.max(axis=1, keepdims=True)
    guessed = scores >= highest - TIE * np.maximum(np.abs(highest), 1)
    right = guessed[np.arange(len(values)), values] / guessed.sum(axis=1)
    return float((right * counts).sum() / counts.sum())


TIE = 1e-9
"""Scores that differ by less than this are equal but for rounding."""
