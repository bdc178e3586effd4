"""pkanon collect issue: redeem invitations in a process of its own."""

from __future__ import annotations

import sys

import click

import pkanon as pk

from .. import private
from ..printing import say
from .places import reachable, warn_of_network


@click.command()
@click.argument("survey", type=click.Path())
@click.option("--issuer", required=True, type=click.Path(), help="The issuer's folder, which pkanon collect new made.")
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="NAME",
    help="The address to listen on [default: one that only this machine reaches].",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8001,
    show_default=True,
    metavar="N",
    help="The port; 0 for any that is free.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=0, max=64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that sign, about 100 invitations a second each.",
)
@click.option("--behind-proxy", is_flag=True, help="A proxy that adds X-Forwarded-For and speaks TLS stands in front.")
@click.option(
    "--per-minute",
    type=click.IntRange(min=0),
    default=120,
    show_default=True,
    metavar="N",
    help="Claims a minute from one address; 0 for no limit.",
)
def command(
    survey: str, issuer: str, host: str, port: int, processes: int, behind_proxy: bool, per_minute: int
) -> None:
    """Redeem the invitations of SURVEY until it is stopped. Nothing is logged per request.

    Best on another machine than the service, run by other people: then nobody sees both who asks and what is answered.

    \b
    Example: pkanon collect issue survey --issuer survey.issuer --port 8001
    """
    read = pk.collect.Survey.read(survey)
    office = pk.collect.Issuer(issuer, read)
    if office.closed:
        raise pk.InputError("Invitations have ended: the private key was destroyed.")

    def ready(url: str) -> None:
        say(f"Invitations are redeemed at {reachable(url)}/claim")
        sys.stdout.flush()

    def make() -> pk.collect.Claims:
        return pk.collect.Claims(
            office, read, processes=processes, per_minute=per_minute or None, behind_proxy=behind_proxy
        )

    warn_of_network(host, behind_proxy)
    private.serve(make, host, port, ready)
