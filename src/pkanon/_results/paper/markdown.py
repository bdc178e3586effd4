"""A table in Markdown, with pipes. It has one row of titles, so a title over all columns goes in front of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .table import texts

if TYPE_CHECKING:
    from .table import PaperTable

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$^&@])")


def escaped(text: str) -> str:
    """A text that Markdown prints as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def markdown(table: PaperTable) -> str:
    """The caption, the table, the notes as a list."""
    labels = len(table.stub)
    header = [*table.stub, *table.header]
    for place in range(labels, labels + table.spanned):
        header[place] = f"{table.span}: {header[place]}"
    sides = [":--" if place < labels else "--:" for place in range(len(header))]
    lines = [f"**{escaped(table.caption)}.**", "", _row(map_escaped(header)), _row(sides)]
    lines += [_row(map_escaped(texts(row))) for row in table.rows]
    return "\n".join([*lines, "", *(f"- {escaped(note)}" for note in table.all_notes)])


def map_escaped(cells: Sequence[str]) -> list[str]:
    """Every cell escaped."""
    return [escaped(cell) for cell in cells]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
