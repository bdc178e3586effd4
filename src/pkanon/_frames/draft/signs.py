"""Signs for a missing value: texts among numbers or labels, and numbers that stand apart, such as -9 and 999.

Which texts are such signs is a list of common ones, so nothing here is taken from the data but whether it
occurs. Among numbers or dates every sign of the list counts; among labels only those that can hardly be
one: "none", "N" and "unknown" may well be answers. A number is a sign where it is -9, -99, -8 ... and all
others are not negative, or 99, 999 ... and at least three times the next one.
"""

from __future__ import annotations

import polars as pl

AMONG_LABELS = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", ".", "?")
_AMONG_NUMBERS = frozenset(
    (
        *(sign.casefold() for sign in AMONG_LABELS),
        *("none", "nil", "n", "na.", "n.a.", "n.a", "nd", "n.d.", "-", "--", "..", "...", "*", "x"),
        *("missing", "(missing)", "unknown", "unk", "not known", "not available", "not applicable", "inapplicable"),
        *("refused", "no answer", "dk", "don't know", "k.a.", "k. a.", "unbekannt", "inconnu", "desconocido"),
    )
)
_NEGATIVE = tuple(-int(digit * length) for digit in "789" for length in (1, 2, 3, 4, 5))
_POSITIVE = tuple(int("9" * length) for length in (2, 3, 4, 5, 6, 7, 8))
_APART = 3
_FEWEST_OTHERS = 2


def among_numbers(texts: pl.Series) -> pl.Series:
    """Which of these texts stand for a missing value in a column of numbers, truth values or dates."""
    return texts.str.strip_chars().str.to_lowercase().is_in(list(_AMONG_NUMBERS)).fill_null(False)


def among_labels(texts: pl.Series) -> pl.Series:
    """Which of these texts stand for a missing value in a column of labels."""
    negative = [str(number) for number in _NEGATIVE]
    return texts.str.strip_chars().is_in([*AMONG_LABELS, *negative]).fill_null(False)


def numbers_apart(values: pl.Series) -> list[float]:
    """Numbers that look like signs for a missing value, among the different values of a column, ascending."""
    found = []
    present = values.to_list()
    below = [value for value in present if value < 0]
    if below and all(value in _NEGATIVE for value in below) and len(present) - len(below) >= _FEWEST_OTHERS:
        found += below
        present = present[len(below) :]
    if len(present) > _FEWEST_OTHERS and present[-1] in _POSITIVE and 0 < _APART * present[-2] <= present[-1]:
        found.append(present[-1])
    return found
