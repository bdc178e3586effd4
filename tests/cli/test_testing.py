"""pkanon test: the numbers of the library, its refusals, and what it leaves out."""

import json

import pytest

import pkanon as pk


@pytest.fixture
def released(place):
    place.lines(
        *(f"p{i},{'FM'[i % 2]},{20 + i * 7 % 70},{('none', 'school', 'degree')[(i + i % 2) % 3]}" for i in range(2000))
    )
    code, _, err = place.run(
        "release",
        "people.csv",
        "--schema",
        "people.toml",
        "--k",
        "3",
        "--seed",
        "7",
        "--seeded-not-private",
        "-o",
        "out",
    )
    assert code == 0, err
    return place


def table():
    return pk.open_release("out").crosstab("education", "sex", "age", about="population")


def test_groups_are_compared(released):
    code, out, _ = released.run("test", "out", "education=none,school", "--by", "sex", "--json")
    assert code == 0
    found = json.loads(out)
    (row,) = found["numbers"]
    shares = [table().proportion({"education": ["none", "school"]}, given={"sex": sex}) for sex in "FM"]
    difference = shares[0] - shares[1]
    assert row["name"] == "F less M"
    assert (row["value"], row["std_error"]) == pytest.approx((difference.value, difference.standard_error))
    assert row["p_value"] == pytest.approx(difference.test().p_value)
    assert (row["low_95"], row["high_95"]) == pytest.approx(difference.interval())


def test_more_than_two_groups_are_adjusted(released):
    code, out, _ = released.run("test", "out", "sex=F", "--by", "education", "--adjust", "bonferroni", "--json")
    assert code == 0
    rows = json.loads(out)["numbers"]
    assert [row["name"] for row in rows] == ["none less school", "none less degree", "school less degree"]
    assert [row["adjusted_p_value"] for row in rows] == pytest.approx([min(3 * row["p_value"], 1) for row in rows])
    code, out, _ = released.run("test", "out", "sex=F", "--by", "education")
    assert code == 0
    assert "3 numbers: p-values adjusted by Holm" in out
    assert "errors are about the population" in out


def test_at_the_same_education(released):
    code, out, _ = released.run("test", "out", "sex=F", "--trend", "age", "--about", "table", "--json")
    slope = pk.open_release("out").crosstab("sex", "age").trend({"sex": "F"}, "age")
    assert code == 0
    assert json.loads(out)["numbers"][0]["p_value"] == pytest.approx(slope.test.p_value)
    code, out, _ = released.run(
        "test", "out", "age=20-29,30-39,40-49", "--by", "sex", "--within", "education", "--json"
    )
    assert code == 0
    ratio = table().mantel_haenszel({"sex": "F"}, {"age": ["20-29", "30-39", "40-49"]}, "education")
    (row,) = json.loads(out)["numbers"]
    assert (row["value"], row["p_value"]) == pytest.approx((ratio.odds_ratio.value, ratio.test.p_value))
    code, out, _ = released.run(
        "test", "out", "age=20-29,30-39,40-49", "--by", "sex", "--standardise", "education", "--json"
    )
    assert code == 0
    first, second = (
        table().standardised({"age": ["20-29", "30-39", "40-49"]}, "education", given={"sex": sex}) for sex in "FM"
    )
    assert json.loads(out)["numbers"][0]["value"] == pytest.approx((first - second).value)


def test_groups_without_people_are_left_out_and_named(released):
    code, _, err = released.run("test", "out", "sex=F", "--by", "age")
    assert code == 0
    assert "'0-9' of age is left out: its size cannot be told from zero." in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sex=F"], "--by NAME for groups, or --trend NAME"),
        (["sex=F", "--by", "age", "--trend", "education"], "one of them"),
        (["sex", "--by", "age"], "is no condition; write NAME=VALUE"),
        (["sex=X", "--by", "age"], "'X' is not a value of 'sex'"),
        (["sex=F", "--by", "sex"], "'sex' is named twice"),
        (["sex=F", "--by", "agee"], "Did you mean 'age'"),
        (["sex=F", "--trend", "age", "--within", "education"], "they go with --by"),
        (["sex=F", "--by", "age", "--within", "education"], "--within compares two groups; 'age' has"),
        (["age=0-9", "--by", "sex", "--within", "education", "--standardise", "education"], "exclude each other"),
    ],
)
def test_wrong_questions_are_refused(released, arguments, words):
    code, out, err = released.run("test", "out", *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("options", "caption"),
    [
        (["--by", "sex"], "Differences of the share of people with age = 20-29 or 30-39 by sex"),
        (
            ["--by", "sex", "--standardise", "education"],
            "Differences of the share of people with age = 20-29 or 30-39 by sex, standardised over education",
        ),
        (
            ["--by", "sex", "--within", "education"],
            "Odds ratio of age = 20-29 or 30-39 by sex, common to the strata of education",
        ),
        (["--by", "sex", "--caption", "Mine"], "Mine"),
    ],
)
def test_a_table_for_a_paper_says_what_was_tested(released, options, caption):
    code, out, err = released.run("test", "out", "age=20-29,30-39", *options, "--format", "markdown")
    assert code == 0, err
    assert out.startswith(f"**{caption}.**")
    assert "One number: nothing is adjusted" in out


def test_a_trend_in_a_paper_says_what_was_tested(released):
    code, out, err = released.run("test", "out", "sex=F", "--trend", "age", "--format", "markdown")
    assert code == 0, err
    assert out.startswith("**Slope of the share of people with sex = F, over age.**")
