"""Where results go: options, files, and free names of folders."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

import pkanon as pk

from .options import output_option
from .printing import note, say

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = {
    "csv": "csv",
    "json": "json",
    "parquet": "parquet",
    "latex": "tex",
    "html": "html",
    "markdown": "md",
    "xlsx": "xlsx",
}
"""Every format of a file, and the ending that names it."""
PAPER = ("latex", "html", "markdown", "xlsx")
"""Formats that hold the table as a paper has it."""


def _format(context: click.Context, option: click.Parameter, given: bool) -> None:
    """Flags that exclude each other: a second one is refused, it does not override the first."""
    earlier = context.params.setdefault("form", None)
    if given and earlier is not None:
        raise pk.InputError(f"--{earlier} and --{option.name} exclude each other; choose one.")
    if given:
        context.params["form"] = option.name


def _named_format(context: click.Context, option: click.Parameter, name: str | None) -> None:
    """--format NAME: as the flag of that name, and text is the readable table."""
    earlier = context.params.setdefault("form", None)
    if name is not None and earlier is not None:
        raise pk.InputError(f"--{earlier} and --format exclude each other; choose one.")
    if name not in (None, "text"):
        context.params["form"] = name


def output_options(command: Command) -> Command:
    """--format, --csv, --json, --parquet and -o."""
    for option in (
        output_option("the result to this file (.csv, .json, .parquet, .tex, .html, .md, .xlsx)"),
        click.option(
            "--format",
            type=click.Choice(["text", *FORMATS]),
            callback=_named_format,
            expose_value=False,
            help="What is printed or written; latex, html, markdown and xlsx as a paper has it.",
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


class Destination(NamedTuple):
    """Where a result goes: to a file, to standard output in a format, or to the terminal as a readable table."""

    form: str | None
    path: str | None

    @property
    def readable(self) -> bool:
        """Whether the result is printed as a readable table."""
        return self.form is None

    @property
    def holds_remarks(self) -> bool:
        """Whether the result itself says what its readers must know."""
        return self.form == "json" or self.form in PAPER

    @property
    def for_paper(self) -> bool:
        """Whether the result is set as a paper has it."""
        return self.form in PAPER

    def for_papers(self, **options: Any) -> dict[str, Any]:
        """Options of tables for papers that were typed (not None); refused where the result is none."""
        typed = {name: value for name, value in options.items() if value not in (None, False)}
        if typed and self.form not in PAPER:
            name = next(iter(typed))
            raise pk.InputError(
                f"--{name} is for tables as a paper has them; add --format latex, html, markdown or xlsx."
            )
        return typed


def destination(form: str | None, output: str | None) -> Destination:
    """The destination, checked before anything is computed, so that no work is lost."""
    if output is None:
        if form in ("parquet", "xlsx"):
            raise pk.InputError(f"{form.capitalize()} is not text; name a file with -o.")
        return Destination(form, None)
    ending = Path(output).suffix.removeprefix(".").lower()
    named = next((name for name, own in FORMATS.items() if own == ending), None)
    if form is not None and named not in (None, form):
        option = f"--{form}" if f"--{form}" in ("--csv", "--json", "--parquet") else f"--format {form}"
        raise pk.InputError(f"{option} does not match the ending of {output}; leave out {option}, or rename the file.")
    format = form or named
    if format is None:
        *others, last = (f".{own}" for own in FORMATS.values())
        raise pk.InputError(
            f"{output}: results are written as {', '.join(others)} or {last}; rename it or add --format."
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
