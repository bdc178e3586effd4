"""pkanon demo: the embedded table through everything that exists."""

from __future__ import annotations

import itertools
from pathlib import Path

import click

import pkanon as pk

from .shared import json_option, print_json, progress_bar, say


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
        f"As it is, its classical k is {raw}: "
        + ("somebody is unique in it and can be found." if raw == 1 else "nobody is unique.")
    )
    say()
    say("What was done, without looking at any value:")
    kept = {name: rho for name, rho in plan.rho.items() if rho is not None}
    low, high = min(kept.values()), max(kept.values())
    share = f"{100 * low:.1f}%" if high - low < 0.0005 else f"{100 * low:.1f}% to {100 * high:.1f}%"
    say(f"  Each person's answer to each question was kept with probability {share}, else replaced by a random one.")
    say("  Then the rows were put in a random order. The dice came from the operating system and were thrown away.")
    say()
    say("What you can promise:")
    say(
        f"  Whoever looks at this table, and whatever they already know about their neighbour, nobody can say with more than "
        f"{100 / plan.k:.3g}% confidence which row is whose (k = {plan.k_text})."
    )
    say(
        "  Every single answer can be denied: what the table shows may be the person's own answer or chance. "
        f"(In technical terms: differentially private with epsilon = {plan.epsilon_text}.)"
    )
    say("  You may give this table to anyone. Nobody needs to be trusted with it.")
    say()
    say("What it costs (expected total error of a corrected table, as a share of all people):")
    for count in (1, 2, 3):
        prediction = plan.predict(*names[:count])
        say(f"  {' x '.join(names[:count])}: {100 * prediction.l1:,.1f}% over {prediction.cells:,} cells")
    say()
    say(f"Written to {folder}: data.parquet, plan.json, certificate.json, datapackage.json.")


def _free_name(base: str) -> Path:
    return next(path for n in itertools.count(1) if not (path := Path(base if n == 1 else f"{base}-{n}")).exists())
