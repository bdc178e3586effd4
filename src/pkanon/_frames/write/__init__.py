"""Codes to a table.

decode.py  codes to a data frame with labels and declared types
labels.py  a word for missing answers
output.py  data frames to other libraries and to files
database.py  to a table of a database;  export.py  to one file of any format;  statistics.py  SPSS and Stata;  spreadsheet.py  Excel
marks.py  rows with a mark that says what they are
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._doors import lazy

if TYPE_CHECKING:
    from .database import is_database, write_table
    from .decode import as_column, decode, decode_attributes, wide_types
    from .export import EXPORTS, export, export_suffix
    from .labels import with_missing_label
    from .marks import Mark, beside, export_marked
    from .output import Frames, as_kind, write_csv, write_parquet

lazy(
    __name__,
    {
        "database": "is_database, write_table",
        "decode": "as_column, decode, decode_attributes, wide_types",
        "export": "EXPORTS, export, export_suffix",
        "labels": "with_missing_label",
        "marks": "Mark, beside, export_marked",
        "output": "Frames, as_kind, write_csv, write_parquet",
    },
)

__all__ = [
    "EXPORTS",
    "Frames",
    "Mark",
    "as_column",
    "as_kind",
    "beside",
    "decode",
    "decode_attributes",
    "export",
    "export_marked",
    "export_suffix",
    "is_database",
    "wide_types",
    "with_missing_label",
    "write_csv",
    "write_parquet",
    "write_table",
]
