"""Parquet, Arrow IPC (Feather) and JSON lines, by polars' own readers.

A JSON file has no dates: they are texts there, and a schema may say that they are dates. Its columns are the keys of all
lines together; a key that a line lacks is a missing value.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from ...._errors import DataError
from ...border import guarded
from ..source import BATCH, Batches, Source, collected, sliced

_FILE_MAGIC = b"ARROW1"
_SHORT = (pl.Boolean, pl.Date, pl.Enum)
_LONG = 1 << 20
"""Values of a batch of columns that are no texts: little is done to each."""


def open_parquet(path: Path) -> Source:
    """A Parquet file."""
    damaged = f"{path} is not a complete Parquet file."
    return _scanned(lambda: pl.scan_parquet(path, glob=False, hive_partitioning=False), damaged)


def open_arrow(path: Path) -> Source:
    """An Arrow IPC file, or a stream of record batches that was saved to a file."""
    damaged = f"{path} is not a complete Arrow file (Feather version 2, IPC file or stream)."
    with path.open("rb") as stream:
        is_file = stream.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    if is_file:
        return _scanned(lambda: pl.scan_ipc(path, glob=False, hive_partitioning=False), damaged)
    frame = guarded(damaged, pl.read_ipc_stream, path)
    return Source("polars", tuple(frame.columns), lambda columns: sliced(frame.height, frame.select(columns).slice))


def open_json_lines(path: Path) -> Source:
    """A file with one JSON object on each line."""
    damaged = f"{path} is not a file of JSON lines: each line must be one object, such as {{...}}, and complete."
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        import gzip

        data = guarded(f"{path} is a damaged or incomplete gzip file.", gzip.decompress, data)
    if not data.strip():
        raise DataError(f"{path} is empty.")
    frame = guarded(damaged, lambda: pl.read_ndjson(io.BytesIO(data), infer_schema_length=None))
    if any(not line.startswith(b"{") for line in (data.lstrip()[:1], data.rstrip().rpartition(b"\n")[2].lstrip()[:1])):
        raise DataError(damaged)

    def read(columns: Sequence[str]) -> Batches:
        return sliced(frame.height, frame.select(columns).slice)

    return Source("polars", tuple(frame.columns), read, untyped=True)


def _scanned(scan: Callable[[], pl.LazyFrame], damaged: str) -> Source:
    lazy = guarded(damaged, scan)
    types = guarded(damaged, lazy.collect_schema)
    total = guarded(damaged, lazy.select(pl.len()).collect).item()

    def read(columns: Sequence[str]) -> Batches:
        rows = _LONG // max(len(columns), 1)
        long = rows > BATCH and all(isinstance(types[name], _SHORT) or types[name].is_numeric() for name in columns)
        return collected(lazy.select(columns), damaged, total, rows if long else None)

    return Source("polars", tuple(types), read, expected=lambda: total)
