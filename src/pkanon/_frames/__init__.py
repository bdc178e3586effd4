"""The border between tables and codes: the only place where data frames and files are read and written.

border.py  errors of other libraries stop here: their messages quote values
read/      a table to codes;  write/  codes to a table
draft/     a schema proposed from a table
sorting.py whole numbers in order

polars is imported with this package; pandas only to hand back a table of its kind, never to read one; packages that read or
write a format of files only for a file of that format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .border import guarded
    from .draft import Draft, DraftedColumn, draft_schema
    from .read import (
        NO_ROWS,
        Batch,
        CodedTable,
        Encoded,
        Kind,
        Piece,
        PieceEncoder,
        ReleasedFile,
        TableFile,
        TextFormat,
        check_names,
        coded_tables,
        column_as_weights,
        count_people,
        count_rows,
        encode,
        encode_released,
        encode_through,
        group_sizes,
        likely_rows,
        repeated_ids,
        roundings,
    )
    from .sorting import sort_words
    from .write import (
        Frames,
        Mark,
        as_column,
        as_kind,
        beside,
        decode,
        decode_attributes,
        export,
        export_marked,
        export_suffix,
        is_database,
        wide_types,
        with_missing_label,
        write_csv,
        write_parquet,
        write_table,
    )

lazy(
    __name__,
    {
        "border": "guarded",
        "draft": "Draft, DraftedColumn, draft_schema",
        "read": (
            "NO_ROWS, Batch, CodedTable, Encoded, Kind, Piece, PieceEncoder, ReleasedFile, TableFile, "
            "TextFormat, check_names, coded_tables, column_as_weights, count_people, count_rows, encode, "
            "encode_released, encode_through, group_sizes, likely_rows, repeated_ids, roundings"
        ),
        "sorting": "sort_words",
        "write": (
            "Frames, Mark, as_column, as_kind, beside, decode, decode_attributes, export, export_marked, export_suffix, "
            "is_database, wide_types, with_missing_label, write_csv, write_parquet, write_table"
        ),
    },
)

__all__ = [
    "NO_ROWS",
    "Batch",
    "CodedTable",
    "Draft",
    "DraftedColumn",
    "Encoded",
    "Frames",
    "Kind",
    "Mark",
    "Piece",
    "PieceEncoder",
    "ReleasedFile",
    "TableFile",
    "TextFormat",
    "as_column",
    "as_kind",
    "beside",
    "check_names",
    "coded_tables",
    "column_as_weights",
    "count_people",
    "count_rows",
    "decode",
    "decode_attributes",
    "draft_schema",
    "encode",
    "encode_released",
    "encode_through",
    "export",
    "export_marked",
    "export_suffix",
    "group_sizes",
    "guarded",
    "is_database",
    "likely_rows",
    "repeated_ids",
    "roundings",
    "sort_words",
    "wide_types",
    "with_missing_label",
    "write_csv",
    "write_parquet",
    "write_table",
]
