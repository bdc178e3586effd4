"""Is everything connected as planned? Exact binomial tails per cell, and mutants that must not pass.

Samplers, ratios and orders are checked exactly elsewhere. Here whole releases of 200,000 equal
records are counted: every cell of every table of one or two attributes, and of all, has a binomial
law that is known exactly. ALPHA is per cell. 36 private records times 10 + 37 + 36 cells make some 3,000
tails, so that a correct release is rejected once in 300,000 seeds.
"""

import itertools

import numpy as np
import pytest
from dense import declared_words, matrix_of, unit_of
from pipeline import released
from plans import plan_of
from scipy.stats import binom, hypergeom

from pkanon._blocks import Retention
from pkanon._sample.keystream import ORDER_STREAM, Keystream, Seeded, block_stream
from pkanon._schema import code_dtype

ALPHA = 1e-9
ROWS = 200_000

SEX = Retention(unit_of(2, names=("sex",)), 2**30, 32)  # rho = 0.5
HOME = Retention(unit_of(2, 2, names=("age", "degree"), forbid=(((0,), (1,)),)), 2**32 // 5, 32)  # rho = 0.4
TOWN = matrix_of(unit_of(3, names=("town",)), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 32)
LAST = Retention(unit_of(2, names=("last",)), 2**32 * 3 // 10, 32)  # rho = 0.4
BLOCKS = (SEX, HOME, TOWN, LAST)


def lowest_tail(blocks, source_for, change=lambda columns: columns):
    """The smallest tail over all cells and over all private records, of a release that should follow BLOCKS.

    ``blocks`` and ``source_for`` are what is really run; ``change`` spoils its result. Stops at the
    first record that is clearly rejected.
    """
    units = [block.units[0] for block in BLOCKS]
    laws = [np.array(declared_words(block), float) / 2.0**block.width for block in BLOCKS]
    lowest = 1.0
    for number, record in enumerate(itertools.product(*(range(unit.size) for unit in units))):
        private = {}
        for unit, code in zip(units, record):
            private |= zip(unit.attributes, unit.split(np.full(ROWS, code, code_dtype(unit.size))))
        got = change(released(plan_of(blocks, ROWS).blocks, private, source_for(number)))
        codes = [unit.join([got[name] for name in unit.attributes]).astype(int) for unit in units]
        for count in (1, 2, len(units)):
            for chosen in itertools.combinations(range(len(units)), count):
                law = laws[chosen[0]][record[chosen[0]]]
                for i in chosen[1:]:
                    law = np.multiply.outer(law, laws[i][record[i]])
                cells = np.ravel_multi_index([codes[i] for i in chosen], law.shape)
                counts = np.bincount(cells, minlength=law.size)
                below, above = binom.cdf(counts, ROWS, law.ravel()), binom.sf(counts - 1, ROWS, law.ravel())
                lowest = min(lowest, float(2 * np.minimum(below, above).min()))
        if lowest < ALPHA:
            break
    return lowest


def keystreams(seed):
    return lambda number: Keystream(Seeded(seed * 1000 + number).key())


def test_every_cell_of_a_release_has_its_binomial_law(seed):
    assert lowest_tail(BLOCKS, keystreams(seed)) >= ALPHA


def with_rho(block, step):
    """The same block with rho higher by ``step``."""
    return Retention(block.unit, block.replace - round(step * 2**32 / block.unit.size), 32)


class SharedBits:
    """A keystream that gives the last block the words of the first."""

    def __init__(self, source):
        self._source = source

    def words(self, stream, start, count, width):
        stream = block_stream(0, 0, 0) if stream == block_stream(3, 0, 0) else stream
        return self._source.words(stream, start, count, width)


def never_the_last_town(columns):
    return columns | {"town": np.minimum(columns["town"], 1)}


@pytest.mark.parametrize(
    "blocks",
    [
        (with_rho(SEX, 0.02), HOME, TOWN, LAST),
        (with_rho(SEX, -0.02), HOME, TOWN, LAST),
        (SEX, with_rho(HOME, 0.02), TOWN, LAST),
        (SEX, with_rho(HOME, -0.02), TOWN, LAST),
        (SEX, HOME, TOWN, with_rho(LAST, 0.02)),
        (SEX, HOME, TOWN, Retention(LAST.unit, 0, 32)),  # the last column untouched
        (SEX, HOME, matrix_of(TOWN.unit, [[10, 5, 1], [2, 13, 1], [3, 10, 3]], 32), LAST),  # two entries swapped
    ],
    ids=[
        "rho + 0.02",
        "rho - 0.02",
        "bundle + 0.02",
        "bundle - 0.02",
        "last + 0.02",
        "last untouched",
        "matrix swapped",
    ],
)
def test_a_mechanism_that_is_a_little_different_is_rejected(blocks, seed):
    assert lowest_tail(blocks, keystreams(seed)) < ALPHA


def test_a_value_that_is_never_released_is_noticed(seed):
    assert lowest_tail(BLOCKS, keystreams(seed), never_the_last_town) < ALPHA


def test_two_columns_that_share_their_bits_are_noticed(seed):
    # each column alone is perfect: only their common table shows it
    honest = keystreams(seed)
    assert lowest_tail(BLOCKS, lambda number: SharedBits(honest(number))) < ALPHA


def order_tail(source):
    """Does a value say anything about a row's place? Equal records, half of the rows: hypergeometric."""
    got = released((SEX,), {"sex": np.zeros(ROWS, np.uint8)}, source)["sex"]
    ones, early = int(got.sum()), int(got[: ROWS // 2].sum())
    law = hypergeom(ROWS, ones, ROWS // 2)
    return 2 * min(law.cdf(early), law.sf(early - 1))


class OrderSharesBits:
    """A keystream whose order words are the words of the first block."""

    def __init__(self, source):
        self._source = source

    def words(self, stream, start, count, width):
        if stream == ORDER_STREAM:  # its 32 bits tie now and then; later rounds are honest and settle that
            return self._source.words(block_stream(0, 0, 0), start, count, 32).astype(np.uint64) << np.uint64(32)
        return self._source.words(stream, start, count, width)


def test_the_order_says_nothing_about_the_values(seed):
    assert order_tail(Keystream(Seeded(seed).key())) >= ALPHA


def test_an_order_drawn_from_the_bits_of_a_column_is_noticed(seed):
    assert order_tail(OrderSharesBits(Keystream(Seeded(seed).key()))) < ALPHA
