"""Doors that load a name when it is first used: both lists of a door agree, and what comes through is what is meant."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import pkanon

SOURCE = Path(pkanon.__file__).parent


def written(door):
    """The two lists of a door, as {name: (module, name there)}: imports for type checkers, and names for Python."""
    tree = ast.parse(door.read_text(encoding="utf-8"))
    checked, given = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in (line for line in node.body if isinstance(line, ast.ImportFrom)):
                for alias in line.names:
                    checked[alias.asname or alias.name] = (line.module or "", alias.name)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy":
            for module, names in ast.literal_eval(node.args[1]).items():
                for each in names.split(", "):
                    own, _, other = each.partition(" as ")
                    given[other or own] = (module, own)
    return checked, given


DOORS = {
    str(path.parent.relative_to(SOURCE)).replace("/", "."): path
    for path in sorted(SOURCE.rglob("__init__.py"))
    if written(path)[1]
}


def test_doors_are_found():
    assert {"_plan", "_estimate", "_frames", "_frames.read", "_release", "_results"} <= DOORS.keys()


@pytest.mark.parametrize("door", DOORS)
def test_both_lists_of_a_door_agree(door):
    checked, given = written(DOORS[door])
    assert checked == given
    assert set(importlib.import_module(f"pkanon.{door}").__all__) == set(given)


@pytest.mark.parametrize("door", DOORS)
def test_every_name_is_what_its_module_has(door):
    room = importlib.import_module(f"pkanon.{door}")
    for name, (module, own) in written(DOORS[door])[1].items():
        home = importlib.import_module(f"pkanon.{door}.{module or own}")
        assert getattr(room, name) is (getattr(home, own) if module else home)
        assert name in dir(room)


@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_no_door_gives_is_refused(door):
    room = importlib.import_module(f"pkanon.{door}")
    with pytest.raises(AttributeError, match="no_such_name"):
        room.no_such_name  # noqa: B018  looking is what is refused


def in_a_new_process(tmp_path, code):
    """What a piece of code prints, beside a package with such a door."""
    room = tmp_path / "room"
    room.mkdir()
    (room / "__init__.py").write_text(
        "from pkanon._doors import lazy\nlazy(__name__, {'': 'whole', 'count': 'count, CELLS as LARGEST', 'sum': 'flags'})\n"
    )
    (room / "count.py").write_text("print('count is loaded')\nCELLS = 7\ndef count(): return 'counted'\n")
    (room / "sum.py").write_text("def flags(): return 'flags of sums'\n")
    (room / "flags.py").write_text("other = 1\n")
    (room / "whole.py").write_text("from .flags import other\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    return done.stdout.splitlines()


def test_a_module_is_loaded_when_its_name_is_used(tmp_path):
    code = (
        "import room; print('open'); print(room.LARGEST); print(room.count()); from room import count; print(count())"
    )
    assert in_a_new_process(tmp_path, code) == ["open", "count is loaded", "7", "counted", "counted"]


def test_a_name_that_is_spelled_like_a_module_stays_the_name(tmp_path):
    """Python binds a module to its package when it is loaded, which must not hide what the door gives by that name."""
    code = "import room.flags, room.count; print(room.flags()); print(room.count()); print(room.whole.other)"
    assert in_a_new_process(tmp_path, code) == ["count is loaded", "flags of sums", "counted", "1"]
