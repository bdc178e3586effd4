"""pkanon describe: statistics of numeric attributes."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .destinations import deliver, destination, output_options
from .options import estimate_options, group_options, keep_model, model_file_option, paper_options
from .printing import note, number, print_cells, say
from .progress import progress_bar


@click.command()
@click.argument("release", type=click.Path())
@click.argument("attributes", nargs=-1)
@estimate_options
@click.option("--by", multiple=True, metavar="NAME", help="Within each value of this attribute; repeatable.")
@click.option("--weights", metavar="COLUMN", help="The column of survey weights.")
@group_options
@paper_options()
@model_file_option
@output_options
def command(
    release: str,
    attributes: tuple[str, ...],
    method: str,
    about: str,
    level: float,
    by: tuple[str, ...],
    weights: str | None,
    merge: dict[str, Any],
    missing: str,
    layout: str | None,
    interval: bool,
    caption: str | None,
    model_file: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Mean, deviation, sum and quantiles of numeric ATTRIBUTES (all by default) of RELEASE.

    A bin counts as its middle; quantiles take people to be spread evenly inside a bin.

    \b
    Example: pkanon describe out age --by sex
    """
    where = destination(form, output)
    paper = where.for_papers(layout=layout, interval=interval, caption=caption)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        keep_model(opened, model_file, progress, method, weights)
        description = opened.describe(
            *attributes,
            by=by,
            method=method,
            about=about,
            weights=weights,
            merge=merge,
            missing=missing,
            level=level,
            progress=progress,
        )
    for line in description.remarks:
        note(line[:1].upper() + line[1:])
    if not where.readable:
        deliver(description, where, **paper)
        return
    percent = f"{100 * level:g}"
    print_cells(
        [*description.by, "attribute", "statistic", "value", "± s.e.", f"{percent}% interval", ""],
        [
            [
                *(row[name] for name in description.by),
                row["attribute"],
                row["statistic"].replace("_", " "),
                number(row["value"]),
                number(row["std_error"]),
                f"{number(row[f'low_{percent}'])} to {number(row[f'high_{percent}'])}",
                row["flag"] or "",
            ]
            for row in description.to_polars().to_dicts()
        ],
        labels=len(by) + 2,
    )
    say()
    caption = f"{description.caption[:1].upper()}{description.caption[1:]}."
    say(f"{caption} A bin counts as its middle, an open one as wide as its neighbour.")
