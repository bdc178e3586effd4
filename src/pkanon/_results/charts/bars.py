"""Bars with error bars, for one attribute or two.

The attribute with fewer values becomes the colour. Bars of cells that cannot be told from zero are paler, and a
line marks zero, as estimates may be negative. Labels are never turned: where they do not fit below standing bars,
the bars lie down.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from .cells import CLEAR, NEAR, SMALL, Cells
from .style import ABOVE, COUNT, INK, Chart, axis, heading, legend, order

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
"""Okabe and Ito's palette: distinct with any kind of colour vision; the first neighbours also differ in grey."""
_LENGTH = {"x": 520, "y": 300}
"""Pixels of the axis of numbers, lying or standing."""
_WIDEST = 860
"""Pixels: beyond this width, standing bars lie down."""
_FEW, _MANY = 8, 80
"""Fewer than _FEW bars lie down, because standing they would make a narrow chart. More than _MANY bars form a shape, and
some labels may be left out."""


def bars(cells: Cells, caption: str) -> Chart:
    """Bars of one attribute, or grouped bars of two."""
    group = None if len(cells.sizes) == 1 else min((1, 0), key=lambda i: cells.sizes[i])
    main = 0 if group is None else 1 - group
    groups = 1 if group is None else cells.sizes[group]
    standing, step = _layout(cells, main, groups)
    line, length = ("x", "y") if standing else ("y", "x")
    places: dict[str, Any] = {
        line: {
            "field": f"a{main}",
            "type": "nominal",
            **order(cells.labels[main]),
            "title": cells.names[main],
            "axis": axis(
                labelAngle=0,
                ticks=False,
                labelOverlap="parity" if cells.sizes[main] > _MANY else False,
                **({} if standing else ABOVE),
            ),
        }
    }
    if group is not None:
        places[f"{line}Offset"] = {"field": f"a{group}", "type": "nominal", **order(cells.labels[group])}
    people = {"type": "quantitative", "title": cells.measure, "axis": axis(format=COUNT, tickCount=6)}

    base = alt.Chart(cells.data).encode(tooltip=cells.tooltip())
    bar = base.mark_bar().encode(
        **_channels(places | {length: people | {"field": "estimate"}}),
        color=colours(cells, group),
        opacity=_opacity(cells),
    )
    error = base.mark_rule(color=INK, strokeWidth=1.3 if step >= 6 * groups else 0.6).encode(
        **_channels(places | {length: people | {"field": "low"}, f"{length}2": {"field": "high"}})
    )
    zero = alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=INK).encode(**{length: alt.datum(0)})
    size = {"width": 0, "height": 0} | {_SIDE[line]: round(step * cells.sizes[main]), _SIDE[length]: _LENGTH[length]}
    wide = size["width"] + (60 if standing else cells.width(main))
    beside: dict[str, Any] = {"dx": 9} if not standing else {"dy": -9}
    flagged = base.transform_filter("datum.marks !== ''").mark_text(fontSize=12, color=INK, **beside)
    marks = flagged.encode(
        **_channels(places | {length: people | {"field": "high"}}), text=alt.Text(field="marks", type="nominal")
    )
    return alt.layer(bar, error, marks, zero).properties(
        **size,
        title=heading(cells.title, caption, cells.notes, wide),
        view=alt.ViewBackground(stroke=None),
    )


_SIDE = {"x": "width", "y": "height"}
_CHANNELS: dict[str, Any] = {
    "x": alt.X,
    "x2": alt.X2,
    "xOffset": alt.XOffset,
    "y": alt.Y,
    "y2": alt.Y2,
    "yOffset": alt.YOffset,
}


def _channels(settings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: _CHANNELS[name](**values) for name, values in settings.items()}


def _layout(cells: Cells, main: int, groups: int) -> tuple[bool, float]:
    """Whether bars stand, and pixels from one label to the next."""
    count, width = cells.sizes[main], cells.width(main)
    if count > _MANY:
        step = max(1.5, _WIDEST / count) * max(1, groups / 2)
        return width <= 60, step
    step = max(width + 8, 9 * groups + 6)
    if count >= _FEW and step * count <= _WIDEST:
        return True, max(step, 400 / count)
    return False, 22 if groups == 1 else 11 * groups + 8


def colours(cells: Cells, group: int | None) -> Any:
    """A colour for each value of the attribute that groups; one for all if there is none."""
    if group is None:
        return alt.value(COLOURS[0])
    labels = list(cells.labels[group])
    return alt.Color(
        field=f"a{group}",
        type="nominal",
        sort=labels,
        title=cells.names[group],
        scale=alt.Scale(domain=labels, range=list(COLOURS[: len(labels)])),
        legend=legend(),
    )


def _opacity(cells: Cells) -> Any:
    """Paler bars with their legend; no legend if there are none."""
    seen = {row["status"] for row in cells.rows}
    if seen <= {CLEAR}:
        return alt.value(1)
    shades = {CLEAR: 1.0, NEAR: 0.35, SMALL: 0.12}
    domain = [status for status in shades if status in seen | {CLEAR}]
    scale = alt.Scale(domain=domain, range=[shades[status] for status in domain])
    return alt.Opacity(
        field="status", type="nominal", title="estimate", scale=scale, legend=legend(symbolType="square")
    )
