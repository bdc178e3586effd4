"""Versions: what pyproject.toml allows is what `make oldest` installs, and pins hold versions only."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FILES = sorted((ROOT / "requirements").glob("*.txt"))
ELSEWHERE = ("synthetic.txt",)
"""Environments of other programs, in which the package is not."""


def pins(path):
    """Names to versions, with those of the files that a file builds on."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found |= pins(path.parent / line[3:])
        elif line and not line.startswith("#"):
            name, _, version = line.partition("==")
            found[canonicalize_name(name)] = Version(version)
    return found


def allowed():
    """Every requirement of the package and of its extras, but for extras that stand for others."""
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    every = [Requirement(line) for line in (*PROJECT["dependencies"], *extras)]
    return {canonicalize_name(each.name): each.specifier for each in every if each.name != PROJECT["name"]}


def test_the_oldest_versions_are_the_least_that_is_allowed():
    least = {}
    for name, specifier in allowed().items():
        (bound,) = specifier
        assert bound.operator == ">=", name
        least[name] = Version(bound.version)
    oldest = pins(ROOT / "requirements" / "oldest.txt")
    assert {name: oldest.get(name) for name in least} == least


@pytest.mark.parametrize("path", [path for path in FILES if path.name not in ELSEWHERE], ids=lambda path: path.name)
def test_pinned_versions_are_allowed(path):
    pinned = pins(path)
    wrong = [name for name, specifier in allowed().items() if name in pinned and pinned[name] not in specifier]
    assert wrong == []


def test_everything_is_pinned_for_development():
    assert set(allowed()) <= set(pins(ROOT / "requirements" / "dev.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_requirements_hold_versions_and_no_addresses(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(("#", "-r "))]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
