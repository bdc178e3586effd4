"""What several verbs share: options, progress and printing."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

import pkanon as pk

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_DESIGN = "optimal"

seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Equal seeds, equal numbers."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def text_options(command: Command) -> Command:
    """--delimiter and --encoding, for verbs that read a table."""
    encoding = click.option("--encoding", metavar="NAME", help="Encoding of a text file [default: utf-8].")
    delimiter = click.option(
        "--delimiter", metavar="CHAR", help="Delimiter of a text file [default: comma; tab for .tsv]."
    )
    return delimiter(encoding(command))


TARGETS = ("k", "epsilon", "central_epsilon", "delta", "design", "workload", "weighting", "floor", "hide_count")
"""What :func:`target_options` adds."""


def given_options() -> set[str]:
    """The parameters of this command that were typed, by their names in Python."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def target_options(command: Command) -> Command:
    """--k, --epsilon, --design with its options and --hide-count, for verbs that make a plan."""
    for option in (
        click.option("--hide-count", metavar="P", help="Hide the record count too, with a ratio such as 9/10."),
        click.option(
            "--floor",
            metavar="N",
            help="No table of up to N attributes worse than in the paper: N, all or none [default: 3].",
        ),
        click.option(
            "--weighting",
            type=click.Choice(["relative", "absolute"]),
            help="How tables are weighed [default: relative].",
        ),
        click.option(
            "--workload",
            metavar="W",
            help="What 'optimal' serves: tables of up to W attributes, full, or 'a,b; c' [default: 2].",
        ),
        click.option(
            "--design", type=click.Choice(list(pk.DESIGNS)), help="How the budget is spent [default: optimal]."
        ),
        click.option("--delta", type=float, metavar="D", help="With --central-epsilon [default: 1/(10 records)]."),
        click.option(
            "--central-epsilon", metavar="E", help="At most this epsilon for the shuffled release as a whole."
        ),
        click.option("--epsilon", metavar="E", help="Differential privacy: at most this epsilon."),
        click.option("--k", metavar="K", help="Pk-anonymity: at least this k."),
    ):
        command = option(command)
    return command


def is_number(text: str) -> bool:
    """Whether a text is a whole number, in the digits that people type."""
    return text.isascii() and text.isdecimal()


def design_options(
    design: str | None, workload: str | None, weighting: str | None, floor: str | None
) -> dict[str, Any]:
    """What :func:`pk.plan` takes for them; options of an optimal design are refused for any other."""
    chosen = design or DEFAULT_DESIGN
    given = {"workload": workload, "weighting": weighting, "floor": floor}
    if chosen != "optimal" and any(value is not None for value in given.values()):
        name = next(name for name, value in given.items() if value is not None)
        raise pk.InputError(f"--{name} is for the design 'optimal'; leave it out, or leave out --design {chosen}.")
    options: dict[str, Any] = {"design": chosen}
    if workload is not None:
        tables = [tuple(name.strip() for name in table.split(",")) for table in workload.split(";") if table.strip()]
        options["workload"] = int(workload) if is_number(workload) else "full" if workload == "full" else tables
    if weighting is not None:
        options["weighting"] = weighting
    if floor is not None:
        if floor not in ("all", "none") and not is_number(floor):
            raise pk.InputError(f"--floor {floor}: write a number of attributes, all or none.")
        options["floor"] = None if floor == "none" else floor if floor == "all" else int(floor)
    return options


def text_format(delimiter: str | None, encoding: str | None) -> pk.TextFormat:
    """How to read a text file."""
    return pk.TextFormat(delimiter={"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter), encoding=encoding)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))


def say(line: str = "") -> None:
    """One line on standard output, wrapped to the terminal where there is one."""
    if sys.stdout is None or not sys.stdout.isatty():
        click.echo(line)
        return
    width = min(shutil.get_terminal_size().columns, 100)
    indent = " " * (len(line) - len(line.lstrip()))
    click.echo(click.wrap_text(line.strip(), width=width, initial_indent=indent, subsequent_indent=indent))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], labels: int = 1) -> None:
    """Aligned columns: the first ``labels`` to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if i < labels else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ]
        click.echo("  " + "  ".join(cells).rstrip())


def free_name(base: str) -> Path:
    """The name of a folder that does not exist yet, numbered if need be."""
    names = (Path(base if n == 1 else f"{base}-{n}") for n in itertools.count(1))
    return next(path for path in names if not path.exists())


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None] | None]:
    """A progress bar on standard error if that is a terminal, else None. It shows shares, never counts of rows."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        tasks: dict[str, Any] = {}

        def show(step: str, done: float) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=1.0)
            bar.update(tasks[step], completed=done)

        yield show
