"""pkanon collect new, check, invite and answer."""

import json
import stat

import coroutines
import pytest
from asked_people import SURVEY, served

import pkanon as pk
from pkanon._cli import run
from pkanon._cli.collect import SUBCOMMANDS


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch):
    """Runs pkanon collect in a folder with a survey.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")

    def collect(*arguments, code=0):
        got = run(["collect", *arguments])
        out, err = capsys.readouterr()
        assert got == code, err
        return out if code in (0, 1) else err

    return collect


MAKE = ("new", "survey.toml", "--records", "5000", "--k", "20", "-o", "survey")


def test_a_survey_folder(desk, tmp_path):
    out = desk(*MAKE)
    survey = pk.collect.Survey.read("survey")
    assert survey.digest in out
    assert "k = 20 when all of them have come" in out
    assert "smokes: of 100 people with the same answer, up to" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey", "survey.toml"]
    assert "exists already" in desk(*MAKE, code=2)


def test_a_survey_folder_as_json(desk):
    data = json.loads(desk(*MAKE, "--json", "--results-every", "300", "--design", "equal-rho"))
    assert data["digest"] == pk.collect.Survey.read("survey").digest
    assert (data["results_every"], data["mode"], data["issuer"]) == (300, "open", None)
    assert [entry["attribute"] for entry in data["odds"]] == ["smokes", "packs", "age"]


def test_tables_that_will_not_be_readable_are_told_before_anybody_is_asked(desk, capsys):
    assert "3 good, 1 fair, 2 poor" in desk(*MAKE)
    few = ("--records", "60", "--k", "5")
    assert run(["collect", "new", "survey.toml", *few, "-o", "few", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["readable"] == {"good": 0, "fair": 0, "poor": 0, "not readable": 6}
    assert "6 of the 6 tables that this plan serves cannot be read" in err
    assert run(["plan", "survey.toml", *few, "--ks", "none"]) == 0
    assert "6 not readable" in capsys.readouterr().out
    assert run(["plan-for-error", "survey.toml", "--k", "5", "--table", "smokes", "--error", "0.05"]) == 0
    assert "records are needed" in capsys.readouterr().out


def test_a_survey_is_advised_on_and_keeps_its_questions(desk, capsys, tmp_path):
    wanted = ["advise", "survey.toml", "--records", "5000", "--k", "20"]
    assert run(wanted) == 0
    assert "age" in capsys.readouterr().out
    assert run([*wanted, "-o", "advised.toml"]) == 2
    assert "leave out -o" in capsys.readouterr().err
    assert not (tmp_path / "advised.toml").exists()
    (tmp_path / "survey.toml").write_text("[survey\n")
    assert run(wanted) == 2
    assert "not valid TOML" in capsys.readouterr().err


def test_what_cannot_be_made_leaves_nothing_behind(desk, tmp_path):
    base = ("new", "survey.toml", "-o", "survey")
    assert "Ask for k" in desk(*base, "--records", "10", code=2)
    assert "belong to --invitations" in desk(*MAKE, "--strict", code=2)
    assert "every 101 answers or more" in desk(*MAKE, "--results-every", "1", "--invitations", code=2)
    assert "not a web address" in desk(*MAKE, "--invitations", "--issuer-url", "issuer", code=2)
    assert "hide-count" in desk(*MAKE, "--hide-count", "9/10", code=2)
    desk(*base, "--records", "10", "--k", "20", "--invitations", code=2)  # k above the number of answers
    assert [path.name for path in tmp_path.iterdir()] == ["survey.toml"]


def test_the_address_is_checked(desk):
    desk(*MAKE)
    survey = pk.collect.Survey.read("survey")
    with served(survey) as place:
        assert "The address serves this survey." in desk("check", place.url, "survey")
        assert json.loads(desk("check", place.url, "--digest", survey.digest, "--json"))["same"]
        place.files["pkanon.js"] += b"//"
        out = desk("check", place.url, "survey", code=1)
        assert "pkanon.js: DIFFERENT" in out
        assert "do not answer there" in out
        assert not json.loads(desk("check", place.url, "survey", "--json", code=1))["same"]
        assert "Say what the address should serve" in desk("check", place.url, code=2)
        assert "64 hexadecimal digits" in desk("check", place.url, "--digest", survey.digest[:12], code=2)
    desk("check", place.url, "survey", code=3)  # nobody answers
    for command in (("check", "localhost:8000", "survey"), ("answer", "localhost:8000", "--set", "smokes=yes")):
        assert "begins with https://" in desk(*command, code=2)


def test_an_answer(desk, tmp_path, monkeypatch):
    desk(*MAKE)
    survey = pk.collect.Survey.read("survey")
    true = ("--set", "smokes=yes", "--set", "packs=3", "--set", "age=34")
    with served(survey) as place:
        out = desk("answer", place.url, *true, "--store", "answer.json")
        assert out == f"Acknowledged. This was sent, after it was randomised:\n  {place.answers[-1].decode()}\n"
        assert stat.S_IMODE((tmp_path / "answer.json").stat().st_mode) == 0o600
        assert "given once" in desk("answer", place.url, *true, "--store", "answer.json", code=2)
        data = json.loads(desk("answer", place.url, *true, "--json"))
        assert json.loads(place.answers[-1]) == data["sent"]
        (tmp_path / "true.json").write_text('{"smokes": null, "packs": 2, "age": 20}')
        desk("answer", place.url, "--values", "true.json")
        assert len(place.answers) == 3
        some = ("--set", "packs=2", "--set", "age=20")
        assert "stay open, give None (--set smokes=)" in desk("answer", place.url, *some, code=2)
        assert "'age' has no answer; every question needs one" in desk("answer", place.url, *true[:4], code=2)
        desk("answer", place.url, *some, "--set", "smokes=")
        assert len(place.answers) == 4


def test_after_a_failure_the_same_command_without_answers_sends_the_same_bytes(desk, monkeypatch):
    desk(*MAKE)
    true = ("--set", "smokes=yes", "--set", "packs=3", "--set", "age=34")
    with served(pk.collect.Survey.read("survey")) as place:
        place.answer = lambda body: (503, {})
        with monkeypatch.context() as patched:
            patched.setattr(
                pk.collect.Client.answer, "__kwdefaults__", {**pk.collect.Client.answer.__kwdefaults__, "patience": 0}
            )
            assert "same bytes can be sent again" in desk("answer", place.url, *true, "--store", "a.json", code=3)
        place.answer = lambda body: (200, {"stored": True})
        assert "send that one first" in desk("answer", place.url, *true, "--store", "a.json", code=2)
        assert place.answers[0].decode() in desk("answer", place.url, "--store", "a.json")
        assert len(place.answers) == 2
        assert "given once" in desk("answer", place.url, "--store", "a.json", code=2)
        assert "no draw that waits" in desk("answer", place.url, "--store", "new.json", code=2)


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_survey_that_takes_no_answers_gets_none(desk, tmp_path, state):
    desk(*MAKE, "--invitations")
    true = ("--set", "smokes=yes", "--set", "packs=3", "--set", "age=34", "--store", "a.json")
    with served(pk.collect.Survey.read("survey")) as place:
        place.files["status"] = json.dumps({"state": state}).encode()
        assert f"is {state}: nothing was drawn" in desk("answer", place.url, *true, "--invitation", "x" * 22, code=2)
        assert place.answers == place.claims == []
        assert not (tmp_path / "a.json").exists()


def test_practice_is_never_sent(desk, tmp_path):
    desk(*MAKE)
    true = ("--set", "smokes=yes", "--set", "packs=3", "--set", "age=34", "--practice")
    with served(pk.collect.Survey.read("survey")) as place:
        assert "not sent" in desk("answer", place.url, *true)
        first = json.loads(desk("answer", place.url, *true, "--json"))
        (tmp_path / "words.json").write_text(json.dumps(first["words"]))
        assert json.loads(desk("answer", place.url, *true, "--words", "words.json", "--json")) == first
        (tmp_path / "draw.json").write_text(json.dumps(first))  # all that --json printed
        assert json.loads(desk("answer", place.url, *true, "--words", "draw.json", "--json")) == first
        for wrong in (("--store", "s.json"), ("--invitation", "x")):
            assert "never sent" in desk("answer", place.url, *true, *wrong, code=2)
        assert place.answers == []
        (tmp_path / "words.json").write_text("{}")
        assert "hold no number for 0/0/0" in desk("answer", place.url, *true, "--words", "words.json", code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "smokes"], "QUESTION=VALUE"),
        ([], "Give an answer to every question"),
        (["--set", "smokes=hush", "--set", "packs=1", "--set", "age=3"], "'smokes' is outside"),
        (["--set", "smokes=no", "--set", "smokes=hush"], "answered twice"),
        (["--set", "smokes=hush", "--words", "w.json"], "needs --practice"),
        (["--set", "smokes=hush", "--invitation", "abc"], "with --store"),
        (["--values", "none.json"], "Cannot read none.json"),
        (["--values", "survey.toml"], "not a JSON object"),
    ],
)
def test_wrong_answers_are_not_repeated(desk, arguments, message):
    desk(*MAKE)
    with served(pk.collect.Survey.read("survey")) as place:
        err = desk("answer", place.url, *arguments, code=2)
        assert message in err
        assert "hush" not in err
        assert place.answers == []


def test_invitations(desk, tmp_path):
    out = desk(*MAKE, "--invitations", "--url", "https://survey.example.org")
    assert "private key is in survey.issuer" in out
    survey = pk.collect.Survey.read("survey")
    office = ("invite", "survey", "--issuer", "survey.issuer")
    assert "Name a file" in desk(*office, "--people", "3", code=2)
    assert "3 links written" in desk(*office, "--people", "3", "-o", "links.csv")
    links = (tmp_path / "links.csv").read_text().split()[1:]
    with served(survey) as place:
        issuer = pk.collect.Issuer("survey.issuer", survey)
        claims = pk.collect.Claims(issuer, survey, processes=0)
        place.claim = lambda body: coroutines.run(claims.answer(body))
        true = ("--set", "smokes=yes", "--set", "packs=3", "--set", "age=34")
        desk("answer", place.url, *true, "--invitation", links[0], "--store", "answer.json")
        assert set(json.loads(place.answers[0])) == {"survey", "token", "signature", "record"}
        assert "is not complete" in desk("answer", place.url, *true, "--invitation", "abc", "--store", "b.json", code=2)
        assert not (tmp_path / "b.json").exists()
        assert "used already" in desk("answer", place.url, *true, "--invitation", links[0], "--store", "b.json", code=2)
        redeem = ("answer", place.url, "--redeem", "--store", "later.json")
        assert "takes --invitation" in desk(*redeem, code=2)
        assert "no answers" in desk(*redeem, "--invitation", links[1], *true, code=2)
        assert desk(*redeem, "--invitation", links[1]).startswith("Redeemed.")
        assert len(place.answers) == 1
        desk("answer", place.url, *true, "--store", "later.json")
        assert len(place.answers) == 2
    assert json.loads(desk(*office, "--json")) == {"written": 0, "invitations": 3, "used": 2, "closed": False}
    desk(*office, "--remind", "links.csv", "-o", "reminders.csv")
    assert (tmp_path / "reminders.csv").read_text().split()[1:] == links[2:]
    assert "exclude each other" in desk(*office, "--close", "--people", "3", code=2)
    assert "belong to --people" in desk(*office, "-o", "x.csv", code=2)
    assert "key is destroyed" in desk(*office, "--close")
    assert "have ended" in desk("issue", "survey", "--issuer", "survey.issuer", code=2)
    assert not (tmp_path / "survey.issuer" / "key.pem").exists()


def test_reminders_keep_the_address_of_their_links(desk, tmp_path):
    desk(*MAKE, "--invitations")  # without an address
    office = ("invite", "survey", "--issuer", "survey.issuer")
    assert "with --url" in desk(*office, "--people", "3", "-o", "links.csv", code=2)
    assert "not a web address" in desk(*office, "--people", "3", "--url", "nowhere", "-o", "links.csv", code=2)
    assert "0 invitations" in desk(*office)  # none that no link holds
    desk(*office, "--people", "2", "--url", "https://one.example.org", "-o", "links.csv")
    desk(*office, "--remind", "links.csv", "-o", "reminders.csv")
    assert (tmp_path / "reminders.csv").read_text() == (tmp_path / "links.csv").read_text()
    desk(*office, "--remind", "links.csv", "--url", "https://two.example.org", "-o", "moved.csv")
    assert (tmp_path / "moved.csv").read_text().count("https://two.example.org/#") == 2
    (tmp_path / "wrong.csv").write_text("link\nhttps://one.example.org/#short\n")
    assert "not one of an invitation" in desk(*office, "--remind", "wrong.csv", "-o", "x.csv", code=2)


def test_subcommands_are_known(desk):
    assert {"new", "check", "invite", "issue", "answer"} <= set(SUBCOMMANDS)
    assert "Did you mean check?" in desk("chek", code=2)
