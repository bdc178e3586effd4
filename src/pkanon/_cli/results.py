"""What verbs share that print estimates: options, where results go, readable tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

import pkanon as pk

from .shared import print_table, say

Command = TypeVar("Command", bound=Callable[..., Any])

MOST_LINES = 200
"""A table on a terminal or in a pipe ends here; files and the machine-readable formats are complete."""


def estimate_options(command: Command) -> Command:
    """--method, --about and --level."""
    for option in (
        click.option(
            "--level", type=float, default=0.95, show_default=True, metavar="L", help="Confidence level of intervals."
        ),
        click.option(
            "--about",
            type=click.Choice(list(pk.ABOUT)),
            default="table",
            show_default=True,
            help="Errors about the people in the table, or about the population they were sampled from.",
        ),
        click.option(
            "--method",
            type=click.Choice(list(pk.METHODS)),
            default="inverse",
            show_default=True,
            help="Unbiased; nearest without negative cells; or most likely.",
        ),
    ):
        command = option(command)
    return command


def _format(context: click.Context, option: click.Parameter, given: bool) -> None:
    """One of several flags for one thing: a second one is refused, not preferred."""
    earlier = context.params.setdefault("form", None)
    if given and earlier is not None:
        raise pk.InputError(f"--{earlier} and --{option.name} exclude each other; choose one.")
    if given:
        context.params["form"] = option.name


def output_options(command: Command) -> Command:
    """--csv, --json, --parquet and -o."""
    for option in (
        click.option(
            "-o",
            "--output",
            type=click.Path(),
            help="Write to this file (.csv, .json, .parquet), which must not exist.",
        ),
        click.option(
            "--parquet", is_flag=True, callback=_format, expose_value=False, help="Parquet, into the file named by -o."
        ),
        click.option(
            "--json", is_flag=True, callback=_format, expose_value=False, help="JSON instead of a readable table."
        ),
        click.option(
            "--csv", is_flag=True, callback=_format, expose_value=False, help="CSV instead of a readable table."
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Target:
    """Where a result goes: to a file, to standard output in a format, or to the eye (neither)."""

    form: str | None
    path: str | None


def target(form: str | None, output: str | None) -> Target:
    """Checked before anything is computed, so that no work is lost."""
    if output is None:
        if form == "parquet":
            raise pk.InputError("Parquet is not text; name a file with -o.")
        return Target(form, None)
    chosen = form or Path(output).suffix.removeprefix(".").lower()
    ending = Path(output).suffix.removeprefix(".").lower()
    if form is not None and ending in ("csv", "json", "parquet") and ending != form:
        raise pk.InputError(f"--{form} does not go with {output}; leave the one out or rename the other.")
    if chosen not in ("csv", "json", "parquet"):
        raise pk.InputError(
            f"{output}: results are written as .csv, .json or .parquet; add --csv, --json or --parquet."
        )
    pk.check_free(output)
    return Target(chosen, output)


def deliver(result: Any, where: Target, **options: Any) -> bool:
    """Sends a result to its file or to standard output; False if it is for the eye and still to be printed."""
    if where.path is not None:
        result.save(where.path, format=where.form, **options)
        say(f"Written to {where.path}.")
        return True
    if where.form is not None:
        click.echo(result.to_bytes(where.form, **options).decode(), nl=False)
        return True
    return False


def number(value: float | None, *, digits: int | None = None) -> str:
    """A number to be read: whole people, four digits of what is small."""
    if value is None or value != value:
        return "-"
    if digits is not None:
        return f"{value:,.{digits}f}"
    return f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:,.4g}"


def small_number(value: float | None) -> str:
    """A number of which the size matters most: what is tiny has an exponent."""
    if value is None:
        return "-"
    return f"{value:.1e}" if 0 < value < 1e-3 else number(value)


def print_cells(header: Sequence[str], rows: Sequence[Sequence[str]], labels: int = 1) -> None:
    """A table, cut short where nobody would read on."""
    print_table(header, rows[:MOST_LINES], labels)
    if len(rows) > MOST_LINES:
        say(f"  ... and {len(rows) - MOST_LINES:,} more rows; --csv prints all of them, -o writes them to a file.")


def note(line: str) -> None:
    """A remark beside the result, on standard error so that a pipe gets the result alone."""
    if sys.stderr is not None:
        click.echo(f"note: {line}", err=True)
