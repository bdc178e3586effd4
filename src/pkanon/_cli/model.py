"""pkanon model: rows drawn from a model of a release."""

from __future__ import annotations

import click

import pkanon as pk

from . import private
from .options import json_option, keep_model, model_file_option
from .printing import note, print_json, say
from .progress import progress_bar


@click.command()
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(), required=True, help="The file, which must not exist."
)
@click.option(
    "--rows", type=click.IntRange(1, 10**10), metavar="N", help="How many rows [default: as many as the release has]."
)
@click.option(
    "--draws",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="M",
    help="Several draws, each from a model of its own; the column draw numbers them.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Equal seeds give equal rows [default: random].")
@model_file_option
@json_option
def command(
    release: str, output: str, rows: int | None, draws: int, seed: int | None, model_file: str | None, as_json: bool
) -> None:
    """Draw rows from a model of RELEASE (a folder, or its Parquet file) and write them to a file that is marked as modelled.

    Their tables need no correction, and any program reads them. They are good for tables, charts, machine learning and teaching;
    standard errors and coefficients computed from them are wrong. The ending of FILE names the format: .parquet, .csv, .sav or
    .zsav (SPSS), .dta (Stata), .xlsx (Excel), .feather, .arrow.

    \b
    Example: pkanon model out -o rows.parquet
    """
    private.check_modelled_file(output)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        progress("opening", 1)
        keep_model(opened, model_file, progress)
        made = opened.modelled(rows, draws=draws, seed=seed, progress=progress)
        renamed = made.export(output, progress=progress)
    if as_json:
        print_json(
            {
                "file": output,
                "rows": made.rows,
                "draws": draws,
                "seed": seed,
                "renamed": renamed,
                "model": opened.model().to_json(),
                "sentences": list(made.sentences),
                "void": list(opened.certificate.void),
            }
        )
        return
    many = "" if draws == 1 else f"{draws} draws of "
    say(f"Drew {many}{made.rows:,} modelled rows to {output}.")
    for name, new in renamed.items():
        say(f"  {name} is called {new} in the file.")
    if opened.certificate.void:
        note(f"this release claims nothing: {' '.join(opened.certificate.void)}", kind="warning")
    note("the rows are modelled: take tables from them, but no standard errors and no coefficients.")
