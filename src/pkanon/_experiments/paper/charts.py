"""The figures of the paper: error and epsilon against what is varied, one chart of two panels each.

Estimators differ by colour (Okabe and Ito's) and shape, designs by filled and hollow points and by dashes, so that they
differ in grey too. Thin grey lines are predictions made before any data exist.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from ..._results.charts import INK, PALE_INK, axis, dots, heading, legend, panel, powers, save_chart
from .measure import MODEL, MODELLED

__all__ = ["experiment_chart", "save_chart"]

TITLES = {
    "records": "Error and epsilon against the number of records",
    "attributes": "Error and epsilon against the number of attributes",
    "k": "Error and epsilon against k",
}
AXES = {"records": "records (log scale)", "attributes": "attributes", "k": "k (log scale)"}
DESIGNS = {"equal-rho": [1, 0], "optimal": [5, 3]}
METHODS = {
    "inverse": ("#0072B2", "circle"),
    "simplex": ("#E69F00", "square"),
    "em": ("#009E73", "triangle-up"),
    "model": ("#CC79A7", "diamond"),
}
WIDTH, HEIGHT = 400, 320
_NAMES = {"equal-rho": "equal-rho (the paper)", "optimal": "optimal"}


def experiment_chart(frame: pl.DataFrame, experiment: str, source: str) -> Any:
    """Two panels from the points of one experiment; ``source`` names the data."""
    part = frame.filter(pl.col("experiment") == experiment).with_columns(x=pl.col(experiment))
    cells = dict(zip(part["x"].to_list(), part["cells"].to_list()))
    wide, narrow = _across(experiment, sorted(cells), cells), _across(experiment, sorted(cells), {})
    head = heading(
        TITLES[experiment],
        f"{_fixed(part, experiment)}. Data: {source}",
        ["Points: mean of seeded releases, bars: ± one standard deviation, where wider than the point."],
        900,
    )
    return (
        alt.hconcat(_errors(part, wide), _epsilons(part, narrow), spacing=70, bounds="flush")
        .properties(title=head, background="white", padding=12)
        .configure(font="Arial, Helvetica, sans-serif")
    )


def _fixed(part: pl.DataFrame, experiment: str) -> str:
    """What is the same at all points."""
    first = part.row(0, named=True)
    words = {
        "records": f"{first['records']:,} records",
        "attributes": f"the first {first['attributes']} attributes ({first['cells']:,} cells)",
        "k": f"k = {first['k']:,}",
    }
    return ", ".join(text for name, text in words.items() if name != experiment)


def _across(experiment: str, places: list[int], cells: dict[int, int]) -> alt.X:
    """The horizontal axis, with every label; under numbers of attributes also the ``cells`` of their table, if given."""
    common: dict[str, Any] = {"field": "x", "type": "quantitative", "title": AXES[experiment]}
    style: dict[str, Any] = {"grid": False, "labelOverlap": False}
    if experiment == "attributes":
        if cells:
            labels = "{" + ", ".join(f"'{place}': '{count:,}'" for place, count in cells.items()) + "}"
            common["title"] = "attributes, and cells of their table"
            style["labelExpr"] = f"[datum.value, {labels}[datum.value]]"
        return alt.X(
            **common,
            scale=alt.Scale(domain=[places[0] - 0.4, places[-1] + 0.4], nice=False),
            axis=axis(values=places, **style),
        )
    ticks = places if experiment == "records" else [k for k in places if k in (2, 10, 100, 1_000, 10_000)]
    return alt.X(
        **common,
        scale=alt.Scale(type="log", domain=[places[0] / 1.4, places[-1] * 1.4], nice=False),
        axis=axis(values=ticks, format=",", labelFlush=False, **style),
    )


def _errors(part: pl.DataFrame, x: alt.X) -> Any:
    spread = pl.col("l1_sd").fill_null(0)
    rows = part.drop_nulls("l1").with_columns(
        low=pl.max_horizontal(pl.col("l1") - spread, pl.col("l1") / 10),  # on a log scale a bar cannot reach zero
        high=pl.col("l1") + spread,
        series=pl.col("method") + ", " + pl.col("design").replace(_NAMES),
        predicted=pl.lit("inverse, ") + pl.col("design").replace(_NAMES),
    )
    base = alt.Chart(alt.InlineData(values=rows.to_dicts()))
    values = [value for name in ("low", "high", "predicted_l1") for value in rows[name].to_list()]
    y = powers("l1", "L1 error, share of the records (log scale)", values)
    predicted = base.transform_filter("datum.method == 'inverse'").mark_line(color=PALE_INK, strokeWidth=1.2)
    dashes = alt.StrokeDash(
        field="predicted",
        type="nominal",
        scale=alt.Scale(domain=[f"inverse, {name}" for name in _NAMES.values()], range=list(DESIGNS.values())),
        legend=legend(title="predicted before any data exist", symbolType="stroke", symbolSize=400),
    )
    layers = [
        alt.Chart(alt.InlineData(values=[{"l1": 1.0}])).mark_rule(color=INK, strokeDash=[1, 3]).encode(y=y),
        predicted.encode(x=x, y=alt.Y(field="predicted_l1", type="quantitative"), strokeDash=dashes),
    ]
    for method, (colour, _) in METHODS.items():
        own = base.transform_filter(f"datum.method == '{method}'")
        layers.append(
            own.mark_rule(strokeWidth=1.4, color=colour).encode(
                x=x, y=alt.Y(field="low", type="quantitative"), y2=alt.Y2(field="high")
            )
        )
        if method != "inverse":  # its points lie on the line of the prediction
            layers += [
                own.transform_filter(f"datum.design == '{design}'")
                .mark_line(strokeDash=dash, strokeWidth=1.4, color=colour)
                .encode(x=x, y=y)
                for design, dash in DESIGNS.items()
            ]
    layers.append(_dots(base, x, y))
    return alt.layer(*layers).properties(
        width=WIDTH, height=HEIGHT, title=panel("Error (above the dotted line at 1 nothing can be read)")
    )


def _dots(base: alt.Chart, x: alt.X, y: alt.Y) -> Any:
    """The measured means, with the legend of estimators and designs."""
    pairs = [(m, d) for d in DESIGNS for m in METHODS if m != MODEL or d in MODELLED]
    series = [f"{method}, {_NAMES[design]}" for method, design in pairs]
    ranges = {
        alt.Stroke: [METHODS[method][0] for method, _ in pairs],
        alt.Fill: [METHODS[method][0] if design == "equal-rho" else "#ffffff" for method, design in pairs],
        alt.Shape: [METHODS[method][1] for method, _ in pairs],
    }
    words = ("design", "method", "note")
    numbers = ("records", "attributes", "cells", "k", "epsilon", "l1", "l1_sd", "predicted_l1")
    tooltip = [
        *(alt.Tooltip(field=name, type="nominal") for name in words),
        *(alt.Tooltip(field=name, type="quantitative") for name in numbers),
    ]
    return dots(base, series, ranges, "measured: estimator, design").encode(x=x, y=y, tooltip=tooltip)


def _epsilons(part: pl.DataFrame, x: alt.X) -> Any:
    rows = part.filter((pl.col("method") == "inverse") & (pl.col("design") == "equal-rho"))
    top = math.ceil(max(rows["epsilon"].to_list()))
    base = alt.Chart(alt.InlineData(values=rows.to_dicts())).encode(
        x=x,
        y=alt.Y(
            field="epsilon", type="quantitative", title="epsilon (nats)",
            scale=alt.Scale(domain=[0, top], nice=False), axis=axis(tickCount=8),
        ),
    )  # fmt: skip
    lines = base.mark_line(color=INK, strokeWidth=1.4)
    points = base.mark_point(color=INK, fill=INK, size=55, opacity=1)
    return alt.layer(lines, points).properties(
        width=WIDTH * 0.85, height=HEIGHT, title=panel("Epsilon (the same for both designs)")
    )
