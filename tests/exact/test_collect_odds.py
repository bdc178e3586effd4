"""Of 100 people who say v, how many are sent as w: against the matrix of every combination of the plan."""

import itertools
from fractions import Fraction

import pytest
from client_vectors import plans

from pkanon._collect.odds import LEAST_REPLACED, MOST_ROWS, odds, seldom_replaced, whole
from pkanon._errors import PlanError


def exact_rows(plan, name):
    """P(sent as w | says v) by all combinations of the block that holds the attribute; None if it depends on the others."""
    block = next(block for block in plan.blocks if name in block.attributes)
    matrix = block.as_matrix()
    cells = list(itertools.product(*(range(unit.size) for unit in block.units)))
    place = next(i for i, unit in enumerate(block.units) if name in unit.attributes)
    unit = block.units[place]
    allowed = [c for c in itertools.product(*map(range, unit.sizes)) if not unit.forbid or unit.allowed[c]]
    axis = unit.attributes.index(name)
    code_of = [allowed[cell[place]][axis] for cell in cells]
    size = plan.schema.attribute(name).size
    rows = {}
    for cell, chances in enumerate(matrix):
        row = [0.0] * size
        for other, chance in enumerate(chances):
            row[code_of[other]] += chance
        rows.setdefault(code_of[cell], []).append(row)
    for same in rows.values():
        for row in same:
            assert row == pytest.approx(same[0], abs=1e-9)  # whatever the other answers are
    return [rows[code][0] for code in range(size)]


def is_rounded(people, chance):
    """To the nearest person, but never to nobody and everybody."""
    return abs(people - 100 * chance) <= 0.5 + 1e-9 or (people, round(chance)) in ((1, 0), (99, 1))


SMALL = {name: plan for name, plan in plans().items() if name != "agreement, 64 bits"}  # 7,200 combinations


@pytest.mark.parametrize("plan", SMALL.values(), ids=SMALL)
def test_odds_are_those_of_the_plan(plan):
    for attribute, entry in zip(plan.schema.randomised, odds(plan)):
        rows = exact_rows(plan, attribute.name)
        assert entry["attribute"] == attribute.name
        assert is_rounded(entry["kept_of_100"], max(row[code] for code, row in enumerate(rows)))
        assert len(entry["sent_of_100"]) == attribute.size
        for people, row in zip(entry["sent_of_100"], rows):
            assert len(people) == len(row)
            assert all(map(is_rounded, people, row))


def test_many_values_have_no_table():
    plan = plans()["agreement, 64 bits"]
    by_name = {entry["attribute"]: entry for entry in odds(plan)}
    assert by_name["d"]["sent_of_100"] is None
    assert plan.schema.attribute("d").size > MOST_ROWS
    kept = Fraction(sum(n for mask, n in enumerate(plan.blocks[0].sets) if mask & 4), 2**64)
    assert by_name["d"]["kept_of_100"] == whole(kept)


def test_as_many_values_as_a_plan_can_have():
    """A hundred million values are not listed to say how many people of 100 keep theirs."""
    import pkanon as pk

    size = 10**8
    schema = pk.Schema([pk.Attribute.ranged("n", 1, size)])
    replaced = 2**64 // size * 3 // 10  # three people of ten draw again
    plan = pk.Plan(schema, (pk.Retention(pk.Unit(("n",), (size,)), replaced, 64),), 5_000)
    assert odds(plan) == [{"attribute": "n", "kept_of_100": 70, "sent_of_100": None}]


@pytest.mark.parametrize(
    ("share", "people"), [(0, 0), (1, 100), (Fraction(1, 10**6), 1), (1 - Fraction(1, 10**6), 99), (Fraction(5, 8), 62)]
)
def test_nobody_and_everybody_only_if_exact(share, people):
    assert whole(Fraction(share)) == people


@pytest.mark.parametrize("plan", SMALL.values(), ids=SMALL)
def test_what_is_hardly_ever_replaced_is_found(plan):
    """By the matrix of every combination: the first attribute of which no answer is replaced often enough."""
    kept = {a.name: min(row[code] for code, row in enumerate(exact_rows(plan, a.name))) for a in plan.schema.randomised}
    few = [name for name, chance in kept.items() if 1 - chance < LEAST_REPLACED]
    assert seldom_replaced(plan) == (few[0] if few else None)


@pytest.mark.parametrize(("replaced", "found"), [(163, "a"), (164, None)])  # 327.68 of 65,536 words are 1 in 200
def test_one_person_in_two_hundred_is_enough(replaced, found):
    import pkanon as pk

    schema = pk.Schema([pk.Attribute("a", ["x", "y", "z"])])
    plan = pk.Plan(schema, (pk.Retention(pk.Unit(("a",), (3,)), replaced, 16),), 100)
    assert seldom_replaced(plan) == found


def test_a_value_with_most_of_the_combinations_is_kept_whatever_is_said():
    """Nearly everybody is sent as a smoker, those who are none too: that is no sign that answers are kept."""
    import pkanon as pk

    schema = pk.Schema(
        [pk.Attribute("smokes", ["no", "yes"]), pk.Attribute.ranged("number", 0, 999)],
        [pk.Bundle(("smokes", "number"), forbid=[{"smokes": ["no"], "number": list(range(1, 1000))}])],
    )
    plan = pk.plan(schema, records=500, k=20)
    assert odds(plan)[0]["kept_of_100"] == 99
    assert seldom_replaced(plan) is None


def test_a_matrix_on_a_bundle_has_no_odds_of_one_answer():
    import pkanon as pk

    schema = pk.Schema([pk.Attribute("a", ["x", "y"]), pk.Attribute("b", ["x", "y"])])
    rows = tuple(tuple(2**14 for _ in range(4)) for _ in range(4))
    plan = pk.Plan(schema, (pk.Matrix(pk.Unit(("a", "b"), (2, 2)), rows, 16),), 100)
    with pytest.raises(PlanError, match="depends on the others"):
        odds(plan)
