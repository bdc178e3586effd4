"""A release by an agreement block has its binomial law in every cell; a mechanism that is a little different is rejected."""

import itertools
from math import prod

import numpy as np
import polars as pl
import pytest
from agreement_examples import of_units, people_of
from dense import declared_words, unit_of
from plans import plan_of
from scipy.stats import binom

import pkanon as pk
from pkanon._blocks import Agreement

ALPHA = 1e-9
"""Per cell, as in tests/statistical/test_wiring.py: 18 records times some 60 cells make a thousand tails."""
ROWS = 200_000
WIRED = of_units(
    unit_of(2, names=["sex"]),
    unit_of(2, 2, names=["age", "degree"], forbid=(((0,), (1,)),)),
    unit_of(3, names=["town"]),
    weights=(5, 3, 4, 9, 2, 7, 6, 21),
    width=64,
)


def lowest_tail(block, seed, spoil=lambda codes: codes):
    """The smallest tail over all cells of all tables, of releases by ``block`` that should follow WIRED."""
    law = np.array([[float(entry) for entry in row] for row in declared_words(WIRED)])
    people = people_of(WIRED)
    sizes = {name: size for unit in WIRED.units for name, size in zip(unit.attributes, unit.sizes)}
    tables = [c for count in range(1, 5) for c in itertools.combinations(WIRED.attributes, count)]
    lowest = 1.0
    for number, person in enumerate(people):
        table = pl.DataFrame({name: np.full(ROWS, code + 1) for name, code in person.items()})
        release = pk.release(table, plan_of([block], ROWS), randomness=pk.Seeded(seed * 100 + number))
        codes = spoil(release.codes)
        for names in tables:
            shape = [sizes[name] for name in names]
            cell = np.ravel_multi_index([[other[name] for other in people] for name in names], shape)
            p = np.bincount(cell, weights=law[number], minlength=prod(shape))
            seen = np.bincount(
                np.ravel_multi_index([codes[n].astype(int) for n in names], shape), minlength=prod(shape)
            )
            tails = 2 * np.minimum(binom.cdf(seen, ROWS, p), binom.sf(seen - 1, ROWS, p))  # 0 where p is and rows are
            lowest = min(lowest, float(np.where((p == 0) & (seen == 0), 1.0, tails).min()))
        if lowest < ALPHA:
            break
    return lowest


def test_every_cell_of_a_release_has_its_binomial_law(seed):
    assert lowest_tail(WIRED, seed) >= ALPHA


def moved(first, second, share):
    """WIRED with a share of all words moved from one set to another."""
    sets = list(WIRED.sets)
    sets[first] -= int(share * 2**64)
    sets[second] += int(share * 2**64)
    return Agreement(WIRED.units, tuple(sets))


MUTANTS = {
    "a little more kept": moved(0, 7, 0.02),
    "a little less kept": moved(7, 0, 0.02),
    "two sets swapped": Agreement(WIRED.units, tuple(WIRED.sets[i] for i in (0, 2, 1, 3, 4, 5, 6, 7))),
    "two attributes kept together more often": moved(1, 5, 0.02),
}


@pytest.mark.parametrize("block", MUTANTS.values(), ids=MUTANTS)
def test_a_mechanism_that_is_a_little_different_is_rejected(block, seed):
    assert lowest_tail(block, seed) < ALPHA


def test_columns_that_survive_independently_are_rejected(seed):
    """Every column alone is as it should be; only their common tables show that the sets are not those of the plan."""

    def apart(codes):  # rows of one private record are alike, so any order of one column is as good as any other
        return {**codes, "town": np.roll(codes["town"], 1)}

    assert lowest_tail(WIRED, seed, apart) < ALPHA
