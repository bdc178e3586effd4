"""pkanon release --ledger, and pkanon ledger."""

import json
import signal
import sqlite3
import time

import pytest

import pkanon as pk

ADDS_UP = "note: every further release of the same people adds its epsilon; --ledger keeps count.\n"
LEDGER = ("--ledger", "people.ledger", "--subject", "patients")


def to(place, folder, *arguments):
    return place.run("release", "people.csv", "--plan", "plan.json", "-o", folder, *arguments)


def shown(place):
    code, out, _ = place.run("ledger", "show", "people.ledger", "--json")
    assert code == 0
    return json.loads(out)


def test_a_release_says_once_that_releases_add_up(place):
    code, _, err = place.release()
    assert (code, err) == (0, ADDS_UP)


def test_json_on_standard_output_stays_json(place):
    code, out, err = place.release("--json")
    assert (code, err) == (0, ADDS_UP)
    assert json.loads(out)["folder"] == "out"


def test_releases_are_added_up(place):
    assert to(place, "one", *LEDGER)[0] == 0
    code, out, err = to(place, "two", *LEDGER)
    assert code == 0
    assert out.startswith("Released 200 rows to two.\n")
    assert err.startswith("note: people.ledger: 2 releases of 'patients', epsilon ")
    assert err.endswith(
        " together, no limit.\nnote: nothing stops the next release of 'patients'; set a limit with pkanon ledger limit.\n"
    )
    document = shown(place)
    (account,) = document["subjects"]
    assert [entry["state"] for entry in account["entries"]] == ["released", "released"]
    assert float(account["spent"]) == pytest.approx(2 * float(account["entries"][0]["epsilon"]))
    assert (
        place.run("ledger", "show", "people.ledger", "--subject", "patients", "--json")[1]
        == place.run("ledger", "show", "people.ledger", "--json")[1]
    )


def test_a_new_ledger_is_mentioned(place):
    _, _, err = to(place, "one", *LEDGER)
    assert err.startswith("note: began the ledger people.ledger.\n")


def test_the_table_of_releases(place):
    to(place, "one", *LEDGER)
    code, out, err = place.run("ledger", "show", "people.ledger")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("1 release of 'patients', epsilon ")
    assert lines[1].split() == ["entry", "date", "state", "plan", "data", "rows", "k", "epsilon", "central", "epsilon"]
    assert lines[3].split()[2] == "released"
    digests = json.loads((place.folder / "one" / "certificate.json").read_text())["digests"]
    assert lines[3].split()[3:5] == [digests["plan"][:12], digests["data"][:12]]
    assert lines[4].startswith("  As wholes: central epsilon ")


def test_above_the_limit_nothing_is_read_or_written(place):
    assert place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "0.5")[0] == 0
    (place.folder / "people.csv").unlink()  # a run that reached for it would say so
    code, out, err = to(place, "out", *LEDGER)
    assert (code, out) == (2, "")
    assert err.startswith("error: This release needs epsilon ")
    assert err.endswith(" and the limit of 'patients' leaves 0.5: 0 of 0.5 is spent.\n")
    assert "out" not in place.names()
    assert shown(place)["subjects"][0]["entries"] == []


SCHEMA = ("--schema", "people.toml", "--epsilon", "2", "-o", "out")


def test_with_a_number_of_records_nothing_is_read_either(place):
    place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "0.5")
    (place.folder / "people.csv").unlink()
    code, out, err = place.run("release", "people.csv", *SCHEMA, "--records", "200", *LEDGER)
    assert (code, out) == (2, "")
    assert err.endswith(" and the limit of 'patients' leaves 0.5: 0 of 0.5 is spent.\n")


def test_without_a_number_of_records_rows_are_counted_and_nothing_is_drawn(place, monkeypatch):
    seen = []
    monkeypatch.setattr("pkanon._release.pipeline.encode", lambda *_, **__: seen.append("read"))
    monkeypatch.setattr("pkanon._release.pipeline.Keystream", lambda *_: seen.append("drawn"))
    place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "0.5")
    code, out, err = place.run("release", "people.csv", *SCHEMA, *LEDGER)
    assert (code, out, seen) == (2, "", [])
    assert err.endswith(" and the limit of 'patients' leaves 0.5: 0 of 0.5 is spent.\n")


def test_a_check_asks_the_ledger_and_writes_nothing(place):
    check = ("release", "people.csv", "--plan", "plan.json", "--check", *LEDGER)
    assert place.run(*check)[0] == 0
    assert "people.ledger" not in place.names()
    place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "0.5")
    code, out, err = place.run(*check)
    assert (code, out) == (2, "")
    assert err.endswith(" and the limit of 'patients' leaves 0.5: 0 of 0.5 is spent.\n")
    assert shown(place)["subjects"][0]["entries"] == []


def test_a_limit_is_raised_by_name(place):
    limit = ("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon")
    assert place.run(*limit, "5") == (0, "0 releases of 'patients', epsilon 0 together; the limit of 5 leaves 5.\n", "")
    code, _, err = place.run(*limit, "6")
    assert (code, err) == (2, "error: The limit of 'patients' is 5; say raising (--raise) if a higher one is meant.\n")
    code, out, _ = place.run(*limit, "6", "--raise", "--json")
    assert (code, json.loads(out)["limit"]) == (0, "6")


def test_a_limit_that_is_exceeded_and_those_before_it_are_shown(place):
    to(place, "one", *LEDGER)
    spent = float(shown(place)["subjects"][0]["spent"])
    limit = ("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon")
    place.run(*limit, "100")
    by = f"the limit of 0.5 is exceeded by {spent - 0.5:.1f}"
    assert by in place.run(*limit, "0.5")[1]
    out = place.run("ledger", "show", "people.ledger")[1].splitlines()
    assert by in out[0]
    date = shown(place)["subjects"][0]["limits"][0]["date"][:10]
    assert out[1].startswith(f"  Limits: 100 ({date}), then 0.5 (")


def test_a_limit_is_exceeded_without_bound(place):
    to(place, "one", *LEDGER, "--seed", "7", "--seeded-not-private")
    out = place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "5")[1]
    assert out == "1 release of 'patients', epsilon unbounded together; the limit of 5 is exceeded without bound.\n"


def test_under_a_limit_a_release_asks_for_none(place):
    place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "100")
    assert "set a limit" not in to(place, "one", *LEDGER)[2]


def test_a_table_that_is_refused_costs_nothing(place):
    place.lines("p1,F,3,degree", "p2,M,30,none")
    code, _, err = to(place, "out", *LEDGER, "--allow-fewer")
    assert code == 2
    assert "reserved" not in err
    (account,) = shown(place)["subjects"]
    assert (account["spent"], account["entries"][0]["state"]) == ("0", "abandoned")
    assert "Entry 1 is abandoned: ended by DataError" in place.run("ledger", "show", "people.ledger")[1]


def test_a_run_that_is_killed_stays_reserved_and_can_be_written_off(place):
    place.lines(*(f"p{i},F,30,none" for i in range(400_000)))
    process = place.start("release", "people.csv", "--plan", "plan.json", "-o", "out", *LEDGER)
    while not (place.folder / "people.ledger").exists() or not pk.Ledger("people.ledger").accounts():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    (account,) = shown(place)["subjects"]
    assert [entry["state"] for entry in account["entries"]] == ["reserved"]
    assert float(account["spent"]) > 0
    assert "Entry 1 is reserved and counts." in place.run("ledger", "show", "people.ledger")[1]
    code, out, _ = place.run("ledger", "abandon", "people.ledger", "1", "--reason", "killed, no folder")
    assert (code, out) == (0, "0 releases of 'patients', epsilon 0 together, no limit.\n")
    assert "Entry 1 is abandoned: killed, no folder." in place.run("ledger", "show", "people.ledger")[1]


def test_rows_that_could_not_be_saved_stay_reserved(place, monkeypatch):
    def fails(*arguments, **options):
        raise pk.EnvironmentFailure("Cannot write out: no space left on device.")

    monkeypatch.setattr(pk.Release, "save", fails)
    code, out, err = to(place, "out", *LEDGER)
    assert (code, out) == (3, "")
    assert "note: entry 1 of people.ledger stays reserved and counts; if no folder was written, pkanon" in err
    assert shown(place)["subjects"][0]["entries"][0]["state"] == "reserved"


def test_an_entry_that_is_abandoned_while_the_folder_is_written_is_counted_again(place, monkeypatch):
    honest = pk.Release.save

    def save(self, *arguments, **options):
        pk.Ledger("people.ledger").abandon(1, reason="taken for dead")
        honest(self, *arguments, **options)

    monkeypatch.setattr(pk.Release, "save", save)
    code, out, err = to(place, "out", *LEDGER)
    assert (code, out.startswith("Released 200 rows to out.\n")) == (0, True)
    assert "note: entry 1 of people.ledger was abandoned while its rows were handed out; entry 2 counts them.\n" in err
    (account,) = shown(place)["subjects"]
    assert [entry["state"] for entry in account["entries"]] == ["abandoned", "released"]
    assert float(account["spent"]) > 0
    out = place.run("ledger", "show", "people.ledger")[1]
    assert "  Entry 1 is abandoned: taken for dead.\n" in out
    assert "  Entry 2 is released: entry 1 was abandoned while its rows were handed out; they count here.\n" in out


def test_a_ledger_that_cannot_be_used_is_a_failure_of_the_environment(place):
    name = "x" * 300
    for arguments in (
        ("ledger", "show", name),
        ("release", "people.csv", "--plan", "plan.json", "-o", "out", "--ledger", name, "--subject", "patients"),
    ):
        code, out, err = place.run(*arguments)
        assert (code, out, err) == (3, "", f"error: Cannot use the ledger {name}: File name too long.\n")
    assert "out" not in place.names()


def test_a_ledger_that_was_emptied_is_refused(place):
    to(place, "one", *LEDGER)
    (place.folder / "people.ledger").write_bytes(b"")
    code, out, err = to(place, "two", *LEDGER)
    assert (code, out) == (2, "")
    assert err.startswith("error: The ledger people.ledger is damaged: the file is empty")
    assert "two" not in place.names()


MISSPELT = ("--ledger", "people.ledger", "--subject", "patient")


@pytest.mark.parametrize("check", [(), ("--check",)])
def test_a_misspelt_subject_is_refused(place, check):
    place.run("ledger", "limit", "people.ledger", "--subject", "patients", "--epsilon", "0.5")
    sentence = (
        "error: The ledger people.ledger has no subject 'patient'; say new_subject (--new-subject) if these are other people. "
        "Available: patients. Did you mean 'patients'?\n"
    )
    assert to(place, "out", *MISSPELT, *check) == (2, "", sentence)
    limit = ("ledger", "limit", "people.ledger", "--subject", "patient", "--epsilon", "50")
    assert place.run(*limit) == (2, "", sentence)
    assert "out" not in place.names()
    assert place.run(*limit, "--new-subject")[0] == 0


def test_the_same_plan_under_another_subject_is_noted(place):
    assert "the same plan" not in to(place, "one", *LEDGER)[2]
    assert "the same plan" not in to(place, "two", *LEDGER)[2]
    sentence = (
        "note: the same plan stands in people.ledger under 'patients'; if these are the same people, their epsilons add up, "
        "and one subject must hold them all.\n"
    )
    for check in (("--check",), ()):
        code, _, err = to(place, "three", *MISSPELT, "--new-subject", *check)
        assert (code, sentence in err) == (0, True)


def test_a_new_subject_needs_a_ledger(place):
    code, out, err = to(place, "out", "--new-subject")
    assert (code, out, err.startswith("error: --new-subject is about a subject in a ledger")) == (2, "", True)


def test_a_ledger_that_was_edited_is_refused(place):
    to(place, "one", *LEDGER)
    with sqlite3.connect(place.folder / "people.ledger") as connection:
        connection.execute("DROP TABLE events")
    connection.close()
    for arguments in (
        ("ledger", "show", "people.ledger"),
        ("ledger", "abandon", "people.ledger", "1", "--reason", "r"),
    ):
        assert place.run(*arguments) == (
            2,
            "",
            "error: The ledger people.ledger is damaged or was edited: its tables were changed; take it from a backup.\n",
        )


def test_a_seeded_release_is_unbounded(place):
    seeded = ("--seed", "7", "--seeded-not-private")
    _, _, err = to(place, "one", *LEDGER, *seeded)
    assert "epsilon unbounded together, no limit." in err
    place.run("ledger", "limit", "people.ledger", "--subject", "staff", "--epsilon", "100", "--new-subject")
    code, _, err = to(place, "two", "--ledger", "people.ledger", "--subject", "staff", *seeded)
    assert (code, err) == (
        2,
        "error: 'staff' has a limit of epsilon 100, and this release has no epsilon: it claims nothing or is unbounded.\n",
    )


@pytest.mark.parametrize("check", [(), ("--check",)])
@pytest.mark.parametrize("half", [("--ledger", "people.ledger"), ("--subject", "patients")])
def test_a_ledger_and_a_subject_go_together(place, half, check):
    code, _, err = to(place, "out", *half, *check)
    assert code == 2
    assert err.startswith("error: --ledger and --subject go together")
    assert "people.ledger" not in place.names()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("show", "no.ledger"),
            "error: There is no ledger no.ledger; a release with --ledger, or a limit, begins one.\n",
        ),
        (("show", "people.csv"), "error: people.csv is not a ledger, or it is damaged; take it from a backup.\n"),
        (
            ("limit", "no/p.ledger", "--subject", "s", "--epsilon", "1"),
            "error: Cannot begin the ledger no/p.ledger: its folder does not exist; create it first.\n",
        ),
        (
            ("abandon", "no.ledger", "1", "--reason", " "),
            "error: Say why this reservation led to no release; the reason",
        ),
        (("show", "."), "error: . is not a ledger; it is not a file.\n"),
        (
            ("limit", "p.ledger", "--subject", "s", "--epsilon", "-1"),
            "error: The limit is -1; it cannot be below 0.\n",
        ),
        (
            ("limit", "p.ledger", "--subject", "s", "--epsilon", "inf"),
            "error: The limit = inf is not a number that can",
        ),
        ((), "error: Missing command. See pkanon ledger --help.\n"),
        (("shwo",), "error: No such command 'shwo'."),
    ],
)
def test_wrong_input(place, arguments, sentence):
    code, out, err = place.run("ledger", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
