"""Evidence against a release has a mean of at most 1 over honest ones: counted over all of them, not sampled."""

import itertools
import math

import numpy as np
import pytest
from small_tables import CASES, dense_of, records_of

from pkanon._audit.verification import order, possible
from pkanon._audit.verification.evidence import FALSE_ALARMS, Evidence, average
from pkanon._audit.verification.verdicts import weighed
from pkanon._blocks import Matrix, Retention
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


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("suspicion", [order._sorted, order._sticky])
def test_evidence_in_an_order_has_mean_1(column, suspicion):
    assert mean_over_orders(COLUMNS[column], suspicion) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("stretches", [2, 3])
@pytest.mark.parametrize("column", [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 2]])
def test_evidence_of_drift_has_mean_1(column, stretches, monkeypatch):
    monkeypatch.setattr(order, "STRETCHES", (stretches,))
    monkeypatch.setattr(order, "SHORTEST", 2)
    means = mean_over_orders(column, order._drift)
    assert means.shape == (len(order.POWERS),)
    assert means == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("column", [[0, 1, 1, 1, 1, 1, 1, 2], [0, 0, 0, 0, 0, 0, 1, 2], [0, 1, 2, 2, 2, 2, 2, 2]])
def test_evidence_of_a_column_with_a_dominating_value_has_mean_1(column, monkeypatch):
    """Most rows have one value, so that some groups of values have no rows."""
    monkeypatch.setattr(order, "MANY", 3)
    groups = order._grouped(np.array(column, np.uint8))
    assert 2 <= len(np.bincount(groups)) < order.GROUPS
    assert np.bincount(groups).all()
    assert mean_over_orders(column, lambda codes: [order._column(codes)]) == pytest.approx(1, abs=1e-9)


def test_evidence_in_the_order_of_whole_rows_has_mean_1():
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
