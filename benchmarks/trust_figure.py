"""Draws docs/figures/trust.svg: error against central epsilon, ours and a trusted curator's.

Lines are predictions, points were measured; numbers beside points are k. Every way has a colour (Okabe and Ito), a shape
and dashes of its own.
"""

from __future__ import annotations

from typing import Any

import altair as alt

PAPER, BEST = "ours, equal-rho (the paper)", "ours, joint (left), optimal (right)"
GAUSSIAN, LAPLACE = "curator, Gaussian noise", "curator, Laplace noise"
WAYS = {  # colour, dashes, shape
    PAPER: ("#D55E00", [8, 4], "square"),
    BEST: ("#0072B2", [1, 0], "circle"),
    GAUSSIAN: ("#009E73", [10, 3, 2, 3], "triangle-up"),
    LAPLACE: ("#000000", [2, 3], "diamond"),
}
PANELS = {  # title, the design that is best there, range of errors, on which side of the paper's points k stands
    "four": ("One table of 4 attributes, 1,296 cells", "joint", [0.005, 150], 9),
    "pairs": ("28 tables of 1 or 2 of 7 attributes, mean", "optimal", [0.005, 2], -9),
}


def chart(rows: list[dict[str, Any]]) -> Any:
    """Both panels, from the rows of central.py."""
    title = alt.Title(
        "Equal central privacy, with and without a trusted curator",
        subtitle="2,458,285 census rows, delta = 1e-8. Lines: predicted, points: measured, numbers: k of our releases.",
        anchor="start",
        frame="bounds",
        offset=14,
    )
    return (
        alt.hconcat(
            *(_panel([row for row in rows if row["task"] == task], *PANELS[task]) for task in PANELS),
            spacing=75,
            bounds="flush",
        )
        .properties(title=title)
        .configure(background="white", font="sans-serif", padding=10)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e5e5e5")
        .configure_legend(labelFontSize=12, labelLimit=260, symbolSize=90, symbolStrokeWidth=0)
    )


def points(rows: list[dict[str, Any]], best: str) -> list[dict[str, Any]]:
    """One for each way and central epsilon; the curator is asked for those of both designs."""
    sources = {
        PAPER: (["equal-rho"], "ours"),
        BEST: ([best], "ours"),
        GAUSSIAN: (["equal-rho", best], "gaussian"),
        LAPLACE: (["equal-rho", best], "laplace"),
    }
    return [
        {
            "way": way,
            "epsilon": row["epsilon"],
            "measured": row[who],
            "predicted": row["predicted" if who == "ours" else f"{who} predicted"],
            "k": f"{row['k']:,}" if who == "ours" else "",
        }
        for way, (designs, who) in sources.items()
        for row in rows
        if row["design"] in designs
    ]


def _panel(rows: list[dict[str, Any]], title: str, best: str, errors: list[float], side: int) -> Any:
    names = list(WAYS)
    colours, dashes, shapes = (list(column) for column in zip(*WAYS.values()))
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal", columns=2)
    base = alt.Chart(alt.Data(values=points(rows, best))).encode(
        x=alt.X("epsilon:Q", title="central epsilon (log scale), less private to the right")
        .scale(type="log", domain=[0.0008, 0.2], nice=False)
        .axis(values=[0.001, 0.01, 0.1], format="~g", labelFlush=False),
        color=alt.Color("way:N", sort=names, legend=legend).scale(domain=names, range=colours),
    )
    y = (
        alt.Y("measured:Q", title="L1 error, share of the records (log scale)")
        .scale(type="log", domain=errors, nice=False)
        .axis(values=[0.01, 0.1, 1, 10, 100], format="~g")
    )
    rule = alt.Chart(alt.Data(values=[{"measured": 1}])).mark_rule(color="#555555").encode(y=y)
    lines = base.mark_line(strokeWidth=2).encode(
        y=alt.Y("predicted:Q"),
        strokeDash=alt.StrokeDash("way:N", sort=names, legend=None).scale(domain=names, range=dashes),
    )
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=y, shape=alt.Shape("way:N", sort=names, legend=legend).scale(domain=names, range=shapes)
    )
    marks = [
        base.transform_filter(alt.datum.way == way)
        .mark_text(align="left" if dx > 0 else "right", dx=dx, dy=-5 if dx > 0 else 5, fontSize=11)
        .encode(y=y, text="k:N", color=alt.value("#333333"))
        for way, dx in ((PAPER, side), (BEST, 9))
    ]
    head = alt.Title(title, anchor="start", fontSize=12, fontWeight="normal")
    return alt.layer(rule, lines, dots, *marks).properties(width=330, height=320, title=head)
