"""A table as HTML that stands alone and can be pasted into a word processor."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .table import Cell, PaperTable

_TABLE = "border-collapse:collapse;border-top:1.5pt solid;border-bottom:1.5pt solid;font-variant-numeric:tabular-nums"
_CELL = "padding:0.15em 0.7em;text-align:"
_RULE = "border-bottom:0.75pt solid;"
_NOTE = "padding:0.15em 0.7em;text-align:left;font-size:85%"


def html(table: PaperTable) -> str:
    """A piece of HTML: one table, its caption and its notes."""
    return "\n".join(_lines(table))


def html_document(piece: str, title: str) -> str:
    """A whole page around it, so that a browser reads it in the right encoding."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n</head>\n"
        f'<body style="font-family:serif">\n{piece}\n</body>\n</html>\n'
    )


def _lines(table: PaperTable) -> Iterator[str]:
    labels, columns = len(table.stub), len(table.header)
    yield f'<table style="{_TABLE}">'
    yield f'<caption style="text-align:left;padding:0.4em 0.7em">{escape(table.caption)}</caption>'
    yield "<thead>"
    if table.span is not None:
        blank = f'<td colspan="{labels}"></td>' if labels else ""
        style = f"{_RULE}{_CELL}center"
        span = f'<th colspan="{table.spanned}" scope="colgroup" style="{style}">{escape(table.span)}</th>'
        rest = columns - table.spanned
        after = f'<td colspan="{rest}"></td>' if rest else ""
        yield f"<tr>{blank}{span}{after}</tr>"
    heads = [(title, "left") for title in table.stub] + [(title, "right") for title in table.header]
    inner = "".join(f'<th scope="col" style="{_RULE}{_CELL}{side}">{escape(title)}</th>' for title, side in heads)
    yield f"<tr>{inner}</tr>"
    yield "</thead>"
    yield "<tbody>"
    for row in table.rows:
        names = "".join(
            f'<th scope="row" style="{_CELL}left;font-weight:normal">{escape(cell.text)}</th>' for cell in row[:labels]
        )
        yield f"<tr>{names}{''.join(map(_number, row[labels:]))}</tr>"
    yield "</tbody>"
    if table.all_notes:
        yield '<tfoot style="border-top:0.75pt solid">'
        for note in table.all_notes:
            yield f'<tr><td colspan="{labels + columns}" style="{_NOTE}">{escape(note)}</td></tr>'
        yield "</tfoot>"
    yield "</table>"


def _number(cell: Cell) -> str:
    text = escape(cell.text).replace("-", "−") if cell.text[:1] == "-" or " -" in cell.text else escape(cell.text)
    marks = f"<sup>{escape(cell.marks)}</sup>" if cell.marks else ""
    return f'<td style="{_CELL}right;white-space:nowrap">{text}{marks}</td>'
