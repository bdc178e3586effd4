"""pkanon advise: a short ranked list, a file to confirm, and refusals in one sentence."""

import json

import pytest

import pkanon as pk

SCHEMA = """
[attributes.sex]
values = ["F", "M"]

[attributes.age]
bins = { start = 0, stop = 90, width = 5 }
open = "high"

[attributes.job]
values = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]

[attributes.code]
range = [1, 9]
"""
ASKED = ("--records", "3000", "--k", "20")


@pytest.fixture
def advised(place):
    (place.folder / "wide.toml").write_text(SCHEMA)

    def run(*options, code=0):
        done, out, err = place.run("advise", "wide.toml", *options)
        assert done == code, err
        if code:
            assert out == ""
            assert err.count("\n") == 1
        return err if code else out

    return run


def test_it_prints_steps_and_writes_a_schema_for_which_the_plan_keeps_the_promise(advised, place):
    out = advised(*ASKED, "-o", "advised.toml")
    assert "As it is, for 3,000 records at k = 20" in out
    assert "Steps, the most useful first:\n  1. " in out
    assert "Other ways:" in out
    schema = pk.read_schema(place.folder / "advised.toml")
    assert pk.plan(schema, records=3_000, k=20).readable().worst.l1 < 0.3
    next_command = out.split("Next: pkanon ")[1].split("\n")[0].split(" ")
    next_command[-1] = "advised.json"
    assert place.run(*next_command)[0] == 0
    assert pk.read_plan(place.folder / "advised.json").schema == schema


def test_named_tables_end_in_a_command_that_serves_them(advised, place):
    out = advised(*ASKED, "--tables", "sex,age", "--level", "good", "--keep", "job", "-o", "served.toml")
    served = out.split('--workload "')[1].split('"')[0]
    done, out, err = place.run(
        "plan", "served.toml", "--records", "3000", "--k", "20", "--workload", served, "-o", "served.json"
    )
    assert done == 0, err
    plan = pk.read_plan(place.folder / "served.json")
    assert plan.predict("sex", "age").l1 < 0.1
    assert plan.schema.attribute("job").role == "randomise"


def test_json(advised):
    data = json.loads(advised(*ASKED, "--json", "--codes", "code", "--min-columns", "2", "--k-range", "5,50"))
    assert data["before"]["pairs"]["not readable"] > 0
    assert data["after"]["pairs"]["not readable"] == 0
    assert {step["action"] for step in data["steps"]} <= {"drop", "merge"}
    assert [way.split(" (")[0] for way in data["ways_out"][-2:]] == ["k = 5", "k = 50"]
    assert data["columns"].get("code", 9) == 9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*ASKED, "--keep", "agee"), "Did you mean 'age'"),
        ((*ASKED, "--tables", "age,nobody"), "tables names 'nobody'"),
        ((*ASKED, "--min-columns", "12"), "ask for 1 to 4"),
        (("--records", "3000"), "Ask for k"),
        (("--records", "10", "--k", "20"), "nobody hides among more"),
        ((*ASKED, "--level", "poor"), "Invalid value for '--level'"),
        ((*ASKED, "--k-range", "many"), "k"),
        ((*ASKED, "-o", "wide.toml"), "exists already"),
        (
            ("--records", "100", "--k", "60", "--tables", "job,age"),
            "is the limit. Keep or name fewer columns, merge values of them yourself, ask for a lower k, or have more people.",
        ),
        (("--records", "100", "--epsilon", "0.01"), "is the limit. Ask for a larger epsilon, or have more people."),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(advised, options, words):
    assert words in advised(*options, code=2)


def test_a_workload_that_is_no_workload_is_refused(place, advised):
    done, _, err = place.run("plan", "wide.toml", *ASKED, "--workload", "2; 3; sex=2")
    assert (done, err.count("\n")) == (2, 1)
