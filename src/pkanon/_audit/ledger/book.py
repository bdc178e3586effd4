"""The ledger: what it costs to release the same people again, written down before it happens.

A release is *reserved* first: in one transaction the ledger adds up what is spent, compares it with the limit, and
writes the reservation. Only then is anything read or drawn. Afterwards a second event says what became of it:
*released*, or *abandoned* if no row left the run. A run that dies in between leaves a reservation, which counts: the
ledger cannot know whether rows got out, so it assumes that they did. ``abandon`` writes such a reservation off.

Somebody may abandon a reservation whose run is still at work. Such a run hands out no rows: it looks once more just
before. If the entry is abandoned after that, the rows are out, and they are counted by a new entry, even beyond the limit.

What is added: epsilon, or with a hidden record count the epsilon that includes being in the table at all. A release
that claims nothing has no epsilon: it is written down as unbounded, and refused where there is a limit.
"""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..._errors import InputError, PkanonError, RefusedError, TargetError, did_you_mean
from ..._plan import Number, Plan, exact, round_down, round_up
from .account import DIGITS, DIGITS_OF_DELTA, Account, Entry, accounts, fraction
from .format import LARGEST, UNBOUNDED, Event
from .store import Store

if TYPE_CHECKING:
    from ..._release import Release
    from ..._sample import Randomness

LONGEST_SUBJECT = 200


class Ledger:
    """What all releases of the same people have spent, in a file.

    The file is made by the first limit or reservation; nobody but its owner can read it. It holds dates, digests of
    plans and numbers, and as the only text the names of subjects and reasons that the custodian writes.

    Parameters
    ----------
    path
        The file, on a local disk.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, epsilon=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = pk.Ledger(Path(folder, "people.ledger"))
    ...     account = ledger.set_limit("patients 2026", 5)
    ...     with ledger.reserve("patients 2026", plan) as reservation:
    ...         release = reservation.release(people)
    ...         release.save(Path(folder, "out"))
    ...     ledger.account("patients 2026")
    <Account 'patients 2026': 1 release, epsilon 2 of 5>
    """

    def __init__(self, path: str | Path) -> None:
        self._store = Store(path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    def accounts(self) -> dict[str, Account]:
        """The account of every subject in the ledger, in the order in which they came in."""
        return accounts(self._store.read())

    def account(self, subject: str) -> Account:
        """The account of one ``subject``, which must be in the ledger."""
        found = self.accounts()
        if subject not in found:
            raise InputError(f"The ledger {self.path} has no subject '{subject}'. {did_you_mean(subject, found)}")
        return found[subject]

    def set_limit(self, subject: str, epsilon: Number, *, raising: bool = False, new_subject: bool = False) -> Account:
        """Limit the sum of epsilon over all releases of a subject.

        Parameters
        ----------
        subject
            What the people are called.
        epsilon
            The limit. A lower one may come at any time, even below what is spent.
        raising
            Accept a limit above the last one.
        new_subject
            Accept a subject that is not in the ledger yet, beside others.
        """
        limit = exact(epsilon, "The limit", up=False)
        if limit < 0:
            raise TargetError(f"The limit is {epsilon}; it cannot be below 0.")
        if limit >= LARGEST:
            raise TargetError("The limit has more than 1,000 digits; take a smaller one, or none.")
        text = round_down(limit, DIGITS)
        with self._store.writing() as writing:
            before = self._account(subject, accounts(writing.events), new_subject).limit
            if before is not None and Fraction(text) > before and not raising:
                raise RefusedError(
                    f"The limit of '{subject}' is {round_down(before)}; say raising (--raise) if a higher one is meant."
                )
            writing.append(Event("limit", subject, epsilon=text))
            return accounts(writing.events)[subject]

    def reserve(
        self, subject: str, plan: Plan, *, randomness: Randomness | None = None, new_subject: bool = False
    ) -> Reservation:
        """Write down what a release with ``plan`` will spend; refused if that is above the limit.

        Parameters
        ----------
        subject
            What the people are called.
        plan
            The plan of the release.
        randomness
            As in :func:`pk.release`; a seeded release has no epsilon.
        new_subject
            Accept a subject that is not in the ledger yet, beside others. A misspelt one would begin an account of its own.

        Returns
        -------
        Reservation
            To be used in a ``with`` statement, which writes down what became of it.
        """
        epsilon = _epsilon(plan, randomness)
        with self._store.writing() as writing:
            _refuse(self._account(subject, accounts(writing.events), new_subject), epsilon)
            event = writing.append(Event("reserved", subject, epsilon=epsilon, plan=plan.digest, records=plan.records))
        return Reservation(self, event.entry or 0, subject, plan, randomness)

    def check(
        self, subject: str, plan: Plan, *, randomness: Randomness | None = None, new_subject: bool = False
    ) -> None:
        """Raise what :meth:`reserve` would raise by now; write nothing.

        Parameters
        ----------
        subject
            What the people are called.
        plan
            The plan of the release.
        randomness
            As in :func:`pk.release`; a seeded release has no epsilon.
        new_subject
            As in :meth:`reserve`.
        """
        known = accounts(self._store.read()) if self._store.exists() else {}
        _refuse(self._account(subject, known, new_subject), _epsilon(plan, randomness))

    def abandon(self, number: int, *, reason: str) -> Account:
        """Write off a reservation of which no row got out: it counts no more. Nothing is removed.

        Parameters
        ----------
        number
            The number of the entry; its state must be reserved.
        reason
            Why it is certain that no row got out, in the custodian's words.
        """
        reason = reason.strip()
        if not reason:
            raise InputError("Say why this reservation led to no release; the reason stays in the ledger.")
        if not reason.isprintable():
            raise InputError("A reason is a text on one line, without control characters.")
        with self._store.writing() as writing:
            subject, entry = self._find(number, writing.events)
            if entry.state != "reserved":
                raise RefusedError(
                    f"Entry {number} is {entry.state} and stays so; only a reservation can be written off."
                )
            writing.append(Event("abandoned", subject, entry=number, reason=reason))
            return accounts(writing.events)[subject]

    def _account(self, subject: str, known: dict[str, Account], new: bool) -> Account:
        """The account of a subject, if it is fit to be written down and cannot be mistaken for another one.

        The first subject of a ledger is new. Any other one must be known, or said to be new.
        """
        if (
            not isinstance(subject, str)
            or not subject.strip()
            or subject != subject.strip()
            or not subject.isprintable()
        ):
            raise InputError("A subject is a text on one line, without spaces at its ends, such as 'patients 2026'.")
        if len(subject) > LONGEST_SUBJECT:
            raise InputError(f"A subject has at most {LONGEST_SUBJECT} characters.")
        for other in known:
            if other != subject and _likeness(other) == _likeness(subject):
                raise RefusedError(
                    f"The ledger has the subject '{other}', and '{subject}' differs from it only in case, spaces or the form "
                    "of a letter; write it the same way, or choose another name."
                )
        if known and subject not in known and not new:
            raise RefusedError(
                f"The ledger {self.path} has no subject '{subject}'; say new_subject (--new-subject) if these are other "
                f"people. {did_you_mean(subject, known)}"
            )
        return known.get(subject, Account(subject))

    def _find(self, number: int, events: list[Event]) -> tuple[str, Entry]:
        """The subject and the entry of a number."""
        for account in accounts(events).values():
            for entry in account.entries:
                if entry.number == number:
                    return account.subject, entry
        raise InputError(f"The ledger {self.path} has no entry {number}; pkanon ledger show lists them.")

    def _check_reserved(self, number: int) -> None:
        """Refuse to hand out rows for an entry that has ended."""
        _, entry = self._find(number, self._store.read())
        if entry.state != "reserved":
            raise RefusedError(
                f"Entry {number} of {self.path} is {entry.state} by now, so its rows were thrown away; reserve again."
            )

    def _count(self, number: int, released: Event | None) -> int:
        """Write down that rows of an entry were handed out, complete or not (None), and return the entry that counts them.

        It is the entry itself, or a new one if that has ended meanwhile.
        """
        with self._store.writing() as writing:
            subject, entry = self._find(number, writing.events)
            if entry.state != "reserved":
                again = Event("reserved", subject, epsilon=entry.epsilon, plan=entry.plan, records=entry.records)
                reason = f"entry {number} was {entry.state} while its rows were handed out; they count here"
                number = writing.append(replace(again, reason=reason)).entry or 0
            if released is not None:
                writing.append(replace(released, subject=subject, entry=number))
            return number


class Reservation:
    """A release that the ledger has written down and that is still to be made.

    In a ``with`` statement: at its end the entry is *released*; after an error it is *abandoned*, unless rows were
    handed out before. Then it stays reserved, and counts. It is for one call of :meth:`release`, which several threads may
    try; after its end it makes no release.

    Parameters
    ----------
    ledger
        The ledger it is written in.
    number
        The number of its entry; another one at the end, if somebody abandoned that entry while rows were handed out.
    subject
        What the people are called.
    plan, randomness
        What the release will be made with.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, epsilon=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = pk.Ledger(Path(folder, "people.ledger"))
    ...     try:
    ...         with ledger.reserve("patients 2026", plan) as reservation:
    ...             reservation.release(pl.DataFrame({"sex": ["F", "X"] * 500}))
    ...     except pk.DataError:
    ...         print(ledger.account("patients 2026").entries[0].state)
    abandoned
    """

    def __init__(
        self, ledger: Ledger, number: int, subject: str, plan: Plan, randomness: Randomness | None = None
    ) -> None:
        self._ledger = ledger
        self._plan = plan
        self._randomness = randomness
        self._lock = threading.Lock()
        self._used = False
        self._release: Release | None = None
        self._ended = False
        self.number = number
        self.subject = subject

    def release(self, table: object, **options: Any) -> Release:
        """Release ``table`` with the reserved plan, once, whatever comes of it; ``options`` as in :func:`pk.release`."""
        from ..._engines import release

        if fixed := {"plan", "randomness"} & options.keys():
            raise InputError(f"The reservation fixes the {sorted(fixed)[0]}; say it when you reserve.")
        with self._lock:
            self._refuse_if_ended()
            if self._used:
                raise RefusedError("This reservation was used; reserve again for another release.")
            self._used = True
        made = release(table, self._plan, randomness=self._randomness, **options)
        if made.certificate.void and _epsilon(self._plan, self._randomness) != UNBOUNDED:
            raise RefusedError("The release claims nothing, and an epsilon was reserved for it; it was thrown away.")
        with self._lock:  # its end waits until it is known whether rows are handed out
            self._refuse_if_ended()
            self._ledger._check_reserved(self.number)
            self._release = made
        return made

    def _refuse_if_ended(self) -> None:
        if self._ended:
            raise RefusedError("This reservation has ended; reserve again for another release.")

    def __enter__(self) -> Reservation:
        self._refuse_if_ended()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended = True
        try:
            if self._release is not None:
                self.number = self._ledger._count(self.number, _released(self._release) if kind is None else None)
            else:
                reason = (
                    "no release was made" if kind is None else f"ended by {kind.__name__} before any row was handed out"
                )
                self._ledger.abandon(self.number, reason=reason)
        except PkanonError:
            if kind is None:
                raise  # else the first error is the one to report, and the reservation counts


def _likeness(subject: str) -> str:
    """The same for subjects that people would take for one: letters can be stored in several forms."""
    return "".join(unicodedata.normalize("NFKC", subject).casefold().split())


def _epsilon(plan: Plan, randomness: Randomness | None) -> str:
    """What a release adds, as a decimal text rounded up."""
    from ..._sample import System, is_private

    if plan.void_reasons or not is_private(randomness or System()):
        return UNBOUNDED
    return round_up(plan.epsilon if plan.epsilon_unbounded is None else plan.epsilon_unbounded, DIGITS)


def _refuse(account: Account, epsilon: str) -> None:
    """Refuse what would go beyond the limit."""
    if account.limit is None:
        return
    needed, left = fraction(epsilon), account.left or Fraction(0)
    if needed is None:
        raise RefusedError(
            f"'{account.subject}' has a limit of epsilon {account.limit_text}, and this release has no epsilon: it claims "
            "nothing or is unbounded."
        )
    if needed > left:
        raise RefusedError(
            f"This release needs epsilon {round_up(needed)} and the limit of '{account.subject}' leaves {round_down(left)}: "
            f"{account.spent_text} of {account.limit_text} is spent."
        )


def _released(release: Release) -> Event:
    """What is known once the rows are there: the claims of the certificate, digit by digit."""
    certificate = release.certificate
    central = certificate.central
    return Event(
        "released",
        "",
        software=certificate.software,
        data=certificate.digests["data"],
        rows=release.rows,
        k=None if certificate.k is None else round_down(Fraction(certificate.k), 6),
        central_epsilon=None if central is None else round_up(Fraction(repr(central.epsilon)), DIGITS),
        delta=None if central is None else round_up(Fraction(repr(central.delta)), DIGITS_OF_DELTA),
    )
