"""``__all__`` is the public interface: every name is documented, and importing the package is quick."""

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from dataclasses import dataclass, is_dataclass
from pathlib import Path

import pytest

import pkanon as pk

SUBMODULES = ("experiments",)
NAMES = [
    *(name for name in pk.__all__ if name not in ("__version__", *SUBMODULES)),
    *(f"{module}.{name}" for module in SUBMODULES for name in getattr(pk, module).__all__),
]


def named(name):
    value = pk
    for part in name.split("."):
        value = getattr(value, part)
    return value


def faults(value):
    """What is missing in the description of a public name. A dataclass without one gets its signature from Python."""
    text = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    if not text or (is_dataclass(value) and text.startswith(f"{value.__name__}(")):
        return ["has no description"]
    first, *others = inspect.cleandoc(text).splitlines()
    found = []
    if not first.strip().endswith("."):
        found.append("does not begin with a sentence on one line")
    if others and others[0].strip():
        found.append("has no empty line after its first sentence")
    return found


def unnamed_parameters(function):
    """The parameters of a function that its description does not list."""
    described = inspect.getdoc(function) or ""
    listed = described.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    names = {
        name.strip().lstrip("*")
        for line in listed.splitlines()
        if not line.startswith(" ")
        for name in line.partition(" :")[0].split(",")
    }
    return [name for name in inspect.signature(function).parameters if name not in names]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_exists_and_says_what_it_is(name):
    assert faults(named(name)) == []


FUNCTIONS = [name for name in NAMES if inspect.isfunction(named(name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_listed(name):
    assert unnamed_parameters(named(name)) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_run(name):
    runner = doctest.DocTestRunner(verbose=False)
    (example,) = doctest.DocTestFinder(recurse=False).find(named(name), name, globs={})
    assert example.examples
    assert runner.run(example).failed == 0


def test_the_reading_of_descriptions_sees_faults():
    @dataclass(frozen=True)
    class Silent:
        value: int
        other: str = "x"

    class Heir(pk.Plan):
        pass

    def mute(a):
        pass

    def wordy(a, *b, c=1, **d):
        """No sentence
        on one line.

        Parameters
        ----------
        a, c
            Two.
        *b : int
            Many.

        d is not listed.
        """

    assert faults(Silent) == ["has no description"]
    assert faults(Heir) == ["has no description"]  # it has one of its own, or none
    assert faults(mute) == ["has no description"]
    assert len(faults(wordy)) == 2
    assert unnamed_parameters(wordy) == ["d"]
    assert unnamed_parameters(mute) == ["a"]


def test_nothing_else_is_public():
    public = {name for name in vars(pk) if not name.startswith("_")}
    assert public - set(pk.__all__) <= {"annotations", "importlib", "TYPE_CHECKING", "Any"}


def test_a_public_submodule_has_just_its_names():
    for module in SUBMODULES:
        value = importlib.import_module(f"pkanon.{module}")
        assert getattr(pk, module) is value
        assert {name for name in vars(value) if not name.startswith("_")} == set(value.__all__)


def test_names_for_type_checkers_are_the_public_names():
    tree = ast.parse(Path(pk.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    names = {alias.asname for node in block.body for alias in node.names}
    assert names == set(pk.__all__) - {"__version__"}


@pytest.mark.parametrize("name", ["no_such_thing", "afford", "compare", "DESIGNS"])
def test_unknown_names_are_refused(name):
    with pytest.raises(AttributeError, match=name):
        getattr(pk, name)


def loaded_by(code, *modules):
    """Which of some modules are loaded after running a piece of code in a new process."""
    code += f"\nimport sys\nprint([m for m in {modules!r} if m in sys.modules], file=sys.__stdout__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def test_import_is_light():
    assert loaded_by("import pkanon", "numpy", "polars", "scipy", "click", "rich", "pkanon.experiments") == "[]"


@pytest.mark.parametrize("arguments", [["--help"], [], ["--version"], ["no-such-verb"]])
def test_help_is_light(arguments):
    code = f"from pkanon._cli import run\nrun({arguments})"
    assert loaded_by(code, "numpy", "polars", "rich", "pkanon.experiments") == "[]"


def test_planning_loads_neither_polars_nor_scipy():
    code = (
        "import pkanon as pk; s = pk.Schema([pk.Attribute('sex', ['F', 'M'])]); pk.plan(s, records=100, k=2).explain()"
    )
    assert loaded_by(code, "polars", "scipy") == "[]"
