"""From terms to columns: which numbers each value of an attribute stands for, and which categories get a column.

A numeric attribute is one column; a bin stands for its middle. Everything else is categories: one column for each label but the
reference, or for all labels where the columns before do not span them already (the rule of patsy and formulaic).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._errors import DataError, InputError, did_you_mean
from ..._estimate import Number, is_numeric, regression, representative
from ..._schema import MISSING_LABEL, Attribute, Bins, Points, Schema
from .expressions import Numbers, Values, code_for
from .formula import Factor, Formula, Term

INTERCEPT = "Intercept"
MOST_COLUMNS = 200
"""Coefficients; a table of them is for people to read."""
Given = Mapping[str, Mapping[Any, Number]]


@dataclass(frozen=True, eq=False)
class Coded:
    """A factor and the attribute that it takes its numbers from; ``missing``: as a category, or left out."""

    factor: Factor
    attribute: Attribute
    given: Mapping[Any, Number] | None
    missing: str

    @property
    def categories(self) -> bool:
        """Whether labels get columns; else its numbers are one."""
        if self.factor.expression is not None:
            return False
        numeric = self.given is not None or (is_numeric(self.attribute) and self.attribute.type != "boolean")
        return self.factor.categories or not numeric

    @property
    def numeric(self) -> bool:
        """Whether its values stand for numbers."""
        return self.given is not None or is_numeric(self.attribute)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """The codes whose people count."""
        known = np.ones(self.attribute.size, bool)
        if self.attribute.missing_code is not None and self.missing == "exclude":
            known[self.attribute.missing_code] = False
        return known

    @cached_property
    def represented(self) -> Numbers:
        """The number of each code; NaN where it has none."""
        return representative(self.attribute, self.given) if self.numeric else np.full(self.attribute.size, np.nan)

    @cached_property
    def numbers(self) -> Numbers:
        """The number of each code in the column."""
        codes = np.arange(self.attribute.size)
        return self.calculated(Values(self.attribute, codes, self.represented, self.known))

    def calculated(self, values: Values) -> Numbers:
        """The numbers of some values in the column."""
        found = values.numbers if self.factor.expression is None else self.factor.expression(values)
        if not np.isfinite(found).any():
            self._refuse_words()
        return found

    def _refuse_words(self) -> None:
        name = self.factor.attribute
        if not self.numeric:
            raise InputError(
                f"'{name}' is of type {self.attribute.type}; to calculate with it, say which number stands for each value "
                "(values = {...}, in Python), or compare it with a label."
            )
        raise InputError(f"{self.factor.text} has no number for any value of '{name}'.")

    @cached_property
    def levels(self) -> list[int]:
        """The codes of the categories, the reference first."""
        if self.attribute.size > MOST_COLUMNS + 1:
            raise InputError(
                f"'{self.factor.attribute}' has {self.attribute.size:,} values, too many for a coefficient each; {MOST_COLUMNS} are "
                "the most."
            )
        codes = [int(code) for code in np.flatnonzero(self.known)]
        if self.factor.reference is None:
            return codes
        first = code_for(self.attribute, self.factor.reference)
        return [first, *(code for code in codes if code != first)]

    def label(self, code: int) -> str:
        """A category in the name of a column."""
        label = self.attribute.label(code)
        return MISSING_LABEL if label is None else str(label)

    def at(self, value: Any) -> Values:
        """One value that somebody asks about: a label, or a number that need not be one (its code is then -1)."""
        counts = self.numeric and isinstance(value, (int, float))
        code = self._bin(value) if counts else code_for(self.attribute, value)
        number = float(value) if counts else float(self.represented[code])
        return Values(self.attribute, np.array([code]), np.array([number]), self.known[[code]] | counts)

    def _bin(self, number: float) -> int:
        """The code of a number; -1 if it is not a value."""
        try:
            if isinstance(self.attribute.domain, (Bins, Points)):
                return self.attribute.code(number)
            return code_for(self.attribute, number)
        except (DataError, InputError):
            return -1


@dataclass(frozen=True)
class Piece:
    """A factor of a column: its numbers, or whether somebody has one category; ``compared``: with the reference."""

    coded: Coded
    code: int | None = None
    compared: bool = False

    @property
    def name(self) -> str:
        """As statsmodels has it: age, sex[T.M] if compared with a reference, sex[M] if not."""
        text = self.coded.factor.text
        if self.code is None:
            return text
        return f"{text}[{'T.' * self.compared}{self.coded.label(self.code)}]"

    @property
    def numbers(self) -> Numbers:
        """By code."""
        if self.code is None:
            return self.coded.numbers
        return np.asarray(np.arange(self.coded.attribute.size) == self.code, float)

    def at(self, value: Any) -> float:
        """Its number for one value."""
        values = self.coded.at(value)
        if self.code is None:
            return float(self.coded.calculated(values)[0])
        if values.codes[0] < 0:
            raise InputError(f"{value!r} is not among the values of '{self.coded.attribute.name}'.")
        return float(values.codes[0] == self.code)


@dataclass(frozen=True, eq=False)
class Coding:
    """The columns of a formula: for each its pieces; for each term the places of its columns."""

    formula: Formula
    response: Coded
    columns: tuple[tuple[Piece, ...], ...]
    terms: Mapping[str, tuple[int, ...]]
    constant: bool

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(":".join(piece.name for piece in column) or INTERCEPT for column in self.columns)

    def design(self) -> tuple[regression.Column, ...]:
        """The columns as products of numbers."""
        return tuple(regression.Column(name, _factors(column)) for name, column in zip(self.names, self.columns))

    @cached_property
    def predictors(self) -> list[Coded]:
        """Every factor of the predictors, once."""
        return list(dict.fromkeys(piece.coded for column in self.columns for piece in column))

    def kept(self) -> regression.Factors:
        """0 for the missing value of each attribute, if its people are left out."""
        every = (self.response, *self.predictors)
        return {coded.attribute.name: coded.known.astype(float) for coded in every if not coded.known.all()}

    def row(self, values: Mapping[str, Any]) -> Numbers:
        """The row of the design for one person; every predictor has a value."""
        needed = dict.fromkeys(coded.attribute.name for coded in self.predictors)
        for name in values:
            if name not in needed:
                raise InputError(f"The regression has no predictor '{name}'. {did_you_mean(str(name), needed)}")
        lacking = [name for name in needed if name not in values]
        if lacking:
            raise InputError(
                f"A mean is predicted for a value of every predictor; none is given for {', '.join(lacking)}."
            )
        row = np.array(
            [math.prod(piece.at(values[piece.coded.attribute.name]) for piece in column) for column in self.columns]
        )
        if not np.isfinite(row).all():
            raise InputError("A mean is predicted for values that stand for numbers; people without one were left out.")
        return row


def code(formula: Formula, schema: Schema, given: Given, missing: str) -> Coding:
    """The columns of a formula on a schema."""
    names = [attribute.name for attribute in schema.randomised]
    for name in (*given, *(factor.attribute for term in ((formula.response,), *formula.terms) for factor in term)):
        if name not in names:
            raise InputError(f"The release has no randomised attribute '{name}'. {did_you_mean(name, names)}")
    coded = {
        factor: Coded(factor, schema.attribute(factor.attribute), given.get(factor.attribute), missing)
        for term in ((formula.response,), *formula.terms)
        for factor in term
    }
    _check_response(coded[formula.response])
    columns: list[tuple[Piece, ...]] = []
    terms: dict[str, tuple[int, ...]] = {}
    constant = () in formula.terms
    for term, subterms in _subterms(formula.terms, {factor for factor in coded if coded[factor].categories}):
        start = len(columns)
        for wholly in subterms:
            numeric = all(factor in wholly for factor in term)
            constant |= bool(wholly) and numeric and all(wholly.values())
            choices = [
                _pieces(coded[factor], wholly.get(factor))
                for factor in term
                if factor in wholly or not coded[factor].categories
            ]
            if len(columns) + math.prod(map(len, choices)) > MOST_COLUMNS:
                raise InputError(
                    f"The formula has more than {MOST_COLUMNS} coefficients; leave out a term, or take a column with fewer values."
                )
            columns += itertools.product(*choices)
        terms[":".join(factor.text for factor in term) or INTERCEPT] = tuple(range(start, len(columns)))
    return Coding(formula, coded[formula.response], tuple(columns), terms, constant)


def _check_response(response: Coded) -> None:
    if not response.factor.categories and (not response.categories or response.attribute.type == "boolean"):
        return
    labels = [str(label) for label in itertools.islice(response.attribute.labels(), 1_000) if label is not None]
    name = response.attribute.name
    raise InputError(
        f"The response '{name}' has categories, not numbers; write one of them, {name} == '{labels[-1]}', "
        "or say which number stands for each: values= in Python, --values FILE."
    )


def _factors(column: Sequence[Piece]) -> regression.Factors:
    found: dict[str, Numbers] = {}
    for piece in column:
        attribute = piece.coded.attribute
        found[attribute.name] = found.get(attribute.name, np.ones(attribute.size)) * piece.numbers
    return found


def _pieces(coded: Coded, whole: bool | None) -> list[Piece]:
    """A piece for the numbers, or one for each category (``whole``), or for each but the reference."""
    if whole is None:
        return [Piece(coded)]
    return [Piece(coded, code, compared=not whole) for code in coded.levels[0 if whole else 1 :]]


def _subterms(terms: Sequence[Term], categories: set[Factor]) -> Iterator[tuple[Term, list[dict[Factor, bool]]]]:
    """Each term with its parts: the categorical factors of a part, and whether all their labels get a column.

    A term spans all products of its categorical factors, each with or without. What terms before it span is left out, and
    the rest is put together again: a part without a factor, and the same part with it, are the part with all its labels.
    """
    spanned: dict[frozenset[Factor], set[frozenset[Factor]]] = {}
    for term in terms:
        inside = [factor for factor in term if factor in categories]
        known = spanned.setdefault(frozenset(term) - set(inside), set())
        sets = [frozenset(some) for size in range(len(inside) + 1) for some in itertools.combinations(inside, size)]
        parts: list[dict[Factor, bool]] = [dict.fromkeys(some, False) for some in sets if some not in known]
        known.update(sets)
        while _absorbed(parts):
            pass
        yield term, parts


def _absorbed(parts: list[dict[Factor, bool]]) -> bool:
    """Put two parts together, if two can be."""
    for i, short in enumerate(parts):
        for long in parts[i + 1 :]:
            if len(long) == len(short) + 1 and short.items() <= long.items():
                (factor,) = long.keys() - short.keys()
                long[factor] = True
                del parts[i]
                return True
    return False
