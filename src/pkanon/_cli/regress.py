"""pkanon regress: linear, logistic and Poisson regression."""

from __future__ import annotations

import click

import pkanon as pk

from . import private
from .destinations import deliver, destination, output_options
from .options import about_option, caption_option, level_option
from .printing import note
from .progress import progress_bar


@click.command()
@click.argument("release", type=click.Path())
@click.argument("formula")
@click.option(
    "--family",
    type=click.Choice(private.families()),
    default="linear",
    show_default=True,
    help="Of numbers; of yes or no; of counts.",
)
@click.option(
    "--values",
    metavar="FILE",
    help="The numbers that labels stand for: a TOML or JSON file, [income] '1-9999' = [1, 10000]; an interval counts as its middle.",
)
@about_option("population")
@click.option("--weights", metavar="COLUMN", help="The column of survey weights.")
@click.option(
    "--missing",
    type=click.Choice(["exclude", "category"]),
    default="exclude",
    show_default=True,
    help="People without an answer: left out, or a category.",
)
@level_option
@caption_option
@output_options
def command(
    release: str,
    formula: str,
    family: str,
    values: str | None,
    about: str,
    weights: str | None,
    missing: str,
    level: float,
    caption: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Fit FORMULA to RELEASE, corrected for the randomisation, with robust errors.

    \b
    Example: pkanon regress out "income ~ sex + age"
             pkanon regress out "job == 'office' ~ sex * C(age)" --family logistic
             pkanon regress out "income ~ sex" --values numbers.toml
    """
    where = destination(form, output)
    numbers = None if values is None else pk.read_values(values)
    paper = where.for_papers(caption=caption)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        fitted = opened.regress(
            formula,
            family=family,
            about=about,
            weights=weights,
            missing=missing,
            values=numbers,
            level=level,
            progress=progress,
        )
    for line in opened.remarks:
        note(line)
    if where.readable:
        click.echo(fitted.summary())
    else:
        deliver(fitted, where, **paper)
