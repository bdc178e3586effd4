"""What may be declared about an attribute, and what is refused in a sentence.

An attribute is complete when it is made, so every rule about its parts is here: which belong to which role, which
exclude each other, what fits the type. Errors name the attribute and quote declared values only; nothing here looks at data.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from .._errors import SchemaError, did_you_mean
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
    check_values,
    equal_edges,
    value_from_text,
)
from .merge import Merged, merge_lists, merged, merges
from .notation import checked_notation
from .unit import LARGEST_UNIT

if TYPE_CHECKING:
    from .hierarchy import Hierarchy

Role: TypeAlias = Literal["randomise", "id", "drop", "pass", "undecided"]
Repeats: TypeAlias = Literal["refuse", "one at random"]
Missing: TypeAlias = Literal["reject", "value"]
Domain: TypeAlias = Listed | Bins | Range

MOST_POINTS = 2**12
"""So many points at most: the way between two of them is then divided into at least 2^17 parts."""
ROLES: tuple[str, ...] = ("randomise", "id", "drop", "pass", "undecided")
WITH_VALUES = ("randomise", "undecided")
"""Roles that take values; those of ``undecided`` are a proposal."""
ONE_AT_RANDOM: Literal["one at random"] = "one at random"
_PYTHON_TYPES: tuple[tuple[type, TypeName], ...] = (
    (bool, "boolean"),  # before int: a bool is an int
    (int, "integer"),
    (float, "number"),
    (dt.date, "date"),
    (str, "text"),
)


def declared(
    name: str,
    values: Iterable[Value] | None,
    *,
    type: str | None,
    role: str,
    missing: str,
    missing_values: Iterable[str],
    other: Value | None,
    domain: Bins | Range | Points | None,
    ordered: bool,
    merge: Mapping[Any, Iterable[Value]] | None,
    hierarchy: Hierarchy | None,
    level: int | None,
    notation: tuple[str | None, str | None, str | None],
    repeats: str,
    drafted: bool,
) -> dict[str, Any]:
    """The fields of an attribute that was declared like this; what cannot be is refused in a sentence."""
    where = f"attribute '{name}'"
    if not isinstance(name, str) or not name:
        raise SchemaError("An attribute needs a name: a text that is not empty.")
    one_of(role, ROLES, "role", where)
    one_of(missing, ("reject", "value"), "missing", where)
    one_of(repeats, ("refuse", ONE_AT_RANDOM), "repeats", where)
    if role != "id" and repeats != "refuse":
        raise SchemaError(f"{where}: repeats belongs to the role 'id', not '{role}'.")
    if type is not None:
        one_of(type, TYPES, "type", where)
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
        listed = check_values(listed, kind, where)
        if len(set(listed)) != len(listed):
            twice = next(value for value, count in Counter(listed).items() if count > 1)
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

    written = checked_notation(*notation, kind, where)
    texts = tuple(missing_values)
    if not all(isinstance(text, str) for text in texts):
        raise SchemaError(f"{where}: missing_values must be a list of texts.")
    if kind == "text" and chosen is not None and any(chosen.code(text) is not None for text in texts):
        raise SchemaError(f"{where}: a text cannot be both a value and in missing_values.")

    size = 0 if chosen is None else len(chosen) + (other is not None) + (missing == "value")
    if other is not None:
        if chosen is None:
            raise SchemaError(f"{where}: other needs values, bins or a range beside it.")
        other = _checked_other(other, chosen, kind, where)
    takes: Merged = ()
    if given:
        assert isinstance(chosen, Listed)  # merge is refused for other domains
        takes = _checked_merge(given, chosen, kind, other, texts, where)
    if chosen is not None and not 2 <= size <= LARGEST_UNIT:
        count = "one value only" if size < 2 else f"{size:,} values"
        way_out = "give it the role 'drop'" if size < 2 else "declare bins"
        raise SchemaError(f"{where} has {count}; 2 to 2^31 values can be randomised. Add values or {way_out}.")
    return {
        "name": name,
        "type": kind,
        "role": role,
        "domain": chosen,
        "missing": missing,
        "missing_values": texts,
        "other": other,
        "ordered": ordered or ordered_by_nature(chosen, kind),
        "merged": takes,
        "hierarchy": hierarchy,
        "level": level,
        **written._asdict(),
        "repeats": repeats,
        "drafted": bool(drafted) and chosen is not None,
    }


def _checked_other(other: Value, domain: Domain, kind: str, where: str) -> Value:
    checked = check_value(other, released_type(domain, kind), f"{where}, other")
    taken = checked in tuple(domain.labels()) if isinstance(domain, Bins) else domain.code(checked) is not None
    if taken:
        raise SchemaError(
            f"{where}: other = {other!r} is also a declared value; take it out of the values, other adds it."
        )
    return checked


def _checked_merge(
    merge: Mapping[Any, tuple[Any, ...]],
    domain: Listed,
    kind: str,
    other: Value | None,
    missing_values: tuple[str, ...],
    where: str,
) -> Merged:
    taken: dict[Value, str] = {} if other is None else {other: "the label of other values"}
    if kind == "text":
        taken |= dict.fromkeys(missing_values, "a missing value")
    return merged(merges(merge, kind, where), domain.values, taken, where)


def declared_bins(
    name: str,
    start: Edge | None,
    stop: Edge | None,
    width: float | None,
    edges: Sequence[Edge] | None,
    open: str,
    labels: Sequence[str] | None,
    type: str | None,
) -> tuple[str, Bins]:
    """The type and the bins that were declared, by their edges or by start, stop and width."""
    where = f"attribute '{name}'"
    one_of(open, OPEN_ENDS, "open", where)
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
    return kind, bins


def declared_range(name: str, low: int, high: int) -> Range:
    """Every integer from ``low`` to ``high``."""
    where = f"attribute '{name}'"
    check_value(low, "integer", where)
    check_value(high, "integer", where)
    if low > high:
        raise SchemaError(f"{where}: the range starts above its end.")
    return Range(low, high)


def declared_points(name: str, points: Sequence[float], open: str, type: str | None) -> tuple[str, Points]:
    """The type and the points that were declared."""
    where = f"attribute '{name}'"
    one_of(open, OPEN_ENDS, "open", where)
    kind = type or _type_of(points, where)
    if kind not in ("integer", "number"):
        raise SchemaError(f"{where}: points are for the types integer and number; type is '{kind}'.")
    numbers = tuple(check_value(point, kind, where) for point in points)
    if len(numbers) < 2 or any(not a < b for a, b in itertools.pairwise(numbers)):  # type: ignore[operator]  # numbers
        raise SchemaError(f"{where}: points must be two or more numbers that increase.")
    if len(numbers) > MOST_POINTS:
        raise SchemaError(f"{where} has {len(numbers):,} points; at most {MOST_POINTS:,} are useful. Declare fewer.")
    return kind, Points(numbers, cast(OpenEnd, open))


def released_type(domain: Domain | None, kind: str) -> TypeName:
    """The type of the released column: text for bins, else the declared type."""
    return "text" if isinstance(domain, Bins) else cast(TypeName, kind)


def one_of(value: object, allowed: Sequence[str], key: str, where: str) -> None:
    """Refuse a word that is not one of those allowed."""
    if value not in allowed:
        raise SchemaError(f"{where}: {key} = {value!r} is unknown. {did_you_mean(str(value), allowed)}")


def _type_of(values: Sequence[Any], where: str) -> TypeName:
    kinds = set(map(type, values))
    found = {next((name for known, name in _PYTHON_TYPES if issubclass(kind, known)), None) for kind in kinds}
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


def ordered_by_nature(domain: Domain | None, kind: str) -> bool:
    """Whether the codes rise with the values whatever the schema says: bins, ranges, and dates that are listed in order."""
    if isinstance(domain, Listed) and not isinstance(domain, Points):
        dates = cast("tuple[dt.date, ...]", domain.values)
        return kind == "date" and all(a < b for a, b in itertools.pairwise(dates))
    return domain is not None


def _type_of_domain(domain: Bins | Range | Points) -> TypeName:
    if isinstance(domain, Points):
        return _type_of(domain.values, "points")
    return "integer" if isinstance(domain, Range) else _type_of(domain.edges, "bins")
