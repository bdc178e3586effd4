"""What happens to one answer, beside the dense matrix; and the formula for a pocket calculator, beside the estimate."""

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._plan import by_hand, channels

FORBIDDING = pk.Schema(
    [
        pk.Attribute("age", ["young", "old"]),
        pk.Attribute("school", ["none", "some", "degree"]),
        pk.Attribute("sex", ["F", "M"]),
    ],
    [pk.Bundle(["age", "school"], forbid=[{"age": ["young"], "school": ["degree"]}])],
)


def alone(plan, name):
    """The probabilities of one attribute, added up from the dense matrices, for each true combination of its block."""
    block = next(block for block in plan.blocks if name in block.attributes)
    sizes = [unit.size for unit in block.units]
    place = next(i for i, unit in enumerate(block.units) if name in unit.attributes)
    codes = np.indices(sizes).reshape(len(sizes), -1)[place]
    unit = block.units[place]
    own = unit.split(codes.astype(np.uint32))[unit.attributes.index(name)]
    size = unit.sizes[unit.attributes.index(name)]
    matrix = block.as_matrix()
    return own, np.stack([matrix[:, own == value].sum(axis=1) for value in range(size)], axis=1)


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
@pytest.mark.parametrize("name", ["age", "school", "sex"])
def test_probabilities_of_one_attribute(design, name):
    plan = pk.plan(FORBIDDING, records=3_000, k=10, design=design)
    mixture = channels(plan)[name].mixture
    own, rows = alone(plan, name)
    for code, row in zip(own, rows):
        expected = mixture.becomes.copy()
        expected[code] = mixture.stays[code]
        assert row == pytest.approx(expected, abs=1e-12)


def test_a_matrix_of_one_attribute_is_its_own():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    plan = pk.plan(schema, records=1_000, matrices={"sex": pk.TransitionMatrix([[0.9, 0.1], [0.2, 0.8]])})
    channel = channels(plan)["sex"]
    assert channel.mixture is None
    assert channel.matrix is plan.blocks[0]
    assert by_hand(plan) is None


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
def test_by_hand_is_the_unbiased_estimate(design, seed):
    rows = 3_000
    draw = np.random.default_rng(seed)
    people = pl.DataFrame(
        {
            "age": ["old"] * rows,
            "school": draw.choice(["none", "some", "degree"], rows),
            "sex": draw.choice(["F", "M"], rows, p=[0.3, 0.7]),
        }
    )
    plan = pk.plan(FORBIDDING, records=rows, k=10, design=design)
    release = pk.release(people, plan, randomness=pk.Seeded(seed))
    example = by_hand(plan)
    for name, channel in channels(plan).items():
        found = type(example)(plan.schema.attribute(name), channel.mixture)
        estimate = release.crosstab(name)
        counts = np.bincount(release.codes[name], minlength=found.attribute.size)
        for code, y in enumerate(counts):
            assert found.estimate(y, rows, code) == pytest.approx(estimate.counts[code], abs=1e-6)
            assert found.error(y, rows, code) == pytest.approx(estimate.standard_errors[code], rel=1e-6)


def test_columns_treated_alike_are_preferred():
    plan = pk.plan(FORBIDDING, records=3_000, k=10, design="equal-rho")
    assert by_hand(plan).attribute.name == "sex"
    assert by_hand(plan, types=["date"]) is None
