"""Draws designs.svg for docs/why/optimal.md: predicted error against k for the four designs.

python docs/figures/designs.py [file]; needs the extra "charts". The file's ending says its format (.svg, .png).
"""

import itertools
import sys
from pathlib import Path

import altair as alt

import pkanon as pk

RECORDS = 2_458_285
KS = [2, *(round(10 ** (step / 8), 1) for step in range(3, 41))]
LINES = {  # colour (Okabe and Ito), dashes, width: each tells the designs apart alone
    "joint": ("#000000", [2, 3], 2),
    "equal-epsilon": ("#009E73", [10, 3, 2, 3], 2),
    "equal-rho": ("#D55E00", [8, 4], 2),
    "optimal": ("#0072B2", [1, 0], 3),
}
NAMES = {"equal-rho": "equal-rho (the paper)", "optimal": "optimal (default)"}


def errors():
    """One row per design and k: the mean predicted L1 error over all tables of one or two attributes."""
    schema = pk.demo_schema()
    names = [attribute.name for attribute in schema.randomised]
    tables = [table for size in (1, 2) for table in itertools.combinations(names, size)]
    for k, design in itertools.product(KS, LINES):
        plan = pk.plan(schema, records=RECORDS, k=k, design=design)
        mean = sum(plan.predict(*table).l1 for table in tables) / len(tables)
        yield {"k": k, "error": mean, "design": NAMES.get(design, design)}


def chart():
    """The figure."""
    rows = list(errors())
    order = [NAMES.get(design, design) for design in LINES]
    colours, dashes, widths = (list(column) for column in zip(*LINES.values()))
    legend = alt.Legend(title="design", symbolSize=900, symbolStrokeWidth=2.5, orient="right", labelLimit=220)
    base = alt.Chart(alt.Data(values=rows))
    lines = base.mark_line().encode(
        x=alt.X("k:Q", title="k: nobody links a row with more than 1/k confidence (log scale)")
        .scale(type="log", domain=[2, 100_000], nice=False)
        .axis(values=[2, 10, 100, 1_000, 10_000, 100_000]),
        y=alt.Y("error:Q", title=["mean predicted L1 error of a table,", "as a share of the records (log scale)"])
        .scale(type="log", domain=[0.01, 2_000], nice=False)
        .axis(values=[0.01, 0.1, 1, 10, 100, 1_000], format=","),
        color=alt.Color("design:N", sort=order, legend=legend).scale(domain=order, range=colours),
        strokeDash=alt.StrokeDash("design:N", sort=order, legend=legend).scale(domain=order, range=dashes),
        strokeWidth=alt.StrokeWidth("design:N", sort=order, legend=None).scale(domain=order, range=widths),
    )
    limit = alt.Chart(alt.Data(values=[{"error": 1, "k": 2, "text": "above 1 a table cannot be read"}]))
    rule = limit.mark_rule(color="#555555", strokeWidth=1).encode(y="error:Q")
    label = limit.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color="#333333", fontSize=12).encode(
        x="k:Q", y="error:Q", text="text:N"
    )
    title = alt.Title(
        "The same k and epsilon, four designs",
        subtitle=f"28 tables of one or two of the 7 census attributes, {RECORDS:,} records",
        anchor="start",
    )
    return (
        (rule + label + lines)
        .properties(width=460, height=320, title=title)
        .configure(background="white", font="sans-serif", padding=10)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e5e5e5")
        .configure_legend(labelFontSize=12, titleFontSize=12)
    )


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("designs.svg")
    target.unlink(missing_ok=True)
    pk.save_chart(chart(), target)
