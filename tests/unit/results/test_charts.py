"""Charts: the right marks in the declared order, errors always shown, files complete or absent."""

import io
import json
import os
import re
import subprocess
import sys

import altair as alt
import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._experiments.comparison.charts import comparison_chart
from pkanon._results import Grid, Pair
from pkanon._results.charts import correlation_chart, crosstab_chart, save_chart
from pkanon._results.charts.bars import COLOURS

ODD = "a.b[0]: 'x\"y\\ z"
"""A column name with everything that Altair and Vega read as something else."""
LEVELS = ["none", "school", "degree"]
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["M", "F"]),
        pk.Attribute("edu", LEVELS, missing="value"),
        pk.Attribute(ODD, ["</script>", "z:Q", "b c"]),
        pk.Attribute("age", range(40)),
        pk.Attribute("minor", ["yes", "no"]),
    ],
    [pk.Bundle(["edu", "minor"], [{"edu": ["degree"], "minor": ["yes"]}])],
)
ROWS = 4000
FRAME = pl.DataFrame(
    {
        "sex": ["M", "F", "F", "M"] * (ROWS // 4),
        "edu": ["none", "school", None, "degree", "school"] * (ROWS // 5),
        ODD: ["z:Q", "b c"] * (ROWS // 2),
        "age": [i * i % 40 for i in range(ROWS)],
        "minor": ["no"] * ROWS,
    }
)


@pytest.fixture(scope="module")
def made(seed):
    return pk.release(FRAME, pk.plan(SCHEMA, records=ROWS, k=2), randomness=pk.Seeded(seed))


def parts(chart):
    """The layers of a chart, inside its panels if it has any."""
    spec = chart.to_dict()
    return spec.get("spec", spec)["layer"]


def order(channel):
    """The values of an axis as a chart is told to order them."""
    assert channel["sort"] is None  # else by alphabet
    return channel["scale"]["domain"]


def marks(chart):
    return [layer["mark"]["type"] for layer in parts(chart)]


def cells(chart):
    """The rows inside a chart."""
    return max(chart.to_dict()["datasets"].values(), key=len)


def grid_of(values, *, labels=None, names=("edu",), low=None, flags=None, caption=""):
    """What a chart draws, with chosen numbers; ``labels`` of each axis."""
    labels = labels or [[f"v{i}" for i in range(len(values))]]
    estimate = np.array(values, float).reshape([len(axis) for axis in labels])
    return Grid(
        names=tuple(names),
        labels=tuple(map(tuple, labels)),
        estimate=estimate,
        standard_error=np.full_like(estimate, 2.0),
        low=estimate - 4 if low is None else np.array(low).reshape(estimate.shape),
        high=estimate + 4,
        share=np.full_like(estimate, 0.1),
        released=np.full_like(estimate, 5.0),
        flags=flags or [None] * estimate.size,
        measure="people",
        level=0.95,
        caption=caption,
    )


def numbered(count):
    return [str(i) for i in range(count)]


def test_one_attribute_gives_bars_with_error_bars_and_a_zero_line(made):
    chart = made.crosstab("edu").chart()
    assert marks(chart) == ["bar", "rule", "text", "rule"]
    bar, error, _, zero = (layer["encoding"] for layer in parts(chart))
    # few values: lying bars, so the labels are on y, in the declared order with the missing value last
    assert order(bar["y"]) == [*LEVELS, "(missing)"]
    assert (bar["y"]["title"], bar["x"]["title"]) == ("edu", "people")
    assert (bar["x"]["field"], error["x"]["field"], error["x2"]["field"]) == ("estimate", "low", "high")
    assert zero["x"] == {"datum": 0}


def test_many_short_labels_stand_and_long_ones_lie(made):
    assert parts(made.crosstab("age").chart())[0]["encoding"]["x"]["field"] == "a0"
    long = grid_of([100.0] * 20, labels=[[f"v{i} and more words than fit below a bar" for i in range(20)]])
    assert parts(crosstab_chart(long, None))[0]["encoding"]["y"]["field"] == "a0"


@pytest.mark.parametrize(("names", "kind"), [(["edu"], "bars"), (["edu", "sex"], "bars"), (["edu", "sex"], "heat")])
def test_the_title_of_long_labels_stands_above_them(names, kind):
    """Beside labels wider than 200 pixels Vega prints it over them."""
    labels = [["a rather long label that takes more room than Vega gives to labels", "b"]] * len(names)
    axis = parts(crosstab_chart(grid_of([1.0] * 2 ** len(names), names=names, labels=labels), kind))[0]["encoding"]["y"]
    assert (axis["axis"]["titleAngle"], axis["axis"]["titleAlign"]) == (0, "right")
    assert axis["axis"]["titleY"] < 0


def test_two_attributes_are_grouped_and_coloured_by_the_smaller(made):
    bar = parts(made.crosstab("edu", "sex").chart())[0]["encoding"]
    assert bar["y"]["field"] == "a0"
    assert (bar["yOffset"]["field"], order(bar["yOffset"])) == ("a1", ["M", "F"])
    assert bar["color"]["scale"] == {"domain": ["M", "F"], "range": list(COLOURS[:2])}


def test_many_cells_become_squares_that_shrink_with_the_error(made):
    chart = made.crosstab("age", "edu").chart()
    assert marks(chart)[0] == "square"
    size = parts(chart)[0]["encoding"]["size"]
    assert size["field"] == "relative_error"
    assert size["scale"]["range"][0] > size["scale"]["range"][1]


def test_few_cells_have_their_numbers_printed(made):
    chart = made.crosstab("sex", "edu").chart("heat")
    assert marks(chart)[:3] == ["rect", "text", "text"]
    assert "± " in json.dumps(parts(chart)[2], ensure_ascii=False)


def test_three_attributes_have_a_panel_per_value_of_the_smallest(made):
    spec = made.crosstab("edu", "sex", ODD).chart().to_dict()
    assert spec["facet"]["sort"] == ["sex: M", "sex: F"]
    assert {spec["spec"]["layer"][0]["encoding"][axis]["title"] for axis in "xy"} == {"edu", ODD}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7])
def test_panels_fill_every_line(count):
    labels = [numbered(count), numbered(9), numbered(9)]
    grid = grid_of([50.0] * count * 81, names="abc", labels=labels)
    assert count % crosstab_chart(grid, None).to_dict()["columns"] == 0


def table_of(*attributes):
    """A released table of these attributes, in which everything is kept."""
    schema = pk.Schema(attributes)
    plan = pk.Plan(schema, tuple(pk.Retention(unit, replace=0) for unit in schema.units), records=2)
    row = {attribute.name: [next(attribute.labels())] * 2 for attribute in attributes}
    return pk.release(pl.DataFrame(row), plan, randomness=pk.Seeded(1)).crosstab(*row)


def test_values_that_are_no_texts_keep_their_order():
    chart = table_of(pk.Attribute("x", [True, False], missing="value")).chart()
    assert order(parts(chart)[0]["encoding"]["y"]) == ["true", "false", "(missing)"]
    chart = table_of(pk.Attribute("x", [10, 9, 2.5])).chart()
    assert order(parts(chart)[0]["encoding"]["y"]) == ["10.0", "9.0", "2.5"]


def test_a_label_named_like_the_missing_value_stays_apart():
    table = table_of(pk.Attribute("x", ["(missing)", "b"], missing="value"))
    assert [row["a0"] for row in cells(table.chart())] == ["(missing)", "b", "(no value)"]


def test_an_attribute_named_like_a_column_of_results_is_not_taken_for_one(made):
    table = table_of(pk.Attribute("low_95", ["a", "b"]), pk.Attribute("estimate", ["c", "d"]))
    rows = cells(table.chart())
    assert [(row["a0"], row["a1"]) for row in rows] == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    assert [row["estimate"] for row in rows] == [2.0, 0.0, 0.0, 0.0]


def test_bars_that_cannot_be_told_from_zero_are_paler_and_the_legend_says_so():
    clear = parts(crosstab_chart(grid_of([50.0, 60.0]), None))[0]["encoding"]
    assert clear["opacity"] == {"value": 1}
    chart = crosstab_chart(grid_of([50.0, -3.0], flags=[None, "near zero, predicted error"]), None)
    opacity = parts(chart)[0]["encoding"]["opacity"]
    assert opacity["scale"]["range"][1] < opacity["scale"]["range"][0]
    assert opacity["scale"]["domain"][1] == cells(chart)[1]["status"] == "cannot be told from zero"


def test_a_negative_estimate_is_drawn_below_zero_and_has_the_colour_of_zero():
    grid = grid_of([50.0, -3.0, 10.0, 7.0], names=("edu", "sex"), labels=["ab", "MF"])
    assert [row["estimate"] for row in cells(crosstab_chart(grid, "bars"))][1] == -3.0
    scale = parts(crosstab_chart(grid, "heat"))[0]["encoding"]["color"]["scale"]
    assert (scale["domain"], scale["clamp"]) == ([0, 50.0], True)


def test_cells_that_cannot_occur_are_crossed_out(made):
    chart = made.crosstab("edu", "minor").chart("heat")
    assert [row["a0"] for row in cells(chart) if row["impossible"]] == ["degree"]
    assert parts(chart)[-1]["mark"]["text"] == "×"
    assert "Cross: cannot occur." in " ".join(chart.to_dict()["title"]["subtitle"])


def test_infinite_and_absent_numbers_do_not_spoil_the_file(tmp_path):
    grid = grid_of([50.0, float("inf")], low=[float("nan"), float("-inf")])
    save_chart(crosstab_chart(grid, None), tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text()
    assert not re.search("Infinity|NaN", text)
    save_chart(crosstab_chart(grid, None), tmp_path / "a.png")


def test_the_caption_wraps_without_losing_a_word(made):
    words = "a caption that goes on " * 30
    lines = crosstab_chart(grid_of([1.0, 2.0], caption=words), None).to_dict()["title"]["subtitle"]
    assert len(lines) > 3
    assert " ".join(lines).lower() == words.strip()


def test_tooltips_have_everything(made):
    shown = parts(made.crosstab(ODD).chart(level=0.9))[0]["encoding"]["tooltip"]
    assert [entry["title"] for entry in shown] == [
        ODD,
        "estimate",
        "standard error",
        "90% interval from",
        "90% interval to",
        "share",
        "released rows",
        "note",
    ]


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        (["a", "b", "c", "d"], None, "one, two or three attributes, not 4; tabulate fewer"),
        (["a"], "pie", "no chart of the kind 'pie'. Available: bars, heat, line."),
        (["a"], "heat", "'heat' shows 2 or 3 attributes, and this table has 1; ask for the kind 'bars'."),
        (["a", "b", "c"], "bars", "'bars' shows 1 or 2 attributes, and this table has 3; ask for the kind 'heat'."),
    ],
)
def test_what_does_not_fit_is_refused(names, kind, message):
    with pytest.raises(pk.InputError, match=re.escape(message)):
        crosstab_chart(grid_of([1.0], names=names, labels=[["x"]] * len(names)), kind)


def test_too_many_cells_or_colours_are_refused():
    with pytest.raises(pk.InputError, match=r"at most 5,000 cells, and this table has 5,001; tabulate fewer"):
        crosstab_chart(grid_of([1.0] * 5001), None)
    square = grid_of([1.0] * 64, names="ab", labels=[numbered(8), numbered(8)])
    with pytest.raises(pk.InputError, match="ask for the kind 'heat'"):
        crosstab_chart(square, "bars")


def test_the_largest_charts_can_be_drawn(tmp_path):
    """Long orders once overflowed the stack of the drawing engine."""
    values = [float(i % 50) for i in range(5000)]
    save_chart(crosstab_chart(grid_of(values), None), tmp_path / "bars.svg")
    flat = grid_of(values, names="ab", labels=[numbered(2), numbered(2500)])
    save_chart(crosstab_chart(flat, None), tmp_path / "heat.svg")


def test_nothing_changes_for_the_rest_of_the_process(made, tmp_path):
    before = (alt.data_transformers.active, dict(alt.data_transformers.options), alt.renderers.active)
    save_chart(made.crosstab("edu").chart(), tmp_path / "a.svg")
    assert (alt.data_transformers.active, dict(alt.data_transformers.options), alt.renderers.active) == before


# ---- correlations


def pairs(names, value=0.25, measure="correlation"):
    return [
        Pair(first, second, measure, value, 0.01, value - 0.02, value + 0.02)
        for i, first in enumerate(names)
        for second in names[i + 1 :]
    ]


def test_correlations_are_symmetric_on_a_fixed_scale():
    chart = correlation_chart(pairs(["sex", "a.b", "age"]), 0.9)
    assert len(cells(chart)) == 6
    assert {(row["first"], row["second"]) for row in cells(chart)} == {
        (row["second"], row["first"]) for row in cells(chart)
    }
    rect = parts(chart)[1]["encoding"]
    assert rect["color"]["scale"]["domain"] == [-1, 1]
    assert order(rect["x"]) == order(rect["y"]) == ["sex", "a.b", "age"]
    titles = [entry["title"] for entry in parts(chart)[0]["encoding"]["tooltip"]]
    assert titles[-2:] == ["90% interval from", "90% interval to"]


def test_values_are_printed_for_up_to_fifteen_attributes():
    assert "text" in marks(correlation_chart(pairs([f"n{i}" for i in range(15)]), 0.95))
    assert "text" not in marks(correlation_chart(pairs([f"n{i}" for i in range(16)]), 0.95))


def test_cramers_v_is_marked_and_an_undefined_value_is_left_blank(tmp_path):
    chart = correlation_chart(pairs(["a", "b"], 0.31, "cramers_v"), 0.95)
    assert {(row["text"], row["measure"]) for row in cells(chart)} == {("V 0.31", "Cramer's V")}
    undefined = correlation_chart(pairs(["a", "b"], float("nan")), 0.95)
    assert {(row["text"], row["value"]) for row in cells(undefined)} == {("", None)}
    save_chart(undefined, tmp_path / "a.png")


# ---- comparisons


def test_lines_to_compare_with_are_named_in_the_margin_and_apart():
    """Inside a panel a name once covered the points."""
    ways = [("raw data", None, 0.80), ("commonest value", None, 0.79), ("optimal inverse", 2, 0.7)]
    frame = pl.DataFrame(
        [
            {"measure": "accuracy", "way": way, "k": k, "value": value, "spread": None, "epsilon": 1.0}
            for way, k, value in [*ways, ("optimal inverse", 20, 0.5)]
        ],
        schema_overrides={"k": pl.Int64, "spread": pl.Float64},
    )
    chart = comparison_chart(frame, "classifier", "a table").to_dict()
    (panel,) = chart["concat"]
    names = [layer["encoding"] for layer in panel["layer"] if layer["mark"]["type"] == "text"]
    heights = [name["y"]["value"] for name in names]
    assert all(name["x"]["value"] == panel["width"] for name in names)
    assert len(names) == 2
    assert 11 <= heights[1] - heights[0] < 20
    domain = panel["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert heights[0] == pytest.approx(panel["height"] * (domain[1] - 0.8) / (domain[1] - domain[0]))


# ---- files


@pytest.mark.parametrize("names", [("edu",), ("sex", "edu"), ("age", "edu"), ("sex", ODD, "edu")])
def test_pictures_are_drawn(made, tmp_path, names):
    for about in ("table", "population"):  # other errors, other pictures
        save_chart(made.crosstab(*names, about=about).chart(), tmp_path / f"{about}.png")
    table, population = ((tmp_path / f"{about}.png").read_bytes() for about in ("table", "population"))
    assert table.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(table) > 10_000  # an empty canvas of this size takes less than 3,000
    assert table != population


@pytest.mark.parametrize("names", [(ODD,), (ODD, "sex"), (ODD, "age"), (ODD, "sex", "edu")])
def test_odd_names_and_labels_arrive_in_the_picture(made, tmp_path, names):
    save_chart(made.crosstab(*names).chart(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    text = text.replace("&quot;", '"').replace("&apos;", "'").replace("&lt;", "<").replace("&gt;", ">")
    for label in (ODD, "</script>", "z:Q", "b c", "Counts from 4,000 released rows"):
        assert label in text
    assert ("(missing)" in text) == ("edu" in names)


def test_a_page_loads_nothing_and_no_label_ends_its_script(made, tmp_path):
    save_chart(made.crosstab(ODD).chart(), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=[\"']?(https?:)?//", page)
    spec = json.loads(re.search(r"const spec = (.*);\n", scripts[1]).group(1))
    assert "</script>" in {row["a0"] for row in max(spec["datasets"].values(), key=len)}
    assert '"editor": false' in scripts[1]  # nothing in the menu sends the chart elsewhere


def test_the_ending_decides_and_others_are_refused(made, tmp_path):
    chart = made.crosstab("edu").chart()
    save_chart(chart, str(tmp_path / "a.JSON"))
    assert json.loads((tmp_path / "a.JSON").read_text())["$schema"].startswith("https://vega.github.io")
    for name in ("a.gif", "a", ".png"):
        with pytest.raises(pk.InputError, match=r"must end in \.png, \.svg, \.pdf, \.html, \.json"):
            save_chart(chart, tmp_path / name)
    assert os.listdir(tmp_path) == ["a.JSON"]


def test_nothing_is_overwritten(made, tmp_path):
    chart = made.crosstab("edu").chart()
    (tmp_path / "a.svg").write_text("mine")
    (tmp_path / "b.svg").symlink_to(tmp_path / "absent")
    for name in ("a.svg", "b.svg"):
        with pytest.raises(pk.InputError, match="exists already and is never overwritten"):
            save_chart(chart, tmp_path / name)
    with pytest.raises(pk.InputError, match="its folder does not exist"):
        save_chart(chart, tmp_path / "absent" / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "mine"


def test_a_file_that_appears_meanwhile_is_not_overwritten(made, tmp_path):
    chart = made.crosstab("edu").chart()

    class Slow:
        def to_json(self, **more):
            (tmp_path / "a.json").write_text("mine")
            return chart.to_json(**more)

    with pytest.raises(pk.InputError, match="exists already"):
        save_chart(Slow(), tmp_path / "a.json")
    assert os.listdir(tmp_path) == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "mine"


def test_a_failing_disk_leaves_nothing_behind(made, tmp_path, monkeypatch):
    class Full(io.FileIO):
        def write(self, content):
            super().write(content[:10])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("pkanon._files.open", Full, raising=False)
    with pytest.raises(pk.EnvironmentFailure, match="No space left on device"):
        save_chart(made.crosstab("edu").chart(), tmp_path / "a.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_an_absent_package_is_reported_with_what_to_install(package, tmp_path):
    program = f"""
import sys
sys.modules["{package}"] = None
import pkanon as pk
schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
import polars as pl
made = pk.release(pl.DataFrame({{"sex": ["F", "M"] * 50}}), pk.plan(schema, records=100, k=2), randomness=pk.Seeded(1))
try:
    chart = made.crosstab("sex").chart()
    from pkanon._results.charts import save_chart
    save_chart(chart, r"{tmp_path / "a.png"}")
except pk.EnvironmentFailure as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert 'install the extra "charts"' in done.stdout
    assert os.listdir(tmp_path) == []
