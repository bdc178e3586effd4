"""What privacy costs: the error of some tables against k and against the number of records, one line per design."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from .cells import INK, axis, heading, legend

LINES = {
    # colours of Okabe and Ito, and dashes for readers without colours
    "optimal": ("#D55E00", [1, 0]),
    "equal-rho": ("#0072B2", [6, 3]),
    "equal-epsilon": ("#009E73", [2, 2]),
    "joint": ("#CC79A7", [8, 2, 2, 2]),
}


def tradeoff_chart(frame: pl.DataFrame, tables: str) -> alt.HConcatChart:
    """Two panels from the columns design, varied, k, records and l1."""
    designs = [name for name in LINES if name in frame["design"].unique().to_list()]
    panels = []
    for varied, title in (("k", "k"), ("records", "records")):
        part = frame.filter(pl.col("varied") == varied)
        if part.is_empty():
            continue
        fixed = "records" if varied == "k" else "k"
        rows = part.with_columns(x=pl.col(varied).cast(pl.Float64)).to_dicts()
        lines = (
            alt.Chart(alt.InlineData(values=rows))
            .mark_line(point=True, clip=True)
            .encode(
                x=alt.X(
                    field="x",
                    type="quantitative",
                    scale=alt.Scale(type="log"),
                    title=title,
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
        value = part[fixed][0]
        panels.append(alt.layer(lines, readable).properties(width=330, height=300, title=f"{fixed} = {value:,.0f}"))
    short = tables if len(tables) <= 100 else "all tables of one and two attributes"
    head: Any = heading(
        "What privacy costs", f"Predicted error, mean over {short}", ["Above 1 (dotted) nothing can be read."], 700
    )
    return alt.hconcat(*panels).properties(title=head)
