"""How every table of one and two attributes reads: a heat map of all pairs, single attributes on its diagonal.

Four levels, four steps of one colour from dark to white: they differ in lightness, so that they can be told apart without
seeing colours, and in print. With few attributes the squares hold the errors too.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ..._plan import Readability, Reading, level_of
from .style import PALE_INK, Chart, axis, finite, heading, legend, order

COLOURS = {"good": "#17406d", "fair": "#6d97c2", "poor": "#cfdeed", "not readable": "#ffffff"}
MEANINGS = {
    "good": "good: error below 10%",
    "fair": "fair: below 30%",
    "poor": "poor: below 100%",
    "not readable": "not readable: 100% or more",
}
PRINTED = 16
"""With more attributes than this the errors are not printed."""
_EXTENT = 760
"""Pixels of a side, about, when they are not."""
_STEP, _LEAST = 44, 13
"""Pixels of a square with a number in it, and of the smallest that has a label of its own."""


def readability_chart(readable: Readability) -> Chart:
    """A heat map of how all tables of two attributes read; single attributes are on the diagonal.

    Tables of more attributes are left out.

    Parameters
    ----------
    readable
        What to draw: the result of ``plan.readable()``.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9)])
    >>> chart = pk.readability_chart(pk.plan(schema, records=1_000, k=20).readable())
    >>> "not readable" in chart.to_json()
    True
    """
    names = [table.attributes[0] for table in readable.tables if len(table.attributes) == 1]
    place = {name: number for number, name in enumerate(names)}
    rows = [_row(table, place) for table in readable.tables if len(table.attributes) <= 2]
    printed = len(names) <= PRINTED
    step = _STEP if printed else max(_LEAST, round(_EXTENT / len(names)))
    side = step * len(names)

    small = {} if step > _LEAST + 2 else {"labelFontSize": 10}
    labels: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 200, "labelOverlap": False} | small
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(field="first", type="nominal", **order(names), axis=axis(**labels, labelAngle=-90), title=None),
        y=alt.Y(field="second", type="nominal", **order(names), axis=axis(**labels), title=None),
        tooltip=[
            alt.Tooltip(field="table", type="nominal", title="table"),
            alt.Tooltip(field="reads", type="nominal", title="reads"),
            alt.Tooltip(field="error", type="quantitative", format=".3~g", title="error"),
            alt.Tooltip(field="cells", type="quantitative", format=",", title="cells"),
        ],
    )
    squares = base.mark_rect(stroke="#9aa5b1", strokeWidth=0.6).encode(
        color=alt.Color(
            field="reads",
            type="nominal",
            title=None,
            scale=alt.Scale(domain=list(MEANINGS.values()), range=list(COLOURS.values())),
            legend=legend(
                orient="top",
                direction="horizontal",
                columns=2 if side < 700 else 4,
                symbolType="square",
                symbolSize=160,
                symbolStrokeWidth=0.6,
                symbolStrokeColor="#9aa5b1",
                columnPadding=24,
            ),
        )
    )
    layers = [squares]
    if printed:
        ink = (
            alt.when(alt.datum.level == "good")
            .then(alt.value("white"))
            .when(alt.datum.level == "not readable")
            .then(alt.value(PALE_INK))
            .otherwise(alt.value("black"))
        )
        layers.append(base.mark_text(fontSize=10).encode(text=alt.Text(field="text", type="nominal"), color=ink))
    notes = ["On the diagonal: the attribute alone."]
    if printed:
        notes.append("Numbers are errors in percent.")
    if not all(table.exact for table in readable.tables):
        notes.append("Some errors are upper bounds, as they depend on the data.")
    caption = (
        f"Predicted error of each table of two attributes, {readable.records:,} records: absolute errors of all cells, "
        "added up, as a share of the records"
    )
    title = heading("Which tables can be read", caption, [" ".join(notes)], side + 120)
    return alt.layer(*layers).properties(width=side, height=side, title=title, view=alt.ViewBackground(stroke=None))


def _row(table: Reading, place: dict[str, int]) -> dict[str, Any]:
    """One square of the lower triangle: the earlier attribute across, the later one down."""
    first, second = sorted((table.attributes[0], table.attributes[-1]), key=place.__getitem__)
    return {
        "first": first,
        "second": second,
        "table": table.name,
        "reads": MEANINGS[table.level],
        "level": table.level,
        "error": finite(table.l1),
        "cells": min(table.cells, 2**53),
        "text": _percent(table.l1),
    }


def _percent(l1: float) -> str:
    """An error in percent, in as few letters as say enough."""
    if not math.isfinite(l1):
        return "–"
    if l1 >= 10:
        return ">999"
    tenths = l1 < 0.1
    text = f"{100 * l1:.{int(tenths)}f}"
    if level_of(float(text) / 100) == level_of(l1):
        return text
    return (
        f"{math.floor(1000 * l1) / 10:.1f}" if tenths else f"{math.floor(100 * l1)}"
    )  # 29.7% is fair: not shown as 30
