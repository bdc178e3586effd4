"""k as classical k-anonymity counts it, and how many rows have no more than that."""

import polars as pl
import pytest

import pkanon as pk
from pkanon._audit import Groups, groups

FRAME = pl.DataFrame({"sex": list("FFFFMMM"), "age": [1, 1, 2, 2, 1, 1, 1], "job": list("abcdefg")})


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["sex"], Groups(k=3, rare=3, rows=7)),
        (["age"], Groups(k=2, rare=2, rows=7)),
        (["sex", "age"], Groups(k=2, rare=4, rows=7)),  # F1 and F2 have two rows each
        (["job", "sex"], Groups(k=1, rare=7, rows=7)),
        (["age", "age"], Groups(k=2, rare=2, rows=7)),
    ],
)
def test_the_smallest_groups_and_how_many_rows_are_in_them(columns, found, tmp_path):
    assert groups(FRAME, columns) == found
    assert pk.anonymity(FRAME, columns) == found.k
    FRAME.write_csv(tmp_path / "t.csv", separator=";")
    assert groups(tmp_path / "t.csv", tuple(columns), text=pk.TextFormat(";")) == found


@pytest.mark.parametrize("columns", [[], (), "sex", ""])
def test_columns_are_a_list(columns):
    for question in (groups, pk.anonymity):
        with pytest.raises(pk.InputError, match="as a list with at least one"):
            question(FRAME, columns)


def test_columns_must_be_there():
    with pytest.raises(pk.DataError, match="Did you mean 'sex'"):
        groups(FRAME, ["sx"])
