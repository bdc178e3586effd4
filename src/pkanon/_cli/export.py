"""pkanon export: the rows of a release as one file, or as a table of a database, for another program."""

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
@click.option("--table", metavar="NAME", help="FILE is a database: write to this new table of it.")
@json_option
def command(release: str, file: str, table: str | None, missing_label: str | None, as_json: bool) -> None:
    """Write the rows of RELEASE (a folder, or its Parquet file) to FILE, which must not exist.

    The ending of FILE names the format: .sav or .zsav (SPSS) and .dta (Stata) with value labels, .xlsx (Excel), .csv, .parquet,
    .feather, .arrow. With --table, FILE is a database: postgresql:// without a password, or a file .duckdb, .sqlite, .db, new or
    not. The release folder stays as it is.

    \b
    Examples: pkanon export out people.sav
              pkanon export out "postgresql://?service=public" --table people
    """
    if table is None:
        check_new_file(file)
    with progress_bar() as progress:
        progress("reading", 0)
        opened = pk.open_release(release)
        progress("reading", 1)
        renamed = opened.export(file, table=table, missing_label=missing_label, progress=progress)
    where = file if table is None else f"the table {table}"  # an address is not repeated
    if as_json:
        print_json({"file": where, "rows": opened.rows, "renamed": renamed, "void": list(opened.certificate.void)})
        return
    say(f"Exported {opened.rows:,} rows to {where}.")
    for name, new in renamed.items():
        say(f"  {name} is called {new} in the file.")
    if opened.certificate.void:
        note(f"this release claims nothing: {' '.join(opened.certificate.void)}", kind="warning")
    note("the rows are randomised: counts of this file are biased; correct them with the plan, or ask pkanon crosstab.")
