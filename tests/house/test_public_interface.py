"""``__all__`` is the public interface, and importing the package costs next to nothing."""

import subprocess
import sys

import pytest

import pkanon as pk


@pytest.mark.parametrize("name", pk.__all__)
def test_every_public_name_exists_and_says_what_it_is(name):
    value = getattr(pk, name)
    if callable(value):
        assert value.__doc__


def test_nothing_else_is_public():
    public = {name for name in vars(pk) if not name.startswith("_")}
    assert public - set(pk.__all__) <= {"annotations", "importlib", "TYPE_CHECKING", "Any"}


def test_names_for_type_checkers_are_the_public_names():
    import ast
    from pathlib import Path

    tree = ast.parse(Path(pk.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    names = {alias.asname for node in block.body for alias in node.names}
    assert names == set(pk.__all__) - {"__version__"}


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = pk.no_such_thing


def test_import_is_light():
    code = "import sys, pkanon; print([m for m in ('numpy', 'polars', 'scipy', 'click', 'rich') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_planning_loads_neither_polars_nor_scipy():
    code = (
        "import sys, pkanon as pk; s = pk.Schema([pk.Attribute('sex', ['F', 'M'])]); pk.plan(s, records=100, k=2).explain();"
        "print([m for m in ('polars', 'scipy') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
