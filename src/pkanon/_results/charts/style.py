"""The look of all charts: axes, legends, headings, colours and points."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import altair as alt

Chart: TypeAlias = alt.LayerChart | alt.FacetChart
INK, PALE_INK, GRID = "#333333", "#666666", "#dddddd"
COUNT = ",~f"
"""Thousands separators, decimals where there are any, never an exponent."""
CHARACTER = 6.2
"""Pixels that a character of a label takes on average, at 11 pixels of height."""
_LINE = 5.1
"""The same for the caption, whose lines are long enough to be close to the average."""


def heading(title: str, caption: str, notes: Sequence[str], width: float) -> alt.TitleParams:
    """A title with the caption and reading notes under it, in lines that fit ``width`` pixels."""
    room = int(min(max(width, 480), 900) / _LINE)
    return alt.TitleParams(
        text=_lines(title, int(room * 0.65)),
        subtitle=[line for text in (caption[:1].upper() + caption[1:], *notes) for line in _lines(text, room)],
        anchor="start",
        frame="bounds",
        fontSize=15,
        subtitleFontSize=11,
        subtitleLineHeight=14,
        subtitlePadding=5,
        subtitleColor=PALE_INK,
        offset=14,
    )


def _lines(text: str, room: int) -> list[str]:
    """As few lines as fit, and of similar length: no lonely last word."""
    lines = textwrap.wrap(text, room, break_on_hyphens=False)
    for narrower in range(len(text) // max(len(lines), 1) + 1, room):
        even = textwrap.wrap(text, narrower, break_on_hyphens=False)
        if len(even) <= len(lines):
            return even
    return lines


def axis(**more: Any) -> alt.Axis:
    """An axis in the style of all charts; labels are cut where they would take over the chart."""
    style: dict[str, Any] = {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelLimit": 260,
        "gridColor": GRID,
        "domainColor": PALE_INK,
        "tickColor": PALE_INK,
    }
    return alt.Axis(**(style | more))


ABOVE: dict[str, Any] = {"titleAngle": 0, "titleAlign": "right", "titleBaseline": "bottom", "titleX": -6, "titleY": -6}
"""The title of an axis of labels stands above them, to be read without turning the head: beside long labels Vega
would print it over them, and beside few rows it would be longer than the axis."""


def powers(field: str, title: str, values: Sequence[float]) -> alt.Y:
    """A log scale between whole powers of ten, with room for all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return alt.Y(
        field=field,
        type="quantitative",
        title=title,
        scale=alt.Scale(type="log", domain=[10.0**low, 10.0 ** max(high, low + 1)], nice=False),
        axis=axis(
            values=[10.0**power for power in range(low, max(high, low + 1) + 1)],
            labelExpr="format(datum.value, datum.value >= 1 ? ',.0f' : '.8~f')",
        ),
    )


def panel(text: str) -> alt.TitleParams:
    """The title of one of several panels."""
    return alt.TitleParams(text=text, anchor="start", fontSize=12, fontWeight="normal", color=INK)


def order(labels: Sequence[str]) -> dict[str, Any]:
    """Labels in this order. As a domain: a list under ``sort`` becomes one expression, which a thousand labels break."""
    return {"sort": None, "scale": alt.Scale(domain=list(labels))}


def legend(**more: Any) -> alt.Legend:
    """A legend in the style of all charts."""
    style: dict[str, Any] = {"labelFontSize": 11, "titleFontSize": 12, "labelLimit": 260, "titleLimit": 260}
    return alt.Legend(**(style | more))


def finite(value: float | None) -> float | None:
    """A number as JSON can hold it: None instead of NaN and the infinities."""
    return value if value is not None and math.isfinite(value) else None


def dots(base: alt.Chart, names: Sequence[str], ranges: Mapping[Any, Sequence[str]], title: str) -> Any:
    """Points of several series, told apart by stroke, fill and shape (``ranges``), with one legend for all three."""
    box = legend(title=title, symbolSize=70, symbolStrokeWidth=1.8, columns=1)
    return base.mark_point(size=55, strokeWidth=1.8, opacity=1).encode(
        *(
            channel(
                field="series",
                type="nominal",
                sort=list(names),
                scale=alt.Scale(domain=list(names), range=list(values)),
                legend=box,
            )
            for channel, values in ranges.items()
        )
    )
