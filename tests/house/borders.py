"""Reads the imports of a source tree: which room uses which, and which imports go past a room's door.

A room is a module or a package directly under the tree. A package's door is its ``__init__``: whoever is outside imports from
there. Counted like all others: imports under TYPE_CHECKING, in functions, by ``importlib.import_module`` and ``__import__``,
and modules reached as attributes of an imported module.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

Parts = tuple[str, ...]
"""A dotted name in parts. Inside the tree it starts with ""; "?" stands for what is known only when the program runs."""


def room_of(path: Path, tree: Path) -> str:
    """The name directly under the tree."""
    return path.relative_to(tree).parts[0].removesuffix(".py")


def imports(path: Path, tree: Path) -> Iterator[tuple[Parts, str]]:
    """What a file imports: a module, and the name that is taken from it ("" for the module itself)."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    package = ("", *path.relative_to(tree).parts[:-1])
    modules: dict[str, Parts] = {}  # the names by which this file knows modules of the tree
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = _inside(alias.name, tree)
                yield module, ""
                if module[0] == "":
                    modules[alias.asname or tree.name] = module if alias.asname else ("",)
        elif isinstance(node, ast.ImportFrom):
            base = _relative(package, node.level, node.module or "") if node.level else _inside(node.module or "", tree)
            for alias in node.names:
                module, name = _taken(base, alias.name, tree)
                yield module, name
                if module[0] == name == "":
                    modules[alias.asname or alias.name] = module
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            text = _text(node.args[0]) if node.args else "?"
            relative = text.lstrip(".")
            yield (
                (_relative(package, len(text) - len(relative), relative) if relative != text else _inside(text, tree)),
                "",
            )
    for node in ast.walk(parsed):
        if isinstance(node, ast.Attribute):
            root, *names = _dotted(node)
            if root in modules:
                module, name = modules[root], ""
                while names and name == "":
                    module, name = _taken(module, names.pop(0), tree)
                yield module, name


def _inside(name: str, tree: Path) -> Parts:
    first, *others = name.split(".")
    return ("", *others) if first == tree.name else (first, *others)


def _relative(package: Parts, level: int, name: str) -> Parts:
    return (*package[: len(package) - level + 1], *(name.split(".") if name else ()))


def _taken(module: Parts, name: str, tree: Path) -> tuple[Parts, str]:
    """A name taken from a module: a module of its own, unless the door gives the name to something else."""
    if module[0] == "" and is_module(tree, *module[1:], name) and name not in _bound(tree.joinpath(*module[1:])):
        return (*module, name), ""
    return module, name


@functools.cache
def _bound(package: Path) -> frozenset[str]:
    """The names that a package's ``__init__`` binds: what can be had at its door."""
    door = package / "__init__.py"
    if not door.is_file():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(door.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return frozenset(found)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _text(node: ast.expr) -> str:
    """A text as far as it is written down; the rest is "?"."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return "?"


def _dotted(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [*_dotted(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else [""]


def neighbours(tree: Path) -> dict[str, set[str]]:
    """Every room with the rooms it imports from; "" is the public interface."""
    found: dict[str, set[str]] = {}
    for path in sorted(tree.rglob("*.py")):
        room = room_of(path, tree)
        if room == "__init__":
            continue
        used = found.setdefault(room, set())
        for module, _ in imports(path, tree):
            if module[0] == "":
                used |= {module[1] if len(module) > 1 else ""} - {room}
    return found


def is_module(tree: Path, *parts: str) -> bool:
    """Whether a name is a module or a package of the tree."""
    place = tree.joinpath(*parts)
    return place.is_dir() or place.with_suffix(".py").is_file()


def past_doors(tree: Path, annexes: set[str]) -> list[str]:
    """Imports of what is inside a package by somebody outside of it; an annex is a package with a door to the outside."""
    wrong = []
    for path in sorted(tree.rglob("*.py")):
        inside = path.relative_to(tree).parts[:-1]
        for module, name in imports(path, tree):
            source = module[1:]
            if module[0] != "" or ".".join(source) in annexes:
                continue
            if any(inside[:depth] != source[:depth] for depth in range(1, len(source))):
                wrong.append(f"{path.relative_to(tree)} imports {'.'.join([*source, name]).rstrip('.')}")
    return wrong


def third_parties(tree: Path) -> dict[str, set[str]]:
    """Every room with the foreign packages it imports."""
    found: dict[str, set[str]] = {}
    for path in sorted(tree.rglob("*.py")):
        foreign = {module[0] for module, _ in imports(path, tree)} - {"", "__future__"} - set(sys.stdlib_module_names)
        found.setdefault(room_of(path, tree), set()).update(foreign)
    return {room: names for room, names in found.items() if names}
