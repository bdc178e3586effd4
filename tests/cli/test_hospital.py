"""From a hospital's messy file to an honest release; every shortcut on the way is refused.

The file has remarks that name people, and patients with several rows. Neither the remarks nor the number of a
patient is in anything that is printed or written, and no certificate counts rows as persons.
"""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from hospital import DELIMITER, ENCODING, NAMED, PATIENTS, stays, write_hospital

from pkanon._cli import run

TEXT = ("--delimiter", DELIMITER, "--encoding", ENCODING)
BY = ("--by", "A. Example, registrar", "--rows-are", "stays of patients", "--yes")
ROLES = ("--role", "stay no=drop", "--role", "remark=drop", "--one-at-random", "patient")
RARE = ("--role", "diagnosis=randomise")
SECRETS = re.compile("|".join([*{name.split()[1] for name in NAMED}, r"\bP4[0-9]{4}\b", r"\bS90[0-9]{4}\b", "0171 55"]))


class Desk:
    """A folder with hospital.csv, where everything that a command prints or writes is looked at."""

    def __init__(self, folder: Path, capsys):
        self.folder = folder
        self._capsys = capsys
        write_hospital(folder / "hospital.csv")
        self.secrets = (folder / "hospital.csv").read_bytes()

    def run(self, *arguments, code=0):
        """What a command printed; it must end with ``code`` and give nobody away."""
        found = run(list(arguments))
        out, err = self._capsys.readouterr()
        assert found == code, err
        assert not SECRETS.search(out + err)
        for path in self.folder.rglob("*"):
            if path.is_file() and path.name != "hospital.csv":
                assert not SECRETS.search(path.read_bytes().decode("latin-1")), path
        return out + err

    def refused(self, *arguments, why):
        assert why in self.run(*arguments, code=2)

    def edit(self, old, new):
        """What a person does with an editor."""
        path = self.folder / "hospital.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def desk(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


def test_the_file_names_people():
    """What the other tests look for is there to be found."""
    assert sum(bool(SECRETS.search(row[-1])) for row in stays()) > 500
    assert all(SECRETS.search(field) for row in stays() for field in row[:2])
    assert len({row[1] for row in stays()}) == PATIENTS < len(stays())


def test_from_the_file_to_a_release(desk):
    drafted = desk.run("schema", "hospital.csv", "-o", "hospital.toml")
    assert "Drafted hospital.toml from 3,000 rows: 12 columns." in drafted
    for line in (
        r"stay no +undecided +looks like a case number",
        r"patient +undecided +repeats: rows may not be persons",
        r"sex +list +2\n",
        r"born +bins, dates as %d/%m/%Y",
        r"diagnosis +list +24 +rare values: 2",
        r"weight +bins, decimal commas +[0-9]+ +signs for missing: 1",
        r"cost +bins, decimal commas and points between thousands",
        r"smoker +list +2 +near-equal labels: 2",
        r"children +range +5 +signs for missing: 1",
        r"remark +undecided +looks like free text",
        r"read with --delimiter ';' --encoding latin-1",
    ):
        assert re.search(line, drafted), line
    unwanted = [
        "admitted",
        "diagnosis",
        "cost",
        "children",
    ]  # fewer columns can be read better, and rare codes point to people
    desk.run(
        "confirm", "hospital.toml", *ROLES, *(part for name in unwanted for part in ("--role", f"{name}=drop")), *BY
    )
    desk.run("plan", "hospital.toml", "--records", str(PATIENTS), "--k", "3", "-o", "plan.json")
    desk.run("release", "hospital.csv", *TEXT, "--plan", "plan.json", "-o", "out")
    desk.run("verify", "out")
    assert "Kardiologie" in desk.run("crosstab", "out", "ward", "sex")

    certificate = json.loads((desk.folder / "out" / "certificate.json").read_text())
    assert certificate["claims"] is not None
    assert "one row of each" in json.dumps(certificate)
    released = pl.read_parquet(desk.folder / "out" / "data.parquet")
    assert released.height == PATIENTS
    assert released.columns == ["sex", "born", "ward", "weight", "smoker"]
    assert set(released["smoker"].drop_nulls().unique()) == {"yes", "no"}


def test_shortcuts_are_refused(desk):
    desk.run("schema", "hospital.csv", "-o", "hospital.toml")
    draft = (desk.folder / "hospital.toml").read_text(encoding="utf-8")
    plan = ("plan", "hospital.toml", "--records", "3000", "--k", "5", "-o", "plan.json")
    release = (
        "release",
        "hospital.csv",
        *TEXT,
        "--schema",
        "hospital.toml",
        "--k",
        "5",
        "--design",
        "equal-rho",
        "-o",
        "out",
    )

    # the draft as it is
    desk.refused(*plan, why="'stay no', 'patient', 'remark'")
    desk.refused(*release, why="'stay no', 'patient', 'remark'")
    desk.refused(*release, "--drafted-not-protected", why="'stay no', 'patient', 'remark'")
    desk.refused("confirm", "hospital.toml", *BY, why="stay no, patient, remark")

    # a draft of some columns, which would forget that patients have several rows
    desk.run("schema", "hospital.csv", "--columns", "sex,ward", "-o", "some.toml")
    desk.refused("plan", "some.toml", "--records", "3000", "--k", "5", why="'patient'")
    desk.refused("confirm", "some.toml", *BY, why="Nobody has given a role to patient")

    # the undecided columns taken out of the file
    for name in ('"stay no"', "patient", "remark"):
        desk.edit(f'[attributes.{name}]\ntype = "text"\nrole = "undecided"\n', "")
    desk.refused("release", *release[1:], "--drafted-not-protected", why="is not in the schema")
    desk.refused("confirm", "hospital.toml", *BY, why="--one-row-each")
    desk.refused("confirm", "hospital.toml", "--one-row-each", *BY, why="does not answer: diagnosis")
    desk.run("confirm", "hospital.toml", "--one-row-each", *RARE, *BY)
    desk.refused(*release, why="is not in the schema")

    # the remarks randomised or passed, the patient as an id of rows
    (desk.folder / "hospital.toml").write_text(draft, encoding="utf-8")
    others = ("--role", "stay no=drop", "--role", "patient=drop")
    desk.refused(
        "confirm", "hospital.toml", *others, "--role", "remark=randomise", "--one-row-each", *RARE, *BY, why="remark"
    )
    desk.refused("confirm", "hospital.toml", *others, "--role", "remark=drop", *BY, why="--one-row-each")
    desk.refused(
        "confirm",
        "hospital.toml",
        "--role",
        "stay no=id",
        *others[2:],
        "--role",
        "remark=drop",
        *BY,
        why="--one-row-each",
    )
    desk.run("confirm", "hospital.toml", *others, "--role", "remark=pass", "--one-row-each", *RARE, *BY)
    desk.refused(*release, why="remark")
    (desk.folder / "hospital.toml").write_text(draft, encoding="utf-8")
    desk.run("confirm", "hospital.toml", *ROLES[:4], "--role", "patient=id", *RARE, *BY)
    desk.refused(*release, why="repeat")
    assert not (desk.folder / "out").exists()


def test_advice_does_not_forget_what_the_draft_found(desk):
    """Columns dropped by hand and the draft advised on: the advised file still says that patients have several rows."""
    desk.run("schema", "hospital.csv", "-o", "hospital.toml")
    desk.edit('role = "undecided"', 'role = "drop"')
    desk.run("advise", "hospital.toml", "--records", "3000", "--k", "5", "-o", "advised.toml")
    desk.refused("confirm", "advised.toml", *BY, why="Column 'patient' repeats")
    desk.run("confirm", "advised.toml", "--one-row-each", "--role", "diagnosis=drop", *BY)
    assert "protects nobody" not in (desk.folder / "advised.toml").read_text(encoding="utf-8")


def test_a_release_reads_the_file_only_as_it_is_told_to(desk):
    desk.run("schema", "hospital.csv", "-o", "hospital.toml")
    desk.run("confirm", "hospital.toml", *ROLES, *RARE, *BY)
    release = ("release", "hospital.csv", "--schema", "hospital.toml", "--k", "5", "--design", "equal-rho", "-o", "out")
    desk.refused(*release, why="delimiter")
    desk.refused(*release, *TEXT[:2], why="encoding")
