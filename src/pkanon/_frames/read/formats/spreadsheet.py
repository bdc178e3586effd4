"""A sheet of a spreadsheet, by fastexcel, the engine of polars. Its first line names the columns.

Cells have types, columns have not: a column of numbers and texts is read as texts. In a column of numbers or dates, a cell
with NA, an empty one and one with an error of a formula are missing. Empty rows at the end are no rows.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ...._errors import DataError, InputError, did_you_mean, missing_package
from ...border import guarded
from ..labels import with_whole_numbers
from ..source import Batches, Source, sliced


def open_sheet(path: Path, sheet: str | None) -> Source:
    """One sheet of a spreadsheet; which one must be said where there are several."""
    fastexcel = _package()
    damaged = f"{path} is not a complete spreadsheet, or it is protected by a password."
    book = guarded(damaged, fastexcel.read_excel, str(path))
    chosen = _chosen(path, guarded(damaged, lambda: list(book.sheet_names)), sheet)
    header = guarded(damaged, lambda: _frame(book, chosen, header_row=None, n_rows=1, dtypes="string"))
    if not header.height:
        raise DataError(f"The sheet '{chosen}' of {path} is empty.")
    names = tuple("" if name is None else str(name) for name in header.row(0))

    def read(columns: Sequence[str]) -> Batches:
        frame = guarded(damaged, lambda: _rows(_frame(book, chosen, header_row=0, schema_sample_rows=None), names))
        wanted = frame.select(columns)
        return sliced(frame.height, wanted.slice)

    return Source("polars", names, read, headed=path, untyped=True)


def _chosen(path: Path, sheets: list[str], sheet: str | None) -> str:
    if sheet is None:
        if len(sheets) == 1:
            return sheets[0]
        raise InputError(f"{path} has {len(sheets)} sheets; name one with sheet= (--sheet). {did_you_mean('', sheets)}")
    if sheet not in sheets:
        raise InputError(f"{path} has no sheet '{sheet}'. {did_you_mean(sheet, sheets)}")
    return sheet


def _frame(book: Any, sheet: str, **options: Any) -> pl.DataFrame:
    frame: pl.DataFrame = book.load_sheet(sheet, skip_whitespace_tail_rows=True, **options).to_polars()
    return frame


def _rows(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    frame.columns = list(names)  # as they stand there; the library renames repeated ones
    return pl.DataFrame([with_whole_numbers(frame[name]) for name in names])


def _package() -> Any:
    try:
        return importlib.import_module("fastexcel")
    except ImportError:
        pass
    raise missing_package("Reading spreadsheets needs the package fastexcel", "excel")
