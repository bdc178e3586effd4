"""Doors of rooms: a name is loaded when it is first used, so nobody waits for what is not asked for.

A door lists its names twice: as imports under TYPE_CHECKING, for people and type checkers, and by module, for Python. A test
compares the two.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class _Door(ModuleType):
    """A package that loads the modules inside when their names are used."""

    _homes: Mapping[str, tuple[str, str]]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__.get("_homes", {}):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        home, own = self._homes[name]
        value = importlib.import_module(f".{home}", self.__name__)
        self.__dict__[name] = found = getattr(value, own) if own else value
        return found

    def __setattr__(self, name: str, value: object) -> None:
        # Python binds a module to its package once it is loaded; a name of the door that is spelled like a module stays
        if not (isinstance(value, ModuleType) and self._homes.get(name, ("", ""))[1]):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._homes})


def lazy(package: str, names: Mapping[str, str]) -> None:
    """Make a door of a package: ``names`` are given away, listed by the module that has them.

    "x as y" renames. Under "" are modules that are given away themselves.
    """
    homes = {}
    for home, listed in names.items():
        for each in listed.split(", "):
            own, _, other = each.partition(" as ")
            homes[other or own] = (home, own) if home else (own, "")
    module = sys.modules[package]
    module.__dict__["_homes"] = homes
    module.__class__ = _Door
