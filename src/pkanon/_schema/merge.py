"""Raw values that become a declared value while a table is read.

``merge = { "secondary" = ["9th", "10th"] }``: a table may hold "9th", "10th" or "secondary", and all of them have the code of
"secondary". The raw values are part of what encoding needs, so plans hold them. Nobody else sees them: what is released,
asked for and estimated are declared values.

A raw value has one place only: it is no declared value, no ``other``, no missing value, and in one merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from .._errors import SchemaError
from .domain import Value, check_value, value_from_text

Merged: TypeAlias = tuple[tuple[Value, tuple[Value, ...]], ...]
"""Declared values with the raw values that become them, in the order of the declared values."""


def merge_lists(given: Mapping[Any, Iterable[Any]], where: str) -> dict[Any, tuple[Any, ...]]:
    """What a person wrote under ``merge``, as lists that are not empty."""
    if not isinstance(given, Mapping):
        raise SchemaError(f'{where}: write merge = {{ "declared value" = ["raw value", ...] }}.')
    for label, members in given.items():
        if isinstance(members, (str, Mapping)) or not isinstance(members, Iterable):
            raise SchemaError(f"{where}, merge: the raw values of {label!r} must be a list.")
    lists = {label: tuple(members) for label, members in given.items()}
    if empty := [label for label, members in lists.items() if not members]:
        raise SchemaError(f"{where}, merge: {empty[0]!r} has no raw values; leave it out.")
    return lists


def merges(lists: Mapping[Any, tuple[Any, ...]], kind: str, where: str) -> dict[Value, tuple[Value, ...]]:
    """The merges in ``lists``, every value checked to be of the type ``kind``; a label may be the text of its value."""
    found: dict[Value, tuple[Value, ...]] = {}
    for label, members in lists.items():
        value = _label(label, kind, f"{where}, merge")
        if value in found:
            raise SchemaError(f"{where}, merge: {label!r} is there twice.")
        found[value] = tuple(check_value(member, kind, f"{where}, merge") for member in members)
    return found


def _label(label: Any, kind: str, where: str) -> Value:
    """A declared value; keys of TOML are texts, whatever the type."""
    return value_from_text(label, kind, where) if isinstance(label, str) else check_value(label, kind, where)


def merged(
    found: Mapping[Value, tuple[Value, ...]],
    values: tuple[Value, ...],
    taken: Mapping[Value, str],
    where: str,
) -> Merged:
    """The merges in the order of ``values``; ``taken`` says which values mean something else, and what.

    Refused: a label that is not declared, and a raw value with two meanings.
    """
    declared = set(values)
    for label in found:
        if label not in declared:
            raise SchemaError(f"{where}, merge: {label!r} is not among the declared values; add it to them.")
    meanings: dict[Value, str] = dict.fromkeys(values, "a declared value") | dict(taken)
    for label, members in found.items():
        for member in members:
            if member in meanings:
                raise SchemaError(
                    f"{where}, merge: {member!r} cannot become {label!r}, because it is {meanings[member]} too; leave it out of one."
                )
            meanings[member] = f"merged into {label!r}"
    return tuple((value, found[value]) for value in values if value in found)
