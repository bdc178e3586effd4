"""Is every order of the rows as likely as any other? Small tables for the whole law, a large one for its wiring."""

import itertools
from collections import Counter

import numpy as np
import pytest
from dense import unit_of
from pipeline import released
from scipy.stats import binom, hypergeom, poisson

from pkanon._blocks import Retention
from pkanon._sample import draw_order
from pkanon._sample.keystream import Keystream, Seeded

ALPHA = 1e-9
KEYS = 12_000  # 500 for each of the 24 orders of four rows
ROWS = 200_000
LABELS = Retention(unit_of(2**18), 0, 32)  # keeps its codes, so that a released table shows its order


def released_order(rows, key):
    """The order as the whole pipeline applies it."""
    column = np.arange(rows, dtype=np.uint32)
    return released((LABELS,), {"a": column}, Keystream(key))["a"]


def orders_tail(shuffle, seed):
    """The smallest binomial tail over the 24 orders of four rows."""
    counts = Counter(tuple(shuffle(4, Seeded(seed + i).key()).tolist()) for i in range(KEYS))
    got = np.array([counts[order] for order in itertools.permutations(range(4))])
    assert got.sum() == KEYS
    return float(2 * np.minimum(binom.cdf(got, KEYS, 1 / 24), binom.sf(got - 1, KEYS, 1 / 24)).min())


def places_tail(order):
    """The smallest hypergeometric tail over tenths of the table: how many rows go from each to each.

    And a Poisson tail for neighbours that stayed neighbours: each of the n - 1 pairs does with
    probability 1/n, so about one does.
    """
    rows = len(order)
    tenth = rows // 10
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (np.asarray(order) // tenth, np.arange(rows) // tenth), 1)
    law = hypergeom(rows, tenth, tenth)
    places = float(2 * np.minimum(law.cdf(counts), law.sf(counts - 1)).min())
    neighbours = int((np.diff(np.asarray(order, np.int64)) == 1).sum())
    return min(places, float(poisson.sf(neighbours - 1, 1.0)))


def drawn_order(rows, key):
    return draw_order(rows, Keystream(key))


def in_place(rows, key):
    return np.arange(rows)


def keeps_the_first_row(rows, key):
    return np.concatenate([[0], drawn_order(rows - 1, key) + 1])


def keeps_the_last_row(rows, key):
    return np.concatenate([drawn_order(rows - 1, key), [rows - 1]])


def rotates(rows, key):
    start = int(Keystream(key).words(0, 0, 1, 64)[0]) % rows
    return np.roll(np.arange(rows), start)


def swaps_neighbours(rows, key):
    """A shuffle of pairs: rows 2i and 2i + 1 stay side by side."""
    pairs = drawn_order(rows // 2, key)
    return np.stack([2 * pairs, 2 * pairs + 1], 1).ravel()


def test_all_orders_of_four_rows(seed):
    assert orders_tail(drawn_order, seed) >= ALPHA


@pytest.mark.parametrize("mutant", [in_place, keeps_the_first_row, keeps_the_last_row, rotates, swaps_neighbours])
def test_orders_that_are_not_uniform_are_rejected(mutant, seed):
    assert orders_tail(mutant, seed) < ALPHA


def test_places_in_a_large_table(seed):
    order = released_order(ROWS, Seeded(seed).key())
    assert (np.sort(order) == np.arange(ROWS)).all()
    assert places_tail(order) >= ALPHA


@pytest.mark.parametrize("mutant", [in_place, rotates, swaps_neighbours])
def test_a_large_table_that_is_not_shuffled_is_rejected(mutant, seed):
    assert places_tail(mutant(ROWS, Seeded(seed).key())) < ALPHA


def test_a_large_table_shuffled_in_pieces_is_rejected(seed):
    # a shuffle inside each piece of 2^15 rows: neighbours are gone, but nobody travels far
    order = np.concatenate(
        [start + drawn_order(min(2**15, ROWS - start), Seeded(seed + start).key()) for start in range(0, ROWS, 2**15)]
    )
    assert places_tail(order) < ALPHA
