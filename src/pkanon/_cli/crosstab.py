"""pkanon crosstab: a corrected cross-tabulation from a release."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .destinations import deliver, destination, output_options, save_chart
from .options import (
    chart_option,
    estimate_options,
    group_options,
    keep_model,
    label_of,
    missing_label_option,
    model_file_option,
    paper_options,
)
from .printing import note, number, print_cells, say
from .progress import progress_bar

LARGEST_PRINTED = 1_000_000
"""Cells; a larger table is not printed, it must be written to a file."""


@click.command()
@click.argument("release", type=click.Path())
@click.argument("attributes", nargs=-1, required=True)
@estimate_options
@click.option("--given", multiple=True, metavar="NAME", help="Shares within each value of this attribute; repeatable.")
@click.option("--weights", metavar="COLUMN", help="The column of survey weights.")
@group_options
@chart_option("the table")
@click.option(
    "--kind",
    "--chart-kind",
    "kind",
    type=click.Choice(["bars", "heat", "line"]),
    help="The kind of chart [default: the one that fits].",
)
@click.option(
    "--show", type=click.Choice(["counts", "shares"]), help="In a paper: what a cross-table shows [default: counts]."
)
@paper_options()
@click.option(
    "--average",
    is_flag=True,
    help="With --method model: also the narrower intervals that hold on average over cells.",
)
@model_file_option
@missing_label_option
@output_options
def command(
    release: str,
    attributes: tuple[str, ...],
    method: str,
    about: str,
    level: float,
    given: tuple[str, ...],
    weights: str | None,
    merge: dict[str, Any],
    missing: str,
    chart: str | None,
    kind: str | None,
    missing_label: str | None,
    show: str | None,
    layout: str | None,
    interval: bool,
    caption: str | None,
    average: bool,
    model_file: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """The cross-tabulation of ATTRIBUTES in RELEASE (a folder or its Parquet file), corrected, with errors.

    \b
    Example: pkanon crosstab out sex age
             pkanon crosstab out sex age --method em --given sex --csv
             pkanon crosstab out education sex --merge "education:school=9th|10th,rest=*" --missing exclude
             pkanon crosstab out sex age --method model --average
             pkanon crosstab out sex age -o table.tex
    """
    where = destination(form, output)
    paper = where.for_papers(show=show, layout=layout, interval=interval, caption=caption)
    if kind is not None and chart is None:
        raise pk.InputError("--kind says which chart to draw; add --chart FILE.")
    if average and method != "model":
        raise pk.InputError("--average is for --method model: its narrower intervals hold on average over cells.")
    if average and where.for_paper:
        raise pk.InputError("--average is for tables that are printed and for csv, json and parquet.")
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        _check_given(opened, release, attributes, given)
        keep_model(opened, model_file, progress, method, weights)
        estimate = opened.crosstab(
            *attributes, method=method, about=about, weights=weights, merge=merge, missing=missing, progress=progress
        )
        drawn = None if chart is None else estimate.chart(kind, level=level, given=given)
    if where.readable and estimate.counts.size > LARGEST_PRINTED:
        raise pk.InputError(
            f"The table has {estimate.counts.size:,} cells, too many to print; write it with -o FILE.parquet."
        )
    if drawn is not None and chart is not None:
        save_chart(drawn, chart)
    if where.readable:
        _print(estimate, level, given, average)
    else:
        options = paper if where.for_paper else {**label_of(missing_label), "average": average}
        deliver(estimate, where, level=level, given=given, **options)
    for line in estimate.all_remarks:
        note(line)
    if average and estimate.without_average is not None:
        note(estimate.without_average[:1].upper() + estimate.without_average[1:])


def _check_given(opened: pk.Release, release: str, attributes: tuple[str, ...], given: tuple[str, ...]) -> None:
    """Refuse a --given that the release has and the table has not."""
    for name in given:
        if name not in attributes and name in opened.plan.schema.names:
            table = " ".join((*attributes, name))
            raise pk.InputError(
                f"--given {name} needs {name} in the table: pkanon crosstab {release} {table} --given {name}."
            )


def _print(estimate: pk.Estimate, level: float, given: tuple[str, ...], average: bool) -> None:
    frame = estimate.to_polars(level=level, given=given, average=average)
    percent = f"{100 * level:g}"
    everybody = "% of those who answered" if estimate.excluded else "% of all"
    share = everybody if not given else f"% of {' x '.join(given)}"
    header = [
        *estimate.names,
        "estimate",
        "± s.e.",
        f"{percent}% interval",
        *([f"{percent}% on average over cells"] if average else []),
        share,
        "± s.e.",
        f"{percent}% interval",
        "",
    ]
    rows = []
    ends = [f"{end}_{percent}_on_average_over_cells" for end in ("low", "high")]
    for row in frame.to_dicts():
        low, high = number(row[f"low_{percent}"], digits=0), number(row[f"high_{percent}"], digits=0)
        shares = [row[f"proportion{part}"] for part in ("", "_std_error", f"_low_{percent}", f"_high_{percent}")]
        value, error, share_low, share_high = (number(None if s is None else 100 * s, digits=2) for s in shares)
        rows.append(
            [
                *(str(row[name]) for name in frame.columns[: len(estimate.names)]),
                number(row["estimate"], digits=0),
                number(row["std_error"], digits=0),
                f"{low} to {high}",
                *([" to ".join(number(row[name], digits=0) for name in ends)] if average else []),
                value,
                error,
                f"{share_low} to {share_high}",
                row["flag"] or "",
            ]
        )
    print_cells(header, rows, len(estimate.names))
    say()
    shown = f"Counts, and {estimate.caption(level, given=given)}" if given else estimate.caption(level)
    say(shown[:1].upper() + shown[1:] + ".")
