"""Codes to a table.

decode.py  codes to a data frame with labels and declared types
labels.py  a word for missing answers
output.py  data frames to other libraries and to files
export.py  to one file of any format;  statistics.py  SPSS and Stata;  spreadsheet.py  Excel
"""

from .decode import decode, decode_attributes, wide_types
from .export import EXPORTS, export, export_suffix
from .labels import with_missing_label
from .output import as_kind, write_csv, write_parquet

__all__ = [
    "EXPORTS",
    "as_kind",
    "decode",
    "decode_attributes",
    "export",
    "export_suffix",
    "wide_types",
    "with_missing_label",
    "write_csv",
    "write_parquet",
]
