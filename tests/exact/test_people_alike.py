"""What epsilon bounds, and what it does not, where people are alike (docs/why/theory.md 3)."""

import itertools
from fractions import Fraction
from math import prod

from dense import realised_words, unit_of

from pkanon._blocks import Retention

HALF = Retention(unit_of(2), 2**14, 16)  # V = 2, rho = 0.5: e^eps = 3
RELATIVES = 5


def likelihood(matrix, table, release):
    """Of a release in its random order: the mean over all orders; exact."""
    orders = list(itertools.permutations(range(len(table))))
    return sum(prod(matrix[table[i]][value] for i, value in zip(order, release)) for order in orders) / len(orders)


def matrix_of_half():
    return [[Fraction(words, 2**16) for words in row] for row in realised_words(HALF)]


def test_five_relatives_move_the_odds_by_the_fifth_power():
    matrix = matrix_of_half()
    assert HALF.epsilon_ratio == 3
    # before: all five answered 0, or all five answered 1, with odds 1:1
    odds = likelihood(matrix, [0] * RELATIVES, [0] * RELATIVES) / likelihood(matrix, [1] * RELATIVES, [0] * RELATIVES)
    assert odds == 3**RELATIVES == 243


def test_another_answer_of_one_person_changes_what_is_seen_by_the_factor_only():
    matrix = matrix_of_half()
    ratios = []
    for others in itertools.combinations_with_replacement(range(2), RELATIVES - 1):
        for release in itertools.combinations_with_replacement(range(2), RELATIVES):
            ratio = likelihood(matrix, [0, *others], release) / likelihood(matrix, [1, *others], release)
            ratios += [ratio, 1 / ratio]
    assert max(ratios) == HALF.epsilon_ratio
