"""Is the order of the streaming engine uniform, and would these tests see it if it were not?

Each test has a probability below ALPHA to reject a uniform order. Its power against the mutants is stated beside them: they are
rejected for every key, because what they leave is far outside of anything a uniform order does.
"""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, hypergeom, norm, poisson
from streaming import MANY

import pkanon as pk
from pkanon._engines.streaming import stream
from pkanon._engines.streaming.buckets import Buckets
from pkanon._engines.streaming.sorting import Sorter
from pkanon._frames import TextFormat
from pkanon._sample import Keystream

ROWS = 20_000
ALPHA = 1e-9


def order_of(seed, folder, rows=ROWS, sizes=MANY):
    """Which row of the table stands where: nothing is randomised, so the codes tell."""
    schema = pk.Schema([pk.Attribute.ranged("a", 0, rows - 1)])
    plan = pk.Plan(schema, (pk.Retention(schema.units[0], 0, 32),), rows)
    found = stream(
        pl.DataFrame({"a": np.arange(rows)}), plan, Keystream(pk.Seeded(seed).key()), folder=folder, sizes=sizes,
        text=TextFormat(), exact_counts=False, refuse=lambda rows: None, progress=lambda step, done: None,
    )  # fmt: skip
    return found.codes["a"].astype(np.int64)


def rank_tail(order):
    """Spearman's correlation of place and row is normal with variance 1/(n - 1)."""
    n = len(order)
    correlation = np.corrcoef(np.arange(n), order)[0, 1]
    return float(2 * norm.sf(abs(correlation) * np.sqrt(n - 1)))


def neighbours_tail(order):
    """Each of the n - 1 pairs of neighbours is one in the release, too, with probability 1/n: about one, Poisson."""
    return float(poisson.sf(int((np.diff(order) == 1).sum()) - 1, 1.0))


def stretches_tail(order, parts=20):
    """How many rows of each twentieth of the table are in each twentieth of the release: hypergeometric, 400 times."""
    part = len(order) // parts
    counts = np.zeros((parts, parts), int)
    np.add.at(counts, (order[: part * parts] // part, np.arange(part * parts) // part), 1)
    law = hypergeom(len(order), part, part)
    return float(min(1.0, 400 * 2 * np.minimum(law.cdf(counts), law.sf(counts - 1)).min()))


def tail(order):
    return min(rank_tail(order), neighbours_tail(order), stretches_tail(order))


@pytest.mark.parametrize("number", range(5))
def test_uniform(number, seed, tmp_path):
    order = order_of(seed + number, tmp_path)
    assert sorted(order.tolist()) == list(range(ROWS))
    assert tail(order) > ALPHA


def first_rows_tail(shuffle, keys=400, rows=10):
    """Which row comes first: each of ten with probability 1/10. One that always does is rejected: 0.1^400."""
    firsts = np.bincount([shuffle(number)[0] for number in range(keys)], minlength=rows)
    return float(2 * np.minimum(binom.cdf(firsts, keys, 1 / rows), binom.sf(firsts - 1, keys, 1 / rows)).min())


def test_first_row(seed, tmp_path):
    assert first_rows_tail(lambda number: order_of(seed + number, tmp_path, 10)) > ALPHA
    assert first_rows_tail(lambda number: np.arange(10)) < ALPHA


def test_a_bucket_that_is_not_shuffled_is_rejected(seed, tmp_path, monkeypatch):
    """One of eight buckets keeps the order of the table: 2,500 rows in rising order. Of 2,499 pairs in it one in eight is a
    pair of neighbours, 312 where one is expected."""
    honest = Sorter._order

    def lazy(self, words, known):
        first = int(words[0] >> np.uint64(61))
        return np.arange(len(words)) if first == 3 else honest(self, words, known)

    monkeypatch.setattr(Sorter, "_order", lazy)
    sizes = type(MANY)(run=1_000, bucket=ROWS, bits=3)
    assert neighbours_tail(order_of(seed, tmp_path, sizes=sizes)) < ALPHA


def test_buckets_that_are_not_sorted_at_all_are_rejected(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(Sorter, "_order", lambda self, words, known: np.arange(len(words)))
    order = order_of(seed, tmp_path)
    assert neighbours_tail(order) < ALPHA


def test_buckets_that_follow_the_table_are_rejected(seed, tmp_path, monkeypatch):
    """Rows fall into buckets by their number, not by their word: each twentieth of the release is from one eighth of the table."""
    honest = Buckets.add
    seen = iter(range(10**6))

    def by_number(self, place, lanes, passed=None):
        if self.skipped == 0:
            number = np.array([next(seen) for _ in lanes[0]], np.uint64)
            lanes[0] = (lanes[0] >> np.uint64(3)) | ((number * np.uint64(8) // np.uint64(ROWS)) << np.uint64(61))
        honest(self, place, lanes, passed)

    monkeypatch.setattr("pkanon._engines.streaming.scatter.cores", lambda: 1)
    monkeypatch.setattr(Buckets, "add", by_number)
    order = order_of(seed, tmp_path)
    assert sorted(order.tolist()) == list(range(ROWS))
    assert stretches_tail(order) < ALPHA
    assert rank_tail(order) < ALPHA


def test_buckets_in_another_order_are_another_order(seed, tmp_path, monkeypatch):
    """The order of buckets left to chance would still be uniform; what makes engines agree is that it is that of the words."""
    honest = order_of(seed, tmp_path)
    jobs = Sorter._jobs

    def reversed_buckets(self, buckets, start):
        found = jobs(self, buckets, start)
        sizes = [buckets.rows(bucket) for _, bucket, _ in found]
        places = np.cumsum([0, *sizes[::-1]])[:-1][::-1]
        return [(b, bucket, start + int(place)) for (b, bucket, _), place in zip(found, places)]

    monkeypatch.setattr(Sorter, "_jobs", reversed_buckets)
    other = order_of(seed, tmp_path)
    assert sorted(other.tolist()) == sorted(honest.tolist())
    assert not np.array_equal(other, honest)


def test_a_file_of_buckets_stays_until_the_last_one_is_forgotten(tmp_path):
    buckets = Buckets(tmp_path, [np.dtype(np.uint64)], skipped=0, bits=2, files=2)
    words = np.arange(1_000, dtype=np.uint64) << np.uint64(54)  # 256 to a bucket, the last one has fewer
    buckets.add(0, [words])
    assert [buckets.rows(bucket) for bucket in range(4)] == [256, 256, 256, 232]
    buckets.forget(0)
    ((lanes, _),) = buckets.slices(1)
    assert lanes[0].tolist() == words[256:512].tolist()
    buckets.forget(1)
    with pytest.raises(ValueError, match="closed file"):
        list(buckets.slices(1))
    ((lanes, _),) = buckets.slices(3)
    assert lanes[0].tolist() == words[768:].tolist()
    buckets.close()
