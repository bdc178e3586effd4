"""pkanon verify: a table of checks, and an exit code that says whether something is broken."""

import json
import shutil

import pytest
from keys import write_keys
from tampering import edit

CHECKS = (
    "files", "hashes", "format", "plan", "claims", "central epsilon", "sentences", "digests", "data package",
    "README.txt", "predicted.csv", "copies", "values", "combinations", "rows", "order", "tables", "signature",
)  # fmt: skip


def test_a_release_that_keeps_everything(place):
    assert place.release("--format", "both")[0] == 0
    code, out, err = place.run("verify", "out")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line[2:17].strip() for line in lines[: len(CHECKS)]] == list(CHECKS)
    assert [line[19:30].strip() for line in lines[: len(CHECKS)]] == ["kept"] * 17 + ["not checked"]
    assert lines[-1] == "out: nothing is broken (17 checks kept, 1 not made)."


def test_a_broken_release_ends_with_1(place):
    assert place.release()[0] == 0
    edit(place.folder / "out", "certificate.json", lambda c: c["claims"].update(k="99"))
    code, out, err = place.run("verify", "out")
    assert (code, err) == (1, "")
    assert "out is broken: hashes, claims, copies (" in out
    assert "The certificate says something else of claims.k than its plan gives." in out


def test_json(place):
    assert place.release()[0] == 0
    code, out, _ = place.run("verify", "out", "--json")
    document = json.loads(out)
    assert (code, document["ok"], document["subject"]) == (0, True, "out")
    assert [check["name"] for check in document["checks"]] == list(CHECKS)
    checks = {check["name"]: check for check in document["checks"]}
    for name in ("order", "tables"):
        assert checks[name]["false_alarms"] == 1e-6
        assert 0 < checks[name]["p_value"] <= 1
        assert checks[name]["evidence"] < 1e6
    assert checks["files"]["evidence"] is checks["files"]["p_value"] is checks["files"]["false_alarms"] is None
    (place.folder / "out" / "plan.json").unlink()
    code, out, _ = place.run("verify", "out", "--json")
    assert (code, json.loads(out)["ok"]) == (1, False)


def test_a_parquet_file_alone(place):
    assert place.release()[0] == 0
    shutil.move(place.folder / "out" / "data.parquet", place.folder / "rows.parquet")
    code, out, _ = place.run("verify", "rows.parquet")
    assert code == 0
    assert "rows.parquet: nothing is broken (11 checks kept, 7 not made)." in out


def test_the_signature(place):
    _, public = write_keys(place.folder)
    write_keys(place.folder, name="other")
    assert place.release("--sign", "key.pem")[0] == 0
    assert "There is a signature; the public key" in place.run("verify", "out")[1]
    code, out, _ = place.run("verify", "out", "--key", public.name)
    assert code == 0
    assert "datapackage.json is signed with this key" in out
    code, out, _ = place.run("verify", "out", "--key", "other.pub.pem")
    assert code == 1
    assert "out is broken: signature" in out
    (place.folder / "out" / "datapackage.json.sig").unlink()
    code, out, _ = place.run("verify", "out", "--key", public.name)
    assert code == 1
    assert "The folder is not signed." in out


@pytest.mark.parametrize("what", ["absent", "people.csv", "people.toml", "empty", "bare.parquet"])
def test_what_is_no_release_ends_with_2(place, what):
    import polars as pl

    (place.folder / "empty").mkdir()
    pl.DataFrame({"a": [1]}).write_parquet(place.folder / "bare.parquet")
    code, out, err = place.run("verify", what)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {what} is not ")


@pytest.mark.parametrize("key", ["absent.pem", "people.csv", "key.pem"])
def test_a_wrong_key_file_ends_with_2(place, key):
    write_keys(place.folder)
    assert place.release()[0] == 0
    code, out, err = place.run("verify", "out", "--key", key)
    assert (code, out) == (2, "")
    assert key in err


def test_a_key_is_for_a_folder(place):
    write_keys(place.folder)
    assert place.release()[0] == 0
    code, _, err = place.run("verify", "out/data.parquet", "--key", "key.pub.pem")
    assert code == 2
    assert "give the folder" in err


def test_no_value_is_printed(place):
    assert place.release("--format", "csv")[0] == 0
    file = place.folder / "out" / "data.csv"
    file.write_text(file.read_text().replace("school", "unheard-of"))
    code, out, err = place.run("verify", "out")
    assert code == 1
    assert "values           broken" in out
    assert "unheard-of" not in out + err
