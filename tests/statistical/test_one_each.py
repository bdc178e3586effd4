"""Is every row of a person as likely to stay as any other? Exactly for small persons, then for many of them."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom, chi2

from pkanon._sample import Keystream, Seeded, draw_one_each
from pkanon._sample.keystream import (
    COUNT_STREAM,
    ORDER_STREAM,
    REPEATS_STREAM,
    ROUNDING_STREAM,
    block_stream,
    dummy_stream,
)

ALPHA = 1e-9
PERSONS, VISITS = 4_000, 5


class Listed:
    """Words by hand: one list per round."""

    def __init__(self, *rounds):
        self.rounds = rounds

    def words(self, stream, start, count, width):
        assert width == 64
        return np.array(self.rounds[stream - REPEATS_STREAM][start : start + count], np.uint64)


def test_every_row_of_a_person_is_equally_likely_exactly():
    """All words of a first round with ties, then every order of the words of a second one."""
    for persons in ([0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0, 0]):
        owner, kept = np.array(persons), Counter()
        for first in itertools.product(range(2), repeat=len(persons)):
            for second in itertools.permutations(range(len(persons))):
                kept.update(draw_one_each(owner, Listed(first, second)).tolist())
        for person in set(persons):
            counts = [kept[row] for row in np.flatnonzero(owner == person)]
            assert len(set(counts)) == 1, (persons, kept)
            assert sum(counts) == 2 ** len(persons) * len(list(itertools.permutations(persons)))


def test_ties_are_settled_by_the_next_round_and_among_the_tied_only():
    owner = np.array([0, 0, 0, 3])
    assert draw_one_each(owner, Listed([7, 7, 9, 1], [5, 4, 0, 0])).tolist() == [1, 3]
    assert draw_one_each(owner, Listed([7, 7, 7, 7], [4, 4, 4, 4], [2, 3, 1, 9])).tolist() == [2, 3]


def test_rows_that_nobody_shares_stay_without_a_draw():
    assert draw_one_each(np.arange(4), Listed()).tolist() == [0, 1, 2, 3]
    assert draw_one_each(np.empty(0, np.int64), Listed()).tolist() == []


def places(kept):
    """How often the first, second, ... row of a person stayed, of all persons and keys."""
    return np.bincount(kept % VISITS, minlength=VISITS)


def drawn(seed):
    return draw_one_each(np.repeat(np.arange(PERSONS) * VISITS, VISITS), Keystream(Seeded(seed).key()))


def first_stays(seed):
    return np.arange(PERSONS) * VISITS


def last_is_rare(seed):
    """Words of two bits and no second round: the earlier row wins a tie."""
    words = Keystream(Seeded(seed).key()).words(REPEATS_STREAM, 0, PERSONS * VISITS, 64) >> np.uint64(62)
    return np.argmin(words.reshape(PERSONS, VISITS), axis=1) + np.arange(PERSONS) * VISITS


def one_place_for_all(seed):
    word = int(Keystream(Seeded(seed).key()).words(REPEATS_STREAM, 0, 1, 64)[0])
    return np.arange(PERSONS) * VISITS + word % VISITS


def tail(draw):
    """The smaller of two tails: uneven places, and persons who are not drawn independently of their neighbours."""
    counts, equal = np.zeros(VISITS, int), 0
    for seed in range(10):
        kept = draw(seed)
        counts += places(kept)
        place = kept % VISITS
        equal += int((place[1:] == place[:-1]).sum())
    expected = counts.sum() / VISITS
    uneven = chi2.sf(((counts - expected) ** 2 / expected).sum(), VISITS - 1)
    pairs = 10 * (PERSONS - 1)
    alike = 2 * min(binom.cdf(equal, pairs, 1 / VISITS), binom.sf(equal - 1, pairs, 1 / VISITS))
    return min(uneven, alike)


def test_many_persons_are_drawn_evenly():
    assert tail(drawn) > 1e-4


@pytest.mark.parametrize("mutant", [first_stays, last_is_rare, one_place_for_all])
def test_a_biased_draw_is_noticed(mutant):
    assert tail(mutant) < ALPHA


def test_the_stream_is_no_other_draws_stream():
    ours = range(REPEATS_STREAM, REPEATS_STREAM + 2**32)
    others = [
        0,
        block_stream(2**32 - 1, 2**16 - 1, 2**8 - 1),
        COUNT_STREAM,
        dummy_stream(2**24 - 1, 2**32 - 1),
        ORDER_STREAM,
    ]
    assert not any(stream in ours for stream in others)
    assert block_stream(2**32 - 1, 2**16 - 1, 2**8 - 1) < ours[0]
    assert ours[-1] < ROUNDING_STREAM < COUNT_STREAM
