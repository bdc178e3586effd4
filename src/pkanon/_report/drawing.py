"""Pictures as inline SVG: bars with intervals, shares of levels, and the map of pairs. They need no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .._plan import Readability
from .markup import Html, element, together

LETTERS = {"good": "G", "fair": "F", "poor": "P", "not readable": "–"}
_CLASSES = {"good": "good", "fair": "fair", "poor": "poor", "not readable": "unreadable"}
MOST_NUMBERS = 14
"""Attributes of a map whose cells have room for a number."""


def level_keys() -> Html:
    """The legend of levels."""
    limits = {"good": "error below 10%", "fair": "below 30%", "poor": "below 100%", "not readable": "100% or more"}
    return element(
        "p",
        *(
            element("span", element("span", cls=f"key {_CLASSES[level]}"), f"{LETTERS[level]} {level}: {text}")
            for level, text in limits.items()
        ),
        cls="keys small",
    )


def level_counts(counts: Mapping[str, int]) -> Html:
    """How many tables read how, each beside its colour."""
    return element(
        "span",
        *(
            element("span", element("span", cls=f"key {_CLASSES[level]}"), f"{count:,} {level}")
            for level, count in counts.items()
            if count
        ),
        cls="keys",
    )


def level_bar(counts: Mapping[str, int], title: str) -> Html:
    """How many tables read how, as parts of one bar."""
    total, start, parts = sum(counts.values()), 0.0, []
    for level, count in counts.items():
        width = 100 * count / total if total else 0.0
        if count:
            parts.append(element("rect", x=start, y=0, width=width, height=8, cls=_CLASSES[level]))
        start += width
    return element(
        "svg",
        element("title", title),
        *parts,
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        role="img",
        style="width:100%;height:0.8rem",
    )


def interval_bar(value: float, low: float, high: float, least: float, most: float) -> Html:
    """A bar from zero to ``value`` and a whisker from ``low`` to ``high``, on an axis from ``least`` to ``most``."""
    span = most - least or 1.0

    def place(number: float) -> float:
        return 100 * (min(max(number, least), most) - least) / span

    zero, end = place(0.0), place(value)
    parts = [element("rect", x=min(zero, end), y=2.5, width=abs(end - zero), height=7, cls="bar")]
    if math.isfinite(low) and math.isfinite(high):
        a, b = place(low), place(high)
        parts.append(element("path", d=f"M{a:.2f} 3.5V8.5M{a:.2f} 6H{b:.2f}M{b:.2f} 3.5V8.5", cls="whisker"))
    parts.append(element("line", x1=zero, x2=zero, y1=0, y2=12, cls="zero"))
    return element("svg", *parts, viewBox="0 0 100 12", preserveAspectRatio="none", aria_hidden="true")


def share_scale(shares: Sequence[float]) -> tuple[float, float]:
    """The ends of a logarithmic axis on which these shares fit: whole powers of ten, at least two of them."""
    positive = [share for share in shares if share > 0] or [1.0]
    low, high = 10.0 ** math.floor(math.log10(min(positive))), 10.0 ** math.ceil(math.log10(max(positive)))
    return (low, high) if high > low else (low / 10, high)


def share_mark(value: float, low: float, high: float, ends: tuple[float, float], line: float | None = None) -> Html:
    """A share as a mark and a whisker from ``low`` to ``high`` on a logarithmic axis, with a faint line at each power of ten.

    What is below the axis stands at its left end. ``line`` is a limit to be drawn across.
    """
    least, most = map(math.log10, ends)

    def place(share: float) -> float:
        return 1 + 98 * (min(max(math.log10(share) if share > 0 else least, least), most) - least) / (most - least)

    tens = [place(10.0**power) for power in range(round(least), round(most) + 1)]
    a, b = place(low), place(high)
    parts = [element("line", x1=x, x2=x, y1=0, y2=12, cls="ten") for x in tens]
    parts.append(element("path", d=f"M{a:.2f} 3.5V8.5M{a:.2f} 6H{b:.2f}M{b:.2f} 3.5V8.5", cls="whisker"))
    parts.append(element("rect", x=place(value) - 0.7, y=2.5, width=1.4, height=7, cls="mark-share"))
    if line is not None:
        parts.append(element("line", x1=place(line), x2=place(line), y1=0, y2=12, cls="limit"))
    return element("svg", *parts, viewBox="0 0 100 12", preserveAspectRatio="none", aria_hidden="true")


def pair_map(readable: Readability, names: Sequence[str]) -> Html:
    """How every pair reads: one square each, single attributes on the diagonal."""
    count = len(names)
    side = 34.0 if count <= MOST_NUMBERS else max(9.0, 520 / count)
    size = 11.0 if count <= MOST_NUMBERS else min(10.0, side * 0.85)
    room = 12 + size * 0.58 * min(max(map(len, names)), 18)
    parts = []
    for row, name in enumerate(names):
        y = room + row * side
        parts.append(_text(_short(name), room - 5, y + side * 0.68, size, "end"))
        x = room + row * side + side * 0.66
        parts.append(
            element(
                "text",
                _short(name),
                x=x,
                y=room - 5,
                font_size=size,
                transform=f"rotate(-90 {x:.1f} {room - 5:.1f})",
            )
        )
        for column, other in enumerate(names):
            parts.append(_square(readable, name, other, room + column * side, y, side, count <= MOST_NUMBERS))
    width = room + count * side + 4
    return element(
        "svg",
        element("title", "How every table of one and two columns reads"),
        *parts,
        viewBox=f"0 0 {width:.0f} {width:.0f}",
        role="img",
        width=f"{width:.0f}",
        style="height:auto",
    )


def _square(readable: Readability, name: str, other: str, x: float, y: float, side: float, numbers: bool) -> Html:
    table = readable.of(name, other) if name != other else readable.of(name)
    style = _CLASSES[table.level]
    drawn = element("rect", x=x + 0.5, y=y + 0.5, width=side - 1, height=side - 1, cls=style)
    if numbers:
        shown = f"{100 * table.l1:.0f}" if table.l1 < 9.995 else "–"
        if table.l1 < 0.01:
            shown = "<1"
    elif side >= 12:
        shown = LETTERS[table.level]
    else:
        return drawn
    size = 10.5 if numbers else side * 0.6
    colour = {"good": "on-good", "not readable": "faint"}.get(table.level, "")
    return together(drawn, _text(shown, x + side / 2, y + side / 2 + size * 0.36, size, "middle", colour))


def _text(text: str, x: float, y: float, size: float, anchor: str, cls: str = "") -> Html:
    return element("text", text, x=x, y=y, font_size=size, text_anchor=anchor, **({"cls": cls} if cls else {}))


def _short(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"
