"""Reads the imports of a source tree: which room uses which, and which imports go past a room's door.

A room is a module or a package directly under the tree. A package's door is its ``__init__``: whoever is outside imports from
there. Imports under TYPE_CHECKING count like all others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path


def room_of(path: Path, tree: Path) -> str:
    """The name directly under the tree."""
    return path.relative_to(tree).parts[0].removesuffix(".py")


def imports(path: Path, tree: Path) -> Iterator[tuple[str, ...]]:
    """What a file imports, as parts of a dotted name; inside the tree it starts with "" and ends with the name imported."""
    package = ["", *path.relative_to(tree).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield ("", *parts[1:]) if parts[0] == tree.name else tuple(parts)
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            if node.level:
                base = [*package[: len(package) - node.level + 1], *module]
            else:
                base = ["", *module[1:]] if module[:1] == [tree.name] else module
            yield from ((*base, alias.name) for alias in node.names)


def neighbours(tree: Path) -> dict[str, set[str]]:
    """Every room with the rooms it imports from; "" is the public interface."""
    found: dict[str, set[str]] = {}
    for path in sorted(tree.rglob("*.py")):
        room = room_of(path, tree)
        if room == "__init__":
            continue
        used = found.setdefault(room, set())
        for parts in imports(path, tree):
            if parts[0] == "":
                other = parts[1] if len(parts) > 1 and is_module(tree, parts[1]) else ""
                used |= {other} - {room}
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
        for parts in imports(path, tree):
            if parts[0] != "" or len(parts) < 3:
                continue
            source = parts[1:-1]  # the module that the name is taken from
            for depth in range(1, len(source)):
                door = source[:depth]
                if ".".join(source) in annexes:
                    break
                if inside[:depth] != door:
                    wrong.append(f"{path.relative_to(tree)} imports {'.'.join(parts[1:])}")
                    break
    return wrong


def third_parties(tree: Path) -> dict[str, set[str]]:
    """Every room with the foreign packages it imports."""
    found: dict[str, set[str]] = {}
    for path in sorted(tree.rglob("*.py")):
        foreign = {p[0] for p in imports(path, tree)} - {"", "__future__"} - set(sys.stdlib_module_names)
        found.setdefault(room_of(path, tree), set()).update(foreign)
    return {room: names for room, names in found.items() if names}
