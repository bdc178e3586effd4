"""Lines with their errors: trends over an attribute whose values have an order.

One line has an error band. With a second attribute there is a line in each of its colours; error bars side by side can be
told apart, bands over each other cannot. A value outside the order (missing, unlisted) is a point by itself: no line leads
to it. A point that cannot be told from zero is hollow.
"""

from __future__ import annotations

from typing import Any

import altair as alt

from ..._errors import InputError
from .bars import COLOURS, colours
from .cells import CLEAR, Cells
from .style import COUNT, INK, Chart, axis, heading, order

_HEIGHT, _WIDTH, _WIDEST = 300, 440, 860
"""Pixels."""


def line(cells: Cells, caption: str) -> Chart:
    """A line of one attribute, or one for each value of a second."""
    main = _along(cells)
    group = None if len(cells.sizes) == 1 else 1 - main
    if group is not None and cells.sizes[group] > len(COLOURS):
        raise InputError(
            f"A chart can tell {len(COLOURS)} lines apart, and '{cells.names[group]}' has {cells.sizes[group]} values; "
            "ask for the kind 'heat', or tabulate fewer values."
        )
    labels = cells.labels[main]
    apart = set(cells.apart[main])
    rows = [row | {"apart": row[f"a{main}"] in apart} for row in cells.rows]
    fits = cells.width(main) + 8 <= _WIDEST / len(labels)
    place = alt.X(
        field=f"a{main}",
        type="nominal",
        **order(labels),
        title=cells.names[main],
        axis=axis(labelAngle=0 if fits else -45, ticks=False, labelOverlap=False if len(labels) <= 80 else "parity"),
    )

    def height(field: str) -> Any:
        return alt.Y(field=field, type="quantitative", title=cells.measure, axis=axis(format=COUNT, tickCount=6))

    base = alt.Chart(alt.InlineData(values=rows)).encode(x=place, tooltip=cells.tooltip())
    if group is not None:
        side = alt.XOffset(
            field=f"a{group}", type="nominal", sort=None, scale=alt.Scale(domain=list(cells.labels[group]), padding=1.2)
        )
        base = base.encode(xOffset=side)
    ordered = base.transform_filter("!datum.apart")
    colour = colours(cells, group)
    ends = {"y": height("low"), "y2": alt.Y2(field="high")}
    hollow = alt.when(f"datum.status === '{CLEAR}'").then(colour).otherwise(alt.value("white"))
    barred = base.transform_filter("datum.apart") if group is None else base
    layers = [
        *([ordered.mark_area(opacity=0.18, line=False).encode(**ends, color=colour)] if group is None else []),
        ordered.mark_line(strokeWidth=2).encode(y=height("estimate"), color=colour),
        barred.mark_rule(strokeWidth=1.3).encode(**ends, color=colour),
        base.mark_point(size=45, strokeWidth=1.8, opacity=1).encode(y=height("estimate"), stroke=colour, fill=hollow),
        *_marks(base, height),
        alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=INK).encode(y=alt.datum(0)),
    ]
    width = max(_WIDTH, min(_WIDEST, round((cells.width(main) + 8) * len(labels)))) if fits else _WIDEST
    reading = f"{'Band' if group is None else 'Bars'}: {100 * cells.level:g}% intervals."
    reading += " Hollow: cannot be told from zero." if cells.unclear else ""
    return alt.layer(*layers).properties(
        width=width,
        height=_HEIGHT,
        title=heading(cells.title, caption, [reading, *cells.notes], width + 60),
        view=alt.ViewBackground(stroke=None),
    )


def _along(cells: Cells) -> int:
    """The attribute along which lines go: the one whose values have an order; of two the longer one."""
    able = [axis for axis, ordered in enumerate(cells.ordered) if ordered]
    if not able:
        names = " and ".join(f"'{name}'" for name in cells.names)
        raise InputError(
            f"A line joins values in their order, and {names} {'has' if len(cells.names) == 1 else 'have'} none "
            "(ordered = true in the schema declares one); ask for the kind 'bars'."
        )
    return max(able, key=lambda axis: cells.sizes[axis])


def _marks(base: alt.Chart, height: Any) -> list[alt.Chart]:
    """The marks of flags, above their points."""
    flagged = base.transform_filter("datum.marks !== ''")
    return [
        flagged.mark_text(dy=-10, fontSize=12).encode(y=height("anchor"), text=alt.Text(field="marks", type="nominal"))
    ]
