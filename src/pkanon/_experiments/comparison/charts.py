"""Ways of publishing against k: one panel for each measure.

Ways differ by colour (Okabe and Ito's), by shape, and by filled and hollow points, so that they differ in grey too.
Dotted lines are references; their names stand in the margin on the right.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from ..._results.charts import INK, PALE_INK, axis, dots, heading, panel, powers, save_chart

__all__ = ["FIGURES", "comparison_chart", "save_chart"]

FIGURES = {
    "tables": ("Error of tables", ("l1_1", "l1_2", "l1_3", "l1_first4")),
    "queries": ("Error of queries and of correlations", ("query_error", "query_relative", "cramers_v")),
    "classifier": ("A classifier trained on what is published", ("accuracy", "log_loss")),
    "risks": ("What an adversary learns about single people", ("linkage", "linkage_highest", "inference", "certain")),
}
PANELS = {
    "l1_1": "L1 error, tables of one attribute",
    "l1_2": "L1 error, tables of two attributes",
    "l1_3": "L1 error, tables of three attributes",
    "l1_first4": "L1 error, table of the first four attributes",
    "query_error": "Queries: mean absolute error, share of all people",
    "query_relative": "Queries met by 0.1% or more: median relative error",
    "cramers_v": "Cramér's V of all pairs: mean absolute error",
    "accuracy": "Share of new people classified right (higher is better)",
    "log_loss": "Log-loss on new people (lower is better)",
    "linkage": "Linkage: share of people whose row is picked",
    "linkage_highest": "Linkage: highest confidence in any pick",
    "inference": "Inference: share of people whose target is guessed",
    "certain": "Inference: share of people whose target is certain",
}
LINEAR = ("accuracy", "log_loss", "inference", "certain")
SHARES = ("accuracy", "inference", "certain")
_RED, _BLUE, _GREEN, _PINK = "#D55E00", "#0072B2", "#009E73", "#CC79A7"
WAYS = {
    "mondrian": (_RED, "square", True, "Mondrian, all generalised"),
    "mondrian as-is": (_RED, "square", False, "Mondrian, target as it is"),
    "equal-rho inverse": (_BLUE, "circle", True, "equal-rho (the paper), inverse"),
    "equal-rho simplex": (_BLUE, "circle", False, "equal-rho (the paper), simplex"),
    "equal-rho": (_BLUE, "circle", True, "equal-rho (the paper)"),
    "optimal inverse": (_GREEN, "triangle-up", True, "optimal, inverse"),
    "optimal simplex": (_GREEN, "triangle-up", False, "optimal, simplex"),
    "optimal model": (_PINK, "diamond", True, "optimal, model"),
    "optimal": (_GREEN, "triangle-up", True, "optimal"),
}
WIDTH, HEIGHT = 340, 230
ROOM = 1.5
"""Factor between the smallest or largest k and the edge of a panel."""
NAME_HEIGHT = 11
"""Pixels that the name of a line takes."""
MOST = 10.0
"""Larger errors are left out: from 1 on nothing can be read anyway."""


def comparison_chart(frame: pl.DataFrame, figure: str, source: str) -> Any:
    """One figure; ``source`` names the data."""
    title, measures = FIGURES[figure]
    there = set(frame.drop_nulls("k")["measure"])
    ways = [way for way in WAYS if way in set(frame.filter(pl.col("measure").is_in(measures))["way"])]
    panels = [_panel(frame, measure, ways) for measure in measures if measure in there]
    repeated = not frame["spread"].drop_nulls().is_empty()
    head = heading(
        title,
        f"Data: {source}",
        [
            "The same k for all ways; with the target as it is, for the other attributes only."
            + " Points: means of seeded releases, bars: ± one standard deviation, where wider than the point."
            * repeated
            + f" Errors above {MOST:g} are not shown." * (figure in ("tables", "queries")),
        ],
        900,
    )
    return (
        alt.concat(*panels, columns=2, spacing=36)
        .resolve_scale(x="independent", y="independent")
        .properties(title=head, background="white", padding=12)
        .configure(font="Arial, Helvetica, sans-serif")
        .configure_legend(orient="right")
    )


def _panel(frame: pl.DataFrame, measure: str, ways: list[str]) -> Any:
    part = frame.filter(pl.col("measure") == measure)
    spread = pl.col("spread").fill_null(0)
    linear = measure in LINEAR
    rows = part.drop_nulls("k").filter(pl.lit(linear) | pl.col("value").is_between(0, MOST, closed="right"))
    rows = rows.with_columns(
        low=pl.max_horizontal(pl.col("value") - spread, 0.0 if linear else pl.col("value") / 10),
        high=pl.col("value") + spread,
        series=pl.col("way").replace_strict({way: style[3] for way, style in WAYS.items()}),
    )
    ks = sorted(set(rows["k"].to_list()))
    beside = [row for row in _beside(part, measure, ks) if linear or 0 < row["value"] <= MOST]
    ends = [*rows["low"].to_list(), *rows["high"].to_list(), *(row["value"] for row in beside)]
    unit = "share" if measure.startswith("linkage") else "error"
    y = _linear(measure, ends) if linear else powers("value", f"{unit} (log scale)", ends)
    x = alt.X(
        field="k", type="quantitative", title="k (log scale)",
        scale=alt.Scale(type="log", domain=[ks[0] / ROOM, ks[-1] * ROOM], nice=False),
        axis=axis(values=ks, format=",", grid=False, labelFlush=False, labelOverlap=True),
    )  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows.to_dicts()))
    layers = _references(beside, x, y, log=not linear)
    for way in dict.fromkeys(rows["way"].to_list()):
        colour, _, filled, _ = WAYS[way]
        own = base.transform_filter(f"datum.way == '{way}'")
        layers.append(
            own.mark_line(color=colour, strokeWidth=1.4, strokeDash=[1, 0] if filled else [5, 3]).encode(x=x, y=y)
        )
        layers.append(
            own.mark_rule(color=colour, strokeWidth=1.4).encode(
                x=x, y=alt.Y(field="low", type="quantitative"), y2=alt.Y2(field="high")
            )
        )
    layers.append(_dots(base, x, y, ways))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=panel(PANELS[measure]))


def _linear(measure: str, ends: list[float]) -> alt.Y:
    room = (max(ends) - min(ends)) * 0.08 or 0.05
    low = 0.0 if measure == "certain" else max(min(ends) - room, 0.0)
    return alt.Y(
        field="value", type="quantitative", title=None,
        scale=alt.Scale(domain=[low, max(ends) + room], nice=False),
        axis=axis(tickCount=6, format="~%" if measure in SHARES else "~f"),
    )  # fmt: skip


def _beside(part: pl.DataFrame, measure: str, ks: list[int]) -> list[dict[str, Any]]:
    """Points of the reference lines."""
    across = [ks[0] / ROOM, *ks, ks[-1] * ROOM]
    lines = [(row["way"], [(k, row["value"]) for k in across]) for row in part.filter(pl.col("k").is_null()).to_dicts()]
    if measure in ("linkage", "linkage_highest"):
        lines.append(("1/k", [(k, 1 / k) for k in ks]))
    return [{"k": k, "value": value, "line": name} for name, points in lines for k, value in points]


def _references(rows: list[dict[str, Any]], x: alt.X, y: alt.Y, *, log: bool) -> list[Any]:
    """Dotted lines, with their names in the margin on the right: inside the panel they would cover points."""
    if not rows:
        return []
    line = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(color=INK, strokeDash=[1, 3], strokeWidth=1.4)
        .encode(x=x, y=y, detail=alt.Detail(field="line", type="nominal"))
    )
    ends = {row["line"]: row["value"] for row in rows}  # the last point of each line counts
    low, high = y["scale"]["domain"]
    heights = {name: _height(value, low, high, log=log) for name, value in ends.items()}
    names = [
        alt.Chart(alt.InlineData(values=[{"label": name}]))
        .mark_text(align="left", baseline="middle", dx=5, fontSize=10, color=PALE_INK)
        .encode(x=alt.value(WIDTH), y=alt.value(height), text=alt.Text(field="label", type="nominal"))
        for name, height in _apart(heights).items()
    ]
    return [line, *names]


def _height(value: float, low: float, high: float, *, log: bool) -> float:
    """Pixels from the top of a panel."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return HEIGHT * (high - value) / (high - low)


def _apart(heights: dict[str, float]) -> dict[str, float]:
    """The same heights from top to bottom, moved down where two names would overlap."""
    placed: dict[str, float] = {}
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        placed[name] = max(height, max(placed.values(), default=-NAME_HEIGHT) + NAME_HEIGHT)
    return placed


def _dots(base: alt.Chart, x: alt.X, y: alt.Y, ways: list[str]) -> Any:
    styles = [WAYS[way] for way in ways]
    names = [style[3] for style in styles]
    ranges = {
        alt.Stroke: [colour for colour, _, _, _ in styles],
        alt.Fill: [colour if filled else "#ffffff" for colour, _, filled, _ in styles],
        alt.Shape: [shape for _, shape, _, _ in styles],
    }
    tooltip = [
        alt.Tooltip(field="series", type="nominal", title="published by"),
        *(alt.Tooltip(field=name, type="quantitative") for name in ("k", "value", "spread", "epsilon")),
    ]
    return dots(base, names, ranges, "published by").encode(x=x, y=y, tooltip=tooltip)
