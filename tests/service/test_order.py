"""The order of answers cannot be recovered from the database: attackers who succeed on naive storage fail on ours.

A share of pairs counts as chance if an exact binomial test with alpha = 1e-6 does not reject one half; the same for the share
of recent answers among those that an attacker takes for recent.
"""

import random
import secrets
import sqlite3

import order_attackers as attackers
import psycopg
import pytest
from collecting import Respondents, make, opened, packed
from scipy.stats import binomtest

from pkanon._collect.store.sqlite import overwrites_in_place, without_counters

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
