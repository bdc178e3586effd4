"""pkanon schema: a draft from data."""

from __future__ import annotations

import click

import pkanon as pk

from .shared import json_option, print_json, say, text_format, text_options

WARNING = (
    "the values in this draft were read off the data; before it protects anybody, somebody must confirm that they are "
    'public knowledge. Edit the file, then set domains = "confirmed" in it.'
)


@click.command()
@click.argument("table", type=click.Path())
@click.option("-o", "--output", type=click.Path(), help="Write the draft to this file instead of printing it.")
@text_options
@json_option
def command(table: str, output: str | None, delimiter: str | None, encoding: str | None, as_json: bool) -> None:
    """Draft a schema from TABLE (CSV or Parquet): types, values, bins and roles, for you to confirm.

    \b
    Example: pkanon schema people.csv -o people.toml
    """
    drafted = pk.draft_schema(table, text=text_format(delimiter, encoding))
    if output is not None:
        drafted.save(output)
    if as_json:
        print_json(
            {"attributes": drafted.schema.to_json(), "notes": list(drafted.notes), "confirmed": False, "file": output}
        )
        return
    if output is None:
        click.echo(drafted.to_toml(), nl=False)
    else:
        say(f"Drafted {output}: {len(drafted.schema.attributes)} columns.")
        for note in drafted.notes:
            say(f"  {note}")
    click.echo(f"warning: {WARNING}", err=True)
