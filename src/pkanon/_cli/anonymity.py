"""pkanon anonymity: classical k-anonymity of a table."""

from __future__ import annotations

import click

import pkanon as pk

from .shared import json_option, print_json, say, text_format, text_options


@click.command()
@click.argument("table", type=click.Path())
@click.argument("columns", nargs=-1, required=True)
@text_options
@json_option
def command(table: str, columns: tuple[str, ...], delimiter: str | None, encoding: str | None, as_json: bool) -> None:
    """k of TABLE (CSV or Parquet) over COLUMNS, as classical k-anonymity counts it.

    The size of the smallest group of rows that agree in all COLUMNS.

    \b
    Example: pkanon anonymity people.csv sex age
    """
    k = pk.anonymity(table, columns, text=text_format(delimiter, encoding))
    if as_json:
        print_json({"k": k, "columns": list(columns)})
        return
    others = "nobody else" if k == 1 else f"{k - 1:,} other{'s' if k > 2 else ''}"
    say(f"k = {k:,}: the rarest combination of {', '.join(columns)} is shared with {others}.")
