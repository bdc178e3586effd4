"""Conditions with three values, as SQL has them: true, false, and unknown where a value is missing.

``Truth`` holds where a condition is true and where it is false; elsewhere it is unknown. AND is true where
both are and false where one is, OR the other way round, NOT exchanges the two: unknown stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._errors import InputError
from ..._schema import Attribute, Bins
from .constants import code_equal, codes_ordered
from .language import Always, Both, Compare, Condition, Either, IsMissing, Leaf, Like, Not, OneOf


@dataclass(frozen=True)
class Truth:
    """Where a condition is true and where it is false; the arrays broadcast together."""

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]


def truth(condition: Condition, of_leaf: Callable[[Leaf], Truth]) -> Truth:
    """A whole condition from its single comparisons."""
    match condition:
        case Always(always):
            return Truth(np.array(always), np.array(not always))
        case Not(inner):
            met = truth(inner, of_leaf)
            return Truth(met.false, met.true)
        case Both(left, right):
            a, b = truth(left, of_leaf), truth(right, of_leaf)
            return Truth(a.true & b.true, a.false | b.false)
        case Either(left, right):
            a, b = truth(left, of_leaf), truth(right, of_leaf)
            return Truth(a.true | b.true, a.false & b.false)
        case _:
            return of_leaf(condition)


def truth_of_codes(leaf: Leaf, attribute: Attribute) -> Truth:
    """A comparison of one attribute, for each of its codes."""
    known = np.ones(attribute.size, bool)
    if attribute.missing_code is not None:
        known[attribute.missing_code] = False
    met = np.zeros(attribute.size, bool)
    match leaf:
        case IsMissing():
            return Truth(~known, known)
        case Compare(_, "=", value):
            met[code_equal(attribute, value)] = True
        case Compare(_, "<>", value):
            met[code_equal(attribute, value)] = True
            met = ~met
        case Compare(_, relation, value):
            ordered = codes_ordered(attribute, relation, value)
            met[: len(ordered)] = ordered
            known[len(ordered) :] = False  # unlisted values have no place in the order
        case OneOf(_, values):
            met[[code_equal(attribute, value) for value in values]] = True
        case Like():
            met = _like(leaf, attribute)
        case _:
            raise AssertionError(leaf)  # HAVING answers these itself
    return Truth(met & known, ~met & known)


def _like(leaf: Like, attribute: Attribute) -> NDArray[np.bool_]:
    if attribute.released_type != "text":
        raise InputError(f"LIKE is for texts; '{attribute.name}' is of type {attribute.type}. Ask with = or <.")
    pattern = re.compile(_pattern(leaf), re.DOTALL | (re.IGNORECASE if leaf.any_case else 0))
    return np.array([label is not None and bool(pattern.fullmatch(str(label))) for label in attribute.labels()], bool)


def _pattern(leaf: Like) -> str:
    pieces, plain = [], False
    for character in leaf.pattern:
        if not plain and leaf.escape and character == leaf.escape:
            plain = True
            continue
        special = {"%": ".*", "_": "."}.get(character) if not plain else None
        pieces.append(special or re.escape(character))
        plain = False
    if plain:
        raise InputError("The pattern of LIKE ends with its escape character.")
    return "".join(pieces)


def orders_unlisted(leaf: Leaf, attribute: Attribute) -> bool:
    """Whether a comparison leaves people with unlisted values out on both sides."""
    return isinstance(leaf, Compare) and leaf.operator not in ("=", "<>") and attribute.other is not None


def is_binned(attribute: Attribute) -> bool:
    """Whether its values are released as intervals."""
    return isinstance(attribute.domain, Bins)
