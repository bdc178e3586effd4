"""Heat maps of two attributes, or of three with one panel per value of the attribute that has fewest.

Colour is the estimate, from zero up: a negative estimate has the colour of zero. A heat map hides errors unless it
shows them on purpose. With few cells each one has its numbers printed, "± standard error" included; with many, a
square shrinks as its error grows relative to its estimate, down to a hollow dot for a cell that cannot be told from
zero. A small cross is a cell that cannot occur.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from .cells import CLEAR, NEAR, SMALL, Cells
from .style import ABOVE, CHARACTER, COUNT, INK, PALE_INK, Chart, axis, heading, legend, order

PRINTED_CELLS = 100
_EXTENT = 560
"""Pixels that the longer side aims at."""
_SMALLEST = 0.25
"""Side of the smallest square as a share of the largest; it stands for a cell whose error drowns its estimate."""
_UNCLEAR = 0.5
"""The relative error from which on squares are smallest: a 95% interval then reaches zero, more or less."""
_PAGE = 1000
"""Pixels: panels side by side up to this width."""


def heat(cells: Cells, caption: str) -> Chart:
    """A heat map of two attributes or three."""
    printed = len(cells.rows) <= PRINTED_CELLS
    facet = None if len(cells.sizes) == 2 else min((2, 1, 0), key=lambda i: cells.sizes[i])
    first, second = (i for i in range(len(cells.sizes)) if i != facet)
    # long labels read best beside their rows; printed numbers make cells wide, so that many of them go downwards
    tall = cells.sizes.__getitem__ if printed else cells.width
    y, x = (second, first) if tall(second) > 1.5 * tall(first) else (first, second)
    step_x, step_y = _steps(cells, x, y, printed=printed)
    width, height = step_x * cells.sizes[x], step_y * cells.sizes[y]

    base = alt.Chart().encode(
        x=_place(alt.X, cells, x, step_x, labelAngle=0 if cells.width(x) <= step_x else -45),
        y=_place(alt.Y, cells, y, step_y, **ABOVE),
        tooltip=cells.tooltip(),
    )
    layers = _layers(base, cells, step_x, step_y, printed=printed)
    size = {"width": width, "height": height, "view": alt.ViewBackground(stroke=None)}
    title, notes = cells.title, [*_notes(cells, printed=printed), *cells.notes]
    if facet is None:
        heads = heading(title, caption, notes, width + cells.width(y))
        return alt.layer(*layers, data=cells.data).properties(**size, title=heads)
    columns = _columns(cells.sizes[facet], width)
    heads = heading(title, caption, notes, columns * (width + 20) + cells.width(y))
    return _panels(layers, cells, facet, size).properties(columns=columns, title=heads)


def _layers(base: alt.Chart, cells: Cells, step_x: float, step_y: float, *, printed: bool) -> list[alt.Chart]:
    top = max((row["estimate"] or 0 for row in cells.rows), default=0)
    scheme = alt.SchemeParams(name="yellowgreenblue", extent=[0.12, 1])  # without the palest: it is lost on white
    colour = alt.Color(
        field="estimate",
        type="quantitative",
        title=cells.measure,
        scale=alt.Scale(scheme=scheme, domain=[0, top if top > 0 else 1], clamp=True),
        legend=legend(format=COUNT),
    )
    possible = base.transform_filter("!datum.impossible")
    clear = possible.transform_filter(f"datum.status === '{CLEAR}'")
    near = base.transform_filter(f"datum.status === '{NEAR}'")
    step = min(step_x, step_y)
    layers = _numbers(possible, colour, top) if printed else _squares(clear, colour, step)
    # in the middle of a square, in the corner of a cell with numbers
    right, up, dot = (step_x / 2 - 8, 8 - step_y / 2, 6) if printed else (0, 0, step / 4)
    cross = base.transform_filter("datum.impossible")
    # on numbers every mark stands in the other corner; squares leave room for that of a small group alone
    flagged = base.transform_filter("datum.marks !== ''" if printed else f"datum.status === '{SMALL}'")
    marks = flagged.mark_text(
        xOffset=-right,
        yOffset=up,
        color=INK if printed else PALE_INK,
        fontSize=12 if printed else min(12, max(5, step / 2)),
    )
    return [
        *layers,
        near.mark_point(
            shape="circle",
            fill="white",
            stroke=PALE_INK,
            strokeWidth=min(1, dot / 4),
            size=dot**2,
            opacity=1,
            xOffset=right,
            yOffset=up,
        ),
        marks.encode(text=alt.Text(field="marks", type="nominal")),
        cross.mark_text(text="×", color=PALE_INK, fontSize=min(16, max(5, step / 2))),
    ]


def _columns(count: int, width: float) -> int:
    """How many panels stand side by side. The number divides ``count``: a place without a panel would still show an axis."""
    most = max(1, int(_PAGE / (width + 20)))
    return max(n for n in range(1, count + 1) if n <= most and count % n == 0)


def _panels(layers: list[alt.Chart], cells: Cells, facet: int, size: dict[str, Any]) -> alt.FacetChart:
    """One panel per value, with the attribute's name over each."""
    name = cells.names[facet]
    rows = [row | {"panel": f"{name}: {row[f'a{facet}']}"} for row in cells.rows]
    header = alt.Header(
        labelFontSize=12,
        labelFontWeight="bold",
        labelLimit=size["width"],
        labelAnchor="start",
        labelPadding=2,
        title=None,
    )
    panels = [f"{name}: {label}" for label in cells.labels[facet]]
    chart = alt.LayerChart(data=alt.InlineData(values=rows), layer=layers)
    return chart.properties(**size).facet(alt.Facet(field="panel", type="nominal", sort=panels, header=header))


def _place(channel: Any, cells: Cells, index: int, step: float, **more: Any) -> Any:
    return channel(
        field=f"a{index}",
        type="nominal",
        **order(cells.labels[index]),
        title=cells.names[index],
        axis=axis(ticks=False, domain=False, labelOverlap=False if step >= 12 else "parity", **more),
    )


def _steps(cells: Cells, x: int, y: int, *, printed: bool) -> tuple[float, float]:
    """Pixels of a cell."""
    if printed:
        longest = max(len(f"± {row[field] or 0:,.0f}") for row in cells.rows for field in ("estimate", "std_error"))
        return round(max(56, CHARACTER * longest + 22)), 38
    step = min(26, max(4, round(_EXTENT / max(cells.sizes[x], cells.sizes[y]))))
    return step, step


def _numbers(base: alt.Chart, colour: alt.Color, top: float) -> list[alt.Chart]:
    """The estimate and its standard error on a coloured cell."""
    ink = alt.when(f"datum.estimate > {0.5 * top}").then(alt.value("white")).otherwise(alt.value(INK))
    # below a hundred people the first decimal is worth reading
    format = ",.0f" if top >= 100 else ",.1f"
    value = base.transform_calculate(printed=f"isValid(datum.estimate) ? format(datum.estimate, '{format}') : 'n/a'")
    error = base.transform_calculate(
        error=f"isValid(datum.std_error) ? '± ' + format(datum.std_error, '{format}') : ''"
    )
    return [
        base.mark_rect(stroke="white", strokeWidth=1).encode(color=colour),
        value.mark_text(dy=-6, fontSize=12).encode(text=alt.Text(field="printed", type="nominal"), color=ink),
        error.mark_text(dy=8, fontSize=10).encode(text=alt.Text(field="error", type="nominal"), color=ink),
    ]


def _squares(base: alt.Chart, colour: alt.Color, step: float) -> list[alt.Chart]:
    """Squares that shrink as the relative error grows."""
    size = alt.Size(
        field="relative_error",
        type="quantitative",
        title=["standard error", "/ estimate"],
        scale=alt.Scale(domain=[0, _UNCLEAR], range=[step**2, (_SMALLEST * step) ** 2], clamp=True),
        legend=legend(
            values=[0, 0.1, 0.25, _UNCLEAR],
            format="%",
            symbolType="square",
            symbolFillColor=PALE_INK,
            symbolStrokeWidth=0,
            labelExpr=f"datum.value < {_UNCLEAR} ? datum.label : datum.label + ' or more'",
        ),
    )
    return [base.mark_square(opacity=1).encode(color=colour, size=size)]


def _notes(cells: Cells, *, printed: bool) -> list[str]:
    notes = [] if printed else ["The smaller a square, the larger its error relative to the estimate."]
    if cells.unclear:
        notes.append("Hollow dot: cannot be told from zero.")
    if any(row["impossible"] for row in cells.rows):
        notes.append("Cross: cannot occur.")
    return [" ".join(notes)] if notes else []
