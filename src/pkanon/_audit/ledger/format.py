"""What is in the file of a ledger, and when it is damaged.

The tables refuse events that make no sense: an epsilon that is no decimal of at least 0, the end of what was not
reserved. Somebody who may write the file can get around that, so whoever reads it checks every event again, and that
the tables and triggers are those of a ledger. :class:`Damage` says what is wrong.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, fields
from functools import cache

APPLICATION = 0x706B6C67  # "pklg", in the header of the file
VERSION = 1
UNBOUNDED = "unbounded"
"""The epsilon of a release that claims nothing."""
LARGEST = 10**1000
"""Numbers in a ledger are below it."""


def _decimal(column: str) -> str:
    """The condition that a column holds the text of a decimal that is not negative."""
    return (
        f"typeof({column}) = 'text' AND {column} GLOB '[0-9]*' AND {column} GLOB '*[0-9]'"
        f" AND {column} NOT GLOB '*[^0-9.]*' AND {column} NOT GLOB '*.*.*'"
    )


def _count(column: str) -> str:
    """The condition that a column holds a whole number that is not negative."""
    return f"typeof({column}) = 'integer' AND {column} >= 0"


TABLE = f"""
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('limit', 'reserved', 'released', 'abandoned')),
    subject TEXT NOT NULL CHECK (typeof(subject) = 'text'),
    date TEXT NOT NULL,
    entry INTEGER CHECK ((entry IS NOT NULL) = (kind <> 'limit')),
    epsilon TEXT CHECK (
        CASE WHEN kind = 'reserved' AND epsilon = '{UNBOUNDED}' THEN 1
        WHEN kind IN ('limit', 'reserved') THEN epsilon IS NOT NULL AND {_decimal("epsilon")}
        ELSE epsilon IS NULL END
    ),
    plan TEXT,
    software TEXT,
    data TEXT,
    records INTEGER CHECK (records IS NULL OR {_count("records")}),
    rows INTEGER CHECK (rows IS NULL OR {_count("rows")}),
    k TEXT CHECK (k IS NULL OR {_decimal("k")}),
    central_epsilon TEXT CHECK (central_epsilon IS NULL OR {_decimal("central_epsilon")}),
    delta TEXT CHECK (delta IS NULL OR {_decimal("delta")}),
    reason TEXT
);
CREATE UNIQUE INDEX ends ON events (entry) WHERE kind IN ('released', 'abandoned');
CREATE TRIGGER never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER never_removed BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER only_appended BEFORE INSERT ON events
WHEN NEW.number <> (SELECT ifnull(max(number), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER numbers_entries BEFORE INSERT ON events
WHEN NEW.kind = 'reserved' AND NEW.entry <> (SELECT count(*) + 1 FROM events WHERE kind = 'reserved')
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER ends_a_reservation BEFORE INSERT ON events
WHEN NEW.kind IN ('released', 'abandoned') AND NOT EXISTS (
    SELECT 1 FROM events WHERE kind = 'reserved' AND entry = NEW.entry AND subject = NEW.subject
)
BEGIN SELECT RAISE(ABORT, 'only a reservation can end'); END;
"""


@dataclass(frozen=True)
class Event:
    """One line of the file. Numbers that must not lose a digit are texts.

    ``entry`` counts the reservations of the ledger from 1; ``released`` and ``abandoned`` name the one that they end.
    ``plan`` and ``data`` are digests.
    """

    kind: str
    subject: str
    entry: int | None = None
    epsilon: str | None = None
    plan: str | None = None
    software: str | None = None
    data: str | None = None
    records: int | None = None
    rows: int | None = None
    k: str | None = None
    central_epsilon: str | None = None
    delta: str | None = None
    reason: str | None = None
    date: str = ""
    number: int = 0


COLUMNS = tuple(field.name for field in fields(Event))
NEEDED = {
    "limit": {"epsilon"},
    "reserved": {"entry", "epsilon", "plan", "records"},
    "released": {"entry", "software", "data", "rows"},
    "abandoned": {"entry", "reason"},
}
POSSIBLE = {
    "limit": set[str](),
    "reserved": {"reason"},
    "released": {"k", "central_epsilon", "delta"},
    "abandoned": set[str](),
}
"""What an event of a kind has, and what it may have beside that; all have number, kind, subject and date."""
DECIMALS = {"epsilon", "k", "central_epsilon", "delta"}
COUNTS = {"number", "entry", "records", "rows"}
DECIMAL = re.compile(r"[0-9]{1,1001}(\.[0-9]{1,30})?", re.ASCII)


class Damage(Exception):
    """The file does not hold what a ledger holds; its text is a part of a sentence."""


def begin(connection: sqlite3.Connection) -> None:
    """Make the tables of a new ledger, and say in the header that it is one."""
    connection.executescript(
        f"BEGIN; {TABLE} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    )


def read_events(connection: sqlite3.Connection) -> list[Event]:
    """Every event in order, checked."""
    if _tables(connection) != _tables_of_a_ledger():
        raise Damage("its tables were changed")
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY number").fetchall()
    events = [Event(*row) for row in rows]
    reservations, open_entries = 0, dict[int | None, str]()
    for place, event in enumerate(events, start=1):
        if event.number != place:
            raise Damage(f"event {place} is missing")
        if not _is_sound(event):
            raise Damage(f"event {place} is none that pkanon writes")
        if event.kind == "reserved":
            reservations += 1
            if event.entry != reservations:
                raise Damage(f"entry {reservations} is missing")
            open_entries[event.entry] = event.subject
        elif event.kind != "limit" and open_entries.pop(event.entry, None) != event.subject:
            raise Damage(f"event {place} ends what was not reserved")
    return events


def _is_sound(event: Event) -> bool:
    """Whether an event has what its kind has, and all of it is of the right kind."""
    if not isinstance(event.kind, str) or event.kind not in NEEDED:
        return False
    own = {name for name in COLUMNS if getattr(event, name) is not None} - {"number", "kind", "subject", "date"}
    if not NEEDED[event.kind] <= own <= NEEDED[event.kind] | POSSIBLE[event.kind]:
        return False
    for name in {"subject", "date", *own}:
        value = getattr(event, name)
        if name in COUNTS:
            sound = isinstance(value, int) and value >= 0
        elif not isinstance(value, str) or not value.isprintable():
            sound = False
        elif name in DECIMALS:
            unbounded = event.kind == "reserved" and name == "epsilon" and value == UNBOUNDED
            sound = unbounded or DECIMAL.fullmatch(value) is not None
        else:
            sound = True
        if not sound:
            return False
    return True


def _tables(connection: sqlite3.Connection) -> dict[str, str | None]:
    """Tables, indices and triggers by name; SQLite's own are left out."""
    return dict(
        connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'").fetchall()
    )


@cache
def _tables_of_a_ledger() -> dict[str, str | None]:
    connection = sqlite3.connect(":memory:")
    begin(connection)
    tables = _tables(connection)
    connection.close()
    return tables
