"""AR and e^eps of any matrix against their definitions, in exact arithmetic."""

import random
from fractions import Fraction

import numpy as np
import pytest
from dense import matrix_of, naive_anonymity_ratio, naive_epsilon_ratio, unit_of

from pkanon._blocks import Matrix, Retention, TransitionMatrix
from pkanon._blocks.ratios import anonymity_ratio, epsilon_ratio


def check(rows):
    entries = np.array(rows, np.uint64)
    assert anonymity_ratio(entries) == naive_anonymity_ratio(rows)
    assert epsilon_ratio(entries) == naive_epsilon_ratio(rows)


@pytest.mark.parametrize("size", [2, 3, 4, 7, 12])
def test_random_matrices(size, seed):
    draw = random.Random(seed + size)
    for bits in (1, 2, 5, 20, 63):  # few bits give many ties, many bits none
        for _ in range(6):
            check([[draw.randint(1, 2**bits) for _ in range(size)] for _ in range(size)])


@pytest.mark.parametrize("bits", [3, 40])
def test_a_random_matrix_of_40_values(bits, seed):
    draw = random.Random(seed)
    check([[draw.randint(1, 2**bits) for _ in range(40)] for _ in range(40)])


def test_random_matrices_with_zeros(seed):
    draw = random.Random(seed)
    for _ in range(200):
        size = draw.randint(2, 5)
        empty = set(draw.sample(range(size), draw.randint(0, size - 1)))
        rows = [[0 if v in empty else draw.randint(1, 9) for v in range(size)] for _ in range(size)]
        check(rows)  # whole columns of zeros do not count
        if size - len(empty) > 1:
            rows[draw.randrange(size)][draw.choice([v for v in range(size) if v not in empty])] = 0
            check(rows)
            assert anonymity_ratio(np.array(rows, np.uint64)) == 0  # a zero in some rows only: k = 1
            assert epsilon_ratio(np.array(rows, np.uint64)) is None


def test_equal_and_repeated_rows():
    check([[1, 2, 3]] * 3)
    check([[1, 2, 3], [2, 4, 6], [1, 2, 3]])  # rescaled rows: AR = 1, e^eps = 2
    check([[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    check([[5, 0], [7, 0]])


def test_near_ties_are_settled_in_integers():
    # Two quadruples whose ratios differ by 2^-62 in their logarithms: floats cannot tell them apart.
    big = 2**62
    for a, b, c in [(big, big + 1, big - 1), (big + 5, big + 4, big + 3), (2**63 - 1, 2**63, 2**63 - 2)]:
        check([[3 * (a // 3), a, b], [a, c, b], [b, a, a]])
        check([[a, 1], [1, b]])
        check([[a, 1, b], [1, b, c], [c, a, 1]])


def test_near_ties_at_random(seed):
    draw = random.Random(seed)
    for _ in range(60):
        size = draw.randint(2, 6)
        kept, replaced = 2**62, 2**60
        check([[(kept if u == v else replaced) + draw.randint(-3, 3) for v in range(size)] for u in range(size)])


def test_near_ties_that_floats_put_in_the_wrong_order(seed):
    # Entries x_u y_v + 0 or 1: all rows are nearly in proportion, so every spread of logarithms is below
    # 1e-15 and floats see nothing but their own rounding. Only the integers tell which quadruple is worst.
    draw = random.Random(seed)
    for _ in range(40):
        size = draw.randint(3, 6)
        x, y = ([draw.randint(2**28, 2**31) for _ in range(size)] for _ in range(2))
        check([[a * b + draw.randint(0, 1) for b in y] for a in x])


def test_the_extremes_of_64_bits():
    top = 2**64 - 1
    check([[top, 1], [1, top]])  # AR = 1/(2^64 - 1)^2
    check([[top, 1, 1], [1, top, 1], [1, 1, top]])
    check([[1, top], [top, top]])


def test_floats_stand_for_their_exact_values(seed):
    draw = np.random.default_rng(seed)
    for _ in range(30):
        entries = draw.dirichlet(np.full(4, 0.2), 4) + 1e-300
        exact = [[Fraction(entry) for entry in row] for row in entries.tolist()]
        assert anonymity_ratio(entries) == naive_anonymity_ratio(exact)
        assert epsilon_ratio(entries) == naive_epsilon_ratio(exact)


def test_retention_as_a_matrix_has_the_ratios_of_retention():
    for size, replace in ((2, 100), (5, 9_000), (40, 1_000)):
        retention = Retention(unit_of(size), replace, 16)
        kept = 2**16 - (size - 1) * replace
        rows = tuple(tuple(kept if u == v else replace for v in range(size)) for u in range(size))
        matrix = Matrix(unit_of(size), rows, 16)
        assert matrix.anonymity_ratio == retention.anonymity_ratio
        assert matrix.epsilon_ratio == retention.epsilon_ratio


def test_rows_that_take_all_64_bit_words():
    whole = 2**64
    assert Matrix(unit_of(2), ((whole, 0), (whole, 0)), 64).anonymity_ratio == 1
    assert Matrix(unit_of(2), ((whole, 0), (whole, 0)), 64).epsilon_ratio == 1
    mixed = Matrix(unit_of(2), ((whole, 0), (whole - 1, 1)), 64)
    assert (mixed.anonymity_ratio, mixed.epsilon_ratio) == (0, None)


@pytest.mark.parametrize("shape", ["retention", "circulant", "geometric", "two blocks", "random"])
def test_1024_values_finish(shape, seed):
    size = 1024
    u, v = np.indices((size, size))
    distance = np.minimum((u - v) % size, (v - u) % size)
    if shape == "retention":
        entries, ratio = np.where(u == v, 5000, 3), Fraction(3, 5000) ** 2
    elif shape == "circulant":
        entries, ratio = 1000 - distance, Fraction(1000 - 512, 1000) ** 2
    elif shape == "geometric":
        # 2^(60 - d/16): rows half a turn apart span 2^32 each way
        entries, ratio = 2 ** (60 - distance // 16), Fraction(1, 2**32) ** 2
    elif shape == "two blocks":
        entries, ratio = np.where(u // 512 == v // 512, 7, 2), Fraction(2, 7) ** 2
    else:
        entries, ratio = np.random.default_rng(seed).integers(1, 2**50, (size, size)), None
    got = anonymity_ratio(entries.astype(np.uint64))
    if ratio is not None:
        assert got == ratio
    else:  # the worst of 2^40 quadruples is worse than those of any two rows alone
        rows = entries[:2].tolist()
        assert 0 < got <= naive_anonymity_ratio(rows)


def test_a_transition_matrix_is_rounded_to_its_integers(seed):
    draw = np.random.default_rng(seed)
    for width in (16, 32, 64):
        for _ in range(40):
            size = int(draw.integers(2, 9))
            rows = draw.dirichlet(np.full(size, 0.3), size)
            rows[draw.random((size, size)) < 0.2] = 0
            rows[:, 0] += 1 - rows.sum(axis=1)
            block = TransitionMatrix(rows).to_block(unit_of(size), width)
            for row, counts in zip(rows.tolist(), block.rows):
                assert sum(counts) == 2**width
                exact = [Fraction(entry) / sum(map(Fraction, row)) * 2**width for entry in row]
                assert all((count == 0) == (entry == 0) for count, entry in zip(counts, row))
                # largest remainders: off by less than one word, unless tiny entries were lifted to one word
                lifted = sum(0 < entry < 1 for entry in exact)
                assert all(abs(count - entry) < 1 + lifted for count, entry in zip(counts, exact))


def test_tiny_probabilities_stay_possible():
    block = TransitionMatrix([[1 - 1e-30, 1e-30], [1e-30, 1 - 1e-30]]).to_block(unit_of(2), 32)
    assert block.rows == ((2**32 - 1, 1), (1, 2**32 - 1))
    assert matrix_of(unit_of(2), [[1, 0], [0, 1]]).epsilon_ratio is None


def test_invariant_pram_is_data_dependent_unless_its_marginals_are_public():
    assert TransitionMatrix.invariant([10, 20, 30], 0.5).data_dependent
    assert not TransitionMatrix.invariant([10, 20, 30], 0.5, public=True).data_dependent
    rows = np.array(TransitionMatrix.invariant([10, 20, 30], 0.5).rows)
    np.testing.assert_allclose(np.array([10, 20, 30]) @ rows, [10, 20, 30])  # the counts it leaves in place
