"""pkanon collect serve, status, pause, resume, close, release and demo, as an operator types them."""

import json
import os
import socket
import stat
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from collecting import SURVEY, TOKEN, Client, Process, Respondents, make, opened, packed, running
from postgres import cluster

import pkanon as pk
from pkanon._cli import run
from pkanon._collect.store import StoreFailure, open_store
from pkanon._plan import round_down

FIVE = """
[attributes.day]
values = ["Mon", "Tue", "Wed", "Thu", "Fri"]
question = "Which day?"
"""


@pytest.fixture
def survey(folder):
    survey = make(folder, records=100)
    survey.save(folder / "survey")
    return survey


@pytest.fixture
def token(folder):
    path = folder / "admin.token"
    path.write_text(TOKEN.replace(" ", "-"))
    os.chmod(path, stat.S_IRUSR)
    return str(path)


def fill(survey, database, count=110):
    store = opened(survey, database)
    store.add(packed(survey, Respondents(survey, count).bodies()))
    store.close()


def test_a_running_survey_is_asked_and_told_by_its_address(survey, folder, token, capsys):
    database = f"sqlite:///{folder}/answers.db"
    service = Process(folder / "survey", database, "--admin-token-file", token)
    service.start()
    url = f"http://127.0.0.1:{service.port}"
    try:
        client = Client(service.port)
        for body in Respondents(survey, 3).bodies():
            assert client.ask("POST", "/answers", body)[0] == 200
        client.close()
        assert run(["collect", "status", url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["accepted"] == 3
        assert run(["collect", "status", url]) == 0
        told = capsys.readouterr().out
        assert "The survey is open. 3 answers of 100 expected." in told
        assert "known answers" in told
        assert "The planned k holds while answers are missing only if" in told
        for verb, state in (("pause", "paused"), ("resume", "open")):
            assert run(["collect", verb, url, "--admin-token-file", token, "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["state"] == state
        closing = ["collect", "close", url, "--admin-token-file", token]
        assert run(closing) == 2  # for ever, so not by mistake
        assert "There are 3 answers and people were promised k for 100; a closed" in capsys.readouterr().err
        assert run(["collect", "status", url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["state"] == "open"
        assert run(["collect", "close", str(folder / "survey"), "--database", database]) == 2
        assert "stop the service, or give" in capsys.readouterr().err
        assert run([*closing, "--allow-fewer", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["state"] == "closed"
        assert run([*closing, "--json"]) == 0  # again: nothing is lost
        capsys.readouterr()
        assert run(["collect", "close", url]) == 2
        assert "Give the admin token" in capsys.readouterr().err
        out = str(folder / "out")
        command = ["collect", "release", str(folder / "survey"), "--database", database, "-o", out]
        assert run(command) == 2  # the service still tells visitors that it is closed
        assert "There are 3 answers and people were promised k for 100" in capsys.readouterr().err
        assert run([*command, "--allow-fewer"]) == 0
        assert "Released 3 answers" in capsys.readouterr().out
        assert {"report.html", "README.txt", "certificate.json"} <= {path.name for path in (folder / "out").iterdir()}
    finally:
        service.stop()
    assert service.process.returncode == 0


def test_a_survey_with_enough_answers_is_closed_and_says_what_comes_next(survey, folder, capsys):
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database, 110)
    assert run(["collect", "close", str(folder / "survey"), "--database", database]) == 0
    told = capsys.readouterr().out
    assert "The survey is closed. 110 answers of 100 expected." in told
    assert "The planned k holds" not in told  # no answer is missing
    assert told.endswith("Next: pkanon collect release SURVEY --database ADDRESS -o FOLDER\n")


def test_a_stopped_survey_is_not_closed_too_early(survey, folder, capsys):
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database, 99)
    closing = ["collect", "close", str(folder / "survey"), "--database", database]
    assert run(closing) == 2
    assert "99 answers and people were promised k for 100" in capsys.readouterr().err
    assert run([*closing, "--allow-fewer", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "closed"


def test_answers_in_batches_do_not_count_for_the_rest(survey, folder, capsys):
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database, 120)
    place = [str(folder / "survey"), "--database", database]
    assert run(["collect", "release", *place, "--batch", "-o", str(folder / "first")]) == 0
    fill(survey, database, 7)
    capsys.readouterr()
    assert run(["collect", "status", *place, "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["accepted"], status["in_batches"]) == (127, 120)
    assert status["k"] == round_down(survey.plan.k_for(7))
    assert run(["collect", "status", *place]) == 0
    assert "120 of them were released in batches" in capsys.readouterr().out
    assert run(["collect", "close", *place]) == 2
    assert "There are 7 answers that no batch holds" in capsys.readouterr().err
    with running(survey, database) as client:
        served = client.ask("GET", "/status")[2]
    assert served == status


def test_a_plan_below_chance_says_so(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    Path("survey.toml").write_text(
        SURVEY.partition("[attributes.age]")[0].replace('["no", "yes"]', '["a", "b", "c"]') + FIVE
    )
    new = ["collect", "new", "survey.toml", "--records", "1000", "--k", "500", "-o", "survey"]
    assert run(new) == 0
    said = "smokes, day: a person's own value is released less often than chance alone would release it."
    assert said in capsys.readouterr().out
    survey = pk.collect.Survey.read("survey")
    assert min(survey.plan.rho.values()) < 0
    assert said in survey.plan.explain()
    opened(survey, "sqlite:///answers.db").close()
    assert run(["collect", "status", "survey", "--database", "sqlite:///answers.db"]) == 0
    assert said in capsys.readouterr().out
    assert run([*new[:-3], "5", "-o", "open"]) == 0
    assert "less often than chance" not in capsys.readouterr().out


def test_a_stopped_survey_is_told_by_its_database(survey, folder, capsys):
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database)
    place = [str(folder / "survey"), "--database", database]
    for verb, state in (("status", "open"), ("pause", "paused"), ("resume", "open"), ("close", "closed")):
        assert run(["collect", verb, *place, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["state"] == state
    assert run(["collect", "resume", *place]) == 2
    assert "closed for ever" in capsys.readouterr().err
    assert run(["collect", "release", *place, "-o", str(folder / "out"), "--format", "csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["rows"] == {"planned": 100, "released": 110}
    assert pk.open_release(folder / "out").rows == 110


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["status", "survey"], "Name the database"),
        (["status", "survey", "--database", "sqlite:///none.db"], "There is no database"),
        (["status", "nowhere", "--database", "sqlite:///none.db"], "not the folder of a survey"),
        (["status", "http://127.0.0.1:9", "--database", "sqlite:///x.db"], "leave out --database"),
        (["status", "http://127.0.0.1:9?token=1"], "without anything behind it"),
        (["status", "http://127.0.0.1:nine"], "without anything behind it"),
        (["status", "survey.example.org"], "written with http:// or https://: https://survey.example.org"),
        (["status", "localhost:8000"], "written with http:// or https://: http://localhost:8000"),
        (["close", "http://survey.example.org", "--admin-token-file", "admin.token"], "in the clear"),
        (["serve", "survey", "--database", "answers.db"], "there is no other kind"),
        (["serve", "survey", "--database", "sqlite:///answers.db", "--port", "70000"], "is not in the range"),
        (["serve", "survey", "--database", "sqlite:///answers.db", "--accept", "fsync"], "no setting to accept"),
        (["release", "survey", "--database", "sqlite:///answers.db"], "Name the folder"),
        (["relase"], "Did you mean release?"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(survey, folder, token, monkeypatch, capsys, arguments, complaint):
    monkeypatch.chdir(folder)
    assert run(["collect", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_a_port_in_use_leaves_no_files(survey, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["collect", "serve", "survey", "--database", "sqlite:///answers.db", "--port", port]) == 3
    assert "choose another --host or --port" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before


def test_a_database_in_the_public_folder_is_refused(survey, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder / "survey")
    assert run(["collect", "serve", ".", "--database", "sqlite:///answers.db"]) == 2
    assert "would lie in the survey folder" in capsys.readouterr().err
    assert not (folder / "survey" / "answers.db").exists()
    monkeypatch.chdir(folder)
    assert run(["collect", "serve", ".", "--database", "sqlite:///answers.db"]) == 2
    assert "not the folder of a survey" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "arguments", "said"),
    [
        ({}, ["--issuer", "issuer"], "whoever runs it could link the two by their times"),
        ({}, [], "where nobody does it now: add --issuer"),
        ({"issuer": "https://issuer.example.org"}, [], "people redeem theirs at https://issuer.example.org, not here"),
        ({"strict": True}, [], "before the survey opens"),
    ],
)
def test_an_invited_survey_says_how_people_get_in(folder, monkeypatch, capsys, options, arguments, said):
    monkeypatch.chdir(folder)
    make(folder, invitation_key=pk.collect.new_issuer("issuer"), **options).save("survey")
    monkeypatch.setattr("pkanon._cli.private.serve", lambda make, host, port, ready: ready("http://0.0.0.0:8000"))
    serve = ["collect", "serve", "survey", "--database", "sqlite:///answers.db", *arguments]
    assert run([*serve, "--host", "0.0.0.0"]) == 0
    out, err = capsys.readouterr()
    assert said in " ".join(err.split())
    assert "connect without TLS" in " ".join(err.split())
    assert "The survey is at http://127.0.0.1:8000 and every other address of this machine" in out
    assert run([*serve, "--host", "0.0.0.0", "--behind-proxy"]) == 0
    assert run(serve) == 0
    assert "without TLS" not in capsys.readouterr().err


def test_an_open_survey_says_nothing_of_invitations(survey, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("pkanon._cli.private.serve", lambda make, host, port, ready: ready("http://127.0.0.1:8000"))
    assert run(["collect", "serve", "survey", "--database", "sqlite:///answers.db"]) == 0
    assert "invitation" not in capsys.readouterr().err


def test_what_is_no_survey_is_not_shown_as_one(capsys):
    class Other(BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>" if "page" in self.path else b'{"state": "open"}')

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        try:
            for path in ("", "/page"):
                assert run(["collect", "status", f"http://127.0.0.1:{server.server_address[1]}{path}"]) == 2
                assert "There is no survey at" in capsys.readouterr().err
        finally:
            server.shutdown()


def test_a_service_that_is_not_there_is_a_failure_of_the_environment(capsys):
    assert run(["collect", "status", "http://127.0.0.1:9"]) == 3
    assert "cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\x00" + bytes(84)])
def test_a_file_that_is_something_else_is_left_alone(survey, folder, capsys, content):
    path = folder / "other.db"
    path.write_bytes(content)
    assert run(["collect", "status", str(folder / "survey"), "--database", f"sqlite:///{path}"]) in (2, 3)
    assert "error: " in capsys.readouterr().err
    assert path.read_bytes() == content


def test_answers_to_another_survey_are_left_alone(survey, folder, capsys):
    database = f"sqlite:///{folder}/answers.db"
    fill(survey, database)
    make(folder, records=101).save(folder / "second")
    assert run(["collect", "status", str(folder / "second"), "--database", database]) == 2
    assert "answers to another survey" in capsys.readouterr().err


def test_a_server_that_keeps_times_is_refused_unless_that_is_accepted(survey, folder, capsys):
    with cluster(track_commit_timestamp="on", log_statement="all") as server:
        place = [str(folder / "survey"), "--database", server.url]
        with pytest.raises(pk.RefusedError, match="track_commit_timestamp"):
            opened(survey, server.url)
        both = ("track_commit_timestamp", "log_statement")
        store = open_store(server.url, survey.plan, survey.digest, expected=100, accept=both)
        assert [warning.split(":")[0] for warning in store.warnings] == [f"PostgreSQL, {name}" for name in both]
        store.close()
        assert run(["collect", "status", *place, "--accept", both[0], "--accept", both[1]]) == 0
        capsys.readouterr()
        assert run(["collect", "status", *place, "--accept", both[0]]) == 2
        assert "say --accept log_statement" in capsys.readouterr().err
        assert run(["collect", "status", *place, "--accept", "archive_mode"]) == 2
        assert "leave out --accept archive_mode" in capsys.readouterr().err


def test_settings_are_looked_at_again_when_the_server_was_started_again(survey, folder):
    with cluster() as server:
        store = opened(survey, server.url)
        store.reopen()
        server.stop()
        with open(server.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write("log_duration = on\n")
        server.start()
        with pytest.raises(StoreFailure, match="log_duration"):
            store.reopen()
        store.close()


def test_the_demo_runs_a_whole_survey(folder, capsys):
    assert run(["collect", "demo", "--people", "200", "-o", str(folder / "demo"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"]["accepted"] == 200
    assert sum(told["truth"]) == 200
    assert told["certificate"]["collection"] == {"mode": "simulated, to try a survey", "batch": None}
    assert (folder / "demo" / "release" / "report.html").is_file()
    assert pk.open_release(folder / "demo" / "release").rows == 200
    assert run(["collect", "demo", "-o", str(folder / "demo")]) == 2
    assert "exists already" in capsys.readouterr().err
