"""Small pieces of HTML for notebooks, in which every text is escaped.

They have no scripts, no style sheets and no identifiers, and set no colours: they do not touch the rest of the page, and
can be read on a dark one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 60
"""Rows of a table that are shown."""
_CELL = "padding:0.15em 0.7em;white-space:nowrap;text-align:"


def paragraph(text: str, *, strong: bool = False) -> str:
    """A paragraph of plain text."""
    inner = escape(text)
    return f"<p>{f'<strong>{inner}</strong>' if strong else inner}</p>"


def bullets(items: Iterable[str]) -> str:
    """A list of plain texts; nothing where there are none."""
    entries = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{entries}</ul>" if entries else ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[bool], *, hidden: int = 0) -> str:
    """A table, cut short and saying so; ``left`` says which columns stand to the left, ``hidden`` counts rows cut before."""
    sides = ["left" if words else "right" for words in left]
    head = f"<thead>{_row('th', header, sides)}</thead>"
    body = "".join(_row("td", row, sides) for row in rows[:MOST_ROWS])
    more = hidden + len(rows[MOST_ROWS:])
    rest = paragraph(f"... and {more:,} more rows that are not shown here.") if more else ""
    return f"<table>{head}<tbody>{body}</tbody></table>{rest}"


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    inner = (f'<{tag} style="{_CELL}{side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides))
    return f"<tr>{''.join(inner)}</tr>"
