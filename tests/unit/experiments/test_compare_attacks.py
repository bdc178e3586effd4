"""What adversaries get and what a classifier learns from, held against somebody who looks at every single row."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pkanon as pk
from pkanon._audit.attacks.bayes import NaiveBayes
from pkanon._audit.attacks.combinations import Combinations, tally
from pkanon._audit.attacks.inference import Inference
from pkanon._audit.attacks.linkage import Linkage
from pkanon._audit.attacks.rows import Rows
from pkanon._experiments.comparison.downstream import classify
from pkanon._experiments.comparison.generalised import Generalised
from pkanon._experiments.comparison.measure import DESIGNS, METHODS, MODEL, MODELLED, Bench
from pkanon._experiments.comparison.mondrian import mondrian
from pkanon._experiments.comparison.people import People
from pkanon._experiments.seeds import seeded

SIZES = (2, 4, 3)
TARGET = 1
tables = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=40)


def counted(rows, sizes=SIZES):
    """The columns of rows, their cells, and the place of each row's cell."""
    columns = [np.array(column, np.uint8) for column in zip(*rows)]
    return columns, *Combinations.of(columns, sizes)


def cells_of(rows, sizes=SIZES):
    return counted(rows, sizes)[1]


def crowd(count, seed):
    """Rows whose attributes are related and unevenly spread."""
    random = np.random.default_rng(seed)
    middle = random.binomial(3, 0.4, count)
    first = random.random(count) < 0.1 + 0.25 * middle
    return list(zip(first.astype(int).tolist(), middle.tolist(), np.maximum(middle - 1, 0).tolist()))


def schema_of(sizes):
    return pk.Schema([pk.Attribute.ranged(f"a{i}", 0, size - 1) for i, size in enumerate(sizes)])


def replacing(sizes, records, *replaced):
    """A plan under which a value becomes each other one for so many of 2**16 words, one number per attribute."""
    schema = schema_of(sizes)
    blocks = (pk.Retention(unit, words, 16) for unit, words in zip(schema.units, replaced))
    return pk.Plan(schema, tuple(blocks), records=records)


def dense(plan):
    """The matrix of a whole plan, with one row and one column per cell of the full table."""
    matrix = np.ones((1, 1))
    for block in plan.blocks:
        matrix = np.kron(matrix, block.as_matrix())
    return matrix


def right(scores, value):
    """The chance that the guess is right if one of the highest scores is taken at random."""
    best = [v for v, score in enumerate(scores) if score >= max(scores) - 1e-9]
    return (value in best) / len(best)


def changed(row, value):
    return (*row[:TARGET], value, *row[TARGET + 1 :])


class TestMondrian:
    def test_ranges_are_those_of_the_people(self):
        # Both attributes are as wide as can be, so the first is cut; of its nine possible values only two occur.
        square = [(0, 0), (0, 1), (1, 0), (1, 1)]
        groups = mondrian(cells_of(square, (9, 2)), 2).tolist()
        assert groups[0] == groups[1] != groups[2] == groups[3]

    def test_ranges_are_those_of_the_people_in_parts_too(self):
        # 4 | 4 people by the first attribute (0, 1 | 2). In the lower half it has 1/2 of its range and the second 1/4
        # of its own; as shares of the values that are possible it would be 1/8 and 1/4.
        lower = [(0, 0), (0, 1), (1, 0), (1, 1)]
        upper = [(2, 0), (2, 4), (2, 4), (2, 4)]  # the second has no cut with 2 people on both sides
        groups = mondrian(cells_of(lower + upper, (9, 5)), 2).tolist()
        assert groups[0] == groups[1] != groups[2] == groups[3]
        assert groups[4] == groups[5] not in groups[:4]

    @given(rows=tables, k=st.integers(2, 5), unused=st.tuples(*[st.integers(0, 50)] * 3))
    def test_values_that_nobody_has_change_nothing(self, rows, k, unused):
        wider = tuple(size + more for size, more in zip(SIZES, unused))
        assert mondrian(cells_of(rows, wider), k).tolist() == mondrian(cells_of(rows), k).tolist()


class TestLinkage:
    def test_likelihood_is_the_sum_over_all_rows(self, seed):
        columns, cells, where = counted(crowd(30, seed))
        plan = replacing(SIZES, 30, 9_000, 2_000, 5_000)
        made = Rows.of(plan, columns, pk.Seeded(seed))
        matrix = dense(plan)
        came, went = (np.ravel_multi_index(rows, SIZES) for rows in (columns, made.columns))
        expected = sum(matrix[:, y] / matrix[came, y].sum() for y in went)
        found = Linkage(plan, cells, where, columns).likelihood(made)
        assert found.ravel() == pytest.approx(expected, rel=1e-9)

    def test_of_equal_cells_one_is_drawn_as_often_as_it_has_rows(self):
        # Eight people have value 0, one has 1, one has 2; nobody's released row has 0. To the eight, rows with 1 and 2 are
        # equal: one row has 1, nine have 2, theirs among them.
        sizes = (3, 2)
        columns, cells, where = counted([(0, 0)] * 8 + [(1, 0), (2, 0)], sizes)
        plan = replacing(sizes, 10, 6_000, 6_000)
        out, _, _ = counted([(2, 0)] * 8 + [(1, 0), (2, 0)], sizes)
        made = Rows(plan, out, tally(out, sizes))
        attack = Linkage(plan, cells, where, columns)
        draws = 400
        hits = np.array([10 * attack.attack(made, np.random.default_rng(i))["linkage"] for i in range(draws)])
        # the person with 1 is found for sure, the one with 2 in 1 of 9; each of the eight too, if rows with 2 are drawn
        drawn = (hits - 1 - 1 / 9) / (8 / 9)
        assert set(np.round(drawn, 9).tolist()) == {0.0, 1.0}
        # 0.9 with a standard deviation of 0.015; it would be 0.5 if cells counted and not rows
        assert drawn.mean() == pytest.approx(0.9, abs=0.09)


class TestInference:
    def test_alone_in_a_crowd_that_is_split_evenly(self):
        # Among all others a person's own value is the rarer one, so every guess is wrong.
        even = Inference(TARGET, cells_of([(0, 0, 0)] * 5 + [(0, 3, 0)] * 5))
        assert even.others() == {"inference": 0, "certain": 0}
        # One person more: the six of the larger half see five against five.
        odd = Inference(TARGET, cells_of([(0, 0, 0)] * 6 + [(0, 3, 0)] * 5))
        assert odd.others() == {"inference": pytest.approx(6 / 11 / 2), "certain": 0}

    def test_one_who_is_like_nobody_is_not_certain(self):
        two = Inference(TARGET, cells_of([(0, 2, 0)] * 2 + [(1, 1, 2)]))
        assert two.others()["certain"] == pytest.approx(2 / 3)

    @given(rows=tables)
    def test_others_are_all_but_the_person(self, rows):
        alike_right, bayes_right, certain = [], [], []
        for i, row in enumerate(rows):
            rest = rows[:i] + rows[i + 1 :]
            alike = [rest.count(changed(row, v)) for v in range(SIZES[TARGET])]
            scores = []
            for v in range(SIZES[TARGET]):
                having = [other for other in rest if other[TARGET] == v]
                shares = [(sum(o[a] == row[a] for o in having) + 1) / (len(having) + SIZES[a]) for a in (0, 2)]
                scores.append(math.log((len(having) + 1) * math.prod(shares)))
            bayes_right.append(right(scores, row[TARGET]))
            alike_right.append(right(alike, row[TARGET]) if any(alike) else bayes_right[-1])
            certain.append(sum(alike) == alike[row[TARGET]] > 0)
        found = Inference(TARGET, cells_of(rows)).others()
        assert found["inference"] == pytest.approx(max(np.mean(alike_right), np.mean(bayes_right)))
        assert found["certain"] == pytest.approx(np.mean(certain))

    def test_statistics_of_boxes_can_say_more_than_the_boxes(self):
        # The first attribute is cut: the four with 0 become one group, whose box holds the targets 0 and 1 alike, the two
        # others one with the target 1. By the boxes half of the four and both others are guessed, 4 of 6.
        rows = [(0, 0, 2)] * 3 + [(0, 1, 0), (1, 1, 0), (2, 1, 0)]
        cells = cells_of(rows, (3, 2, 3))
        published = Generalised.whole(cells, 2)
        assert sorted(published.counts.tolist()) == [2, 4]
        # Naive Bayes for (0, ?, 2): 3 * 3/5 * 1/3 = 0.6 for target 0, 5 * 3/7 * 5/21 = 0.51 for target 1. Whoever has the
        # third value 0 has 5 * 3/7 * 11/21 = 1.1 or 5 * 2/7 * 11/21 = 0.8 for target 1, and at most 0.6 for target 0.
        assert Inference(TARGET, cells).from_generalised(published)["inference"] == 1

    def test_rows_tell_what_statistics_cannot(self):
        # The target is whether the two others differ: no table of two attributes shows it, every row does.
        rows = [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1)]
        sizes = (2, 2, 2)
        columns, cells, where = counted(rows, sizes)
        plan = replacing(sizes, 4, 1, 1, 1)
        made = Rows.of(plan, columns, pk.Seeded(1))
        assert [column.tolist() for column in made.columns] == [column.tolist() for column in columns]
        found = Inference(TARGET, cells).from_randomised(made, Linkage(plan, cells, where, columns))
        assert found == {"inference": 1, "certain": 0}

    def test_values_that_nothing_is_replaced_by_are_certain(self):
        """A plan that keeps everything gives everything away, and the measure must say so."""
        rows = [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1)]
        sizes = (2, 2, 2)
        columns, cells, where = counted(rows, sizes)
        plan = replacing(sizes, 4, 0, 0, 0)
        made = Rows.of(plan, columns, pk.Seeded(1))
        found = Inference(TARGET, cells).from_randomised(made, Linkage(plan, cells, where, columns))
        assert found == {"inference": 1, "certain": 1}

    def test_guesses_are_those_of_somebody_who_weighs_every_row(self):
        # attributes have nothing to do with each other, so that statistics teach little
        rows = np.random.default_rng(6).integers(0, SIZES, (12, 3)).tolist()
        columns, cells, where = counted(rows)
        plan = replacing(SIZES, 12, 1_500, 300, 700)
        made = Rows.of(plan, columns, pk.Seeded(3))
        matrix = dense(plan)
        came, went = (np.ravel_multi_index(each, SIZES) for each in (columns, made.columns))
        weights = [sum(row[y] / matrix[came, y].sum() for y in went) for row in matrix]
        spoken = [
            [math.log(weights[np.ravel_multi_index(changed(row, v), SIZES)]) for v in range(SIZES[TARGET])]
            for row in rows
        ]
        inverse, simplex = (NaiveBayes.of(made.by(method), TARGET, 3).scores(np.array(rows)) for method in METHODS)
        prior = NaiveBayes.of(made.by("simplex"), TARGET, 3).prior

        def best(beside):
            """The largest share of right guesses of three kinds of statistics."""
            guesses = (
                [right(scores + said, row[TARGET]) for scores, said, row in zip(statistics, beside, rows)]
                for statistics in (inverse, simplex, [prior] * 12)
            )
            return max(map(np.mean, guesses))

        expected, without = best(spoken), best(np.zeros((12, SIZES[TARGET])))
        assert expected > without + 0.05  # else rows would not matter here
        found = Inference(TARGET, cells).from_randomised(made, Linkage(plan, cells, where, columns))
        assert found["inference"] == pytest.approx(expected)


K = 3


@pytest.fixture(scope="module")
def bench(seed):
    columns, _, _ = counted(crowd(200, seed))
    return Bench(People("a crowd", schema_of(SIZES), columns, TARGET, synthetic=True), seed, 10, 1)


@pytest.fixture(scope="module")
def parts(bench):
    """The columns of the people a classifier is trained on, and the cells of all others."""
    chosen = set(bench.trained.tolist())
    assert len(chosen) == len(bench.trained) == 160
    rows = list(zip(*(column.tolist() for column in bench.people.columns)))
    columns, _, _ = counted([row for i, row in enumerate(rows) if i in chosen])
    return columns, cells_of([row for i, row in enumerate(rows) if i not in chosen])


def published_rows(rows, kept):
    """What Mondrian publishes row by row: the box of the row's group, and the values that are kept as they are."""
    known = [tuple(value for axis, value in enumerate(row) if axis not in kept) for row in rows]
    sizes = [size for axis, size in enumerate(SIZES) if axis not in kept]
    _, cells, where = counted(known, sizes)
    groups = mondrian(cells, K)[where].tolist()
    boxes = {
        group: tuple(
            (min(values), max(values)) for values in zip(*(row for row, g in zip(known, groups) if g == group))
        )
        for group in groups
    }
    return [(boxes[group], tuple(row[axis] for axis in kept)) for group, row in zip(groups, rows)]


class TestBench:
    @pytest.mark.parametrize(("way", "kept"), [("mondrian", ()), ("mondrian as-is", (TARGET,))])
    def test_one_of_all_rows_that_look_alike_is_picked(self, bench, way, kept):
        looks = published_rows(list(zip(*(column.tolist() for column in bench.people.columns))), kept)
        alike = Counter(looks)
        found = dict(bench.generalised(K))[way]
        assert found["linkage"] == pytest.approx(np.mean([1 / alike[look] for look in looks]))
        assert found["linkage_highest"] == pytest.approx(1 / min(alike.values()))
        # the test would show nothing if groups had one value of the target each
        assert (len(alike) > len({box for box, _ in looks})) == bool(kept)

    def test_a_classifier_of_generalised_people_has_not_seen_the_others(self, bench, parts):
        columns, held_out = parts
        trained = Combinations.of(columns, SIZES)[0]
        found = dict(bench.generalised(K))
        whole = classify(Generalised.whole(trained, K), TARGET, held_out)
        as_is = classify(Generalised.except_for(TARGET, trained, K), TARGET, held_out)
        assert whole.items() <= found["mondrian"].items()
        assert as_is.items() <= found["mondrian as-is"].items()
        assert dict(bench.references())["raw data"] == classify(trained, TARGET, held_out)

    @pytest.mark.parametrize("design", DESIGNS)
    def test_a_classifier_of_randomised_people_has_not_seen_the_others(self, bench, parts, design):
        columns, held_out = parts
        plan = pk.plan(schema_of(SIZES), records=160, k=K, design=design, workload=1)
        found = [each for each in bench.randomised(K, design, 2, lambda *_: None) if each[0] != design]
        modelled = [way for way, *_ in found if way == f"{design} {MODEL}"]
        assert len(modelled) == (design in MODELLED)  # tables of the first release, no classifier
        found = [each for each in found if each[0] not in modelled]
        assert len(found) == 4
        for i, (way, numbers, _) in enumerate(found):
            release, method = divmod(i, 2)
            made = Rows.of(plan, columns, seeded(bench.seed, K, DESIGNS.index(design), release, 1))
            assert way == f"{design} {METHODS[method]}"
            assert classify(made.by(METHODS[method]), TARGET, held_out).items() <= numbers.items()

    def test_the_part_has_a_plan_of_its_own(self):
        # otherwise the test above could not tell
        schema = schema_of(SIZES)
        made, larger = (pk.plan(schema, records=n, k=K, design="equal-rho") for n in (160, 200))
        assert made.blocks != larger.blocks
        small, pairs = (pk.plan(schema, records=160, k=K, workload=workload) for workload in (1, 2))
        assert small.blocks != pairs.blocks
