"""pkanon schema: draft a schema from data."""

from __future__ import annotations

import shlex

import click

import pkanon as pk

from .options import json_option, output_option, table_at, text_format, text_options
from .printing import note, print_json, print_table, say
from .progress import progress_bar

WARNING = (
    "the values in this draft were read off the data; before it protects anybody, somebody must confirm that they are "
    "public knowledge: edit the file, then run pkanon confirm."
)


@click.command()
@click.argument("table", type=click.Path())
@click.option("--columns", metavar="A,B", help="Draft these columns only, in this order; all others are dropped.")
@output_option("the draft to this file")
@text_options
@json_option
def command(
    table: str, columns: str | None, output: str | None, delimiter: str | None, encoding: str | None, as_json: bool
) -> None:
    """Draft a schema from TABLE: types, values, bins and roles, for you to confirm.

    A column that may say something about single people is undecided: its values are not drafted, and you must give it
    a role. Delimiter and encoding are guessed where you do not give them.

    \b
    Example: pkanon schema people.csv -o people.toml
    """
    given = text_format(delimiter, encoding)
    wanted = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    with progress_bar() as progress:
        draft = pk.draft_schema(table_at(table), columns=wanted, text=given, progress=progress)
    if output is not None:
        draft.save(output)
    options = _guessed(given, draft.text)
    if as_json:
        print_json(
            {
                "rows": draft.rows,
                "columns": [vars(column) for column in draft.columns],
                # the values of people are in the file, if there is one, and not on the terminal
                **({"attributes": draft.schema.to_json()} if output is None else {}),
                "others": draft.schema.others,
                "notes": list(draft.notes),
                "warnings": list(draft.warnings),
                "delimiter": draft.text.delimiter,
                "encoding": draft.text.encoding,
                "confirmed": False,
                "file": output,
            }
        )
        return
    if output is None:
        click.echo(draft.to_toml(), nl=False)
    else:
        rows, width = draft.rows, len(draft.columns)
        say(f"Drafted {output} from {rows:,} row{'s' * (rows != 1)}: {width} column{'s' * (width != 1)}.")
        _print_columns(draft)
    if options:
        note(f"the file was read with {options}; give the same to release.")
    for line in draft.warnings:
        note(line, kind="warning")
    note(WARNING, kind="warning")


def _print_columns(draft: pk.Draft) -> None:
    rows = []
    for column in draft.columns:
        name = column.name if column.name.isprintable() else ascii(column.name)
        size = f"{column.size:,}" if column.size else ""
        remark = column.note.removesuffix(": dropped") if column.drafted_as == "dropped" else column.warning
        how = ", ".join(filter(None, [column.drafted_as, column.written]))
        rows.append([name, how, size.rjust(6), remark])  # numbers to the right, the words after them to the left
    print_table(["column", "drafted as", "values", "look at"], rows, labels=4)


def _guessed(given: pk.TextFormat, used: pk.TextFormat) -> str:
    """The options that nobody typed and that the file needs."""
    options = []
    if used.delimiter is not None and given.delimiter is None:
        options.append(f"--delimiter {shlex.quote(used.delimiter) if used.delimiter != chr(9) else 'tab'}")
    if used.encoding is not None and given.encoding is None:
        options.append(f"--encoding {used.encoding}")
    return " ".join(options)
