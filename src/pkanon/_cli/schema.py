"""pkanon schema: draft a schema from data."""

from __future__ import annotations

import click

import pkanon as pk

from .options import json_option, output_option, table_at, text_format, text_options
from .printing import note, print_json, say
from .progress import progress_bar

WARNING = (
    "the values in this draft were read off the data; before it protects anybody, somebody must confirm that they are "
    "public knowledge. Edit the file, then run pkanon confirm on it."
)


@click.command()
@click.argument("table", type=click.Path())
@output_option("the draft to this file")
@text_options
@json_option
def command(table: str, output: str | None, delimiter: str | None, encoding: str | None, as_json: bool) -> None:
    """Draft a schema from TABLE: types, values, bins and roles, for you to confirm.

    \b
    Example: pkanon schema people.csv -o people.toml
    """
    with progress_bar() as progress:
        draft = pk.draft_schema(table_at(table), text=text_format(delimiter, encoding), progress=progress)
    if output is not None:
        draft.save(output)
    if as_json:
        print_json(
            {
                "attributes": draft.schema.to_json(),
                "notes": list(draft.notes),
                "warnings": list(draft.warnings),
                "confirmed": False,
                "file": output,
            }
        )
        return
    if output is None:
        click.echo(draft.to_toml(), nl=False)
    else:
        say(f"Drafted {output}: {len(draft.schema.attributes)} columns.")
        for line in draft.notes:
            say(f"  {line}")
    for line in draft.warnings:
        note(line, kind="warning")
    note(WARNING, kind="warning")
