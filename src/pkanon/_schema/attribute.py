"""An attribute: a name, its public and ordered values, and what happens to its column.

Codes run over the declared domain first, then the label for everything else (``other``), then the
missing value (``missing = "value"``). Nothing here looks at data, so an attribute numbers its
values the same way for a custodian, for a browser and for an analyst ten years later.

Listed values may take in raw ones (``merge``): a raw value has the code of its declared value, and only tables that
are read ever hold it.

An attribute whose values were drafted from data keeps that mark wherever it goes: a schema that holds one is
drafted. The mark is not part of what the attribute is, so it is not compared. One without values cannot have it.

The role ``undecided`` says that nobody has given a role yet. It may carry proposed values; no plan can be made with it.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from .._errors import DataError, SchemaError
from .declaring import (
    Domain,
    Missing,
    Repeats,
    Role,
    declared,
    declared_bins,
    declared_points,
    declared_range,
    one_of,
    ordered_by_nature,
    released_type,
)
from .domain import (
    TYPES,
    Bins,
    Edge,
    Listed,
    Points,
    Range,
    TypeName,
    Value,
    check_value,
    texts_of,
    value_from_text,
    value_to_text,
)
from .merge import Merged
from .notation import Notation

if TYPE_CHECKING:
    from .hierarchy import Hierarchy

MISSING_LABEL = "(missing)"
"""How a missing value is written wherever a label is needed; in Python and in data frames it is None."""
_NOTATION = Notation._fields


@dataclass(frozen=True, init=False)
class Attribute:
    """One column: its name, its type, its values and its role.

    :meth:`binned`, :meth:`ranged` and :meth:`pointed` make attributes of intervals, of integers in a range, and of numbers that
    are rounded at random.

    Parameters
    ----------
    name
        The name of the column.
    values
        Its values, in the order of their codes; at least two. Only the role ``randomise`` takes them.
    type
        ``text``, ``integer``, ``number``, ``boolean`` or ``date``; that of the values by default.
    role
        ``randomise`` (the default), ``id`` (checked to be different in every row, then dropped), ``drop``, ``pass``
        (released as it is, outside every guarantee), or ``undecided``: no plan can be made until somebody decides.
    missing
        ``reject`` (the default) refuses missing values; ``value`` makes them a value of their own, released as null.
    missing_values
        Texts that count as missing when a text file is read.
    other
        The label of everything unlisted; unlisted values are refused if not set.
    domain
        Bins, a range or points instead of ``values``.
    ordered
        Whether the values stand in an order that means something, such as none, school, degree. Bins, ranges and rising
        dates are ordered without saying so.
    merge
        Raw values that become a declared one while a table is read: ``{"school": ["9th", "10th"]}``. Without ``values``
        its keys are the values.
    hierarchy, level
        Instead of ``values``: the labels of this level (0 by default, the raw values) of a :class:`Hierarchy`. Raw values
        become their labels while a table is read.
    date_format, decimal, thousands
        How a text file writes the values, where that is not 2024-02-29 and 1234.5: ``"%d/%m/%Y"`` for dates, ``","`` for
        numbers, ``"."`` for numbers and integers.
    repeats
        What to do where an ``id`` repeats: ``refuse`` (the default), or ``one at random``, which keeps one row of each
        person, drawn at random, before anything is randomised.
    drafted
        Whether its values were read off the data and nobody has confirmed them.

    Examples
    --------
    >>> import pkanon as pk
    >>> job = pk.Attribute("job", ["farmer", "nurse"], other="other", missing="value")
    >>> list(job.labels())
    ['farmer', 'nurse', 'other', None]
    """

    name: str
    type: TypeName
    role: Role
    domain: Domain | None
    missing: Missing
    missing_values: tuple[str, ...]
    other: Value | None
    ordered: bool
    """Whether neighbouring codes are neighbouring values."""
    merged: Merged
    """Declared values with the raw values that become them, in the order of the codes."""
    hierarchy: Hierarchy | None = field(default=None, compare=False, repr=False)
    """Where the values and merges came from, so that another level can be taken."""
    level: int | None = field(default=None, compare=False, repr=False)
    date_format: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    repeats: Repeats = field(default="refuse", repr=False)
    """Whether an id that repeats is refused, or one row of each person is drawn."""
    drafted: bool = field(default=False, compare=False, repr=False)
    """Whether its values were read off the data and nobody has confirmed them."""

    def __init__(
        self,
        name: str,
        values: Iterable[Value] | None = None,
        *,
        type: str | None = None,
        role: str = "randomise",
        missing: str = "reject",
        missing_values: Iterable[str] = (),
        other: Value | None = None,
        domain: Bins | Range | Points | None = None,
        ordered: bool = False,
        merge: Mapping[Any, Iterable[Value]] | None = None,
        hierarchy: Hierarchy | None = None,
        level: int | None = None,
        date_format: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        repeats: str = "refuse",
        drafted: bool = False,
    ) -> None:
        for key, value in declared(
            name,
            values,
            type=type,
            role=role,
            missing=missing,
            missing_values=missing_values,
            other=other,
            domain=domain,
            ordered=ordered,
            merge=merge,
            hierarchy=hierarchy,
            level=level,
            notation=(date_format, decimal, thousands),
            repeats=repeats,
            drafted=drafted,
        ).items():
            object.__setattr__(self, key, value)

    @classmethod
    def binned(
        cls,
        name: str,
        *,
        start: Edge | None = None,
        stop: Edge | None = None,
        width: float | None = None,
        edges: Sequence[Edge] | None = None,
        open: str = "none",
        labels: Sequence[str] | None = None,
        type: str | None = None,
        missing: str = "reject",
        missing_values: Iterable[str] = (),
        other: str | None = None,
        date_format: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
    ) -> Attribute:
        """An attribute whose values are intervals ``[edge, next edge)``; released as their labels.

        Parameters
        ----------
        name
            The name of the column.
        start, stop, width
            The first edge, the last edge and the distance between edges.
        edges
            All edges in rising order, instead of ``start``, ``stop`` and ``width``.
        open
            Which end also takes everything beyond it: ``none`` (the default), ``low``, ``high`` or ``both``.
        labels
            One text per bin, such as "0-4" and "90+", which are also the default.
        type
            ``integer``, ``number`` or ``date``; that of the edges by default.
        missing, missing_values, other, date_format, decimal, thousands
            As in :class:`Attribute`.

        Examples
        --------
        >>> import pkanon as pk
        >>> age = pk.Attribute.binned("age", start=0, stop=90, width=30, open="high")
        >>> list(age.labels())
        ['0-29', '30-59', '60-89', '90+']
        """
        kind, bins = declared_bins(name, start, stop, width, edges, open, labels, type)
        return cls(
            name,
            type=kind,
            missing=missing,
            missing_values=missing_values,
            other=other,
            domain=bins,
            date_format=date_format,
            decimal=decimal,
            thousands=thousands,
        )

    @classmethod
    def ranged(
        cls,
        name: str,
        low: int,
        high: int,
        *,
        missing: str = "reject",
        missing_values: Iterable[str] = (),
        other: int | None = None,
        thousands: str | None = None,
    ) -> Attribute:
        """An attribute that takes every integer from ``low`` to ``high``, both included.

        Parameters
        ----------
        name
            The name of the column.
        low, high
            The smallest and the largest integer.
        missing, missing_values, other, thousands
            As in :class:`Attribute`.

        Examples
        --------
        >>> import pkanon as pk
        >>> pk.Attribute.ranged("rooms", 1, 9).size
        9
        """
        return cls(
            name,
            type="integer",
            missing=missing,
            missing_values=missing_values,
            other=other,
            domain=declared_range(name, low, high),
            thousands=thousands,
        )

    @classmethod
    def pointed(
        cls,
        name: str,
        points: Sequence[float],
        *,
        open: str = "none",
        type: str | None = None,
        missing: str = "reject",
        missing_values: Iterable[str] = (),
        decimal: str | None = None,
        thousands: str | None = None,
    ) -> Attribute:
        """An attribute of numbers, each rounded at random to one of the two ``points`` next to it.

        The nearer point is the more likely one, such that the expectation of the rounded number is the number itself. So sums
        and means have no rounding bias, however coarse the points; survey weights are best declared like this.

        Parameters
        ----------
        name
            The name of the column.
        points
            At least two numbers in rising order. What lies outside is refused, but for an open end.
        open
            Which end also takes everything beyond it, as its last point: ``none`` (the default), ``low``, ``high`` or ``both``.
        type
            ``integer`` or ``number``; that of the points by default.
        missing, missing_values, decimal, thousands
            As in :class:`Attribute`.

        Examples
        --------
        >>> import pkanon as pk
        >>> weight = pk.Attribute.pointed("weight", [100, 200, 400, 800, 1600])
        >>> list(weight.labels())
        [100, 200, 400, 800, 1600]
        """
        kind, domain = declared_points(name, points, open, type)
        return cls(
            name,
            type=kind,
            missing=missing,
            missing_values=missing_values,
            domain=domain,
            decimal=decimal,
            thousands=thousands,
        )

    @cached_property
    def size(self) -> int:
        """How many codes there are: the domain, plus ``other``, plus the missing value."""
        if self.domain is None:
            return 0
        return len(self.domain) + (self.other is not None) + (self.missing == "value")

    @property
    def notation(self) -> Notation:
        """How a text file writes the values."""
        return Notation(self.date_format, self.decimal, self.thousands)

    @property
    def levels(self) -> tuple[dict[str, tuple[str, ...]], ...] | None:
        """For each level of its hierarchy the labels with their raw values; None if it has no hierarchy."""
        return None if self.hierarchy is None else self.hierarchy.levels

    def at(self, level: int) -> Attribute:
        """The same attribute at another ``level`` of its hierarchy.

        Examples
        --------
        >>> import pkanon as pk
        >>> education = pk.Attribute("education", hierarchy=pk.code_list("isced2011"))
        >>> list(education.at(1).labels())
        ['0-2', '3-4', '5-8']
        """
        if self.hierarchy is None:
            raise SchemaError(f"attribute '{self.name}' has no hierarchy, so it has no other level.")
        _ = self.hierarchy.at(level, f"attribute '{self.name}'")
        other = Attribute(
            self.name,
            type=self.type,
            missing=self.missing,
            missing_values=self.missing_values,
            other=self.other,
            ordered=self.ordered and self.hierarchy.keeps_order(level),
            hierarchy=self.hierarchy,
            level=level,
            date_format=self.date_format,
            decimal=self.decimal,
            thousands=self.thousands,
        )
        return marked(other, drafted=self.drafted)

    @property
    def merge(self) -> dict[Value, tuple[Value, ...]]:
        """Declared values with the raw values that become them while a table is read."""
        return dict(self.merged)

    @cached_property
    def merged_codes(self) -> dict[Value, int]:
        """The code of every raw value that becomes a declared one."""
        domain = self.domain
        if not isinstance(domain, Listed):
            return {}
        return {member: cast(int, domain.code(label)) for label, members in self.merged for member in members}

    @property
    def other_code(self) -> int | None:
        """The code of everything unlisted; None where unlisted values are refused."""
        return len(self.domain) if self.domain is not None and self.other is not None else None

    @property
    def missing_code(self) -> int | None:
        """The code of a missing value; None where missing values are refused."""
        return self.size - 1 if self.domain is not None and self.missing == "value" else None

    @property
    def order_declared(self) -> bool:
        """Whether the order is a statement of the schema, and not in the nature of the values."""
        return self.ordered and not ordered_by_nature(self.domain, self.type)

    @property
    def released_type(self) -> TypeName:
        """The type of the released column: text for bins, else the declared type."""
        return released_type(self.domain, self.type)

    def code(self, value: Any) -> int:
        """The code of ``value`` (None is missing); refuses what the attribute does not allow."""
        if self.domain is None:
            raise SchemaError(f"attribute '{self.name}' has the role '{self.role}' and no codes.")
        if value is None:
            if self.missing_code is None:
                raise DataError(f"A value of '{self.name}' is missing and its schema says missing = \"reject\".")
            return self.missing_code
        try:
            checked = check_value(value, self.type, "")
            code = self.domain.code(checked)
            if code is None:
                code = self.merged_codes.get(checked)
        except SchemaError:
            code = None
        if code is None:
            code = self.other_code
        if code is None:
            raise DataError(f"A value of '{self.name}' is outside its declared values.")
        return code

    def label(self, code: int) -> Value | None:
        """What is released for ``code``; None is the missing value."""
        if self.domain is None or not 0 <= code < self.size:
            raise DataError(f"attribute '{self.name}' has no code {code}.")
        if code == self.missing_code:
            return None
        return self.other if code == self.other_code else self.domain.label(code)

    def labels(self) -> Iterator[Value | None]:
        """What is released for each code, in order; None is the missing value."""
        if self.domain is None:
            return iter(())
        parts: list[Iterable[Value | None]] = [self.domain.labels()]
        if self.other is not None:
            parts.append((self.other,))
        if self.missing == "value":
            parts.append((None,))
        return itertools.chain(*parts)

    def to_json(self) -> dict[str, Any]:
        """The attribute as plan files and digests hold it: texts and small integers only."""
        data: dict[str, Any] = {"name": self.name, "role": self.role, "type": self.type}
        match self.domain:
            case Points(points, open):
                data["points"] = [value_to_text(point) for point in points]
                data["open"] = open
            case Listed(values):
                data["values"] = texts_of(values)
            case Range(low, high):
                data["range"] = [str(low), str(high)]
            case Bins() as bins:
                data["bins"] = {
                    "edges": [value_to_text(edge) for edge in bins.edges],
                    "open": bins.open,
                    "labels": list(bins.labels()),
                }
        if self.order_declared:
            data["ordered"] = True
        if self.merged:
            data["merge"] = {value_to_text(label): [value_to_text(raw) for raw in raws] for label, raws in self.merged}
        if self.other is not None:
            data["other"] = value_to_text(self.other)
        if self.missing != "reject":
            data["missing"] = self.missing
        if self.missing_values:
            data["missing_values"] = list(self.missing_values)
        if self.repeats != "refuse":
            data["repeats"] = self.repeats
        return data | {key: text for key, text in self.notation._asdict().items() if text is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, drafted: bool = False) -> Attribute:
        """The attribute in ``data``, the inverse of :meth:`to_json`, marked or not (``drafted``); unknown keys are refused."""
        return marked(cls._from_json(data), drafted=drafted)

    @classmethod
    def _from_json(cls, data: Mapping[str, Any]) -> Attribute:
        known = {
            *("name", "role", "type", "values", "range", "bins", "points", "open", "ordered", "merge"),
            *("other", "missing", "missing_values", "repeats", *_NOTATION),
        }
        if unknown := sorted(set(data) - known):
            raise SchemaError(f"attribute '{data.get('name')}': unknown key '{unknown[0]}'.")
        name, kind = data["name"], data["type"]
        where = f"attribute '{name}'"
        one_of(kind, TYPES, "type", where)
        common: dict[str, Any] = {
            "missing": data.get("missing", "reject"),
            "missing_values": data.get("missing_values", ()),
            **{key: data[key] for key in _NOTATION if key in data},
        }
        other = data.get("other")
        if "points" in data:
            points = [cast(float, value_from_text(point, kind, where)) for point in data["points"]]
            return cls.pointed(name, points, open=data["open"], type=kind, **common)
        if "bins" in data:
            bins = data["bins"]
            edges = [cast(Edge, value_from_text(edge, kind, where)) for edge in bins["edges"]]
            return cls.binned(
                name, edges=edges, open=bins["open"], labels=bins["labels"], type=kind, other=other, **common
            )
        if other is not None:
            common["other"] = value_from_text(other, kind, where)
        if "range" in data:
            low, high = (int(text) for text in data["range"])
            return cls.ranged(name, low, high, **common)
        values = None
        if "values" in data:
            given = data["values"]
            values = list(given) if kind == "text" else [value_from_text(text, kind, where) for text in given]
        if "merge" in data:
            common["merge"] = {
                label: [value_from_text(text, kind, where) for text in texts] for label, texts in data["merge"].items()
            }
        common |= {"ordered": data.get("ordered", False), "repeats": data.get("repeats", "refuse")}
        return cls(name, values, type=kind, role=data["role"], **common)


def marked(attribute: Attribute, *, drafted: bool) -> Attribute:
    """The same attribute, ``drafted`` or confirmed. For schemas only: people confirm with :meth:`Schema.confirm`."""
    if drafted == attribute.drafted or attribute.domain is None:
        return attribute
    return _changed(attribute, "drafted", drafted)


def undecided(attribute: Attribute) -> Attribute:
    """The same attribute as a proposal: nobody has given it a role."""
    return _changed(attribute, "role", "undecided")


def regrouped(attribute: Attribute, *, missing: str, **changes: object) -> Attribute:
    """The attribute as a table shows it that merged its values or left out the missing one; it may have one value only.

    It is for labels: no schema holds it. With another ``domain``, ``other`` is gone unless it is among the changes.
    """
    shown = copy.copy(attribute)
    for key in ("size", "merged_codes"):  # computed from what changes
        vars(shown).pop(key, None)
    if "domain" in changes:
        changes = {"other": None, "merged": (), "hierarchy": None, "level": None} | changes
    for key, value in {"missing": missing, **changes}.items():
        object.__setattr__(shown, key, value)
    return shown


def _changed(attribute: Attribute, key: str, value: object) -> Attribute:
    other = copy.copy(attribute)
    object.__setattr__(other, key, value)
    return other
