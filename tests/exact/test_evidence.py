"""Evidence against a release has a mean of at most 1 over honest ones: counted over all of them, not sampled."""

import itertools
import math

import numpy as np
import pytest
from small_tables import CASES, dense_of, records_of

from pkanon._audit.verification import order, possible, suspicions
from pkanon._audit.verification.evidence import FALSE_ALARMS, Evidence, average
from pkanon._audit.verification.verdicts import weighed
from pkanon._blocks import Matrix, Retention
from pkanon._progress import quiet
from pkanon._schema import Unit

COLUMNS = {
    "two values": [0, 0, 0, 1, 1, 1, 1],
    "all different": [0, 1, 2, 3, 4, 5, 6],
    "one value": [0, 0, 0, 0, 0, 0],
    "one is rare": [0, 0, 0, 0, 0, 2, 1],
    "two rows": [1, 0],
    "one row": [0],
    "nine values, grouped": [0, 1, 2, 3, 4, 5, 8],
}


def exponential(values):
    return np.exp(np.array(values, float))


def mean_over_orders(column, of):
    """The mean of some pieces of evidence, one column each, over all orders of a column."""
    orders = set(itertools.permutations(column))
    return np.mean([exponential(of(np.array(values, np.uint8))) for values in orders], axis=0)


def rising(codes):
    return suspicions.in_order([(codes,)])


def taken(suspicion, codes):
    for values, rows in suspicions.blocks([codes]):
        suspicion.take(values, rows)
    return suspicion.found


def sticking(codes):
    return taken(suspicions.Sticky(np.bincount(codes)), codes)


def drifting(codes):
    return taken(suspicions.Drift(np.bincount(codes), suspicions.STRETCHES), codes)


@pytest.mark.parametrize("block", [2, 3, 7, suspicions.BLOCK])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("suspicion", [rising, sticking])
def test_evidence_in_an_order_has_mean_1(column, suspicion, block, monkeypatch):
    monkeypatch.setattr(suspicions, "BLOCK", block)
    assert mean_over_orders(COLUMNS[column], suspicion) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("block", [1, 3, suspicions.BLOCK])
@pytest.mark.parametrize("stretches", [2, 3])
@pytest.mark.parametrize("column", [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 2]])
def test_evidence_of_drift_has_mean_1(column, stretches, block, monkeypatch):
    monkeypatch.setattr(suspicions, "BLOCK", block)
    monkeypatch.setattr(suspicions, "STRETCHES", (stretches,))
    monkeypatch.setattr(suspicions, "SHORTEST", 2)
    means = mean_over_orders(column, drifting)
    assert means.shape == (len(suspicions.POWERS),)
    assert means == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("column", [[0, 1, 1, 1, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1, 2], [0, 1, 2, 2, 2, 2, 2, 2]])
def test_evidence_of_a_column_with_a_dominating_value_has_mean_1(column, monkeypatch):
    """Most rows have one value, so that some groups of values have no rows."""
    monkeypatch.setattr(order, "MANY", 3)
    groups = order._groups(np.bincount(column))
    assert 2 <= len(np.bincount(groups)) < order.GROUPS
    assert np.bincount(groups).all()
    found = mean_over_orders(column, lambda codes: [order.order_evidence({"a": codes}).total])
    assert found == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("few", "most"), [(order.FEW_ROWS, order.MOST_KINDS), (0, order.MOST_KINDS), (0, 4)])
def test_evidence_in_the_order_of_whole_rows_has_mean_1(few, most, monkeypatch):
    """Also where they are counted by their numbers, or told apart by a hash."""
    monkeypatch.setattr(order, "FEW_ROWS", few)
    monkeypatch.setattr(order, "MOST_KINDS", most)
    rows = [(0, 0), (0, 1), (1, 1), (1, 1), (2, 0)]
    found = []
    for some in itertools.permutations(rows):
        first, second = np.array(some, np.uint8).T
        found.append(math.exp(order.order_evidence({"a": first, "b": second}).total))
    assert np.mean(found) == pytest.approx(1, abs=1e-9)


def test_no_name_of_a_column_hides_a_test():
    """Columns may be called as other tests are printed."""
    up, down = np.arange(8, dtype=np.uint8), np.arange(8, dtype=np.uint8)[::-1].copy()
    assert len(order.order_evidence({"whole rows": up, "b": down}).tests) == 3
    blocks = [Retention(Unit((name,), (2,)), 2**30) for name in ("a", "b", "a x b")]
    codes = {name: np.array([0, 1, 1, 0], np.uint8) for name in ("a", "b", "a x b")}
    found = possible.table_evidence(blocks, codes)
    assert set(found.tests) == set(found.shares) == set(possible.tables(blocks))
    assert len(found.tests) == 7


def released_codes(blocks, records):
    attributes = [name for block in blocks for name in block.attributes]
    columns = np.array(records, int).reshape(len(records), len(attributes)).T
    return {name: column.astype(np.uint8) for name, column in zip(attributes, columns)}


DIFFERENT = {blocks: case for case, (blocks, *_) in CASES.items()}
"""One case for each list of blocks: the tables are all of theirs in any case."""


@pytest.mark.parametrize("case", DIFFERENT.values())
def test_evidence_in_tables_has_a_mean_of_at_most_1_whoever_the_people_are(case):
    blocks = CASES[case][0]
    records, matrix = records_of(blocks), dense_of(blocks)
    rows = 4 if len(records) <= 4 else 3
    found = {}
    for outcome in itertools.product(range(len(records)), repeat=rows):
        codes = released_codes(blocks, [records[v] for v in outcome])
        found[outcome] = math.exp(possible.table_evidence(blocks, codes).total)
    evidence = np.array(list(found.values())).reshape((len(records),) * rows)
    for _ in range(rows):  # the mean for every table of people at once: A along every axis
        evidence = np.tensordot(evidence, matrix, axes=(0, 1))
    assert evidence.max() <= 1 + 1e-9
    assert evidence.max() > 0.3  # and it is not thrown away


def test_a_row_that_nobody_can_have_become_is_infinite_evidence():
    block = Matrix(Unit(("a",), (3,)), ((2**16, 0, 0), (2**15, 2**15, 0), (2**15, 2**15, 0)), 16)
    assert possible.table_evidence([block], {"a": np.array([0, 1, 0, 1], np.uint8)}).total < 1
    assert math.isinf(possible.table_evidence([block], {"a": np.array([0, 1, 2, 1], np.uint8)}).total)


def test_an_alarm_needs_one_over_the_false_alarm_rate():
    limit = -math.log(FALSE_ALARMS)
    just = Evidence({("a",): limit + math.log(2) + 1e-9, ("b",): -math.inf}, {("a",): 0.5, ("b",): 0.5})
    assert just.alarming
    assert just.culprits == [("a",)]
    assert just.p_value == pytest.approx(FALSE_ALARMS)
    below = Evidence({("a",): limit + math.log(2) - 1e-6, ("b",): -math.inf}, {("a",): 0.5, ("b",): 0.5})
    assert not below.alarming


@pytest.mark.parametrize("others", [[], [0.0], [math.inf], [-math.inf]])
def test_what_is_not_a_number_is_no_evidence_and_no_pass(others):
    for logs in ([math.nan, *others], [*others, math.nan]):
        with pytest.raises(ArithmeticError):
            average(logs)
        tests = {(str(number),): value for number, value in enumerate(logs)}
        found = Evidence(tests, dict.fromkeys(tests, 1 / len(logs)))
        with pytest.raises(ArithmeticError):
            found.alarming  # noqa: B018
        with pytest.raises(ArithmeticError):
            weighed("order", found, "fine", "wrong")


def test_averages():
    assert average([0.0, 0.0]) == 0.0
    assert average([math.log(3), -math.inf]) == pytest.approx(math.log(1.5))
    assert average([math.inf, 0.0]) == math.inf
    assert average([-math.inf]) == -math.inf
    assert average([5000.0, 0.0]) == pytest.approx(5000 - math.log(2))


def test_rows_that_are_tested_must_not_choose(monkeypatch):
    growth = possible._growth
    monkeypatch.setattr(
        possible, "_growth", lambda channel, choosing, tested: growth(channel, choosing + tested, tested)
    )
    with pytest.raises(AssertionError):
        test_evidence_in_tables_has_a_mean_of_at_most_1_whoever_the_people_are("retention")


def looked_at(codes, monkeypatch, *, exact):
    """The evidence of all suspicions of a column, where only so many rows at the end are taken one by one."""
    monkeypatch.setattr(suspicions, "EXACT", exact)
    return np.array([*sticking(codes), *drifting(codes)])


ORDERS = {
    "shuffled": lambda codes: codes,
    "sorted": np.sort,
    "like follows like": lambda codes: np.repeat(codes[::3], 3)[: len(codes)],
    "drifting": lambda codes: codes[np.argsort(codes + np.arange(len(codes)) // 8_000, kind="stable")],
}


@pytest.mark.parametrize("which", ORDERS)
def test_means_of_a_block_make_evidence_hardly_smaller_and_never_larger(which, seed, monkeypatch):
    monkeypatch.setattr(suspicions, "BLOCK", 2**9)
    codes = np.random.default_rng(seed).choice(5, 100_000, p=[0.5, 0.3, 0.15, 0.04, 0.01]).astype(np.uint8)
    codes = ORDERS[which](codes)
    one_by_one = looked_at(codes, monkeypatch, exact=len(codes))
    by_means = looked_at(codes, monkeypatch, exact=2**13)
    assert not np.array_equal(by_means, one_by_one)
    assert (by_means <= one_by_one + 1e-6).all()
    if which == "shuffled":
        assert (by_means >= one_by_one - 0.1).all()
    else:
        assert by_means.max() >= 0.98 * one_by_one.max() > 100


@pytest.mark.parametrize("piece", [1, 2, 5, 100])
@pytest.mark.parametrize(
    "columns", [[[0, 0, 1, 1, 2]], [[0, 0, 1, 1], [0, 3, 1, 1]], [[2, 1, 1], [0, 5, 5]], [[0, 1, 0]], [[]]]
)
def test_rows_rise_or_fall_in_pieces_as_in_one(columns, piece):
    columns = [np.array(column, np.uint8) for column in columns]
    rows = list(zip(*columns))
    parts = [[column[start : start + piece] for column in columns] for start in range(0, len(rows), piece)]
    different = math.factorial(len(rows)) / math.prod(math.factorial(rows.count(row)) for row in set(rows))
    right = [different if rows == order else 0 for order in (sorted(rows), sorted(rows, reverse=True))]
    assert exponential(suspicions.in_order(parts)) == pytest.approx(right)


@pytest.mark.parametrize("most_joint", [0, 100, 10**6])
@pytest.mark.parametrize("most_counted", [1, 300, 10**6])
def test_tables_are_counted_together_as_they_are_alone(most_joint, most_counted, seed, monkeypatch):
    monkeypatch.setattr(possible, "MOST_JOINT", most_joint)
    monkeypatch.setattr(possible, "MOST_COUNTED", most_counted)
    sizes = {"a": 2, "b": 7, "c": 3, "d": 5}
    blocks = [Retention(Unit((name,), (size,)), 2**28) for name, size in sizes.items()]
    draw = np.random.default_rng(seed)
    codes = {name: draw.integers(0, size, 1_000).astype(np.uint8) for name, size in sizes.items()}
    chosen = possible.tables(blocks)
    first = possible._half(0, 1_000) == 0
    counted = dict(possible._counted(blocks, chosen, codes, quiet))
    assert counted.keys() == set(chosen)
    for names, halves in counted.items():
        for half, counts in zip((first, ~first), halves):
            right = np.zeros([sizes[name] for name in names])
            np.add.at(right, tuple(codes[name][half] for name in names), 1)
            assert np.array_equal(counts, right), names
