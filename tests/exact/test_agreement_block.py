"""Agreement blocks on single attributes: ratios, sampler and predictions against the dense matrix."""

import itertools
import random
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from agreement import cells, eigenvalue, on
from agreement_examples import EXAMPLES, agreement
from brute import highest_likelihood_ratio, highest_posterior
from dense import declared_words, naive_anonymity_ratio, naive_epsilon_ratio, unit_of
from listed import ByStream
from plans import plan_of

from pkanon._blocks import Agreement, Retention
from pkanon._sample import randomise
from pkanon._sample.keystream import Keystream, Seeded, block_stream


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_ratios_against_the_dense_matrix(block):
    dense = declared_words(block)
    assert all(sum(row) == 1 for row in dense)
    assert naive_epsilon_ratio(dense) == block.epsilon_ratio
    assert naive_anonymity_ratio(dense) == block.anonymity_ratio == 1 / block.epsilon_ratio**2  # docs/why/theory.md 5


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_eigenvalues_as_floats_are_the_nearest_ones(block):
    assert block.spectrum.tolist() == [float(value) for value in block.eigenvalues]


@pytest.mark.parametrize(("name", "most"), [("2 x 2", 3), ("2 x 3", 2)])
def test_k_and_epsilon_by_brute_force(name, most):
    block = EXAMPLES[name]
    for records in range(2, most + 1):
        plan = plan_of([block], records)
        assert highest_posterior(declared_words(block), records) == 1 / plan.k_for(records)
        assert highest_likelihood_ratio(declared_words(block), records) == plan.epsilon_ratio


def test_random_agreement_blocks_have_ar_exp_minus_two_eps(seed):
    draw = random.Random(seed)
    for _ in range(40):
        sizes = draw.choice([(2, 2), (2, 3), (3, 4), (2, 2, 3)])
        block = agreement(sizes, [draw.randint(1, 30) for _ in range(2 ** len(sizes))])
        assert naive_anonymity_ratio(declared_words(block)) == 1 / naive_epsilon_ratio(declared_words(block)) ** 2


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_the_sampler_has_the_declared_matrix(block):
    """Every 16-bit word of draw 0; for each other draw one word of every digit, each worth q words.

    A rejected word asks for the next round; there it is given the digit that round 0 refused, so the
    weight of a digit is q out of (V - 1) q accepted words: 1/(V - 1), exactly.
    """
    digits = [range(unit.size - 1) if unit.size > 2 else [None] for unit in block.units]
    counts = np.zeros((len(cells(block)),) * 2, object)
    streams = {block_stream(0, 0, 0): np.arange(2**16)}
    for number, cell in enumerate(cells(block)):
        for chosen in itertools.product(*digits):
            draws = [(digit, unit.size) for digit, unit in zip(chosen, block.units) if digit is not None]
            for draw, (digit, size) in enumerate(draws, start=1):
                q = 2**16 // (size - 1)
                first = np.full(2**16, digit * q + digit)  # somewhere inside the digit's q words
                if q * (size - 1) < 2**16:
                    first[::2] = 2**16 - 1  # too high for any digit: rejected
                streams[block_stream(0, draw, 0)] = first
                streams[block_stream(0, draw, 1)] = np.full(2**16, (digit + 1) * q - 1)
            columns = [np.full(2**16, code, np.uint8) for code in cell]
            out = [np.empty_like(column) for column in columns]
            randomise([block], columns, ByStream(streams), out=out, piece=1000, threads=1)
            sizes = [unit.size for unit in block.units]
            released = np.ravel_multi_index([column.astype(int) for column in out], sizes)
            counts[number] += np.bincount(released, minlength=len(cells(block)))
    combinations = prod(map(len, digits))
    assert [[Fraction(int(c), 2**16 * combinations) for c in row] for row in counts] == declared_words(block)


def test_through_a_plan_with_other_blocks(seed):
    block = EXAMPLES["2 x 3 x 4"]
    other = Retention(unit_of(5, names="e"), 2**12, 16)
    plan = plan_of([other, block], 1000)
    assert plan.anonymity_ratio == block.anonymity_ratio * other.anonymity_ratio
    assert plan.k_for(1000) == 1 + 999 * block.anonymity_ratio * other.anonymity_ratio
    assert plan.epsilon_ratio == block.epsilon_ratio * other.epsilon_ratio
    assert plan.rho["b"] == float(eigenvalue(block, ["b"]))
    assert plan.digest == plan_of([other, block], 1000).digest

    source = Keystream(Seeded(seed).key())
    columns = [np.arange(3000, dtype=np.uint8) % unit.size for unit in plan.units]
    results = []
    for piece, threads in ((None, 1), (7, 1), (64, 3)):
        out = [np.empty_like(column) for column in columns]
        randomise(plan.blocks, columns, source, out=out, piece=piece, threads=threads)
        results.append(np.stack(out))
    assert all((result == results[0]).all() for result in results)
    assert all(column.max() < unit.size for column, unit in zip(results[0], plan.units))


@pytest.mark.parametrize("block", EXAMPLES.values(), ids=EXAMPLES)
def test_predictions_against_the_dense_matrix(block):
    plan = plan_of([block], 50)
    names = [unit.attributes[0] for unit in block.units]
    for count in range(1, len(names) + 1):
        for inside in itertools.combinations(names, count):
            dense = on(block, inside)
            lengths = (np.linalg.inv(dense) ** 2).sum(axis=1)
            per_record = dense @ lengths - 1  # h(u), the same for every u by symmetry
            prediction = plan.predict(*inside)
            np.testing.assert_allclose(per_record, prediction.rmse**2 * prediction.cells / 50, rtol=1e-10)
            assert prediction.exact


def test_survives_a_plan_file_entry():
    block = EXAMPLES["2 x 3"]
    assert Agreement.from_json(block.to_json(block.units), block.units) == block


def test_plain_sentences_do_not_call_it_one_attribute():
    # 2 x 3 combinations, and not the "2 x 2 transition probabilities" of its first unit
    assert "2 x 2" not in plan_of([EXAMPLES["2 x 3"]], 3).explain()
