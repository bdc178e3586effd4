"""Codes to a table.

decode.py  codes to a data frame with labels and declared types
output.py  data frames to other libraries and to files
"""

from .decode import decode, decode_attributes, wide_types
from .output import as_kind, write_csv, write_parquet

__all__ = ["as_kind", "decode", "decode_attributes", "wide_types", "write_csv", "write_parquet"]
