"""pkanon query: a SQL query answered from a release."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .destinations import deliver, destination, output_options
from .options import estimate_options, group_options, keep_model, model_file_option, paper_options
from .printing import note, print_cells, say
from .progress import progress_bar


@click.command()
@click.argument("release", type=click.Path())
@click.argument("sql")
@click.option("--weights", metavar="COLUMN", help="The column of survey weights; COUNT(*) adds them up.")
@estimate_options
@group_options
@paper_options(layout=False)
@model_file_option
@output_options
def command(
    release: str,
    sql: str,
    weights: str | None,
    method: str,
    about: str,
    level: float,
    merge: dict[str, Any],
    missing: str,
    interval: bool,
    caption: str | None,
    model_file: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Answer a SELECT (SQL) from RELEASE (a folder or its Parquet file), corrected, with errors.

    The table is called release. COUNT, SUM and AVG, CASE, FILTER, WHERE, GROUP BY, HAVING, ORDER BY and
    LIMIT are answered; anything else is refused with the reason.

    \b
    Example: pkanon query out "SELECT sex, COUNT(*), AVG(age) FROM release WHERE age >= 30 GROUP BY sex"
    """
    where = destination(form, output)
    paper = where.for_papers(interval=interval, caption=caption)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        keep_model(opened, model_file, progress, method, weights)
        answer = opened.query(
            sql,
            method=method,
            about=about,
            weights=weights,
            merge=merge,
            missing=missing,
            level=level,
            progress=progress,
        )
    if where.readable:
        header, rows = answer.rows_as_text()
        print_cells(header, rows, labels=_labels(answer, header))
        say()
        say(answer.notes[0])
    else:
        deliver(answer, where, **paper)
    if not where.holds_remarks:
        for line in answer.notes[1:]:
            note(line)


def _labels(answer: pk.Answer, header: list[str]) -> int:
    """How many columns come before the first number."""
    return next(place for place, name in enumerate(header) if name in answer.estimates)
