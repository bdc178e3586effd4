"""Equal plan and equal key give equal rows in equal order, whatever the piece size and the thread count.

And they are the rows of a plain Python program that takes one record at a time (tests/support/pipeline.py).
"""

import numpy as np
import pytest
from dense import matrix_of, unit_of
from pipeline import reference_rows, released

from pkanon._blocks import Matrix, Retention
from pkanon._sample import randomise
from pkanon._sample.keystream import Keystream, Seeded
from pkanon._schema import code_dtype

BUNDLE = unit_of(3, 4, names=("age", "education"), forbid=(((0,), (2, 3)), ((1,), (3,))))
PLANS = {
    "retention": (Retention(unit_of(2), 2**30, 32), Retention(unit_of(300, names="b"), 2**23, 32)),
    "widths": (
        Retention(unit_of(5), 10_000, 16),
        Retention(unit_of(70_000, names="b"), 2**46, 64),
        Retention(unit_of(2, names="c"), 0, 32),
    ),
    "bundle": (Retention(BUNDLE, 2**28, 32), Retention(unit_of(2), 2**31, 32)),
    "matrix": (
        matrix_of(unit_of(3), [[10, 5, 1], [0, 16, 0], [3, 3, 10]], 32),
        Matrix(unit_of(2, names="b"), ((2**64 - 1, 1), (2**63, 2**63)), 64),
        Retention(unit_of(4, names="c"), 2**29, 32),
    ),
    "matrix on a bundle": (
        # nine allowed combinations; rows of 16 with a zero here and there
        matrix_of(BUNDLE, [[3, 1, 1, 1, 1, 1, 1, 1, 6]] * 8 + [[6, 2, 0, 2, 0, 2, 0, 2, 2]], 32),
        Retention(unit_of(9), 2**28, 32),
    ),
}


def columns_of(blocks, rows, seed):
    """Private codes in every allowed combination, mixed up."""
    draw = np.random.default_rng(seed)
    columns = {}
    for block in blocks:
        for unit in block.units:
            codes = draw.integers(0, unit.size, rows).astype(code_dtype(unit.size))
            columns |= zip(unit.attributes, unit.split(codes))
    return columns


@pytest.mark.parametrize("blocks", PLANS.values(), ids=PLANS)
def test_a_record_at_a_time(blocks, seed):
    key = Seeded(seed).key()
    columns = columns_of(blocks, 1000, seed)
    expected = reference_rows(blocks, columns, key)
    for piece, threads in ((None, 1), (1, 1), (7, 2), (64, 3), (999, 4), (1000, 1), (1001, 2), (None, 4)):
        got = released(blocks, columns, Keystream(key), piece=piece, threads=threads)
        assert [dict(zip(got, row)) for row in zip(*(column.tolist() for column in got.values()))] == expected


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_smallest_tables(rows, seed):
    blocks, key = PLANS["bundle"], Seeded(seed).key()
    columns = columns_of(blocks, rows, seed)
    expected = reference_rows(blocks, columns, key)
    got = released(blocks, columns, Keystream(key))
    assert [dict(zip(got, row)) for row in zip(*(column.tolist() for column in got.values()))] == expected


def test_a_table_large_enough_for_threads_by_itself(seed):
    # 300,001 rows: beyond the size from which threads are started unasked, and no multiple of any piece
    blocks, key = PLANS["matrix"], Seeded(seed).key()
    columns = columns_of(blocks, 300_001, seed)
    expected = released(blocks, columns, Keystream(key), threads=1)
    for piece, threads in ((None, None), (None, 2), (2**15, 3), (100_000, 4), (300_001, 2)):
        got = released(blocks, columns, Keystream(key), piece=piece, threads=threads)
        assert all((got[name] == expected[name]).all() for name in expected)


def test_an_empty_table(seed):
    blocks = PLANS["bundle"]
    columns = columns_of(blocks, 0, seed)
    assert all(len(column) == 0 for column in released(blocks, columns, Keystream(Seeded(seed).key())).values())


def test_columns_may_be_randomised_in_place(seed):
    blocks = PLANS["retention"]
    source = Keystream(Seeded(seed).key())
    codes = [np.arange(5000) % unit.size for block in blocks for unit in block.units]
    codes = [column.astype(code_dtype(column.max() + 1)) for column in codes]
    out = [np.empty_like(column) for column in codes]
    randomise(blocks, codes, source, out=out, piece=64)
    randomise(blocks, codes, source, out=codes, piece=77, threads=2)
    assert all((a == b).all() for a, b in zip(out, codes))


def test_progress_rises_to_one(seed):
    blocks = PLANS["retention"]
    codes = [np.zeros(1000, np.uint8), np.zeros(1000, np.uint16)]
    for threads in (1, 3):
        seen = []
        randomise(
            blocks,
            codes,
            Keystream(Seeded(seed).key()),
            out=codes,
            piece=64,
            threads=threads,
            progress=lambda step, done, seen=seen: seen.append(done),
        )
        assert seen == sorted(seen)
        assert len(seen) == 2 * 16  # two blocks of ceil(1000/64) pieces
        assert seen[-1] == 1.0
