"""pkanon demo: from the embedded table to a release and back to a table."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import click

import pkanon as pk

from .destinations import free_folder
from .options import json_option, output_option
from .printing import print_json, print_table, say
from .progress import progress_bar

CROSSTAB = ("sex", "worked_1989")
CHARTED = "education"
TITLE = "Seven questions of the census, synthetic people"
STRONG = 1000
"""From this k on, epsilon is below 4 for the demo's 2.5 million rows."""


@click.command()
@click.option("--k", default="2", metavar="K", show_default=True, help="Pk-anonymity: at least this k.")
@output_option("the release to this folder", default="pkanon-demo, numbered if need be")
@json_option
def command(k: str, output: str | None, as_json: bool) -> None:
    """Take the embedded table of 2,458,285 synthetic census rows to a release, and read a table back from it.

    \b
    Example: pkanon demo
    """
    folder = Path(output) if output is not None else free_folder("pkanon-demo", beside=".png")
    schema = pk.demo_schema()
    names = [attribute.name for attribute in schema.randomised]
    with progress_bar() as progress:
        progress("reading", 0)
        table = pk.demo_table()
        raw = pk.anonymity(table, names)
        plan = pk.plan(schema, records=table.height, k=k)
        release = pk.release(table, plan, progress=progress)
        release.save(folder, progress=progress)
        opened = pk.open_release(folder)
        estimate = opened.crosstab(*CROSSTAB)
        chart = _draw(opened, folder)
        report = folder / "report.html"
        pk.report(folder, report, title=TITLE, progress=progress)
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "report": str(report),
                "chart": None if chart is None else str(chart),
                "classical_k": raw,
                "certificate": release.certificate.to_json(),
                "crosstab": estimate.to_json(),
            }
        )
        return
    say(
        f"The table: {table.height:,} people (synthetic, modelled on the 1990 US census), {len(names)} columns: {', '.join(names)}."
    )
    say(
        "As it is, "
        + (
            "somebody in it is unique and can be found."
            if raw == 1
            else f"everybody in it has at least {raw - 1} doubles."
        )
    )
    say()
    say("What was done, without looking at any value:")
    kept = [rho for rho in plan.rho.values() if rho is not None]
    say(
        f"  For every person the dice decided which answers to keep; every other answer was replaced by another one. "
        f"The answers to each question still say as much as if {100 * min(kept):.0f}% to {100 * max(kept):.0f}% of them were kept "
        "and all others drawn at random. "
        f"A row can be a person's record as given: about {float(plan.unchanged[1]) * table.height:,.0f} of them are. "
        "Then the rows were put in a random order. The dice came from the operating system and were thrown away."
    )
    say()
    say("What you can promise:")
    say(f"  {release.certificate.statement[0]}")
    say(
        "  Every answer in it may be the person's own or chance. Whatever is seen in the table is at most "
        f"{math.ceil(math.exp(plan.epsilon)):,} times as likely as it would be had somebody in it answered otherwise "
        f"(epsilon = {plan.epsilon_text})."
    )
    if plan.k < STRONG:
        say("  That second bound is weak; a larger k makes both stronger. Try: pkanon demo --k 1000")
    say()
    say(
        "What it costs. Counts of the released rows are biased. Corrected with the published probabilities they are right on "
        "average, but noisy:"
    )
    for count in (1, 2, 3):
        prediction = plan.predict(*names[:count])
        total = f"errors of about {100 * prediction.l1:.1f}% of all people, added up"
        say(
            f"  {' x '.join(names[:count])}, {prediction.cells:,} numbers: {'too noisy to be read' if prediction.l1 >= 0.8 else total}"
        )
    say()
    say(
        f"What an analyst gets back from the folder alone: {' x '.join(CROSSTAB)}, beside the truth that only a demo can show."
    )
    truth = _count(table, estimate)
    print_table(
        [*CROSSTAB, "estimate", "± s.e.", "95% interval", "truth", "as released"],
        [
            [
                *(str(row[name]) for name in CROSSTAB),
                f"{row['estimate']:,.0f}",
                f"{row['std_error']:,.0f}",
                f"{row['low_95']:,.0f} to {row['high_95']:,.0f}",
                f"{people:,}",
                f"{row['released']:,.0f}",
            ]
            for row, people in zip(estimate.to_polars().to_dicts(), truth)
        ],
        len(CROSSTAB),
    )
    say()
    say(f"Written to {folder}: data.parquet, plan.json, certificate.json, predicted.csv, datapackage.json, README.txt.")
    say(f"The report for whoever has to decide, to open in a browser: {report}")
    if chart is not None:
        say(f"Drawn in {chart}: {CHARTED}, with error bars.")
    say(f"Go on:  pkanon crosstab {folder} sex education    pkanon association {folder} age income")


def _count(table: Any, estimate: pk.Estimate) -> list[int]:
    """The true counts, in the order of the estimate's cells."""
    counted = {tuple(row[:-1]): row[-1] for row in table.group_by(*CROSSTAB).len().rows()}
    return [counted.get(cell, 0) for cell in itertools.product(*estimate.labels)]


def _draw(release: pk.Release, folder: Path) -> Path | None:
    """A chart beside the folder; None where the packages for it are not installed."""
    path = folder.with_name(f"{folder.name}.png")
    try:
        if not path.exists():
            pk.save_chart(release.crosstab(CHARTED).chart(), path)
    except pk.EnvironmentFailure:
        return None
    return path
