"""pkanon collect new: from survey.toml to a survey folder."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .. import private
from ..options import json_option
from ..predictions import note_unreadable
from ..printing import print_json, say
from ..progress import progress_bar
from ..targets import Options, Target, check_target, design_options, target_options

ISSUER = ".issuer"
"""What the name of the issuer's folder has more than that of the survey."""


@click.command()
@click.argument("survey", metavar="SURVEY.TOML", type=click.Path())
@click.option("--records", type=int, required=True, metavar="N", help="How many answers are expected.")
@target_options
@design_options(public_count=True)
@click.option("--results-every", type=int, metavar="B", help="Refresh results every B answers [default: 50, or 5 k].")
@click.option(
    "--url", metavar="URL", help="Where the survey will be; pages opened from a file send their answer there."
)
@click.option(
    "--invitations",
    is_flag=True,
    help="One answer for each invitation. By default one operator may run both parts and could link them by time.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="You declare that invitations are redeemed apart from the answers, by time or host; the service redeems none.",
)
@click.option("--issuer-url", metavar="URL", help="Where invitations are redeemed, if not at the survey itself.")
@click.option("-o", "--output", type=click.Path(), required=True, help="Write this folder, which must not exist.")
@json_option
def command(
    survey: str,
    records: int,
    target: Target,
    design: str,
    options: Options,
    results_every: int | None,
    url: str | None,
    invitations: bool,
    strict: bool,
    issuer_url: str | None,
    output: str,
    as_json: bool,
) -> None:
    """Make a survey folder from SURVEY.TOML: a schema with the questions beside it.

    The folder is public and never changes; whoever changes a question makes a new survey. With --invitations the
    issuer's private key goes to a folder of its own, OUTPUT.issuer.

    \b
    Example: pkanon collect new survey.toml --records 5000 --k 20 -o survey
    """
    check_target(target)
    if not invitations and (strict or issuer_url is not None):
        raise pk.InputError("--strict and --issuer-url belong to --invitations.")
    folder = output.rstrip("/")
    private.check_free(folder)
    settings: dict[str, Any] = {**target, **{key: value for key, value in options.items() if key != "hide_count"}}
    with progress_bar() as progress:
        progress("planning", 0)
        if not invitations:
            made = pk.collect.new(
                survey, records=records, design=design, results_every=results_every, service=url, **settings
            )
            made.save(folder)
        else:
            key = pk.collect.new_issuer(folder + ISSUER)
            try:
                made = pk.collect.new(
                    survey, records=records, design=design, results_every=results_every, service=url, issuer=issuer_url,
                    invitation_key=key, strict=strict, **settings,
                )  # fmt: skip
                made.save(folder)
            except BaseException:
                private.remove_folder(folder + ISSUER)  # a key without a survey is good for nothing
                raise
        progress("planning", 1)
    if as_json:
        print_json(
            {
                "survey": folder,
                "digest": made.digest,
                "mode": made.mode,
                "k": made.plan.k_text,
                "epsilon": made.plan.epsilon_text,
                "results_every": made.results_every,
                "odds": made.data["odds"],
                "readable": made.plan.readable().counts(),
                "below_chance": made.plan.below_chance,
                "issuer": folder + ISSUER if invitations else None,
            }
        )
    else:
        _describe(made, folder, invitations)
    note_unreadable(made.plan, made.expected)


def _describe(made: pk.collect.Survey, folder: str, invitations: bool) -> None:
    say(f"Survey of {len(made.questions)} questions for {made.expected:,} expected answers, in {folder}")
    say(f"  k = {made.plan.k_text} when all of them have come, epsilon = {made.plan.epsilon_text} for each of them")
    for odds in made.data["odds"]:
        kept, rows = odds["kept_of_100"], odds["sent_of_100"] or []
        most = "up to " if len({row[place] for place, row in enumerate(rows)}) > 1 else ""
        say(
            f"  {odds['attribute']}: of 100 people with the same answer, {most}{kept} are sent with it, the others with another"
        )
    if below := made.plan.below_chance:
        say(f"  {below}")
    say(f"  {made.plan.readable().summary}")
    say(f"  Results are refreshed every {made.results_every} answers")
    say(f"Survey digest: {made.digest}")
    if invitations:
        say(f"The issuer's private key is in {folder}{ISSUER}. Next: pkanon collect invite --help")
        say(
            "  Keep it away from whoever runs the service: you declare that the two are apart."
            if made.strict
            else "  Whoever has it and runs the service too could link answers to invitations, by their times."
        )
