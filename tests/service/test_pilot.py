"""A pilot: one's own survey with simulated people, marked as such, and never mixed with real answers."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from collecting import Respondents, make, opened

import pkanon as pk
from pkanon._cli import run
from pkanon._collect.pilot import made_up


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pilot")
    survey = make(folder, records=150)
    return survey, folder / "pilot", pk.collect.pilot(survey, folder / "pilot")


def test_a_survey_of_ones_own_is_tried(tried):
    survey, folder, pilot = tried
    assert pilot.status["accepted"] == pilot.release.rows == 150
    assert {name: sum(counts) for name, counts in pilot.truth.items()} == dict.fromkeys(survey.plan.schema.names, 150)
    assert pk.verify(folder / "release").ok
    errors = pilot.errors()
    assert list(errors) == list(survey.plan.schema.names)
    for name, (predicted, found) in errors.items():
        assert 0 < found < 6 * predicted, name
    table = pilot.release.crosstab("smokes").to_polars()["estimate"].to_numpy()
    assert errors["smokes"][1] == pytest.approx(np.abs(table - pilot.truth["smokes"]).sum() / 150)


def test_a_pilot_survives_connections_that_the_service_ends(tmp_path, monkeypatch):
    """As on a machine that is so busy that a connection is idle for too long."""
    monkeypatch.setattr("pkanon._collect.serving.KEPT_SECONDS", 0)
    pilot = pk.collect.pilot(make(tmp_path, records=600), tmp_path / "pilot")
    assert pilot.status["accepted"] == pilot.release.rows == 600


def test_everything_is_marked_as_simulated(tried):
    _, folder, pilot = tried
    certificate = json.loads((folder / "release" / "certificate.json").read_text())
    assert certificate["collection"] == {"mode": "simulated, to try a survey", "batch": None}
    assert "no row is about a person" in certificate["statement"][0]
    schema = json.loads((Path(pk.__file__).parent / "_release" / "certificate.schema.json").read_text())
    jsonschema.validate(certificate, schema)
    assert "SIMULATED." in (folder / "release" / "README.txt").read_text()
    assert "<h2>Simulated.</h2>" in pk.report(folder / "release").html
    assert "the answers were simulated" in pilot.release.remarks[0]
    assert pk.collect.Survey.read(folder / "survey").mode == "simulated"


def test_simulated_and_real_answers_are_never_mixed(tried, tmp_path):
    survey, folder, pilot = tried
    assert pilot.survey.digest != survey.digest
    assert pilot.survey.plan.digest == survey.plan.digest
    with pytest.raises(pk.InputError, match="another survey"):
        pk.collect.app(survey, f"sqlite:///{folder}/answers.db")
    opened(survey, f"sqlite:///{tmp_path}/real.db").close()
    for place in (folder / "answers.db", tmp_path / "real.db", tmp_path / "new.db"):
        with pytest.raises(pk.RefusedError, match="belongs to a pilot"):
            pk.collect.app(pilot.survey, f"sqlite:///{place}")
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(pk.InputError, match="exists already"):
        pk.collect.pilot(survey, folder)


def test_made_up_answers_are_allowed_and_uneven(tmp_path):
    survey = make(tmp_path)
    codes = made_up(survey.plan, 5_000)
    assert not ((codes["age"] == 0) & (codes["drives"] == 1)).any()  # a forbidden combination
    assert len(np.unique(codes["rooms"])) > 100
    assert codes["rooms"].max() < 300
    counts = np.bincount(codes["smokes"])
    assert counts[0] > counts[1] > 0


def test_people_with_answers_from_a_table(tmp_path):
    survey = make(tmp_path, records=60, invitation_key=pk.collect.new_issuer(tmp_path / "issuer"))
    truth = Respondents(survey, 40).truth
    labels = {a.name: [a.label(int(code)) for code in truth[a.name]] for a in survey.plan.schema.randomised}
    pilot = pk.collect.pilot(survey, tmp_path / "pilot", answers=pl.DataFrame(labels))
    assert pilot.truth["age"] == np.bincount(truth["age"], minlength=3).tolist()
    assert pilot.release.rows == 40  # fewer than expected, which a pilot may have
    with pytest.raises(pk.InputError, match="not both"):
        pk.collect.pilot(survey, tmp_path / "p", people=3, answers=pl.DataFrame(labels))
    with pytest.raises(pk.InputError, match="2 to 100,000 people"):
        pk.collect.pilot(survey, tmp_path / "p", people=1)
    assert not (tmp_path / "p").exists()


def test_a_pilot_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make(tmp_path).save("survey")
    assert run(["collect", "pilot", "survey", "--people", "50", "-o", "pilot"]) == 0
    told = capsys.readouterr().out
    assert "50 simulated people answered" in told
    assert "marked as simulated" in told
    assert (tmp_path / "pilot" / "release" / "report.html").is_file()
    (tmp_path / "true.csv").write_text("smokes,age,drives,rooms\n" + "no,old,yes,3\nyes,child,no,5\n" * 10)
    assert run(["collect", "pilot", "survey", "--answers", "true.csv", "-o", "second", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["simulated"]
    assert told["truth"]["smokes"] == [10, 10]
    assert set(told["errors"]["age"]) == {"predicted", "found"}
    assert run(["collect", "pilot", "survey"]) == 2
    assert "Name the folder" in capsys.readouterr().err
    assert run(["collect", "serve", "pilot/survey", "--database", "sqlite:///x.db"]) == 2
    assert "belongs to a pilot" in capsys.readouterr().err
