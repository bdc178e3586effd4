"""pkanon collect demo."""

from __future__ import annotations

from pathlib import Path

import click

from .. import private
from ..destinations import free_folder
from ..options import json_option, output_option
from ..printing import print_json, print_table, say
from ..progress import progress_bar
from .pilot import write_report

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
        pilot = private.demonstrate_survey(folder, people, progress)
        write_report(pilot, folder, progress)
    release, counts = pilot.release, pilot.truth[SHOWN]
    estimate = release.crosstab(SHOWN)
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "status": dict(pilot.status),
                "certificate": release.certificate.to_json(),
                "crosstab": estimate.to_json(),
                "truth": list(counts),
            }
        )
        return
    say(
        f"A survey of {len(pilot.survey.questions)} questions was served on this machine; {people:,} simulated people answered it."
    )
    say(
        "  Every device replaced answers at random before it sent them. The service cannot tell for certain which of them are true."
    )
    say(
        f"  {pilot.status['accepted']:,} answers in {pilot.seconds:.1f} seconds; stored without order, time or address."
    )
    say()
    say("What you could promise to real people:")
    for sentence in release.certificate.statement[1:3]:  # the first says that these are simulated
        say(f"  {sentence}")
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
    say(
        f"Written to {folder}: survey.toml, survey (open survey/index.html in a browser), answers.db, and release with report.html."
    )
    say(f"Go on:  pkanon crosstab {folder}/release smokes department    pkanon collect new --help")
