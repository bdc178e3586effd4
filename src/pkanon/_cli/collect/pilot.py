"""pkanon collect pilot: try a survey with simulated people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

import pkanon as pk

from ..options import json_option, output_option
from ..printing import print_json, print_table, say
from ..progress import progress_bar


@click.command()
@click.argument("survey", type=click.Path())
@click.option(
    "--people", type=int, metavar="N", help="How many people are simulated [default: as many as are expected]."
)
@click.option(
    "--answers",
    type=click.Path(),
    metavar="TABLE",
    help="Their true answers, made up: a CSV or Parquet file with a column for each question.",
)
@output_option("everything to this folder")
@json_option
def command(survey: str, people: int | None, answers: str | None, output: str | None, as_json: bool) -> None:
    """Try SURVEY with simulated people on this machine, before anybody is asked: how good will the results be?

    The folder gets a database and a release with its report, all marked as simulated. They belong to a survey of another
    digest, so they cannot be mixed with real answers. Invitations are not tried.

    \b
    Examples: pkanon collect pilot survey -o pilot
              pkanon collect pilot survey --answers made-up.csv -o pilot
    """
    if output is None:
        raise pk.InputError("Name the folder to write with -o.")
    with progress_bar() as progress:
        read = pk.collect.Survey.read(survey)
        pilot = pk.collect.pilot(read, output, people=people, answers=answers, progress=progress)
        write_report(pilot, Path(output), progress)
    errors = pilot.errors()
    if as_json:
        print_json(
            {
                "folder": output,
                "simulated": True,
                "status": dict(pilot.status),
                "certificate": pilot.release.certificate.to_json(),
                "truth": {name: list(counts) for name, counts in pilot.truth.items()},
                "errors": {
                    name: {"predicted": predicted, "found": found} for name, (predicted, found) in errors.items()
                },
            }
        )
        return
    certificate = pilot.release.certificate
    say(f"{pilot.release.rows:,} simulated people answered, in {pilot.seconds:.1f} seconds: {certificate.summary}.")
    say("Errors of the estimated counts, added up, as a share of all people:")
    print_table(
        ["question", "values", "predicted", "found"],
        [
            [name, f"{len(pilot.truth[name]):,}", f"{predicted:.1%}", f"{found:.1%}"]
            for name, (predicted, found) in errors.items()
        ],
    )
    say(f"Written to {output}, marked as simulated: survey, answers.db, and release with report.html.")


def write_report(pilot: pk.collect.Pilot, folder: Path, progress: Callable[[str, float], None]) -> None:
    """report.html into the release of a pilot."""
    data = pilot.survey.data
    pk.report(
        folder / "release", folder / "release" / "report.html",
        title=next(iter(data["title"].values())), organisation=data["organiser"], contact=data["contact"],
        progress=progress,
    )  # fmt: skip
