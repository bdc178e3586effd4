"""pkanon schema: a draft from data."""

from __future__ import annotations

from pathlib import Path

import click

import pkanon as pk

from .shared import json_option, print_json, say, text_format, text_options

WARNING = (
    "the values in this draft were read off the data; before it protects anybody, somebody must confirm that they are "
    'public knowledge. Edit the file, then set domains = "confirmed" in it.'
)
HEADER = """\
# DRAFT. The values below were read off the data. Before this schema protects anybody, somebody must
# confirm that they are public knowledge, complete, and say nothing about the people in the table:
# add values that could occur but happen not to, remove or merge rare ones, and give every column a role:
#   randomise (default) | id (checked to be unique, then dropped) | drop | pass (released as it is, NOT protected)
# Then change the next line to: domains = "confirmed". Until then a release made with it claims nothing.
"""


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
    text = HEADER + drafted.schema.to_toml()
    if output is not None:
        try:
            with open(output, "x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise pk.InputError(f"{output} exists already; choose another name.") from None
        except OSError as error:
            raise pk.InputError(f"Cannot write to {output}: {error.strerror}.") from None
    if as_json:
        print_json(
            {"attributes": drafted.schema.to_json(), "notes": list(drafted.notes), "confirmed": False, "file": output}
        )
        return
    if output is None:
        click.echo(text, nl=False)
    else:
        say(f"Drafted {Path(output).name}: {len(drafted.schema.attributes)} columns.")
        for note in drafted.notes:
            say(f"  {note}")
    click.echo(f"warning: {WARNING}", err=True)
