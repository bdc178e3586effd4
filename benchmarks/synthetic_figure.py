"""Draws docs/figures/synthetic.svg: error against central epsilon, our readings and three trusted curators.

One line of panels for tables of two attributes and one for three, a column for each table of people. Ours are solid, curators
dashed; every way has a colour (Okabe and Ito) and a shape of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

WAYS = {  # the way, its colour, dashes and shape
    "ours, simplex": ("simplex", "#999999", [1, 0], "square"),
    "ours, em": ("em", "#E69F00", [1, 0], "triangle-down"),
    "ours, model": ("model", "#0072B2", [1, 0], "circle"),
    "curator, noise": ("noise", "#009E73", [6, 3], "triangle-up"),
    "curator, MST": ("MST", "#000000", [6, 3], "diamond"),
    "curator, our model": ("noise, our model", "#CC79A7", [6, 3], "triangle-right"),
    "curator, AIM": ("AIM", "#D55E00", [6, 3], "cross"),
}


def chart(lines: Sequence[dict[str, Any]]) -> Any:
    """All panels, from the lines of synthetic.py."""
    names = list(dict.fromkeys(line["people"] for line in lines))
    shown = {title: look for title, look in WAYS.items() if look[0] in lines[0]["found"]}
    rows = [
        alt.hconcat(*(_panel([x for x in lines if x["people"] == name], order, name, shown) for name in names))
        for order in (2, 3)
    ]
    title = alt.Title(
        "Synthetic data of a trusted curator, and releases that trust nobody",
        subtitle="Mean L1 error of all tables of two (above) and three attributes (below). Equal central privacy, delta = 1e-8.",
        anchor="start",
        frame="bounds",
        offset=14,
    )
    return (
        alt.vconcat(*rows)
        .properties(title=title)
        .configure(background="white", font="sans-serif", padding=10)
        .configure_axis(labelFontSize=11, titleFontSize=11, titleFontWeight="normal", gridColor="#e5e5e5")
        .configure_legend(labelFontSize=12, labelLimit=260, symbolSize=90)
    )


def _panel(lines: Sequence[dict[str, Any]], order: int, name: str, shown: dict[str, Any]) -> Any:
    values = [
        {"way": title, "epsilon": line["epsilon"], "error": float(line["found"][look[0]][order - 1])}
        for title, look in shown.items()
        for line in lines
    ]
    looks = list(shown.values())
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal", columns=4)
    ways = list(shown)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("epsilon:Q", title="central epsilon (log scale)")
        .scale(type="log", domain=[0.03, 0.5], nice=False)
        .axis(values=[0.05, 0.1, 0.2, 0.4], format="~g"),
        y=alt.Y("error:Q", title="L1 error (log scale)")
        .scale(type="log", domain=[0.05, 2], nice=False)
        .axis(values=[0.05, 0.1, 0.2, 0.5, 1, 2], format="~g"),
        color=alt.Color("way:N", sort=ways, legend=legend).scale(domain=ways, range=[look[1] for look in looks]),
    )
    dashes = alt.StrokeDash("way:N", sort=ways, legend=None).scale(domain=ways, range=[look[2] for look in looks])
    shapes = alt.Shape("way:N", sort=ways, legend=legend).scale(domain=ways, range=[look[3] for look in looks])
    head = alt.Title(f"{name}, {order} attributes", anchor="start", fontSize=12, fontWeight="normal")
    return alt.layer(
        base.mark_line(strokeWidth=1.8).encode(strokeDash=dashes),
        base.mark_point(filled=True, size=45, opacity=1).encode(shape=shapes),
    ).properties(width=210, height=210, title=head)
