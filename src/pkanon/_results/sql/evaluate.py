"""A query against a reconstructed table: groups, weights per aggregate, and numbers with their slopes.

COUNT, SUM and the two parts of AVG are linear functions of the table. Numbers computed from them get their errors and
intervals from ``_estimate``, like all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._errors import InputError
from ..._estimate import Basis, Derived, is_numeric, representative
from ..._schema import Attribute
from ..estimate import Estimate
from .language import (
    Aggregate,
    Arithmetic,
    Case,
    Condition,
    Expression,
    Leaf,
    Measured,
    NotMeasured,
    Number,
    Query,
    aggregates,
)
from .logic import Truth, truth, truth_of_codes

_HOLDS = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def check_numeric(attribute: Attribute, function: str) -> None:
    """Refuse SUM and AVG of an attribute that is not numeric."""
    if not is_numeric(attribute):
        raise InputError(
            f"{function.upper()} needs numbers; '{attribute.name}' is of type {attribute.type}. "
            f"Ask COUNT(*) with GROUP BY {attribute.name}."
        )


@dataclass(frozen=True)
class Evaluation:
    """A query and the table of its attributes, the grouped ones first."""

    query: Query
    table: Estimate

    @cached_property
    def _attributes(self) -> Mapping[str, Attribute]:
        return {attribute.name: attribute for attribute in self.table.attributes}

    def _along(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """One value per code, along the attribute's axis."""
        return values.reshape([-1 if name == other else 1 for other in self.table.names])

    def _cells(self, condition: Condition | None) -> NDArray[np.bool_]:
        """Where a condition is true; axes have length 1 where it does not vary."""
        one = np.ones([1] * len(self.table.names), bool)

        def of_leaf(leaf: Leaf) -> Truth:
            assert not isinstance(leaf, (Measured, NotMeasured))  # only HAVING has them
            met = truth_of_codes(leaf, self._attributes[leaf.attribute])
            return Truth(self._along(leaf.attribute, met.true), self._along(leaf.attribute, met.false))

        return one if condition is None else one & truth(condition, of_leaf).true

    @cached_property
    def where(self) -> NDArray[np.bool_]:
        """The cells that WHERE leaves."""
        return self._cells(self.query.where)

    @cached_property
    def shown(self) -> NDArray[np.intp]:
        """The groups that can have somebody in them."""
        rest = tuple(range(len(self.query.groups), len(self.table.names)))
        if not self.query.groups:
            return np.zeros(1, np.intp)
        return np.flatnonzero((self.where & self.table.channel.possible).any(axis=rest))

    @cached_property
    def codes(self) -> dict[str, NDArray[np.intp]]:
        """The code of each grouped attribute in every group shown."""
        shape = self.table.counts.shape[: len(self.query.groups)]
        return dict(zip(self.query.groups, np.unravel_index(self.shown, shape) if shape else ()))

    @cached_property
    def _functions(self) -> dict[tuple[str, Aggregate], Counts]:
        """The weights of every linear function, by what it is."""
        found: dict[tuple[str, Aggregate], Counts] = {}
        for expression in self.query.expressions():
            for aggregate in aggregates(expression):
                numbers = self._numbers(aggregate)
                cells = self.where & self._cells(aggregate.where)
                present = cells & ~np.isnan(numbers)
                if aggregate.function != "sum":
                    found["count", aggregate] = present.astype(float)
                if aggregate.function != "count":
                    found["sum", aggregate] = np.where(present, np.nan_to_num(numbers), 0.0)
        return found

    def _numbers(self, aggregate: Aggregate) -> Counts:
        """The number that an aggregate adds up, per cell; NaN is NULL."""
        one = np.ones([1] * len(self.table.names))
        match aggregate.argument:
            case None:
                return one
            case Case(branches, default):
                numbers = one * (np.nan if default is None else default)
                for condition, value in reversed(branches):
                    numbers = np.where(self._cells(condition), np.nan if value is None else value, numbers)
                return numbers
            case name:
                attribute = self._attributes[name]
                if aggregate.function != "count":
                    return self._along(name, representative(attribute))
                present = np.ones(attribute.size)
                if attribute.missing_code is not None:
                    present[attribute.missing_code] = np.nan
                return self._along(name, present)

    @cached_property
    def basis(self) -> Basis:
        """The linear functions in all groups."""
        return Basis(self.table, self.query.groups, self.shown, tuple(self._functions.values()))

    def measure(self, expression: Expression) -> Derived:
        """An expression in every group shown; NaN is NULL."""
        match expression:
            case Number(value):
                return Derived.constant(float(value), np.zeros((len(self.shown), len(self._functions))))
            case Aggregate("avg"):
                return self._linear("sum", expression).over(self._linear("count", expression), positive=True)
            case Aggregate(function):
                return self._linear(function, expression)
            case Arithmetic(sign, left, right):
                a, b = self.measure(left), self.measure(right)
                if sign == "/":
                    # NULL where an estimated denominator is not positive, or a fixed one is zero
                    return a.over(b, positive=any(aggregates(right)))
                return a + b if sign == "+" else a - b if sign == "-" else a * b

    def _linear(self, function: str, aggregate: Aggregate) -> Derived:
        return self.basis.derived(list(self._functions).index((function, aggregate)))

    def having(self, condition: Condition) -> NDArray[np.bool_]:
        """Which of the groups shown meet HAVING, by estimated numbers."""

        def of_leaf(leaf: Leaf) -> Truth:
            if isinstance(leaf, Measured):
                a, b = self.measure(leaf.left).value, self.measure(leaf.right).value
                known = ~np.isnan(a) & ~np.isnan(b)
                met = _HOLDS[leaf.operator](a, b)
                return Truth(met & known, ~met & known)
            if isinstance(leaf, NotMeasured):
                null = np.isnan(self.measure(leaf.expression).value)
                return Truth(null, ~null)
            of_codes = truth_of_codes(leaf, self._attributes[leaf.attribute])
            codes = self.codes[leaf.attribute]
            return Truth(of_codes.true[codes], of_codes.false[codes])

        return np.broadcast_to(truth(condition, of_leaf).true, self.shown.shape)
