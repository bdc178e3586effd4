"""pkanon correlations: all pairs of attributes."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .destinations import deliver, destination, output_options, save_chart
from .options import chart_option, group_options, level_option, paper_options
from .printing import note, number, print_cells, say
from .progress import progress_bar


@click.command()
@click.argument("release", type=click.Path())
@click.argument("attributes", nargs=-1)
@level_option
@click.option("--weights", metavar="COLUMN", help="The column of survey weights.")
@group_options
@chart_option("all pairs")
@paper_options()
@output_options
def command(
    release: str,
    attributes: tuple[str, ...],
    level: float,
    weights: str | None,
    merge: dict[str, Any],
    missing: str,
    chart: str | None,
    layout: str | None,
    interval: bool,
    caption: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Correlations of all pairs of ATTRIBUTES (all but the weight by default) of RELEASE, in the population.

    Pearson's correlation if both are numeric, else Cramer's V; both are corrected for the randomisation.

    \b
    Example: pkanon correlations out --chart correlations.png
    """
    where = destination(form, output)
    paper = where.for_papers(layout=layout, interval=interval, caption=caption)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        pairs = opened.correlations(
            *attributes, weights=weights, merge=merge, missing=missing, level=level, progress=progress
        )
    for line in opened.remarks:
        note(line)
    if chart is not None:
        save_chart(pairs.chart(), chart)
    if not where.readable:
        deliver(pairs, where, **paper)
        return
    percent = f"{100 * level:g}"
    print_cells(
        ["first", "second", "measure", "value", "± s.e.", f"{percent}% interval", ""],
        [
            [
                row["first"],
                row["second"],
                {"correlation": "correlation", "cramers_v": "Cramer's V"}[row["measure"]],
                number(row["value"], digits=3),
                number(row["std_error"], digits=3),
                f"{number(row[f'low_{percent}'], digits=3)} to {number(row[f'high_{percent}'], digits=3)}",
                row["flag"] or "",
            ]
            for row in pairs.to_polars().to_dicts()
        ],
        labels=3,
    )
    if pairs.remark:
        say()
        say(pairs.remark)
