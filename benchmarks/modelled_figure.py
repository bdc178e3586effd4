"""Draws docs/figures/modelled.svg: how well classifiers do that learned from raw, modelled and released rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

LOOKS = {  # colour (Okabe and Ito), dashes, shape
    "raw rows": ("#000000", [2, 3], "diamond"),
    "modelled rows": ("#0072B2", [1, 0], "circle"),
    "released rows": ("#D55E00", [8, 4], "square"),
}


def chart(lines: Sequence[dict[str, Any]]) -> Any:
    """Accuracy above AUC, a panel for each table and learner, from the lines of modelled.py."""
    pairs = list(dict.fromkeys((line["people"], line["learner"]) for line in lines))
    rows = [
        alt.hconcat(
            *(_panel([x for x in lines if (x["people"], x["learner"]) == pair], *pair, score) for pair in pairs)
        )
        for score in ("accuracy", "AUC")
    ]
    title = alt.Title(
        "Classifiers that learned from raw, modelled and released rows",
        subtitle="Is income high? Judged by people kept apart. Design optimal, means of three releases.",
        anchor="start",
        frame="bounds",
        offset=14,
    )
    return (
        alt.vconcat(*rows)
        .properties(title=title)
        .configure(background="white", font="sans-serif", padding=10)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e5e5e5")
        .configure_legend(labelFontSize=12, labelLimit=260, symbolSize=90)
    )


def _panel(lines: Sequence[dict[str, Any]], people: str, learner: str, score: str) -> Any:
    names = list(LOOKS)
    colours, dashes, shapes = (list(column) for column in zip(*LOOKS.values()))
    values = [{"rows": line["rows"], "k": line["k"], "score": line[score]} for line in lines]
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal")
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("k:Q", title="k (log scale)").scale(type="log").axis(values=[2, 10, 100, 1000]),
        y=alt.Y("score:Q", title=score).scale(domain=[0.2, 1], nice=False),
        color=alt.Color("rows:N", sort=names, legend=legend).scale(domain=names, range=colours),
    )
    head = alt.Title([people, learner], anchor="start", fontSize=12, fontWeight="normal")
    return alt.layer(
        base.mark_line(strokeWidth=2).encode(
            strokeDash=alt.StrokeDash("rows:N", sort=names, legend=None).scale(domain=names, range=dashes)
        ),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            shape=alt.Shape("rows:N", sort=names, legend=legend).scale(domain=names, range=shapes)
        ),
    ).properties(width=170, height=180, title=head)
