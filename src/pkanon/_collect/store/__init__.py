"""Where answers are kept: in no order, without times or addresses (docs/collect/privacy.md says what remains).

cells.py     what is stored of one answer
sqlite.py    fixed slots in a file, overwritten in place at random
postgres.py  shuffled batches in a table that is rewritten in random order
store.py     what both promise

A database is named by an address: ``sqlite:///answers.db`` (a path relative to the current folder; four slashes for an
absolute one) or ``postgresql://user@host/name``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._errors import InputError
from .cells import KEY_BYTES, NO_KEY, Layout, next_batch
from .store import BEGUN, STATES, Contents, Store, StoreFailure

if TYPE_CHECKING:
    from ..._plan import Plan

__all__ = [
    "BEGUN",
    "KEY_BYTES",
    "NO_KEY",
    "STATES",
    "Contents",
    "Layout",
    "Store",
    "StoreFailure",
    "next_batch",
    "open_store",
]


def open_store(
    database: str, plan: Plan, digest: str, *, expected: int, create: bool = True, accept: Sequence[str] = ()
) -> Store:
    """The answers to the survey with this ``digest`` in a database, for one writer: this one.

    A new database is made ready for ``expected`` answers, if ``create``. Refused: the database of another survey, one that
    somebody else is writing to, and settings that would give the order of answers away, unless their names are in ``accept``.
    """
    layout = Layout.of(plan)
    if database.startswith("sqlite:///") and len(database) > len("sqlite:///"):
        from .sqlite import SqliteStore

        if accept:
            raise InputError("There is no setting to accept in a SQLite database; leave out --accept.")
        return SqliteStore(database.removeprefix("sqlite:///"), layout, digest, slots=2 * expected, create=create)
    if database.startswith(("postgresql://", "postgres://")):
        from .postgres import PostgresStore

        return PostgresStore(database, layout, digest, create=create, accept=tuple(accept))
    raise InputError(
        "The database is named like sqlite:///answers.db, or postgresql://user@host/name; there is no other kind."
    )
