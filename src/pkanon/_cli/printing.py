"""Printing: lines, tables, numbers and JSON on standard output, remarks on standard error."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import click

MOST_LINES = 200
"""A table on a terminal or in a pipe ends here; files and the machine-readable formats are complete."""


def say(line: str = "") -> None:
    """One line on standard output, wrapped to the terminal where there is one."""
    click.echo(_wrapped(line, sys.stdout))


def note(line: str, *, kind: str = "note") -> None:
    """A remark beside the result, on standard error so that a pipe gets the result alone."""
    if sys.stderr is not None:
        click.echo(_wrapped(f"{kind}: {line}", sys.stderr), err=True)


def _wrapped(line: str, stream: TextIO | None) -> str:
    if stream is None or not stream.isatty():
        return line
    width = min(shutil.get_terminal_size().columns, 100)
    indent = " " * (len(line) - len(line.lstrip()))
    return click.wrap_text(line.strip(), width=width, initial_indent=indent, subsequent_indent=indent)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], labels: int = 1) -> None:
    """Aligned columns: the first ``labels`` to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if i < labels else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ]
        click.echo("  " + "  ".join(cells).rstrip())


def print_cells(header: Sequence[str], rows: Sequence[Sequence[str]], labels: int = 1) -> None:
    """A table of at most MOST_LINES rows."""
    print_table(header, rows[:MOST_LINES], labels)
    if len(rows) > MOST_LINES:
        say(f"  ... and {len(rows) - MOST_LINES:,} more rows; --csv prints all of them, -o writes them to a file.")


def number(value: float | None, *, digits: int | None = None) -> str:
    """A number for people to read: large ones are whole, small ones have four digits."""
    if value is None or value != value:
        return "-"
    if digits is not None:
        return f"{value:,.{digits}f}"
    return f"{value:,.0f}" if abs(value) >= 1000 or float(value).is_integer() else f"{value:,.4g}"


def small_number(value: float | None) -> str:
    """A number whose magnitude matters: a tiny one has an exponent."""
    if value is None:
        return "-"
    return f"{value:.1e}" if 0 < value < 1e-3 else number(value)
