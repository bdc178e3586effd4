"""The parts of the comparison, each held against a slow and plain version of itself."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

import pkanon as pk
from pkanon._audit.attacks.bayes import NaiveBayes, normalised, share_right
from pkanon._audit.attacks.combinations import Combinations, Dense, tally
from pkanon._audit.attacks.inference import Inference
from pkanon._audit.attacks.linkage import Linkage, agreement_chances, strongest
from pkanon._audit.attacks.rows import Rows
from pkanon._experiments.comparison.downstream import classify, cramers_v
from pkanon._experiments.comparison.generalised import Generalised
from pkanon._experiments.comparison.mondrian import mondrian
from pkanon._experiments.comparison.queries import Query, answers, query_errors, random_queries

SIZES = (2, 4, 3)


def columns_of(rows):
    return [np.array(column, np.uint8) for column in zip(*rows)]


def cells_of(rows, sizes=SIZES):
    return Combinations.of(columns_of(rows), sizes)[0]


def people(count, seed, sizes=SIZES):
    """Rows whose attributes are related and unevenly spread."""
    random = np.random.default_rng(seed)
    first = random.integers(0, sizes[1], count)
    return list(
        zip(
            (random.random(count) < 0.2 + 0.15 * first).astype(int).tolist(),
            first.tolist(),
            np.minimum(first + random.integers(0, 2, count), sizes[2] - 1).tolist(),
        )
    )


tables = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=60)


def plainly(rows, k, spans):
    """Mondrian row by row: every cut of the widest attribute that has an allowable one is tried."""
    widths = [(max(column) - min(column)) / span for column, span in zip(zip(*rows), spans)]
    for axis in sorted(range(len(widths)), key=lambda axis: (-widths[axis], axis)):
        values = sorted({row[axis] for row in rows})
        cuts = []
        for limit in values[:-1]:
            low = sum(row[axis] <= limit for row in rows)
            cuts.append((-min(low, len(rows) - low), limit))
        if cuts and -min(cuts)[0] >= k:
            limit = min(cuts)[1]
            return plainly([row for row in rows if row[axis] <= limit], k, spans) + plainly(
                [row for row in rows if row[axis] > limit], k, spans
            )
    return [sorted(rows)]


class TestMondrian:
    def test_a_cut_by_hand(self):
        # 3, 1, 2, 4 people: cuts after the second and the third value are equally near to the half, the lower is taken;
        # then 4 people are too few to cut, and 2 | 4 is no cut for k = 3
        cells = cells_of([(0,)] * 3 + [(1,)] + [(2,)] * 2 + [(3,)] * 4, (4,))
        assert mondrian(cells, 3).tolist() == [0, 0, 1, 1]
        assert len(set(mondrian(cells, 2).tolist())) == 3
        assert len(set(mondrian(cells, 6).tolist())) == 1

    def test_another_attribute_if_the_widest_has_no_cut(self):
        # the first attribute is as wide as can be, but one person alone has the other value
        cells = cells_of([(0, 0)] * 3 + [(0, 1)] * 2 + [(1, 2)], (2, 4))
        groups = dict(zip(map(tuple, cells.codes.tolist()), mondrian(cells, 2).tolist()))
        assert groups[0, 1] == groups[1, 2] != groups[0, 0]

    @given(rows=tables, k=st.integers(2, 6))
    def test_as_row_by_row(self, rows, k):
        cells = cells_of(rows)
        spans = [max(max(column) - min(column), 1) for column in zip(*rows)]
        expected = sorted(plainly(rows, k, spans))
        groups = mondrian(cells, k)
        found = []
        for group in set(groups.tolist()):
            chosen = groups == group
            found.append(sorted(map(tuple, np.repeat(cells.codes[chosen], cells.counts[chosen], axis=0).tolist())))
        assert sorted(found) == expected

    def test_every_group_has_k_people_also_in_the_embedded_table(self):
        codes = [column.to_physical().to_numpy() for column in pk.demo_table().sample(30_000, seed=3)]
        cells, _ = Combinations.of(codes, [attribute.size for attribute in pk.demo_schema().randomised])
        for k in (2, 37, 1_000):
            groups = mondrian(cells, k)
            people_of = np.bincount(groups, weights=cells.counts)
            assert people_of.min() >= k
            assert people_of.sum() == 30_000
            published = Generalised.whole(cells, k)
            assert published.smallest >= k
            boxes = [
                "-".join(map(str, (*low, *high))) for low, high in zip(published.low.tolist(), published.high.tolist())
            ]
            table = pl.DataFrame({"box": np.repeat(boxes, published.counts)})
            assert pk.anonymity(table, ["box"]) == published.smallest


def spread(published, axes):
    """Box by box, cell by cell."""
    result = np.zeros([published.sizes[axis] for axis in axes])
    full = np.zeros(published.sizes)
    for low, high, count in zip(published.low, published.high, published.counts):
        inside = list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high))))
        for cell in inside:
            full[cell] += count / len(inside)
    for cell in itertools.product(*map(range, published.sizes)):
        result[tuple(cell[axis] for axis in axes)] += full[cell]
    return result


ALL_AXES = [axes for size in (1, 2, 3) for axes in itertools.combinations(range(3), size)]


class TestGeneralised:
    @given(rows=tables, k=st.integers(2, 6))
    def test_tables_are_those_of_evenly_filled_boxes(self, rows, k):
        cells = cells_of(rows)
        for published in (Generalised.whole(cells, k), Generalised.except_for(1, cells, k)):
            for axes in ALL_AXES:
                assert published.table(axes) == pytest.approx(spread(published, axes), abs=1e-9)
            assert published.counts.sum() == len(rows)

    @given(rows=tables, k=st.integers(2, 6))
    def test_the_target_as_it_is(self, rows, k):
        cells = cells_of(rows)
        published = Generalised.except_for(1, cells, k)
        assert published.table((1,)).tolist() == cells.table((1,)).tolist()
        assert (published.low[:, 1] == published.high[:, 1]).all()
        if len(rows) >= k:
            rest = pl.DataFrame(
                {
                    f"{end}{i}": np.repeat(values[:, i], published.counts)
                    for end, values in (("low", published.low), ("high", published.high))
                    for i in (0, 2)
                }
            )
            assert k <= pk.anonymity(rest, rest.columns) == published.smallest

    def test_boxes_that_hold_a_cell(self):
        published = Generalised.whole(cells_of(people(50, 1)), 5)
        expected = np.zeros(SIZES)
        for low, high in zip(published.low, published.high):
            expected[tuple(slice(a, b + 1) for a, b in zip(low, high))] += 1
        assert published.covered().tolist() == expected.tolist()

    def test_with_k_1_nothing_is_lost(self):
        cells = cells_of(people(40, 2))
        published = Generalised.whole(cells, 1)
        assert published.table((0, 1, 2)) == pytest.approx(cells.table((0, 1, 2)), abs=1e-9)


class TestCells:
    @given(rows=tables)
    def test_tables_count_rows(self, rows):
        cells, where = Combinations.of(columns_of(rows), SIZES)
        assert [tuple(code) for code in cells.codes[where].tolist()] == rows
        dense = tally(columns_of(rows), SIZES)
        assert isinstance(dense, Dense)
        for axes in ALL_AXES:
            expected = np.zeros([SIZES[axis] for axis in axes])
            for row in rows:
                expected[tuple(row[axis] for axis in axes)] += 1
            assert cells.table(axes).tolist() == expected.tolist()
            assert dense.table(axes).tolist() == expected.tolist()


def schema():
    return pk.Schema([pk.Attribute.ranged(f"a{i}", 0, size - 1) for i, size in enumerate(SIZES)])


def plans(records, k=2):
    return [pk.plan(schema(), records=records, k=k, design=design) for design in ("equal-rho", "optimal")]


class TestRandomised:
    def test_tables_are_those_of_a_release(self, seed):
        rows = people(500, seed)
        frame = pl.DataFrame(rows, schema=["a0", "a1", "a2"], orient="row")
        for plan in plans(500):
            made = Rows.of(plan, columns_of(rows), pk.Seeded(seed))
            release = pk.release(frame, plan, randomness=pk.Seeded(seed))
            for axes, method in itertools.product(ALL_AXES, ("inverse", "simplex")):
                expected = release.crosstab(*(f"a{axis}" for axis in axes), method=method).counts
                assert made.by(method).table(axes) == pytest.approx(expected, abs=1e-6)


class TestLinkage:
    def test_chances_are_the_matrix(self):
        cells = list(itertools.product(*map(range, SIZES)))
        for plan in plans(500):
            matrix = np.ones((1, 1))
            for block in plan.blocks:
                matrix = np.kron(matrix, block.as_matrix())
            chances = agreement_chances(plan.blocks)
            for (i, u), (j, v) in itertools.product(enumerate(cells), repeat=2):
                assert chances[tuple(int(a == b) for a, b in zip(u, v))] == pytest.approx(matrix[i, j], rel=1e-12)

    @given(seed=st.integers(0, 2**32))
    def test_the_best_row_is_found_whatever_the_chances(self, seed):
        random = np.random.default_rng(seed)
        chances, weights = random.random((2, 2, 2)), random.random(SIZES) * (random.random(SIZES) < 0.6)
        at = np.array(list(itertools.product(*map(range, SIZES))))
        expected = [
            max(chances[tuple((x == y).astype(int))] * weights[tuple(y)] for y in at) for x in at
        ]  # y runs over all cells, as x does
        assert strongest(chances, weights, tuple(at.T)).tolist() == expected

    def test_hits_are_those_of_somebody_who_tries_every_row(self, seed):
        rows = people(60, seed)
        columns = columns_of(rows)
        cells, where = Combinations.of(columns, SIZES)
        for plan in plans(60):
            made = Rows.of(plan, columns, pk.Seeded(seed))
            chances = agreement_chances(plan.blocks)

            def chance(x, y, chances=chances):
                return chances[tuple(int(a == b) for a, b in zip(x, y))]

            released = list(zip(*(column.tolist() for column in made.columns)))
            scores = np.array(
                [[chance(x, y) / sum(chance(other, y) for other in rows) for y in released] for x in rows]
            )
            best = scores >= scores.max(axis=1, keepdims=True) * (1 - 1e-9)
            expected = float((np.diag(best) / best.sum(axis=1)).mean())
            attack = Linkage(plan, cells, where, columns)
            random = np.random.default_rng(seed)
            found = [attack.attack(made, random) for _ in range(300)]
            hits = [each["linkage"] for each in found]
            # which of equal cells is picked is drawn again each time
            assert np.mean(hits) == pytest.approx(expected, abs=4 * np.std(hits) / math.sqrt(300) + 1e-9)
            sure = float((scores.max(axis=1) / scores.sum(axis=1)).max())
            assert found[0]["linkage_highest"] == pytest.approx(sure, rel=1e-6)
            assert sure <= 1 / 2  # k = 2

    def test_it_sees_whose_row_it_is(self, seed):
        rows = list(itertools.product(*map(range, SIZES)))  # everybody is different
        columns = columns_of(rows)
        cells, where = Combinations.of(columns, SIZES)
        plan = pk.Plan(schema(), tuple(pk.Retention(unit, 1) for unit in schema().units), records=len(rows))
        made = Rows.of(plan, columns, pk.Seeded(seed))
        attack = Linkage(plan, cells, where, columns)
        random = np.random.default_rng(seed)
        assert attack.attack(made, random)["linkage"] == 1
        moved = Rows(plan, [np.roll(column, 1) for column in made.columns], made.counted)
        assert attack.attack(moved, random)["linkage"] == 0


class TestInference:
    def test_what_others_teach_row_by_row(self):
        rows = people(45, 8)
        found = Inference(1, cells_of(rows))
        assert found.commonest() == max(sum(row[1] == v for row in rows) for v in range(4)) / 45
        alike_right = bayes_right = 0.0
        agreed = 0
        for i, row in enumerate(rows):
            rest = rows[:i] + rows[i + 1 :]
            same = [sum(o[1] == v and o[0] == row[0] and o[2] == row[2] for o in rest) for v in range(4)]
            agreed += sum(same) == same[row[1]] > 0
            scores = []
            for v in range(4):
                having = [o for o in rest if o[1] == v]
                score = math.log(len(having) + 1)
                for axis in (0, 2):
                    score += math.log((sum(o[axis] == row[axis] for o in having) + 1) / (len(having) + SIZES[axis]))
                scores.append(score)
            at = [tuple(code) for code in found.people.codes.tolist()].index(row)
            ours = found._bayes_of_others()[at]
            assert np.exp(ours - ours[0]) == pytest.approx(np.exp(np.array(scores) - scores[0]))
            for used, add in ((same if sum(same) else scores, "alike"), (scores, "bayes")):
                best = [v for v in range(4) if used[v] >= max(used) - 1e-9]
                right = (row[1] in best) / len(best)
                if add == "alike":
                    alike_right += right
                else:
                    bayes_right += right
        assert found.others()["inference"] == pytest.approx(max(alike_right, bayes_right) / 45)
        assert found.others()["certain"] == pytest.approx(agreed / 45)

    def test_certain_where_groups_have_one_value(self):
        # the first group (a0 = 0) has one value of a1, the second two
        rows = [(0, 3, 0)] * 4 + [(1, 0, 2)] * 3 + [(1, 1, 2)] * 3
        cells = cells_of(rows)
        as_is = Inference(1, cells).from_generalised(Generalised.except_for(1, cells, 4))
        assert as_is == {"inference": pytest.approx(0.7), "certain": pytest.approx(0.4)}
        # all generalised: a1 of the second group is cut apart too for k = 3, but both parts have the same known values
        whole = Inference(1, cells).from_generalised(Generalised.whole(cells, 3))
        assert whole["certain"] == pytest.approx(0.4)
        one_group = Inference(1, cells).from_generalised(Generalised.whole(cells, 6))
        assert one_group["certain"] == 0

    def test_rows_that_say_everything_and_nothing(self, seed):
        rows = people(2_000, seed)
        columns = columns_of(rows)
        cells, where = Combinations.of(columns, SIZES)
        kept = pk.Plan(schema(), tuple(pk.Retention(unit, 1) for unit in schema().units), records=2_000)
        made = Rows.of(kept, columns, pk.Seeded(seed))
        inference = Inference(1, cells)
        bayes = NaiveBayes.of(cells, 1, 3)
        expected = share_right(bayes.scores(cells.codes), cells.codes[:, 1], cells.counts)
        found = inference.from_randomised(made, Linkage(kept, cells, where, columns))
        # the people who are expected are those who are there: rows say nothing beyond statistics
        assert found["inference"] == pytest.approx(expected, abs=0.01)
        assert found["certain"] == 0


class TestQueries:
    def test_they_are_drawn_again_from_the_same_seed(self):
        first, same, other = (random_queries((2, 18, 12, 3, 3), 200, seed) for seed in (1, 1, 2))
        assert first == same != other
        assert {len(query.places) for query in first} == {1, 2, 3, 4}
        for query in first:
            assert len(set(query.places)) == len(query.places)
            for axis, (low, high) in zip(query.places, query.ranges):
                assert 0 <= low <= high < (2, 18, 12, 3, 3)[axis]

    def test_they_count_rows(self):
        rows = people(80, 4)
        queries = random_queries(SIZES, 60, 5)
        expected = [
            sum(all(low <= row[axis] <= high for axis, (low, high) in zip(query.places, query.ranges)) for row in rows)
            for query in queries
        ]
        assert answers(queries, cells_of(rows)).tolist() == expected

    def test_errors_by_hand(self):
        errors = query_errors(np.array([110.0, 0.0, 5.0]), np.array([100.0, 10.0, 0.0]), 10_000)
        assert errors["query_error"] == pytest.approx((10 + 10 + 5) / 3 / 10_000)
        assert errors["query_relative"] == pytest.approx(0.55)  # 0.1 and 1; nobody meets the third
        assert Query((0,), ((0, 1),)).answer(np.array([3.0, 4.0, 5.0])) == 7


class TestClassifier:
    def test_by_hand(self):
        # target a1: 3 people of value 0 (a0 = 0, 0, 1), 1 of value 2 (a0 = 1); one more is added to every cell
        cells = cells_of([(0, 0), (0, 0), (1, 0), (1, 2)], (2, 3))
        bayes = NaiveBayes.of(cells, 1, 2)
        scores = bayes.scores(np.array([[1, 0]]))[0]
        expected = np.array([4 / 7 * 2 / 5, 1 / 7 * 1 / 2, 2 / 7 * 2 / 3])
        assert np.exp(scores) == pytest.approx(expected)
        new = cells_of([(1, 0), (1, 1), (1, 2), (1, 2)], (2, 3))
        shares = expected / expected.sum()
        found = classify(cells, 1, new)
        assert found["accuracy"] == pytest.approx(0.25)  # 0 is named
        assert found["log_loss"] == pytest.approx(-np.log(shares[[0, 1, 2, 2]]).mean())
        assert np.exp(normalised(scores[None])).sum() == pytest.approx(1)

    def test_ties_count_in_part(self):
        scores = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]])
        assert share_right(scores, np.array([0, 0]), np.array([2, 2])) == 0.25

    @given(rows=tables)
    def test_cramers_v(self, rows):
        table = cells_of(rows).table((1, 2))
        found = cramers_v(table)
        used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(used.shape) > 1:
            scale = math.sqrt((min(used.shape) - 1) / (min(table.shape) - 1))
            assert found == pytest.approx(association(used.astype(int), "cramer") * scale, abs=1e-9)
        else:
            assert found == pytest.approx(0, abs=1e-9)
        assert cramers_v(np.diag([5.0, 2.0, 1.0])) == pytest.approx(1)
