"""pkanon reproduce: run the experiments of the paper again."""

from __future__ import annotations

import itertools
from pathlib import Path

import click

import pkanon as pk

from .destinations import free_folder
from .options import json_option, output_option, seed_option
from .printing import number, print_json, print_table, say, small_number
from .progress import progress_bar

_EXPERIMENTS = ("records", "attributes", "k")
_SERIES = list(itertools.product(("equal-rho", "optimal"), ("inverse", "simplex", "em")))


@click.command()
@click.option("--data", type=click.Path(), metavar="FILE", help="US census 1990, raw or recoded [default: embedded].")
@output_option("the results to this folder", default="pkanon-reproduce, numbered if need be")
@seed_option(1)
@click.option(
    "--releases", type=click.IntRange(min=1), metavar="R", help="Releases per point [default: 8; 2 with --quick]."
)
@click.option("--quick", is_flag=True, help="Fewer points and releases, in under a minute.")
@json_option
def command(data: str | None, output: str | None, seed: int, releases: int | None, quick: bool, as_json: bool) -> None:
    """Run the paper's three experiments again and check its statements about them.

    Measures error and epsilon against the number of records, the number of attributes and k, for the paper's design and
    the optimal one, with three estimators. Writes points.csv, three figures and index.html. Takes minutes on the embedded
    table. Every release is seeded and protects nobody: use data that may be seen.

    \b
    Example: pkanon reproduce --quick -o paper
    """
    folder = Path(output) if output is not None else free_folder("pkanon-reproduce")
    with progress_bar() as progress:
        result = pk.experiments.reproduce(
            data, seed=seed, releases=releases, quick=quick, folder=folder, progress=progress
        )
    if as_json:
        print_json({"folder": str(folder), **result.to_json()})
        return
    say(
        f"Data: {result.source}. {result.releases} seeded releases of each point, more of tables of few cells; they protect nobody."
    )
    for experiment in _EXPERIMENTS:
        say()
        _print_experiment(result, experiment)
    say()
    say("What the paper says, checked against these numbers:")
    for statement in result.statements:
        say(f"  {statement.verdict}: {statement.text} {statement.numbers[:1].upper()}{statement.numbers[1:]}")
    say()
    say(f"Written to {folder}: index.html, points.csv, figure1 to figure3 as .png and .svg.")


def _print_experiment(result: pk.experiments.Reproduction, experiment: str) -> None:
    """L1 errors, one line per point."""
    lines: dict[int, dict[str, str]] = {}
    for row in result.to_polars().to_dicts():
        if row["experiment"] == experiment:
            line = lines.setdefault(row[experiment], {"epsilon": f"{row['epsilon']:.4f}"})
            line[f"{row['design']} {row['method']}"] = small_number(row["l1"])
            line[f"{row['design']} predicted"] = small_number(row["predicted_l1"])
    say(f"L1 error by {experiment}:")
    columns = ["epsilon", "equal-rho predicted", *(f"{design} {method}" for design, method in _SERIES)]
    print_table(
        [experiment, *(name.replace("equal-rho ", "") for name in columns)],
        [[number(place), *(line[name] for name in columns)] for place, line in lines.items()],
    )
