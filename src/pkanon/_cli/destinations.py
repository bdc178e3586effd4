"""Where results go: options, files, and free names of folders."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

import pkanon as pk

from .options import output_option
from .printing import note, say

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("csv", "json", "parquet")


def _format(context: click.Context, option: click.Parameter, given: bool) -> None:
    """Flags that exclude each other: a second one is refused, it does not override the first."""
    earlier = context.params.setdefault("form", None)
    if given and earlier is not None:
        raise pk.InputError(f"--{earlier} and --{option.name} exclude each other; choose one.")
    if given:
        context.params["form"] = option.name


def output_options(command: Command) -> Command:
    """--csv, --json, --parquet and -o."""
    for option in (
        output_option("the result to this file (.csv, .json, .parquet)"),
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
class Destination:
    """Where a result goes: to a file, to standard output in a format, or to the terminal as a readable table."""

    form: str | None
    path: str | None

    @property
    def readable(self) -> bool:
        """Whether the result is printed as a readable table."""
        return self.form is None


def destination(form: str | None, output: str | None) -> Destination:
    """The destination, checked before anything is computed, so that no work is lost."""
    if output is None:
        if form == "parquet":
            raise pk.InputError("Parquet is not text; name a file with -o.")
        return Destination(form, None)
    ending = Path(output).suffix.removeprefix(".").lower()
    if form is not None and ending in FORMATS and ending != form:
        raise pk.InputError(f"--{form} does not match the ending of {output}; leave out --{form}, or rename the file.")
    format = form or ending
    if format not in FORMATS:
        raise pk.InputError(
            f"{output}: results are written as .csv, .json or .parquet; add --csv, --json or --parquet."
        )
    check_new_file(output)
    return Destination(format, output)


def check_new_file(path: str) -> None:
    """Refuse a file that exists, or whose folder does not."""
    if Path(path).exists():
        raise pk.InputError(f"{path} exists already and is never overwritten; choose another name.")
    if not Path(path).absolute().parent.is_dir():
        raise pk.InputError(f"Cannot write {path}: its folder does not exist; create it first.")


def deliver(result: Any, where: Destination, **options: Any) -> None:
    """Send a result to its file, or to standard output in its format."""
    if where.path is not None:
        result.save(where.path, format=where.form, **options)
        say(f"Written to {where.path}.")
    elif where.form is not None:
        click.echo(result.to_bytes(where.form, **options).decode(), nl=False)


def save_chart(chart: Any, path: str) -> None:
    """Write a chart to its file, and say so beside the result."""
    pk.save_chart(chart, path)
    note(f"the chart is in {path}.")


def free_folder(base: str, *, beside: str = "") -> Path:
    """A free name for a folder, numbered if need be; with the ending ``beside`` it is free too."""
    names = (Path(base if n == 1 else f"{base}-{n}") for n in itertools.count(1))
    return next(path for path in names if not path.exists() and not path.with_name(path.name + beside).exists())
