"""What is asked of an advice, checked: names, tables, level, target. Refused in one sentence before any work is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..._errors import InputError, SchemaError, TargetError, did_you_mean
from ..._plan import LEVELS, Number
from ..._schema import Schema
from ..target import Target, budget
from ..workload import read_table, whole_number

REACHABLE = ("fair", "good")
"""Levels that can be asked for."""


@dataclass(frozen=True)
class Request:
    """A question to the adviser."""

    schema: Schema
    records: int
    k: Number | None
    epsilon: Number | None
    keep: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    level: str
    min_columns: int
    k_range: tuple[Number, ...]
    codes: tuple[str, ...]

    @property
    def limit(self) -> float:
        """The error that every table asked for must stay below."""
        return LEVELS[self.level]

    @property
    def budget(self) -> float:
        """The budget of the target."""
        return budget(Target.of(self.records, self.k, self.epsilon).limit())

    @property
    def named(self) -> list[str]:
        """The columns that must stay, in the order of the schema."""
        wanted = {*self.keep, *(name for table in self.tables for name in table)}
        return [attribute.name for attribute in self.schema.randomised if attribute.name in wanted]

    @property
    def target(self) -> str:
        """The target in words."""
        parts = [f"{name} = {value}" for name, value in (("k", self.k), ("epsilon", self.epsilon)) if value is not None]
        return " and ".join(parts)

    @property
    def less(self) -> str:
        """What less privacy would be, in words."""
        parts = [("a lower k", self.k), ("a larger epsilon", self.epsilon)]
        return " or ".join(words for words, value in parts if value is not None)


def request(
    schema: Schema,
    records: int,
    k: Number | None,
    epsilon: Number | None,
    keep: Iterable[str],
    tables: Iterable[Sequence[str]],
    level: str,
    min_columns: int,
    k_range: Iterable[Number],
    codes: Iterable[str],
) -> Request:
    """The question, checked."""
    if not isinstance(schema, Schema):
        raise SchemaError(
            f"A schema is needed, not an object of type {type(schema).__name__}; read a file with read_schema."
        )
    if level not in REACHABLE:
        raise InputError(f"level = {level!r}: tables can be asked to be fair or good.")
    kept, ordered = _names(schema, keep, "keep"), _names(schema, codes, "codes")
    named = tuple(
        dict.fromkeys(
            tuple(
                a.name
                for a in schema.randomised
                if a.name in set(_names(schema, read_table(table, "advice"), "tables"))
            )
            for table in tables
        )
    )
    columns = len(schema.randomised)
    least = whole_number(min_columns)
    if least is None or not 1 <= least <= columns:
        raise InputError(
            f"min_columns = {min_columns}: the schema has {columns} columns to randomise; ask for 1 to {columns}."
        )
    asked = Request(schema, records, k, epsilon, kept, named, level, least, tuple(k_range), ordered)
    if asked.budget <= 0:
        raise TargetError(
            f"With {asked.target} and {int(records):,} records rows would say nothing about anybody; ask for a lower k."
        )
    for other in asked.k_range:
        Target.of(records, other, epsilon)
    return asked


def _names(schema: Schema, names: Any, option: str) -> tuple[str, ...]:
    """Attributes that are randomised, each once."""
    if isinstance(names, str):
        raise InputError(f"{option} is a list of names, not one text.")
    known = [attribute.name for attribute in schema.randomised]
    for name in (found := tuple(dict.fromkeys(names))):
        if name in known:
            continue
        if name in schema.names:
            raise InputError(
                f"{option} names '{name}', which has the role '{schema.attribute(name).role}' and is not randomised; "
                "give it values, or leave it out."
            )
        raise InputError(f"{option} names '{name}', which the schema does not have. {did_you_mean(str(name), known)}")
    return found
