"""Releases made in another way than they say, with everything else in order: only statistics can catch them."""

import numpy as np
import pytest
from pipeline import randomised
from plans import schema_of
from tampering import forged, reordered

import pkanon as pk

COUNT = 4_000
SIZES = (2, 6, 4, 5)


@pytest.fixture(scope="module", params=["equal-rho", "optimal"])
def plan(request):
    return pk.plan(schema_of(SIZES), records=COUNT, k=20, design=request.param)


@pytest.fixture(scope="module")
def people(seed):
    """Concentrated and associated, as real tables are."""
    draw = np.random.default_rng(seed)
    third = draw.choice(4, COUNT, p=[0.9, 0.06, 0.03, 0.01])
    second = np.where(third == 0, draw.choice([0, 1], COUNT), draw.choice([4, 5], COUNT))
    first = (second + (draw.random(COUNT) < 0.1)) % 2
    columns = first, second, third, draw.choice(5, COUNT, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    return {f"a{i}": column.astype(np.uint8) for i, column in enumerate(columns)}


def shuffled(codes, seed):
    return reordered(codes, np.random.default_rng(seed).permutation(len(codes["a0"])))


def broken(release):
    return set(release.verify().broken)


def test_an_honest_release_is_kept(plan, people, seed):
    assert broken(forged(plan, shuffled(randomised(plan, people, seed), seed))) == set()


def test_a_table_that_was_never_randomised(plan, people, seed):
    assert broken(forged(plan, shuffled(people, seed))) == {"tables"}


@pytest.mark.parametrize("column", ["a1", "a2", "a3"])
def test_a_column_that_was_not_randomised(plan, people, seed, column):
    codes = randomised(plan, people, seed)
    assert broken(forged(plan, shuffled(codes | {column: people[column]}, seed))) == {"tables"}


def test_another_plan(plan, people, seed):
    other = pk.plan(plan.schema, records=COUNT, k="1.05", design=plan.asked.design)
    assert broken(forged(plan, shuffled(randomised(other, people, seed), seed))) == {"tables"}


def test_a_column_of_one_value(plan, people, seed):
    codes = randomised(plan, people, seed)
    assert broken(forged(plan, shuffled(codes | {"a1": np.zeros_like(codes["a1"])}, seed))) == {"tables"}


@pytest.mark.parametrize("by", [["a0"], ["a1"], ["a3"], ["a0", "a1", "a2", "a3"]])
def test_sorted_rows(plan, people, seed, by):
    codes = randomised(plan, people, seed)
    order = np.lexsort([codes[name] for name in reversed(by)])
    assert broken(forged(plan, reordered(codes, order))) == {"order"}


def test_a_sorted_column_that_nearly_everybody_has_one_value_of(seed):
    """Of twelve values one has four rows in five, as k = 2 leaves it."""
    plan = pk.plan(schema_of((12,)), records=COUNT, k=2, design="joint")
    draw = np.random.default_rng(seed)
    people = {"a0": np.where(draw.random(COUNT) < 0.8, 6, draw.integers(0, 12, COUNT)).astype(np.uint8)}
    codes = randomised(plan, people, seed)
    assert broken(forged(plan, shuffled(codes, seed))) == set()
    assert broken(forged(plan, {"a0": np.sort(codes["a0"])})) == {"order"}
    nearly = np.sort(codes["a0"])
    nearly[[0, -1]] = nearly[[-1, 0]]  # sorted but for two rows: only drift and like after like can tell
    assert broken(forged(plan, {"a0": nearly})) == {"order"}


def test_a_private_table_in_order_that_was_not_shuffled(plan, people, seed):
    """Its columns were sorted and are randomised: no released column is sorted any more."""
    order = np.argsort(people["a1"], kind="stable")
    assert broken(forged(plan, randomised(plan, reordered(people, order), seed))) == {"order"}


def test_rows_released_twice_one_after_the_other(plan, people, seed):
    half = reordered(shuffled(randomised(plan, people, seed), seed), slice(COUNT // 2))
    found = broken(forged(plan, reordered(half, np.repeat(np.arange(COUNT // 2), 2))))
    assert {"order"} <= found <= {"order", "tables"}  # half of the rows predict the other half too well, in most tables


def test_rows_released_twice_and_shuffled(seed):
    """Nobody's rows repeat where there are many more possible rows than people."""
    count, sizes = 800, (16, 16, 16)
    plan = pk.plan(schema_of(sizes), records=count, k=20, design="equal-rho")
    draw = np.random.default_rng(seed)
    people = {f"a{i}": draw.integers(0, size, count).astype(np.uint8) for i, size in enumerate(sizes)}
    codes = randomised(plan, people, seed)
    assert broken(forged(plan, shuffled(codes, seed))) == set()
    twice = {name: np.tile(column[: count // 2], 2) for name, column in codes.items()}
    assert broken(forged(plan, shuffled(twice, seed))) == {"tables"}


@pytest.mark.parametrize(("width", "replace"), [(32, 2**31), (64, 2**63), (64, 2**63 - 1), (64, 2**63 - 2**12)])
def test_a_plan_that_keeps_nothing_and_rows_that_are_not_even(width, replace, seed):
    plan = pk.Plan(schema_of((2,)), (pk.Retention(pk.Unit(("a0",), (2,)), replace, width),), records=COUNT)
    people = {"a0": (np.arange(COUNT) < COUNT // 4).astype(np.uint8)}
    assert broken(forged(plan, shuffled(people, seed))) == {"tables"}


def test_what_looks_like_an_honest_release_cannot_be_caught(seed):
    """A uniform column without associations is what any randomisation of it would be; nothing may be said against it."""
    plan = pk.plan(schema_of((2, 4)), records=1_000, k=20, design="equal-rho")
    draw = np.random.default_rng(seed)
    people = {"a0": draw.integers(0, 2, 1_000).astype(np.uint8), "a1": draw.integers(0, 4, 1_000).astype(np.uint8)}
    assert broken(forged(plan, people)) == set()


ASKED = {
    "k": ({"k": "1000"}, {"plan"}),
    "epsilon": ({"epsilon": "0.1"}, {"plan"}),
    "epsilon below 0": ({"epsilon": "-1"}, {"plan"}),
    "central epsilon": ({"central_epsilon": "0.0001"}, {"central epsilon"}),
    "a design": ({"design": "certified by everybody"}, {"plan"}),
    "something else": ({"standard": "fully anonymous"}, {"plan"}),
}


@pytest.mark.parametrize("what", ASKED)
def test_more_was_asked_for_than_the_plan_reaches(plan, people, seed, what):
    # everything else is written as the package would write it, so only the integers can tell
    asked, caught = ASKED[what]
    document = plan.to_json()
    boastful = pk.Plan.from_json(document | {"asked": document["asked"] | asked})
    assert broken(forged(boastful, shuffled(randomised(plan, people, seed), seed))) == caught


@pytest.mark.parametrize("hide_count", [None, "9/10"])
def test_what_a_plan_reaches_exactly_may_be_asked_for(people, seed, hide_count):
    once = pk.plan(schema_of(SIZES), records=COUNT, k=20, epsilon=2, hide_count=hide_count)
    again = pk.plan(schema_of(SIZES), records=COUNT, k=once.k_for(COUNT), hide_count=hide_count)
    for plan in (once, again):
        assert forged(plan, randomised(plan, people, seed)).verify()["plan"].verdict == "kept"
