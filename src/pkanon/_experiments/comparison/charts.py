"""Ways of publishing against k: one panel for each measure.

Ways differ by colour (Okabe and Ito's), by shape, and by filled and hollow points, so that everything can be told apart in
grey. Dotted lines are what to compare with; they are named where they end.
"""

from __future__ import annotations

from typing import Any, Literal

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
_RED, _BLUE, _GREEN = "#D55E00", "#0072B2", "#009E73"
WAYS = {
    "mondrian": (_RED, "square", True, "Mondrian, all generalised"),
    "mondrian as-is": (_RED, "square", False, "Mondrian, target as it is"),
    "equal-rho inverse": (_BLUE, "circle", True, "equal-rho (the paper), inverse"),
    "equal-rho simplex": (_BLUE, "circle", False, "equal-rho (the paper), simplex"),
    "equal-rho": (_BLUE, "circle", True, "equal-rho (the paper)"),
    "optimal inverse": (_GREEN, "triangle-up", True, "optimal, inverse"),
    "optimal simplex": (_GREEN, "triangle-up", False, "optimal, simplex"),
    "optimal": (_GREEN, "triangle-up", True, "optimal"),
}
WIDTH, HEIGHT = 340, 230
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
        scale=alt.Scale(type="log", domain=[ks[0] / 1.5, ks[-1] * 1.5], nice=False),
        axis=axis(values=ks, format=",", grid=False, labelFlush=False, labelOverlap=True),
    )  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows.to_dicts()))
    layers = _references(beside, x, y, "right" if linear else "left")
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
    """Lines to compare with: points of each, and a name where it has room: errors meet on the right, shares on the left."""
    lines = [(row["way"], [(k, row["value"]) for k in ks]) for row in part.filter(pl.col("k").is_null()).to_dicts()]
    if measure in ("linkage", "linkage_highest"):
        lines.append(("1/k", [(k, 1 / k) for k in ks]))
    return [
        {"k": k, "value": value, "line": name, "label": name if k == (ks[-1] if measure in LINEAR else ks[0]) else None}
        for name, points in lines
        for k, value in points
    ]


def _references(rows: list[dict[str, Any]], x: alt.X, y: alt.Y, side: Literal["left", "right"]) -> list[Any]:
    if not rows:
        return []
    base = alt.Chart(alt.InlineData(values=rows))
    line = base.mark_line(color=INK, strokeDash=[1, 3], strokeWidth=1.4).encode(
        x=x, y=y, detail=alt.Detail(field="line", type="nominal")
    )
    name = base.transform_filter("datum.label != null").mark_text(
        align=side, dy=-6, dx=8 if side == "right" else -8, fontSize=10, color=PALE_INK
    )
    return [line, name.encode(x=x, y=y, text=alt.Text(field="label", type="nominal"))]


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
