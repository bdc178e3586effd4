"""pkanon schema: what it prints, and which columns it drafts."""

import json

import pytest

MESSY = "\n".join(
    ["sex;weight;town;job", *(f"{'FM'[i % 2]};{60 + i % 60},{i % 10};Ü;{'ab'[i % 3 > 1]}" for i in range(120))]
)


@pytest.fixture
def messy(place):
    (place.folder / "messy.csv").write_bytes((MESSY + "\n").encode("latin-1"))
    return place


def test_it_prints_rows_columns_and_how_the_file_was_read(messy):
    code, out, err = messy.run("schema", "messy.csv", "-o", "messy.toml")
    assert code == 0
    assert out.splitlines() == [
        "Drafted messy.toml from 120 rows: 4 columns.",
        "  column  drafted as            values  look at",
        "  ------  --------------------  ------  ---------------------------",
        "  sex     list                       2",
        "  weight  bins, decimal commas      14",
        "  town    dropped                       the same value in every row",
        "  job     list                       2",
    ]
    assert err.splitlines()[0] == (
        "note: the file was read with --delimiter ';' --encoding latin-1; give the same to release."
    )
    text = (messy.folder / "messy.toml").read_text()
    assert "# Without an entry, so dropped: 'town'\n" in text
    assert 'others = "drop"\n' in text
    assert messy.run("plan", "messy.toml", "--records", "120", "--k", "2")[0] == 0


def test_what_is_given_is_not_told(messy):
    _, _, err = messy.run("schema", "messy.csv", "--delimiter", ";", "--encoding", "latin-1", "-o", "messy.toml")
    assert "read with" not in err
    (messy.folder / "tabs.csv").write_text(MESSY.replace(";", "\t").replace("Ü", "U") + "\n")
    assert "note: the file was read with --delimiter tab;" in messy.run("schema", "tabs.csv")[2]
    assert messy.run("schema", "tabs.csv", "--delimiter", "tab", "-o", "tabs.toml")[0] == 0


def test_as_json(messy):
    code, out, _ = messy.run("schema", "messy.csv", "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["others"], found["confirmed"], found["file"]) == (0, 120, "drop", False, None)
    assert (found["delimiter"], found["encoding"]) == (";", "latin-1")
    assert found["columns"][1] == {
        "name": "weight",
        "drafted_as": "bins",
        "size": 14,
        "note": "60 different numbers: 14 bins, open at both ends; decimal commas",
        "warning": "",
        "written": "decimal commas",
    }


def test_with_a_file_the_terminal_has_no_value(messy):
    """Values of single people go into the file that somebody has to confirm; without one they are what was asked for."""
    assert "attributes" in json.loads(messy.run("schema", "messy.csv", "--json")[1])
    code, out, _ = messy.run("schema", "messy.csv", "--json", "-o", "messy.toml")
    found = json.loads(out)
    assert (code, found["file"], "attributes" in found) == (0, "messy.toml", False)
    assert 'values = ["F", "M"]' in (messy.folder / "messy.toml").read_text()
    assert '"F"' not in out


def test_some_columns(messy):
    code, out, _ = messy.run("schema", "messy.csv", "--columns", "job, sex", "-o", "some.toml")
    assert (code, [line.split()[0] for line in out.splitlines()[3:]]) == (0, ["job", "sex"])
    text = (messy.folder / "some.toml").read_text()
    assert "weight" not in text
    assert 'others = "drop"\n' in text
    for wrong in ("jobs", "job,job", ","):
        code, out, err = messy.run("schema", "messy.csv", "--columns", wrong, "-o", "wrong.toml")
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
    assert "wrong.toml" not in messy.names()
