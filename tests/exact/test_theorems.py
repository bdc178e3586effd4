"""Theorems 1 and 2 and the differential privacy of the paper, by brute force over every table.

The matrices are not the declared ones: each is counted by feeding every 16-bit word to the sampler,
so that what is proved here is the promise of the bits that are really drawn.
"""

import itertools
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from brute import highest_likelihood_ratio, highest_posterior, links, mixed_posterior, releases, tables
from dense import kron, matrix_of, realised_words, unit_of
from plans import plan_of

import pkanon as pk
from pkanon._blocks import Retention

A3 = unit_of(3)
A2 = unit_of(2)

BLOCKS = {
    # rho = 1 - V replace / 2^16
    "retention, 2 values, rho = 0.5": Retention(A2, 2**14, 16),
    "retention, 2 values, rho near 1": Retention(A2, 1, 16),
    "retention, 2 values, rho = 0": Retention(A2, 2**15, 16),
    "retention, 2 values, keep everything": Retention(A2, 0, 16),
    "retention, 3 values, rho about 0.3": Retention(A3, 15_300, 16),
    "retention, 3 values, rho about 0.9": Retention(A3, 2_184, 16),
    "matrix, 2 values, asymmetric": matrix_of(A2, [[7, 1], [2, 6]]),
    "matrix, 2 values, zero in one row": matrix_of(A2, [[8, 0], [2, 6]]),
    "matrix, 2 values, whole zero column": matrix_of(A2, [[0, 8], [0, 8]]),
    "matrix, 3 values, asymmetric": matrix_of(A3, [[10, 5, 1], [2, 13, 1], [3, 3, 10]]),
    "matrix, 3 values, anti-diagonal heavy": matrix_of(A3, [[1, 1, 14], [2, 12, 2], [9, 6, 1]]),
    "matrix, 3 values, first column zero": matrix_of(A3, [[0, 5, 11], [0, 13, 3], [0, 8, 8]]),
    "matrix, 3 values, last column zero": matrix_of(A3, [[6, 10, 0], [15, 1, 0], [4, 12, 0]]),
    "matrix, 3 values, zero in one row": matrix_of(A3, [[6, 9, 1], [15, 1, 0], [4, 4, 8]]),
    "matrix, 3 values, equal rows": matrix_of(A3, [[6, 9, 1]] * 3),
    "matrix, 3 values, two equal rows": matrix_of(A3, [[6, 9, 1], [6, 9, 1], [1, 1, 14]]),
    "matrix, 3 values, a permutation": matrix_of(A3, [[0, 16, 0], [0, 0, 16], [16, 0, 0]]),
    "bundle 2 x 2 with one forbidden combination": Retention(unit_of(2, 2, forbid=(((0,), (1,)),)), 9_000, 16),
    "matrix on a bundle with a forbidden combination": matrix_of(
        unit_of(2, 2, forbid=(((1,), (0,)),)), [[11, 3, 2], [1, 14, 1], [5, 5, 6]]
    ),
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_theorem_2_for_every_table_of_up_to_four_records(block):
    matrix = realised_words(block)
    for records in (1, 2, 3, 4):
        k = plan_of([block], records).k_for(records)
        assert k == 1 + (records - 1) * block.anonymity_ratio
        assert highest_posterior(matrix, records) == 1 / k  # holds, and is reached: no larger k is true


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Retention(unit_of(2), 20_000, 16), Retention(unit_of(2, names="b"), 9_000, 16)),
        (Retention(unit_of(2), 20_000, 16), matrix_of(unit_of(2, names="b"), [[7, 1], [2, 6]])),
        (matrix_of(unit_of(2), [[5, 3], [1, 7]]), matrix_of(unit_of(2, names="b"), [[6, 2], [3, 5]])),
        (matrix_of(unit_of(2), [[0, 8], [0, 8]]), Retention(unit_of(2, names="b"), 9_000, 16)),
        (matrix_of(unit_of(2), [[8, 0], [1, 7]]), Retention(unit_of(2, names="b"), 9_000, 16)),
    ],
)
def test_theorem_2_for_two_attributes(first, second):
    matrix = kron(realised_words(first), realised_words(second))
    for records in (2, 3):
        k = plan_of([first, second], records).k_for(records)
        assert highest_posterior(matrix, records) == 1 / k


def test_reordering_the_rows_of_a_release_only_renames_them():
    # why it is enough to look at sorted releases in the tests above
    matrix = [[10, 5, 1], [2, 13, 1], [3, 3, 10]]
    for table in tables(3, 3):
        for release in releases(3, 3):
            total, joint = links(matrix, table, release)
            for order in itertools.permutations(range(3)):
                again, renamed = links(matrix, table, [release[i] for i in order])
                assert again == total
                assert renamed == [[row[i] for i in order] for row in joint]


@pytest.mark.parametrize("name", ["retention, 3 values, rho about 0.3", "matrix, 3 values, asymmetric"])
def test_no_mixed_prior_believes_more_than_one_in_k(name, seed):
    draw = random.Random(seed)
    block = BLOCKS[name]
    matrix = realised_words(block)
    every = list(tables(3, 3))
    for _ in range(30):
        # few tables make strong priors, many make weak ones; weights over six orders of magnitude
        prior = {table: 10 ** draw.randint(0, 6) for table in draw.sample(every, draw.choice([2, 3, 9, 27]))}
        k = plan_of([block], 3).k_for(3)
        for release in releases(3, 3):
            assert mixed_posterior(matrix, prior, release) <= 1 / k


@pytest.mark.parametrize("recoding", list(itertools.product(range(3), repeat=3)))
def test_theorem_1_pk_of_a_deterministic_recoding_is_classical_k_anonymity(recoding):
    matrix = [[int(recoding[u] == v) for v in range(3)] for u in range(3)]
    for records in (1, 2, 3, 4):
        lowest = records
        for release in releases(3, records):
            beliefs = [
                Fraction(max(map(max, joint)), total)
                for table in tables(3, records)
                for total, joint in [links(matrix, table, release)]
                if total
            ]
            if beliefs:  # the recoding can release it
                classical = min(Counter(release).values())  # the smallest group of equal rows
                assert max(beliefs) == Fraction(1, classical)
                lowest = min(lowest, classical)
        # a promise made before the data are seen is the worst case over them
        assert pk.k_of([np.array(matrix, float)], records) == lowest


def test_the_package_counts_classical_k_anonymity_the_same_way():
    for records in (1, 2, 3, 4):
        for table in tables(3, records):
            frame = pl.DataFrame({"a": list(table)})
            assert pk.anonymity(frame, ["a"]) == min(Counter(table).values())


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_epsilon_for_every_pair_of_neighbouring_tables(block):
    matrix = realised_words(block)
    for records in (1, 2, 3):
        assert highest_likelihood_ratio(matrix, records) == block.epsilon_ratio
        assert plan_of([block], records).epsilon_ratio == block.epsilon_ratio


def test_epsilon_of_two_attributes_adds_up():
    first, second = Retention(unit_of(2), 20_000, 16), matrix_of(unit_of(2, names="b"), [[7, 1], [2, 6]])
    matrix = kron(realised_words(first), realised_words(second))
    assert highest_likelihood_ratio(matrix, 2) == plan_of([first, second], 2).epsilon_ratio
    assert plan_of([first, second], 2).epsilon_ratio == first.epsilon_ratio * second.epsilon_ratio
