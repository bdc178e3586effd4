"""pkanon compose: several releases of the same table."""

from __future__ import annotations

import math

import click

import pkanon as pk

from .options import json_option
from .printing import print_json, say
from .progress import progress_bar
from .reading import read_plan_or_release


@click.command()
@click.argument("files", metavar="PLAN.json|RELEASE...", nargs=-1, required=True, type=click.Path())
@click.option("--linked", is_flag=True, help="Rows of different releases can be joined (same order, an id).")
@json_option
def command(files: tuple[str, ...], linked: bool, as_json: bool) -> None:
    """k and epsilon when the same table is released once with each plan.

    A release (a folder or its Parquet file) counts with the rows that it has.

    \b
    Examples: pkanon compose plan.json plan.json     (the same plan twice)
              pkanon compose out next-year
    """
    with progress_bar() as progress:
        progress("opening", 0)
        total = pk.compose([read_plan_or_release(path) for path in files], linked=linked)
    if as_json:
        print_json(
            {
                "k": total.k,
                "epsilon": _finite(total.epsilon),
                "epsilon_unbounded": _finite(total.epsilon_unbounded),
                "linked": linked,
                "uneven": total.uneven,
                "void": list(total.void),
            }
        )
        return
    releases = f"{len(files)} release{'s' if len(files) > 1 else ''}"
    if total.void:
        say(f"{releases}: nothing can be claimed. {' '.join(total.void)}")
        return
    how = "rows can be joined" if linked else "each redrawn and reshuffled"
    say(f"{releases}, {how}: k = {total.k_text}, epsilon = {total.epsilon_text}.")
    if total.uneven:
        say(
            "Their numbers of rows differ: somebody is in one and not in another, and a row without a partner shows whose it is."
        )
    if total.epsilon_unbounded is not None:
        say(f"Whether a person is in the table at all: epsilon = {total.epsilon_unbounded_text}.")


def _finite(epsilon: float | None) -> float | None:
    return None if epsilon is None or math.isinf(epsilon) else epsilon
