"""A hospital's file as it is: other notations, raw codes to merge, columns without an entry. From file to release and back."""

import json

import pytest

MARKER = "MARKER7f3a"
SCHEMA = """\
confirmed_by = "A. Example, registrar"
row_is = "one patient"
others = "drop"
[attributes.admitted]
type = "date"
bins = { edges = [2023-01-01, 2024-01-01, 2025-01-01] }
date_format = "%d/%m/%Y"
missing = "value"
missing_values = ["-9", "NA"]
[attributes.cost]
type = "number"
bins = { edges = [0.0, 100.0, 2000.0] }
decimal = ","
thousands = "."
[attributes.ward]
hierarchy = { file = "wards.csv", level = 1 }
[attributes.country]
codes = { list = "iso3166-1-alpha2", level = 2 }
other = "elsewhere"
[attributes.outcome]
values = ["well", "ill"]
ordered = true
merge = { ill = ["worse", "same"] }
"""


def lines(count=240):
    for i in range(count):
        day = f"{i % 28 + 1}/{i % 12 + 1:02}/{2023 + i % 2}" if i % 9 else ("NA", "-9")[i % 2]
        cost = ("12,50", "1.234,00", "1999,99")[i % 3]
        ward, country = ("A1", "A2", "B1")[i % 3], ("DE", "KE", "BR", "ZZ")[i % 4]
        yield f"{day};{cost};{ward};{country};{('well', 'worse', 'same', 'ill')[i % 4]};{MARKER} {i};{i % 5}"


@pytest.fixture
def hospital(place):
    for name in place.names():
        (place.folder / name).unlink()
    place.write("wards.csv", "A1;surgery;*\nA2;surgery;*\nB1;medicine;*\n")
    place.write("people.toml", SCHEMA)
    place.write("people.csv", "\n".join(["admitted;cost;ward;country;outcome;remark;clerk", *lines()]) + "\n")
    return place


def release(place, *arguments):
    asked = ("--schema", "people.toml", "--k", "3", "--delimiter", ";", "-o", "out")
    return place.run("release", "people.csv", *asked, *arguments)


def test_from_file_to_release_and_back(hospital):
    code, out, err = release(hospital, "--check")
    assert (code, "would be dropped" in out) == (0, True), err
    code, out, err = release(hospital, "--report", "--format", "csv")
    assert code == 0, err
    assert "note: 2 columns without an entry in the schema dropped: 'remark', 'clerk'." in err.splitlines()
    folder = hospital.folder / "out"
    for path in folder.rglob("*"):
        if path.is_file():
            assert MARKER.encode() not in path.read_bytes()
            assert b"clerk" not in path.read_bytes()
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["others"] == "drop"
    assert "wards.csv" not in json.dumps(plan)
    by_name = {attribute["name"]: attribute for attribute in plan["attributes"]}
    assert by_name["ward"]["merge"] == {"surgery": ["A1", "A2"], "medicine": ["B1"]}
    assert by_name["admitted"]["date_format"] == "%d/%m/%Y"
    header, *rows = (folder / "data.csv").read_text().splitlines()
    assert header == "admitted,cost,ward,country,outcome"
    assert len(rows) == 240
    certificate = json.loads((folder / "certificate.json").read_text())
    assert any("schema does not name" in sentence for sentence in certificate["outside"])
    assert "schema does not name" in (folder / "report.html").read_text()
    assert hospital.run("verify", "out")[0] == 0
    code, out, _ = hospital.run("crosstab", "out", "ward")
    assert code == 0
    assert "surgery" in out
    # the plan in the folder reads the same raw table, without the hierarchy's file
    (hospital.folder / "wards.csv").unlink()
    code, _, err = hospital.run("release", "people.csv", "--plan", "out/plan.json", "--delimiter", ";", "-o", "again")
    assert code == 0, err
    code, _, err = hospital.run("attack", "people.csv", "out", "--delimiter", ";", "--rehearsals", "1")
    assert code == 0, err


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "2/02/2024",
            f"{MARKER}/02/2024",
            "'admitted': some rows hold something that is not a date written as %d/%m/%Y",
        ),
        ("12,50", f"12.50{MARKER}", "'cost': some rows hold something that is not a number written as 1.234,5"),
        (";A1;", f";{MARKER};", "'ward': some rows hold a value that the schema does not list"),
        (";worse;", f";{MARKER};", "'outcome': some rows hold a value that the schema does not list"),
    ],
)
def test_wrong_rows(hospital, old, new, sentence):
    text = (hospital.folder / "people.csv").read_text()
    assert old in text
    hospital.write("people.csv", text.replace(old, new, 1))
    code, out, err = release(hospital)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert MARKER not in err
    assert "out" not in hospital.names()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A1;surgery\nA1;medicine\n", "row 2 repeats the value of an earlier row"),
        ("A1;surgery;\n", "row 1 has an empty cell"),
        (f"A1;{MARKER};1\nA2;{MARKER};2\n", "in row 2 a label of level 1"),
        ("A1\nB1\n", "level = 1 is not one of the levels 0 to 0"),
    ],
)
def test_wrong_hierarchies(hospital, text, sentence):
    hospital.write("wards.csv", text)
    code, out, err = release(hospital)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert MARKER not in err
