"""Who may import whom. Arrows point inwards: a module uses what stands before it in LAYERS."""

import ast
import sys
from pathlib import Path

import pkanon

SOURCE = Path(pkanon.__file__).parent

LAYERS = [
    ["_version", "_errors", "_digest"],
    ["_files"],
    ["_schema"],
    ["_blocks"],
    ["_privacy"],
    ["_predict", "_explain"],
    ["_plan"],
    ["_estimate"],
    ["_analysis"],
    ["_amplification"],
    ["_design", "_composition", "_certificate"],
    ["_keystream"],
    ["_randomise", "_hidden_count"],
    ["_shuffle"],
    ["_frames"],
    ["_report"],
    ["_crosstab", "_planner"],
    ["_overview"],
    ["_query"],
    ["_bundle"],
    ["_release"],
    ["_audit", "_demo"],
    ["_experiments"],
    ["_cli"],
    ["__main__"],
]
RANK = {module: rank for rank, layer in enumerate(LAYERS) for module in layer}

# Which third-party packages a layer may use. The core is everything before _frames.
CORE = {"numpy", "cryptography", "tomli_w"}
THIRD_PARTY = {
    "_frames": CORE | {"polars", "pandas", "pyarrow", "duckdb"},
    "_analysis": CORE | {"scipy"},
    "_amplification": CORE | {"scipy"},
    "_design": CORE | {"scipy", "clarabel"},
    "_report": {"altair", "polars", "vl_convert"},
    "_crosstab": CORE | {"polars", "pandas", "pyarrow", "xarray", "altair"},
    "_planner": {"polars", "altair"},
    "_overview": {"polars", "altair"},
    "_query": CORE | {"polars", "sqlglot"},
    "_bundle": CORE | {"polars"},
    "_release": CORE | {"polars"},
    "_demo": CORE | {"polars"},
    "_experiments": CORE | {"polars", "altair"},
    "_cli": {"click", "rich"},
}


def _module(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imports(path: Path):
    """(absolute dotted name) of every import that runs, at the top or inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    package = ["pkanon", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{name}.{alias.name}" for alias in node.names)


def test_every_module_has_a_layer():
    assert {_module(path) for path in SOURCE.rglob("*.py")} - {"__init__"} == set(RANK)


def test_imports_point_inwards():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        module = _module(path)
        if module == "__init__":
            continue
        for name in _imports(path):
            top, _, rest = name.partition(".")
            if top == "pkanon":
                other = rest.split(".")[0]
                if module == "_cli":
                    # the command line is a user of the public names
                    if other not in ("_cli", "") and other not in pkanon.__all__:
                        wrong.append(f"{path.name} imports {name}")
                elif other in RANK and other != module and RANK[other] >= RANK[module]:
                    wrong.append(f"{path.name} imports {name}")
            elif top not in sys.stdlib_module_names and top not in THIRD_PARTY.get(module, CORE):
                wrong.append(f"{path.name} imports {name}")
    assert wrong == []


def test_the_border_test_sees_a_wrong_import(tmp_path):
    """The checker itself: it must find imports inside functions and skip those for type checkers."""
    file = SOURCE / "_release.py"
    names = set(_imports(file))
    assert "pkanon._frames.encode" in names
    assert "polars" not in names  # only under TYPE_CHECKING there
