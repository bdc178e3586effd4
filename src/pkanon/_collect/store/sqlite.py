"""A SQLite file that holds no order: fixed slots, overwritten in place.

The table is filled beforehand with free slots of one length. An answer overwrites a free slot that is drawn uniformly
with the system's randomness. SQLite overwrites a row of equal length in place, so the slots are a function of which slot holds
what; a probe at every start refuses a SQLite that does otherwise. Three things in the file say more. The change counter of the
header (offsets 24 and 92) counts transactions. The counts that are shown as results are those of some earlier answers, at least B
before the last one. Answers of a released batch bear its number, so they can be told from later ones.

The rollback journal is truncated after every transaction: a write-ahead log would keep the last thousand answers in order. There
is no index; keys are read into memory at the start.

When no slot is free, all answers move to new random slots of a table twice as large. At the close, keys and counts are erased,
answers move once more, and a fresh file takes the place of the old one.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..._errors import EnvironmentFailure, InputError, RefusedError
from ..._files import sync
from .cells import HEAD_BYTES, KEY_BYTES, NO_KEY, Layout, next_batch
from .store import BEGUN, IN_USE, Contents, StoreFailure

FORMAT = "pkanon-answers/1"
OLDEST = (3, 37, 0)
LEAST_SLOTS = 256
_STATE_WIDTH = 8
_HEADER_COUNTERS = (slice(24, 28), slice(92, 96))
_random = secrets.SystemRandom()


class SqliteStore:
    """Answers in the slots of a SQLite file. See :class:`Store`."""

    def __init__(self, path: str, layout: Layout, digest: str, *, slots: int, create: bool = True) -> None:
        self.warnings: tuple[str, ...] = ()
        self._path = Path(path).absolute()
        self._layout, self._digest, self._slots = layout, digest, max(slots, LEAST_SLOTS)
        _check_library()
        if not self._path.parent.is_dir():
            raise InputError(f"The folder of {path} does not exist; create it first.")
        if not create and not self._path.is_file():
            raise InputError(f"There is no database {path}.")
        self._free: list[int] = []
        self._lock = _lock(self._path)
        try:
            self._connection = self._connect()
        except BaseException:
            self._lock.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = _connection(self._path)
            try:
                return self._prepared(connection)
            except BaseException:
                connection.close()
                raise
        except sqlite3.DatabaseError:
            raise EnvironmentFailure(
                f"{self._path} cannot be used: it is no SQLite database, or the disk failed."
            ) from None

    def _prepared(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            self._create(connection)
        try:
            meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        except sqlite3.OperationalError:
            meta = {}
        if meta.get("format") != FORMAT:
            raise InputError(f"{self._path} does not hold the answers of a survey; choose another file.")
        if meta["survey"] != self._digest:
            raise InputError(
                f"{self._path} holds the answers to another survey; every survey has a database of its own."
            )
        if _is_final(meta["state"].strip()) and connection.execute("PRAGMA freelist_count").fetchone()[0]:
            return self._renewed(connection)  # the close was interrupted after the answers had moved
        if not _is_final(meta["state"].strip()):
            free = (bytes(self._layout.cell_bytes),)
            self._free = [id for (id,) in connection.execute("SELECT id FROM slot WHERE cell = ?", free)]
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        free = bytes(self._layout.cell_bytes)
        with _transaction(connection):
            connection.execute("CREATE TABLE meta(id INTEGER PRIMARY KEY, name TEXT NOT NULL, value NOT NULL)")
            connection.execute("CREATE TABLE slot(id INTEGER PRIMARY KEY, cell BLOB NOT NULL)")
            connection.executemany(
                "INSERT INTO meta(name, value) VALUES (?, ?)",
                [
                    ("format", FORMAT),
                    ("survey", self._digest),
                    ("state", "open".ljust(_STATE_WIDTH)),
                    ("batches", bytes(1)),
                    ("released", bytes(8)),
                    ("snapshot", bytes(self._layout.snapshot_bytes)),
                ],
            )
            connection.executemany("INSERT INTO slot VALUES (?, ?)", ((i, free) for i in range(1, self._slots + 1)))

    def contents(self) -> Contents:
        with self._failing():
            meta = self._meta()
            state, batches, snapshot = str(meta["state"]).strip(), _bytes(meta["batches"])[0], _bytes(meta["snapshot"])
            if _is_final(state):
                released = int.from_bytes(_bytes(meta["released"]), "little")
                (kept,) = self._connection.execute("SELECT count(*) FROM answer").fetchone()
                return Contents({}, kept + released, state, batches, released, False, snapshot)
            cells = list(self._taken())
        known = {cell[:KEY_BYTES]: cell[HEAD_BYTES:] for cell in cells}
        released = sum(cell[KEY_BYTES] != 0 for cell in cells)
        begun = any(cell[KEY_BYTES] == batches + 1 for cell in cells)
        return Contents(known, len(known), state, batches, released, begun, snapshot)

    def add(self, batch: Sequence[tuple[bytes, bytes]], snapshot: bytes | None = None) -> None:
        with self._failing():
            while len(self._free) < len(batch):
                self._grow()
            slots = self._draw(len(batch))
            cells = [self._layout.cell(key, record) for key, record in batch]
            # One statement, and a transaction of its own: every further one could wait for the thread of the service.
            rows = ", ".join(["(?, ?)"] * len(batch))
            update = (
                f"WITH new(id, cell) AS (VALUES {rows}) UPDATE slot SET cell = new.cell FROM new WHERE slot.id = new.id"
            )
            values = [value for pair in zip(slots, cells) for value in pair]
            try:
                if snapshot is None:
                    self._connection.execute(update, values)
                else:
                    with _transaction(self._connection):
                        self._connection.execute(update, values)
                        self._set("snapshot", snapshot)
            except BaseException:
                self._free += slots
                raise

    def _draw(self, count: int) -> list[int]:
        """Free slots, uniformly at random, and free no more."""
        free, drawn = self._free, []
        for _ in range(count):
            place = secrets.randbelow(len(free))
            free[place], free[-1] = free[-1], free[place]
            drawn.append(free.pop())
        return drawn

    def _grow(self) -> None:
        """All answers to new random slots of a table twice as large."""
        taken = list(self._taken())
        slots = 2 * (len(taken) + len(self._free))
        places = _random.sample(range(1, slots + 1), len(taken))
        cells = dict(zip(places, taken))
        free = bytes(self._layout.cell_bytes)
        with _transaction(self._connection):
            self._connection.execute("CREATE TABLE larger(id INTEGER PRIMARY KEY, cell BLOB NOT NULL)")
            self._connection.executemany(
                "INSERT INTO larger VALUES (?, ?)", ((i, cells.get(i, free)) for i in range(1, slots + 1))
            )
            self._connection.execute("DROP TABLE slot")
            self._connection.execute("ALTER TABLE larger RENAME TO slot")
        self._connection.execute("VACUUM")
        self._free = [i for i in range(1, slots + 1) if i not in cells]

    def set_state(self, state: str) -> None:
        with self._failing(), _transaction(self._connection):
            self._set("state", state.ljust(_STATE_WIDTH))

    def rewrite(self) -> None:
        """Nothing to forget: the file holds no order."""

    def records(self) -> list[bytes]:
        with self._failing():
            if _is_final(str(self._meta()["state"]).strip()):
                return [row[0] for row in self._connection.execute("SELECT cell FROM answer")]
            cells, next_one = list(self._taken()), _bytes(self._meta()["batches"])[0] + 1
        begun = [cell[HEAD_BYTES:] for cell in cells if cell[KEY_BYTES] == next_one]
        return begun or [cell[HEAD_BYTES:] for cell in cells if cell[KEY_BYTES] == 0]

    def begin_batch(self) -> None:
        contents = self.contents()
        if contents.begun:
            return
        number = next_batch(contents.batches)
        with self._failing(), _transaction(self._connection):
            found = self._connection.execute("SELECT id, cell FROM slot").fetchall()
            fresh = [(id, cell) for id, cell in found if cell[:KEY_BYTES] != NO_KEY and cell[KEY_BYTES] == 0]
            self._connection.executemany(
                "UPDATE slot SET cell = ? WHERE id = ?",
                [(cell[:KEY_BYTES] + bytes([number]) + cell[HEAD_BYTES:], id) for id, cell in fresh],
            )

    def end_batch(self) -> None:
        with self._failing(), _transaction(self._connection):
            self._set("batches", bytes([_bytes(self._meta()["batches"])[0] + 1]))

    def finish(self) -> None:
        if self.contents().begun:
            raise RefusedError(BEGUN)
        with self._failing():
            taken = list(self._taken())
            kept = [cell[HEAD_BYTES:] for cell in taken if cell[KEY_BYTES] == 0]
            _random.shuffle(kept)
            with _transaction(self._connection):
                self._connection.execute("CREATE TABLE answer(id INTEGER PRIMARY KEY, cell BLOB NOT NULL)")
                self._connection.executemany("INSERT INTO answer VALUES (?, ?)", enumerate(kept, 1))
                self._connection.execute("DROP TABLE slot")
                self._set("snapshot", bytes(self._layout.snapshot_bytes))
                self._set("released", (len(taken) - len(kept)).to_bytes(8, "little"))
                self._set("state", "closed".ljust(_STATE_WIDTH))
            self._free = []
            self._connection = self._renewed(self._connection)

    def _renewed(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """A fresh copy of the file in its place."""
        fresh = self._path.with_name(f"{self._path.name}.closing")
        fresh.unlink(missing_ok=True)
        _create_private(fresh)  # SQLite fills a file that is empty
        connection.execute("VACUUM INTO ?", (str(fresh),))
        connection.close()
        sync(fresh)
        os.replace(fresh, self._path)
        sync(self._path.parent)
        return _connection(self._path)

    def mark_released(self) -> None:
        self.set_state("released")

    def reopen(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()
        try:
            self._connection = self._connect()
        except EnvironmentFailure as error:
            raise StoreFailure(str(error)) from None

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()
        self._lock.close()

    def _taken(self) -> Iterator[bytes]:
        for (cell,) in self._connection.execute("SELECT cell FROM slot"):
            if cell[:KEY_BYTES] != NO_KEY:
                yield cell

    def _meta(self) -> dict[str, object]:
        return dict(self._connection.execute("SELECT name, value FROM meta").fetchall())

    def _set(self, name: str, value: str | bytes) -> None:
        self._connection.execute("UPDATE meta SET value = ? WHERE name = ?", (value, name))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError):
            raise StoreFailure(f"The database {self._path} could not be written.") from None


def _is_final(state: str) -> bool:
    return state in ("closed", "released")


def _bytes(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def _connection(path: Path | str) -> sqlite3.Connection:
    """A connection whose files keep nothing of earlier transactions; refused where the library does not obey."""
    if path != ":memory:" and not Path(path).exists():
        _create_private(Path(path))
    connection = sqlite3.connect(str(path), isolation_level=None, check_same_thread=False, timeout=5)
    wanted = {"journal_mode": "truncate", "synchronous": 2, "secure_delete": 1, "temp_store": 2}
    for name, value in wanted.items():
        connection.execute(f"PRAGMA {name} = {value}")
        got = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if got != value and path != ":memory:":
            connection.close()
            raise EnvironmentFailure(
                f"{path}: this SQLite does not accept {name} = {value}, so the file would keep the order of answers; "
                "use another file system, or PostgreSQL."
            )
    return connection


def _create_private(path: Path) -> None:
    """An empty file that nobody else can read, at no moment."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _lock(path: Path) -> IO[bytes]:
    """An exclusive lock beside the database, held until it is closed or the process ends."""
    try:
        file = open(path.with_name(f"{path.name}.lock"), "ab")  # noqa: SIM115  held open on purpose
    except OSError as error:
        raise EnvironmentFailure(f"Cannot lock {path}: {error.strerror}.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InputError(f"{path} {IN_USE}") from None
    return file


def _check_library() -> None:
    if sqlite3.sqlite_version_info < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise EnvironmentFailure(
            f"SQLite {needed} or newer is needed; this is {sqlite3.sqlite_version}. Or use PostgreSQL."
        )
    if not overwrites_in_place():
        raise EnvironmentFailure(
            f"SQLite {sqlite3.sqlite_version} does not overwrite rows in place as it is built here, so the file would keep the "
            "order of answers; use PostgreSQL."
        )


def overwrites_in_place() -> bool:
    """Whether slots filled in two orders give the same bytes, but for the change counter."""
    cells = {i: bytes([i]) * 40 for i in range(1, 9)}
    images = []
    for order in ((1, 5, 3, 8), (8, 3, 5, 1)):
        connection = _connection(":memory:")
        try:
            connection.execute("CREATE TABLE slot(id INTEGER PRIMARY KEY, cell BLOB NOT NULL)")
            connection.executemany("INSERT INTO slot VALUES (?, ?)", [(i, bytes(40)) for i in cells])
            for i in order:
                connection.execute(
                    "WITH new(id, cell) AS (VALUES (?, ?)) UPDATE slot SET cell = new.cell FROM new WHERE slot.id = new.id",
                    (i, cells[i]),
                )
            images.append(without_counters(connection.serialize()))
        finally:
            connection.close()
    return images[0] == images[1]


def without_counters(image: bytes) -> bytes:
    """A database file without the counters of its header that say how often it was written."""
    cleared = bytearray(image)
    for place in _HEADER_COUNTERS:
        cleared[place] = bytes(4)
    return bytes(cleared)
