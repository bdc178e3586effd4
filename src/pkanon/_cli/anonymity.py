"""pkanon anonymity: classical k-anonymity of a table."""

from __future__ import annotations

import click

from . import private
from .options import json_option, text_format, text_options
from .printing import print_json, say
from .progress import progress_bar


@click.command()
@click.argument("table", type=click.Path())
@click.argument("columns", nargs=-1, required=True)
@text_options
@json_option
def command(table: str, columns: tuple[str, ...], delimiter: str | None, encoding: str | None, as_json: bool) -> None:
    """The classical k-anonymity of TABLE (CSV or Parquet) over COLUMNS.

    Prints the size of the smallest group of rows that agree in all COLUMNS, and how many rows are in groups of that size.

    \b
    Example: pkanon anonymity people.csv sex age
    """
    with progress_bar() as progress:
        progress("counting", 0)
        found = private.groups(table, columns, text_format(delimiter, encoding))
    k, rows, smallest = found.k, found.rare, found.rare // found.k
    if as_json:
        numbers = {"k": k, "columns": list(columns), "smallest_groups": smallest}
        print_json(numbers | {"rows_in_smallest_groups": rows, "rows": found.rows})
        return
    names = ", ".join(columns)
    of_all = f"{rows:,} of the {found.rows:,} rows"
    if k == 1:
        say(f"k = 1: {of_all} {'has' if rows == 1 else 'have'} a combination of {names} that no other row has.")
    else:
        which = "combination occurs" if smallest == 1 else "combinations occur"
        say(
            f"k = {k:,}: no combination of {names} occurs in fewer than {k:,} rows; {smallest:,} {which} in just {k:,}, "
            f"together {of_all}."
        )
