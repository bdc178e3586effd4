"""What privacy costs: the error of some tables against k and against the number of records, one line per design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import altair as alt

from ..chart_data import Point
from .style import INK, axis, heading, legend

LINES = {
    # colours of Okabe and Ito, and dashes for readers without colours
    "optimal": ("#D55E00", [1, 0]),
    "equal-rho": ("#0072B2", [6, 3]),
    "equal-epsilon": ("#009E73", [2, 2]),
    "joint": ("#CC79A7", [8, 2, 2, 2]),
}


def tradeoff_chart(points: Sequence[Point], tables: str) -> alt.HConcatChart:
    """Two panels: one where k is varied, one where the number of records is; ``tables`` names what was averaged."""
    designs = [name for name in LINES if any(point.design == name for point in points)]
    panels = []
    for varied, fixed in (("k", "records"), ("records", "k")):
        rows = [asdict(point) for point in points if point.varied == varied]
        if not rows:
            continue
        lines = (
            alt.Chart(alt.InlineData(values=rows))
            .mark_line(point=True, clip=True)
            .encode(
                x=alt.X(
                    field=varied,
                    type="quantitative",
                    scale=alt.Scale(type="log"),
                    title=varied,
                    axis=axis(format="~s", tickCount=6, gridOpacity=0.5),
                ),
                y=alt.Y(
                    field="l1",
                    type="quantitative",
                    scale=alt.Scale(type="log"),
                    title="error (sum of absolute errors / records)",
                    axis=axis(format="~g", tickCount=6, gridOpacity=0.5),
                ),
                color=alt.Color(
                    field="design",
                    type="nominal",
                    scale=alt.Scale(domain=designs, range=[LINES[name][0] for name in designs]),
                    legend=legend(symbolType="stroke", symbolSize=400),
                    title="design",
                ),
                strokeDash=alt.StrokeDash(
                    field="design",
                    type="nominal",
                    scale=alt.Scale(domain=designs, range=[LINES[name][1] for name in designs]),
                    legend=legend(symbolType="stroke", symbolSize=400),
                    title="design",
                ),
                tooltip=[
                    alt.Tooltip(field=name, type="quantitative" if name != "design" else "nominal")
                    for name in ("design", "k", "records", "epsilon", "l1", "standard_error")
                ],
            )
        )
        readable = (
            alt.Chart(alt.InlineData(values=[{"y": 1.0}]))
            .mark_rule(color=INK, strokeDash=[1, 2])
            .encode(y=alt.Y(field="y", type="quantitative"))
        )
        head = f"{fixed} = {rows[0][fixed]:,.0f}"
        panels.append(alt.layer(lines, readable).properties(width=330, height=300, title=head))
    short = tables if len(tables) <= 100 else "all tables of one and two attributes"
    title = heading(
        "What privacy costs", f"Predicted error, mean over {short}", ["Above 1 (dotted) nothing can be read."], 700
    )
    return alt.hconcat(*panels).properties(title=title)
