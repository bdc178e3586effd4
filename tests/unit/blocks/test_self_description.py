"""Blocks say what they do and what they can do, so that nobody asks for their class."""

import numpy as np
import pytest
from blocks import BLOCKS, dense_on, sizes_of
from dense import matrix_of, unit_of

import pkanon as pk
from pkanon import _blocks
from pkanon._blocks import Agreement, Retention
from pkanon._blocks.kinds import KINDS

SENTENCES = {
    "a: kept or replaced": (
        Retention(unit_of(4, names=["sex"]), 2**29, 32),  # rho = 1 - 4 / 8
        "'sex': kept in 50% of the rows, else replaced by a uniform draw from the 4 values.",
    ),
    "several kept or replaced together": (
        Retention(unit_of(40, 50, names=["sex", "age"], forbid=(((0,), (0,)),)), 0, 32),
        "'sex' and 'age': kept together in 100% of the rows, else replaced by a uniform draw from the 1,999 allowed "
        "combinations.",
    ),
    "surviving sets": (
        # of 16 parts: nothing 1, a 3, b and c 4, all 8; a survives in 11 of them, b and c in 12
        Agreement((unit_of(2, names="a"), unit_of(2, 2, names="bc")), (2**12, 3 * 2**12, 2**14, 2**15), 16),
        "'a', 'b' and 'c': a set of them is drawn for every row and keeps its values; each of the others gets a uniform draw "
        "from its other values. Kept in this share of the rows: a 68.8%, b and c 75%.",
    ),
    "a matrix": (
        matrix_of(unit_of(2), [[3, 1], [1, 3]], 32),
        "'a': randomised with the published probabilities of a block of the kind 'matrix'.",
    ),
    "a matrix on a bundle": (
        BLOCKS["matrix on a bundle"],
        "'a' and 'b': randomised together with the published probabilities of a block of the kind 'matrix'.",
    ),
}


@pytest.mark.parametrize(("block", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_what_a_block_does_in_a_sentence(block, sentence):
    assert block.describe() == sentence


def test_every_kind_of_block_has_a_sentence_here():
    assert {block.kind for block, _ in SENTENCES.values()} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_leads_to_its_block(kind):
    assert getattr(_blocks, KINDS[kind]).kind == kind


def test_a_plan_explains_itself_with_the_sentences_of_its_blocks():
    schema = pk.Schema([pk.Attribute.ranged(name, 1, size) for name, size in {"a": 2, "b": 3}.items()])
    plan = pk.plan(schema, records=1_000, k=5, matrices={"b": np.full((3, 3), 0.3) + 0.1 * np.eye(3)})
    lines = plan.explain().splitlines()
    assert lines[1 : 1 + len(plan.blocks)] == [f"  {block.describe()}" for block in plan.blocks]


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_block_without_marginals_refuses_a_part_of_its_attributes(block):
    sizes = sizes_of(block)
    name = next(iter(sizes))
    if block.has_marginals:
        assert block.forward(np.ones(sizes[name]), {name: 0}).shape == (sizes[name],)
    else:
        with pytest.raises(pk.PlanError, match="all of its attributes or none"):
            block.forward(np.ones(sizes[name]), {name: 0})


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_a_mixture_is_the_matrix_of_the_block(block):
    """``rho I + (1 - rho) 1 w^T`` on the first attribute and on all, the last axis first."""
    names = list(sizes_of(block))
    if block.mixture(names) is None:
        assert block.kind != "retention"
        return
    for table in (names[:1], names[::-1]):
        rho, w = block.mixture(table)
        assert w.shape == tuple(sizes_of(block)[name] for name in table)
        possible, matrix = dense_on(block, table)
        dense = rho * np.eye(len(possible)) + (1 - rho) * w.ravel()[possible]
        np.testing.assert_allclose(dense, matrix, atol=1e-9)
