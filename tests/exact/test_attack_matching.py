"""Chances of all links at once: the passes against dense matrices, the confidences against exact chances."""

import itertools

import numpy as np
import pytest
from blocks import BLOCKS
from dense import matrix_of, unit_of
from plans import plan_of, schema_of

import pkanon as pk
from pkanon._audit.attacks import mechanism as room
from pkanon._audit.attacks.combinations import Combinations
from pkanon._audit.attacks.matching import Cells, Matching, confidence
from pkanon._audit.attacks.mechanism import INDEX_BITS, NEVER, RESOLUTION, Mechanism, Shared, exact_chances
from pkanon._audit.attacks.posterior import link_chances
from pkanon._audit.attacks.values import _evidence
from pkanon._blocks import Agreement, Retention
from pkanon._sample import Keystream, randomise

PAIRS = {
    "two retentions": [Retention(unit_of(3), 2**13, 16), Retention(unit_of(4, names="b"), 2**12, 16)],
    "agreement and matrix": [
        Agreement((unit_of(2), unit_of(3, names="b")), (2000, 6000, 7536, 50_000), 16),
        matrix_of(unit_of(3, names="c"), [[10, 5, 1], [2, 13, 1], [3, 3, 10]], 16),
    ],
    "three units that agree": [
        Agreement((unit_of(2), unit_of(3, names="b"), unit_of(4, names="c")), (1000, *[2000] * 6, 52_536), 16)
    ],
}
PLANS = {name: [block] for name, block in BLOCKS.items()} | PAIRS


def everything(plan):
    """One column per unit: every cell once."""
    return [column.ravel() for column in np.indices([unit.size for unit in plan.units])]


def dense(plan, before, after):
    exact = exact_chances(plan, np.stack(before).T.tolist(), np.stack(after).T.tolist())
    return np.array([[float(chance) for chance in row] for row in exact])


@pytest.mark.parametrize("name", PLANS)
def test_passes_are_those_of_the_dense_matrix(name, seed):
    plan, draw = plan_of(PLANS[name], 10), np.random.default_rng(seed)
    cells = everything(plan)
    whole = Mechanism.of(plan, [cells])
    matrix = dense(plan, cells, cells)
    counts = draw.random(len(matrix))
    assert whole.forward(counts.reshape(whole.shape)).ravel() == pytest.approx(counts @ matrix)
    assert whole.backward(counts.reshape(whole.shape)).ravel() == pytest.approx(matrix @ counts)
    assert whole.variance(counts.reshape(whole.shape)).ravel() == pytest.approx(counts @ (matrix * (1 - matrix)))
    places = whole.places(cells)
    for u in range(len(matrix)):
        own = tuple(np.full(len(matrix), part[u]) for part in places)
        assert whole.chance(own, places) == pytest.approx(matrix[u])


@pytest.mark.parametrize("name", PLANS)
def test_the_best_match_is_found_with_its_cell(name, seed):
    plan, draw = plan_of(PLANS[name], 10), np.random.default_rng(seed)
    cells = everything(plan)
    whole, matrix = Mechanism.of(plan, [cells]), dense(plan, cells, cells)
    logs = draw.normal(size=len(matrix))
    there = draw.random(len(matrix)) < 0.7
    there[0] = True
    scores = np.where(there, (np.round(logs * RESOLUTION).astype(int) << INDEX_BITS) + np.arange(len(matrix)), NEVER)
    found = whole.best(scores.reshape(whole.shape)).ravel() & (2**INDEX_BITS - 1)
    with np.errstate(divide="ignore"):
        all_scores = np.where(there[:, None], logs[:, None] + np.log(matrix), -np.inf)
    for v in np.flatnonzero(np.isfinite(all_scores.max(axis=0))):
        assert all_scores[found[v], v] == pytest.approx(all_scores[:, v].max(), abs=1e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_codes_that_do_not_occur_share_one_place(name, seed):
    """Sums over the cells that occur are those of the whole matrix, however few they are."""
    plan, draw = plan_of(PLANS[name], 10), np.random.default_rng(seed)
    people = [draw.integers(0, min(2, unit.size), 4) for unit in plan.units]
    rows = [draw.integers(0, min(2, unit.size), 4) for unit in plan.units]
    some = Mechanism.of(plan, [people, rows])
    expected = some.forward(Cells.of(some.numbers(people)).grid(some.shape))
    assert expected[some.places(rows)] == pytest.approx(dense(plan, people, rows).sum(axis=0))
    elsewhere = [np.full(1, unit.size - 1) for unit in plan.units]  # of codes that may not occur
    reached = some.backward(Cells.of(some.numbers(rows)).grid(some.shape))
    assert reached[some.places(elsewhere)] == pytest.approx(dense(plan, elsewhere, rows).sum(axis=1))


@pytest.mark.parametrize("name", PLANS)
def test_sums_of_products_of_two_cells(name, seed):
    plan, draw = plan_of(PLANS[name], 10), np.random.default_rng(seed)
    cells = everything(plan)
    whole, matrix = Mechanism.of(plan, [cells]), dense(plan, cells, cells)
    weights = draw.random(len(matrix))
    places = whole.places(cells)
    for axis, size in enumerate(whole.shape):
        shared = Shared.of(whole, axis, weights.reshape(whole.shape))
        for code in range(size):
            moved = np.ravel_multi_index((*places[:axis], np.full(len(matrix), code), *places[axis + 1 :]), whole.shape)
            assert shared.at(places, np.full(len(matrix), code)) == pytest.approx(
                (matrix * matrix[moved] * weights).sum(axis=1)
            )


def test_units_that_do_not_fit_are_left_out_and_summed_over(monkeypatch):
    blocks = PAIRS["three units that agree"]
    plan = plan_of(blocks, 10)
    cells = everything(plan)
    monkeypatch.setattr(room, "MOST_CELLS", 12)
    part = Mechanism.of(plan, [cells])
    assert not part.complete
    assert len(part.units) == 2
    shape = [unit.size for unit in plan.units]
    full = dense(plan, cells, cells).reshape(*shape, *shape)
    gone = next(axis for axis in range(3) if axis not in part.units)
    marginal = full.sum(axis=3 + gone).take(0, axis=gone)  # what is released, whatever the code left out was
    counts = np.random.default_rng(1).random(part.shape)
    assert part.forward(counts) == pytest.approx(np.tensordot(counts, marginal, 2))


def matched(plan, people, rows):
    mechanism = Mechanism.of(plan, [people, rows])
    return Matching.of(mechanism, Cells.of(mechanism.numbers(people)), Cells.of(mechanism.numbers(rows)))


def released(plan, people, seed):
    rows = [np.empty_like(column) for column in people]
    randomise(plan.blocks, people, Keystream(pk.Seeded(seed).key()), out=rows)
    return rows


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
@pytest.mark.parametrize("k", [2, 4])
def test_confidences_are_close_to_exact_chances(design, k, seed):
    plan = pk.plan(schema_of([3, 2, 4]), records=12, k=k, design=design)
    draw = np.random.default_rng(seed)
    codes = {f"a{i}": draw.integers(0, size, 12).astype(np.uint8) for i, size in enumerate((3, 2, 4))}
    people = [unit.join([codes[name] for name in unit.attributes]) for unit in plan.units]
    rows = released(plan, people, seed)
    matching = matched(plan, people, rows)
    assert matching.possible
    assert matching.off <= 1e-6
    at = matching.mechanism.at
    known, made = matching.people, matching.rows
    chance = np.array(
        [matching.mechanism.chance([p[i] for p in map(np.asarray, at(known.numbers))], at(made.numbers)) for i in range(len(known.counts))]
    )  # fmt: skip
    field = chance * matching.a[:, None] * matching.b
    assert (field * made.counts).sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (field * known.counts[:, None]).sum(axis=0) == pytest.approx(1, abs=1e-5)
    first = [np.unique(where, return_index=True)[1] for where in (known.where, made.where)]
    cells = [
        np.stack([column[i] for column in table]).T.tolist() for table, i in zip((people, rows), first, strict=True)
    ]
    exact = link_chances(exact_chances(plan, *cells), known.counts.tolist(), made.counts.tolist()).astype(float)
    best = exact[matching.best, np.arange(len(made.counts))]
    assert matching.stated == pytest.approx(best, rel=0.05)
    assert best == pytest.approx(exact.max(axis=0), rel=0.05)  # and the best guess is the best, or as good


def permanent(weights):
    found = {0: 1.0}
    for row in weights:
        after: dict[int, float] = {}
        for taken, weight in found.items():
            for j, chance in enumerate(row):
                if not taken >> j & 1:
                    after[taken | 1 << j] = after.get(taken | 1 << j, 0.0) + weight * chance
        found = after
    return next(iter(found.values()))


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
def test_the_evidence_about_a_value_is_close_to_the_exact_likelihood(design, seed):
    """Somebody who knows everybody else: the chance of the release for each value of hers, by permanents."""
    plan = pk.plan(schema_of([3, 2, 3]), records=9, k=2, design=design)
    draw, names = np.random.default_rng(seed), ["a0", "a1", "a2"]
    codes = {f"a{i}": draw.integers(0, size, 9).astype(np.uint8) for i, size in enumerate((3, 2, 3))}

    def joined(table):
        return [unit.join([table[name] for name in unit.attributes]) for unit in plan.units]

    people = joined(codes)
    rows = released(plan, people, seed)
    cells, where = Combinations.of([codes[name] for name in names], [3, 2, 3])
    found = _evidence(plan, cells, matched(plan, people, rows), names, 2)
    chances = dense(plan, people, rows)
    off, moved = [], []
    for person, value in itertools.product(range(9), range(3)):
        tried = {name: column[person : person + 1] for name, column in codes.items()} | {
            "a2": np.array([value], np.uint8)
        }
        weights = chances.copy()
        weights[person] = dense(plan, joined(tried), rows)[0]
        moved.append(permanent(weights))
        off.append(found[where[person], value])
    exact, near = (np.reshape(values, (9, 3)) for values in (moved, off))
    exact, near = (np.log(values / values.sum(axis=1, keepdims=True)) for values in (exact, near))
    assert np.abs(exact - np.log(1 / 3)).max() > 0.03  # there is something to be learned
    assert np.abs(exact - near).max() < 0.1 * np.abs(exact - np.log(1 / 3)).max()


def test_confidence_where_all_are_alike_and_in_the_worst_case():
    for total in (2, 3, 10, 1000):
        assert confidence(np.array([1 / total]), np.array([1]), np.array([1]), total) == pytest.approx(1 / total)
    plan = plan_of([Retention(unit_of(3), 2**13, 16)], 50)
    people, rows = [np.array([0] + [1] * 49)], [np.array([0] + [1] * 49)]
    matching = matched(plan, people, rows)
    assert matching.stated[0] == pytest.approx(1 / plan.k, rel=1e-4)


def test_confidence_is_shared_by_people_who_are_alike(seed):
    """Against the exact chances of x people of one cell and y rows of another among people who are all alike."""
    plan = plan_of([Retention(unit_of(3), 2**11, 16)], 16)
    for x, y in itertools.product((1, 2, 4), repeat=2):
        people, rows = [np.array([0] * x + [1] * (16 - x))], [np.array([0] * y + [1] * (16 - y))]
        matching = matched(plan, people, rows)
        exact = link_chances(exact_chances(plan, [[0], [1]], [[0], [1]]), [x, 16 - x], [y, 16 - y]).astype(float)
        assert matching.stated == pytest.approx(exact[matching.best, [0, 1]], rel=0.02)


def test_what_the_plan_cannot_make_is_impossible():
    plan = plan_of([BLOCKS["matrix with zeros"]], 3)
    assert matched(plan, [np.array([0, 1, 1])], [np.array([0, 1, 1])]).possible
    assert not matched(plan, [np.array([2, 2, 2])], [np.array([2, 2, 0])]).possible
