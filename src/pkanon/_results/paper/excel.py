"""A table as an Excel file: one sheet as it would be printed, one with the numbers in full. No cell is a formula."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from ..._errors import missing_package
from .table import texts

if TYPE_CHECKING:
    from .table import PaperTable


def excel(table: PaperTable) -> bytes:
    """The content of the file."""
    try:
        import xlsxwriter
    except ImportError:
        raise missing_package("Tables for Excel need the package xlsxwriter", "excel") from None
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content, {"in_memory": True})
    bold = book.add_format({"bold": True})
    head = {"bold": True, "bottom": 1}
    left, right, centre = (book.add_format(head | {"align": side}) for side in ("left", "right", "center"))
    number = book.add_format({"align": "right"})
    printed = book.add_worksheet("table")
    printed.write_string(0, 0, table.caption, bold)
    labels = len(table.stub)
    line = 2
    if table.span is not None:
        if table.spanned > 1:
            printed.merge_range(line, labels, line, labels + table.spanned - 1, "", centre)
        printed.write_string(line, labels, table.span, centre)
        line += 1
    for place, title in enumerate((*table.stub, *table.header)):
        printed.write_string(line, place, title, left if place < labels else right)
    for row in table.rows:
        line += 1
        for place, text in enumerate(texts(row)):
            printed.write_string(line, place, text, None if place < labels else number)
    for note in table.all_notes:
        line += 1 if note is not table.all_notes[0] else 2
        printed.write_string(line, 0, note)
    for place, column in enumerate(zip((*table.stub, *table.header), *map(texts, table.rows))):
        printed.set_column(place, place, min(max(map(len, column)) + 2, 60))
    full = book.add_worksheet("numbers")
    for place, name in enumerate(table.numbers.columns):
        full.write_string(0, place, name, left)
        for below, value in enumerate(table.numbers[name].to_list(), start=1):
            _write(full, below, place, value)
    full.freeze_panes(1, 0)
    book.close()
    return content.getvalue()


def _write(sheet: Any, row: int, column: int, value: Any) -> None:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value)
    else:
        sheet.write_string(row, column, str(value))
