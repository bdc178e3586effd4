"""pkanon export: the rows of a release as one file for another program."""

from __future__ import annotations

import click

import pkanon as pk

from .destinations import check_new_file
from .options import json_option
from .printing import note, print_json, say
from .progress import progress_bar


@click.command()
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--missing-label", metavar="TEXT", help="Write this for missing answers, in columns of texts [default: null]."
)
@json_option
def command(release: str, file: str, missing_label: str | None, as_json: bool) -> None:
    """Write the rows of RELEASE (a folder, or its Parquet file) to FILE, which must not exist.

    The ending of FILE names the format: .sav or .zsav (SPSS) and .dta (Stata) with value labels, .xlsx (Excel), .csv, .parquet,
    .feather, .arrow. The release folder stays as it is.

    \b
    Example: pkanon export out people.sav
    """
    check_new_file(file)
    with progress_bar() as progress:
        progress("reading", 0)
        opened = pk.open_release(release)
        progress("reading", 1)
        renamed = opened.export(file, missing_label=missing_label, progress=progress)
    if as_json:
        print_json({"file": file, "rows": opened.rows, "renamed": renamed, "void": list(opened.certificate.void)})
        return
    say(f"Exported {opened.rows:,} rows to {file}.")
    for name, new in renamed.items():
        say(f"  {name} is called {new} in the file.")
    if opened.certificate.void:
        note(f"this release claims nothing: {' '.join(opened.certificate.void)}", kind="warning")
    note("the rows are randomised: counts of this file are biased; correct them with the plan, or ask pkanon crosstab.")
