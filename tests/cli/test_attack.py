"""pkanon attack: what it prints, how it exits, and that no person's value is in it."""

import json

import pytest

import pkanon as pk


@pytest.fixture
def made(place):
    """The folder of an honest release."""
    code, _, err = place.release()
    assert code == 0, err
    return place


def attacked(place, *arguments, code=0):
    found, out, err = place.run("attack", *arguments)
    assert found == code, err
    return out, err


def test_an_honest_release(made):
    out, err = attacked(made, "people.csv", "out", "--rehearsals", "3")
    assert out.startswith("Attack on 200 rows with k = 3: nothing breaks the promise\n")
    assert "kept: made by the plan." in out
    assert "nobody may be surer than 1/k: 33.3%" in out
    assert "right in 3 rehearsals: " in out
    assert "The release is shuffled, so nobody knows whose its rows are." in out
    assert "all 3 columns" in out
    assert "may come from anybody" in out
    assert err == ""


def test_rows_that_were_never_randomised_exit_with_1(made):
    table = pk.open_release("out").plan.schema
    rows = (made.folder / "people.csv").read_text().splitlines()[1:]
    labels = {name: list(table.attribute(name).domain.labels()) for name in ("sex", "age", "education")}
    lines = ["sex,age,education"]
    for row in rows:
        _, sex, age, education = row.split(",")
        lines.append(f"{sex},{labels['age'][min(int(age) // 10, 9)]},{education}")
    made.write("raw.csv", "\n".join(lines) + "\n")
    out, _ = attacked(made, "people.csv", "raw.csv", "--plan", "plan.json", "--rehearsals", "1", code=1)
    assert out.startswith("Attack on 200 rows with k = 3: the rows do NOT fit this table and this plan\n")
    assert "NOT KEPT: random order." in out
    document = json.loads(
        attacked(made, "people.csv", "raw.csv", "--plan", "plan.json", "--rehearsals", "1", "--json", code=1)[0]
    )
    assert document["kept"] is False


def test_a_generalised_table(made):
    made.write("small.csv", "sex,age\nF,1\nM,2\nM,2\n")
    made.write("general.csv", "sex,age\n*,1\n*,2\n*,2\n")
    out, err = attacked(made, "small.csv", "general.csv")
    assert "without a plan: nothing is promised, classical measures only" in out
    assert "sex, age" in out
    assert "classical measures only" in err
    document = json.loads(attacked(made, "small.csv", "general.csv", "--json")[0])
    assert document["k"] is None
    assert document["classical"]["uniques"][-1] == {"columns": ["sex", "age"], "private": 1, "published": 1}
    assert document["classical"]["equal"] == 0


def test_json_and_a_chart(made):
    out, err = attacked(made, "people.csv", "out", "--json", "--chart", "chart.svg", "--rehearsals", "2")
    document = json.loads(out)
    assert document["kept"] is True
    assert document["links"]["rehearsals"] == 2
    assert document["links"]["guesses"] == 400
    assert {guess["attribute"] for guess in document["guesses"]} == {"sex", "age", "education"}
    assert (made.folder / "chart.svg").read_text().startswith("<svg")
    assert err == "note: the chart is in chart.svg.\n"


def test_columns_and_attributes(made):
    out, _ = attacked(
        made, "people.csv", "out", "--columns", "sex, age", "--sensitive", "age", "--rehearsals", "1", "--json"
    )
    document = json.loads(out)
    assert [each["columns"] for each in document["classical"]["uniques"]] == [["sex"], ["age"], ["sex", "age"]]
    assert [guess["attribute"] for guess in document["guesses"]] == ["age"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("people.csv", "nowhere"), "no file nowhere"),
        (("nowhere.csv", "out"), "no file nowhere.csv"),
        (("people.csv", "out", "--sensitive", "job"), "'job' is not a randomised attribute"),
        (("people.csv", "out", "--rehearsals", "0"), "--rehearsals"),
        (("people.csv", "out", "--plan", "people.toml"), "is a schema, not a plan"),
        (("people.csv", "people.csv", "--chart", "c.svg"), "nothing to draw"),
    ],
)
def test_wrong_input(made, arguments, words):
    code, out, err = made.run("attack", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_no_value_of_a_person_is_printed(made):
    secret = "zzSECRETzz"
    made.lines(*(made.folder / "people.csv").read_text().splitlines()[1:-1], f"p,{secret},3,none")
    code, out, err = made.run("attack", "people.csv", "out")
    assert code == 2
    assert secret not in out + err
