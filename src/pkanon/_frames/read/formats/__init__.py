"""Files and databases as sources, one module for each family. Packages of extras are imported when a file needs them.

endings.py      how their names end
columnar.py     Parquet, Arrow IPC (Feather), JSON lines: polars' own readers
statistics.py   SPSS, Stata, SAS, by pyreadstat
spreadsheet.py  Excel and OpenDocument, by fastexcel, the engine of polars
zipped.py       one text file in a zip archive
query.py        what to ask a database;  sqlite.py, duck.py, postgres.py  asking it, read-only
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._doors import lazy

if TYPE_CHECKING:
    from .columnar import open_arrow, open_json_lines, open_parquet
    from .duck import open_duckdb
    from .endings import ARROW_SUFFIXES, JSON_SUFFIXES, PARQUET_SUFFIXES, SHEET_SUFFIXES, STATISTICS_SUFFIXES
    from .postgres import connected_postgres, open_postgres
    from .query import identifier
    from .spreadsheet import open_sheet
    from .sqlite import open_sqlite
    from .statistics import open_statistics
    from .zipped import unzipped

lazy(
    __name__,
    {
        "columnar": "open_arrow, open_json_lines, open_parquet",
        "duck": "open_duckdb",
        "endings": "ARROW_SUFFIXES, JSON_SUFFIXES, PARQUET_SUFFIXES, SHEET_SUFFIXES, STATISTICS_SUFFIXES",
        "postgres": "connected_postgres, open_postgres",
        "query": "identifier",
        "spreadsheet": "open_sheet",
        "sqlite": "open_sqlite",
        "statistics": "open_statistics",
        "zipped": "unzipped",
    },
)

__all__ = [
    "ARROW_SUFFIXES",
    "JSON_SUFFIXES",
    "PARQUET_SUFFIXES",
    "SHEET_SUFFIXES",
    "STATISTICS_SUFFIXES",
    "connected_postgres",
    "identifier",
    "open_arrow",
    "open_duckdb",
    "open_json_lines",
    "open_parquet",
    "open_postgres",
    "open_sheet",
    "open_sqlite",
    "open_statistics",
    "unzipped",
]
