"""Which survey is meant: a running one by its address, or a stopped one by its folder and database; and how it stands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

import pkanon as pk

from .. import private
from ..options import json_option
from ..printing import note, print_json, print_table, say

Command = TypeVar("Command", bound=Callable[..., Any])
TOKEN = "PKANON_ADMIN_TOKEN"
_HOST = re.compile(r"(localhost|\[[0-9a-fA-F:]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?(/.*)?$")
"""What looks like the address of a survey without its beginning."""

accept_option = click.option(
    "--accept",
    multiple=True,
    metavar="SETTING",
    help="Accept a PostgreSQL setting that gives the order or the times of answers away; repeatable.",
)
token_option = click.option(
    "--admin-token-file", type=click.Path(), metavar="FILE", help=f"The admin token [default: the variable {TOKEN}]."
)

allow_fewer_option = click.option(
    "--allow-fewer", is_flag=True, help="Accept fewer answers than were expected; k is then lower than promised."
)


def database_option(*, required: bool) -> Callable[[Command], Command]:
    """--database, where the answers are."""
    text = "Where the answers are: sqlite:///answers.db or postgresql://user@host/name."
    return click.option("--database", metavar="ADDRESS", required=required, help=text)


def place_options(command: Command) -> Command:
    """PLACE, --database, --accept and --json."""
    for option in (json_option, accept_option, database_option(required=False)):
        command = option(command)
    return click.argument("place", metavar="URL|SURVEY")(command)


def is_address(place: str) -> bool:
    """Whether a place is the address of a running survey."""
    if place.startswith(("http://", "https://")):
        return True
    if not os.path.exists(place) and _HOST.match(place):
        scheme = "http" if place.startswith(("localhost", "127.", "[::1]")) else "https"
        raise pk.InputError(f"{place} is no folder; an address is written with http:// or https://: {scheme}://{place}")
    return False


def warn_of_network(host: str, behind_proxy: bool) -> None:
    """Say what an address that others can reach means."""
    if host not in ("localhost", "::1") and not host.startswith("127.") and not behind_proxy:
        note(
            f"--host {host} lets others on the network connect without TLS; put a proxy in front, and say --behind-proxy "
            "(docs/collect/service.md)."
        )


def reachable(url: str) -> str:
    """The address of a server as it can be opened here, also of one that listens on every address."""
    for every, local in (("//0.0.0.0:", "//127.0.0.1:"), ("//[::]:", "//[::1]:")):
        if every in url:
            return f"{url.replace(every, local)} and every other address of this machine"
    return url


def status_of(place: str, database: str | None, accept: tuple[str, ...]) -> dict[str, Any]:
    """How a survey stands."""
    if is_address(place):
        _refuse_database(database)
        return private.remote_status(place)
    return private.stored_status(pk.collect.Survey.read(place), _needed(database), accept)


def set_state(
    place: str,
    state: str,
    database: str | None,
    token_file: str | None,
    accept: tuple[str, ...],
    check: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Open, pause or close a survey; how it stands then. ``check`` sees how it stands before, and may refuse."""
    if not is_address(place):
        return private.set_stored_state(pk.collect.Survey.read(place), _needed(database), state, accept, check)
    _refuse_database(database)
    token = private.read_token(token_file) if token_file is not None else os.environ.get(TOKEN, "")
    if not token:
        raise pk.InputError(f"Give the admin token of the service: --admin-token-file, or the variable {TOKEN}.")
    return private.set_remote_state(place, state, token, check)


def refuse_fewer(status: dict[str, Any]) -> None:
    """Refuse to close a survey that has fewer answers to release than people were promised."""
    left = status["accepted"] - status["in_batches"]
    if status["state"] not in ("closed", "released") and left < status["expected"]:
        others = " that no batch holds" if status["in_batches"] else ""
        raise pk.RefusedError(
            f"There are {left:,} answers{others} and people were promised k for {status['expected']:,}; a closed survey takes no "
            f"more, so k would stay at {status['k']}: wait for more, or say --allow-fewer."
        )


def _needed(database: str | None) -> str:
    if database is None:
        raise pk.InputError(
            "Name the database of the stopped survey with --database, or give the address of the running one."
        )
    return database


def _refuse_database(database: str | None) -> None:
    if database is not None:
        raise pk.InputError("A running survey is asked by its address alone; leave out --database.")


def print_status(status: dict[str, Any], as_json: bool) -> None:
    """How a survey stands, for people to read or as JSON."""
    if as_json:
        print_json(status)
        return
    say(f"The survey is {status['state']}. {status['accepted']:,} answers of {status['expected']:,} expected.")
    if status["in_batches"]:
        say(f"  {status['in_batches']:,} of them were released in batches before; what follows is for the others.")
    say(f"  k for the answers so far: {status['k']}. Planned, for all that are expected: {status['k_planned']}.")
    if status["accepted"] - status["in_batches"] < status["expected"]:
        say("  The planned k holds while answers are missing only if everybody was equally likely to be missing.")
    if status["below_chance"]:
        say(f"  {status['below_chance']}")
    say()
    say("k if somebody knows whose some of the answers are, or has sent them himself:")
    print_table(["known answers", "k"], [[f"{known:,}", k] for known, k in status["k_if_known"]], 0)
    say()
    say("One forged answer moves the estimated count of a value by at most:")
    print_table(["attribute", "answers"], [[name, f"{most:,.2f}"] for name, most in status["forged_row"].items()])
    if status["refused"]:
        say()
        say("Refused since the service was started:")
        print_table(["reason", "requests"], [[reason, f"{count:,}"] for reason, count in status["refused"].items()])
