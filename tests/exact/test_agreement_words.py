"""Which words of an agreement block lead to which surviving set, and which are drawn again."""

import itertools
import random
from bisect import bisect_right
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from agreement_examples import Dense, orders_of
from blocks import through
from dense import declared_words, naive_anonymity_ratio, naive_epsilon_ratio, unit_of
from listed import DTYPES, ByStream
from plans import plan_of

import pkanon as pk
from pkanon._blocks import Agreement
from pkanon._sample import randomise
from pkanon._sample.keystream import Keystream, Seeded, block_stream


def split_words(draw, count, width, empty=0.4):
    """Whole numbers that sum to 2^width, some of them zero and some of them one."""
    weights = [0.0 if draw.random() < empty else draw.expovariate(1) for _ in range(count)]
    weights[draw.randrange(count)] += 1.0
    sets = [min(int(w * 2**width / sum(weights)), 2**width) for w in weights]
    for place in range(0, count, 5):
        sets[place] = min(sets[place], 1)
    largest = max(range(count), key=sets.__getitem__)
    sets[largest] += 2**width - sum(sets)
    return tuple(sets)


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("units", [1, 2, 3, 7, 8, 9, 12])
def test_the_surviving_set_is_found_by_its_word(width, units, seed):
    """At and around every threshold, the first and the last words, the borders of the lookup table, and many others."""
    draw = random.Random(seed * 100 + width + units)
    names = [f"u{i}" for i in range(units)]
    for empty in (0.0, 0.4, 0.99):
        sets = split_words(draw, 2**units, width, empty)
        block = Agreement(tuple(unit_of(2, names=[name]) for name in names), sets, width)
        ends = list(itertools.accumulate(sets))
        near = {end + step for end in ends for step in (-2, -1, 0, 1)}
        near |= {(i << (width - 12)) + step for i in range(2**12) for step in (-1, 0)}
        near |= {0, 1, 2, 2**width - 1, 2**width - 2, *(draw.randrange(2**width) for _ in range(2000))}
        words = sorted(word for word in (range(2**16) if width == 16 else near) if 0 <= word < 2**width)
        expected = [bisect_right(ends, word) for word in words]  # the first whose cumulative count exceeds it
        got = block._survivors(np.array(words, DTYPES[width]))
        assert got.tolist() == expected
        assert all(sets[mask] for mask in set(expected))
        if width == 16:
            assert np.bincount(got, minlength=2**units).tolist() == list(sets)


def released_from(block, columns, streams=None, source=None):
    out = [np.empty_like(column) for column in columns]
    randomise([block], columns, source or ByStream(streams), out=out, threads=1)
    return out


@pytest.mark.parametrize("units", [1, 7, 8, 12])
def test_all_or_nothing(units, seed):
    """Only the full set has words: nothing changes. Only the empty one: everything does, to every other value alike."""
    members = tuple(unit_of(2 + i % 3, names=[f"u{i}"]) for i in range(units))
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, unit.size, 4000).astype(np.uint8) for unit in members]
    for mask, changed in ((2**units - 1, False), (0, True)):
        sets = tuple(2**64 if place == mask else 0 for place in range(2**units))
        got = released_from(Agreement(members, sets), columns, source=Keystream(Seeded(seed).key()))
        for before, after, unit in zip(columns, got, members):
            assert (before != after).all() if changed else (before == after).all()
            assert after.max() < unit.size


def test_sets_without_words():
    """A probability of zero rules values out: nothing bounds eps, and k is 1."""
    block = Agreement((unit_of(2), unit_of(3, names="b")), (0, 2**14, 2**14, 2**15), 16)
    assert block.epsilon_ratio is None
    assert naive_epsilon_ratio(declared_words(block)) is None
    assert block.anonymity_ratio == naive_anonymity_ratio(declared_words(block)) == 0
    plan = plan_of([block], 1000)
    assert (plan.k, plan.epsilon) == (1.0, inf)
    for names in orders_of(block):
        book = Dense(block, names)
        x = np.arange(1.0, 1 + len(book.possible))
        book.check(block.inverse(book.counts(x), book.axes), book.b.T @ x, book.b)


def test_a_table_of_which_nothing_is_left():
    """q = (0, 1/4, 1/4, 1/2): lam_a = lam_b = 1/2 and lam_ab = 0, so that single tables are there and their pair is not."""
    block = Agreement((unit_of(2), unit_of(2, names="b")), (0, 2**14, 2**14, 2**15), 16)
    assert block.eigenvalues == (1, Fraction(1, 2), Fraction(1, 2), 0)
    assert block.error_factor(["a"]) == pytest.approx(2.5)  # (1 + 1/lam^2)/2
    np.testing.assert_allclose(block.inverse(np.array([3.0, 1.0]), {"a": 0}), [4.0, 0.0])
    assert block.error_factor(["a", "b"]) == inf
    axes = {"a": 0, "b": 1}
    for name in ("inverse", "inverse_transpose", "squared_inverse"):
        with pytest.raises(pk.PlanError, match="Nothing is left of a x b"):
            through(block, name, np.ones((2, 2)), axes)
    for method in (lambda: block.inverse_diagonal(("a", "b")), lambda: block.own_moment(("a", "b"), 2)):
        with pytest.raises(pk.PlanError, match="Nothing is left"):
            method()
    np.testing.assert_allclose(block.forward(np.ones((2, 2)), axes), np.ones((2, 2)))


def test_a_rejected_word_is_drawn_again_until_it_fits():
    """V - 1 = 2^15 + 1 of 2^16 words: each digit has one word, and nearly half of all words are refused."""
    size = 2**15 + 2
    block = Agreement((unit_of(size),), (2**15, 2**15), 16)
    rows = 2**16
    rounds = [
        np.arange(rows)[::-1].copy(),
        np.where(np.arange(rows) % 3 == 0, 2**16 - 1, np.arange(rows) // 4),
        np.where(np.arange(rows) % 5 == 0, size - 1, 7),  # size - 1 is the lowest word that is refused
        np.full(rows, size - 2),  # the highest digit there is
    ]
    for code in (0, 7, size - 1):
        survives = np.arange(rows) % 2
        streams = {block_stream(0, 0, 0): np.where(survives, 2**15, 2**15 - 1)}
        streams |= {block_stream(0, 1, number): words for number, words in enumerate(rounds)}
        (got,) = released_from(block, [np.full(rows, code, np.uint16)], streams)
        expected = []
        for row in range(rows):
            digit = next(int(words[row]) for words in rounds if words[row] < size - 1)
            expected.append(code if survives[row] else digit + (digit >= code))
        assert got.tolist() == expected


def test_who_survives_needs_no_other_round():
    size = 2**15 + 2
    block = Agreement((unit_of(size),), (2**15, 2**15), 16)
    streams = {block_stream(0, 0, 0): np.full(100, 2**16 - 1), block_stream(0, 1, 0): np.full(100, 2**16 - 1)}
    (got,) = released_from(block, [np.arange(100, dtype=np.uint16)], streams)  # round 1 is not listed
    assert (got == np.arange(100)).all()
