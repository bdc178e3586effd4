"""The order of answers cannot be recovered from the database: attackers who succeed on naive storage fail on ours.

A share of pairs counts as chance if an exact binomial test with alpha = 1e-6 does not reject one half; the same for the share
of recent answers among those that an attacker takes for recent.
"""

import asyncio
import random
import secrets
import sqlite3
from itertools import pairwise

import coroutines
import numpy as np
import order_attackers as attackers
import psycopg
import pytest
from collecting import Respondents, make, opened, packed
from scipy.stats import binomtest

import pkanon as pk
from pkanon._collect import set_stored_state
from pkanon._collect.commit import GroupCommit
from pkanon._collect.store import Layout
from pkanon._collect.store.sqlite import overwrites_in_place, without_counters
from pkanon._collect.tally import Tally, answers_shown, results, shown_counts

ALPHA = 1e-6


def is_chance(share, total, chance):
    return total == 0 or binomtest(round(share * total), total, chance).pvalue >= ALPHA


def naive(path, rows, *, journal="delete", rowid=False, batch=1):
    """What somebody writes first: a table with random keys, a commit per answer or per batch."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    columns = "(key BLOB, record BLOB)" if rowid else "(key BLOB PRIMARY KEY, record BLOB) WITHOUT ROWID"
    connection.execute(f"CREATE TABLE answer{columns}")
    for start in range(0, len(rows), batch):
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO answer VALUES (?, ?)", rows[start : start + batch])
        connection.execute("COMMIT")
    return connection


@pytest.fixture
def survey(folder):
    return make(folder, records=2_000)


def stored(survey, path, count, batch=25):
    """Keys in the order of arrival, stored as the service does but without a shuffle: the store alone must suffice."""
    rows = packed(survey, Respondents(survey, count).bodies())
    store = opened(survey, f"sqlite:///{path}")
    for start in range(0, count, batch):
        store.add(rows[start : start + batch])
    return store, rows


def order_of(rows):
    return {key: place for place, (key, _) in enumerate(rows)}


@pytest.mark.parametrize("count", [90, 2_000])
def test_cell_offsets_give_the_order_of_naive_rows_away_and_not_ours(survey, folder, seed, count):
    rng = random.Random(seed)
    store, rows = stored(survey, folder / "ours.db", count)
    keys, order = [key for key, _ in rows], order_of(rows)
    naive(folder / "naive.db", rows, rowid=count == 2_000).close()
    guess = attackers.by_cell_offsets(attackers.read(folder / "naive.db"), keys)
    share, total = attackers.pair_score(guess, order, rng)
    assert total >= 40
    assert share > 0.95
    guess = attackers.by_cell_offsets(attackers.read(folder / "ours.db"), keys)
    share, total = attackers.pair_score(guess, order, rng)
    assert total >= 40
    assert is_chance(share, total, 0.5)
    store.close()


def test_cells_beside_the_gap_are_recent_in_a_naive_file_and_not_in_ours(survey, folder):
    late = total = 0
    for _ in range(4):
        rows = [(secrets.token_bytes(16), bytes(5)) for _ in range(2_000)]
        naive(folder / f"naive-{total}.db", rows).close()
        image = attackers.read(folder / f"naive-{total}.db")
        share, count = attackers.recent_share(attackers.beside_the_gap(image, [key for key, _ in rows]), order_of(rows))
        late, total = late + share * count, total + count
    assert binomtest(round(late), total, 0.25, alternative="greater").pvalue < 1e-3
    store, rows = stored(survey, folder / "ours.db", 2_000)
    guess = attackers.beside_the_gap(attackers.read(folder / "ours.db"), [key for key, _ in rows])
    share, count = attackers.recent_share(guess, order_of(rows))
    assert is_chance(share, count, 0.25)
    store.close()


@pytest.mark.parametrize("batch", [1, 50])
def test_a_write_ahead_log_is_the_order_and_ours_leaves_no_log(survey, folder, seed, batch):
    rng = random.Random(seed)
    store, rows = stored(survey, folder / "ours.db", 600)
    keys, order = [key for key, _ in rows], order_of(rows)
    connection = naive(folder / "naive.db", rows, journal="wal", batch=batch)
    guess = attackers.by_log_frames(attackers.read(folder / "naive.db-wal"), keys)
    assert attackers.pair_score(guess, order, rng)[0] > 0.9
    connection.close()
    assert sorted(path.name for path in folder.glob("ours.db*")) == ["ours.db", "ours.db-journal", "ours.db.lock"]
    assert attackers.read(folder / "ours.db-journal") == b""
    assert attackers.read(folder / "ours.db.lock") == b""
    store.close()


def test_no_page_of_ours_counts_its_changes(survey, folder):
    store, rows = stored(survey, folder / "ours.db", 1_000)
    assert attackers.by_page_counters(attackers.read(folder / "ours.db"), [key for key, _ in rows]) == []
    store.close()


def test_slots_filled_in_any_order_give_the_same_bytes(survey, folder, seed):
    """The file is a function of which slot holds what: here two stores draw the same slots for the same answers."""
    rows = packed(survey, Respondents(survey, 500).bodies())
    places = random.Random(seed).sample(range(1, 4_001), len(rows))
    images = []
    for name in ("forwards", "backwards"):
        store = opened(survey, f"sqlite:///{folder / name}.db")
        pairs = list(zip(rows, places))
        if name == "backwards":
            pairs.reverse()
        for start in range(0, len(pairs), 20 if name == "forwards" else 50):
            part = pairs[start : start + (20 if name == "forwards" else 50)]
            drawn = [place for _, place in part]
            store._draw = lambda count, drawn=drawn: drawn
            store.add([row for row, _ in part])
        store.set_state("paused")
        store.set_state("open")
        store.close()
        images.append(attackers.read(folder / f"{name}.db"))
    assert images[0] != images[1]  # the counters
    assert without_counters(images[0]) == without_counters(images[1])


def test_this_sqlite_overwrites_in_place():
    assert overwrites_in_place()


def test_slots_are_drawn_uniformly(survey, folder):
    """The answers of each quarter fill every quarter of the slots alike."""
    store, rows = stored(survey, folder / "ours.db", 2_000)
    connection = sqlite3.connect(folder / "ours.db")
    slot = {cell[:16]: id for id, cell in connection.execute("SELECT id, cell FROM slot")}
    connection.close()
    for quarter in range(4):
        inside = sum(slot[key] <= 2_000 for key, _ in rows[500 * quarter : 500 * (quarter + 1)])
        assert is_chance(inside / 500, 500, 0.5)
    store.close()


def test_after_growing_and_closing_there_is_still_no_order(survey, folder, seed):
    rng = random.Random(seed)
    store, rows = stored(survey, folder / "ours.db", 4_600)  # 4,000 slots were there
    keys, order = [key for key, _ in rows], order_of(rows)
    assert store.contents().count == 4_600
    guess = attackers.by_cell_offsets(attackers.read(folder / "ours.db"), keys)
    share, total = attackers.pair_score(guess, order, rng)
    assert total > 2_000
    assert is_chance(share, total, 0.5)
    recent = attackers.beside_the_gap(attackers.read(folder / "ours.db"), keys)
    assert is_chance(*attackers.recent_share(recent, order), 0.25)
    store.finish()
    image = attackers.read(folder / "ours.db")
    assert not any(key in image for key in keys)
    store.close()


def test_place_and_transaction_give_the_order_of_naive_rows_away_and_not_ours(server, survey, seed):
    rng = random.Random(seed)
    rows = packed(survey, Respondents(survey, 500).bodies())
    order = order_of(rows)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE naive(cell bytea)")
        for key, record in rows:
            connection.execute("INSERT INTO naive VALUES (%s)", (key + record,))
        seen = attackers.heap(connection, "naive")
        for column in ("ctid", "xmin"):
            share, total = attackers.pair_score([seen[column]], order, rng)
            assert total == 250
            assert share == 1.0

        store = opened(survey, server.url)
        for start in range(0, 500, 25):
            store.add(rows[start : start + 25])
        store.rewrite()
        seen = attackers.heap(connection, f"pkanon_{survey.digest[:16]}")
        share, total = attackers.pair_score([seen["ctid"]], order, rng)
        assert total == 250
        assert is_chance(share, total, 0.5)
        assert seen["xmin"] == []  # one transaction for all
        assert seen["cmin"] == []
        store.finish()
        (cells,) = connection.execute(f"SELECT string_agg(cell, '') FROM pkanon_{survey.digest[:16]}").fetchone()
        assert not any(key in bytes(cells) for key, _ in rows)
        store.close()


def files_with(server, pieces):
    """The files of a server, but for its write-ahead log, that hold one of these."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    files = (path for path in server.data.rglob("*") if path.is_file() and "pg_wal" not in path.parts)
    return {path.name for path in files for data in [path.read_bytes()] if any(piece in data for piece in pieces)}


def test_the_server_keeps_no_sample_of_answers_and_nothing_of_keys_and_counts_after_the_close(server, folder):
    survey = make(folder, records=1_997)
    rows = packed(survey, Respondents(survey, 400).bodies())
    keys, name = [key for key, _ in rows], f"pkanon_{survey.digest[:16]}"
    store = opened(survey, server.url)
    shown = [random.Random(i).randbytes(Layout.of(survey.plan).snapshot_bytes) for i in range(4)]
    sampled = "SELECT count(*) FROM pg_stats WHERE attname = 'cell' AND tablename = %s AND histogram_bounds IS NOT NULL"
    with psycopg.connect(server.url, autocommit=True) as connection:
        for i, counts in enumerate(shown):
            store.add(rows[100 * i : 100 * (i + 1)], counts)
            connection.execute("ANALYZE")  # as the server does by itself now and then
            store.rewrite()
            connection.execute("ANALYZE")
            assert connection.execute(sampled, (name,)).fetchone() == (0,)
        connection.execute(f"CREATE TABLE watched AS SELECT cell FROM {name}")
        connection.execute("ANALYZE watched")
        assert connection.execute(sampled, ("watched",)).fetchone() == (1,)
        assert files_with(server, [counts[:32] for counts in shown[:-1]])  # old versions of the counts
        connection.execute("DROP TABLE watched")
        connection.execute("VACUUM FULL pg_statistic")
        (place,) = connection.execute("SELECT pg_relation_filenode(%s::regclass)", (name,)).fetchone()
    assert files_with(server, keys) == {str(place)}
    store.finish()
    store.close()
    assert files_with(server, [*keys, *(counts[:32] for counts in shown)]) == set()


def test_between_rewrites_only_whole_batches_can_be_told_apart(server, folder, seed):
    survey = make(folder, records=1_999)
    rows = packed(survey, Respondents(survey, 64).bodies())
    store = opened(survey, server.url)
    store.add(rows)
    with psycopg.connect(server.url, autocommit=True) as connection:
        seen = attackers.heap(connection, f"pkanon_{survey.digest[:16]}")
    store.close()
    assert seen["xmin"] == []
    assert seen["cmin"] == []
    assert seen["ctid"] == [key for key, _ in rows]  # as they were handed over: the batch is shuffled before


EVERY = 50
PLAIN = """\
[survey]
title = "Smoking at work"
organiser = "Institute of Health"
contact = "survey@example.org"
[attributes.smokes]
values = ["no", "yes"]
question = "Do you smoke?"
[attributes.age]
values = ["child", "adult", "old"]
question = "How old are you?"
"""


@pytest.fixture
def plain(folder):
    """A survey whose attributes are independent, so that counts and estimates give each other away."""
    survey = make(folder, records=100, text=PLAIN)
    assert survey.results_every == EVERY
    return survey


def arriving(survey, count, seed):
    rng = np.random.default_rng(seed)
    layout = Layout.of(survey.plan)
    return [
        (secrets.token_bytes(16), layout.pack([int(rng.integers(size)) for size in layout.sizes])) for _ in range(count)
    ]


def through_the_service(survey, database, rows):
    """Store answers one after the other as the service does; all that GET /results has shown meanwhile."""

    async def whole():
        commit = GroupCommit(opened(survey, database), Layout.of(survey.plan), every=EVERY, patience=0)
        commit.start()
        shown = {commit.snapshot}
        for key, record in rows:
            await commit.put(key, record)
            await asyncio.sleep(0)
            shown.add(commit.snapshot)
        await commit.stop()
        return sorted(shown, key=answers_shown)

    return [results(survey.plan, snapshot) for snapshot in coroutines.run(whole()) if answers_shown(snapshot)]


def counts_of(survey, records):
    layout = Layout.of(survey.plan)
    return [np.bincount(column, minlength=size) for column, size in zip(layout.columns(records), layout.sizes)]


def seen_in_the_file(survey, path):
    """What a thief of the file compares: the counts of its rows, and those of its snapshot."""
    connection = sqlite3.connect(path)
    cells = [cell for (cell,) in connection.execute("SELECT cell FROM slot") if any(cell[:16])]
    (snapshot,) = connection.execute("SELECT value FROM meta WHERE name = 'snapshot'").fetchone()
    connection.close()
    return counts_of(survey, [cell[17:] for cell in cells]), shown_counts(Layout.of(survey.plan), snapshot)[1]


def test_rows_minus_an_older_state_are_the_answers_in_between(plain):
    """The attacker works: from a state one answer old he has the last record."""
    rows = arriving(plain, EVERY + 1, 1)
    tally = Tally(Layout.of(plain.plan), [record for _, record in rows[:-1]])
    _, before = shown_counts(Layout.of(plain.plan), tally.now())
    found = attackers.in_between(counts_of(plain, [record for _, record in rows]), before)
    assert found == [[code] for code in rows[-1][1]]
    shown = results(plain.plan, tally.now())
    assert [list(map(int, count)) for count in before] == attackers.counts_shown(shown, plain.plan.rho)


@pytest.mark.parametrize("restarts", [(), (70,), (EVERY,), (EVERY + 1, 2 * EVERY)])
def test_rows_minus_snapshot_are_never_few(plain, folder, restarts):
    """At every number of answers around the multiples of B, whenever the service was started again."""
    rows = arriving(plain, 3 * EVERY + 1, 2)
    moments = sorted({*restarts, *(m * EVERY + extra for m in (1, 2, 3) for extra in (-1, 0, 1))})
    for count in moments:
        path = folder / f"until-{count}.db"
        starts = [0, *(start for start in restarts if start < count), count]
        for start, stop in pairwise(starts):
            through_the_service(plain, f"sqlite:///{path}", rows[start:stop])
        more, fewer = seen_in_the_file(plain, path)
        assert sum(more[0]) == count
        assert all(len(codes) >= min(count, EVERY) for codes in attackers.in_between(more, fewer)), count


@pytest.mark.parametrize("count", [2 * EVERY, 2 * EVERY + 1, 3 * EVERY - 1, 3 * EVERY + 1])
def test_a_release_minus_results_is_never_a_few_answers(plain, folder, count):
    database = f"sqlite:///{folder}/answers.db"
    shown = through_the_service(plain, database, arriving(plain, count, 3))
    set_stored_state(plain, database, "closed")
    with sqlite3.connect(folder / "answers.db") as connection:
        (snapshot,) = connection.execute("SELECT value FROM meta WHERE name = 'snapshot'").fetchone()
    connection.close()
    assert answers_shown(snapshot) == 0
    release = pk.collect.release(plain, database, folder / "out", allow_fewer=True)
    released = [np.bincount(release.codes[name], minlength=size) for name, size in (("smokes", 2), ("age", 3))]
    assert [state["answers"] for state in shown] == list(range(EVERY, (count // EVERY - 1) * EVERY + 1, EVERY))
    found = attackers.in_between(released, attackers.counts_shown(shown[-1], plain.plan.rho))
    assert all(len(codes) >= EVERY for codes in found)


def test_batches_and_results_never_differ_by_a_few_answers(plain, folder):
    """Batches one answer after a multiple of B and one before it, while results are shown."""
    stops = (2 * EVERY + 1, 6 * EVERY - 1, 8 * EVERY + 1)
    database, rows = f"sqlite:///{folder}/answers.db", arriving(plain, stops[-1], 4)
    states, released, start = [], [np.zeros(2, int), np.zeros(3, int)], 0
    for stop in stops:
        for shown in through_the_service(plain, database, rows[start:stop]):
            states.append(attackers.counts_shown(shown, plain.plan.rho))
        release = pk.collect.release(plain, database, folder / f"until-{stop}", batch=True, allow_fewer=True)
        for held, name in zip(released, ("smokes", "age")):
            held += np.bincount(release.codes[name], minlength=len(held))
        states.append([held.tolist() for held in released])
        start = stop
    totals = sorted({sum(state[0]) for state in states})
    assert set(stops) < set(totals)  # and states that were shown
    states = sorted(states, key=lambda state: sum(state[0]))
    for earlier, later in pairwise(states):
        if earlier != later:  # shown again after a restart
            assert all(len(codes) >= EVERY for codes in attackers.in_between(later, earlier)), totals
