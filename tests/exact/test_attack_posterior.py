"""The exact chance of every link: against brute force over all orders, never above 1/k, and equal to it in the worst case."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from blocks import BLOCKS
from brute import links
from dense import matrix_of, unit_of
from plans import plan_of

from pkanon._audit.attacks import posterior
from pkanon._audit.attacks.mechanism import exact_chances
from pkanon._audit.attacks.posterior import link_chances
from pkanon._blocks import Agreement, Retention

CASES = 500


def counted(rows):
    """Different rows, and how often each occurs."""
    different = sorted(set(rows))
    return different, [rows.count(row) for row in different]


def chances_of(plan, people, rows):
    (known, numbers), (made, times) = counted(people), counted(rows)
    return known, made, link_chances(exact_chances(plan, known, made), numbers, times)


def random_block(kind, draw, name):
    """A block of one kind with random integers, on small units."""
    if kind == "retention":
        size = int(draw.integers(2, 5))
        return Retention(unit_of(size, names=(name,)), int(draw.integers(1, 2**16 // size)), 16)
    if kind == "joint, forbidden combinations":
        unit = unit_of(2, 3, names=(f"{name}0", f"{name}1"), forbid=(((0,), (2,)),))
        return Retention(unit, int(draw.integers(1, 2**16 // unit.size)), 16)
    if kind == "matrix":
        size = int(draw.integers(2, 4))
        words = draw.integers(1, 100, (size, size))
        cut = [np.floor(row / row.sum() * 2**16).astype(int).tolist() for row in words]
        return matrix_of(unit_of(size, names=(name,)), [[2**16 - sum(row[1:]), *row[1:]] for row in cut], 16)
    sizes = [int(size) for size in draw.integers(2, 4, 2)]
    weights = draw.integers(1, 1000, 4)
    sets = np.floor(weights / weights.sum() * 2**16).astype(int).tolist()
    units = tuple(unit_of(size, names=(f"{name}{i}",)) for i, size in enumerate(sizes))
    return Agreement(units, (*sets[:3], 2**16 - sum(sets[:3])), 16)


KINDS = ("retention", "joint, forbidden combinations", "matrix", "agreement")


def random_rows(draw, plan, rows):
    return [tuple(int(draw.integers(unit.size)) for unit in plan.units) for _ in range(rows)]


def test_no_link_is_more_likely_than_promised_in_500_random_cases(seed):
    """Random plans of one or two blocks of every kind, random tables and random releases of them."""
    draw = np.random.default_rng(seed)
    nearest = Fraction(0)
    for case in range(CASES):
        kinds = [KINDS[case % 4], *([KINDS[int(draw.integers(4))]] if case % 3 == 0 else [])]
        rows = int(draw.integers(1, 9 if case % 5 == 0 else 6))
        plan = plan_of([random_block(kind, draw, f"b{i}") for i, kind in enumerate(kinds)], rows)
        people = random_rows(draw, plan, rows)
        # some releases look like the table, which makes links likely
        made = [person if draw.random() < 0.5 else row for person, row in zip(people, random_rows(draw, plan, rows))]
        _, _, found = chances_of(plan, people, made)
        assert found is not None
        highest = found.max()
        assert isinstance(highest, Fraction)
        assert highest <= 1 / plan.k_for(rows)
        nearest = max(nearest, highest * plan.k_for(rows))
    assert nearest > Fraction(9, 10)  # the bound is not idle


def test_the_chances_are_those_of_all_orders(seed):
    draw = np.random.default_rng(seed)
    for case in range(60):
        plan = plan_of([random_block(KINDS[case % 4], draw, "b")], 5)
        rows = int(draw.integers(1, 6))
        people, made = random_rows(draw, plan, rows), random_rows(draw, plan, rows)
        cells = sorted({*people, *made})
        total, joint = links(
            exact_chances(plan, cells, cells), tuple(map(cells.index, people)), tuple(map(cells.index, made))
        )
        known, seen, found = chances_of(plan, people, made)
        for person, row in itertools.product(range(rows), repeat=2):
            assert found[known.index(people[person]), seen.index(made[row])] == Fraction(joint[person][row]) / total


def worst(plan):
    """The four cells u, v, u', v' of the least A[u,v'] A[v,u'] / (A[u,u'] A[v,v'])."""
    cells = list(itertools.product(*(range(unit.size) for unit in plan.units)))
    chances = exact_chances(plan, cells, cells)
    places = range(len(cells))
    ratios = {
        (u, v, x, y): chances[u][y] * chances[v][x] / (chances[u][x] * chances[v][y])
        for u, v, x, y in itertools.product(places, repeat=4)
        if chances[u][x] and chances[v][y]
    }
    return tuple(cells[i] for i in min(ratios, key=ratios.get))


@pytest.mark.parametrize("name", [name for name in BLOCKS if name != "retention, rho = 1"])
@pytest.mark.parametrize("rows", [2, 5, 8])
def test_the_worst_case_reaches_1_over_k(name, rows):
    """One person is u, all others are v; one row is u', all others are v'."""
    plan = plan_of([BLOCKS[name]], rows)
    u, v, x, y = worst(plan)
    known, made, found = chances_of(plan, [u] + [v] * (rows - 1), [x] + [y] * (rows - 1))
    assert found[known.index(u), made.index(x)] == 1 / plan.k_for(rows)


def test_floats_agree_with_whole_numbers(seed, monkeypatch):
    draw = np.random.default_rng(seed)
    for case in range(20):
        plan = plan_of([random_block(KINDS[case % 4], draw, "b")], 7)
        people, made = random_rows(draw, plan, 7), random_rows(draw, plan, 7)
        whole = chances_of(plan, people, made)[2]
        with monkeypatch.context() as patch:
            patch.setattr(posterior, "MOST_WHOLE", 0)
            near = chances_of(plan, people, made)[2]
        assert near.dtype == float
        assert near == pytest.approx(whole.astype(float), rel=1e-12)


def test_rows_that_cannot_be_have_no_chances():
    plan = plan_of([BLOCKS["retention, rho = 1"]], 2)
    assert chances_of(plan, [(0,), (1,)], [(0,), (2,)])[2] is None
    assert chances_of(plan, [(0,), (1,)], [(1,), (0,)])[2].tolist() == [[1, 0], [0, 1]]


def test_what_counts_as_small():
    assert posterior.steps([1] * 18, [1] * 18) <= posterior.MOST_STEPS < posterior.steps([1] * 19, [1] * 19)
    assert posterior.steps([30, 30, 30], [45, 45]) <= posterior.MOST_STEPS
    assert posterior.steps([1] * 61, [1] * 61) > posterior.MOST_STEPS
    assert posterior.steps([1] * 61, [61]) <= posterior.MOST_STEPS  # one kind of row: dealt out the other way round
