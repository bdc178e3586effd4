"""The events of one subject, added up by basic composition.

The epsilons of all releases add up, and so do the central epsilons and their deltas (docs/why/theory.md 9). A
reservation counts from the moment it is made, whatever becomes of it, until somebody writes it off. Texts hold
decimals that were rounded up; sums are exact fractions of them, so nothing here can understate what is spent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from ..._plan import round_down, round_up
from .format import UNBOUNDED, Event


@dataclass(frozen=True)
class Entry:
    """One release of the people of an account, or what was to become one.

    ``state`` is reserved, released or abandoned; an abandoned entry does not count. ``epsilon`` is a decimal text, or
    "unbounded" for a release that claims nothing. ``plan`` and ``data`` are digests, as in the certificate of the release:
    they say which folder it is. What is only known after the release is None before. ``reason`` says why it is abandoned,
    or why it counts the rows of another entry. ``number`` counts all entries of the ledger, whatever their subject.
    """

    number: int
    date: str
    state: str
    epsilon: str
    plan: str
    records: int
    data: str | None = None
    rows: int | None = None
    k: str | None = None
    central_epsilon: str | None = None
    delta: str | None = None
    reason: str | None = None

    @property
    def counts(self) -> bool:
        """Whether it adds to what is spent."""
        return self.state != "abandoned"

    @property
    def whole(self) -> tuple[Fraction | None, Fraction]:
        """(epsilon, delta) of the release as a whole; None for unbounded.

        Where no central epsilon is stated, its own epsilon holds for the whole release too, with delta 0.
        """
        if self.central_epsilon is not None and self.delta is not None:
            return fraction(self.central_epsilon), Fraction(self.delta)
        return fraction(self.epsilon), Fraction(0)

    @property
    def epsilon_text(self) -> str:
        """Its epsilon, rounded up."""
        return short(fraction(self.epsilon))

    @property
    def central_text(self) -> str | None:
        """Its central epsilon and delta, rounded up; None where none is stated."""
        return None if self.central_epsilon is None else _whole_text(*self.whole)


@dataclass(frozen=True)
class Account:
    """What releases of the same people have spent.

    Attributes
    ----------
    subject
        What the custodian calls these people.
    entries
        The releases in the order in which they were reserved: number, date, state, epsilon, plan and what came of it.
    limits
        Every limit that was set, oldest first: its date and the epsilon, exactly. The last one counts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     account = pk.Ledger(Path(folder, "people.ledger")).set_limit("patients 2026", 10)
    >>> account.spent_text, account.left_text
    ('0', '10')
    """

    subject: str
    entries: tuple[Entry, ...] = ()
    limits: tuple[tuple[str, Fraction], ...] = ()

    @property
    def limit(self) -> Fraction | None:
        """The epsilon that all releases together may reach, exactly; None if there is no limit."""
        return self.limits[-1][1] if self.limits else None

    @property
    def spent(self) -> Fraction | None:
        """The sum of epsilon over all entries that count, exactly; None if one of them is unbounded."""
        return total(fraction(entry.epsilon) for entry in self.entries if entry.counts)

    @property
    def central(self) -> tuple[Fraction | None, Fraction]:
        """(epsilon, delta) of all releases as wholes, by basic composition: both add up. None for unbounded.

        A release that states no central epsilon adds its own epsilon and no delta.
        """
        wholes = [entry.whole for entry in self.entries if entry.counts]
        return total(epsilon for epsilon, _ in wholes), sum((delta for _, delta in wholes), Fraction(0))

    @property
    def left(self) -> Fraction | None:
        """What the limit leaves for further releases, never below 0; None if there is no limit."""
        if self.limit is None:
            return None
        return Fraction(0) if self.spent is None else max(self.limit - self.spent, Fraction(0))

    @property
    def exceeded_text(self) -> str | None:
        """By how much the limit is exceeded, rounded up, or "unbounded"; None if it is not, or if there is none."""
        if self.limit is None:
            return None
        if self.spent is None:
            return UNBOUNDED
        return round_up(self.spent - self.limit) if self.spent > self.limit else None

    @property
    def spent_text(self) -> str:
        """What is spent, rounded up."""
        return short(self.spent)

    @property
    def central_text(self) -> str:
        """The sums of central epsilon and delta, rounded up."""
        return _whole_text(*self.central)

    @property
    def limit_text(self) -> str | None:
        """The limit, rounded down; None if there is none."""
        return None if self.limit is None else round_down(self.limit)

    @property
    def limits_text(self) -> str:
        """Every limit that was set, rounded down, with its date."""
        return ", then ".join(f"{round_down(epsilon)} ({date[:10]})" for date, epsilon in self.limits)

    @property
    def left_text(self) -> str | None:
        """What is left of the limit, rounded down; None if there is no limit."""
        return None if self.left is None else round_down(self.left)

    def __repr__(self) -> str:
        count = sum(entry.counts for entry in self.entries)
        limit = "" if self.limit is None else f" of {self.limit_text}"
        return f"<Account '{self.subject}': {count} release{'s' * (count != 1)}, epsilon {self.spent_text}{limit}>"

    def to_json(self) -> dict[str, Any]:
        """The account as its verb prints it with --json; numbers are decimal texts."""
        epsilon, delta = self.central
        return {
            "subject": self.subject,
            "limit": None if self.limit is None else plain(self.limit),
            "limits": [{"date": date, "epsilon": plain(epsilon)} for date, epsilon in self.limits],
            "spent": UNBOUNDED if self.spent is None else plain(self.spent),
            "left": None if self.left is None else plain(self.left),
            "exceeded": self.exceeded_text,
            "central": {"epsilon": UNBOUNDED if epsilon is None else plain(epsilon), "delta": plain(delta)},
            "entries": [vars(entry) | {"counts": entry.counts} for entry in self.entries],
        }


def accounts(events: Iterable[Event]) -> dict[str, Account]:
    """Every subject in the ledger, in the order in which they came in."""
    entries: dict[str, dict[int, Entry]] = {}
    limits: dict[str, list[tuple[str, Fraction]]] = {}
    for event in events:
        own, own_limits = entries.setdefault(event.subject, {}), limits.setdefault(event.subject, [])
        if event.kind == "limit":
            own_limits.append((event.date, Fraction(event.epsilon or "")))
        elif event.entry is None:
            continue
        elif event.kind == "reserved":
            own[event.entry] = Entry(
                event.entry,
                event.date,
                "reserved",
                event.epsilon or "",
                event.plan or "",
                event.records or 0,
                reason=event.reason,
            )
        else:
            own[event.entry] = replace(
                own[event.entry],
                state=event.kind,
                data=event.data,
                rows=event.rows,
                k=event.k,
                central_epsilon=event.central_epsilon,
                delta=event.delta,
                reason=event.reason or own[event.entry].reason,
            )
    return {subject: Account(subject, tuple(own.values()), tuple(limits[subject])) for subject, own in entries.items()}


def fraction(text: str) -> Fraction | None:
    """A decimal text, exactly; None for unbounded."""
    return None if text == UNBOUNDED else Fraction(text)


def total(parts: Iterable[Fraction | None]) -> Fraction | None:
    """The sum; None if a part is unbounded."""
    result = Fraction(0)
    for part in parts:
        if part is None:
            return None
        result += part
    return result


def short(value: Fraction | None) -> str:
    """An epsilon as people read it: four decimals, rounded up."""
    return UNBOUNDED if value is None else round_up(value)


def _whole_text(epsilon: Fraction | None, delta: Fraction) -> str:
    small = Context(prec=2, rounding=ROUND_UP).divide(Decimal(delta.numerator), Decimal(delta.denominator))
    return f"{short(epsilon)} at delta = {float(small):g}"


def plain(value: Fraction) -> str:
    """A sum of decimals as a decimal text, exactly."""
    return round_up(value, DIGITS_OF_DELTA)


DIGITS = 12
"""Decimals of an epsilon in the ledger, the last one rounded up."""
DIGITS_OF_DELTA = 30
"""Decimals of a delta, the last one rounded up; of any sum, too, which makes sums exact."""
