"""pkanon compose: several releases of the same table."""

from __future__ import annotations

import math

import click

import pkanon as pk

from .options import json_option
from .printing import print_json, say


@click.command()
@click.argument("plans", nargs=-1, required=True, type=click.Path())
@click.option("--linked", is_flag=True, help="Rows of different releases can be joined (same order, an id).")
@json_option
def command(plans: tuple[str, ...], linked: bool, as_json: bool) -> None:
    """k and epsilon when the same table is released once with each of PLANS.

    \b
    Example: pkanon compose plan.json plan.json     (the same plan twice)
    """
    total = pk.compose([pk.read_plan(path) for path in plans], linked=linked)
    if as_json:
        bounded = total.epsilon is not None and not math.isinf(total.epsilon)
        print_json(
            {"k": total.k, "epsilon": total.epsilon if bounded else None, "linked": linked, "void": list(total.void)}
        )
        return
    releases = f"{len(plans)} release{'s' if len(plans) > 1 else ''}"
    if total.void:
        say(f"{releases}: nothing can be claimed. {' '.join(total.void)}")
        return
    how = "rows can be joined" if linked else "each redrawn and reshuffled"
    say(f"{releases}, {how}: k = {total.k_text}, epsilon = {total.epsilon_text}.")
