"""The map of the house: which room may use which, and that nobody climbs in past a door."""

import re
from pathlib import Path

import pytest
from borders import neighbours, past_doors, third_parties

import pkanon

SOURCE = Path(pkanon.__file__).parent

# A new arrow is a new line here, to be looked at. "" is the public interface.
NEIGHBOURS = {
    "_doors": {"?"},  # loads the modules of the room whose door it is
    "_errors": set(),
    "_progress": set(),
    "_files": {"_errors"},
    "_schema": {"_doors", "_errors", "_files"},
    "_blocks": {"_doors", "_errors", "_schema"},
    "_plan": {"_doors", "_errors", "_files", "_schema", "_blocks"},
    "_design": {"_doors", "_errors", "_files", "_schema", "_blocks", "_plan", "_progress"},
    "_sample": {"_doors", "_schema", "_blocks", "_progress"},
    "_estimate": {"_doors", "_errors", "_schema", "_blocks", "_progress"},
    "_frames": {"_doors", "_errors", "_files", "_schema", "_progress"},
    "_results": {
        *("_doors", "_errors", "_files", "_schema", "_blocks", "_plan", "_design", "_estimate", "_frames"),
        "_progress",
    },
    "_release": {
        "",
        "_doors",
        "_errors",
        "_files",
        "_schema",
        "_plan",
        "_sample",
        "_estimate",
        "_frames",
        "_results",
        "_progress",
    },
    "_engines": {
        *("", "_errors", "_files", "_schema", "_plan", "_sample", "_estimate", "_frames", "_release", "_results"),
        "_progress",
    },
    "_audit": {
        *("_errors", "_files", "_schema", "_blocks", "_plan", "_design", "_sample", "_estimate", "_frames", "_release"),
        *("_results", "_engines", "_progress"),
    },
    "_report": {
        *("_errors", "_files", "_schema", "_blocks", "_plan", "_design", "_frames", "_release", "_results", "_audit"),
        "_progress",
    },
    "spark": {"_engines"},
    "_demo": {"_schema", "_frames"},
    "_experiments": {
        *("_errors", "_files", "_schema", "_blocks", "_plan", "_design", "_sample", "_estimate", "_frames", "_results"),
        *("_audit", "_demo", "_progress"),
    },
    "experiments": {"_experiments"},
    "_collect": {
        *("", "_errors", "_files", "_schema", "_blocks", "_plan", "_design", "_estimate", "_results", "_release"),
        *("_frames", "_progress"),
    },
    "collect": {"_collect"},
    "_cli": {
        "",
        "_errors",
        "_files",
        "_schema",
        "_plan",
        "_design",
        "_estimate",
        "_frames",
        "_release",
        "_results",
        "_collect",
    },  # all by its one private door
    "__main__": {"_cli"},
}

# Packages inside a room that have a door of their own, because they cannot be loaded with the room.
ANNEXES = {"_results.charts", "_engines.spark"}  # need altair and PySpark, which are optional

THIRD_PARTIES = {
    "_schema": {"numpy", "tomli_w"},
    "_blocks": {"numpy"},
    "_plan": {"numpy", "polars"},
    "_design": {"numpy", "scipy", "clarabel"},
    "_sample": {"numpy", "cryptography"},
    "_estimate": {"numpy", "scipy"},
    "_frames": {
        *("numpy", "polars", "pandas", "duckdb", "psycopg"),
        *("pyreadstat", "fastexcel", "xlsxwriter"),
    },
    "_results": {"numpy", "polars", "pandas", "pyarrow", "xarray", "altair", "vl_convert", "sqlglot", "xlsxwriter"},
    "_release": {"numpy", "polars", "cryptography"},
    "_engines": {"numpy", "polars", "cryptography", "pyarrow", "pyspark"},
    "_report": {"numpy"},
    "_audit": {"numpy", "scipy", "polars", "altair"},
    "_demo": {"numpy", "polars"},
    "_experiments": {"numpy", "polars", "altair"},
    "_collect": {"numpy", "cryptography", "starlette", "uvicorn", "psycopg"},
    "_cli": {"click", "rich"},
}


def test_rooms_use_just_these_rooms():
    assert neighbours(SOURCE) == NEIGHBOURS


def test_no_room_uses_a_room_that_uses_it():
    def reached(room, seen):
        for other in NEIGHBOURS.get(room, set()) - seen - {""}:
            seen |= {other} | reached(other, seen | {other})
        return seen

    assert [room for room in NEIGHBOURS if room in reached(room, set())] == []


def test_nobody_imports_past_a_door():
    assert past_doors(SOURCE, ANNEXES) == []


PRIVATE = re.compile(r"from \.\.|import pkanon\.|from pkanon[.\w]* import|\bpk\._(?!_version__)")
"""How a module of the command line could get at what is not public."""


def test_the_command_line_has_one_private_door():
    """Everything else in it is written with public names, which anybody could have used."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (SOURCE / "_cli").glob("*.py")}
    assert [name for name, text in texts.items() if PRIVATE.search(text)] == ["private.py"]
    # one floor down, two dots are still the command line
    below = [path.read_text(encoding="utf-8") for path in (SOURCE / "_cli").glob("*/*.py")]
    assert below
    assert not any(PRIVATE.search(text.replace("from ..", "from .")) for text in below)


@pytest.mark.parametrize(
    "wrong",
    [
        "from .._plan import Plan",
        "from .. import _plan",
        "import pkanon._plan",
        "from pkanon import _plan",
        "pk._plan.Plan",
    ],
)
def test_another_private_door_would_be_seen(wrong):
    assert PRIVATE.search(wrong)
    assert not PRIVATE.search("import pkanon as pk\nfrom . import private\npk.__version__")


def test_rooms_use_just_these_packages():
    assert third_parties(SOURCE) == THIRD_PARTIES


def test_the_top_level_is_a_map_that_can_be_read_at_once():
    names = [path.name for path in SOURCE.iterdir() if path.name != "__pycache__"]
    # 20, and a room for reports, which use almost every other room; rooms for surveys and engines, and their public doors;
    # and what all doors hang on
    assert len(names) <= 26


WRONG = {
    "an arrow at the top": ("from .._b import door\n", "_a -> _b"),
    "an arrow inside a function": ("def f():\n    from .._b import door\n", "_a -> _b"),
    "an arrow for type checkers": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .._b import door\n",
        "_a -> _b",
    ),
    "an arrow for everybody else": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from .._b import door\n",
        "_a -> _b",
    ),
    "an absolute arrow": ("import tree._b\n", "_a -> _b"),
    "an arrow under another name": ("import tree._b as c\n", "_a -> _b"),
    "a whole room": ("from .. import _b\n", "_a -> _b"),
    "all of a room": ("from .._b import *\n", "_a -> _b"),
    "an arrow in a text": ("from importlib import import_module\nimport_module('tree._b')\n", "_a -> _b"),
    "a relative arrow in a text": ("import importlib\nimportlib.import_module('.._b', 'tree._a')\n", "_a -> _b"),
    "an arrow known when it runs": ("import importlib\nimportlib.import_module(f'tree.{door}')\n", "_a -> ?"),
    "an arrow by the old way": ("__import__('tree._b')\n", "_a -> _b"),
    "an attribute": ("import tree._a\ntree._b.door\n", "_a -> _b"),
    "the public interface": ("from .. import door\n", "_a -> "),
    "all of the public interface": ("from .. import *\n", "_a -> "),
    "past a door": ("from .._b.inner import door\n", "past _b.inner.door"),
    "past an inner door": ("from .._b.deep.inner import door\n", "past _b.deep.inner.door"),
    "past a door, absolutely": ("from tree._b.inner import door\n", "past _b.inner.door"),
    "past a door, all of it": ("from .._b.inner import *\n", "past _b.inner.*"),
    "past a door, the module": ("import tree._b.inner\n", "past _b.inner"),
    "past a door, the module under another name": ("import tree._b.inner as c\n", "past _b.inner"),
    "past a door, the module by its package": ("from .._b import inner\n", "past _b.inner"),
    "past a door, an attribute": ("from .. import _b\n_b.inner.door\n", "past _b.inner.door"),
    "past a door, in a text": ("import importlib\nimportlib.import_module('tree._b.inner')\n", "past _b.inner"),
    "past a door, under a name the door gives away": ("from .._b.door import x\n", "past _b.door.x"),
    "a foreign package": ("import polars.selectors\n", "foreign polars"),
    "a foreign package in a text": ("import importlib\nimportlib.import_module('polars')\n", "foreign polars"),
    "a package known when it runs": ("import importlib\nimportlib.import_module(name)\n", "foreign ?"),
}


@pytest.mark.parametrize("file", ["module.py", "__init__.py"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_module_is_reported(tmp_path, wrong, file):
    code, found = WRONG[wrong]
    tree = tmp_path / "tree"
    for folder in ("_a", "_b", "_b/deep"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "__init__.py").write_text("from .door import door\n")
        (tree / folder / "door.py").write_text("door = x = 1\n")
        (tree / folder / "inner.py").write_text("door = 1\n")
    (tree / "_b" / "fine.py").write_text("from . import deep, door\nfrom .inner import door\ndeep.door.real\n")
    (tree / "_a" / file).write_text("import math\nfrom .inner import door\n")
    assert neighbours(tree) == {"_a": set(), "_b": set()}
    assert past_doors(tree, set()) == []
    assert third_parties(tree) == {}
    (tree / "_a" / file).write_text(code)
    if found.startswith("past "):
        past = past_doors(tree, set())
        assert f"_a/{file} imports {found[5:]}" in past
        assert {line.partition(" imports ")[0] for line in past} == {f"_a/{file}"}
        assert past_doors(tree, {"_b.deep"}) == past  # an annex has a door of its own, and no more
    elif found.startswith("foreign "):
        assert third_parties(tree) == {"_a": {found[8:]}}
    else:
        assert neighbours(tree)["_a"] == {found.partition(" -> ")[2]}
        assert past_doors(tree, set()) == []


def test_a_door_opens(tmp_path):
    tree = tmp_path / "tree"
    (tree / "_b" / "deep").mkdir(parents=True)
    (tree / "_b" / "__init__.py").write_text("from .door import door\nfrom . import given\n")
    (tree / "_b" / "door.py").write_text("door = 1\n")
    (tree / "_b" / "given.py").write_text("x = 1\n")
    (tree / "_b" / "deep" / "__init__.py").write_text("x = 1\n")
    (tree / "a.py").write_text(
        "import tree as t\nfrom ._b import door, given\nfrom ._b.deep import x\ngiven.x\nt._b.door.real\n"
    )
    assert past_doors(tree, {"_b.deep"}) == []
    assert past_doors(tree, set()) == ["a.py imports _b.deep.x"]
