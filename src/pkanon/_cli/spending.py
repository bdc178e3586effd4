"""A release beside its ledger: reserved before anything is drawn, written down when it is complete.

With a plan, or a schema and --records, it is reserved before the table is read. Without --records the rows are counted
first, because the plan, and with it the epsilon, depends on their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import click

import pkanon as pk

from .printing import note

Command = TypeVar("Command", bound=Callable[..., Any])


def ledger_options(command: Command) -> Command:
    """--ledger and --subject."""
    subject = click.option("--subject", metavar="NAME", help="Whose data these are, as the ledger calls them.")
    ledger = click.option(
        "--ledger",
        type=click.Path(),
        help="Add this release to what releases of the same people have spent; refused above their limit.",
    )
    return ledger(subject(command))


def check_pair(ledger: str | None, subject: str | None) -> None:
    """Refuse one of --ledger and --subject without the other."""
    if (ledger is None) != (subject is None):
        raise pk.InputError("--ledger and --subject go together: where it is written down, and whose data these are.")


def check_limit(ledger: str | None, subject: str | None, plan: pk.Plan, randomness: Any) -> None:
    """Refuse what a ledger would refuse, and write nothing."""
    if ledger is not None and subject is not None:
        pk.Ledger(ledger).check(subject, plan, randomness=randomness)


@contextmanager
def reserved(
    ledger: str | None, subject: str | None, plan: pk.Plan, randomness: Any
) -> Iterator[Callable[..., pk.Release]]:
    """A function that makes the release of a table, and the ledger around it if there is one."""
    if ledger is None or subject is None:
        yield partial(pk.release, plan=plan, randomness=randomness)
        return
    book = pk.Ledger(ledger)
    begun = not os.path.exists(ledger)  # nor does one that cannot be looked at; the ledger says why
    reservation = book.reserve(subject, plan, randomness=randomness)
    if begun:
        note(f"began the ledger {ledger}.")
    number = reservation.number
    try:
        try:
            with reservation:
                yield reservation.release
        finally:
            if reservation.number != number:
                note(
                    f"entry {number} of {ledger} was abandoned while its rows were handed out; entry {reservation.number} "
                    "counts them."
                )
    except BaseException:
        with suppress(pk.PkanonError):  # the first error is the one to report
            states = {entry.number: entry.state for entry in book.account(subject).entries}
            if states[reservation.number] == "reserved":
                note(
                    f"entry {reservation.number} of {ledger} stays reserved and counts; if no folder was written, "
                    f"pkanon ledger abandon {ledger} {reservation.number} writes it off."
                )
        raise


def note_spending(ledger: str | None, subject: str | None) -> None:
    """What the subject has spent by now; without a ledger, that releases of the same people add up."""
    if ledger is None or subject is None:
        note("every further release of the same people adds its epsilon; --ledger keeps count.")
    else:
        note(f"{ledger}: {spending(pk.Ledger(ledger).account(subject))}")


def spending(account: pk.Account) -> str:
    """What an account has spent, and what is left, in a sentence."""
    count = sum(entry.counts for entry in account.entries)
    releases = f"{count} release{'s' * (count != 1)}"
    if account.limit is None:
        return f"{releases} of '{account.subject}', epsilon {account.spent_text} together, no limit."
    return (
        f"{releases} of '{account.subject}', epsilon {account.spent_text} together; the limit of {account.limit_text} leaves "
        f"{account.left_text}."
    )
