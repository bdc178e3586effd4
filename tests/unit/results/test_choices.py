"""Plans for several k side by side, and the heat map of all pairs."""

import json
import math

import pytest

import pkanon as pk
from pkanon._plan import central_bound, central_epsilon, default_delta, level_of

SCHEMA = pk.Schema(
    [pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9), pk.Attribute("job", ["a", "b", "c"])]
)


def test_every_k_has_the_numbers_of_its_plan():
    found = pk.choices(SCHEMA, records=5_000, ks=[100, 5], tables=[("sex", "rooms", "job")])
    assert len(found) == 2
    for choice, k in zip(found, (5, 100)):
        plan = pk.plan(SCHEMA, records=5_000, k=k)
        assert choice.plan.digest == plan.digest
        assert choice.readable == plan.readable([("sex", "rooms", "job")])
        assert choice.as_given == float(plan.unchanged[1])
        assert (choice.central_epsilon, choice.delta) == (plan.central().epsilon, 1 / 50_000)
    frame = found.to_polars()
    assert frame["good"].to_list() == [choice.readable.counts()["good"] for choice in found]
    assert frame["epsilon"].is_sorted(descending=True)
    assert json.loads(json.dumps(found.to_json()))["records"] == 5_000
    assert "readable" in str(found)
    assert "<table>" in found._repr_html_()


def test_a_chosen_plan_stands_for_its_own_k():
    chosen = pk.plan(SCHEMA, records=5_000, k=20, epsilon=9)
    found = pk.choices(SCHEMA, records=5_000, ks=[5, 20], chosen=chosen)
    assert [choice.chosen for choice in found] == [False, True]
    assert found.choices[1].plan is chosen
    assert [row[0] for row in found.text_table().rows] == ["5", "* 20"]
    tighter = pk.plan(SCHEMA, records=5_000, k=20, epsilon=1)
    assert [choice.plan is tighter for choice in pk.choices(SCHEMA, records=5_000, ks=[5, 20], chosen=tighter)] == [
        False,
        False,
        True,
    ]


def test_a_k_that_cannot_be_met_is_left_out():
    assert [choice.plan.k_text for choice in pk.choices(SCHEMA, records=50)] == ["2", "5", "20"]
    with pytest.raises(pk.TargetError):
        pk.choices(SCHEMA, records=50, ks=[100])
    with pytest.raises(pk.InputError, match="at least one k"):
        pk.choices(SCHEMA, records=50, ks=[])


def test_no_central_epsilon_of_a_hidden_count():
    found = pk.choices(SCHEMA, records=500, ks=[5], hide_count="9/10", design="equal-rho")
    assert found.to_polars()["central_epsilon"].to_list() == [None]
    assert found.text_table().rows[0][2] == "-"


@pytest.mark.parametrize("design", ["equal-rho", "optimal", "joint"])
@pytest.mark.parametrize("k", [2, 50, 900])
def test_the_quick_bound_is_a_bound(design, k):
    plan = pk.plan(SCHEMA, records=1_000, k=k, design=design)
    delta = default_delta(1_000)
    bound = central_bound(plan.blocks, 1_000, delta)
    assert central_epsilon(plan.blocks, 1_000, delta) <= bound * (1 + 1e-4)
    assert bound <= plan.epsilon


def test_the_quick_bound_counts_matrices():
    matrix = pk.TransitionMatrix([[0.9, 0.1], [0.2, 0.8]])
    plan = pk.plan(SCHEMA, records=1_000, k=20, matrices={"sex": matrix})
    assert central_epsilon(plan.blocks, 1_000, 1e-4) <= central_bound(plan.blocks, 1_000, 1e-4) * (1 + 1e-4)


def test_many_columns_have_a_central_epsilon():
    schema = pk.Schema([pk.Attribute(f"c{number}", ["a", "b"]) for number in range(30)])
    (choice,) = pk.choices(schema, records=100_000, ks=[20], design="equal-rho")
    assert 0 < choice.central_epsilon < choice.plan.epsilon / 10


def squares(readable):
    chart = json.loads(pk.readability_chart(readable).to_json())
    (rows,) = chart["datasets"].values()
    return chart["layer"], rows


def test_the_heat_map_has_each_table_once():
    readable = pk.plan(SCHEMA, records=500, k=50).readable([("sex", "rooms", "job")])
    layers, rows = squares(readable)
    assert len(rows) == 6
    assert len(layers) == 2  # squares, and the numbers in them
    for row in rows:
        table = readable.of(*{row["first"], row["second"]})
        assert row["level"] == table.level
        assert row["reads"].startswith(f"{table.level}: ")
        if table.l1 < 10:
            shown = float(row["text"]) / 100
            assert abs(shown - table.l1) < 0.01
            assert level_of(shown) == table.level


def test_the_heat_map_of_many_attributes_has_no_numbers():
    schema = pk.Schema([pk.Attribute(f"c{number}", ["a", "b"]) for number in range(40)])
    layers, rows = squares(pk.plan(schema, records=100, k=99, design="equal-rho").readable())
    assert (len(layers), len(rows)) == (1, 40 * 41 // 2)


def test_the_heat_map_of_what_is_destroyed(tmp_path):
    unit = pk.Unit(("sex",), (2,))
    plan = pk.Plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), (pk.Retention(unit, replace=2**31),), 1_000)
    assert math.isinf(plan.readable().best.l1)
    _, (row,) = squares(plan.readable())
    assert (row["error"], row["text"]) == (None, "–")
    pk.save_chart(pk.readability_chart(plan.readable()), tmp_path / "map.svg")
    assert (tmp_path / "map.svg").stat().st_size > 1_000
