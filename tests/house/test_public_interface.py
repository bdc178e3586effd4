"""``__all__`` is the public interface: every name is documented, and importing the package is quick."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from pathlib import Path
from types import FunctionType

import polars as pl
import pytest

import pkanon as pk

SUBMODULES = ("collect", "experiments", "spark")
NAMES = [
    *(name for name in pk.__all__ if name not in ("__version__", *SUBMODULES)),
    *(f"{module}.{name}" for module in SUBMODULES for name in getattr(pk, module).__all__),
]


def named(name):
    value = pk
    for part in name.split("."):
        value = getattr(value, part)
    return value


KINDS = (FunctionType, classmethod, staticmethod, property, cached_property)
"""Methods and properties, as a class holds them."""


def description(value):
    """The text that a function or class has itself. A dataclass without one gets its signature from Python."""
    text = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    generated = is_dataclass(value) and (text or "").startswith(f"{value.__name__}(")
    return "" if text is None or generated else inspect.cleandoc(text)


def members(value):
    """The public methods and properties of a class by name, and the text of each: its own, or else that of a base."""
    texts = {}
    for base in reversed(value.__mro__):
        for name, member in vars(base).items():
            if not name.startswith("_") and isinstance(member, KINDS) and base.__module__.startswith("pkanon"):
                texts[name] = inspect.cleandoc(member.__doc__) if member.__doc__ else texts.get(name, "")
    return texts


def faults(text):
    """What is missing in a description."""
    if not text:
        return ["has no description"]
    first, *others = text.splitlines()
    found = []
    if not first.strip().endswith("."):
        found.append("does not begin with a sentence on one line")
    if others and others[0].strip():
        found.append("has no empty line after its first sentence")
    return found


def listed(text, section="Parameters"):
    """The names in one section of a description."""
    lines = text.partition(f"{section}\n{'-' * len(section)}\n")[2].partition("\n\n")[0].splitlines()
    return {
        name.strip().lstrip("*")
        for line in lines
        if not line.startswith(" ")
        for name in line.partition(" :")[0].split(",")
    }


def mentioned(text):
    """The names that a description lists, or writes as code in a sentence."""
    return listed(text) | {name.lstrip("*") for name in re.findall(r"``(\*{0,2}\w+)``", text)}


def parameters(value):
    """The names of the parameters that a caller gives; private fields of a dataclass are not for callers."""
    return [name for name in inspect.signature(value).parameters if name != "self" and not name.startswith("_")]


def failures(text, name):
    """How many examples there are in a description, and how many of them fail; each text stands for itself."""
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    return len(examples.examples), doctest.DocTestRunner(verbose=False).run(examples).failed


FUNCTIONS = [name for name in NAMES if inspect.isfunction(named(name))]
CLASSES = [name for name in NAMES if inspect.isclass(named(name)) and not issubclass(named(name), Exception)]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_exists_and_says_what_it_is(name):
    assert faults(description(named(name))) == []


@pytest.mark.parametrize("name", CLASSES)
def test_every_method_and_property_says_what_it_is(name):
    assert {member: faults(text) for member, text in members(named(name)).items() if faults(text)} == {}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_of_functions_are_listed(name):
    value = named(name)
    assert set(parameters(value)) == listed(description(value))


@pytest.mark.parametrize("name", CLASSES)
def test_fields_of_classes_are_listed(name):
    value = named(name)
    text = description(value)
    assert set(parameters(value)) == listed(text) | listed(text, "Attributes")


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_of_methods_are_named(name):
    value = named(name)
    for member, text in members(value).items():
        method = getattr(value, member)
        if callable(method):
            assert listed(text) <= set(parameters(method)) <= mentioned(text), member


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_examples_run(name):
    count, failed = failures(description(named(name)), name)
    assert count > 0
    assert failed == 0


@pytest.mark.parametrize("name", CLASSES)
def test_examples_of_methods_run(name):
    texts = {member: text for member, text in members(named(name)).items() if ">>>" in text}
    assert [member for member, text in texts.items() if failures(text, f"{name}.{member}")[1]] == []


def test_the_reading_of_descriptions_sees_faults(capsys):
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

        d is not listed, ``e`` and ``*f`` are mentioned.

        >>> 1 + 1
        3
        """

    assert faults(description(Silent)) == ["has no description"]
    assert faults(description(Heir)) == ["has no description"]  # it has one of its own, or none
    assert faults(description(mute)) == ["has no description"]
    assert len(faults(description(wordy))) == 2
    assert parameters(wordy) == ["a", "b", "c", "d"]
    assert listed(description(wordy)) == {"a", "b", "c"}
    assert mentioned(description(wordy)) == {"a", "b", "c", "e", "f"}
    assert listed(description(mute)) == set()
    assert failures(description(wordy), "wordy") == (1, 1)
    assert "Expected:" in capsys.readouterr().out


def test_the_members_of_a_class_are_all_seen():
    assert members(pk.Retention)["draws"] == members(pk.Matrix)["draws"] != ""  # from the base of both
    assert {"binned", "size", "missing_code"} <= members(pk.Attribute).keys()  # class method, kept and plain property
    assert members(pk.DataError).keys() == set()  # nothing of Python's own


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


def test_a_table_is_counted_without_what_it_does_not_need(tmp_path):
    """Loading is most of what a small crosstab costs; numpy, polars and click are the rest."""
    schema = pk.Schema([pk.Attribute(name, ["a", "b"]) for name in ("x", "y", "z")])
    table = pl.DataFrame({name: ["a", "b"] * 500 for name in schema.names})
    pk.release(table, pk.plan(schema, records=1_000, k=20)).save(tmp_path / "out")
    code = f"""
import io, sys
from contextlib import redirect_stdout
from pkanon._cli import run
with redirect_stdout(io.StringIO()) as printed:
    code = run(["crosstab", {str(tmp_path / "out")!r}, "x", "y"])
assert code == 0 and "from 1,000 released rows" in printed.getvalue()
"""
    others = ("scipy", "cryptography", "altair", "sqlglot", "rich", "pandas", "pyarrow", "duckdb", "sqlite3", "tomllib")
    numpys = ("numpy.random", "numpy.ma")
    rooms = [f"pkanon.{room}" for room in ("_audit", "_collect", "_demo", "_design", "_engines", "_report", "_sample")]
    inside = [
        *("_blocks.agreement", "_blocks.matrix", "_blocks.ratios", "_blocks.symmetric"),
        *("_estimate.delta", "_estimate.grouping", "_estimate.quantity", "_estimate.uncertainty", "_estimate.weighing"),
        *("_estimate.model.fitted", "_estimate.regression", "_estimate.statistics.association"),
        *("_frames.draft", "_frames.write.export", "_frames.write.output"),
        *("_frames.read.formats.spreadsheet", "_frames.read.formats.sqlite", "_frames.read.formats.statistics"),
        *("_frames.read.encode", "_frames.read.several"),
        *("_frames.read.structure", "_frames.read.textfile", "_frames.read.textopen"),
        *("_plan.breach", "_plan.central.upper", "_plan.composition", "_plan.explain"),
        *("_plan.notebook", "_plan.readability"),
        *("_release.modelled", "_release.pipeline", "_release.signature"),
        *("_schema.hierarchy", "_schema.mergefile", "_schema.toml"),
        *("_results.association", "_results.charts", "_results.paper", "_results.regression", "_results.sql"),
    ]
    inside = [f"pkanon.{name}" for name in inside]
    assert all(importlib.util.find_spec(name) for name in [*numpys, *rooms, *inside])  # names that could be loaded
    assert loaded_by(code, *others, *numpys, *rooms, *inside) == "[]"
    assert loaded_by(code, "numpy", "polars", "click") == "['numpy', 'polars', 'click']"


def test_planning_loads_neither_polars_nor_scipy():
    code = (
        "import pkanon as pk; s = pk.Schema([pk.Attribute('sex', ['F', 'M'])]); pk.plan(s, records=100, k=2).explain()"
    )
    assert loaded_by(code, "polars", "scipy") == "[]"
