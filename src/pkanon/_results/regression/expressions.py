"""Expressions of one attribute: functions from its values to numbers, NaN where a value has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._estimate import code_of
from ..._schema import MISSING_LABEL, Attribute, Bins

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Values:
    """Some values of an attribute: their codes, the numbers that they stand for (NaN: none), and which count."""

    attribute: Attribute
    codes: NDArray[np.intp]
    numbers: Numbers
    known: NDArray[np.bool_]


Expression: TypeAlias = Callable[[Values], Numbers]

_OPERATIONS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
}
_ORDER: dict[str, Callable[[Numbers, float], NDArray[np.bool_]]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def number_of(text: str) -> float:
    """A number as it is written; whole ones stay whole."""
    return int(text) if text.isdecimal() else float(text)


def constant(number: float) -> Expression:
    """The same number for all values."""
    return lambda values: np.full(len(values.codes), float(number))


def operation(sign: str, left: Expression, right: Expression) -> Expression:
    """Two expressions, joined by + - * / or **."""

    def calculate(values: Values) -> Numbers:
        with np.errstate(all="ignore"):
            return np.asarray(_OPERATIONS[sign](left(values), right(values)))

    return calculate


def negated(inside: Expression) -> Expression:
    """Less than nothing by as much."""
    return lambda values: -inside(values)


def function(name: str, inside: Expression) -> Expression:
    """log, sqrt or exp; refused where a value has no such number."""

    def calculate(values: Values) -> Numbers:
        numbers = inside(values)
        with np.errstate(all="ignore"):
            result = np.asarray({"log": np.log, "sqrt": np.sqrt, "exp": np.exp}[name](numbers))
        if (np.isfinite(numbers) & ~np.isfinite(result)).any():
            raise InputError(
                f"{name}({values.attribute.name}) has no number for some values; leave it out or shift it."
            )
        return result

    return calculate


def compared(sign: str, label: str | float) -> Expression:
    """1 where the comparison holds, else 0; NaN where the value is missing."""

    def calculate(values: Values) -> Numbers:
        if sign in ("==", "!="):
            found = (values.codes == code_for(values.attribute, label)) == (sign == "==")
        elif isinstance(label, str):
            raise InputError(f"'{values.attribute.name}' {sign} needs a number; a label is compared by == or !=.")
        else:
            _check_edge(values.attribute, sign, label)
            found = _ORDER[sign](values.numbers, label)
        return np.where(values.known, found.astype(float), np.nan)

    return calculate


def listed(labels: Sequence[str | float]) -> Expression:
    """1 for values that are listed, else 0; NaN where the value is missing."""

    def calculate(values: Values) -> Numbers:
        codes = [code_for(values.attribute, label) for label in labels]
        return np.where(values.known, np.isin(values.codes, codes).astype(float), np.nan)

    return calculate


def code_for(attribute: Attribute, label: object) -> int:
    """The code of a label as people write it in a formula: 1 and '1' are the same."""
    if label == MISSING_LABEL and attribute.missing_code is not None:
        return attribute.missing_code
    if isinstance(label, (str, int, float)) and attribute.size <= 10_000:
        written = str(label)
        for code, known in enumerate(attribute.labels()):
            if known is not None and (str(known) == written or known == label):
                return code
    return code_of(attribute, label)


def _check_edge(attribute: Attribute, sign: str, number: float) -> None:
    """Refuse a comparison that some people of a bin meet and others do not."""
    if not isinstance(attribute.domain, Bins):
        return
    edges = [float(edge) for edge in attribute.domain.edges]  # type: ignore[arg-type]  # numbers by type
    if sign not in ("<", ">=") or number not in edges:
        known = ", ".join(str(edge) for edge in attribute.domain.edges)
        raise InputError(
            f"'{attribute.name}' is known by bins only; compare by < or >= with one of their edges: {known}."
        )
