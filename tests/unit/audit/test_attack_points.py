"""The custodian's attack where numbers were rounded at random: honest releases pass, others are caught, chances are exact.

Nobody knows how a release rounded a number. Whoever compares it with the private table and rounds to the nearest point calls
honest releases wrong.
"""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from brute import links

import pkanon as pk
from pkanon._audit.attacks.likeness import counts_likeness
from pkanon._audit.attacks.mechanism import Mechanism, exact_chances
from pkanon._audit.attacks.ways import Mixed, mixed_chances, tables, ways_of
from pkanon._frames import encode, roundings

ROWS = 3_000
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("job", ["farmer", "nurse", "none"]),
        pk.Attribute.pointed("weight", [0, 200, 800], type="number", missing="value"),
    ]
)


def people_of(seed, rows=ROWS):
    draw = np.random.default_rng(seed)
    weight = draw.gamma(4, 25, rows).clip(0, 800)
    return pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], rows, p=[0.8, 0.2]),
            "job": draw.choice(["farmer", "nurse", "none"], rows, p=[0.1, 0.2, 0.7]),
            "weight": pl.Series(weight).set(pl.Series(draw.random(rows) < 0.05), None),
        }
    )


PEOPLE = people_of(1)


def failed(found):
    return [check.name for check in found.checks if not check.kept]


@pytest.fixture(params=["equal-rho", "joint", "optimal"])
def plan(request):
    return pk.plan(SCHEMA, records=ROWS, k=10, design=request.param)


def test_honest_releases_pass(plan):
    for seed in range(3):
        release = pk.release(PEOPLE, plan, randomness=pk.Seeded(seed))
        found = pk.attack(PEOPLE, release, rehearsals=1, randomness=pk.Seeded(seed + 100))
        assert failed(found) == []
        assert {"made by the plan", "random order", "hits in rehearsals"} == {check.name for check in found.checks}
        assert found.links.highest <= 1 / found.k
        assert any("weight were rounded at random" in note for note in found.notes)


def test_numbers_that_were_rounded_and_not_randomised_are_caught(plan):
    release = pk.release(PEOPLE, plan, randomness=pk.Seeded(4))
    whole = pk.release(PEOPLE, pk.plan(SCHEMA, records=ROWS, epsilon=30, design="equal-rho"), randomness=pk.Seeded(4))
    codes = dict(release.codes) | {"weight": whole.codes["weight"]}
    assert failed(pk.attack(PEOPLE, replace(release, codes=codes), rehearsals=1)) == ["made by the plan"]


def test_another_table_is_caught(plan):
    other = PEOPLE.with_columns(weight=800 - pl.col("weight"))
    assert failed(pk.attack(other, pk.release(PEOPLE, plan), rehearsals=1)) == ["made by the plan"]


@pytest.mark.parametrize("design", ["equal-rho", "joint"])
def test_honest_releases_are_rarely_suspected(design):
    """The bound on the chance of a false alarm holds: fewer than one in twenty are below 1/20."""
    rows, often = 300, 0.05
    plan = pk.plan(SCHEMA, records=rows, k=2, design=design)
    people = people_of(2, rows)
    ways = ways_of(plan, encode(people, SCHEMA, unrounded=True).codes)
    chances = []
    for seed in range(200):
        codes = pk.release(people, plan, randomness=pk.Seeded(seed)).codes
        made = [unit.join([codes[name] for name in unit.attributes]) for unit in plan.units]
        mechanism = Mechanism.of(plan, [*tables(ways), made])
        chances.append(counts_likeness(mechanism, made, made, ways).chance)
    assert (np.array(chances) < often).mean() <= often
    assert min(chances) > 1e-5


def test_means_and_variances_are_those_of_rounding_and_randomising():
    """By hand: every person's law written out, as a mixture over the ways to round her."""
    plan = pk.plan(SCHEMA, records=20, k=2, design="equal-rho")
    people = people_of(3, 20)
    ways = ways_of(plan, encode(people, SCHEMA, unrounded=True).codes)
    mechanism = Mechanism.of(plan, tables(ways))
    mixed = Mixed.of(mechanism, ways)
    cells = list(itertools.product(*(range(unit.size) for unit in plan.units)))
    laws = np.array(mixed_chances(plan, ways, range(20), cells), float)
    np.testing.assert_allclose(laws.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(mechanism.forward(mixed.grid(mechanism.shape)).ravel(), laws.sum(axis=0), rtol=1e-12)
    values = np.random.default_rng(1).random(mechanism.shape)
    np.testing.assert_allclose(mixed.mean(mechanism.backward(values)), laws @ values.ravel(), rtol=1e-12)


def test_small_tables_have_exact_chances():
    """All orders by brute force: 350 is 200 with chance 3/4 and 800 with chance 1/4."""
    schema = pk.Schema([pk.Attribute.pointed("weight", [0, 200, 800], type="number"), pk.Attribute("sex", ["F", "M"])])
    plan = pk.plan(schema, records=4, k=1.5, design="equal-rho")
    people = pl.DataFrame({"weight": [350.0, 350.0, 50.0, 800.0], "sex": ["F", "F", "M", "F"]})
    laws = [{1: Fraction(3, 4), 2: Fraction(1, 4)}] * 2 + [{0: Fraction(3, 4), 1: Fraction(1, 4)}, {2: Fraction(1)}]
    sexes = [0, 0, 1, 0]
    cells = list(itertools.product(range(3), range(2)))
    dense = exact_chances(plan, cells, cells)
    chances = [
        [sum(part * dense[cells.index((code, sex))][v] for code, part in law.items()) for v in range(len(cells))]
        for law, sex in zip(laws, sexes)
    ]
    release = pk.release(people, plan, randomness=pk.Seeded(5))
    made = tuple(cells.index(row) for row in zip(release.codes["weight"].tolist(), release.codes["sex"].tolist()))
    total, joint = links(chances, (0, 1, 2, 3), made)
    found = pk.attack(people, release, rehearsals=1)
    assert found.posterior.whole
    assert found.posterior.highest == pytest.approx(float(max(map(max, joint)) / total), rel=1e-12)
    assert found.posterior.highest <= 1 / found.k
    assert failed(found) == []


def test_rounding_is_told_exactly():
    schema = pk.Schema(
        [pk.Attribute.pointed("a", [0, 4], type="number"), pk.Attribute.pointed("b", [0, 1], type="number")]
    )
    codes = encode(pl.DataFrame({"a": [1.0, 4.0], "b": [0.5, 0.0]}), schema, unrounded=True).codes
    found = {
        (way.codes["a"][0], way.codes["b"][0]): way.share(2).tolist() for way in roundings(codes, schema.attributes)
    }
    assert found == {(0, 0): [0.375, 1.0], (0, 1): [0.375, 0.0], (1, 0): [0.125, 0.0], (1, 1): [0.125, 0.0]}


def test_too_many_ways_to_round_are_not_gone_through():
    """Six columns with points in one unit: no check of counts is claimed, and it is said."""
    names = [f"x{i}" for i in range(6)]
    schema = pk.Schema([pk.Attribute.pointed(name, [0, 1], type="number") for name in names])
    people = pl.DataFrame({name: np.random.default_rng(i).random(50) for i, name in enumerate(names)})
    joint = pk.release(people, pk.plan(schema, records=50, k=2, design="joint"))
    found = pk.attack(people, joint, rehearsals=1)
    assert [check.name for check in found.checks] == ["random order", "hits in rehearsals"]
    assert any("too many ways" in note for note in found.notes)
    apart = pk.attack(people, pk.release(people, pk.plan(schema, records=50, k=2, design="equal-rho")), rehearsals=1)
    assert "made by the plan" in [check.name for check in apart.checks]  # of single columns and pairs
    assert failed(apart) == []


def test_a_plan_that_keeps_everything_is_not_called_impossible():
    """Rounded in another way than the release was, its rows would have a chance of 0."""
    plan = pk.plan(SCHEMA, records=ROWS, k=10, design="equal-rho")
    keeping = replace(plan, blocks=tuple(replace(block, replace=0) for block in plan.blocks))
    found = pk.attack(PEOPLE, pk.release(PEOPLE, keeping), rehearsals=1)
    assert "made by the plan" not in failed(found)
