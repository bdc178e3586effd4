"""Coarser versions of an attribute, finest first: neighbours are merged at round boundaries that everybody knows.

Numbers are merged at multiples of 1, 2 or 5 times a power of ten (from 30 on also 3 times), dates at months, quarters, years,
decades. Amounts that span several sizes get edges that grow with them: 1000, 2000, 5000, 10000. Open ends stay open, and what lies
between them is never one value: "before 2024, 2024, later" says nothing about a table of 2024. A coarser
value is a set of values that were public before, chosen without data: nothing new is said about anybody, and whoever confirmed
the values has confirmed this. ``other`` and the missing value stay apart. Values without an order are never merged here: which
of them belong together is a matter of meaning.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from ..._errors import SchemaError
from ..._schema import Attribute, Bins, Edge, Listed, Range

SMALLER = 0.8
"""A coarser version has at most this share of the values of the one before; less is not worth a new boundary."""
MOST_VALUES = 60
"""Of a coarser version: with more, no pair of columns can be read at any usual size of a table."""
LEAST_AMOUNT = 1000
"""Amounts: numbers from 0 on that reach at least this; their bins may grow with them."""
LARGEST_LIST = 10_000
"""Values of a list or a range that are looked at one by one; a longer range is merged to fewer values at once."""
_RISING = ("integer", "number", "date")
"""Types whose listed values have an order of their own."""
_WEEKS = 92
"""Days: dates within this span are merged by week first."""
_MONTHS = (1, 3, 6, 12, 60, 120, 240, 600, 1200)


def coarser(attribute: Attribute) -> list[Attribute]:
    """The coarser versions, each with fewer values than the one before, down to two; none without an order."""
    versions: list[Attribute] = []
    if attribute.hierarchy is not None:
        found: Iterable[Attribute | None] = _higher(attribute)
    elif attribute.ordered and isinstance(attribute.domain, Listed) and attribute.type == "text":
        found = _grouped(attribute)
    else:
        found = (_with_edges(attribute, edges) for edges in _merged(attribute))
    for version in found:
        if version is None or version.size > MOST_VALUES:
            continue
        if version.size <= SMALLER * (versions[-1] if versions else attribute).size:
            versions.append(version)
    return versions


def is_ordered(attribute: Attribute) -> bool:
    """Whether neighbours of an attribute can be merged."""
    match attribute.domain:
        case Bins() | Range():
            return True
        case Listed():
            return attribute.ordered or attribute.hierarchy is not None or attribute.type in _RISING
    return False


def may_be_codes(attribute: Attribute) -> bool:
    """Whether its numbers may stand for something that has no order, such as 1 for single and 2 for married."""
    return attribute.type == "integer" and isinstance(attribute.domain, (Listed, Range))


def _higher(attribute: Attribute) -> Iterator[Attribute | None]:
    """The higher levels of its hierarchy, as far as they can be taken."""
    assert attribute.hierarchy is not None
    assert attribute.level is not None
    for level in range(attribute.level + 1, len(attribute.hierarchy.levels)):
        try:
            yield attribute.at(level)
        except SchemaError:  # such as a last level with one value
            continue


def _grouped(attribute: Attribute) -> Iterator[Attribute | None]:
    """Neighbours of an ordered list together, by twos, threes and so on: a to c."""
    assert isinstance(attribute.domain, Listed)
    values = [str(value) for value in attribute.domain.values]
    raws = {str(label): tuple(map(str, members)) for label, members in attribute.merged}
    for width in range(2, len(values)):
        groups = [values[start : start + width] for start in range(0, len(values), width)]
        if len(groups[-1]) * 2 <= width and len(groups) > 2:  # a rest goes with its neighbour
            groups[-2:] = [groups[-2] + groups[-1]]
        labels = [group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}" for group in groups]
        merge = {
            label: [raw for value in group for raw in ((value,) if value != label else ()) + raws.get(value, ())]
            for label, group in zip(labels, groups)
        }
        try:
            yield Attribute(
                attribute.name,
                labels,
                type=attribute.type,
                ordered=True,
                merge={label: members for label, members in merge.items() if members} or None,
                other=attribute.other,
                **_carried(attribute),
            )
        except SchemaError:  # such as a label that is a value already
            continue


def _carried(attribute: Attribute) -> dict[str, Any]:
    """What every version has in common: missing values, how values are written, and whether they were drafted."""
    return {
        "missing": attribute.missing,
        "missing_values": attribute.missing_values,
        "date_format": attribute.date_format,
        "decimal": attribute.decimal,
        "thousands": attribute.thousands,
        "drafted": attribute.drafted,
    }


def _merged(attribute: Attribute) -> list[tuple[Edge, ...]]:
    """Inner edges of coarser versions, most first."""
    domain = attribute.domain
    low: Edge | None = None
    high: Edge | None = None
    match domain:
        case Bins():
            inner: list[Any] = list(domain.edges if domain.opens_low else domain.edges[1:])
            inner = inner if domain.opens_high else inner[:-1]
            low = None if domain.opens_low else domain.edges[0]
            high = None if domain.opens_high else domain.edges[-1]
            # what lies below 0 is hardly ever anything; it goes with what lies above
            inner = inner[1:] if domain.opens_low and inner[0] == 0 and len(inner) > 1 else inner
        case Range():
            step = 10 ** max(0, math.ceil(math.log10(len(domain) / LARGEST_LIST)))
            inner = list(range((domain.low // step + 1) * step, domain.high + 1, step))
            low, high = domain.low, domain.high + 1
        case Listed(values) if attribute.type in _RISING and not attribute.merged and len(values) <= LARGEST_LIST:
            if attribute.type != "date":
                return _around(sorted(values))  # of one type, which has an order
            inner = sorted(values)[1:]
        case _:
            return []
    kept = {tuple(_without_stubs(edges, low, high)) for edges in _choices(inner, isinstance(domain, Bins))}
    if isinstance(domain, Bins):
        kept = {edges for edges in kept if any(domain.edges[0] < edge < domain.edges[-1] for edge in edges)}
    return sorted((edges for edges in kept if edges and len(edges) < len(domain) - 1), key=lambda e: (-len(e), e))


def _around(values: Sequence[Any]) -> list[tuple[Edge, ...]]:
    """All edges of coarser versions of listed numbers: round numbers around and between them, most first."""
    kept = set()
    kind = type(values[0])
    for width in _widths(values) if len(values) > 2 else ():
        cells = sorted({_multiple(value, width) for value in values})
        edges = tuple(kind(cell * width) for cell in (*cells, cells[-1] + 1))
        if len(cells) > 1 and all(Decimal(repr(edge)) % width == 0 for edge in edges):
            kept.add(edges)
    return sorted(kept, key=lambda edges: (-len(edges), edges))


def _choices(edges: Sequence[Any], binned: bool) -> Iterator[list[Any]]:
    """Ever fewer of the inner edges: those at multiples of ever larger round widths; amounts in bins at round numbers."""
    if len(edges) < 2:
        return
    if isinstance(edges[0], dt.date):
        if (edges[-1] - edges[0]).days < _WEEKS:
            yield _snapped(edges, lambda date, days: (date.toordinal() - 1) // days, 7)  # from Monday on
        for months in _MONTHS:
            yield _snapped(edges, lambda date, months: (12 * date.year + date.month - 1) // months, months)
    elif binned and edges[0] >= 0 and edges[-1] >= max(LEAST_AMOUNT, 10 * edges[0], 5 * edges[1]):
        for digits in ((1, 2, 5), (1, 5), (1,)):
            yield [edge for edge in edges if _leading(edge) in digits]
    else:
        for width in _widths(edges):
            yield _snapped(edges, _multiple, width)


def _snapped(edges: Sequence[Any], below: Callable[[Any, Any], Any], width: Any) -> list[Any]:
    """The first edge at or after each multiple of a width."""
    cells = [below(edge, width) for edge in edges]
    exact = [edges[0]] if below(edges[0], width) != below(_before(edges[0]), width) else []
    return [*exact, *(edge for edge, cell, before in zip(edges[1:], cells[1:], cells) if cell != before)]


def _without_stubs(edges: list[Any], low: Any, high: Any) -> list[Any]:
    """The edges without those that leave less than half a bin at a closed end."""
    if len(edges) > 2:
        width = edges[1] - edges[0]
        if low is not None and 2 * (edges[0] - low) <= width:
            edges = edges[1:]
    if len(edges) > 1:
        width = edges[-1] - edges[-2]
        if high is not None and 2 * (high - edges[-1]) <= width:
            edges = edges[:-1]
    return edges


def _before(edge: Any) -> Any:
    if isinstance(edge, dt.date):
        return edge - dt.timedelta(days=1) if edge > dt.date.min else edge
    return edge - 1 if isinstance(edge, int) else math.nextafter(edge, -math.inf)


def _multiple(edge: float, width: Decimal) -> int:
    return math.floor(Decimal(repr(edge)) / width)


def _widths(edges: Sequence[float]) -> Iterator[Decimal]:
    """Round widths from twice the distance of the nearest edges up to the largest edge."""
    exact = [Decimal(repr(edge)) for edge in edges]
    least = min(b - a for a, b in itertools.pairwise(exact))
    largest = max(abs(Decimal(repr(edges[0]))), abs(Decimal(repr(edges[-1]))), least)
    exponent = math.floor(least.log10())
    while Decimal(10) ** exponent <= 2 * largest:
        for width in (digit * Decimal(10) ** exponent for digit in (1, 2, 3, 5)):
            if width >= 2 * least and (width >= 30 or 3 * Decimal(10) ** exponent != width):
                yield width
        exponent += 1


def _leading(edge: float) -> int:
    """The first digit of a number that has no other digits, 0 for 0; else -1."""
    digits = "".join(str(digit) for digit in Decimal(repr(edge)).as_tuple().digits).rstrip("0")
    return int(digits or 0) if len(digits) <= 1 else -1


def _with_edges(attribute: Attribute, inner: Sequence[Edge]) -> Attribute | None:
    """The attribute with bins between the ``inner`` edges; its ends stay as they are."""
    domain = attribute.domain
    other = None if attribute.other is None else str(attribute.other)
    if isinstance(domain, Bins):
        low = () if domain.opens_low else (domain.edges[0],)
        high = () if domain.opens_high else (domain.edges[-1],)
        edges, ends = (*low, *inner, *high), domain.open
    elif isinstance(domain, Range):
        edges, ends = (domain.low, *inner, domain.high + 1), "none"
    elif isinstance(domain, Listed) and attribute.type == "date":
        values: list[Any] = sorted(domain.values)  # of one type, which has an order
        edges, ends = (values[0], *inner, values[-1] + dt.timedelta(days=1)), "none"
    elif isinstance(domain, Listed):
        edges, ends = tuple(inner), "none"
    else:
        return None
    bins = Bins(tuple(edges), ends)
    if other is not None and other in bins.labels():
        return None
    return Attribute(attribute.name, type=attribute.type, domain=bins, other=other, **_carried(attribute))
