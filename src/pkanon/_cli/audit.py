"""pkanon audit: the real pipeline, run many times, against its claim."""

from __future__ import annotations

import click

import pkanon as pk

from .options import json_option
from .printing import note, number, print_json, print_table, say, small_number
from .progress import progress_bar
from .reading import read_plan


@click.command()
@click.argument("plan_file", metavar="PLAN.json", type=click.Path())
@click.option("--runs", type=int, default=4_000, show_default=True, metavar="N", help="Releases of two rows.")
@click.option("--rows", type=int, default=1_000_000, show_default=True, metavar="N", help="Rows of the large tables.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="C",
    help="Of the lower bounds on epsilon, both together.",
)
@json_option
def command(plan_file: str, runs: int, rows: int, confidence: float, as_json: bool) -> int:
    """Run the pipeline many times on neighbouring tables and compare what comes out with what PLAN.json claims.

    The tables are made up; no data are needed. It is for plans of small schemas. The exit code is 1 if a check fails; a
    correct pipeline fails once in a million audits, at most.

    \b
    Example: pkanon audit plan.json --runs 1000
    """
    plan = read_plan(plan_file)
    with progress_bar() as progress:
        audit = pk.audit(plan, runs=runs, rows=rows, confidence=confidence, progress=progress)
    if as_json:
        print_json(audit.to_json())
    else:
        _print(audit)
    return 0 if audit.passed else 1


def _print(audit: pk.Audit) -> None:
    confidence = f"{100 * audit.confidence:g}%"
    header = [
        "check",
        "by the plan" if audit.void else "claimed",
        "measured",
        f"at least ({confidence})",
        "chance",
        "verdict",
    ]
    rows = [
        [
            check.name,
            "unbounded" if check.claimed == float("inf") else number(check.claimed),
            number(check.measured),
            number(check.lower),
            small_number(check.chance),
            "passed" if check.passed else "FAILED",
        ]
        for check in audit.checks
    ]
    print_table(header, rows)
    say()
    for check in audit.checks:
        say(f"  {check.name}: {check.about}.")
    say()
    if audit.passed:
        whole, against = "what is claimed", "the claim"
        if audit.void:
            whole, against = "what the plan's integers give", "the plan's integers"
        share = f", {100 * audit.lower / audit.epsilon:.0f}% of {whole}" if 0 < audit.epsilon < float("inf") else ""
        say(
            f"Nothing speaks against {against}. Epsilon is at least {number(audit.lower)} ({confidence} confidence){share}."
        )
    else:
        say(f"The pipeline does not do what the plan {'says' if audit.void else 'claims'}. Release nothing with it.")
    for sentence in audit.left_out:
        note(sentence[:1].lower() + sentence[1:])
