"""The border between tables and codes: the only place where data frames and files are read and written.

border.py     errors of other libraries stop here: their messages quote values
source.py     frames of four libraries, text files and Parquet, all read in batches
textopen.py   delimiter, encoding, compression of a text file;  textfile.py  header, batches, diagnosis
structure.py  what the bytes of a text file say: quotes, short lines
check.py      the names of the columns
convert.py    a column to its declared type
numbering.py  numbers, dates, truth values to codes;  texts.py  texts to codes;  coder.py  one attribute
columns.py    what becomes of a column by its role
encode.py     a table to codes;  decode.py  codes to a table;  output.py  tables out
groups.py     how many rows there are, and in the smallest group of equal ones
draft.py      a schema proposed from a table;  infer.py  the types of its columns;  rounding.py  round bins
results.py    results as frames, JSON and files;  weights.py  a passed column as survey weights

polars is imported with this package; pandas, pyarrow and duckdb never are.
"""

from .decode import decode, wide_types
from .draft import Draft, draft_schema
from .encode import Encoded, encode
from .groups import count_rows, smallest_group
from .output import as_kind, write_csv, write_parquet
from .results import Tabular, free_names, json_rows
from .source import Kind
from .textopen import TextFormat
from .weights import column_as_weights

__all__ = [
    "Draft",
    "Encoded",
    "Kind",
    "Tabular",
    "TextFormat",
    "as_kind",
    "column_as_weights",
    "count_rows",
    "decode",
    "draft_schema",
    "encode",
    "free_names",
    "json_rows",
    "smallest_group",
    "wide_types",
    "write_csv",
    "write_parquet",
]
