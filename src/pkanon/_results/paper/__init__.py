"""Tables for papers: finished texts in rows and columns, with a caption above and notes below.

table.py     the table: caption, header, cells with their flags, notes;  numbers.py  rounding to the digits of the error
latex.py, html.py, markdown.py, excel.py  one format each

Every format shows the flag of a number: a mark beside it, which a note explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._doors import lazy

if TYPE_CHECKING:
    from .html import html_document
    from .numbers import rounded_interval, rounded_number
    from .table import MARKS, Cell, PaperTable, check_layout, number_cell

lazy(
    __name__,
    {
        "html": "html_document",
        "numbers": "rounded_interval, rounded_number",
        "table": "MARKS, Cell, PaperTable, check_layout, number_cell",
    },
)

__all__ = [
    "MARKS",
    "Cell",
    "PaperTable",
    "check_layout",
    "html_document",
    "number_cell",
    "rounded_interval",
    "rounded_number",
]
