"""pkanon compare: randomisation against classical k-anonymisation."""

from __future__ import annotations

from pathlib import Path

import click

import pkanon as pk

from .destinations import free_folder
from .options import (
    is_number,
    json_option,
    moved_option,
    output_option,
    seed_option,
    table_at,
    text_format,
    text_options,
)
from .printing import print_json, print_table, say, small_number
from .progress import progress_bar


@click.command()
@click.argument("table", type=click.Path(), required=False)
@click.option("--schema", "schema_file", type=click.Path(), metavar="FILE", help="The schema of TABLE.")
@click.option(
    "--ks", metavar="LIST", help="The k to compare [default: 2,5,10,50,100,1000; three of them with --quick]."
)
@click.option(
    "--target", metavar="ATTR", help="The attribute to guess and classify [default: income, else the last one]."
)
@output_option("the results to this folder", default="pkanon-compare, numbered if need be")
@seed_option(1)
@click.option(
    "--releases", type=click.IntRange(min=1), metavar="R", help="Releases per point [default: 4; 1 with --quick]."
)
@click.option("--queries", type=click.IntRange(min=1), default=1000, show_default=True, metavar="Q", help="Queries.")
@click.option(
    "--workload",
    metavar="W",
    default="2",
    show_default=True,
    help="Tables that 'optimal' serves: a number of attributes, or full.",
)
@click.option("--quick", is_flag=True, help="Fewer k, unless --ks names them, and one release per point.")
@text_options
@json_option
@moved_option("--k", "--k is one number; a comparison takes a list of them: --ks 2,10,100.")
def command(
    table: str | None,
    schema_file: str | None,
    ks: str | None,
    target: str | None,
    output: str | None,
    seed: int,
    releases: int | None,
    queries: int,
    workload: str,
    quick: bool,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Publish TABLE by randomisation and by Mondrian at the same k, and compare.

    Measures the errors of tables, queries, correlations and a classifier, and what an adversary learns about single
    people. Writes comparison.csv, four figures and index.html. Without TABLE it takes the embedded one, and minutes.
    Every release is seeded and protects nobody: use data that may be seen.

    \b
    Example: pkanon compare people.csv --schema people.toml --ks 2,10,100 -o compared
    """
    folder = Path(output) if output is not None else free_folder("pkanon-compare")
    with progress_bar() as progress:
        result = pk.experiments.compare(
            None if table is None else table_at(table),
            schema_file,
            ks=None if ks is None else _numbers(ks),
            seed=seed,
            releases=releases,
            queries=queries,
            target=target,
            workload=int(workload) if is_number(workload) else workload,
            quick=quick,
            folder=folder,
            text=text_format(delimiter, encoding),
            progress=progress,
        )
    if as_json:
        print_json({"folder": str(folder), **result.to_json()})
        return
    say(f"Data: {result.source}. {result.about} Seeded releases protect nobody.")
    frame = result.to_polars()
    for measure, title in result.titles.items():
        say()
        say(f"{title} ({measure}):")
        lines: dict[str, dict[int | None, str]] = {}
        for row in frame.to_dicts():
            if row["measure"] == measure:
                lines.setdefault(row["way"], {})[row["k"]] = small_number(row["value"])
        print_table(
            ["", *(f"k={k}" for k in result.ks)],
            [[way, *(values.get(k, values.get(None, "-")) for k in result.ks)] for way, values in lines.items()],
        )
    say()
    say("Who wins where:")
    for finding in result.findings:
        say(f"  {finding.text}")
    say()
    say(f"Written to {folder}: index.html, comparison.csv, tables, queries, classifier and risks as .png and .svg.")


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(is_number(part) for part in parts):
        raise pk.InputError(f"--ks {text}: write whole numbers with commas between them, such as 2,10,100.")
    return [int(part) for part in parts]
