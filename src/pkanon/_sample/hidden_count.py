"""Hiding the record count: how many rows a release has is itself randomised (docs/why/theory.md 10).

The released count is N + d, d two-sided geometric: P(d) proportional to p^|d|, redrawn until
N + d >= 0. p is a ratio of integers and every trial is decided by whole words with rejection, so d
has exactly this law. Rows to drop are the last ones of the uniform order; dummy rows are uniform
over what each unit allows and are randomised and shuffled like any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from .._schema import Codes, Unit, code_dtype
from .keystream import COUNT_STREAM, WordSource, dummy_stream

_WIDTH = 64


def draw_change(rows: int, p: Fraction, source: WordSource) -> int:
    """d: how many rows the release has more than the table (fewer if negative)."""
    for round in itertools.count():
        trials = _trials(p, source, COUNT_STREAM + round)
        # the difference of two geometric variables has P(d) = (1 - p)/(1 + p) p^|d|
        d = _successes(trials) - _successes(trials)
        if rows + d >= 0:
            return d
    raise AssertionError("unreachable: d = 0 has a positive probability")


def _successes(trials: Iterator[bool]) -> int:
    return sum(1 for _ in itertools.takewhile(bool, trials))


def _trials(p: Fraction, source: WordSource, stream: int) -> Iterator[bool]:
    """Independent trials that succeed with probability exactly p."""
    step = 2**_WIDTH // p.denominator
    for position in itertools.count():
        digit = int(source.words(stream, position, 1, _WIDTH)[0]) // step
        if digit < p.denominator:  # else the word lies in the remainder: draw again
            yield digit < p.numerator


def dummy_columns(units: Sequence[Unit], rows: int, source: WordSource) -> list[Codes]:
    """``rows`` dummy rows: one column per unit, exactly uniform over its values."""
    return [_uniform(number, unit.size, rows, source) for number, unit in enumerate(units)]


def _uniform(number: int, size: int, rows: int, source: WordSource) -> Codes:
    step = np.uint64(2**_WIDTH // size)
    digits = source.words(dummy_stream(number, 0), 0, rows, _WIDTH) // step
    for round in itertools.count(1):
        again = digits >= size
        if not again.any():
            break
        digits[again] = (source.words(dummy_stream(number, round), 0, rows, _WIDTH) // step)[again]
    return digits.astype(code_dtype(size))
