"""pkanon collect serve."""

from __future__ import annotations

import sys

import click

import pkanon as pk

from .. import private
from ..printing import note, say
from .places import accept_option, database_option


@click.command()
@click.argument("survey", type=click.Path())
@database_option(required=True)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="NAME", help="The address to listen on.")
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
    app = pk.collect.app(
        read, database, admin_token=token, behind_proxy=behind_proxy, per_minute=per_minute, accept=accept,
        issuer=None if issuer is None else pk.collect.Issuer(issuer, read), warn=note,
    )  # fmt: skip

    def ready(url: str) -> None:
        say(f"The survey is at {url}")
        say(f"Survey digest: {read.digest}")
        if shown is not None:
            say(f"Admin token, shown once: {shown}")
        elif token is None:
            note("there is no admin token, so the survey can be paused and closed only while the service is stopped.")
        sys.stdout.flush()

    private.serve(app, host, port, ready)
