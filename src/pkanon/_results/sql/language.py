"""What a query can say: a few frozen records between SQL and arithmetic.

The reader (``statement.py``, ``expressions.py``) makes them and refuses everything else, so nothing that
stands here is ever skipped over when a query is answered. Attributes are named as in the schema.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Constant: TypeAlias = str | int | float | bool | dt.date
Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
Sign: TypeAlias = Literal["+", "-", "*", "/"]
Function: TypeAlias = Literal["count", "sum", "avg"]


@dataclass(frozen=True)
class Compare:
    """An attribute against a constant."""

    attribute: str
    operator: Operator
    value: Constant


@dataclass(frozen=True)
class OneOf:
    """``attribute IN (...)``."""

    attribute: str
    values: tuple[Constant, ...]


@dataclass(frozen=True)
class Like:
    """A text pattern: ``%`` is anything, ``_`` one character, ``escape`` makes the next one plain."""

    attribute: str
    pattern: str
    escape: str = ""
    any_case: bool = False


@dataclass(frozen=True)
class IsMissing:
    """``attribute IS NULL``."""

    attribute: str


@dataclass(frozen=True)
class Always:
    """TRUE or FALSE as it is written."""

    truth: bool


@dataclass(frozen=True)
class Measured:
    """HAVING: two estimated numbers compared."""

    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True)
class NotMeasured:
    """HAVING: ``number IS NULL``."""

    expression: Expression


@dataclass(frozen=True)
class Not:
    """The opposite; what is unknown stays unknown."""

    condition: Condition


@dataclass(frozen=True)
class Both:
    """AND."""

    left: Condition
    right: Condition


@dataclass(frozen=True)
class Either:
    """OR."""

    left: Condition
    right: Condition


Leaf: TypeAlias = Compare | OneOf | Like | IsMissing | Measured | NotMeasured
Condition: TypeAlias = Leaf | Always | Not | Both | Either


@dataclass(frozen=True)
class Case:
    """The number of the first condition that is true, else ``default``; None is NULL."""

    branches: tuple[tuple[Condition, float | None], ...]
    default: float | None


@dataclass(frozen=True)
class ValueOf:
    """The value of an attribute, as a label."""

    attribute: str


@dataclass(frozen=True)
class Labels:
    """CASE as a group: the label of the first condition that is true, else ``default``; None is NULL."""

    branches: tuple[tuple[Condition, Constant | ValueOf | None], ...]
    default: Constant | ValueOf | None

    def attributes(self) -> Iterator[str]:
        """Every attribute in it."""
        for condition, label in (*self.branches, (Always(True), self.default)):
            yield from (leaf.attribute for leaf in leaves(condition) if not isinstance(leaf, (Measured, NotMeasured)))
            if isinstance(label, ValueOf):
                yield label.attribute


@dataclass(frozen=True)
class Number:
    """A number as it is written."""

    value: float


@dataclass(frozen=True)
class Aggregate:
    """COUNT, SUM or AVG over the people for whom ``where`` is true; ``argument`` None is the star."""

    function: Function
    argument: str | Case | None
    where: Condition | None = None


@dataclass(frozen=True)
class Arithmetic:
    """Two expressions and a sign."""

    sign: Sign
    left: Expression
    right: Expression


Expression: TypeAlias = Number | Aggregate | Arithmetic
Key: TypeAlias = str | Labels
"""What groups are made by: an attribute, or labels by conditions."""


@dataclass(frozen=True)
class Column:
    """One item of SELECT: what groups are made by or an estimated number, under its name in the answer."""

    name: str
    item: Key | Expression


@dataclass(frozen=True)
class Order:
    """One item of ORDER BY."""

    item: Key | Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Query:
    """A whole SELECT."""

    columns: tuple[Column, ...]
    groups: tuple[Key, ...]
    where: Condition | None = None
    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def expressions(self) -> Iterator[Expression]:
        """Every expression in it: of SELECT, HAVING and ORDER BY."""
        for item in [column.item for column in self.columns] + [order.item for order in self.order]:
            if not isinstance(item, Key):
                yield item
        if self.having is not None:
            for leaf in leaves(self.having):
                if isinstance(leaf, Measured):
                    yield from (leaf.left, leaf.right)
                elif isinstance(leaf, NotMeasured):
                    yield leaf.expression

    def attributes(self, merged: Collection[str] = ()) -> tuple[str, ...]:
        """Every attribute in it: first those that are groups as they are, then those of ``merged`` and of CASE."""
        plain = [key for key in self.groups if isinstance(key, str)]
        found = dict.fromkeys([*(n for n in plain if n not in merged), *(n for n in plain if n in merged)])
        for key in self.groups:
            if isinstance(key, Labels):
                found |= dict.fromkeys(key.attributes())
        conditions = [self.where, self.having]
        for expression in self.expressions():
            for aggregate in aggregates(expression):
                conditions.append(aggregate.where)
                if isinstance(aggregate.argument, Case):
                    conditions += [condition for condition, _ in aggregate.argument.branches]
                elif aggregate.argument is not None:
                    found[aggregate.argument] = None
        for condition in conditions:
            for leaf in leaves(condition):
                if not isinstance(leaf, (Measured, NotMeasured)):
                    found[leaf.attribute] = None
        return tuple(found)


def leaves(condition: Condition | None) -> Iterator[Leaf]:
    """The single comparisons of a condition."""
    match condition:
        case None | Always():
            return
        case Not(inner):
            yield from leaves(inner)
        case Both(left, right) | Either(left, right):
            yield from leaves(left)
            yield from leaves(right)
        case _:
            yield condition


def aggregates(expression: Expression) -> Iterator[Aggregate]:
    """The aggregates an expression is made of."""
    match expression:
        case Aggregate():
            yield expression
        case Arithmetic(_, left, right):
            yield from aggregates(left)
            yield from aggregates(right)
