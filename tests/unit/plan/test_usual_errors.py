"""What the method model usually comes to: the numbers of the published page, between them, and nothing beyond."""

import re
from pathlib import Path

import pytest

import pkanon as pk
from pkanon._plan.modelled import MEASURED, usual_error

PAGE = Path(__file__).parents[3] / "docs" / "results" / "model.md"
POINTS = [(rows, order, *point) for rows, orders in MEASURED.items() for order in orders for point in orders[order]]


def section(name: str) -> list[list[str]]:
    """The cells of the rows of a table of the page."""
    found = re.search(f"<!-- {name} -->(.*?)<!-- /{name} -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return [
        [cell.strip().replace(",", "") for cell in line.strip("|").split("|")] for line in found[1].split("\n")[4:-2]
    ]


def test_the_numbers_are_those_of_the_page():
    whole = [(50_000, *map(float, (row[0], *row[2:]))) for row in section("usual")]
    fewer = [tuple(map(float, (*row[:2], *row[3:]))) for row in section("fewer")]
    assert sorted((*whole, *fewer)) == sorted(POINTS)


@pytest.mark.parametrize(("rows", "attributes", "l1", "middle", "upper"), POINTS)
def test_where_it_was_measured_it_is_what_was_measured(rows, attributes, l1, middle, upper):
    assert usual_error(l1, attributes, rows) == pytest.approx((min(middle, l1), upper))


@pytest.mark.parametrize("attributes", [2, 3])
def test_the_fewer_the_rows_the_larger_the_error(attributes):
    found = [usual_error(3.0, attributes, rows) for rows in (1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 50_000)]
    assert found == sorted(found, reverse=True)
    assert usual_error(3.0, attributes, 2_000_000) == found[-1]


def test_nothing_is_said_where_nothing_was_measured():
    assert usual_error(1.0, 2, 999) is None
    assert usual_error(1.0, 1, 50_000) is None
    assert usual_error(1.0, 4, 50_000) is None
    assert usual_error(1e-4, 2, 50_000) is None
    assert usual_error(1e4, 2, 5_000) is None


def test_a_plan_knows_its_rows():
    schema = pk.Schema([pk.Attribute.ranged("age", 0, 9), pk.Attribute.ranged("job", 0, 6)])
    few, many = (pk.plan(schema, records=n, k=k).readable().of("age", "job") for n, k in ((2_000, 2), (200_000, 500)))
    assert few.model == usual_error(few.l1, 2, 2_000)
    assert many.model == usual_error(many.l1, 2, 200_000)
    assert pk.plan(schema, records=500, k=2).readable().by_model is None
