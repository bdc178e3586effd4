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


new_subject_option = click.option(
    "--new-subject", is_flag=True, help="Accept a subject that is not in the ledger yet, beside others."
)


def ledger_options(command: Command) -> Command:
    """--ledger, --subject and --new-subject."""
    subject = click.option("--subject", metavar="NAME", help="Whose data these are, as the ledger calls them.")
    ledger = click.option(
        "--ledger",
        type=click.Path(),
        help="Add this release to what releases of the same people have spent; refused above their limit.",
    )
    return ledger(subject(new_subject_option(command)))


def check_pair(ledger: str | None, subject: str | None, new_subject: bool) -> None:
    """Refuse one of --ledger and --subject without the other, and --new-subject without both."""
    if (ledger is None) != (subject is None):
        raise pk.InputError("--ledger and --subject go together: where it is written down, and whose data these are.")
    if new_subject and ledger is None:
        raise pk.InputError("--new-subject is about a subject in a ledger; name both with --ledger and --subject.")


def check_limit(ledger: str | None, subject: str | None, plan: pk.Plan, randomness: Any, *, new_subject: bool) -> None:
    """Refuse what a ledger would refuse, and write nothing."""
    if ledger is None or subject is None:
        return
    pk.Ledger(ledger).check(subject, plan, randomness=randomness, new_subject=new_subject)
    if os.path.exists(ledger):
        _note_same_plan(pk.Ledger(ledger), subject, plan)


@contextmanager
def reserved(
    ledger: str | None, subject: str | None, plan: pk.Plan, randomness: Any, *, new_subject: bool
) -> Iterator[Callable[..., pk.Release]]:
    """A function that makes the release of a table, and the ledger around it if there is one."""
    if ledger is None or subject is None:
        yield partial(pk.release, plan=plan, randomness=randomness)
        return
    book = pk.Ledger(ledger)
    begun = not os.path.exists(ledger)  # nor does one that cannot be looked at; the ledger says why
    reservation = book.reserve(subject, plan, randomness=randomness, new_subject=new_subject)
    if begun:
        note(f"began the ledger {ledger}.")
    number = reservation.number
    try:
        try:
            with reservation:
                _note_same_plan(book, subject, plan)
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


def _note_same_plan(book: pk.Ledger, subject: str, plan: pk.Plan) -> None:
    """Say so if the plan was used for another subject: the same people may be in the ledger under two names."""
    others = [
        f"'{account.subject}'"
        for account in book.accounts().values()
        if account.subject != subject and any(entry.counts and entry.plan == plan.digest for entry in account.entries)
    ]
    if others:
        note(
            f"the same plan stands in {book.path} under {', '.join(others)}; if these are the same people, their epsilons "
            "add up, and one subject must hold them all."
        )


def note_spending(ledger: str | None, subject: str | None) -> None:
    """What the subject has spent by now; without a ledger, that releases of the same people add up."""
    if ledger is None or subject is None:
        note("every further release of the same people adds its epsilon; --ledger keeps count.")
    else:
        account = pk.Ledger(ledger).account(subject)
        note(f"{ledger}: {spending(account)}")
        if account.limit is None:
            note(f"nothing stops the next release of '{subject}'; set a limit with pkanon ledger limit.")


def spending(account: pk.Account) -> str:
    """What an account has spent, and what is left, in a sentence."""
    count = sum(entry.counts for entry in account.entries)
    releases = f"{count} release{'s' * (count != 1)}"
    if account.limit is None:
        return f"{releases} of '{account.subject}', epsilon {account.spent_text} together, no limit."
    if account.exceeded_text is None:
        state = f"leaves {account.left_text}"
    else:
        state = f"is exceeded by {account.exceeded_text}" if account.spent is not None else "is exceeded without bound"
    return f"{releases} of '{account.subject}', epsilon {account.spent_text} together; the limit of {account.limit_text} {state}."
