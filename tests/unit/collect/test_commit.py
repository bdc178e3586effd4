"""Group commit: shuffled batches that end at multiples of B, keys that count once, and a database that fails."""

import asyncio
import sqlite3

import coroutines
import pytest

from pkanon._collect.commit import MOST_WAITING, GroupCommit, Outcome
from pkanon._collect.store import Contents, Layout, StoreFailure
from pkanon._collect.tally import answers_shown, shown_counts

LAYOUT = Layout((3,))


class Memory:
    """A store in memory that notes its batches and fails when it is told to."""

    def __init__(self):
        self.known, self.batches, self.snapshots, self.rewrites, self.state = {}, [], [], 0, "open"
        self.fails, self.reopened, self.loses = [], 0, False
        self.warnings, self.released = (), 0
        self.troubles, self.trouble, self.rewrite_fails = [], [], []

    def contents(self):
        snapshot = self.snapshots[-1] if self.snapshots else bytes(LAYOUT.snapshot_bytes)
        return Contents(dict(self.known), len(self.known), self.state, 0, self.released, False, snapshot)

    def add(self, batch, snapshot=None):
        if self.fails:
            self.trouble = list(self.troubles)
            stored = self.fails.pop()
            if stored:  # the commit took place, its acknowledgement was lost
                self.known.update(batch)
            raise StoreFailure("The database failed.")
        assert not self.known.keys() & dict(batch).keys()
        self.known.update(batch)
        self.batches.append([key for key, _ in batch])
        if snapshot is not None:
            self.snapshots.append(snapshot)

    def rewrite(self):
        self.rewrites += 1
        if self.rewrite_fails:
            raise self.rewrite_fails.pop()

    def set_state(self, state):
        self.state = state

    def finish(self):
        self.state, self.known = "closed", {}

    def reopen(self):
        self.reopened += 1
        if self.trouble:
            raise self.trouble.pop()

    def close(self):
        pass


def key(number):
    return number.to_bytes(16, "big")


def run(store, action, **options):
    async def whole():
        commit = GroupCommit(store, LAYOUT, every=50, **options)
        commit.start()
        try:
            return await action(commit)
        finally:
            await commit.stop()

    return coroutines.run(whole())


def put_all(count, first=1):
    async def action(commit):
        return await asyncio.gather(*(commit.put(key(i), bytes([i % 3])) for i in range(first, first + count)))

    return action


def test_batches_are_shuffled_and_none_is_larger_than_it_may_be():
    store = Memory()
    assert set(run(store, put_all(49))) == {Outcome.STORED}
    assert len(store.known) == 49
    assert max(map(len, store.batches)) <= 64
    assert store.batches[0] != sorted(store.batches[0])  # by chance once in 49!


def test_a_batch_ends_at_every_multiple_of_b():
    store = Memory()
    run(store, put_all(160))
    sums = [sum(map(len, store.batches[: i + 1])) for i in range(len(store.batches))]
    assert {50, 100, 150} <= set(sums)
    assert [shown_counts(LAYOUT, snapshot)[0] for snapshot in store.snapshots] == [50, 100]  # each once the next is due
    assert store.rewrites == 3
    answers, (counts,) = shown_counts(LAYOUT, store.snapshots[0])
    assert (answers, counts.sum()) == (50, 50)


def test_counts_that_wait_to_be_shown_are_forgotten_by_a_restart():
    store = Memory()
    run(store, put_all(60))
    run(store, put_all(80, first=61))  # 140: those of 50 are forgotten, those of 100 wait
    assert store.snapshots == []
    run(store, put_all(59, first=141))  # 199: those of 100 are forgotten, those of 150 wait
    assert store.snapshots == []
    run(store, put_all(52, first=200))  # 251: those of 200 are shown, those of 250 wait
    assert [answers_shown(snapshot) for snapshot in store.snapshots] == [200]


def test_counts_near_a_released_batch_are_never_shown():
    store = Memory()
    store.released = 60
    run(store, put_all(300))
    assert [answers_shown(snapshot) for snapshot in store.snapshots] == [150, 200, 250]


def test_nothing_is_shown_once_the_survey_is_closed():
    async def action(commit):
        await put_all(120)(commit)
        before = answers_shown(commit.snapshot)
        await commit.set_state("closed")
        return before, answers_shown(commit.snapshot)

    assert run(Memory(), action) == (50, 0)


def test_a_lone_answer_does_not_wait_for_others():
    store = Memory()
    assert run(store, put_all(1)) == [Outcome.STORED]


def test_a_key_counts_once_whoever_sends_it_when():
    async def action(commit):
        together = await asyncio.gather(*(commit.put(key(1), b"\x01") for _ in range(5)))
        return together, await commit.put(key(1), b"\x01"), await commit.put(key(1), b"\x02"), commit.accepted

    store = Memory()
    together, again, other, accepted = run(store, action)
    assert set(together) == {Outcome.STORED}
    assert (again, other, accepted) == (Outcome.STORED, Outcome.CONFLICT, 1)
    assert store.batches == [[key(1)]]


def test_another_record_with_a_key_that_waits_is_a_conflict():
    async def action(commit):
        return await asyncio.gather(commit.put(key(1), b"\x01"), commit.put(key(1), b"\x02"))

    assert run(Memory(), action) == [Outcome.STORED, Outcome.CONFLICT]


@pytest.mark.parametrize("stored", [True, False])
def test_after_a_failure_everybody_is_told_to_try_again_and_is_counted_once(stored):
    async def action(commit):
        first = await asyncio.gather(*(commit.put(key(i), b"\x01") for i in range(1, 11)))
        while not commit._ready:
            await asyncio.sleep(0.001)
        second = await asyncio.gather(*(commit.put(key(i), b"\x01") for i in range(1, 11)))
        return first, second, commit.accepted

    store = Memory()
    store.fails = [stored]
    first, second, accepted = run(store, action)
    assert set(first) == {Outcome.BUSY}
    assert set(second) == {Outcome.STORED}
    assert (accepted, len(store.known), store.reopened) == (10, 10, 1)


class ContentsFail(Memory):
    """The first reading after a failure fails too, once the database is reached."""

    def contents(self):
        if self.reopened == 5:
            raise sqlite3.OperationalError("disk I/O error")
        return super().contents()


@pytest.mark.parametrize("kind", [Memory, ContentsFail])
def test_errors_of_any_kind_while_recovering_pass(kind, monkeypatch):
    monkeypatch.setattr("pkanon._collect.commit.RECONNECT", 0.001)

    async def action(commit):
        first = await commit.put(key(1), b"\x01")
        while not commit._ready:
            await asyncio.sleep(0.001)
        return first, await commit.put(key(1), b"\x01"), commit.failed

    store = kind()
    store.fails = [False]
    store.troubles = [StoreFailure("gone"), sqlite3.OperationalError("locked"), OSError(5, "I/O"), ValueError("odd")]
    assert run(store, action) == (Outcome.BUSY, Outcome.STORED, False)
    assert store.reopened == (5 if kind is Memory else 6)


def test_a_rewrite_that_fails_in_any_way_does_not_stop_the_writer():
    async def action(commit):
        await put_all(50)(commit)
        while not commit._ready or not commit._store.reopened:
            await asyncio.sleep(0.001)
        return await commit.put(key(51), b"\x01")

    store = Memory()
    store.rewrite_fails = [sqlite3.OperationalError("disk I/O error")]
    assert run(store, action) is Outcome.STORED
    assert len(store.known) == 51


def test_a_writer_that_ends_says_so_and_lets_nobody_wait():
    async def action(commit):
        waiting = asyncio.ensure_future(commit.put(key(1), b"\x01"))
        await asyncio.sleep(0)
        commit._task.cancel()
        return await waiting, await commit.put(key(2), b"\x01"), commit.failed

    assert run(Memory(), action) == (Outcome.BUSY, Outcome.BUSY, True)


def test_a_crowd_is_sent_away():
    async def action(commit):
        return await asyncio.gather(*(commit.put(key(i), b"\x01") for i in range(1, MOST_WAITING + 11)))

    outcomes = run(Memory(), action)
    assert outcomes.count(Outcome.BUSY) == 10
    assert outcomes.count(Outcome.STORED) == MOST_WAITING


def test_what_has_arrived_is_stored_before_the_close():
    async def action(commit):
        sending = asyncio.gather(*(commit.put(key(i), b"\x01") for i in range(1, 31)))
        await asyncio.sleep(0)
        await commit.set_state("closed")
        return await sending

    store = Memory()
    assert set(run(store, action)) == {Outcome.STORED}
    assert sum(map(len, store.batches)) == 30
    assert store.state == "closed"
