"""pkanon demo: the embedded table through everything that exists."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import click

import pkanon as pk

from .shared import json_option, print_json, progress_bar, say

STRONG = 1000
"""For the demo's 2.5 million rows: k from which epsilon is below 4."""


@click.command()
@click.option("--k", default="2", metavar="K", show_default=True, help="Pk-anonymity: at least this k.")
@click.option(
    "-o", "--output", type=click.Path(), help="The folder to write [default: pkanon-demo, numbered if it exists]."
)
@json_option
def command(k: str, output: str | None, as_json: bool) -> None:
    """Take the embedded table of 2,458,285 synthetic census rows to a release.

    \b
    Example: pkanon demo
    """
    folder = Path(output) if output is not None else _free_name("pkanon-demo")
    schema = pk.demo_schema()
    names = [attribute.name for attribute in schema.randomised]
    with progress_bar() as progress:
        table = pk.demo_table()
        raw = pk.anonymity(table, names)
        plan = pk.plan(schema, records=table.height, k=k)
        release = pk.release(table, plan, progress=progress)
        release.save(folder, progress=progress)
    if as_json:
        print_json({"folder": str(folder), "classical_k": raw, "certificate": release.certificate.to_json()})
        return
    say(
        f"The table: {table.height:,} people (synthetic, modelled on the 1990 US census), {len(names)} columns: {', '.join(names)}."
    )
    say(
        "As it is, "
        + ("somebody in it is unique and can be found." if raw == 1 else f"everybody in it has {raw - 1} doubles.")
    )
    say()
    say("What was done, without looking at any value:")
    kept = [rho for rho in plan.rho.values() if rho is not None]
    say(
        f"  Each person's answer to each question was kept with probability {100 * min(kept):.1f}%, else replaced by one drawn "
        "at random. Then the rows were put in a random order. The dice came from the operating system and were thrown away."
    )
    say()
    say("What you can promise:")
    say(f"  {release.certificate.statement[0]}")
    say(
        "  Every answer in it may be the person's own or chance. How much the table can shift what is believed about somebody "
        f"is bounded too: by a factor of at most {math.ceil(math.exp(plan.epsilon)):,} (epsilon = {plan.epsilon_text})."
    )
    if plan.k < STRONG:
        say("  That second bound is weak; a larger k makes both stronger. Try: pkanon demo --k 1000")
    say()
    say(
        "What it costs. Counts in this table are noisy; corrected with the published probabilities they are right on average:"
    )
    for count in (1, 2, 3):
        prediction = plan.predict(*names[:count])
        total = f"off by about {100 * prediction.l1:.1f}% of all people, added up"
        say(
            f"  {' x '.join(names[:count])}, {prediction.cells:,} numbers: {'too noisy to be read' if prediction.l1 >= 0.8 else total}"
        )
    say()
    say(f"Written to {folder}: data.parquet, plan.json, certificate.json, datapackage.json.")


def _free_name(base: str) -> Path:
    return next(path for n in itertools.count(1) if not (path := Path(base if n == 1 else f"{base}-{n}")).exists())
