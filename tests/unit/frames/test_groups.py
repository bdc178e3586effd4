"""How many rows are equal."""

import polars as pl
import pytest

from pkanon._errors import DataError
from pkanon._frames import TextFormat, group_sizes

FRAME = pl.DataFrame(
    {"sex": ["F", "F", "M", "M", "M"], "age": [1, 1, 2, 2, None], "x": [1.0, float("nan"), None, 1.0, 1.0]}
)


@pytest.mark.parametrize(
    ("columns", "k"), [(["sex"], 2), (["age"], 1), (["sex", "age"], 1), (["sex", "sex"], 2), (["x"], 2)]
)
def test_smallest_group(columns, k, tmp_path):
    assert group_sizes(FRAME, columns).min() == k
    assert group_sizes(FRAME.lazy(), columns).min() == k
    assert group_sizes(FRAME.to_pandas(), columns).min() == k
    FRAME.write_parquet(tmp_path / "t.parquet")
    assert group_sizes(tmp_path / "t.parquet", columns).min() == k


def test_every_group_has_its_size():
    assert sorted(group_sizes(FRAME, ["sex"])) == [2, 3]
    assert sorted(group_sizes(FRAME, ["sex", "age"])) == [1, 2, 2]
    assert sorted(group_sizes(FRAME, ["x"])) == [2, 3]  # NaN and null are one value


def test_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;x\n01;x\n1;\n1;\n")
    assert group_sizes(path, ["b"], TextFormat(";")).min() == 2
    assert group_sizes(path, ["a"], TextFormat(";")).min() == 1  # "1" and "01" are different texts
    with pytest.raises(DataError, match="--delimiter ';'"):
        group_sizes(path, ["a"])
    path.write_text("a,b\n1,x\n1\n")
    with pytest.raises(DataError, match="fewer fields"):
        group_sizes(path, ["a"])


def test_groups_over_several_batches():
    n = 400_000
    frame = pl.DataFrame({"a": pl.int_range(n, eager=True) % 1000, "b": pl.int_range(n, eager=True) % 3})
    assert group_sizes(frame, ["a"]).min() == 400
    counts = frame.group_by("a", "b").len()["len"].min()
    assert group_sizes(frame, ["a", "b"]).min() == counts


def test_refusals(tmp_path):
    with pytest.raises(DataError, match=r"no column 'sexx'. Available: sex, age, x. Did you mean 'sex'\?"):
        group_sizes(FRAME, ["sexx"])
    with pytest.raises(DataError, match="no rows"):
        group_sizes(FRAME.clear(), ["sex"])


@pytest.mark.parametrize(
    ("lines", "sure"),
    [
        (["sex,age", "F,30", "M,31"], True),
        (["sex,age", "F,", "M,31", "F,2"], True),  # a missing number is no text
        (["sex,age", "F,old", "M,31"], False),  # no column of numbers
        (["sex,age", "F,30"], False),  # one row shows nothing
        (["sex,age"], False),
        (["sex,30", "F,31", "M,32"], False),  # a number in the first line: a person's row
        (["sex,NA", "F,31", "sex,32"], False),  # the first field occurs again: a person's row without a number
    ],
)
def test_the_columns_of_a_text_file_are_listed_where_its_first_line_is_surely_a_header(lines, sure, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as caught:
        group_sizes(path, ["sexx"])
    hint = "Available: sex, age. Did you mean 'sex'?" if sure else "Does the first line of the file name the columns?"
    assert str(caught.value) == f"The table has no column 'sexx'. {hint}"
