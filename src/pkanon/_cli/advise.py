"""pkanon advise: which columns to drop and which values to merge, before any data is touched."""

from __future__ import annotations

import click

import pkanon as pk

from . import private
from .destinations import check_new_file
from .options import is_number, json_option, output_option, read_tables
from .printing import note, print_json, say
from .progress import progress_bar
from .reading import is_survey, read_schema_or_survey
from .targets import k_and_epsilon_options


@click.command()
@click.argument("schema", type=click.Path())
@click.option("--records", type=int, required=True, metavar="N", help="How many rows will be released.")
@k_and_epsilon_options
@click.option("--keep", metavar="A,B", help="Columns that must stay; they may be merged.")
@click.option("--tables", metavar="'A,B; C'", help="Tables that must reach the level [default: all pairs of columns].")
@click.option(
    "--level",
    type=click.Choice(["fair", "good"]),
    default="fair",
    show_default=True,
    help="How they must read: an L1 error below 0.3, or below 0.1.",
)
@click.option("--min-columns", type=int, default=1, metavar="M", help="How many columns must stay.")
@click.option("--k-range", metavar="K,K", help="Other values of k to compare with, such as 5,10,50.")
@click.option("--codes", metavar="A,B", help="Columns whose numbers are codes without an order; they are not merged.")
@output_option("the advised schema to this file")
@json_option
def command(
    schema: str,
    records: int,
    k: str | None,
    epsilon: str | None,
    keep: str | None,
    tables: str | None,
    level: str,
    min_columns: int,
    k_range: str | None,
    codes: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Advise which columns of SCHEMA (a schema.toml or a survey.toml) to drop and which values to merge.

    The advised schema keeps as many columns and as much detail as tables of one and two columns can have and still be
    read at this k and this number of rows. No data is touched.

    \b
    Example: pkanon advise people.toml --records 48842 --k 20 --keep age -o advised.toml
    """
    described = read_schema_or_survey(schema)
    if k is None and epsilon is None:
        raise pk.TargetError("Ask for k, for epsilon or for both, such as --k 20.")
    if output is not None:
        if is_survey(schema):
            raise pk.InputError(f"An advised schema has no questions; leave out -o, and change {schema} as advised.")
        check_new_file(output)
    with progress_bar() as progress:
        advice = pk.advise(
            described,
            records=records,
            k=k,
            epsilon=epsilon,
            keep=_names(keep),
            tables=read_tables(tuple((tables or "").split(";"))),
            level=level,
            min_columns=min_columns,
            k_range=[_number(text) for text in _names(k_range)],
            codes=_names(codes),
            progress=progress,
        )
    if output is not None:
        private.save_advice(advice, output, schema)
    if as_json:
        print_json(advice.to_json() | {"file": output})
        return
    for line in str(advice).splitlines():
        say(line)
    if output is None:
        return
    say()
    say(f"Written to {output}. Next: {advice.next_command(output)}")
    if advice.schema.drafted:
        note(
            f"the schema comes from a draft, so somebody must confirm it first: pkanon confirm {output}", kind="warning"
        )


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _number(text: str) -> int | str:
    return int(text) if is_number(text) else text
