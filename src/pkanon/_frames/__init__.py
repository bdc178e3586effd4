"""The border between tables and codes: the only place where data frames and files are read and written.

border.py  errors of other libraries stop here: their messages quote values
read/      a table to codes;  write/  codes to a table
draft/     a schema proposed from a table

polars is imported with this package; pandas only to hand back a table of its kind, never to read one; packages that read or
write a format of files only for a file of that format.
"""

from .border import guarded
from .draft import Draft, DraftedColumn, draft_schema
from .read import (
    NO_ROWS,
    CodedTable,
    Encoded,
    Kind,
    TableFile,
    TextFormat,
    coded_tables,
    column_as_weights,
    count_people,
    count_rows,
    encode,
    encode_released,
    group_sizes,
    roundings,
)
from .write import (
    as_kind,
    decode,
    decode_attributes,
    export,
    export_suffix,
    wide_types,
    with_missing_label,
    write_csv,
    write_parquet,
)

__all__ = [
    "NO_ROWS",
    "CodedTable",
    "Draft",
    "DraftedColumn",
    "Encoded",
    "Kind",
    "TableFile",
    "TextFormat",
    "as_kind",
    "coded_tables",
    "column_as_weights",
    "count_people",
    "count_rows",
    "decode",
    "decode_attributes",
    "draft_schema",
    "encode",
    "encode_released",
    "export",
    "export_suffix",
    "group_sizes",
    "guarded",
    "roundings",
    "wide_types",
    "with_missing_label",
    "write_csv",
    "write_parquet",
]
