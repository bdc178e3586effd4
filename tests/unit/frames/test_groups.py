"""k as classical k-anonymity counts it."""

import polars as pl
import pytest

from pkanon._errors import DataError, InputError
from pkanon._frames import TextFormat, smallest_group

FRAME = pl.DataFrame(
    {"sex": ["F", "F", "M", "M", "M"], "age": [1, 1, 2, 2, None], "x": [1.0, float("nan"), None, 1.0, 1.0]}
)


@pytest.mark.parametrize(
    ("columns", "k"), [(["sex"], 2), (["age"], 1), (["sex", "age"], 1), (["sex", "sex"], 2), (["x"], 2)]
)
def test_smallest_group(columns, k, tmp_path):
    assert smallest_group(FRAME, columns) == k
    assert smallest_group(FRAME.lazy(), columns) == k
    assert smallest_group(FRAME.to_pandas(), columns) == k
    FRAME.write_parquet(tmp_path / "t.parquet")
    assert smallest_group(tmp_path / "t.parquet", columns) == k


def test_one_name_is_enough():
    assert smallest_group(FRAME, "sex") == 2


def test_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;x\n01;x\n1;\n1;\n")
    assert smallest_group(path, ["b"], TextFormat(";")) == 2
    assert smallest_group(path, ["a"], TextFormat(";")) == 1  # "1" and "01" are different texts
    with pytest.raises(DataError, match="--delimiter ';'"):
        smallest_group(path, ["a"])
    path.write_text("a,b\n1,x\n1\n")
    with pytest.raises(DataError, match="fewer fields"):
        smallest_group(path, ["a"])


def test_groups_over_several_batches():
    n = 400_000
    frame = pl.DataFrame({"a": pl.int_range(n, eager=True) % 1000, "b": pl.int_range(n, eager=True) % 3})
    assert smallest_group(frame, ["a"]) == 400
    counts = frame.group_by("a", "b").len()["len"].min()
    assert smallest_group(frame, ["a", "b"]) == counts


def test_refusals(tmp_path):
    with pytest.raises(DataError, match=r"no column 'sexx'. Available: sex, age, x. Did you mean 'sex'\?"):
        smallest_group(FRAME, ["sexx"])
    FRAME.write_csv(tmp_path / "t.csv")
    with pytest.raises(DataError, match="Does the first line"):
        smallest_group(tmp_path / "t.csv", ["sexx"])
    with pytest.raises(DataError, match="no rows"):
        smallest_group(FRAME.clear(), ["sex"])
    with pytest.raises(InputError, match="at least one column"):
        smallest_group(FRAME, [])
