"""pkanon collect release."""

from __future__ import annotations

from pathlib import Path

import click

import pkanon as pk

from ..options import json_option, output_option
from ..predictions import note_unreadable
from ..printing import print_json, say
from ..progress import progress_bar
from .places import accept_option, allow_fewer_option, database_option


@click.command()
@click.argument("survey", type=click.Path())
@database_option(required=True)
@output_option("the release to this folder")
@click.option("--batch", is_flag=True, help="Release the answers so far of a stopped survey, which goes on afterwards.")
@allow_fewer_option
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "csv", "both"]),
    default="parquet",
    show_default=True,
    help="How the rows are written.",
)
@accept_option
@json_option
def command(
    survey: str,
    database: str,
    output: str | None,
    batch: bool,
    allow_fewer: bool,
    file_format: str,
    accept: tuple[str, ...],
    as_json: bool,
) -> None:
    """Turn the answers to a closed survey into an ordinary release folder, once.

    \b
    Example: pkanon collect release survey --database sqlite:///answers.db -o out
    """
    if output is None:
        raise pk.InputError("Name the folder to write with -o.")
    with progress_bar() as progress:
        progress("reading", 0)
        read = pk.collect.Survey.read(survey)
        release = pk.collect.release(
            read, database, output,
            batch=batch, allow_fewer=allow_fewer, accept=accept, format=file_format, progress=progress,
        )  # fmt: skip
        pk.report(
            output, Path(output, "report.html"),
            title=next(iter(read.data["title"].values())), organisation=read.data["organiser"], contact=read.data["contact"],
            progress=progress,
        )  # fmt: skip
    if as_json:
        print_json({"folder": output, "certificate": release.certificate.to_json()})
        note_unreadable(release.plan, release.rows)
        return
    say(f"Released {release.rows:,} answers to {output}, with a report for people: report.html.")
    for line in str(release.certificate).splitlines():
        say(f"  {line}")
    note_unreadable(release.plan, release.rows)
