"""How often an adversary's guesses are right against how sure she was of them, and the line that nobody may cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from ..chart_data import Confidence
from .style import INK, PALE_INK, Chart, axis, heading

_BLUE, _RED = "#0072B2", "#D55E00"
WIDTH, HEIGHT = 440, 340
LABEL = "format(datum.value, datum.value >= 0.01 ? '~%' : '.6~%')"


def confidence_chart(points: Sequence[Confidence], line: float, highest: float, rows: int) -> Chart:
    """One point for each bin of guesses; ``line`` is 1/k, ``highest`` the highest confidence in a release of ``rows`` rows.

    Both axes are logarithmic, so a share of 0 is drawn as the lower end of its bar.
    """
    seen = [v for point in points for v in (point.stated, point.high, point.low) if v > 0]
    low = 10.0 ** math.floor(math.log10(min([*seen, line, 1 / rows])))
    high = 10.0 ** math.ceil(math.log10(max([*seen, line, highest])))
    values = [
        {
            "stated": point.stated,
            "hit_rate": point.hit_rate if point.hit_rate >= low else None,
            "low": max(point.low, low),
            "high": max(point.high, low),
            "guesses": point.guesses,
        }
        for point in points
    ]
    ticks = [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]

    def scaled(channel: Any, field: str, title: str) -> Any:
        return channel(
            field=field,
            type="quantitative",
            title=title,
            scale=alt.Scale(type="log", domain=[low, high], nice=False),
            axis=axis(values=ticks, labelExpr=LABEL, gridOpacity=0.5),
        )

    stated, right = "stated confidence", "share of guesses that were right"
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_rule(color=_BLUE, strokeWidth=2)
        .encode(
            x=scaled(alt.X, "stated", stated),
            y=scaled(alt.Y, "low", right),
            y2=alt.Y2(field="high"),
        )
    )
    dots = (
        alt.Chart(alt.InlineData(values=[value for value in values if value["hit_rate"] is not None]))
        .mark_point(color=_BLUE, filled=True, size=60, opacity=1)
        .encode(
            x=scaled(alt.X, "stated", stated),
            y=scaled(alt.Y, "hit_rate", right),
            tooltip=[alt.Tooltip(field=name, type="quantitative") for name in ("stated", "hit_rate", "guesses")],
        )
    )
    even = (
        alt.Chart(alt.InlineData(values=[{"stated": low, "right": low}, {"stated": high, "right": high}]))
        .mark_line(color=PALE_INK, strokeDash=[2, 3])
        .encode(x=scaled(alt.X, "stated", stated), y=scaled(alt.Y, "right", right))
    )
    limit = alt.Chart(alt.InlineData(values=[{"line": line}]))
    across = limit.mark_rule(color=_RED, strokeWidth=2).encode(y=scaled(alt.Y, "line", right))
    upright = limit.mark_rule(color=_RED, strokeWidth=2).encode(x=scaled(alt.X, "line", stated))
    name = (
        alt.Chart(alt.InlineData(values=[{"x": low, "y": line, "text": "1/k"}]))
        .mark_text(align="left", dx=6, dy=-7, color=_RED, fontSize=12)
        .encode(x=scaled(alt.X, "x", stated), y=scaled(alt.Y, "y", right), text=alt.Text(field="text", type="nominal"))
    )
    mark = (
        alt.Chart(alt.InlineData(values=[{"stated": highest, "y": low}]))
        .mark_point(shape="triangle-up", color=INK, filled=True, size=90, opacity=1, yOffset=-6)
        .encode(x=scaled(alt.X, "stated", stated), y=scaled(alt.Y, "y", right))
    )
    head = heading(
        "How sure an adversary is, and how often she is right",
        f"Release of {rows:,} rows; points are guesses in rehearsals, by confidence, with 95% intervals",
        [
            "On the dotted line confidence and hits agree. The promise: nothing lies beyond the lines 1/k. "
            "Triangle: the highest confidence in the release itself."
        ],
        WIDTH,
    )
    return alt.layer(even, across, upright, name, bars, dots, mark).properties(width=WIDTH, height=HEIGHT, title=head)
