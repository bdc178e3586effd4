"""Verification of what is not a whole folder, of other versions, and of damage of every kind."""

import datetime as dt
import json
import os
import shutil

import numpy as np
import polars as pl
import pytest
from plans import schema_of
from tampering import cover_up, edit, forged, rehash

import pkanon as pk
from pkanon._audit.verification.files import differences, hash_places

PEOPLE = pl.DataFrame({"a0": [1, 2] * 60, "a1": [1, 2, 3] * 40})
PLAN = pk.plan(schema_of((2, 3)), records=120, k=2)


@pytest.fixture
def folder(tmp_path):
    pk.release(PEOPLE, PLAN).save(tmp_path / "out")
    return tmp_path / "out"


def test_a_release_in_memory():
    release = pk.release(PEOPLE, PLAN)
    found = release.verify()
    assert found.ok
    assert found == pk.verify(release)
    assert {check.name for check in found if check.verdict == "not checked"} == {
        "files", "hashes", "data package", "README.txt", "predicted.csv", "copies", "signature",
    }  # fmt: skip
    assert repr(found) == "<Verification of The release: ok>"
    assert repr(found["rows"]) == "<Check rows: kept>"
    assert str(found).endswith("The release: nothing is broken (11 checks kept, 7 not made).")


def test_a_seeded_release_claims_nothing_and_is_kept(tmp_path):
    pk.release(PEOPLE, PLAN, randomness=pk.Seeded(3)).save(tmp_path / "out")
    found = pk.verify(tmp_path / "out")
    assert found.ok
    assert found["claims"].sentence == "It claims nothing, and says why."
    edit(tmp_path / "out", "certificate.json", lambda c: c.update(void=[]))
    cover_up(tmp_path / "out")
    assert "claims" in pk.verify(tmp_path / "out").broken


def test_a_void_release_must_say_why(tmp_path):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("town", role="pass")])
    people = pl.DataFrame({"sex": ["F", "M"] * 50, "town": ["Graz", "Linz"] * 50})
    pk.release(people, pk.plan(schema, records=100, k=2), allow_pass=True).save(tmp_path / "out", format="both")
    assert pk.verify(tmp_path / "out").ok
    edit(tmp_path / "out", "certificate.json", lambda c: c.update(without_passed={"k": "50", "epsilon": "0.1"}))
    cover_up(tmp_path / "out")
    assert pk.verify(tmp_path / "out").broken == ("claims",)


def test_a_passed_column_that_differs_between_the_files(tmp_path):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("town", role="pass")])
    people = pl.DataFrame({"sex": ["F", "M"] * 50, "town": ["Graz", None] * 50})
    pk.release(people, pk.plan(schema, records=100, k=2), allow_pass=True).save(tmp_path / "out", format="both")
    assert pk.verify(tmp_path / "out").ok
    text = (tmp_path / "out" / "data.csv").read_text()
    (tmp_path / "out" / "data.csv").write_text(text.replace("Graz", "Wien", 1))
    rehash(tmp_path / "out")
    assert pk.verify(tmp_path / "out").broken == ("copies",)


def test_a_sorted_passed_column_gives_the_order_away():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("day", role="pass", type="date")])
    plan = pk.plan(schema, records=60, k=2)
    days = pl.DataFrame({"day": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 2, 29), eager=True)})
    codes = {"sex": np.tile(np.array([0, 1], np.uint8), 30)}
    assert "order" in forged(plan, codes, days).verify().broken
    assert "day" in forged(plan, codes, days).verify()["order"].sentence


def another_version(folder, software="pkanon 0.0.9"):
    """Name another version wherever the version is named."""
    edit(folder, "certificate.json", lambda certificate: certificate.update(software=software))
    text = (folder / "README.txt").read_text()
    (folder / "README.txt").write_text(text.replace(f"pkanon {pk.__version__}", software))


def test_another_version_that_wrote_the_same_words_is_kept(folder):
    another_version(folder)
    cover_up(folder)
    assert pk.verify(folder).ok


@pytest.mark.parametrize("software", ["pkanon 0.0.9", "pkanon 7.1rc2"])
def test_words_of_another_version_are_broken(folder, software):
    """Whoever may reword everything may promise everything, also without a number that could be compared."""
    promise = "k: 100,000; epsilon below 0.01. The table is anonymous under the GDPR."

    def change(certificate):
        certificate.update(statement=[promise], outside=[], assumptions=["None."])

    another_version(folder, software)
    edit(folder, "certificate.json", change)
    edit(folder, "datapackage.json", lambda package: package.update(description=promise))
    (folder / "README.txt").write_text(promise)
    cover_up(folder)
    found = pk.verify(folder)
    assert found.broken == ("sentences", "data package", "README.txt")
    for name in found.broken:
        assert found[name].sentence.startswith(
            "Written by a version of pkanon that this one does not know; use that version to verify."
        )


@pytest.mark.parametrize("key", ["statement", "assumptions", "outside"])
def test_one_word_of_another_version_is_broken(folder, key):
    another_version(folder)
    edit(folder, "certificate.json", lambda certificate: certificate[key].append("Also."))
    cover_up(folder)
    assert pk.verify(folder).broken == ("sentences",)


@pytest.mark.parametrize("key", ["title", "description", "profile"])
def test_the_data_package_of_another_version(folder, key):
    another_version(folder)
    edit(folder, "datapackage.json", lambda package: package.update({key: "Other words"}))
    cover_up(folder)
    assert pk.verify(folder).broken == ("data package",)


def test_another_version_is_no_excuse_for_other_claims(folder):
    another_version(folder)
    edit(folder, "certificate.json", lambda certificate: certificate["claims"].update(k="9"))
    cover_up(folder)
    found = pk.verify(folder)
    assert found.broken == ("claims",)
    assert "version" not in found["claims"].sentence


def test_strange_files_are_mentioned(folder):
    (folder / "notes.txt").write_text("hello")
    found = pk.verify(folder)
    assert found.ok
    assert found["other files"].verdict == "not checked"
    assert found["other files"].sentence.endswith(": notes.txt.")
    assert "2 not made" in found.summary


def test_a_report_is_listed_as_not_checked(folder):
    assert "report.html" not in {check.name for check in pk.verify(folder)}
    (folder / "report.html").write_text("<p>k = 1,000,000, as datapackage.json says.</p>")
    found = pk.verify(folder)
    assert found.ok
    assert "other files" not in {check.name for check in found}
    assert found["report.html"] == pk.Check(
        "report.html",
        "not checked",
        "report.html is there, but neither hashes nor a signature cover it: make it again with pkanon report.",
    )
    assert "2 not made" in found.summary


def test_an_interrupted_folder(folder):
    shutil.move(folder, folder.parent / ".out.1234.incomplete")
    assert pk.verify(folder.parent / ".out.1234.incomplete").broken == ("files",)


def test_a_parquet_file_with_an_edited_certificate(folder, tmp_path):
    edit(folder, "certificate.json", lambda certificate: certificate["claims"].update(k="9"))
    cover_up(folder)
    shutil.copy(folder / "data.parquet", tmp_path / "rows.parquet")
    assert pk.verify(tmp_path / "rows.parquet").broken == ("claims",)


@pytest.mark.parametrize("name", ["datapackage.json", "plan.json", "certificate.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]", b"{}", b"null", b'{"a":' * 5000, b'{"format": []}'])
def test_no_damage_of_a_file_is_too_strange(folder, name, content):
    (folder / name).write_bytes(content)
    found = pk.verify(folder)
    assert not found.ok
    assert set(found.broken) & {"format", "data package"}


@pytest.mark.parametrize(
    "name", ["datapackage.json", "plan.json", "certificate.json", "README.txt", "predicted.csv", "data.parquet"]
)
def test_a_folder_in_the_place_of_a_file(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    assert not pk.verify(folder).ok


@pytest.mark.parametrize("path", ["\ud800", "a\0b", "..", "", "x" * 10_000, 7, ["data.parquet"], "../out/data.parquet"])
@pytest.mark.parametrize("added", [True, False])
def test_no_name_of_a_data_file_is_too_strange(folder, path, added):
    package = json.loads((folder / "datapackage.json").read_text())
    resource = package["resources"][0]
    package["resources"] = [*([resource] if added else []), resource | {"path": path}]
    (folder / "datapackage.json").write_text(json.dumps(package))
    assert "data package" in pk.verify(folder).broken


def _places(value, place=()):
    """Every place in a JSON value, by its keys."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*place, key)
        yield from _places(part, (*place, key))


def _damaged(text, place, strange):
    """The JSON text with something strange at one place."""
    value = json.loads(text)
    part = value
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = strange
    return value


@pytest.mark.parametrize("name", ["datapackage.json", "plan.json", "certificate.json"])
def test_no_damage_of_an_entry_is_overlooked_or_too_strange(folder, name):
    """Something of a wrong kind at many places of each file, every hash and copy corrected: a verdict, and never ok."""
    original = (folder / name).read_text()
    places = list(_places(json.loads(original)))
    strange = [None, 7, "?", [], {}, True, -1, 10**30]
    for number, place in enumerate(places[:: max(1, len(places) // 24)]):
        damaged = _damaged(original, place, strange[number % len(strange)])
        if damaged == json.loads(original):
            continue
        (folder / name).write_text(json.dumps(damaged, indent=1, ensure_ascii=False) + "\n")
        if name != "datapackage.json":
            cover_up(folder)
        assert not pk.verify(folder).ok, place


@pytest.mark.parametrize("rows", [None, "120", -1, True, 10**30, {"planned": 120}, {"released": "120"}])
def test_a_certificate_must_say_how_many_rows_there_are(folder, rows):
    edit(folder, "certificate.json", lambda certificate: certificate.update(rows=rows))
    cover_up(folder)
    assert "claims" in pk.verify(folder).broken


@pytest.mark.parametrize("key", ["hash", "plan", "certificate", "readme"])
def test_only_the_hashes_of_a_data_package_are_left_to_another_check(key):
    assert differences({"a": {key: "x"}}, {"a": {key: "y"}}) == [f"a.{key}"]
    places = hash_places(["data.parquet"])
    assert differences({"pkanon": {"plan": "x"}}, {"pkanon": {"plan": "y"}}, places) == []
    assert differences({"resources": [{"hash": "x"}]}, {"resources": [{"hash": 7}]}, places) == []
    assert differences({"resources": [{"hash": "x"}]}, {"resources": [{}]}, places) == ["resources[0].hash"]
    assert differences({"resources": [{"plan": "x"}]}, {"resources": [{"plan": "y"}]}, places) == ["resources[0].plan"]


@pytest.mark.parametrize("format", ["csv", "both"])
def test_names_and_values_that_a_text_file_must_quote(tmp_path, format):
    schema = pk.Schema([pk.Attribute('q"t, or\nso', ["F", "M"]), pk.Attribute("when", role="pass")])
    days = pl.Series([dt.datetime(2024, 1, 1 + i % 28, 12) for i in range(100)])
    people = pl.DataFrame({'q"t, or\nso': ["F", "M"] * 50, "when": days})
    plan = pk.plan(schema, records=100, k=2)
    pk.release(people, plan, allow_pass=True).save(tmp_path / "out", format=format)
    assert pk.verify(tmp_path / "out").broken == ()


def test_passed_columns_without_an_order_of_their_own():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("things", role="pass")])
    plan = pk.plan(schema, records=100, k=2)
    for things in ([[1, 2], [3]] * 50, [b"\xff\x00", b"x"] * 50):
        people = pl.DataFrame({"sex": ["F", "M"] * 50, "things": things})
        assert pk.verify(pk.release(people, plan, allow_pass=True)).ok


def test_names_of_files_cannot_pass_for_verdicts(folder):
    (folder / "x.\n  signature        kept         signed by the office").write_text("")
    assert all("\n" not in check.sentence for check in pk.verify(folder))


def test_a_pipe_in_place_of_a_file_does_not_stop_verification(folder):
    (folder / "README.txt").unlink()
    os.mkfifo(folder / "README.txt")
    assert {"hashes", "README.txt"} <= set(pk.verify(folder).broken)


def test_a_folder_with_a_plan_alone_is_no_release(folder):
    for name in ("datapackage.json", "certificate.json"):
        (folder / name).unlink()
    with pytest.raises(pk.InputError, match="not a release"):
        pk.verify(folder)
