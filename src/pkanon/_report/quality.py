"""Which tables can be read, and the reconstructed single columns: sections 5 and 6. All from the release alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._errors import PkanonError
from .._plan import Reading
from .._progress import Progress
from .._results import Estimate
from .._schema import Attribute, Points, Range
from .claims import error_text
from .drawing import interval_bar, level_keys, pair_map
from .markup import Html, element, label, paragraph, table, together
from .subject import Subject, number, texts

MOST_MAPPED = 80
"""Attributes of a map that can still be looked at."""
MOST_LISTED = 20
MOST_BARS = 40
"""Values of a column that are charted one by one."""
GROUPS = 20
MOST_CHARTED = 200_000
"""Values of a column that is reconstructed for a chart at all."""


def readability(subject: Subject) -> Html:
    """Which tables of one and two columns are good, fair, poor or not readable."""
    readable = subject.readable
    pairs = [reading for reading in readable.tables if len(reading.attributes) == 2]
    rows = [[level, f"{readable.counts(1)[level]:,}", f"{readable.counts(2)[level]:,}"] for level in readable.counts()]
    at_most = "" if all(reading.exact for reading in readable.tables) else " For some tables it is an upper bound."
    parts = [
        paragraph(
            "The error of a table is what is expected when all its numbers are corrected: the differences to the "
            "truth, without their signs, added up, as a share of all rows. It follows from the plan and from the "
            f"{readable.records:,} rows, not from the data.{at_most}"
        ),
        table(["a table reads", "single columns", "two columns"], rows, numbers=[1, 2]),
    ]
    if len(subject.names) <= MOST_MAPPED:
        caption = "Each square is a table of two columns, and on the diagonal of one. "
        caption += "Numbers are errors in percent of all rows." if len(subject.names) <= 14 else ""
        drawn = element("div", pair_map(readable, subject.names), cls="scroll", tabindex="0")
        parts.append(element("figure", level_keys(), drawn, element("figcaption", caption)))
    else:
        parts.append(level_keys())
    if len(subject.names) > 14:
        best = sorted(pairs, key=lambda reading: reading.l1)
        parts += [
            element("h3", "The pairs with the least error"),
            _listing(best[:MOST_LISTED]),
            element("h3", "The pairs with the largest error"),
            _listing(best[::-1][:MOST_LISTED]),
        ]
    parts.append(
        paragraph(
            "A sum over many numbers of a table, a mean or a share is often far more precise than the table: ask for "
            "it, and read its interval."
        )
    )
    return together(*parts)


def _listing(readings: Sequence[Reading]) -> Html:
    rows = [
        [label(reading.name), f"{reading.cells:,}", error_text(reading.l1).removeprefix("error "), reading.level]
        for reading in readings
    ]
    return table(["table", "numbers", "error", "reads"], rows, numbers=[1, 2])


@dataclass(frozen=True)
class Bar:
    """One line of a chart: how many people, with an interval."""

    name: str
    value: float
    low: float
    high: float
    rest: bool = False


def charts(subject: Subject, progress: Progress) -> Html:
    """Every single column, reconstructed, with 95% intervals."""
    if subject.release.rows == 0:
        return paragraph("No rows were released, so there is nothing to reconstruct.")
    parts = [
        paragraph(
            f"These numbers were corrected for the randomisation: they estimate {_estimated(subject)}. The line across a "
            "bar is the 95% interval: of a hundred such intervals about 95 hold the true number. An estimate can be "
            "negative where hardly anybody has the value; it is right on average, and adding up works only if it stays "
            "as it is."
        )
    ]
    for place, name in enumerate(subject.names):
        progress("charting", place / len(subject.names))
        parts.append(_chart(subject, subject.plan.schema.attribute(name)))
    progress("charting", 1.0)
    return together(*parts)


def _estimated(subject: Subject) -> str:
    """What the corrected numbers are about."""
    if subject.plan.count_noise is not None:
        return (
            "how many of the released rows had each value before they were randomised, dummies included and people who were left "
            "out not, which the intervals do not account for"
        )
    if subject.plan.schema.repeating is not None:
        return "how many of the rows drawn, one of each person, have each value"
    return "how many of the people in the table have each value"


def _chart(subject: Subject, attribute: Attribute) -> Html:
    title = element("h3", label(attribute.name))
    if attribute.size > MOST_CHARTED:
        return together(
            title, paragraph(f"{attribute.size:,} values, too many for a chart. Ask for sums over many values instead.")
        )
    try:
        bars, note = _bars(subject.release.crosstab(attribute.name), attribute)
    except PkanonError as problem:
        return together(title, paragraph(str(problem)))
    reading = subject.readable.of(attribute.name)
    limits = [limit for bar in bars for limit in (bar.value, bar.low, bar.high) if math.isfinite(limit)]
    least, most = min(0.0, *limits), max(0.0, *limits)
    rows = [_line(bar, least, most, subject.release.rows) for bar in bars]
    head = [element("th", text, scope="col", **side) for text, side in _HEAD]
    body = element("table", element("thead", element("tr", *head)), element("tbody", *rows), cls="bars")
    if isinstance(attribute.domain, Points):
        note += " Numbers between two points were rounded at random to one of them, so these are not counts of equal numbers."
    caption = f"{error_text(reading.l1).capitalize()} of all rows expected: {reading.level}.{note}"
    style = {"cls": "long"} if len(bars) > 12 else {}
    return element("figure", title, body, element("figcaption", caption), **style)


_HEAD: list[tuple[str, dict[str, str]]] = [
    ("value", {}),
    ("people", {}),
    ("share", {"cls": "n"}),
    ("estimate, interval", {"cls": "n"}),
]


def _line(bar: Bar, least: float, most: float, rows: int) -> Html:
    interval = f"{number(bar.low)} to {number(bar.high)}" if math.isfinite(bar.low + bar.high) else "unknown"
    return element(
        "tr",
        element("th", label(bar.name), scope="row"),
        element("td", interval_bar(bar.value, bar.low, bar.high, least, most)),
        element("td", f"{round(100 * bar.value / rows, 1) + 0.0:.1f}%", cls="n"),
        element("td", number(bar.value), " ", element("span", f"({interval})", cls="small"), cls="n"),
        **({"cls": "rest"} if bar.rest else {}),
    )


def _bars(estimate: Estimate, attribute: Attribute) -> tuple[list[Bar], str]:
    if isinstance(attribute.domain, Range) and len(attribute.domain) > MOST_BARS:
        return list(_grouped(estimate, attribute)), f" The {attribute.size:,} values are shown in groups."
    names = texts(attribute)
    low, high = estimate.interval()
    cells = [
        Bar(name, float(value), float(a), float(b)) for name, value, a, b in zip(names, estimate.counts, low, high)
    ]
    if len(cells) <= MOST_BARS:
        return cells, ""
    order = sorted(range(len(cells)), key=lambda code: -cells[code].value)
    shown, others = sorted(order[:MOST_BARS]), order[MOST_BARS:]
    rest = estimate.count({attribute.name: [estimate.labels[0][code] for code in others]})
    bars = [cells[code] for code in shown]
    bars.append(Bar(f"all {len(others):,} other values", rest.value, *rest.interval(), rest=True))
    note = (
        f" Shown are the {MOST_BARS} largest estimates of {len(cells):,}; largest of many, they tend to be too large."
    )
    return bars, note


def _grouped(estimate: Estimate, attribute: Attribute) -> Iterator[Bar]:
    """A long range in groups of equal width, then what is outside the range."""
    domain = attribute.domain
    assert isinstance(domain, Range)
    width = _width(len(domain))
    for first in range(domain.low, domain.high + 1, width):
        last = min(first + width - 1, domain.high)
        found = estimate.count({attribute.name: list(range(first, last + 1))})
        yield Bar(f"{first} to {last}" if first < last else str(first), found.value, *found.interval())
    extras = [value for value in (attribute.other,) if value is not None]
    for value in extras:
        found = estimate.count({attribute.name: value})
        yield Bar(f"{value} (other)", found.value, *found.interval())
    if attribute.missing == "value":
        found = estimate.count({attribute.name: None})
        yield Bar("(missing)", found.value, *found.interval())


def _width(values: int) -> int:
    """1, 2 or 5 times a power of ten: the least that makes no more than GROUPS groups."""
    steps: Iterator[int] = (int(digit + "0" * zeros) for zeros in range(12) for digit in ("1", "2", "5"))
    return next(step for step in steps if step * GROUPS >= values)
