"""The request behind a plan, for its readers; what the plan reaches follows from its blocks.

A plan file holds texts, ``Asked`` holds the same as data. A text is read only if its meaning is certain: writing the data
gives the same text again. Everything else is kept as it stands, because a published plan never changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from .._errors import PlanError

Tables: TypeAlias = Mapping[tuple[str, ...], float]
"""Tables by the names of their attributes, with a number for each."""

_SEPARATORS = ",;="


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """The design, its options and the targets, as they were asked for; None where nothing was.

    ``workload`` and ``floor`` are a number of attributes, a word ("full"; "all" or "none"), or tables with their weights or
    least eigenvalues. ``fallback`` says which design was taken instead of an optimised block, and why; ``lost`` names the
    sets of attributes that the design destroys. Numbers are texts, with all the digits that were asked for.
    ``unread`` is everything else in a plan file.

    Records are equal if they write the same texts.
    """

    design: str | None = None
    workload: int | str | Tables | None = None
    weighting: str | None = None
    floor: int | str | Tables | None = None
    fallback: str | None = None
    lost: tuple[tuple[str, ...], ...] = ()
    k: str | None = None
    epsilon: str | None = None
    central_epsilon: str | None = None
    delta: str | None = None
    unread: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, str]:
        """The texts that a plan file holds."""
        return {name: _text(value) for name, value in self._present().items()} | dict(self.unread)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], names: Collection[str]) -> Asked:
        """The inverse of :meth:`to_json`; ``names`` are the attributes of the plan."""
        if not all(isinstance(text, str) for text in data.values()):
            raise PlanError("The plan is damaged: 'asked' must hold texts.")
        values = {key: _value(key, text, names) for key, text in data.items()}
        read = {key: value for key, value in values.items() if value is not None}
        return cls(**read, unread={key: text for key, text in data.items() if key not in read})

    def _present(self) -> dict[str, Any]:
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "unread"}
        return {name: value for name, value in values.items() if value is not None and value != ()}

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Asked) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.to_json().items()))

    def __repr__(self) -> str:
        shown = self._present() | ({"unread": self.unread} if self.unread else {})
        return f"Asked({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        value = dict.fromkeys(value, 1.0)
    if isinstance(value, Mapping):
        return "; ".join(",".join(table) + (f"={number:g}" if number != 1 else "") for table, number in value.items())
    return str(value)


def _value(key: str, text: str, names: Collection[str]) -> Any:
    """The data in a text, or None if its meaning is not certain."""
    value: Any = None
    match key:
        case "design" | "weighting" | "fallback":
            value = text
        case "k" | "epsilon" | "central_epsilon" | "delta":
            value = text if _is_number(text) else None
        case "workload":
            value = _amount_or_tables(text, ("full",), names)
        case "floor":
            value = _amount_or_tables(text, ("all", "none"), names)
        case "lost":
            tables = _tables(text, names)
            value = None if tables is None else tuple(tables)
    return value if value is not None and _text(value) == text else None


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _amount_or_tables(text: str, words: Collection[str], names: Collection[str]) -> int | str | Tables | None:
    is_number = text.isascii() and text.isdigit()
    if not is_number and text not in words:
        return _tables(text, names)
    if text in names:  # it may also be the table of an attribute of this name
        return None
    return int(text) if is_number else text


def _tables(text: str, names: Collection[str]) -> Tables | None:
    if any(mark in name for name in names for mark in _SEPARATORS):
        return None
    tables = {}
    for item in text.split("; "):
        table, _, number = item.partition("=")
        try:
            tables[tuple(table.split(","))] = float(number) if number else 1.0
        except ValueError:
            return None
    return tables if all(name in names for table in tables for name in table) else None
