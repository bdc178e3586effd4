"""Which codes of an attribute stand in a relation to a constant.

Values of a listed or ranged attribute are compared as they are. A condition on bins must hold for all people
in a bin or for none: one that cuts through a bin is refused, with the nearest ones that do not.
The label for unlisted values equals itself only, and has no place in an order: there it is unknown, like
a missing value.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._estimate import code_of
from ..._schema import Attribute, Bins, Listed, Range
from .language import Constant, Operator

_HOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WRITTEN = {
    "text": "texts; write the value in quotes",
    "integer": "whole numbers; write one without quotes",
    "number": "numbers; write one without quotes",
    "boolean": "truth values; write TRUE or FALSE",
    "date": "dates; write one as 'YYYY-MM-DD'",
}


def code_equal(attribute: Attribute, value: Constant) -> int:
    """The code that holds exactly the people with this value."""
    domain = attribute.domain
    if isinstance(domain, Bins):
        if isinstance(value, str) and (value in tuple(domain.labels()) or attribute.type != "date"):
            return code_of(attribute, value)
        if value == attribute.other and attribute.other_code is not None:
            return attribute.other_code
        return _bin_of(attribute, domain, _typed(attribute, value))
    exact = _typed(attribute, value)
    if isinstance(exact, float) and attribute.type == "integer":
        raise InputError(f"{exact} is not a value of '{attribute.name}', which holds whole numbers.")
    if isinstance(domain, Range) and domain.code(exact) is None and exact != attribute.other:
        hidden = f" Other numbers are all released as {attribute.other}." if attribute.other is not None else ""
        raise InputError(
            f"{exact} is not a value of '{attribute.name}', which goes from {domain.low} to {domain.high}.{hidden}"
        )
    return code_of(attribute, exact)


def codes_ordered(attribute: Attribute, relation: Operator, value: Constant) -> NDArray[np.bool_]:
    """For each code of the domain (not of ``other``, not of missing) whether ``<``, ``<=``, ``>`` or ``>=`` holds."""
    domain = attribute.domain
    if attribute.type in ("text", "boolean"):
        way_out = "= TRUE or = FALSE" if attribute.type == "boolean" else "IN with a list of values"
        raise InputError(
            f"'{attribute.name}' is of type {attribute.type}, which has no order for {relation}. Ask with {way_out}."
        )
    if isinstance(domain, Bins) and isinstance(value, str) and attribute.type != "date":
        raise InputError(
            f"'{attribute.name}' {relation} takes a number, not a label. Ask for labels with = or IN, or compare "
            "with an edge of the bins."
        )
    exact = _typed(attribute, value)
    holds = _HOLDS[relation]
    match domain:
        case Bins():
            return _bins_ordered(attribute, domain, relation, exact)
        case Range(low, high):
            return np.asarray(holds(np.arange(low, high + 1), exact))
        case Listed(values):
            return np.array([holds(listed, exact) for listed in values], bool)
    raise AssertionError  # a randomised attribute has a domain


def _typed(attribute: Attribute, value: Constant) -> Any:
    """The constant in the attribute's type; a fraction stays one beside whole numbers."""
    kind = attribute.type
    if kind == "date" and isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            pass
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = {
        "text": isinstance(value, str),
        "integer": number,
        "number": number,
        "boolean": isinstance(value, bool),
        "date": isinstance(value, dt.date),
    }
    if not fits[kind]:
        raise InputError(f"'{attribute.name}' holds {_WRITTEN[kind]}.")
    return int(value) if kind == "integer" and isinstance(value, float) and value.is_integer() else value


def _bin_of(attribute: Attribute, bins: Bins, value: Any) -> int:
    """The code of a bin that holds this value and no other."""
    code = bins.code(value)
    if code is None:
        hidden = f" Such values are all released as '{attribute.other}'." if attribute.other is not None else ""
        raise InputError(f"{value} is outside the bins of '{attribute.name}'.{hidden}")
    low, high = bins.limits()[code]
    single = low is not None and high is not None and attribute.type != "number" and _after(low) == high
    if not single or low != value:
        raise InputError(
            f"'{attribute.name}' is released in bins; = {value} splits the bin '{bins.label(code)}'. "
            f"Ask for {attribute.name} = '{bins.label(code)}'."
        )
    return code


def _bins_ordered(attribute: Attribute, bins: Bins, relation: Operator, value: Any) -> NDArray[np.bool_]:
    upwards = relation in (">", ">=")
    # the condition is a cut: just before ``cut``, or (numbers only) just after it
    after = relation in (">", "<=")
    cut = value
    if attribute.type == "integer":
        cut, after = (math.floor(value) + 1 if after else math.ceil(value)), False
    elif attribute.type == "date" and after:
        cut, after = _after(value), False
    above = []
    for code, (low, high) in enumerate(bins.limits()):
        if low is not None and (low > cut or (low == cut and not after)):
            above.append(True)
        elif high is not None and high <= cut:
            above.append(False)
        else:
            _refuse_cut(
                attribute, relation, value, bins.label(code), [edge for edge in (low, high) if edge is not None]
            )
    return np.asarray(np.array(above, bool) == upwards)


def _refuse_cut(attribute: Attribute, relation: str, value: Any, label: str, edges: list[Any]) -> NoReturn:
    quote = "'" if attribute.type == "date" else ""
    sign = ">=" if relation in (">", ">=") else "<"
    whole = [int(edge) if isinstance(edge, float) and edge.is_integer() else edge for edge in edges]
    ways = " or ".join(f"{attribute.name} {sign} {quote}{edge}{quote}" for edge in whole)
    raise InputError(
        f"'{attribute.name}' is released in bins; {relation} {value} splits the bin '{label}'. Ask for {ways}."
    )


def _after(value: Any) -> Any:
    """The next whole number or day."""
    return value + (dt.timedelta(days=1) if isinstance(value, dt.date) else 1)
