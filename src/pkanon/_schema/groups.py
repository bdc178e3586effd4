"""Values of an attribute put together after the fact: which of them a table shows as one.

An analyst names groups by their values, or cuts numbers and dates at edges:

    {"school": ["9th", "10th"], "degree": ["BA", "MA"]}      values that are not named stay as they are
    {"degree": ["BA", "MA"], "less": "*"}                    "*" takes every value that is not named
    [0, 15, 65]                                              bins, ranges, numbers and dates, cut at these edges

A group stands where the first of its values stood; the group of everything else comes last. ``other`` and missing answers stay
apart unless they are named; ``*`` takes ``other`` too, and never missing answers. The values of a group called "(missing)"
become missing answers. Edges are those of bins, so no bin is split.

Nothing is said about people here: groups are of declared values, and declared values are public.
"""

from __future__ import annotations

import bisect
import datetime as dt
import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from .._errors import InputError, SchemaError, did_you_mean
from .attribute import MISSING_LABEL, Attribute, regrouped
from .domain import Bins, Edge, Listed, OpenEnd, Range, Value, check_value, value_to_text

Rule: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""How the values of one attribute are merged: named groups, or edges."""
Merge: TypeAlias = Mapping[str, Rule]
"""Attributes with their rules."""
MissingAnswers: TypeAlias = Literal["category", "exclude"]

REST = "*"
"""Stands for every value that is not named."""
MOST_NAMED = 12
"""Edges that a message lists."""


class Groups(NamedTuple):
    """The values of an attribute as a table shows them.

    ``attribute``: the attribute with the groups as its values. ``places``: the code that each value of the original has in it;
    -1 for values that are left out. ``merged``: the label of every group that was asked for, with its values.
    """

    attribute: Attribute
    places: tuple[int, ...]
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def apart(self) -> bool:
        """Whether every value that is shown is shown by itself."""
        kept = [place for place in self.places if place >= 0]
        return len(set(kept)) == len(kept)

    @property
    def complete(self) -> bool:
        """Whether no value is left out."""
        return min(self.places) >= 0

    @property
    def answered(self) -> tuple[bool, ...]:
        """Whether each value of the original is an answer."""
        return tuple(place >= 0 and place != self.attribute.missing_code for place in self.places)


def check_merge(merge: Merge | None, names: Iterable[str]) -> Merge:
    """A merge whose attributes are all among ``names``; {} for None."""
    if merge is None:
        return {}
    if not isinstance(merge, Mapping):
        raise InputError('A merge says which values become one: {"education": {"school": ["9th", "10th"]}}.')
    known = list(names)
    for name in merge:
        if name not in known:
            raise InputError(
                f"merge: the release has no randomised attribute '{name}'. {did_you_mean(str(name), known)}"
            )
    return merge


def check_missing(missing: str) -> MissingAnswers:
    """What is done with missing answers; a word that means nothing is refused."""
    if missing not in ("category", "exclude"):
        raise InputError(f"Missing answers are a 'category', or 'exclude' leaves them out; not '{missing}'.")
    return cast(MissingAnswers, missing)


def groups_of(attribute: Attribute, rule: Rule | None, missing: MissingAnswers) -> Groups | None:
    """The groups of an attribute's values by a ``rule``, with or without missing answers; None if nothing changes."""
    excluded = missing == "exclude" and attribute.missing_code is not None
    if rule is None:
        if not excluded:
            return None
        places = [*range(attribute.size - 1), -1]
        return _checked(Groups(regrouped(attribute, missing="reject"), tuple(places)), attribute)
    if isinstance(rule, Mapping):
        found = _named(attribute, rule, missing == "exclude")
    elif isinstance(rule, Sequence) and not isinstance(rule, str):
        found = _cut(attribute, rule, excluded)
    else:
        raise InputError(
            f"merge: '{attribute.name}' takes groups with their values, or a list of edges, not {type(rule).__name__}."
        )
    return _checked(found, attribute)


def _checked(groups: Groups, attribute: Attribute) -> Groups:
    if max(groups.places) < 0:
        raise InputError(f"No value of '{attribute.name}' is left without missing answers.")
    return groups


def _named(attribute: Attribute, rule: Mapping[str, Any], excluded: bool) -> Groups:
    """Groups by the names of their values."""
    where = f"merge of '{attribute.name}'"
    codes = _Codes(attribute, where)
    label_of, rest = _labels(codes, rule)
    missing = {attribute.missing_code} if attribute.missing_code is not None else set()
    if missing & set(label_of) and excluded:
        raise InputError(
            f"{where}: missing answers cannot be in the group '{label_of[missing.pop()]}' and be left out; do one of the two."
        )
    missing -= set(label_of)
    if MISSING_LABEL not in codes.texts[: len(codes.texts) - len(missing)]:  # else it is a value like others
        missing |= {code for code, label in label_of.items() if label == MISSING_LABEL}
    shown_as: dict[int, str] = {}
    for code in range(attribute.size):
        if code not in missing:
            shown_as[code] = label_of.get(code) or rest or codes.texts[code]
            if code not in label_of and rest is None and shown_as[code] in rule:
                raise InputError(
                    f"{where}: {shown_as[code]!r} is also a value, which is not in the group of that name; add it to the group, "
                    "or give the group another name."
                )
    order = dict.fromkeys(shown_as.values())
    if rest in order:  # last
        del order[rest]
        order[rest] = None
    place = {label: number for number, label in enumerate(order)}
    absent = -1 if excluded else len(order)
    places = tuple(place[shown_as[code]] if code in shown_as else absent for code in range(attribute.size))
    kept: dict[str, Any] = {"domain": Listed(tuple(order)), "type": "text"}
    if set(label_of) <= missing and rest is None and not isinstance(attribute.domain, Bins):
        # values only became missing answers: all others are what they were
        kept = {"domain": Listed(tuple(cast(Value, codes.labels[code]) for code in shown_as))}
    shown = regrouped(
        attribute,
        **kept,
        missing="value" if missing and not excluded else "reject",
        ordered=attribute.ordered and _rising(places),
    )
    merged: dict[str, list[str]] = {}
    for code in range(attribute.size):
        label = label_of.get(code) or (rest if code in shown_as else None)
        if label is not None:
            merged.setdefault(label, []).append(codes.texts[code])
    return Groups(shown, places, tuple((label, tuple(merged[label])) for label in rule if label in merged))


def _labels(codes: _Codes, rule: Mapping[str, Any]) -> tuple[dict[int, str], str | None]:
    """The label of every code that is named, and the label of all others if there is one."""
    label_of: dict[int, str] = {}
    rest: str | None = None
    for label, members in rule.items():
        if not isinstance(label, str) or not label:
            raise InputError(f"{codes.where}: the name of a group is a text that is not empty, not {label!r}.")
        if isinstance(members, str) and members == REST:
            if rest is not None:
                raise InputError(f"{codes.where}: '{rest}' and '{label}' cannot both take everything else.")
            rest = label
            continue
        listed = list(members) if isinstance(members, (list, tuple, set, frozenset)) else [members]
        if not listed:
            raise InputError(f"{codes.where}: the group '{label}' has no values; leave it out.")
        for code in map(codes.of, listed):
            if code in label_of:
                raise InputError(
                    f"{codes.where}: {codes.texts[code]!r} is named twice; a value belongs to one group only."
                )
            label_of[code] = label
    if not label_of and rest is None:
        raise InputError(f"{codes.where}: name at least one group with its values.")
    return label_of, rest


def _rising(places: Sequence[int]) -> bool:
    kept = [place for place in places if place >= 0]
    return all(a <= b for a, b in itertools.pairwise(kept))


class _Codes:
    """The codes of an attribute by their labels, and by the texts of these."""

    def __init__(self, attribute: Attribute, where: str) -> None:
        self.attribute, self.where = attribute, where
        self.labels = list(attribute.labels())
        self.texts = [MISSING_LABEL if label is None else value_to_text(label) for label in self.labels]
        # a value that is written like the missing one comes first
        self.by_text = {text: code for code, text in reversed(list(enumerate(self.texts)))}

    def of(self, member: Any) -> int:
        """The code of a value, given as it is released or as its text; None or "(missing)" is the missing one."""
        if hasattr(member, "item"):  # a number of numpy
            member = member.item()
        if member is None:
            if self.attribute.missing_code is None:
                raise InputError(f"{self.where}: it has no missing values, because its schema refuses them.")
            return self.attribute.missing_code
        kinds = (str, bool, int, float, dt.date)
        text = value_to_text(member) if isinstance(member, kinds) else ""
        code = self.by_text.get(text)
        if code is None and self.attribute.released_type == "number" and not isinstance(member, bool):
            with suppress(ValueError, TypeError):
                code = self.by_text.get(value_to_text(float(member)))  # 1 for 1.0
        if code is None:
            known = self.texts if len(self.texts) <= 10_000 else []
            raise InputError(f"{self.where}: {member!r} is not one of its values. {did_you_mean(str(member), known)}")
        return code


def _cut(attribute: Attribute, edges: Sequence[Any], excluded: bool) -> Groups:
    """Groups of numbers or dates between edges."""
    where = f"merge of '{attribute.name}'"
    if attribute.type not in ("integer", "number", "date"):
        raise InputError(
            f"{where}: edges are for numbers and dates, and it is of type {attribute.type}; name groups with their values."
        )
    cuts = _edges(attribute, edges, where)
    match attribute.domain:
        case Bins() as bins:
            domain, places = _cut_bins(attribute, bins, cuts, where)
        case Range(low, high):
            domain, places = _cut_range(low, high, cuts, where)
        case Listed(values):
            domain, places = _cut_values(values, cuts, where)
        case _:
            raise AssertionError  # a randomised attribute has a domain
    shown = len(domain)
    if attribute.other_code is not None:
        places.append(shown)
        shown += 1
    if attribute.missing_code is not None:
        places.append(-1 if excluded else shown)
    other = None if attribute.other is None else value_to_text(attribute.other)
    taken = domain.labels() if other is not None else ()
    if other in tuple(taken):
        raise InputError(f"{where}: a group would be called {other!r}, as other values are; choose other edges.")
    kept = regrouped(
        attribute, domain=domain, other=other, missing="reject" if excluded else attribute.missing, ordered=True
    )
    texts = [MISSING_LABEL if label is None else value_to_text(label) for label in attribute.labels()]
    merged = {
        label: [text for text, place in zip(texts, places) if place == i] for i, label in enumerate(domain.labels())
    }
    return Groups(kept, tuple(places), tuple((label, tuple(values)) for label, values in merged.items()))


def _edges(attribute: Attribute, edges: Sequence[Any], where: str) -> list[Any]:
    """Rising edges in the type of the attribute; a text is read as a number or a date."""
    cuts: list[Any] = []
    for edge in edges:
        kind = (
            "number"
            if attribute.type == "integer" and isinstance(edge, float) and not edge.is_integer()
            else attribute.type
        )
        try:
            value: Any = edge.item() if hasattr(edge, "item") else edge
            if isinstance(value, str) and kind != "date":
                value = float(value)
            if isinstance(value, float) and value.is_integer() and kind == "integer":
                value = int(value)
            cuts.append(check_value(value, kind, where))
        except (SchemaError, ValueError):
            needed = "dates such as 2024-01-31" if kind == "date" else "numbers"
            raise InputError(f"{where}: edges are {needed}; {edge!r} is none.") from None
    if not cuts:
        raise InputError(f"{where}: name at least one edge.")
    if any(not a < b for a, b in itertools.pairwise(cuts)):
        raise InputError(f"{where}: edges must increase.")
    return cuts


def _cut_bins(attribute: Attribute, bins: Bins, cuts: list[Any], where: str) -> tuple[Bins, list[int]]:
    for cut in cuts:
        if cut not in bins.edges:
            raise InputError(f"{where}: {cut} is no edge of its bins. Possible edges: {_some(bins.edges)}.")
    edges = sorted({*cuts, *(() if bins.opens_low else bins.edges[:1]), *(() if bins.opens_high else bins.edges[-1:])})
    whole = Bins(tuple(edges), bins.open)
    places = []
    for low, high in bins.limits():
        # an open end has no limit of its own: it lies below the first edge, or from the last one on
        position = bisect.bisect_right(edges, low) if low is not None else 0
        places.append(position - 1 + whole.opens_low)
        assert high is None or position == len(edges) or high <= edges[position]
    names = _bin_names(bins, whole, places)
    return Bins(whole.edges, whole.open, names if names != whole.default_names() else ()), places


def _bin_names(bins: Bins, whole: Bins, places: list[int]) -> tuple[str, ...]:
    """A bin that stays alone keeps its label; several are called by their edges."""
    names = []
    for place, name in enumerate(whole.default_names()):
        members = [bins.label(code) for code, at in enumerate(places) if at == place]
        names.append(members[0] if len(members) == 1 else name)
    if len(set(names)) == len(names):
        return tuple(names)
    return tuple(
        members[0] if len(members) == 1 else f"{members[0]} to {members[-1]}"
        for members in ([bins.label(c) for c, at in enumerate(places) if at == place] for place in range(len(whole)))
    )


def _cut_range(low: int, high: int, cuts: list[Any], where: str) -> tuple[Bins, list[int]]:
    for cut in cuts:
        if not (isinstance(cut, int) and low <= cut <= high + 1):
            raise InputError(
                f"{where}: {cut} is no edge of it. Possible edges: whole numbers from {low} to {high + 1}."
            )
    edges = sorted({low, *cuts, high + 1})
    return Bins(tuple(edges)), [bisect.bisect_right(edges, value) - 1 for value in range(low, high + 1)]


def _cut_values(values: Sequence[Any], cuts: list[Any], where: str) -> tuple[Bins, list[int]]:
    """Listed values between edges, which may lie anywhere; ends are open where values lie beyond them."""
    below, above = any(value < cuts[0] for value in values), any(value >= cuts[-1] for value in values)
    open = cast(OpenEnd, {(0, 0): "none", (1, 0): "low", (0, 1): "high", (1, 1): "both"}[below, above])
    whole = Bins(tuple(cast("list[Edge]", cuts)), open)
    places = [bisect.bisect_right(cuts, value) - 1 + below for value in values]
    for place, name in enumerate(whole.default_names()):
        if place not in places:
            raise InputError(f"{where}: no value lies in {name}; leave out one of its edges.")
    return whole, places


def _some(edges: Sequence[Edge]) -> str:
    texts = [value_to_text(edge) for edge in edges]
    return ", ".join(texts) if len(texts) <= MOST_NAMED else f"{', '.join(texts[: MOST_NAMED - 1])}, ..., {texts[-1]}"
