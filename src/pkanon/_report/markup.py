"""HTML in which plain text cannot become markup.

A ``str`` is text and is escaped; only ``Html`` is taken as it is, and only the functions here make it. So a label out of a
schema file is inert wherever it is used. Control characters, which HTML does not allow, become a replacement character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_VOID_ELEMENTS = ("br", "meta", "rect", "line", "path", "wbr")
SHORT = 12
"""Rows of a table that is not divided over two printed pages."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def safe(content: str) -> Html:
    """``content`` as HTML: escaped, unless it is HTML already."""
    return content if isinstance(content, Html) else Html(escape(_CONTROL.sub("\ufffd", content)))


def together(*parts: str) -> Html:
    """All parts, one after the other."""
    return Html("".join(safe(part) for part in parts))


def element(tag: str, *content: str, **attributes: str | float) -> Html:
    """An element; ``cls`` is its class, and an underscore in the name of an attribute is written as a hyphen."""
    inside = "".join(
        f' {"class" if name == "cls" else name.rstrip("_").replace("_", "-")}="{safe(_number(value))}"'
        for name, value in attributes.items()
    )
    if tag in _VOID_ELEMENTS:
        return Html(f"<{tag}{inside}/>")
    return Html(f"<{tag}{inside}>{together(*content)}</{tag}>")


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def label(value: str) -> Html:
    """A name or value out of a schema: isolated, so that its writing direction does not turn what stands beside it."""
    return element("bdi", value)


def paragraph(*content: str, cls: str = "") -> Html:
    """A paragraph."""
    return element("p", *content, **({"cls": cls} if cls else {}))


def aside(content: str) -> Html:
    """Words that a phone leaves out: they stand in a section too."""
    return element("span", content, cls="aside")


def bullets(items: Iterable[str], cls: str = "") -> Html:
    """A list; nothing where there are no items."""
    entries = [element("li", item) for item in items]
    return element("ul", *entries, **({"cls": cls} if cls else {})) if entries else Html("")


def code(text: str, language: str) -> Html:
    """Lines of code."""
    return element("pre", element("code", text.strip("\n")), cls=f"code {language}", tabindex="0")


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    numbers: Sequence[int] = (),
    cls: str = "",
) -> Html:
    """A table whose first column names the rows; the columns ``numbers`` stand to the right.

    It can be scrolled sideways where the screen is narrow. Without a word in ``header`` it has no head.
    """
    sides = ["n" if column in numbers else "" for column in range(len(header))]
    head = element("tr", *(element("th", cell, scope="col", **_class(side)) for cell, side in zip(header, sides)))
    body = [
        element(
            "tr",
            *(
                element("th", cell, scope="row") if place == 0 else element("td", cell, **_class(side))
                for place, (cell, side) in enumerate(zip(row, sides))
            ),
        )
        for row in rows
    ]
    parts = [element("caption", caption)] if caption else []
    parts += [element("thead", head)] if any(header) else []
    parts.append(element("tbody", *body))
    style = f"{cls} short" if len(body) <= SHORT else cls
    return element("div", element("table", *parts, **_class(style.strip())), cls="scroll", tabindex="0")


def _class(name: str) -> dict[str, str]:
    return {"cls": name} if name else {}


def plural(count: int, one: str, many: str = "") -> str:
    """The count with its noun: 1 table, 2 tables."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
