"""pkanon anonymity: classical anonymity of a table."""

from __future__ import annotations

import click

import pkanon as pk

from .options import json_option, table_at, text_format, text_options
from .printing import number, print_json, print_table, say
from .progress import progress_bar


@click.command()
@click.argument("table", type=click.Path())
@click.argument("columns", nargs=-1, required=True)
@click.option(
    "--k", "asked", type=click.IntRange(min=1), metavar="K", help="Also count the rows that fall short of this k."
)
@click.option(
    "--sensitive",
    metavar="A,B",
    help="Columns that nobody should learn: l-diversity, t-closeness, (alpha, k)-anonymity.",
)
@text_options
@json_option
def command(
    table: str,
    columns: tuple[str, ...],
    asked: int | None,
    sensitive: str | None,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """The classical k-anonymity of TABLE over COLUMNS.

    Prints the size of the smallest group of rows that agree in all COLUMNS, and how many rows are in groups of that size.

    \b
    Examples: pkanon anonymity people.csv sex age
              pkanon anonymity people.csv sex age --k 5 --sensitive illness
    """
    named = [name.strip() for name in (sensitive or "").split(",") if name.strip()]
    with progress_bar() as progress:
        progress("counting", 0)
        found = pk.anonymity_of(
            table_at(table), columns, k=asked, sensitive=named, text=text_format(delimiter, encoding)
        )
    if as_json:
        print_json(found.to_json())
        return
    k, rows, smallest = found.k, found.rare, found.smallest
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
    if found.short is not None:
        share = 100 * found.short / found.rows
        say(f"Short of k = {asked:,}: {found.short:,} of the {found.rows:,} rows ({share:.3g}%).")
    if found.sensitive:
        say()
        say("What a group gives away about a sensitive column, in the worst group:")
        print_table(
            ["column", "distinct l", "entropy l", "t", "alpha"],
            [
                [each.column, f"{each.distinct_l:,}", number(each.entropy_l), number(each.t), number(each.alpha)]
                for each in found.sensitive
            ],
        )
        say()
        say(
            "l: different values in a group (entropy l: as if so many were equally frequent). t: how far the values in a"
        )
        say("group are from those of the table, 0 to 1. alpha: the largest share of one value in a group.")
