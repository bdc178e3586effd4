"""k as classical k-anonymity counts it, and how many rows have no more than that."""

import numpy as np
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


# The patients of Machanavajjhala et al. have two classes of four; the second has no other illness than cancer.
PATIENTS = pl.DataFrame(
    {
        "zip": ["130**"] * 4 + ["148**"] * 4,
        "illness": ["heart", "heart", "virus", "virus", "cancer", "cancer", "cancer", "cancer"],
    }
)
# Li, Li and Venkatasubramanian: nine salaries, 3 to 11; distances 0.375 and 0.167 for {3, 4, 5} and {6, 8, 11}.
SALARIES = pl.DataFrame({"group": list("aaabbbccc"), "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]})


def judged(table, columns, sensitive):
    return pk.anonymity_of(table, columns, sensitive=[sensitive]).sensitive[0]


def test_diversity_by_hand():
    found = judged(PATIENTS, ["zip"], "illness")
    assert found.distinct_l == 1
    assert found.entropy_l == pytest.approx(1)
    assert found.alpha == 1
    assert found.t == pytest.approx(0.5)  # (1, 0, 0) against (1/2, 1/4, 1/4), and (0, 1/2, 1/2) likewise
    assert not found.ordered
    first = judged(PATIENTS[:4], ["zip"], "illness")
    assert (first.distinct_l, first.alpha, first.t) == (2, 0.5, 0)
    assert first.entropy_l == pytest.approx(2)


def test_entropy_of_uneven_shares():
    table = pl.DataFrame({"a": [1] * 4, "s": ["x", "x", "x", "y"]})
    found = judged(table, ["a"], "s")
    assert found.entropy_l == pytest.approx(4 / 3**0.75)  # e^H of (3/4, 1/4)
    assert found.distinct_l == 2
    assert found.alpha == 0.75


@pytest.mark.parametrize("group", ["a", "b"])
def test_closeness_of_numbers_by_hand(group, tmp_path):
    expected = {"a": 0.375, "b": 1 / 6}[group]
    others = SALARIES.with_columns(pl.when(pl.col("group") == group).then("group").otherwise(pl.lit("rest")))
    found = judged(others, ["group"], "salary")
    assert found.ordered
    assert found.t == pytest.approx(expected)
    others.write_csv(tmp_path / "t.csv")
    assert judged(tmp_path / "t.csv", ["group"], "salary") == found  # numbers in a text file are numbers


def test_closeness_of_words_is_total_variation():
    found = judged(SALARIES.with_columns(pl.col("salary").cast(pl.String) + " k"), ["group"], "salary")
    assert not found.ordered
    assert found.t == pytest.approx(2 / 3)


def test_many_classes_a_few_at_a_time(monkeypatch):
    draw = np.random.default_rng(1)
    table = pl.DataFrame({"a": draw.integers(0, 60, 500), "s": draw.integers(0, 9, 500)})
    whole = judged(table, ["a"], "s")
    monkeypatch.setattr("pkanon._audit.classical._AT_ONCE", 20)
    assert judged(table, ["a"], "s") == whole


def test_rows_that_fall_short():
    found = pk.anonymity_of(FRAME, ["sex", "age"], k=3)
    assert (found.k, found.rows, found.classes, found.asked, found.short) == (2, 7, 3, 3, 4)
    assert (found.smallest, found.rare) == (2, 4)
    assert pk.anonymity_of(FRAME, ["sex", "age"], k=2).short == 0
    assert pk.anonymity_of(FRAME, ["sex", "age"]).short is None
    with_sensitive = pk.anonymity_of(FRAME, ["sex", "age"], k=3, sensitive=["job"])
    assert (with_sensitive.k, with_sensitive.short, with_sensitive.classes) == (2, 4, 3)


def test_missing_values_are_a_value():
    table = pl.DataFrame({"a": [1, 1, None, None], "s": [1.5, None, float("nan"), None]})
    found = pk.anonymity_of(table, ["a"], sensitive=["s"])
    assert found.k == 2
    assert found.sensitive[0].distinct_l == 1
    assert not found.sensitive[0].ordered


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"columns": []}, "as a list with at least one"),
        ({"columns": ["sex"], "sensitive": "job"}, "as a list"),
        ({"columns": ["sex"], "sensitive": ["sex"]}, "known and as sensitive"),
        ({"columns": ["sex"], "k": 0}, "whole number, 1 or more"),
        ({"columns": ["sex"], "k": 2.5}, "whole number, 1 or more"),
    ],
)
def test_wrong_questions(arguments, words):
    with pytest.raises(pk.InputError, match=words):
        pk.anonymity_of(FRAME, **arguments)


def test_a_sensitive_column_must_be_there():
    with pytest.raises(pk.DataError, match="Did you mean 'job'"):
        pk.anonymity_of(FRAME, ["sex"], sensitive=["jbo"])
