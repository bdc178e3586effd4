"""pkanon collect serve."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import pkanon as pk

from .. import private
from ..printing import note, say
from .places import accept_option, database_option, reachable, warn_of_network


@click.command()
@click.argument("survey", type=click.Path())
@database_option(required=True)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="NAME",
    help="The address to listen on [default: one that only this machine reaches].",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    metavar="N",
    help="The port; 0 for any that is free.",
)
@click.option("--behind-proxy", is_flag=True, help="A proxy that adds X-Forwarded-For and speaks TLS stands in front.")
@click.option(
    "--admin-token-file",
    type=click.Path(),
    metavar="FILE",
    help="The token for pause, resume and close [default: a new one].",
)
@click.option(
    "--per-minute",
    type=click.IntRange(min=0),
    default=120,
    show_default=True,
    metavar="N",
    help="Answers a minute from one address; 0 for no limit.",
)
@click.option(
    "--issuer", type=click.Path(), metavar="FOLDER", help="Redeem invitations here too; not in a strict survey."
)
@accept_option
def command(
    survey: str,
    database: str,
    host: str,
    port: int,
    behind_proxy: bool,
    admin_token_file: str | None,
    per_minute: int,
    issuer: str | None,
    accept: tuple[str, ...],
) -> None:
    """Serve the page of a survey and take answers, until it is stopped. Nothing is logged per request.

    \b
    Examples: pkanon collect serve survey --database sqlite:///answers.db
              pkanon collect serve survey --database postgresql://survey@db.example.org/survey --behind-proxy
    """
    read = pk.collect.Survey.read(survey)
    token = None if admin_token_file is None else private.read_token(admin_token_file)
    shown = None
    if token is None and sys.stdout.isatty():
        token = shown = private.new_token()
    office = None if issuer is None else pk.collect.Issuer(issuer, read)
    _refuse_inside(survey, database)
    warn_of_network(host, behind_proxy)
    if remark := _about_invitations(read, issuer):
        note(remark)

    def make() -> Any:
        return pk.collect.app(
            read, database, admin_token=token, behind_proxy=behind_proxy, per_minute=per_minute, accept=accept,
            issuer=office, warn=note,
        )  # fmt: skip

    def ready(url: str) -> None:
        say(f"The survey is at {reachable(url)}")
        say(f"Survey digest: {read.digest}")
        if shown is not None:
            say(f"Admin token, shown once: {shown}")
            say("Whoever has it can pause, resume and close the survey at this address; keep it in a file.")
        elif token is None:
            note("there is no admin token, so the survey can be paused and closed only while the service is stopped.")
        sys.stdout.flush()

    private.serve(make, host, port, ready)


def _about_invitations(survey: pk.collect.Survey, issuer: str | None) -> str:
    """How invited people get what an answer needs, and who could link the two."""
    if survey.mode != "invited":
        return ""
    if issuer is not None:
        return (
            "invitations are redeemed in the process that takes the answers, so whoever runs it could link the two by their times "
            "and addresses; a survey made with --strict keeps them apart."
        )
    if survey.issuer is not None:
        return f"an answer needs an invitation; people redeem theirs at {survey.issuer}, not here."
    if survey.strict:
        return (
            "an answer needs an invitation, and nothing is redeemed here: people redeem theirs before the survey opens, with pkanon "
            "collect issue at this address; else make the survey with --issuer-url."
        )
    return (
        "an answer needs an invitation, and pages redeem theirs at this address, where nobody does it now: add --issuer "
        "survey.issuer, or let a proxy hand /claim and /claims to pkanon collect issue."
    )


def _refuse_inside(survey: str, database: str) -> None:
    """Refuse a database in the survey folder: that folder is public."""
    if not database.startswith("sqlite:///"):
        return
    folder = Path(survey).resolve()
    place = Path(database.removeprefix("sqlite:///")).resolve()
    if folder in place.parents:
        raise pk.RefusedError(
            "The database would lie in the survey folder, which is public and never changes; name another place with --database."
        )
