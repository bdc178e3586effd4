"""pkanon report: what a release promises and how to use it, as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

import pkanon as pk

from .destinations import check_new_file
from .options import json_option, output_option, table_at, text_format, text_options
from .printing import note, print_json, say
from .progress import progress_bar

NAME = "report.html"
"""The external report of a release, in its folder."""


@click.command()
@click.argument("release", metavar="RELEASE", type=click.Path())
@output_option(
    "the report to this file", default="report.html in the folder; with --private RELEASE-internal.html beside it"
)
@click.option(
    "--private",
    "table",
    type=click.Path(),
    metavar="TABLE",
    help="The internal edition: also errors against this private table. Not to be published.",
)
@click.option("--no-attack", is_flag=True, help="Leave attacks out of the internal edition; they can take minutes.")
@click.option("--title", metavar="TEXT", help="What the report is called.")
@click.option("--organisation", metavar="TEXT", help="Who publishes the release.")
@click.option("--contact", metavar="TEXT", help="Whom to ask.")
@text_options
@json_option
def command(
    release: str,
    output: str | None,
    table: str | None,
    no_attack: bool,
    title: str | None,
    organisation: str | None,
    contact: str | None,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Write a report on RELEASE (a folder or its Parquet file): one HTML file, to read, to print and to publish.

    It is made from the release alone: the promise in plain words, what it does not cover, columns, probabilities, which
    tables can be read, how to analyse them, and a chart of every column.

    \b
    Examples: pkanon report out --organisation "Office of Examples" --contact data@example.org
              pkanon report out --private people.csv -o internal.html
    """
    path = output if output is not None else str(_default(Path(release), internal=table is not None))
    if Path(release).exists():  # if not, that is the better thing to complain about
        if Path(path).is_file():
            raise pk.InputError(
                f"{path} exists already and is never overwritten; delete it first, or name another file with -o."
            )
        check_new_file(path)
    with progress_bar() as progress:
        progress("opening", 0)
        made = pk.report(
            release,
            path,
            private=None if table is None else table_at(table),
            attack=not no_attack,
            title=title,
            organisation=organisation,
            contact=contact,
            text=text_format(delimiter, encoding),
            progress=progress,
        )
    if as_json:
        print_json({"report": path, "edition": "internal" if made.internal else "external", "claims": made.claims})
        return
    say(f"Written to {path}.")
    if made.internal:
        note("it holds results computed from the private table; do not publish it.")
    if not made.claims:
        note("this release claims nothing; the report says so first.")


def _default(release: Path, *, internal: bool) -> Path:
    folder = release if release.is_dir() else release.parent
    if not internal:
        return folder / NAME
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(f"{named.name}-internal.html")
