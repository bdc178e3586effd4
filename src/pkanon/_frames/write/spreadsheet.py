"""A released table to a sheet of Excel, for people with small tables. No text is ever taken for a formula or a link."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..._errors import InputError, missing_package

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384
"""What a sheet holds below the line of names."""
DATA, ABOUT = "data", "about"
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": True,
}


def write_sheet(frame: pl.DataFrame, path: Path, about: Sequence[str]) -> None:
    """Writes a workbook of two sheets: the rows, and the sentences ``about`` them."""
    if frame.height > MOST_ROWS or frame.width > MOST_COLUMNS:
        raise InputError(
            f"A sheet of Excel holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns, and the table has more; write .csv or .parquet."
        )
    book: Any = _package().Workbook(str(path), _OPTIONS)
    date = book.add_format({"num_format": "yyyy-mm-dd"})
    sheet = book.add_worksheet(DATA)
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, frame.width - 1, 14)
    sheet.write_row(0, 0, frame.columns)
    writers = [_writer(sheet, dtype, date) for dtype in frame.dtypes]
    for row, values in enumerate(_plain(frame).iter_rows(), start=1):
        for column, value in enumerate(values):
            if value is not None:
                writers[column](row, column, value)
    remarks = book.add_worksheet(ABOUT)
    remarks.set_column(0, 0, 120)
    for row, sentence in enumerate(about):
        remarks.write_string(row, 0, sentence)
    book.close()


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    changes = [
        pl.col(name).cast(pl.String)
        for name, dtype in frame.schema.items()
        if not (dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.Date, pl.String)))
    ]
    return frame.with_columns(changes)


def _writer(sheet: Any, dtype: pl.DataType, date: Any) -> Callable[[int, int, Any], Any]:
    if isinstance(dtype, pl.Boolean):
        return sheet.write_boolean  # type: ignore[no-any-return]
    if isinstance(dtype, pl.Date):
        return lambda row, column, value: sheet.write_datetime(row, column, value, date)
    if dtype.is_numeric():
        return sheet.write_number  # type: ignore[no-any-return]
    return sheet.write_string  # type: ignore[no-any-return]


def _package() -> Any:
    try:
        return importlib.import_module("xlsxwriter")
    except ImportError:
        pass
    raise missing_package("Writing spreadsheets needs the package xlsxwriter", "excel")
