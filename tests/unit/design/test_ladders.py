"""Coarser versions of attributes: round boundaries, and every coarser value a set of finer ones."""

import datetime as dt
import itertools

import pytest

import pkanon as pk
from pkanon._design.advising.ladder import coarser

AGE = pk.Attribute.binned("age", start=0, stop=90, width=5, open="high")
MONTHS = pk.Attribute.binned(
    "day", edges=[dt.date(2020 + m // 12, m % 12 + 1, 1) for m in range(49)], open="both", missing="value"
)
MONEY = pk.Attribute.binned("pay", start=0, stop=100_000, width=1_000, open="both", type="integer")
GRADES = pk.Attribute("grade", list("abcdefgh"), ordered=True, other="none", merge={"b": ["B"]})


def labels(attribute, place):
    return list(coarser(attribute)[place].labels())


def test_ages_double_at_round_numbers_and_stay_open():
    assert [version.size for version in coarser(AGE)] == [10, 5, 4, 2]
    assert labels(AGE, 0)[:2] == ["0-9", "10-19"]
    assert labels(AGE, 1) == ["0-19", "20-39", "40-59", "60-79", "80+"]


def test_months_become_quarters_and_years():
    versions = coarser(MONTHS)
    assert "2020-04-01 to 2020-06-30" in list(versions[0].labels())
    assert any("2021-01-01 to 2021-12-31" in list(version.labels()) for version in versions)
    assert all(version.missing == "value" for version in versions)


def test_what_lies_between_open_ends_is_never_one_value():
    edges = [dt.date(2024, 1 + m, 1) for m in range(12)] + [dt.date(2025, 1, 1)]
    year = pk.Attribute.binned("admitted", edges=edges, open="both")
    versions = coarser(year)
    assert min(version.size for version in versions) == 4  # half-years, and both ends
    for version in versions:
        assert version.code(edges[0]) != version.code(dt.date(2024, 12, 31))
    assert coarser(pk.Attribute.binned("age", edges=[18, 65], open="both")) == []


def test_amounts_get_edges_that_grow():
    assert labels(MONEY, 0)[:5] == ["<1000", "1000-1999", "2000-4999", "5000-9999", "10000-19999"]


def test_ordered_lists_are_merged_by_neighbours_and_keep_their_raw_values():
    first = coarser(GRADES)[0]
    assert list(first.labels()) == ["a to b", "c to d", "e to f", "g to h", "none"]
    assert first.code("B") == first.code("a") == 0
    assert first.ordered


def test_a_hierarchy_is_climbed():
    grades = pk.Hierarchy(
        [("9th", "school", "*"), ("10th", "school", "*"), ("BA", "degree", "*"), ("MA", "degree", "*")]
    )
    versions = coarser(pk.Attribute("education", hierarchy=grades))
    assert [list(version.labels()) for version in versions] == [["school", "degree"]]  # one value is no attribute


@pytest.mark.parametrize(
    "attribute",
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("job", list("abcdefghij")),
        pk.Attribute("yes", [True, False]),
        pk.Attribute.ranged("two", 1, 2),
    ],
)
def test_values_without_an_order_are_not_merged(attribute):
    assert coarser(attribute) == []


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        (AGE, range(100)),
        (MONEY, range(-2_000, 120_000, 250)),
        (GRADES, "abcdefghB"),
        (pk.Attribute.ranged("year", 1947, 2021), range(1947, 2022)),
        (pk.Attribute.ranged("deep", -7, 12), range(-7, 13)),
        (pk.Attribute("day", [*list(range(1, 32)), 99]), [*range(1, 32), 99]),
        (pk.Attribute("dose", [0.5, 1.0, 1.5, 2.0, 7.0, 12.5]), [0.5, 1.0, 1.5, 2.0, 7.0, 12.5]),
        (pk.Attribute.binned("bmi", start=15.0, stop=45.0, width=2.5), [15 + 0.5 * i for i in range(60)]),
        (MONTHS, [dt.date(2019, 1, 1) + dt.timedelta(days=17 * i) for i in range(120)]),
    ],
)
def test_a_coarser_value_is_a_set_of_finer_ones(attribute, values):
    versions = coarser(attribute)
    assert versions
    sizes = [attribute.size, *(version.size for version in versions)]
    assert all(b < a for a, b in itertools.pairwise(sizes))
    for version in versions:
        image = {}
        for value in values:
            fine, coarse = attribute.code(value), version.code(value)
            assert image.setdefault(fine, coarse) == coarse
        assert len(set(image.values())) >= 2
