"""The draws that hide a record count have exactly the law of docs/why/theory.md 10."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from dense import unit_of
from listed import ByStream

from pkanon._sample.hidden_count import draw_change, dummy_columns
from pkanon._sample.keystream import COUNT_STREAM, dummy_stream

HALF = Fraction(1, 2)


def trials(text, p):
    """Words for a text of trials: + succeeds, - fails, . lies in the remainder and is drawn again."""
    step = 2**64 // p.denominator
    first = {"+": 0, "-": p.numerator * step, ".": p.denominator * step}
    last = {"+": p.numerator * step - 1, "-": p.denominator * step - 1, ".": 2**64 - 1}
    return [(first if i % 2 else last)[letter] for i, letter in enumerate(text)]


def change(rows, p, *texts):
    return draw_change(rows, p, ByStream({COUNT_STREAM + round: trials(text, p) for round, text in enumerate(texts)}))


@pytest.mark.parametrize("p", [HALF, Fraction(9, 10), Fraction(1, 3), Fraction(999_983, 10**6)])
def test_a_trial_succeeds_for_exactly_its_share_of_the_accepted_words(p):
    # boundary words on both sides: trials() alternates between the first and the last word of each kind
    for order in itertools.permutations("+-+-"):
        text = "".join(order) + "--"
        up, down = (len(part) for part in text.split("-")[:2])
        assert change(100, p, text) == up - down
        assert change(100, p, "+" + text) == up + 1 - down


def test_words_in_the_remainder_are_drawn_again():
    p = Fraction(1, 3)  # 2^64 = 3 q + 1: one word is left over
    assert 2**64 % 3 == 1
    assert change(100, p, "..+.-.+.+-") == 1 - 2


def test_d_is_the_difference_of_two_geometric_draws():
    # S^i F S^j F has probability p^(i+j) (1-p)^2 and gives d = i - j; summed over i + j this is
    # (1 - p)/(1 + p) p^|d|, because sum over t of p^(|d| + 2t) = p^|d| / (1 - p^2)
    for i, j in itertools.product(range(6), repeat=2):
        assert change(100, HALF, "+" * i + "-" + "+" * j + "-") == i - j
    p = Fraction(7, 10)
    for d in range(-3, 4):
        partial = sum(p ** (i + j) * (1 - p) ** 2 for i in range(80) for j in range(80) if i - j == d)
        assert 0 < (1 - p) / (1 + p) * p ** abs(d) - partial < Fraction(1, 10**20)


def test_a_negative_count_is_drawn_anew_from_the_next_stream():
    assert change(0, HALF, "-+-", "-++-", "+--") == 1
    assert change(1, HALF, "-++-", "-+-") == -1  # 1 - 2 < 0 is redrawn, 1 - 1 = 0 is a count
    assert change(2, HALF, "-++-") == -2


@pytest.mark.parametrize("size", [2, 3, 256, 257, 10**6, 2**31])
def test_dummies_are_exactly_uniform(size):
    step = 2**64 // size  # each value has this many words, whatever is left over is drawn again
    values = sorted({0, 1, size // 2, size - 1})
    words = [word for value in values for word in (value * step, (value + 1) * step - 1)]
    over = [word for word in (size * step, 2**64 - 1) if size * step <= word < 2**64]
    first = words + over
    again = [0] * len(words) + [step] * len(over)
    source = ByStream({dummy_stream(0, 0): first, dummy_stream(0, 1): again})
    (column,) = dummy_columns([unit_of(size)], len(first), source)
    assert column.tolist() == [value for value in values for _ in range(2)] + [1] * len(over)


def test_dummies_of_every_unit_have_a_stream_of_their_own():
    units = [unit_of(2), unit_of(2, names="b")]
    source = ByStream({dummy_stream(0, 0): [0, 2**63, 0], dummy_stream(1, 0): [2**63, 0, 0]})
    assert [column.tolist() for column in dummy_columns(units, 3, source)] == [[0, 1, 0], [1, 0, 0]]


def test_dummies_of_a_bundle_are_uniform_over_what_is_allowed():
    unit = unit_of(2, 3, forbid=(((0,), (1, 2)),))  # four combinations are left
    step = 2**64 // 4
    source = ByStream({dummy_stream(0, 0): [value * step for value in range(4)]})
    (column,) = dummy_columns([unit], 4, source)
    assert np.stack(unit.split(column), 1).tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
