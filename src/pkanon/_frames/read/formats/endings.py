"""How the names of files end, by the family of their format; none is loaded to know them."""

from __future__ import annotations

PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".feather", ".arrow", ".ipc")
JSON_SUFFIXES = (".jsonl", ".ndjson")
STATISTICS_SUFFIXES = (".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt")
SHEET_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
