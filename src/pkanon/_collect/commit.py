"""Group commit: answers are stored in shuffled batches, and acknowledged when they are on the disk.

An answer waits until there are enough for a batch or a moment has passed; while one batch is stored, the next one grows. A
batch is shuffled, stored in one transaction in a
thread of its own, and then acknowledged in that shuffled order. A batch ends at every multiple of B answers, so that the
counts which results are made of are those of just that many answers.

Whoever has all rows and older counts has the rows in between. So the counts of m B answers wait in memory, and are stored and
shown once (m + 1) B answers are in; a restart forgets them. Counts less than B answers after a released batch are never shown.
So what is shown, what is released and what is stored differ by B answers or more from each other.

Every answer has a submission key, and a dictionary of all keys is kept in memory: the same key and record again is
acknowledged without being stored again, the same key with another record is a conflict. If the database fails, whoever waits
is told to try again, and the dictionary is read anew from the database before anything else is stored: a batch whose
fate was unknown is then there or not, and a client that tries again is counted once. Whatever goes wrong, that is tried until it
succeeds; if the writer ends all the same, ``failed`` says so and everybody is sent away.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from .._errors import PkanonError
from .store import Contents, Layout, Store
from .tally import Tally

BATCH = 64
"""Answers of one batch, at most."""
ENOUGH = 16
"""Answers that are not made to wait for more. With larger batches clients and server take turns instead of working at once."""
PATIENCE = 0.02
"""Seconds that the first answer of a batch waits for others."""
MOST_WAITING = 2_048
"""Answers that wait at one time; more are told to come back."""
RECONNECT = 0.5
"""Seconds between attempts to reach a database that failed."""

log = logging.getLogger("pkanon.collect")
_random = secrets.SystemRandom()
Result = TypeVar("Result")


class Outcome(Enum):
    """What became of an answer."""

    STORED = "stored"
    CONFLICT = "conflict"
    BUSY = "busy"


@dataclass(frozen=True)
class _Waiting:
    record: bytes
    future: asyncio.Future[Outcome]


class GroupCommit:
    """Stores answers of one survey; made and used in one event loop."""

    def __init__(self, store: Store, layout: Layout, *, every: int, patience: float = PATIENCE) -> None:
        self._store, self._layout, self._every = store, layout, every
        self._patience = patience
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pkanon-store")
        self._waiting: dict[bytes, _Waiting] = {}  # in the order of arrival, until their batch is drawn up
        self._storing: dict[bytes, _Waiting] = {}
        self._arrived, self._enough = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ready, self.failed = True, False
        self._since = 0.0  # when the first of those who wait has come
        self._load(store.contents())

    def _load(self, contents: Contents) -> None:
        self._known = contents.known
        self.state, self.accepted, self.released = contents.state, contents.count, contents.released
        self._tally = Tally(self._layout, contents.known.values())
        self._shown = contents.snapshot
        self._held: bytes | None = None  # the counts of the last multiple of B answers, to be shown at the next one

    @property
    def snapshot(self) -> bytes:
        """The counts that are shown: at least B answers old."""
        return self._shown

    def start(self) -> None:
        """Begin to store what arrives."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(self._ended)

    async def put(self, key: bytes, record: bytes) -> Outcome:
        """Store an answer, and return when its fate is known."""
        known = self._known.get(key)
        if known is not None:
            return Outcome.STORED if known == record else Outcome.CONFLICT
        waiting = self._waiting.get(key) or self._storing.get(key)
        if waiting is not None:
            return await asyncio.shield(waiting.future) if waiting.record == record else Outcome.CONFLICT
        if not self._ready or len(self._waiting) >= MOST_WAITING:
            return Outcome.BUSY
        future = asyncio.get_running_loop().create_future()
        if not self._waiting:
            self._since = asyncio.get_running_loop().time()
        self._waiting[key] = _Waiting(record, future)
        self._arrived.set()
        if len(self._waiting) >= ENOUGH:
            self._enough.set()
        return await asyncio.shield(future)

    async def set_state(self, state: str) -> None:
        """Open or pause the survey, or close it for ever; what has arrived before is stored first."""
        self.state = state
        await self._drained()
        if state == "closed":
            await self._in_thread(self._store.finish)
            await self._in_thread(self._store.close)  # so that it can be released while visitors are told
            self._known, self._held, self._shown = {}, None, bytes(self._layout.snapshot_bytes)
        else:
            await self._in_thread(lambda: self._store.set_state(state))

    async def stop(self) -> None:
        """Store what has arrived, and let go of the database."""
        await self._drained()
        if self._task is not None:
            self._task.remove_done_callback(self._ended)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._in_thread(self._store.close)
        self._thread.shutdown()

    async def _drained(self) -> None:
        futures = [waiting.future for waiting in (*self._waiting.values(), *self._storing.values())]
        if futures:
            await asyncio.wait(futures)

    async def _run(self) -> None:
        while True:
            try:
                await self._arrived.wait()
                left = self._since + self._patience - asyncio.get_running_loop().time()
                if len(self._waiting) < ENOUGH and left > 0:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._enough.wait(), left)
                await self._store_batch(self._next_batch())
            except Exception as error:  # whatever it is, nobody may wait for ever
                await self._recover(error)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """The writer has ended without being asked to."""
        self.failed = True
        self._send_away()
        log.error("The service stores nothing any more; start it again.")

    def _next_batch(self) -> dict[bytes, _Waiting]:
        size = min(BATCH, len(self._waiting), self._every - self._tally.answers % self._every)
        keys = list(self._waiting)[:size]
        self._storing = {key: self._waiting.pop(key) for key in _random.sample(keys, size)}
        self._enough.clear()
        if not self._waiting:
            self._arrived.clear()
        elif len(self._waiting) >= ENOUGH:
            self._enough.set()
        return self._storing

    async def _store_batch(self, batch: dict[bytes, _Waiting]) -> None:
        rows = [(key, waiting.record) for key, waiting in batch.items()]
        before = self._tally.answers
        self._tally.add([record for _, record in rows])
        complete = self._tally.answers % self._every == 0
        shown = self._held if complete else None
        await self._in_thread(lambda: self._store.add(rows, shown))
        self._known.update(rows)
        self.accepted += self._tally.answers - before
        if shown is not None:
            self._shown = shown
        if complete:
            self._held = self._tally.now() if self._tally.answers - self.released >= self._every else None
        self._storing = {}
        for waiting in batch.values():
            waiting.future.set_result(Outcome.STORED)
        if complete:
            await self._in_thread(self._store.rewrite)

    async def _recover(self, error: Exception) -> None:
        """Send everybody away, and begin anew with what the database holds."""
        self._send_away()
        told = ""
        while True:
            reason = str(error) if isinstance(error, PkanonError) else f"The database failed ({type(error).__name__})."
            if reason != told:
                log.warning("%s Answers are sent away until that is mended.", reason)
            told = reason
            try:
                await self._in_thread(self._store.reopen)
                self._load(await self._in_thread(self._store.contents))
                self._ready = True
                return
            except Exception as again:  # whatever it is, it may pass
                error = again
            await asyncio.sleep(RECONNECT)

    def _send_away(self) -> None:
        self._ready = False
        waiting = [*self._storing.values(), *self._waiting.values()]
        self._storing, self._waiting = {}, {}
        self._arrived.clear()
        self._enough.clear()
        for each in waiting:
            if not each.future.done():
                each.future.set_result(Outcome.BUSY)

    async def _in_thread(self, action: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, action)
