"""What groups are made by, in codes: the label of every cell of a table; and conditions that name merged groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._frames import decode_attributes
from ..._schema import Attribute, Groups, Schema, value_to_text
from .language import (
    Aggregate,
    Always,
    Arithmetic,
    Both,
    Case,
    Column,
    Compare,
    Condition,
    Either,
    Expression,
    IsMissing,
    Key,
    Labels,
    Leaf,
    Measured,
    Not,
    NotMeasured,
    OneOf,
    Query,
    ValueOf,
)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels, and for each cell of a table the number of its label; -1 where a cell has none.

    ``numbers`` has axes of length 1 where the label does not vary. ``labels`` are as they are shown; None is NULL.
    """

    labels: pl.Series
    numbers: NDArray[np.intp]

    @property
    def sort_keys(self) -> NDArray[np.float64]:
        """Numbers by their size, texts in the order in which they were written; NaN is NULL."""
        keys = np.arange(len(self.labels), dtype=float)
        if self.labels.dtype.is_numeric():
            keys = self.labels.cast(pl.Float64).to_numpy().astype(float)
        keys[self.labels.is_null().to_numpy()] = np.nan
        return keys


def merged_key(groups: Groups, along: Callable[[NDArray[Any]], NDArray[Any]]) -> Labelled:
    """The groups of an attribute whose values are merged; ``along`` puts its codes along its axis."""
    shown = groups.attribute
    labels = decode_attributes([shown], {shown.name: np.arange(shown.size, dtype=np.uint32)})[shown.name]
    return Labelled(labels, along(np.array(groups.places, np.intp)))


def case_key(
    key: Labels,
    attributes: Mapping[str, Attribute],
    cells: Callable[[Condition], NDArray[np.bool_]],
    along: Callable[[str, NDArray[Any]], NDArray[Any]],
) -> Labelled:
    """The labels of a CASE; ``cells`` are those where a condition is true, ``along`` puts codes along an axis."""
    found: dict[Any, int] = {}

    def number(label: Any) -> int:
        return found.setdefault(label, len(found))

    outcomes: list[tuple[Condition, NDArray[np.intp]]] = []
    for condition, label in (*key.branches, (Always(True), key.default)):
        if isinstance(label, ValueOf):
            values = np.array([number(value) for value in attributes[label.attribute].labels()], np.intp)
            outcomes.append((condition, along(label.attribute, values)))
        else:
            outcomes.append((condition, np.array(number(label), np.intp)))
    numbers = outcomes[-1][1]
    for condition, labelled in reversed(outcomes[:-1]):
        numbers = np.where(cells(condition), labelled, numbers)
    order = [
        *(label for label in found if label is not None),
        *(label for label in found if label is None),
    ]  # NULL last
    places = np.array([order.index(label) for label in found], np.intp)
    return Labelled(_series(order), places[numbers])


def _series(labels: Sequence[Any]) -> pl.Series:
    """Labels as a column: numbers if all are, else texts in their order."""
    known = [label for label in labels if label is not None]
    if known and all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in known):
        whole = all(isinstance(label, int) for label in known)
        return pl.Series("labels", labels, dtype=pl.Int64 if whole else pl.Float64)
    texts = [None if label is None else value_to_text(label) for label in labels]
    categories = list(dict.fromkeys(text for text in texts if text is not None))
    return pl.Series("labels", texts, dtype=pl.Enum(categories) if categories else pl.String)


def with_groups(query: Query, groups: Mapping[str, Groups], schema: Schema) -> Query:
    """The query with every condition on a merged group as a condition on its values."""
    merged = {name: _members(found, schema.attribute(name)) for name, found in groups.items() if found.merged}
    if not merged:
        return query

    def of_leaf(leaf: Leaf) -> Condition:
        match leaf:
            case Measured(operator, left, right):
                return Measured(operator, expression(left), expression(right))
            case NotMeasured(inner):
                return NotMeasured(expression(inner))
            case Compare(name, "=" | "<>" as operator, value) if name in merged and value in merged[name].groups:
                met = merged[name].condition([value])
                return met if operator == "=" else Not(met)
            case OneOf(name, values) if name in merged:
                return merged[name].condition(values)
            case IsMissing(name) if name in merged:
                return merged[name].missing
        return leaf

    def rewritten(condition: Condition) -> Condition:
        match condition:
            case Always():
                return condition
            case Not(inner):
                return Not(rewritten(inner))
            case Both(left, right):
                return Both(rewritten(left), rewritten(right))
            case Either(left, right):
                return Either(rewritten(left), rewritten(right))
        return of_leaf(condition)

    def maybe(condition: Condition | None) -> Condition | None:
        return None if condition is None else rewritten(condition)

    def expression(number: Expression) -> Expression:
        match number:
            case Aggregate(function, argument, where):
                if isinstance(argument, Case):
                    argument = replace(argument, branches=tuple((rewritten(c), v) for c, v in argument.branches))
                return Aggregate(function, argument, maybe(where))
            case Arithmetic(sign, left, right):
                return Arithmetic(sign, expression(left), expression(right))
        return number

    def item(each: Key | Expression) -> Key | Expression:
        if isinstance(each, Labels):
            return replace(each, branches=tuple((rewritten(c), label) for c, label in each.branches))
        return each if isinstance(each, str) else expression(each)

    return replace(
        query,
        columns=tuple(Column(column.name, item(column.item)) for column in query.columns),
        groups=tuple(key if isinstance(key, str) else item(key) for key in query.groups),  # type: ignore[misc]  # a key
        where=maybe(query.where),
        having=maybe(query.having),
        order=tuple(replace(order, item=item(order.item)) for order in query.order),
    )


@dataclass(frozen=True)
class _Members:
    """The values of merged groups, by label; ``missing`` is the condition that an answer is missing."""

    name: str
    groups: dict[str, list[Any]]
    missing: Condition

    def condition(self, values: Sequence[Any]) -> Condition:
        """The attribute has one of these values, each of them a group or a value."""
        members = [member for value in values for member in self.groups.get(value, [value])]
        known = tuple(member for member in members if member is not None)
        met: Condition = OneOf(self.name, known) if known else Always(False)
        return Either(met, IsMissing(self.name)) if None in members else met


def _members(groups: Groups, attribute: Attribute) -> _Members:
    shown, name = groups.attribute, attribute.name
    values = list(attribute.labels())
    by_place: dict[int, list[Any]] = {}
    for value, place in zip(values, groups.places):
        by_place.setdefault(place, []).append(value)
    asked = {label for label, _ in groups.merged}
    found = {str(label): by_place[place] for place, label in enumerate(shown.labels()) if label in asked}
    absent = [value for value, answered in zip(values, groups.answered) if not answered and value is not None]
    is_null = IsMissing(name)
    return _Members(name, found, Either(is_null, OneOf(name, tuple(absent))) if absent else is_null)
