"""An append-only file of events, in SQLite.

Events are numbered 1, 2, 3, ... in the order in which they were written. Triggers refuse to change, remove or insert
between them. Every write is one transaction that takes the lock first (BEGIN IMMEDIATE), so that what it reads is
still true when it writes, and waits for other runs that hold the lock.

The journal is SQLite's rollback journal, not its write-ahead log: between writes the ledger is a single file, which
a backup copies whole and which needs no shared memory. ``synchronous = EXTRA`` also flushes the folder after the
journal is removed; without that, a loss of power could bring the journal back and undo an event that a run relied on.

A process that is killed while it writes leaves a journal behind, and whoever opens the ledger next rolls it back.

A new file is made under another name and linked into place when its tables are in it. So a ledger is never empty: a
file of zero bytes was emptied, and is refused.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from ..._errors import EnvironmentFailure, InputError
from .format import APPLICATION, COLUMNS, VERSION, Damage, Event, begin, read_events

PATIENCE = 60.0
"""Seconds that a run waits for others; each of them holds the lock for some milliseconds."""


class Writing:
    """The ledger while this run holds its lock: what was written so far, and a way to add to it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.events = read_events(connection)

    def append(self, event: Event) -> Event:
        """Add an event; the store gives it its number and its date (UTC), and numbers reservations."""
        if event.kind == "reserved":
            event = replace(event, entry=1 + sum(before.kind == "reserved" for before in self.events))
        number = len(self.events) + 1
        date = datetime.now(UTC).isoformat(timespec="seconds")
        values = {name: getattr(event, name) for name in COLUMNS} | {"number": number, "date": date}
        marks = ", ".join("?" for _ in COLUMNS)
        self._connection.execute(
            f"INSERT INTO events ({', '.join(COLUMNS)}) VALUES ({marks})", [values[name] for name in COLUMNS]
        )
        written = Event(**values)
        self.events.append(written)
        return written


class Store:
    """The file. It is opened anew for every use, so that no run holds it while it computes."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def exists(self) -> bool:
        """Whether there is such a file; if not, there must be a folder to begin it in."""
        if self._is_there():
            return True
        if not self.path.absolute().parent.is_dir():
            raise InputError(f"Cannot begin the ledger {self.path}: its folder does not exist; create it first.")
        return False

    def read(self) -> list[Event]:
        """Every event so far, in order."""
        if not self._is_there():
            raise InputError(f"There is no ledger {self.path}; a release with --ledger, or a limit, begins one.")
        with self._open() as connection:
            connection.execute("BEGIN")  # one moment for all that is read
            self._check_kind(connection)
            return read_events(connection)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Hold the lock. What was appended is kept if the body ends without an error, else none of it."""
        self._create()
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._check_kind(connection)
                yield Writing(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _is_there(self) -> bool:
        try:
            os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:  # a folder that may not be searched, a name that is too long
            raise EnvironmentFailure(f"Cannot use the ledger {self.path}: {error.strerror}.") from None
        return True

    def _create(self) -> None:
        """A ledger without events that only its owner can read, if there is no file yet."""
        if self.exists():
            return
        draft = self.path.with_name(f".ledger-{secrets.token_hex(8)}")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            try:
                with self._connected(draft) as connection:
                    begin(connection)
                os.link(draft, self.path)  # unlike a renaming, it never replaces the file of another run
            finally:
                os.unlink(draft)
        except FileExistsError:
            pass
        except OSError as error:
            raise EnvironmentFailure(f"Cannot begin the ledger {self.path}: {error.strerror}.") from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():
            raise InputError(f"{self.path} is not a ledger; it is not a file.")
        if self.path.stat().st_size == 0:
            raise InputError(
                f"The ledger {self.path} is damaged: the file is empty, which a new one never is; take it from a backup."
            )
        with self._connected(self.path) as connection:
            yield connection

    @contextmanager
    def _connected(self, path: Path) -> Iterator[sqlite3.Connection]:
        address = f"file:{quote(str(path.absolute()))}?mode=rw"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                yield connection
        except Damage as damage:
            raise InputError(
                f"The ledger {self.path} is damaged or was edited: {damage}; take it from a backup."
            ) from None
        except sqlite3.Error as error:
            self._explain(error)

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        """Refuse a file of another kind or of a later version."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise InputError(f"{self.path} is not a ledger; it is a database of another kind.")
        if version != VERSION:
            raise InputError(
                f"The ledger {self.path} has version {version}; this pkanon knows version {VERSION} only, so use a newer one."
            )

    def _explain(self, error: sqlite3.Error) -> NoReturn:
        """The sentence for what SQLite reports."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without the extended part
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise EnvironmentFailure(f"The ledger {self.path} is in use by other runs; try again.") from None
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise InputError(f"{self.path} is not a ledger, or it is damaged; take it from a backup.") from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            raise EnvironmentFailure(
                f"Cannot write the ledger {self.path}: the file or its folder cannot be written."
            ) from None
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise EnvironmentFailure(f"Cannot use the ledger {self.path}: the disk is full or failed.") from None
        if code == sqlite3.SQLITE_ERROR and not isinstance(error, sqlite3.ProgrammingError):  # a text that is no text
            raise InputError(f"The ledger {self.path} is damaged or was edited; take it from a backup.") from None
        raise error
