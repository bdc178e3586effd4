"""A query against a reconstructed table: groups, weights per aggregate, and numbers with their slopes.

COUNT, SUM and the two parts of AVG are linear functions of the table. Numbers computed from them get their errors and
intervals from ``_estimate``, like all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._errors import InputError
from ..._estimate import Basis, Derived, is_numeric, representative, values
from ..._frames import decode_attributes
from ..._schema import Attribute, Groups
from ..estimate import Estimate
from .keys import Labelled, case_key, merged_key
from .language import (
    Aggregate,
    Arithmetic,
    Case,
    Condition,
    Expression,
    Key,
    Labels,
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
    """A query and the table of its attributes, those that are groups as they are first.

    ``groups``: attributes whose values are merged or left out. Groups by labels (CASE, merged values) are evaluated one
    combination of labels at a time; each is a part with the same functions, which count the cells with these labels.
    """

    query: Query
    table: Estimate
    groups: Mapping[str, Groups] = field(default_factory=dict)

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        return {attribute.name: attribute for attribute in self.table.attributes}

    def along(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """One value per code, along the attribute's axis."""
        return values.reshape([-1 if name == other else 1 for other in self.table.names])

    def cells(self, condition: Condition | None) -> NDArray[np.bool_]:
        """Where a condition is true; axes have length 1 where it does not vary."""
        one = np.ones([1] * len(self.table.names), bool)

        def of_leaf(leaf: Leaf) -> Truth:
            assert not isinstance(leaf, (Measured, NotMeasured))  # only HAVING has them
            met = truth_of_codes(leaf, self.attributes[leaf.attribute])
            return Truth(self.along(leaf.attribute, met.true), self.along(leaf.attribute, met.false))

        return one if condition is None else one & truth(condition, of_leaf).true

    @cached_property
    def where(self) -> NDArray[np.bool_]:
        """The cells that WHERE leaves, and that no group leaves out."""
        kept = self.cells(self.query.where)
        for name in self.query.attributes():
            if name in self.groups and not self.groups[name].complete:
                kept = kept & self.along(name, np.array(self.groups[name].places) >= 0)
        return kept

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The attributes that are groups as they are: the first axes of the table."""
        return tuple(key for key in self.query.groups if isinstance(key, str) and not is_merged(self.groups, key))

    @cached_property
    def labelled(self) -> dict[Key, Labelled]:
        """Groups by labels."""
        found: dict[Key, Labelled] = {}
        for key in self.query.groups:
            if isinstance(key, Labels):
                found[key] = case_key(key, self.attributes, self.cells, self.along)
            elif key not in self.plain:
                found[key] = merged_key(self.groups[key], partial(self.along, key))
        return found

    @cached_property
    def parts(self) -> list[Part]:
        """One part per combination of labels."""
        numbers = [range(len(each.labels)) for each in self.labelled.values()]
        made = (Part(self, dict(zip(self.labelled, combination))) for combination in itertools.product(*numbers))
        return [part for part in made if len(part.shown) or not self.labelled]

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows of all parts, one part after the other, in the order of the groups."""
        keys = [np.concatenate([part.numbers[key] for part in self.parts]) for key in self.query.groups if self.parts]
        rows = sum(len(part.shown) for part in self.parts)
        return np.lexsort(keys[::-1]) if keys and self.labelled else np.arange(rows)

    def joined(self, of: Callable[[Part], NDArray[Any]]) -> NDArray[Any]:
        """An array over groups, from those of the parts."""
        if not self.parts:
            return np.zeros(0)
        return np.concatenate([of(part) for part in self.parts])[self.order]

    @cached_property
    def numbers(self) -> dict[Key, NDArray[np.intp]]:
        """For every key of GROUP BY the code, or the number of the label, in every group shown."""
        return {key: self.joined(partial(_number_of, key)).astype(np.intp) for key in self.query.groups}

    def labels(self, key: Key, rows: NDArray[np.intp]) -> pl.Series:
        """What a key of GROUP BY is in these groups."""
        codes = self.numbers[key][rows]
        if key in self.labelled:
            return self.labelled[key].labels.gather(pl.Series(codes, dtype=pl.UInt32))
        assert isinstance(key, str)
        attribute = self.attributes[key]
        if key in self.groups:
            attribute, codes = self.groups[key].attribute, np.array(self.groups[key].places)[codes]
        return decode_attributes([attribute], {key: codes.astype(np.uint32)})[key]

    def sort_keys(self, key: Key) -> NDArray[np.float64]:
        """By what the groups of a key are sorted; NaN is NULL."""
        if key in self.labelled:
            return self.labelled[key].sort_keys
        assert isinstance(key, str)
        if key not in self.groups:
            return _sort_keys(self.attributes[key])
        places = np.array(self.groups[key].places)
        return np.where(places < 0, np.nan, _sort_keys(self.groups[key].attribute)[np.maximum(places, 0)])

    def value(self, expression: Expression) -> Counts:
        """An expression in every group shown; NaN is NULL."""
        return self.joined(lambda part: part.value(expression))

    @cached_property
    def functions(self) -> dict[tuple[str, Aggregate], Counts]:
        """The weights of every linear function, by what it is, over all groups."""
        found: dict[tuple[str, Aggregate], Counts] = {}
        for expression in self.query.expressions():
            for aggregate in aggregates(expression):
                numbers = self._numbers(aggregate)
                cells = self.where & self.cells(aggregate.where)
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
                    numbers = np.where(self.cells(condition), np.nan if value is None else value, numbers)
                return numbers
            case name:
                attribute = self.attributes[name]
                of_codes = np.ones(attribute.size) if aggregate.function == "count" else representative(attribute)
                if aggregate.function == "count" and attribute.missing_code is not None:
                    of_codes[attribute.missing_code] = np.nan
                if name in self.groups:  # values that were merged into the missing one
                    of_codes = np.where(self.groups[name].answered, of_codes, np.nan)
                return self.along(name, of_codes)

    def having(self, condition: Condition) -> NDArray[np.bool_]:
        """Which of the groups shown meet HAVING, by estimated numbers."""

        def of_leaf(leaf: Leaf) -> Truth:
            if isinstance(leaf, Measured):
                a, b = self.value(leaf.left), self.value(leaf.right)
                known = ~np.isnan(a) & ~np.isnan(b)
                met = _HOLDS[leaf.operator](a, b)
                return Truth(met & known, ~met & known)
            if isinstance(leaf, NotMeasured):
                null = np.isnan(self.value(leaf.expression))
                return Truth(null, ~null)
            of_codes = truth_of_codes(leaf, self.attributes[leaf.attribute])
            if leaf.attribute in self.labelled:
                of_codes = self._of_groups(leaf.attribute, of_codes)
            codes = self.numbers[leaf.attribute]
            return Truth(of_codes.true[codes], of_codes.false[codes])

        return np.broadcast_to(truth(condition, of_leaf).true, self.order.shape)

    def _of_groups(self, name: str, of_codes: Truth) -> Truth:
        """Whether a comparison holds in each merged group; one that splits a group is refused."""
        groups = self.groups[name]
        inside = np.array(groups.places) == np.arange(groups.attribute.size)[:, None]
        true, false = ((~inside | values).all(1) for values in (of_codes.true, of_codes.false))
        split = (inside & of_codes.true).any(1) & ~true
        if split.any():
            label = groups.attribute.label(int(np.argmax(split)))
            raise InputError(f"HAVING: the condition on '{name}' splits the group '{label}'. Put it in WHERE.")
        return Truth(true, false)


@dataclass(frozen=True, eq=False)
class Part:
    """The groups with one combination of labels, given by their numbers."""

    of: Evaluation
    chosen: Mapping[Key, int]

    @cached_property
    def cells(self) -> NDArray[np.bool_]:
        """The cells with these labels."""
        kept = np.ones([1] * len(self.of.table.names), bool)
        for key, number in self.chosen.items():
            kept = kept & (self.of.labelled[key].numbers == number)
        return kept

    @cached_property
    def shown(self) -> NDArray[np.intp]:
        """The groups, of attributes that are groups as they are, that can have somebody in them."""
        table, plain = self.of.table, self.of.plain
        able = self.of.where & self.cells & table.channel.possible
        if not plain:
            return np.zeros(1 if able.any() or not self.chosen else 0, np.intp)
        return np.flatnonzero(able.any(axis=tuple(range(len(plain), len(table.names)))))

    @cached_property
    def numbers(self) -> dict[Key, NDArray[np.intp]]:
        """For every key of GROUP BY the code, or the number of the label, in every group."""
        plain = self.of.plain
        shape = self.of.table.counts.shape[: len(plain)]
        codes = dict(zip(plain, np.unravel_index(self.shown, shape) if shape else ()))
        return codes | {key: np.full(len(self.shown), number) for key, number in self.chosen.items()}

    @cached_property
    def basis(self) -> Basis:
        """The linear functions in all groups."""
        weights = self.of.functions.values()
        chosen = weights if not self.chosen else (each * self.cells for each in weights)
        return Basis(self.of.table, self.of.plain, self.shown, tuple(chosen))

    def measure(self, expression: Expression) -> Derived:
        """An expression in every group; NaN is NULL."""
        match expression:
            case Number(value):
                return Derived.constant(float(value), np.zeros((len(self.shown), len(self.of.functions))))
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

    def value(self, expression: Expression) -> Counts:
        """The value of an expression in every group shown, as the answer has it; NaN is NULL."""
        return values(self.basis, self.measure(expression))

    def _linear(self, function: str, aggregate: Aggregate) -> Derived:
        return self.basis.derived(list(self.of.functions).index((function, aggregate)))


def is_merged(groups: Mapping[str, Groups], name: str) -> bool:
    """Whether some values of an attribute are shown as one."""
    return name in groups and not groups[name].apart


def _number_of(key: Key, part: Part) -> NDArray[np.intp]:
    return part.numbers[key]


def _sort_keys(attribute: Attribute) -> NDArray[np.float64]:
    """Numbers, dates and truth values by their size, bins and texts as they are declared; NaN is NULL."""
    keys = np.arange(attribute.size, dtype=float)
    if attribute.released_type != "text":
        values = [label for label in attribute.labels() if label is not None]
        keys[: len(values)] = np.argsort(np.argsort(np.array(values, object), kind="stable"))
    if attribute.missing_code is not None:
        keys[attribute.missing_code] = np.nan
    return keys
