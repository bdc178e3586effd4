"""pkanon ledger: what releases of the same people have spent."""

from __future__ import annotations

import click

import pkanon as pk

from .options import json_option
from .printing import print_json, print_table, say
from .spending import new_subject_option, spending

subject_option = click.option("--subject", metavar="NAME", help="Whose data these are, as the ledger calls them.")


@click.group(no_args_is_help=False)
def command() -> None:
    """What all releases of the same people have spent, and their limit.

    'pkanon release --ledger people.ledger --subject NAME' writes a release down before it is made. Nothing in a ledger
    is ever changed or removed.

    \b
    Examples: pkanon ledger show people.ledger
              pkanon ledger limit people.ledger --subject "patients 2026" --epsilon 10
              pkanon ledger abandon people.ledger 3 --reason "the machine lost power, no folder was written"
    """


@command.command()
@click.argument("ledger", type=click.Path())
@subject_option
@json_option
def show(ledger: str, subject: str | None, as_json: bool) -> None:
    """The releases in LEDGER: date, plan, data, k, epsilon, and what is left of the limit.

    Entries are numbered through the whole ledger, whatever their subject. 'plan' and 'data' are the first digits of the
    digests in the certificate.json of a release.
    """
    book = pk.Ledger(ledger)
    shown = list(book.accounts().values()) if subject is None else [book.account(subject)]
    if as_json:
        print_json({"ledger": ledger, "subjects": [account.to_json() for account in shown]})
        return
    if not shown:
        say("The ledger is empty.")
    for place, account in enumerate(shown):
        if place:
            say()
        _print(account)


@command.command()
@click.argument("ledger", type=click.Path())
@click.option("--subject", metavar="NAME", required=True, help="Whose data these are, as the ledger calls them.")
@click.option("--epsilon", metavar="E", required=True, help="What all releases together may reach.")
@click.option("--raise", "raising", is_flag=True, help="Accept a limit above the last one.")
@new_subject_option
@json_option
def limit(ledger: str, subject: str, epsilon: str, raising: bool, new_subject: bool, as_json: bool) -> None:
    """Limit the sum of epsilon over all releases of a subject; the last limit counts."""
    account = pk.Ledger(ledger).set_limit(subject, epsilon, raising=raising, new_subject=new_subject)
    _report(account, as_json)


@command.command()
@click.argument("ledger", type=click.Path())
@click.argument("entry", type=int)
@click.option("--reason", metavar="TEXT", required=True, help="Why it is certain that no row got out.")
@json_option
def abandon(ledger: str, entry: int, reason: str, as_json: bool) -> None:
    """Write off ENTRY, a reservation that led to no release, so that it counts no more."""
    _report(pk.Ledger(ledger).abandon(entry, reason=reason), as_json)


def _report(account: pk.Account, as_json: bool) -> None:
    if as_json:
        print_json(account.to_json())
    else:
        say(spending(account))


def _print(account: pk.Account) -> None:
    say(spending(account))
    if account.limits:
        say(f"  Limits: {account.limits_text}.")
    if not account.entries:
        return
    rows = [
        [
            str(entry.number),
            entry.date[:10],
            entry.state,
            entry.plan[:12],
            "-" if entry.data is None else entry.data[:12],
            "-" if entry.rows is None else f"{entry.rows:,}",
            entry.k or "-",
            entry.epsilon_text,
            entry.central_text or "-",
        ]
        for entry in account.entries
    ]
    print_table(["entry", "date", "state", "plan", "data", "rows", "k", "epsilon", "central epsilon"], rows, labels=5)
    say(f"  As wholes: central epsilon {account.central_text} together. Each release keeps its own k.")
    for entry in account.entries:
        if entry.state == "reserved":
            say(
                f"  Entry {entry.number} is reserved and counts. If its run has ended and no row got out, write it off: "
                "pkanon ledger abandon."
            )
        if entry.reason is not None:
            say(f"  Entry {entry.number} is {entry.state}: {entry.reason}.")
