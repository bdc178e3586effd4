"""pkanon audit: the table of checks, JSON, and exit codes."""

import json

import numpy as np
import pytest

from pkanon._release import pipeline

SMALL = ("--runs", "100", "--rows", "5000")


def test_a_table_of_checks(place):
    code, out, err = place.run("audit", "plan.json", *SMALL)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["check", "claimed", "measured", "at", "least", "(95%)", "chance", "verdict"]
    assert [line.split()[-1] for line in lines[2:9]] == ["passed"] * 7
    assert lines[-1].startswith("Nothing speaks against the claim. Epsilon is at least ")
    assert " (95% confidence), " in lines[-1]
    assert lines[-1].endswith("% of what is claimed.")


def test_json(place):
    code, out, _ = place.run("audit", "plan.json", *SMALL, "--confidence", "0.99", "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["passed"], document["confidence"], len(document["checks"])) == (True, 0.99, 7)
    assert document["lower"] == max(check["lower"] or 0 for check in document["checks"])


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_promise_that_is_not_kept_is_exit_code_1(place, monkeypatch, form):
    monkeypatch.setattr(pipeline, "draw_order", lambda rows, source, sort: np.arange(rows))
    code, out, _ = place.run("audit", "plan.json", *SMALL, *form)
    assert code == 1
    if form:
        assert json.loads(out)["passed"] is False
    else:
        assert "FAILED" in out
        assert out.endswith("The pipeline does not do what the plan claims. Release nothing with it.\n")


def test_a_plan_that_claims_nothing(place):
    schema = (place.folder / "people.toml").read_text()
    place.write(
        "draft.toml", 'domains = "drafted"\n' + schema.partition("\n")[2]
    )  # without the line that says who confirmed it
    assert place.run("plan", "draft.toml", "--records", "200", "--k", "3", "-o", "draft.json")[0] == 0
    code, out, err = place.run("audit", "draft.json", *SMALL)
    assert code == 0
    assert out.split("measured")[0].split() == ["check", "by", "the", "plan"]
    last = out.splitlines()[-1]
    assert last.startswith("Nothing speaks against the plan's integers. Epsilon is at least ")
    assert "claim" not in out
    assert err == (
        "note: the plan claims nothing: the declared values were read off the private table and nobody has confirmed that "
        "they are public knowledge.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("people.toml",), "error: people.toml is a schema, not a plan;"),
        (("plan.json", "--runs", "1"), "error: An audit takes at least 100 runs and 1,000 rows.\n"),
        (("plan.json", "--confidence", "2"), "error: confidence = 2.0: it is at least 0.5 and below 1"),
    ],
)
def test_wrong_input(place, arguments, sentence):
    code, out, err = place.run("audit", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
