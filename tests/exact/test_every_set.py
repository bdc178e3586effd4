"""All sets of units at once (docs/why/theory.md 9): the same as each pair of rows alone, written out cell by cell."""

import itertools
import math

import numpy as np
import pytest
from dense import unit_of
from scipy.stats import binom

import pkanon as pk
from pkanon._blocks import Agreement, Retention
from pkanon._plan.central import central_delta, central_epsilon, default_delta
from pkanon._plan.central.pairs import Blanket
from pkanon._plan.central.positive import Atoms, positive_part
from pkanon._plan.central.sets import Sets

SIZES = ((2, 2), (3, 2, 4), (2, 2, 2, 2), (5, 3), (2, 3, 2))


def random_blocks(rng, sizes):
    """An agreement block with sets in no order, neither growing nor falling; beside it retention, for odd numbers of units."""
    units = [unit_of(size, names="abcdefgh"[i]) for i, size in enumerate(sizes)]
    weights = rng.dirichlet(np.full(2 ** len(sizes), 0.7)) + 0.01
    sets = [int(2**16 * weight / weights.sum()) for weight in weights]
    sets[0] += 2**16 - sum(sets)
    beside = [Retention(unit_of(3, names="h"), 15_000, 16)] if len(sizes) % 2 else []
    return [Agreement(tuple(units), tuple(sets), 16), *beside]


def chance(block, agrees):
    """The probability of a cell that agrees with the private value on these units."""
    if isinstance(block, Retention):
        size, q = block.unit.size, block.replace
        return (q + agrees[0] * (2**block.width - size * q)) / 2**block.width
    cells = math.prod(unit.size - 1 for unit, kept in zip(block.units, agrees) if not kept)
    return block.sets[sum(kept << bit for bit, kept in enumerate(agrees))] / cells / 2**block.width


def atoms(blocks, differ):
    """a, b and their common probability for every cell, by enumeration, for rows that differ in these units."""
    sizes = [unit.size for block in blocks for unit in block.units]
    u, v = [0] * len(sizes), [int(bit) for bit in differ]
    found = []
    for cell in itertools.product(*map(range, sizes)):
        pair = []
        for row in (u, v):
            agrees, start, value = [int(one == other) for one, other in zip(cell, row)], 0, 1.0
            for block in blocks:
                value *= chance(block, agrees[start : start + len(block.units)])
                start += len(block.units)
            pair.append(value)
        found.append(pair)
    chances = np.array(found).T
    low = chances.min()
    return chances[0] / low, chances[1] / low, np.full(len(found), 1 / len(found)), low * len(found)


def differing(blocks):
    """The sets of differing units in the order of the columns: the first unit is the lowest bit."""
    units = sum(len(block.units) for block in blocks)
    return [[mask >> bit & 1 for bit in range(units)] for mask in range(1, 2**units)]


@pytest.mark.parametrize("sizes", SIZES)
def test_means_are_those_of_each_pair(sizes):
    rng = np.random.default_rng(sum(sizes))
    for _ in range(4):
        blocks = random_blocks(rng, sizes)
        for epsilon, scale in itertools.product((0.0, 0.3, 1.5), (1e-3, 0.5, 8.0)):
            sets = Sets.of(blocks).at(epsilon)
            t, theta = scale / sets.reach, np.array([0.0, 0.01, 1.0, 20.0]) / sets.reach
            pairs = [atoms(blocks, differ) for differ in differing(blocks)]
            assert sets.gamma == pytest.approx(pairs[0][3], rel=1e-12)
            columns = np.arange(len(pairs))
            some = columns[:1]
            real, imaginary = sets.turned(t, theta, columns)
            x = [a - math.exp(epsilon) * b for a, b, _, _ in pairs]
            for column, (one, (_, _, p, _)) in enumerate(zip(x, pairs)):
                most = sets.rounding(t) * np.hypot(t, theta)
                wave = np.exp(np.multiply.outer(t + 1j * theta, one)) @ p
                assert abs(sets.grown(t)[column] - np.expm1(t * one) @ p) <= most[0] * 1.01
                assert (np.abs(real[:, column] + 1j * imaginary[:, column] - (wave - wave[0])) <= 2.02 * most).all()
                a, b, _, _ = pairs[column]
                steep = ((a + math.exp(epsilon) * b) * np.exp(t * one)) @ p  # not below the mean of |X| e^(tX)
                assert steep * (1 - 1e-12) <= sets.steepness(t)[column] <= steep * (1 + 1e-4)
                mean = np.maximum(one, 0) @ p
                assert mean * (1 - 1e-12) <= sets.positive()[column] <= mean * (1 + 1e-9) + 1e-9
                noise = math.sqrt(max(one**2 @ p for one, (_, _, p, _) in zip(x, pairs)) * sets.gamma / 7)
            assert sets.spread(7).noise(epsilon) == pytest.approx(noise, rel=1e-9)
            alone, _ = sets.turned(t, theta, some)
            assert np.allclose(alone, real[:, some], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
def test_the_worst_of_all_pairs_is_found(sizes):
    rng = np.random.default_rng(7 + sum(sizes))
    for records, epsilon in ((2, 0.3), (50, 0.2), (10**4, 0.05), (10**7, 1e-3)):
        blocks = random_blocks(rng, sizes)
        alone = []
        for differ in differing(blocks):
            a, b, p, gamma = atoms(blocks, differ)
            x, size = a - math.exp(epsilon) * b, a + math.exp(epsilon) * b
            alone.append(positive_part(Atoms(x, p, size, gamma), records) / records)
        # both are bounds: each with t, period and number of frequencies of its own
        assert central_delta(blocks, records, epsilon) == pytest.approx(max(alone), rel=5e-3)
        assert central_delta(blocks, records, epsilon, rough=True) >= max(alone) * (1 - 5e-3)
        # what is far above what is sought may be rough, and is a bound all the same; what is near it is not rough
        assert central_delta(blocks, records, epsilon, sought=max(alone) / 100) >= max(alone) * (1 - 5e-3)
        near = central_delta(blocks, records, epsilon, sought=max(alone))
        assert near == central_delta(blocks, records, epsilon)


def test_many_units_are_bounded_like_the_laws_of_all_pairs():
    schema = pk.Schema([pk.Attribute.ranged("abcdefghijkl"[i], 1, (2, 3, 4)[i % 3]) for i in range(8)])
    for asked in ({"epsilon": 0.5}, {"epsilon": 3}, {"k": 2}):
        blocks = pk.plan(schema, records=10_000, **asked).blocks
        epsilon = central_epsilon(blocks, 10_000, default_delta(10_000))
        blanket = Blanket.of(blocks)
        assert blanket.pairs == 255
        alone = []
        for law in blanket.laws():
            x, size = law.a - math.exp(epsilon) * law.b, law.a + math.exp(epsilon) * law.b
            merged, where = np.unique(np.round(x, 9), return_inverse=True)
            p = np.bincount(where, law.p)
            if len(merged) <= 3_000:
                alone.append(
                    positive_part(Atoms(merged, p, np.full(len(p), size.max()), blanket.gamma), 10_000) / 10_000
                )
        assert len(alone) > 100
        assert max(alone) <= default_delta(10_000) * (1 + 2e-3)


def test_few_hidden_rows_are_counted_exactly():
    # Rows are released whole or drawn anew: every hidden row is that of u, that of v, or another; their numbers are summed over.
    units = tuple(unit_of(2, names=name) for name in "abcdefgh")
    chances = [2**32 // 2**13] * 255
    block = Agreement(units, (*chances, 2**32 - sum(chances)), 32)
    blanket = Blanket.of([block])
    records, ratio, gamma, cells = 3_000, blanket.ratio, blanket.gamma, 256
    rest = gamma * (1 - 2 / cells)
    assert records * gamma / cells < 0.4  # so 20 of them are enough
    for epsilon in (1.0, 4.0, 6.0):
        factor, total = math.exp(epsilon), 0.0
        for high, low in itertools.product(range(20), range(20)):
            # the multinomial law of (high, low, rest), one after the other
            p = binom.pmf(high, records, gamma / cells)
            p *= binom.pmf(low, records - high, gamma / cells / (1 - gamma / cells))
            others = np.arange(records - high - low + 1)
            q = binom.pmf(others, records - high - low, rest / (1 - 2 * gamma / cells))
            certain = high * (ratio - factor) + low * (1 - factor * ratio)
            total += p * float(q @ np.maximum(others * (1 - factor) + certain, 0.0))
        formula = total / records
        assert formula * (1 - 1e-9) <= central_delta([block], records, epsilon) <= formula * 1.01
