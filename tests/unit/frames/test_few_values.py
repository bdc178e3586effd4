"""A few values become a column through a list, many as an array: the column is the same."""

import numpy as np
import polars as pl
import pytest

from pkanon._frames import as_column
from pkanon._frames.write.decode import _FEW

TYPES = ["bool", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", [0, 1, 7, _FEW, _FEW + 1])
def test_both_ways_give_the_column_of_the_array(dtype, size):
    values = np.random.default_rng(1).integers(0, 2**63, size, np.uint64).astype(dtype)
    column = as_column("x", values)
    assert column.equals(pl.Series("x", values), check_dtypes=True, check_names=True)
    assert column.to_numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize("times", [1, _FEW])
def test_what_is_no_number_stays_so(times):
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-310] * times)
    column = as_column("x", values)
    assert column.null_count() == 0
    assert column.to_numpy().tobytes() == values.tobytes()


def test_extreme_integers_stay():
    for dtype in (np.int64, np.uint64):
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
        assert as_column("x", ends).to_list() == ends.tolist()
