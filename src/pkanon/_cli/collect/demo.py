"""pkanon collect demo."""

from __future__ import annotations

from pathlib import Path

import click

from .. import private
from ..destinations import free_folder
from ..options import json_option, output_option
from ..printing import print_json, print_table, say
from ..progress import progress_bar

SHOWN = "smokes"


@click.command()
@click.option(
    "--people",
    type=click.IntRange(min=100, max=100_000),
    default=2_000,
    show_default=True,
    metavar="N",
    help="How many people are simulated.",
)
@output_option("everything to this folder", default="pkanon-survey, numbered if need be")
@json_option
def command(people: int, output: str | None, as_json: bool) -> None:
    """A small survey on this machine, from the questions to the release; its people are simulated.

    \b
    Example: pkanon collect demo
    """
    folder = Path(output) if output is not None else free_folder("pkanon-survey")
    private.check_free(str(folder))
    with progress_bar() as progress:
        survey, release, truth, status, seconds = private.demonstrate_survey(folder, people, progress)
    estimate = release.crosstab(SHOWN)
    counts = [truth[SHOWN].count(code) for code in range(len(estimate.labels[0]))]
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "status": status,
                "certificate": release.certificate.to_json(),
                "crosstab": estimate.to_json(),
                "truth": counts,
            }
        )
        return
    say(
        f"A survey of {len(survey.questions)} questions was served on this machine; {people:,} simulated people answered it."
    )
    say(
        "  Every device replaced answers at random before it sent them. The service cannot tell which of them are true."
    )
    say(f"  {status['accepted']:,} answers in {seconds:.1f} seconds; stored without order, time or address.")
    say()
    say("What you can promise:")
    say(f"  {release.certificate.statement[0]}")
    say(f"  {release.certificate.statement[1]}")
    say()
    say(f"What an analyst gets from the release alone: {SHOWN}, beside the truth that only a demo can show.")
    print_table(
        [SHOWN, "estimate", "± s.e.", "truth", "as sent"],
        [
            [
                str(row[SHOWN]),
                f"{row['estimate']:,.0f}",
                f"{row['std_error']:,.0f}",
                f"{count:,}",
                f"{row['released']:,.0f}",
            ]
            for row, count in zip(estimate.to_polars().to_dicts(), counts)
        ],
    )
    say()
    say(f"Written to {folder}: survey.toml, survey (open survey/index.html in a browser), answers.db and release.")
    say(f"Go on:  pkanon crosstab {folder}/release smokes department    pkanon report {folder}/release")
