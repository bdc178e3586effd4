"""Every 16-bit word through the array entry point: the realised matrix is the declared one, exactly.

A sampler is a pure function of (code, word). ``stepped`` words let every place of a piece, first, last
and between, meet every word once.
"""

import itertools

import numpy as np
import pytest
from dense import declared_words, matrix_of, realised_words, unit_of
from listed import Listed, stepped

from pkanon._blocks import Matrix, Retention
from pkanon._sample import randomise
from pkanon._schema import code_dtype

SMALL = {
    **{
        f"retention, {size} values, replace {replace}": Retention(unit_of(size), replace, 16)
        for size, replace in [
            (2, 0),
            (2, 1),
            (2, 16_384),  # rho = 0.5
            (2, 32_767),
            (2, 32_768),  # V replace = 2^16: rho = 0
            (3, 0),
            (3, 9_999),
            (3, 21_845),  # the most: one word keeps
            (4, 16_384),  # V replace = 2^16
            (7, 4_000),
        ]
    },
    "retention, a bundle with forbidden combinations": Retention(
        unit_of(2, 3, forbid=(((0,), (1, 2)), ((1,), (0,)))), 12_345, 16
    ),
    "matrix, asymmetric": matrix_of(unit_of(3), [[10, 5, 1], [2, 13, 1], [3, 3, 10]]),
    "matrix, first column zero": matrix_of(unit_of(3), [[0, 5, 11], [0, 13, 3], [0, 8, 8]]),
    "matrix, last column zero": matrix_of(unit_of(3), [[6, 10, 0], [15, 1, 0], [4, 12, 0]]),
    "matrix, zeros here and there": matrix_of(unit_of(4), [[0, 8, 8, 0], [16, 0, 0, 0], [0, 0, 5, 11], [1, 0, 0, 15]]),
    "matrix, one-hot rows": matrix_of(unit_of(3), [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "matrix, the identity": matrix_of(unit_of(2), [[1, 0], [0, 1]]),
    "matrix, single words": Matrix(unit_of(3), ((1, 2**16 - 2, 1), (2**16 - 1, 1, 0), (0, 1, 2**16 - 1)), 16),
}


@pytest.mark.parametrize("block", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("piece", [None, 1000])  # 2^16 rows: one piece of the usual size, or 66 with a short last one
def test_all_words(block, piece):
    assert realised_words(block, piece=piece) == declared_words(block)


@pytest.mark.parametrize(
    ("size", "replace"),
    [
        (255, 100),
        (256, 255),
        (256, 256),  # V replace = 2^16, and the last size with one-byte codes
        (257, 200),  # the first with two-byte codes
        (1000, 65),
        (32_768, 1),
        (32_768, 2),
        (65_535, 1),
        (65_536, 0),
        (65_536, 1),  # V replace = 2^16 with one word per value
    ],
)
def test_all_words_for_many_values(size, replace):
    block = Retention(unit_of(size), replace, 16)
    inputs = sorted({0, 1, size // 2, size - 2, size - 1})
    for code, counts in zip(inputs, realised_words(block, inputs)):
        expected = [replace] * size
        expected[code] += 2**16 - size * replace
        assert counts == expected


def test_all_words_of_a_large_matrix():
    # 300 values: two-byte codes; row u is a triangle around u, wrapped, with zeros far away
    size = 300
    rows = []
    for u in range(size):
        row = [0] * size
        for step in range(-50, 51):
            row[(u + step) % size] = 20 - abs(step) // 4
        row[(u * 7) % size] += 2**16 - sum(row)
        rows.append(tuple(row))
    block = Matrix(unit_of(size), tuple(rows), 16)
    inputs = [0, 1, 149, 255, 256, 299]
    assert realised_words(block, inputs) == [list(rows[u]) for u in inputs]


AT_EDGES = {
    "retention": Retention(unit_of(2), 20_001, 16),
    "matrix": matrix_of(unit_of(2), [[16, 0], [3, 13]]),
}


@pytest.mark.parametrize(("name", "piece"), [("retention", 1), ("retention", 7), ("retention", 64), ("matrix", 7)])
def test_all_words_at_every_place_of_a_piece(name, piece):
    block = AT_EDGES[name]
    expected = declared_words(block)
    codes = np.arange(piece) % 2  # neighbours differ
    column = np.tile(codes, 2**16).astype(np.uint8)
    out = [np.empty_like(column)]
    randomise([block], [column], stepped(piece), out=out, piece=piece, threads=1)
    by_place = out[0].reshape(-1, piece)
    for place, code in enumerate(codes):
        assert np.bincount(by_place[:, place], minlength=2).tolist() == expected[code]


def test_all_words_in_the_first_and_the_last_row_of_a_table():
    # 2^16 tables of three rows in pieces of two: row 0 is the first, row 1 the last of a piece, row 2
    # the last of the table, alone in its piece. Table t gives its row i the word t + 9973 i.
    block = AT_EDGES["retention"]
    column = np.array([0, 1, 1], np.uint8)
    results = np.empty((2**16, 3), np.uint8)
    source = stepped(3)
    for table in range(2**16):
        randomise([block], [column], source, out=[results[table]], first_record=3 * table, piece=2, threads=1)
    for row, code in enumerate(column):
        assert np.bincount(results[:, row], minlength=2).tolist() == declared_words(block)[code]


def test_words_are_fetched_by_the_number_of_the_record():
    block = Retention(unit_of(3), 9_999, 16)
    column = (np.arange(1000) % 3).astype(np.uint8)
    whole, part = [np.empty(1000, np.uint8)], [np.empty(300, np.uint8)]
    source = stepped(11)
    randomise([block], [column], source, out=whole, piece=64)
    randomise([block], [column[650:950]], source, out=part, piece=7, first_record=650)
    assert (part[0] == whole[0][650:950]).all()


def boundary_words(starts, width):
    """The words on both sides of every boundary, and both ends of all words."""
    near = {start + step for start in starts for step in (-2, -1, 0, 1)} | {
        0,
        1,
        2 ** (width - 1),
        2**width - 2,
        2**width - 1,
    }
    return sorted(word for word in near if 0 <= word < 2**width)


def run(block, code, words):
    dtype = code_dtype(block.unit.size)
    out = [np.empty(len(words), dtype)]
    randomise(
        [block], [np.full(len(words), code, dtype)], Listed(np.array(words, np.uint64)), out=out, piece=5, threads=1
    )
    assert out[0].dtype == dtype
    return out[0].tolist()


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("size", [2, 3, 255, 256, 257, 65_535, 65_536, 65_537, 10**6, 2**31 - 1, 2**31])
def test_boundary_words_of_retention(width, size):
    most = 2**width // size
    for q in sorted({1, 2, max(1, most // 3), max(1, most - 1), most}):
        block = Retention(unit_of(size), q, width)
        digits = {0, 1, 2, 3, 254, 255, 256, 257, 65_535, 65_536, size // 2, size - 2, size - 1, size, size + 1}
        words = boundary_words([digit * q for digit in digits], width)
        for code in (0, 1, size // 2, size - 1):
            expected = [word // q if word // q < size else code for word in words]
            assert run(block, code, words) == expected


@pytest.mark.parametrize("width", [32, 64])
def test_boundary_words_of_a_matrix(width):
    total = 2**width
    rows = (
        (total, 0, 0, 0),
        (0, 0, 0, total),
        (1, total - 2, 0, 1),
        (total // 3, 0, total // 3 + 1, total - 2 * (total // 3) - 1),
    )
    block = Matrix(unit_of(4), rows, width)
    for code, row in enumerate(rows):
        ends = list(itertools.accumulate(row))
        words = boundary_words(ends, width)
        expected = [next(value for value, end in enumerate(ends) if word < end) for word in words]
        assert run(block, code, words) == expected


@pytest.mark.parametrize("width", [32, 64])
def test_a_matrix_of_the_largest_size(width):
    # 1024 equal shares of 2^width words: the value is the leading ten bits of the word
    size = 1024
    row = (2**width // size,) * size
    block = Matrix(unit_of(size), (row,) * size, width)
    words = boundary_words([value * row[0] for value in range(size)], width)
    assert run(block, 700, words) == [word >> (width - 10) for word in words]
