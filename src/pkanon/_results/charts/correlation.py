"""How strongly pairs of attributes go together: a symmetric heat map.

Correlations have a sign, Cramer's V has none; both share one scale from -1 to 1, so that equal colours mean equal
strength in every chart. The diagonal stays empty unless it is given: an attribute says everything about itself.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from .cells import GRID, INK, Chart, axis, finite, heading, legend, order

PRINTED = 15
"""Up to so many attributes the values are printed."""
_EXTENT = 620
"""Pixels that a side aims at when they are not."""
MEASURES = {"correlation": "correlation", "cramers_v": "Cramer's V"}


def correlation_chart(frame: pl.DataFrame, caption: str) -> Chart:
    """A heat map of ``first``, ``second``, ``value``, ``std_error``, ``measure`` and the limits of an interval.

    A pair may be given once or in both orders; attributes stand in the order in which they come.
    """
    low, high = (next(name for name in frame.columns if name.startswith(start)) for start in ("low_", "high_"))
    names = list(dict.fromkeys([*frame["first"].to_list(), *frame["second"].to_list()]))
    rows = _mirrored([_row(row, low, high) for row in frame.to_dicts()])
    printed = len(names) <= PRINTED
    step = 48 if printed else max(8, round(_EXTENT / len(names)))
    side = step * len(names)

    labels: dict[str, Any] = {"ticks": False, "domain": False, "labelLimit": 180}
    number = {"type": "quantitative", "format": ".3f"}
    shown: list[tuple[str, str, dict[str, Any]]] = [
        ("first", "first", {"type": "nominal"}),
        ("second", "second", {"type": "nominal"}),
        ("measure", "measure", {"type": "nominal"}),
        ("value", "value", number),
        ("std_error", "standard error", number),
        ("low", f"{low.removeprefix('low_')}% interval from", number),
        ("high", f"{low.removeprefix('low_')}% interval to", number),
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(field="first", type="nominal", **order(names), axis=axis(**labels, labelAngle=-45), title=None),
        y=alt.Y(field="second", type="nominal", **order(names), axis=axis(**labels), title=None),
        tooltip=[alt.Tooltip(field=field, title=title, **more) for field, title, more in shown],
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
            written = base.mark_text(fontSize=size, dy=up).encode(text=alt.Text(field=field, type="nominal"), color=ink)
            layers.append(written)
    unsigned = any(row["measure"] == MEASURES["cramers_v"] for row in rows)
    notes = ["V: Cramer's V, which has no sign."] if unsigned and printed else []
    title = heading("How strongly attributes go together", caption, notes, side + 100)
    return alt.layer(*layers).properties(width=side, height=side, title=title, view=alt.ViewBackground(stroke=None))


def _row(row: dict[str, Any], low: str, high: str) -> dict[str, Any]:
    value, measure = finite(row["value"]), row["measure"]
    # a minus sign is as wide as a plus, a hyphen is not
    text = "" if value is None else f"{value:.2f}".replace("-", "−")
    error = finite(row["std_error"])
    return {
        "first": str(row["first"]),
        "second": str(row["second"]),
        "measure": MEASURES.get(measure, measure),
        "value": value,
        "std_error": finite(row["std_error"]),
        "low": finite(row[low]),
        "high": finite(row[high]),
        "text": f"V {text}" if text and measure == "cramers_v" else text,
        "error_text": "" if error is None or not text else f"± {error:.2f}",
    }


def _mirrored(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    given = {(row["first"], row["second"]) for row in rows}
    other = ({**row, "first": row["second"], "second": row["first"]} for row in rows)
    return rows + [row for row in other if (row["first"], row["second"]) not in given]
