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
import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from .._errors import DataError, SchemaError, did_you_mean
from .domain import (
    OPEN_ENDS,
    TYPES,
    Bins,
    Edge,
    Listed,
    OpenEnd,
    Points,
    Range,
    TypeName,
    Value,
    check_value,
    equal_edges,
    value_from_text,
    value_to_text,
)
from .hierarchy import Hierarchy
from .merge import Merged, merge_lists, merged, merges
from .notation import PLAIN_NOTATION, Notation, checked_notation
from .unit import LARGEST_UNIT

Role: TypeAlias = Literal["randomise", "id", "drop", "pass", "undecided"]
Repeats: TypeAlias = Literal["refuse", "one at random"]
Missing: TypeAlias = Literal["reject", "value"]
Domain: TypeAlias = Listed | Bins | Range

MISSING_LABEL = "(missing)"
"""How a missing value is written wherever a label is needed; in Python and in data frames it is None."""
MOST_POINTS = 2**12
"""So many points at most: the way between two of them is then divided into at least 2^17 parts."""
ROLES: tuple[str, ...] = ("randomise", "id", "drop", "pass", "undecided")
WITH_VALUES = ("randomise", "undecided")
"""Roles that take values; those of ``undecided`` are a proposal."""
ONE_AT_RANDOM: Literal["one at random"] = "one at random"
_NOTATION = tuple(vars(PLAIN_NOTATION))
_PYTHON_TYPES: tuple[tuple[type, TypeName], ...] = (
    (bool, "boolean"),  # before int: a bool is an int
    (int, "integer"),
    (float, "number"),
    (dt.date, "date"),
    (str, "text"),
)


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
        where = f"attribute '{name}'"
        if not isinstance(name, str) or not name:
            raise SchemaError("An attribute needs a name: a text that is not empty.")
        _one_of(role, ROLES, "role", where)
        _one_of(missing, ("reject", "value"), "missing", where)
        _one_of(repeats, ("refuse", ONE_AT_RANDOM), "repeats", where)
        if role != "id" and repeats != "refuse":
            raise SchemaError(f"{where}: repeats belongs to the role 'id', not '{role}'.")
        if type is not None:
            _one_of(type, TYPES, "type", where)
        if isinstance(values, str):
            raise SchemaError(f"{where}: values must be a list, not one text.")
        listed = None if values is None else tuple(values)
        given = None if merge is None else merge_lists(merge, where)
        if given and domain is not None:
            raise SchemaError(f"{where}: merge belongs to listed values, not to bins or a range.")
        if level is not None and hierarchy is None:
            raise SchemaError(f"{where}: level belongs to a hierarchy or a code list.")
        if hierarchy is not None:
            if listed is not None or domain is not None or given:
                raise SchemaError(
                    f"{where}: a hierarchy or a code list gives the values; leave out values, bins, range, merge."
                )
            level = 0 if level is None else level
            listed, given = _at_level(hierarchy, level, type or "text", where)
            type = type or "text"
            if ordered and not hierarchy.keeps_order(level):
                raise SchemaError(
                    f"{where}: level {level} mixes the order of the values; sort the hierarchy or leave out ordered."
                )
            ordered = ordered or (hierarchy.ordered and hierarchy.keeps_order(level))
        if given and listed is None and role in WITH_VALUES:
            kind = type or _type_of([member for members in given.values() for member in members], where)
            listed = tuple(merges(given, kind, where))
        if listed is not None and domain is not None:
            raise SchemaError(f"{where}: give values, bins or a range, not two of them.")
        if role == "randomise" and listed is None and domain is None:
            raise SchemaError(f"{where}: declare its values, bins or range, or give it the role id, drop or pass.")
        if role not in WITH_VALUES and (listed is not None or domain is not None or other is not None):
            raise SchemaError(f"{where}: values, bins, range and other belong to the role 'randomise', not '{role}'.")
        if role not in WITH_VALUES and (ordered or given):
            raise SchemaError(f"{where}: ordered and merge belong to the role 'randomise', not '{role}'.")
        if not isinstance(ordered, bool):
            raise SchemaError(f"{where}: ordered is true or false.")
        if role not in WITH_VALUES and missing != "reject":
            raise SchemaError(f"{where}: missing belongs to the role 'randomise', not '{role}'.")

        if listed is not None:
            kind = type or _type_of(listed, where)
            listed = tuple(check_value(value, kind, where) for value in listed)
            if len(set(listed)) != len(listed):
                twice = next(value for i, value in enumerate(listed) if value in listed[:i])
                raise SchemaError(f"{where}: the value {twice!r} is listed twice.")
            chosen: Domain | None = Listed(listed)
        else:
            chosen = domain
            kind = type or ("text" if domain is None else _type_of_domain(domain))
        if isinstance(chosen, Range) and kind != "integer":
            raise SchemaError(f"{where}: a range is for integers; type is '{kind}'.")
        if isinstance(chosen, Points) and other is not None:
            raise SchemaError(f"{where}: points take no other; open them at an end, or refuse what lies beyond.")
        if isinstance(chosen, Bins) and kind not in ("integer", "number", "date"):
            raise SchemaError(f"{where}: bins are for the types integer, number and date; type is '{kind}'.")

        written = checked_notation(date_format, decimal, thousands, kind, where)
        texts = tuple(missing_values)
        if not all(isinstance(text, str) for text in texts):
            raise SchemaError(f"{where}: missing_values must be a list of texts.")
        if kind == "text" and chosen is not None and any(chosen.code(text) is not None for text in texts):
            raise SchemaError(f"{where}: a text cannot be both a value and in missing_values.")

        for key, value in (
            ("name", name),
            ("type", kind),
            ("role", role),
            ("domain", chosen),
            ("missing", missing),
            ("missing_values", texts),
            ("other", None),
            ("ordered", ordered or _ordered_by_nature(chosen, kind)),
            ("merged", ()),
            ("hierarchy", hierarchy),
            ("level", level),
            *vars(written).items(),
            ("repeats", repeats),
            ("drafted", bool(drafted) and chosen is not None),
        ):
            object.__setattr__(self, key, value)
        if other is not None:
            if chosen is None:
                raise SchemaError(f"{where}: other needs values, bins or a range beside it.")
            object.__setattr__(self, "other", self._checked_other(other, where))
        if given:
            object.__setattr__(self, "merged", self._checked_merge(given, where))
        if chosen is not None and not 2 <= self.size <= LARGEST_UNIT:
            count = "one value only" if self.size < 2 else f"{self.size:,} values"
            way_out = "give it the role 'drop'" if self.size < 2 else "declare bins"
            raise SchemaError(f"{where} has {count}; 2 to 2^31 values can be randomised. Add values or {way_out}.")

    def _checked_other(self, other: Value, where: str) -> Value:
        checked = check_value(other, self.released_type, f"{where}, other")
        assert self.domain is not None  # other is refused for attributes without a domain
        taken = (
            checked in tuple(self.domain.labels())
            if isinstance(self.domain, Bins)
            else self.domain.code(checked) is not None
        )
        if taken:
            raise SchemaError(
                f"{where}: other = {other!r} is also a declared value; take it out of the values, other adds it."
            )
        return checked

    def _checked_merge(self, merge: Mapping[Any, tuple[Any, ...]], where: str) -> Merged:
        assert isinstance(self.domain, Listed)  # merge is refused for other domains
        taken: dict[Value, str] = {} if self.other is None else {self.other: "the label of other values"}
        if self.type == "text":
            taken |= dict.fromkeys(self.missing_values, "a missing value")
        return merged(merges(merge, self.type, where), self.domain.values, taken, where)

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
        where = f"attribute '{name}'"
        _one_of(open, OPEN_ENDS, "open", where)
        if (edges is None) == (start is None and stop is None and width is None):
            raise SchemaError(f"{where}: bins take either edges, or start, stop and width.")
        if edges is not None:
            kind = type or _type_of(edges, where)
            limits = tuple(cast(Edge, check_value(edge, kind, where)) for edge in edges)
        else:
            if start is None or stop is None or width is None:
                raise SchemaError(f"{where}: bins need all of start, stop and width.")
            kind = type or _type_of((start, stop), where)
            if kind == "integer" and not (isinstance(width, int) and not isinstance(width, bool)):
                raise SchemaError(f'{where}: bins of integers need a whole width; set type = "number" for others.')
            first, last = (cast(Edge, check_value(edge, kind, where)) for edge in (start, stop))
            limits = equal_edges(first, last, width, where)
        if kind not in ("integer", "number", "date"):
            raise SchemaError(f"{where}: bins are for the types integer, number and date; type is '{kind}'.")
        if len(limits) < 2 and not (limits and open == "both"):
            raise SchemaError(f"{where}: bins need at least two edges (one if both ends are open).")
        if any(not a < b for a, b in itertools.pairwise(limits)):  # type: ignore[operator]  # one type for all edges
            raise SchemaError(f"{where}: bin edges must increase.")
        bins = Bins(limits, cast(OpenEnd, open))
        if labels is not None:
            names = tuple(cast(str, check_value(label, "text", f"{where}, labels")) for label in labels)
            if len(names) != len(bins) or len(set(names)) != len(names):
                raise SchemaError(f"{where}: {len(bins)} bins need {len(bins)} different labels.")
            bins = Bins(limits, cast(OpenEnd, open), names if names != bins.default_names() else ())
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
        where = f"attribute '{name}'"
        check_value(low, "integer", where)
        check_value(high, "integer", where)
        if low > high:
            raise SchemaError(f"{where}: the range starts above its end.")
        return cls(
            name,
            type="integer",
            missing=missing,
            missing_values=missing_values,
            other=other,
            domain=Range(low, high),
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
        where = f"attribute '{name}'"
        _one_of(open, OPEN_ENDS, "open", where)
        kind = type or _type_of(points, where)
        if kind not in ("integer", "number"):
            raise SchemaError(f"{where}: points are for the types integer and number; type is '{kind}'.")
        numbers = tuple(check_value(point, kind, where) for point in points)
        if len(numbers) < 2 or any(not a < b for a, b in itertools.pairwise(numbers)):  # type: ignore[operator]  # numbers
            raise SchemaError(f"{where}: points must be two or more numbers that increase.")
        if len(numbers) > MOST_POINTS:
            raise SchemaError(
                f"{where} has {len(numbers):,} points; at most {MOST_POINTS:,} are useful. Declare fewer."
            )
        domain = Points(numbers, cast(OpenEnd, open))
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
        return self.ordered and not _ordered_by_nature(self.domain, self.type)

    @property
    def released_type(self) -> TypeName:
        """The type of the released column: text for bins, else the declared type."""
        return "text" if isinstance(self.domain, Bins) else self.type

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
                data["values"] = [value_to_text(value) for value in values]
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
        return data | {key: text for key, text in vars(self.notation).items() if text is not None}

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
        _one_of(kind, TYPES, "type", where)
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
            values = [value_from_text(text, kind, where) for text in data["values"]]
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


def _changed(attribute: Attribute, key: str, value: object) -> Attribute:
    other = copy.copy(attribute)
    object.__setattr__(other, key, value)
    return other


def _one_of(value: object, allowed: Sequence[str], key: str, where: str) -> None:
    if value not in allowed:
        raise SchemaError(f"{where}: {key} = {value!r} is unknown. {did_you_mean(str(value), allowed)}")


def _type_of(values: Sequence[Any], where: str) -> TypeName:
    found = {next((name for kind, name in _PYTHON_TYPES if isinstance(value, kind)), None) for value in values}
    if found == {"integer", "number"}:
        return "number"
    if len(found) != 1 or None in found:
        raise SchemaError(f"{where}: its values are not of one type; set type and write them all in it.")
    return cast(TypeName, found.pop())


def _at_level(
    hierarchy: Hierarchy, level: int, kind: str, where: str
) -> tuple[tuple[Value, ...], dict[Any, tuple[Any, ...]]]:
    """The values of a level and the raw values that become them, in the type of the attribute. Errors quote nothing."""
    labels = hierarchy.at(level, where)
    problem = f"{where}: some values of its hierarchy are not of type {kind}; choose another level or type."
    try:
        values = {label: value_from_text(label, kind, where) for label in labels}
        raws = {
            value: tuple(value_from_text(raw, kind, where) for raw in labels[label] if raw != label)
            for label, value in values.items()
        }
    except SchemaError:
        values, raws = {}, {}
    if not values:
        raise SchemaError(problem)
    every = [*values.values(), *itertools.chain.from_iterable(raws.values())]
    if len(set(every)) != len(every):
        raise SchemaError(f"{where}: two values of its hierarchy are one of type {kind}; choose another type.")
    return tuple(values.values()), {value: members for value, members in raws.items() if members}


def _ordered_by_nature(domain: Domain | None, kind: str) -> bool:
    """Whether the codes rise with the values whatever the schema says: bins, ranges, and dates that are listed in order."""
    if isinstance(domain, Listed) and not isinstance(domain, Points):
        dates = cast("tuple[dt.date, ...]", domain.values)
        return kind == "date" and all(a < b for a, b in itertools.pairwise(dates))
    return domain is not None


def _type_of_domain(domain: Bins | Range | Points) -> TypeName:
    if isinstance(domain, Points):
        return _type_of(domain.values, "points")
    return "integer" if isinstance(domain, Range) else _type_of(domain.edges, "bins")
