"""A table to codes. A new file format is a new kind of source.

place.py      where a table is;  opening.py  the one way to open it
source.py     a table that has been opened; frames of four libraries
formats/      files and databases;  several.py  a table in several files;  labels.py  value labels of SPSS and Stata
textformat.py what is said of a text file;  textopen.py  its delimiter, encoding, compression;  textfile.py  header, batches, diagnosis
structure.py  checks of the bytes of a text file: quotes, short lines
check.py      the names of the columns
convert.py    a column to its declared type
numbering.py  numbers, dates, truth values to codes;  texts.py  texts to codes;  coder.py  one attribute
columns.py    the handling of a column by its role
taking.py     batches to codes;  encode.py  the whole way, for a private table and for a released one
released.py   some columns of a file of released rows;  pieces.py  a piece at a time
roundings.py  in which ways numbers between points can have been rounded
groups.py     how many rows there are, and how many of them are equal
coded.py      columns as numbers without a schema
weights.py    a passed column as survey weights
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._doors import lazy

if TYPE_CHECKING:
    from .check import absent_columns, are_names, check_header
    from .coded import CodedTable, coded_tables
    from .columns import repeated_ids
    from .convert import conversion
    from .encode import (
        NO_ROWS,
        Encoded,
        count_people,
        encode,
        encode_released,
        encode_through,
        likely_rows,
    )
    from .formats import connected_postgres, identifier
    from .groups import count_rows, group_sizes
    from .labels import Labels, all_labelled, as_texts, labelled_texts
    from .numbering import as_number
    from .opening import DATABASE_SUFFIXES, open_source
    from .pieces import Piece, PieceEncoder, check_names
    from .place import TableFile, is_address
    from .released import ReleasedFile
    from .roundings import roundings
    from .source import Kind, Source
    from .structure import is_utf8
    from .taking import Batch
    from .textformat import PLAIN, TextFormat, is_text_file
    from .weights import column_as_weights

lazy(
    __name__,
    {
        "check": "absent_columns, are_names, check_header",
        "coded": "CodedTable, coded_tables",
        "columns": "repeated_ids",
        "convert": "conversion",
        "encode": "NO_ROWS, Encoded, count_people, encode, encode_released, encode_through, likely_rows",
        "formats": "connected_postgres, identifier",
        "groups": "count_rows, group_sizes",
        "labels": "Labels, all_labelled, as_texts, labelled_texts",
        "numbering": "as_number",
        "opening": "DATABASE_SUFFIXES, open_source",
        "pieces": "Piece, PieceEncoder, check_names",
        "place": "TableFile, is_address",
        "released": "ReleasedFile",
        "roundings": "roundings",
        "source": "Kind, Source",
        "structure": "is_utf8",
        "taking": "Batch",
        "textformat": "PLAIN, TextFormat, is_text_file",
        "weights": "column_as_weights",
    },
)

__all__ = [
    "DATABASE_SUFFIXES",
    "NO_ROWS",
    "PLAIN",
    "Batch",
    "CodedTable",
    "Encoded",
    "Kind",
    "Labels",
    "Piece",
    "PieceEncoder",
    "ReleasedFile",
    "Source",
    "TableFile",
    "TextFormat",
    "absent_columns",
    "all_labelled",
    "are_names",
    "as_number",
    "as_texts",
    "check_header",
    "check_names",
    "coded_tables",
    "column_as_weights",
    "connected_postgres",
    "conversion",
    "count_people",
    "count_rows",
    "encode",
    "encode_released",
    "encode_through",
    "group_sizes",
    "identifier",
    "is_address",
    "is_text_file",
    "is_utf8",
    "labelled_texts",
    "likely_rows",
    "open_source",
    "repeated_ids",
    "roundings",
]
