"""A small table with its schema and plan, and two ways to run the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from pkanon._cli import run

SCHEMA = """\
confirmed_by = "A. Example, registrar"
row_is = "one patient"
[attributes.patient]
role = "id"
[attributes.sex]
values = ["F", "M"]
[attributes.age]
type = "integer"
bins = { start = 0, stop = 90, width = 10 }
open = "high"
[attributes.education]
values = ["none", "school", "degree"]
[[bundles]]
attributes = ["age", "education"]
forbid = [{ age = ["0-9"], education = ["degree"] }]
"""


def rows(count=200):
    return [
        f"p{i},{'FM'[i % 2]},{i % 95},{('none', 'school', 'degree')[i % 3 if i % 95 >= 10 else i % 2]}"
        for i in range(count)
    ]


class Place:
    """A folder with people.csv, people.toml and plan.json, and the command line to use on them."""

    def __init__(self, folder: Path, capsys):
        self.folder = folder
        self._capsys = capsys
        self.write("people.toml", SCHEMA)
        self.write("people.csv", "\n".join(["patient,sex,age,education", *rows()]) + "\n")
        arguments = ("people.toml", "--records", "200", "--k", "3", "--ks", "none", "-o", "plan.json")
        code, _, err = self.run("plan", *arguments)
        assert code == 0, err

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8", newline="")

    def lines(self, *lines):
        """Write people.csv with these data lines."""
        self.write("people.csv", "\n".join(["patient,sex,age,education", *lines]) + "\n")

    def run(self, *arguments):
        """Exit code, standard output and standard error of one command, in this process."""
        code = run(list(arguments))
        out, err = self._capsys.readouterr()
        return code, out, err

    def release(self, *arguments):
        return self.run("release", "people.csv", "--plan", "plan.json", "-o", "out", *arguments)

    def start(self, *arguments, **options):
        """The command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "pkanon", *arguments],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
        )  # fmt: skip

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def place(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, capsys)
