"""pkanon verify: whether a release keeps what it says."""

from __future__ import annotations

import shutil
import sys

import click

import pkanon as pk

from .options import json_option
from .printing import print_json, say
from .progress import progress_bar

NAMES, VERDICTS = 15, 11
"""Widths of the first two columns: the longest name of a check, and "not checked"."""


@click.command()
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.option("--key", type=click.Path(), metavar="PUBLIC", help="The public key that RELEASE must be signed with.")
@json_option
def command(release: str, key: str | None, as_json: bool) -> int:
    """Check everything that RELEASE (a folder, or its Parquet file) says of itself.

    Claims are computed anew from the integers of the plan; files, hashes and rows are compared with each other; two
    statistical checks look at the order of the rows and at the released tables. Ends with 0 if nothing is broken, 1 if
    something is, 2 if RELEASE is no release at all.

    \b
    Examples: pkanon verify out
              pkanon verify out --key office.pem
    """
    with progress_bar() as progress:
        found = pk.verify(release, key=key, progress=progress)
    if as_json:
        print_json(found.to_json())
    else:
        for check in found:
            _print(check)
        say()
        say(found.summary)
    return 0 if found.ok else 1


def _print(check: pk.Check) -> None:
    """A line of the table; the sentence is wrapped inside its column where there is a terminal."""
    start = f"  {check.name:<{NAMES}}  {check.verdict:<{VERDICTS}}  "
    if sys.stdout is None or not sys.stdout.isatty():
        click.echo(start + check.sentence)
        return
    width = max(min(shutil.get_terminal_size().columns, 100), len(start) + 20)
    colour = {"kept": "green", "broken": "red"}.get(check.verdict)
    text = click.wrap_text(check.sentence, width=width - len(start))
    shown = start.replace(check.verdict, click.style(check.verdict, fg=colour), 1)
    click.echo(shown + text.replace("\n", "\n" + " " * len(start)))
