"""Two uses of published tables: how strongly attributes are related, and a classifier for one of them."""

from __future__ import annotations

import itertools

import numpy as np

from ..._audit import Combinations, Counts, NaiveBayes, Readable, normalised, share_right


def cramers_v(table: Counts) -> float:
    """Cramér's V of a two-way table; negative cells count as 0."""
    counts = np.maximum(table, 0)
    total = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    there = expected > 0
    chi_square = float(((counts[there] - expected[there]) ** 2 / expected[there]).sum())
    return float(np.sqrt(chi_square / total / (min(counts.shape) - 1)))


def correlation_error(source: Readable, truth: Readable, attributes: int) -> float:
    """The mean absolute difference of Cramér's V over all pairs of attributes."""
    pairs = list(itertools.combinations(range(attributes), 2))
    return float(np.mean([abs(cramers_v(source.table(pair)) - cramers_v(truth.table(pair))) for pair in pairs]))


def classify(source: Readable, target: int, held_out: Combinations) -> dict[str, float]:
    """Naive Bayes trained on published tables, judged by people who were not in them."""
    scores = NaiveBayes.of(source, target, len(held_out.sizes)).scores(held_out.codes)
    values = held_out.codes[:, target]
    logs = normalised(scores)[np.arange(len(values)), values]
    return {
        "accuracy": share_right(scores, values, held_out.counts),
        "log_loss": float(-(logs * held_out.counts).sum() / held_out.people),
    }
