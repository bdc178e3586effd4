"""pkanon explain: what a plan or a release does and promises."""

import json
import re

import pytest

import pkanon as pk


def explained(place, *arguments):
    code, out, err = place.run("explain", *arguments)
    assert code == 0, err
    return out, err


def refused(place, *arguments):
    code, out, err = place.run("explain", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def test_a_plan(place):
    out, err = explained(place, "plan.json")
    plan = pk.read_plan("plan.json")
    assert out.startswith(f"{plan}\n")
    assert out.endswith(f"{plan.explain()}\n")
    for names in (("sex",), ("sex", "age"), ("sex", "age", "education")):
        assert f"error: {' x '.join(names)} " in out
    assert err == ""


def test_tables_of_a_plan(place):
    out, _ = explained(place, "plan.json", "--table", "age", "--table", "sex,education")
    errors = [line.removeprefix("  error: ") for line in out.splitlines() if line.startswith("  error: ")]
    assert len(errors) == 2
    assert errors[0].startswith("age ")
    assert errors[1].startswith("sex x education ")


def test_a_plan_as_json(place):
    document = json.loads(explained(place, "plan.json", "--json", "--table", "sex")[0])
    plan = pk.read_plan("plan.json")
    assert set(document) == {"plan", "readable"}
    numbers = document["plan"]
    assert (numbers["records"], numbers["k"], numbers["digest"]) == (200, plan.k, plan.digest)
    assert numbers["design"] == "optimal"
    assert numbers["steps"] == plan.steps
    assert [p["attributes"] for p in numbers["predictions"]] == [["sex"]]


def test_the_privacy_of_the_whole_is_explained_where_it_was_asked_for(place):
    arguments = ("--records", "200", "--central-epsilon", "1", "--design", "equal-rho", "-o", "central.json")
    code, out, err = place.run("plan", "people.toml", *arguments)
    assert code == 0, err
    again, _ = explained(place, "central.json")
    (line,) = (line for line in again.splitlines() if "As a whole, shuffled" in line)
    assert line in out
    assert "As a whole" not in explained(place, "plan.json")[0]


@pytest.mark.parametrize("inside", ["", "/data.parquet"])
def test_a_release(place, inside):
    assert place.release()[0] == 0
    out, _ = explained(place, f"out{inside}")
    release = pk.open_release("out")
    assert out.startswith("Release of 200 rows, made on ")
    for sentence in (*release.plan.steps, *release.certificate.statement, *release.certificate.outside):
        assert f"\n  {sentence}\n" in out
    assert "error: sex x age " in out


def test_a_release_of_fewer_rows_promises_what_its_certificate_does(place):
    place.lines(*(place.folder / "people.csv").read_text().splitlines()[1:151])
    assert place.release("--allow-fewer")[0] == 0
    out, _ = explained(place, "out")
    promised = out.partition("What is promised\n")[2].partition("\n\n")[0]
    assert pk.open_release("out").certificate.statement[0] in promised
    assert "k = 3." not in promised  # which only the planned 200 rows would have
    assert "for 200 records" in out


def test_a_release_that_claims_nothing_says_why(place):
    assert place.release("--seed", "7", "--seeded-not-private")[0] == 0
    out, _ = explained(place, "out")
    assert "  This release claims nothing.\n  Void: " in out
    assert not re.search(r"^ *(k|epsilon) ", out, re.MULTILINE)  # nowhere else either
    document = json.loads(explained(place, "out", "--json")[0])
    assert not {"k", "epsilon", "epsilon_unbounded"} & document["plan"].keys()


def test_a_release_as_json(place):
    assert place.release()[0] == 0
    document = json.loads(explained(place, "out", "--json")[0])
    assert document["certificate"] == pk.open_release("out").certificate.to_json()
    planned = json.loads(explained(place, "plan.json", "--json")[0])["plan"]
    promised = ("k", "epsilon", "epsilon_unbounded", "void")
    assert document["plan"] == {name: value for name, value in planned.items() if name not in promised}


def test_a_hidden_count_is_said(place):
    arguments = ("--records", "100", "--epsilon", "20", "--hide-count", "9/10", "-o", "out")
    assert place.run("release", "people.csv", "--schema", "people.toml", *arguments)[0] == 0
    assert "the record count is hidden" in explained(place, "out")[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["people.toml"], "pkanon plan people.toml"),
        (["nothing.json"], "nothing.json"),
        (["people.csv"], "people.csv"),
        (["."], "."),
        (["plan.json", "--table", "sxe"], "Did you mean 'sex'?"),
        (["plan.json", "--records", "5"], "no option --records"),
        ([], "PLAN.json|RELEASE"),
    ],
)
def test_what_cannot_be_explained(place, arguments, words):
    assert words in refused(place, *arguments)


def test_how_far_a_belief_can_move(place):
    out, _ = explained(place, "plan.json", "--breach", "0.05")
    found = pk.read_plan("plan.json").breach(0.05)
    assert "\nWhat one record could tell\n" in out
    for sentence in found.sentences:
        assert f"\n  {sentence}\n" in out
    document = json.loads(explained(place, "plan.json", "--breach", "0.05", "--json")[0])
    assert document["plan"]["breach"]["posterior_above"] == found.posterior_above
    assert "What one record could tell" not in explained(place, "plan.json")[0]
    assert "prior = 1.5" in refused(place, "plan.json", "--breach", "1.5")
    assert place.release()[0] == 0
    assert "\nWhat one record could tell\n" in explained(place, "out", "--breach", "0.05")[0]
    assert place.release("--seed", "1", "--seeded-not-private", "-o", "seeded")[0] == 0
    assert "claims nothing, so it bounds no breach" in refused(place, "seeded", "--breach", "0.05")
