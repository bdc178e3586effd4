"""How strongly pairs of attributes go together: a symmetric heat map.

Correlations have a sign, Cramer's V has none; both share one scale from -1 to 1, so that equal colours mean equal
strength in every chart. The diagonal stays empty: every attribute determines itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ..chart_data import MEASURES, Pair
from ..columns import interval_title
from .style import GRID, INK, Chart, axis, finite, heading, legend, order

PRINTED = 15
"""With more attributes than this the values are not printed."""
_EXTENT = 620
"""Pixels of a side, about, when they are not."""


def correlation_chart(pairs: Sequence[Pair], level: float, remark: str = "") -> Chart:
    """A heat map of pairs of attributes, each pair listed once; attributes keep their order. ``remark`` stands under the title."""
    names = list(dict.fromkeys([*(pair.first for pair in pairs), *(pair.second for pair in pairs)]))
    rows = [row for pair in pairs for row in _rows(pair)]
    printed = len(names) <= PRINTED
    step = 48 if printed else max(8, round(_EXTENT / len(names)))
    side = step * len(names)

    labels: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 180}
    number = {"type": "quantitative", "format": ".3f"}
    fields: list[tuple[str, str, dict[str, Any]]] = [
        ("first", "first", {"type": "nominal"}),
        ("second", "second", {"type": "nominal"}),
        ("measure", "measure", {"type": "nominal"}),
        ("value", "value", number),
        ("std_error", "standard error", number),
        ("low", f"{interval_title(level)} from", number),
        ("high", f"{interval_title(level)} to", number),
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(field="first", type="nominal", **order(names), axis=axis(**labels, labelAngle=-45), title=None),
        y=alt.Y(field="second", type="nominal", **order(names), axis=axis(**labels), title=None),
        tooltip=[alt.Tooltip(field=field, title=title, **more) for field, title, more in fields],
    )
    scale = alt.Scale(scheme="redblue", domain=[-1, 1], clamp=True)
    colour = alt.Color(
        field="value",
        type="quantitative",
        title="strength",
        scale=scale,
        legend=legend(values=[-1, -0.5, 0, 0.5, 1], format=".1f"),
    )
    layers = [
        base.transform_filter("!isValid(datum.value)").mark_rect(color=GRID, stroke="white"),
        base.transform_filter("isValid(datum.value)").mark_rect(stroke="white").encode(color=colour),
    ]
    if printed:
        ink = alt.when("abs(datum.value) > 0.65").then(alt.value("white")).otherwise(alt.value(INK))
        for field, size, up in (("text", 11, -5), ("error_text", 9, 8)):
            texts = base.mark_text(fontSize=size, dy=up).encode(text=alt.Text(field=field, type="nominal"), color=ink)
            layers.append(texts)
    unsigned = any(row["measure"] == MEASURES["cramers_v"] for row in rows)
    notes = ["V: Cramer's V, which has no sign."] if unsigned and printed else []
    notes += [remark] if remark else []
    caption = "Pearson's correlation of numeric attributes, Cramer's V of all others"
    title = heading("How strongly attributes go together", caption, notes, side + 100)
    return alt.layer(*layers).properties(width=side, height=side, title=title, view=alt.ViewBackground(stroke=None))


def _rows(pair: Pair) -> list[dict[str, Any]]:
    """A pair in both orders."""
    value, error = finite(pair.value), finite(pair.standard_error)
    # a minus sign is as wide as a digit, a hyphen is not
    text = "" if value is None else f"{value:.2f}".replace("-", "−")
    row = {
        "measure": MEASURES[pair.measure],
        "value": value,
        "std_error": error,
        "low": finite(pair.low),
        "high": finite(pair.high),
        "text": f"V {text}" if text and pair.measure == "cramers_v" else text,
        "error_text": "" if error is None or not text else f"± {error:.2f}",
    }
    return [{"first": a, "second": b} | row for a, b in ((pair.first, pair.second), (pair.second, pair.first))]
