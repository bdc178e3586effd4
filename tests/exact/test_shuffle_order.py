"""The order of the released rows: exactly a sort by order words, ties by the next round; and its use on columns."""

import itertools
from collections import Counter

import numpy as np
import pytest
from listed import ByStream

from pkanon._frames import sort_words, sorting
from pkanon._sample import Records, draw_order
from pkanon._sample.keystream import ORDER_STREAM, Keystream, Seeded


def rounds_of(words):
    """A source of listed order words, one list per round."""
    return ByStream({ORDER_STREAM + round: row for round, row in enumerate(words)})


BOTH_SORTS = pytest.mark.parametrize("sort", [sorting.by_numpy, sorting.by_polars], ids=["numpy", "polars"])


@pytest.mark.parametrize("faster", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 1000, 100_000])
def test_few_and_many_words_are_sorted_in_place_whichever_sort_is_faster(rows, faster, seed, monkeypatch):
    monkeypatch.setattr(sorting, "numpy_is_faster", lambda: faster)
    words = np.random.default_rng(seed).integers(0, 2**64, rows, np.uint64)
    ordered = np.sort(words)
    sort_words(words)
    assert (words == ordered).all()


def sorted_by_rounds(words):
    return sorted(range(len(words[0])), key=lambda record: [row[record] for row in words])


# a word's place decides whether the fast sort sees it: its low bits give way to the record number
SHIFTS = [0, 1, 10, 40, 61]


@BOTH_SORTS
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 9, 100, 1000])
def test_few_words_many_ties(rows, shift, sort, seed):
    draw = np.random.default_rng(seed)
    words = [(draw.integers(0, 4, rows).astype(np.uint64) << np.uint64(shift)).tolist() for _ in range(12)]
    words.append(draw.permutation(rows).tolist())  # the last round settles everything
    assert draw_order(rows, rounds_of(words), sort).tolist() == sorted_by_rounds(words)


@BOTH_SORTS
def test_words_that_differ_in_any_single_bit(sort, seed):
    draw = np.random.default_rng(seed)
    for bit in range(64):
        words = [[(int(b) << bit) | 2**63 for b in draw.integers(0, 2, 40)], draw.permutation(40).tolist()]
        assert draw_order(40, rounds_of(words), sort).tolist() == sorted_by_rounds(words)


def test_all_equal_for_many_rounds():
    words = [[2**64 - 1] * 6] * 40 + [[5, 3, 9, 1, 0, 2]]
    assert draw_order(6, rounds_of(words)).tolist() == [4, 3, 5, 1, 0, 2]


@BOTH_SORTS
def test_the_largest_word_and_a_full_number_of_rows(sort):
    # 2^10 rows: record numbers fill all their bits, and words of all ones must not run into each other
    words = [[2**64 - 1 - (i % 3) for i in range(1024)], [1024 - i for i in range(1024)]]
    assert draw_order(1024, rounds_of(words), sort).tolist() == sorted_by_rounds(words)


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("shift", SHIFTS)
def test_all_orders_equally_often_when_words_are_distinct(rows, shift):
    alphabet = [value << shift for value in range(rows + 1)]
    # (rows + 1)!/1! lists of distinct words, shared evenly by rows! orders: rows + 1 each
    orders = Counter(
        tuple(draw_order(rows, rounds_of([words])).tolist()) for words in itertools.permutations(alphabet, rows)
    )
    assert orders == dict.fromkeys(itertools.permutations(range(rows)), rows + 1)


@pytest.mark.parametrize("shift", SHIFTS)
def test_all_orders_equally_often_through_ties(shift):
    # round 0 from two words (2^3 lists), round 1 from two words, round 2 distinct: exchangeable, so all 3! orders alike
    small = [0, 1 << shift]
    orders = Counter(
        tuple(draw_order(3, rounds_of(words)).tolist())
        for words in itertools.product(
            itertools.product(small, repeat=3),
            itertools.product(small, repeat=3),
            itertools.permutations([0, 1 << shift, 2 << shift]),
        )
    )
    assert orders == dict.fromkeys(itertools.permutations(range(3)), 8 * 8 * 6 // 6)


SIZES = [1, 2, 3, 4, 5, 255, 256, 257, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537]


@pytest.mark.parametrize("rows", SIZES)
def test_the_order_is_a_sort_of_the_order_words(rows, seed):
    source = Keystream(Seeded(seed).key())
    words = source.words(ORDER_STREAM, 0, rows, 64)
    order = draw_order(rows, source)
    assert order.dtype == np.int64
    assert len(np.unique(words)) == rows  # no ties here, so plain sorting is the whole rule
    assert (order == np.argsort(words, kind="stable")).all()


@pytest.mark.parametrize("rows", [32_769, 65_537])
def test_ties_across_the_pieces_of_the_sort(rows, seed):
    # pairs of rows share the high bits of their words and differ in the lowest bit only
    draw = np.random.default_rng(seed)
    words = [
        (draw.permutation(rows) // 2 * 2**20 + draw.integers(0, 2, rows)).tolist(),
        draw.permutation(rows).tolist(),
    ]
    assert draw_order(rows, rounds_of(words)).tolist() == sorted_by_rounds(words)


def test_an_empty_order():
    assert draw_order(0, rounds_of([[]])).tolist() == []


DTYPES = [np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32)]


def moved(columns, order, threads=1):
    records = Records([column.dtype for column in columns], len(columns[0]))
    assert [view.dtype for view in records.columns] == [column.dtype for column in columns]
    for view, column in zip(records.columns, columns):
        view[:] = column
    for view, column in zip(records.columns, columns):
        assert (view == column).all()  # no column lies on another
    return records.permuted(order, threads=threads)


def random_column(draw, dtype, rows):
    return draw.integers(0, np.iinfo(dtype).max, rows, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("threads", [1, 3])
def test_records_move_as_indexing_does_at_awkward_lengths(rows, threads, seed):
    draw = np.random.default_rng(seed)
    columns = [random_column(draw, dtype, rows) for dtype in DTYPES * 2]
    order = draw.permutation(rows)
    for got, column in zip(moved(columns, order, threads), columns):
        assert got.dtype == column.dtype
        assert (got == column[order]).all()


@pytest.mark.parametrize("count", range(1, 21))
def test_records_move_as_indexing_does_for_any_mix_of_columns(count, seed):
    draw = np.random.default_rng([seed, count])
    for _ in range(8):
        columns = [random_column(draw, DTYPES[i], 500) for i in draw.integers(0, 3, count)]
        for length in (500, 499, 1, 0):  # an order may leave rows out, as a hidden record count does
            order = draw.permutation(500)[:length]
            got = moved(columns, order, threads=2)
            assert [g.dtype for g in got] == [c.dtype for c in columns]
            assert all((g == c[order]).all() for g, c in zip(got, columns))


def test_no_rows_move():
    columns = [np.empty(0, dtype) for dtype in DTYPES]
    assert [len(got) for got in moved(columns, np.empty(0, np.int64))] == [0, 0, 0]
