"""What every store promises.

- ``add`` is durable when it returns: an acknowledged answer survives the end of the process and of the machine.
- After a crash the store holds each batch as a whole or not at all.
- The stored bytes do not depend on the order of answers any further than the docstring of the store says.
- One writer: a second one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..._errors import EnvironmentFailure

STATES = ("open", "paused", "closed", "released")
"""In this order; a closed survey has no keys left and cannot be opened again."""


IN_USE = (
    "is in use by another process, as a rule the survey's service, which has it for itself: stop the service, or give pause, resume, "
    "close and status its address instead."
)
BEGUN = "A batch was begun and not ended; release it first (pkanon collect release --batch)."


class StoreFailure(EnvironmentFailure):
    """The database failed; whether the last batch is stored is known after ``reopen``."""


@dataclass(frozen=True)
class Contents:
    """What a store holds when it is opened.

    ``known`` maps submission keys to records (nothing once the survey is closed); ``count`` is the number of all accepted
    answers, ``released`` of those in batches, also in one that was begun and not ended (``begun``); ``batches`` have ended.
    ``snapshot`` holds the counts that are shown, in the bytes of :class:`Tally`: zeros before the first and after the close.
    """

    known: dict[bytes, bytes]
    count: int
    state: str
    batches: int
    released: int
    begun: bool
    snapshot: bytes


class Store(Protocol):
    """Answers in a database, for one writer."""

    warnings: tuple[str, ...]
    """What the operator should know about the database, a sentence each."""

    def contents(self) -> Contents:
        """Everything that is stored."""

    def add(self, batch: Sequence[tuple[bytes, bytes]], snapshot: bytes | None = None) -> None:
        """Store new answers, each a key and a record, in one transaction; and what is shown from now on, if that changes."""

    def set_state(self, state: str) -> None:
        """Open or pause."""

    def rewrite(self) -> None:
        """Forget whatever order the database may show."""

    def records(self) -> list[bytes]:
        """The records to release, in an order that says nothing: those of a batch that was begun, else all that no batch holds."""

    def begin_batch(self) -> None:
        """Mark all unreleased answers as the next batch, before anybody gets it; nothing changes if one was begun."""

    def end_batch(self) -> None:
        """Note that the batch that was begun is released; its keys stay known until the survey is closed."""

    def finish(self) -> None:
        """Close for ever: erase keys, the snapshot and the answers of earlier batches; put the others in a fresh random order.

        Refused while a batch is begun and not ended: nobody knows then whether its answers are released.
        """

    def mark_released(self) -> None:
        """Note that the closed survey was released."""

    def reopen(self) -> None:
        """Connect again after a failure, as the only writer."""

    def close(self) -> None:
        """Let go of the database."""
