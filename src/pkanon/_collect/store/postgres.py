"""A PostgreSQL table that holds little order: shuffled batches, rewritten as a whole in random order.

Every batch is one INSERT of shuffled rows: one transaction number, one command number. After every B answers and at the
close, one transaction copies all rows into a new table in the order of random numbers and drops the old one, so that neither the
place nor the transaction number of a row says anything. The server collects no statistics of the cells: it would keep a sample
of those that were there at some time, beside that time. Between rewrites the order of batches can be seen in the table, and
always in the write-ahead log of the server and in whatever copies it.

One session holds an advisory lock, which makes it the only writer; the server lets go of it when the session ends, also one
that was cut off while it committed. So a writer that gets the lock again sees whether that commit took place.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..._errors import InputError, RefusedError, missing_package
from .cells import HEAD_BYTES, KEY_BYTES, Layout, next_batch
from .store import BEGUN, IN_USE, Contents, StoreFailure

if TYPE_CHECKING:
    import psycopg

FORMAT = "pkanon-answers/1"
_UNWATCHED, _UNSAMPLED = "autovacuum_enabled = off", "ALTER COLUMN cell SET STATISTICS 0"
PATIENCE = 5.0
"""Seconds to wait for the lock of a session that was cut off, as by a service that was killed just before."""


class PostgresStore:
    """Answers in a table of a PostgreSQL database. See :class:`Store`."""

    def __init__(
        self, address: str, layout: Layout, digest: str, *, create: bool = True, accept: tuple[str, ...] = ()
    ) -> None:
        try:
            import psycopg
        except ImportError:
            raise missing_package("PostgreSQL needs the package psycopg", "collect") from None
        self._psycopg = psycopg
        self._address, self._layout, self._digest, self._accept = address, layout, digest, accept
        self._name = f"pkanon_{digest[:16]}"
        self._lock = int.from_bytes(hashlib.sha256(self._name.encode()).digest()[:8], "big", signed=True)
        self.warnings: tuple[str, ...] = ()
        self._connection = self._connect()
        try:
            self.warnings = self._check_settings(accepted=True)
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            connection = self._psycopg.connect(self._address, connect_timeout=10, application_name="pkanon")
            connection.execute("SET synchronous_commit = on")
            connection.commit()
            until = time.monotonic() + PATIENCE
            while not _value(connection, "SELECT pg_try_advisory_lock(%s)", self._lock):
                connection.commit()
                if time.monotonic() >= until:
                    connection.close()
                    raise InputError(f"The survey's table {IN_USE}")
                time.sleep(0.1)
            connection.commit()
            return connection
        except self._psycopg.Error:
            raise StoreFailure(
                "The PostgreSQL database cannot be reached; check its address, user and password, and that the server runs."
            ) from None

    def _check_settings(self, *, accepted: bool) -> tuple[str, ...]:
        """Refuse what would write down the order or the times of answers; the rest is said.

        With ``accepted``, refuse also to accept what need not be accepted.
        """
        connection = self._connection
        with self._failing():
            betrayals = dict(
                betraying_settings(lambda name: str(_value(connection, "SELECT current_setting(%s, true)", name)))
            )
            if _value(connection, "SELECT count(*) FROM pg_stat_replication") or _value(
                connection, "SELECT count(*) FROM pg_replication_slots"
            ):
                betrayals["replication"] = "another server gets a copy of every batch as it arrives"
            connection.commit()
        if accepted and (unknown := sorted(set(self._accept) - set(betrayals))):
            raise InputError(
                f"Nothing is to be accepted about '{unknown[0]}' on this server; leave out --accept {unknown[0]}."
            )
        if refused := [name for name in betrayals if name not in self._accept]:
            raise RefusedError(
                f"The PostgreSQL setting {refused[0]} would give away the order or the times of answers: {betrayals[refused[0]]}. "
                f"Change it, or say --accept {refused[0]} if that is meant."
            )
        return tuple(f"PostgreSQL, {name}: {reason}." for name, reason in betrayals.items())

    def _prepare(self, *, create: bool) -> None:
        with self._failing(), self._connection.transaction():
            exists = _value(self._connection, "SELECT to_regclass(%s)", f"{self._name}_meta") is not None
            if not exists and not create:
                raise InputError("The database has no answers to this survey.")
            if not exists:
                self._run(f"CREATE TABLE {self._name}(cell bytea NOT NULL) WITH ({_UNWATCHED})")
                self._run(f"ALTER TABLE {self._name} {_UNSAMPLED}")
                self._run(
                    f"CREATE TABLE {self._name}_meta(format text, survey text, state text, batches int, released bigint, snapshot bytea)"
                )
                values = (FORMAT, self._digest, "open", 0, 0, bytes(self._layout.snapshot_bytes))
                self._run(f"INSERT INTO {self._name}_meta VALUES (%s, %s, %s, %s, %s, %s)", *values)
            format, survey = self._row(f"SELECT format, survey FROM {self._name}_meta")
            if format != FORMAT or survey != self._digest:
                raise InputError(
                    "The database holds answers to another survey under the same name; use another database."
                )

    def contents(self) -> Contents:
        with self._failing(), self._connection.transaction():
            state, batches, released, snapshot = self._row(
                f"SELECT state, batches, released, snapshot FROM {self._name}_meta"
            )
            cells = self._cells()
        if _is_final(state):
            return Contents({}, len(cells) + released, state, batches, released, False, bytes(snapshot))
        known = {cell[:KEY_BYTES]: cell[HEAD_BYTES:] for cell in cells}
        released = sum(cell[KEY_BYTES] != 0 for cell in cells)
        begun = any(cell[KEY_BYTES] == batches + 1 for cell in cells)
        return Contents(known, len(cells), state, batches, released, begun, bytes(snapshot))

    def add(self, batch: Sequence[tuple[bytes, bytes]], snapshot: bytes | None = None) -> None:
        cells = [self._layout.cell(key, record) for key, record in batch]
        with self._failing(), self._connection.transaction():
            self._run(f"INSERT INTO {self._name}(cell) SELECT unnest(%s::bytea[])", cells)
            if snapshot is not None:
                self._run(f"UPDATE {self._name}_meta SET snapshot = %s", snapshot)

    def rewrite(self) -> None:
        with self._failing(), self._connection.transaction():
            self._swap("cell")

    def _swap(self, cell: str, condition: str = "") -> None:
        """A new table in random order in the place of the old one; ``cell`` is what is kept of a row."""
        self._run(
            f"CREATE TABLE {self._name}_new WITH ({_UNWATCHED}) AS SELECT {cell} AS cell FROM {self._name} {condition} "
            "ORDER BY gen_random_uuid()"
        )
        self._run(f"DROP TABLE {self._name}")
        self._run(f"ALTER TABLE {self._name}_new RENAME TO {self._name}")
        self._run(f"ALTER TABLE {self._name} ALTER COLUMN cell SET NOT NULL, {_UNSAMPLED}")

    def set_state(self, state: str) -> None:
        with self._failing(), self._connection.transaction():
            self._run(f"UPDATE {self._name}_meta SET state = %s", state)

    def records(self) -> list[bytes]:
        with self._failing(), self._connection.transaction():
            state, batches = self._row(f"SELECT state, batches FROM {self._name}_meta")
            cells = self._cells()
        if _is_final(state):
            return cells
        begun = [cell[HEAD_BYTES:] for cell in cells if cell[KEY_BYTES] == batches + 1]
        return begun or [cell[HEAD_BYTES:] for cell in cells if cell[KEY_BYTES] == 0]

    def begin_batch(self) -> None:
        contents = self.contents()
        if contents.begun:
            return
        number = next_batch(contents.batches)
        with self._failing(), self._connection.transaction():
            fresh = f"get_byte(cell, {KEY_BYTES}) = 0"
            self._swap(f"CASE WHEN {fresh} THEN set_byte(cell, {KEY_BYTES}, {number}) ELSE cell END")

    def end_batch(self) -> None:
        with self._failing(), self._connection.transaction():
            self._run(f"UPDATE {self._name}_meta SET batches = batches + 1")

    def finish(self) -> None:
        if self.contents().begun:
            raise RefusedError(BEGUN)
        with self._failing(), self._connection.transaction():
            (before,) = self._row(f"SELECT count(*) FROM {self._name}")
            self._swap(f"substring(cell FROM {HEAD_BYTES + 1})", f"WHERE get_byte(cell, {KEY_BYTES}) = 0")
            (after,) = self._row(f"SELECT count(*) FROM {self._name}")
            nothing = bytes(self._layout.snapshot_bytes)
            values = (before - after, nothing)
            self._run(f"UPDATE {self._name}_meta SET state = 'closed', released = %s, snapshot = %s", *values)
            # an UPDATE leaves the counts that were shown in the old table
            self._run(f"CREATE TABLE {self._name}_meta_new AS SELECT * FROM {self._name}_meta")
            self._run(f"DROP TABLE {self._name}_meta")
            self._run(f"ALTER TABLE {self._name}_meta_new RENAME TO {self._name}_meta")

    def mark_released(self) -> None:
        self.set_state("released")

    def reopen(self) -> None:
        with suppress(self._psycopg.Error):
            self._connection.close()
        try:
            self._connection = self._connect()
            self._check_settings(accepted=False)  # the server may have been started again with others
        except (
            InputError,
            RefusedError,
        ) as error:  # also the lock of the session that was cut off, or of somebody else
            raise StoreFailure(str(error)) from None

    def close(self) -> None:
        with suppress(self._psycopg.Error):
            self._connection.rollback()
            self._run("SELECT pg_advisory_unlock_all()")  # at once; the server takes its time to end a session
            self._connection.commit()
        with suppress(self._psycopg.Error):
            self._connection.close()

    def _cells(self) -> list[bytes]:
        cursor = self._connection.execute(f"SELECT cell FROM {self._name}", binary=True)
        return [bytes(cell) for (cell,) in cursor]

    def _run(self, command: str, *values: object) -> None:
        self._connection.execute(command, values or None)

    def _row(self, command: str) -> tuple[Any, ...]:
        row = self._connection.execute(command).fetchone()
        assert row is not None
        return tuple(row)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error:
            raise StoreFailure("The PostgreSQL database failed; the server may have been stopped.") from None


_TIMES = "every batch is written to the server's log with its time"
_LIBRARIES = ("auto_explain", "pgaudit")
_SETTINGS: dict[str, tuple[tuple[str, ...], str]] = {
    "track_commit_timestamp": (("off",), "the time of every commit is kept"),
    "log_statement": (("none", "ddl"), _TIMES),
    "log_duration": (("off",), _TIMES),
    "log_parser_stats": (("off",), _TIMES),
    "log_planner_stats": (("off",), _TIMES),
    "log_executor_stats": (("off",), _TIMES),
    "log_statement_stats": (("off",), _TIMES),
    "debug_print_raw_parse": (("off",), _TIMES),
    "debug_print_parse": (("off",), _TIMES),
    "debug_print_rewritten": (("off",), _TIMES),
    "debug_print_plan": (("off",), _TIMES),
    "log_min_messages": (("info", "notice", "warning", "error", "log", "fatal", "panic"), _TIMES),
    "log_min_duration_statement": (("-1",), "slow batches are written to the server's log with their time"),
    "log_min_duration_sample": (("-1",), "some batches are written to the server's log with their time"),
    "log_transaction_sample_rate": (("0",), "some batches are written to the server's log with their time"),
    "log_parameter_max_length_on_error": (("0",), "answers of a batch that fails are written to the server's log"),
    "archive_mode": (("off",), "the write-ahead log is kept, and with it the order of batches"),
    "wal_level": (("minimal", "replica"), "the write-ahead log can be decoded into rows in their order"),
    "summarize_wal": (("off",), "the server keeps which pages were written when, after the write-ahead log is gone"),
    "fsync": (("on",), "acknowledged answers can be lost"),
}
"""The values that give nothing away, and what others do."""


def betraying_settings(setting: Any) -> Iterator[tuple[str, str]]:
    """The settings of a server that would give answers away, and why; ``setting`` gives the value of a name."""
    for name, (harmless, reason) in _SETTINGS.items():
        if setting(name) not in (*harmless, "None", ""):
            yield name, reason
    loaded = f"{setting('shared_preload_libraries')},{setting('session_preload_libraries')},{setting('local_preload_libraries')}"
    for library in _LIBRARIES:
        if library in loaded:
            yield library, "it writes statements to the server's log with their time"


def _is_final(state: str) -> bool:
    return state in ("closed", "released")


def _value(connection: psycopg.Connection[Any], command: str, *values: object) -> Any:
    row = connection.execute(command, values or None).fetchone()
    return None if row is None else row[0]
