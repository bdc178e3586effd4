"""Released codes are counted into tables, whatever their sizes."""

import numpy as np
import pytest
from dense import unit_of
from plans import schema_for

import pkanon as pk
from pkanon._blocks import Retention
from pkanon._estimate import LARGEST_TABLE, Reconstruction, tabulate
from pkanon._estimate.tabulate import PIECE, check_size
from pkanon._schema import code_dtype

SHAPES = [
    *((2,), (7, 3), (256, 256), (257, 256), (3, 2**16), (2**16, 3), (70_000, 2), (2, 70_000, 3), (5, 4, 3, 2, 2)),
    *((15, 17), (16, 16), (16, 16, 256), (1, 256), (1, 2**16), (85, 3, 2)),
]


@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_counting_against_unique(sizes, seed):
    """Every type of code, tables around 2^8 and 2^16 cells where the numbering widens, the last cell included."""
    draw = np.random.default_rng(seed)
    rows = 5000
    columns = [draw.integers(0, size, rows).astype(code_dtype(size)) for size in sizes]
    for column, size in zip(columns, sizes):
        column[:3], column[3:6] = size - 1, 0
    assert {c.dtype for c in columns} == {np.dtype(code_dtype(s)) for s in sizes}
    cells, counts = np.unique(np.ravel_multi_index([c.astype(np.int64) for c in columns], sizes), return_counts=True)
    before = [column.copy() for column in columns]
    got = tabulate(columns, sizes)
    assert got.shape == sizes
    assert got.dtype == np.float64
    assert (np.flatnonzero(got) == cells).all()
    assert (got.ravel()[cells] == counts).all()
    assert all((a == b).all() for a, b in zip(before, columns))


@pytest.mark.parametrize("rows", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3])
def test_counting_around_the_ends_of_pieces(rows, seed):
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, size, rows).astype(code_dtype(size)) for size in (3, 300, 2)]
    weights = draw.uniform(0, 5, rows)
    cells = np.ravel_multi_index([c.astype(np.int64) for c in columns], (3, 300, 2))
    np.testing.assert_array_equal(tabulate(columns, (3, 300, 2)).ravel(), np.bincount(cells, minlength=1800))
    expected = np.bincount(cells, weights, minlength=1800)
    # at most some hundred additions per cell in another order: 100 * 1e-16 * 500
    np.testing.assert_allclose(tabulate(columns, (3, 300, 2), weights=weights).ravel(), expected, atol=1e-10)


def test_a_table_beyond_the_limit_is_refused_by_name():
    check_size({"a": 10**4, "b": 10**4})
    assert LARGEST_TABLE == 10**8
    with pytest.raises(pk.InputError, match=r"b.* 100,010,000 cells.*100,000,000.*Leave out 'b' \(10,001 values\)"):
        check_size({"a": 10**4, "b": 10**4 + 1})
    with pytest.raises(pk.InputError, match=r"Leave out 'c' \(1,000,000,000 values\) and 'a' \(20,000 values\),"):
        check_size({"a": 20_000, "b": 10_000, "c": 10**9})
    blocks = (Retention(unit_of(20_000), 1, 32), Retention(unit_of(6000, names="b"), 1, 32))
    codes = {"a": np.zeros(3, np.uint16), "b": np.zeros(3, np.uint16)}
    with pytest.raises(pk.InputError, match="Leave out 'a'"):
        Reconstruction.of(schema_for(blocks), blocks, codes, ("b", "a"))
