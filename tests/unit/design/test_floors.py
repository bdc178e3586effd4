"""Floors and workloads as people give them, and what the optimiser is asked for because of them."""

import math

import numpy as np
import pytest
from dense import unit_of

import pkanon as pk
from pkanon._design.floor import Floor
from pkanon._design.infeasible import largest_eigenvalue
from pkanon._design.workload import Workload

UNITS = [unit_of(2, names="a"), unit_of(3, names="b"), unit_of(2, 2, names="cd")]
RHO = 0.5


@pytest.mark.parametrize(
    ("given", "asked"),
    [(None, "none"), ({}, "none"), ("all", "all"), (3, 3), (np.int64(2), 2), ({("a", "b"): 0.25}, {("a", "b"): 0.25})],
)
def test_a_floor_says_how_it_was_asked_for(given, asked):
    assert Floor.of(given).asked == asked
    assert type(Floor.of(given).asked) is type(asked)


@pytest.mark.parametrize("given", [0, -1, True, 2.0, "none", "3", [("a",)]])
def test_what_is_no_floor_is_refused(given):
    with pytest.raises(pk.TargetError, match="at least 1 attribute"):
        Floor.of(given)


@pytest.mark.parametrize(
    ("given", "floors", "wishes"),
    [
        (None, [], []),
        (1, [0b001, 0b010, 0b100], [0b011, 0b101, 0b110, 0b111]),
        (2, [0b001, 0b010, 0b011, 0b100, 0b101, 0b110], [0b111]),
        (3, range(1, 8), []),
        (99, range(1, 8), []),
        ("all", range(1, 8), []),
    ],
)
def test_a_set_of_units_keeps_what_the_paper_would_keep(given, floors, wishes):
    floor = Floor.of(given)
    kept = {0b001: 0.5, 0b010: 0.5, 0b100: 0.5, 0b011: 0.25, 0b101: 0.25, 0b110: 0.25, 0b111: 0.125}  # rho^|T|
    assert floor.floors(UNITS, RHO) == {mask: kept[mask] for mask in floors}
    assert floor.wishes(UNITS, RHO) == {mask: kept[mask] for mask in wishes}
    assert floor.of_all == (given == "all")
    assert not floor.by_table


def test_a_floor_by_table_is_about_the_units_that_are_in_it():
    floor = Floor.of({("a",): 0.3, ("b", "d"): 0.2, ("c", "b"): 0.4, ("c",): 0.1})
    assert floor.by_table
    # c and d are one unit: of two floors for one set the higher holds
    assert floor.floors(UNITS, RHO) == {0b001: 0.3, 0b110: 0.4, 0b100: 0.1}
    assert floor.wishes(UNITS, RHO) == {}


def test_where_units_need_several_blocks_each_has_its_own_floor():
    many = [unit_of(3, names=[f"q{i}"]) for i in range(13)]
    assert Floor.of(2).floors(many, RHO) == {1 << i: RHO for i in range(13)}
    assert Floor.of(None).floors(many, RHO) == {}
    with pytest.raises(pk.TargetError, match="where all attributes fit one block"):
        Floor.of({("q0",): 0.1}).floors(many, RHO)


def test_a_floor_names_attributes_that_the_design_decides():
    with pytest.raises(pk.TargetError, match=r"names 'aa', which the design does not decide.*Did you mean 'a'"):
        Floor.of({("aa",): 0.1}).floors(UNITS, RHO)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_one_unit_keeps_at_most_what_retention_keeps(epsilon):
    """rho = (e^eps - 1) / (e^eps - 1 + V); with two values one can as well be avoided as kept."""
    gain = math.expm1(epsilon)
    assert largest_eigenvalue([5], epsilon) == pytest.approx(gain / (gain + 5))
    assert largest_eigenvalue([2], epsilon) == pytest.approx(math.tanh(epsilon / 2))


@pytest.mark.parametrize(
    ("given", "asked"),
    [(2, 2), ("full", "full"), ([("a", "b"), "c"], {("a", "b"): 1.0, ("c",): 1.0}), ({("a",): 2}, {("a",): 2.0})],
)
def test_a_workload_says_how_it_was_asked_for(given, asked):
    assert Workload.of(given).asked == asked


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        (1, {("a",): 1, ("b",): 1, ("c",): 1}),
        (9, dict.fromkeys([("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")], 1)),
        ("full", {("a", "b", "c"): 1}),
        ({("b", "a"): 2, ("a", "b"): 3, ("c",): 0.5}, {("a", "b"): 5, ("c",): 0.5}),
    ],
)
def test_the_tables_of_a_workload_and_their_weights(given, weights):
    assert Workload.of(given).weights(["a", "b", "c"]) == weights
