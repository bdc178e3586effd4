"""The released table out again: as the kind of frame that came in, or to a file.

CSV: UTF-8, comma, line feeds, quotes where needed, a missing value is an empty field. Parquet: zstd;
texts and bins are dictionaries, which R reads as factors and pandas as categories. A failure here is
the disk's, not the table's.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from ..._errors import EnvironmentFailure, PkanonError
from ..border import FOREIGN, guarded
from ..read import Kind


def as_kind(frame: pl.DataFrame, kind: Kind) -> object:
    """The table as a polars or pandas DataFrame, a pyarrow Table, or a duckdb relation (default connection).

    The library is imported here: whoever passed in one of its tables has it.
    """
    if kind != "polars" and importlib.util.find_spec(kind) is None:
        raise EnvironmentFailure(f"The package {kind} is not installed here; install it, or take polars.")
    return guarded(f"The table cannot be turned into one of {kind}; save it instead.", _MAKERS[kind], frame)


def _pandas(frame: pl.DataFrame) -> Any:
    try:
        return frame.to_pandas()
    except ImportError:
        pass  # polars needs pyarrow for it
    pandas: Any = importlib.import_module("pandas")
    return pandas.DataFrame({name: _pandas_column(pandas, frame[name]) for name in frame.columns})


def _pandas_column(pandas: Any, column: pl.Series) -> Any:
    if isinstance(column.dtype, pl.Enum):
        codes = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return pandas.Categorical.from_codes(codes, categories=column.dtype.categories.to_list())
    if column.dtype.is_numeric():
        return column.to_numpy()  # nulls become NaN, as with pyarrow
    return pandas.Series(column.to_list(), dtype=None if len(column) else object)


class Frames:
    """A table that is on a disk, as data frames that follow each other; ``one`` has its columns and any row or none."""

    def __init__(self, one: pl.DataFrame, height: int, pieces: Callable[[], Iterator[pl.DataFrame]]) -> None:
        self.schema, self.height, self.pieces = one.schema, height, pieces

    def lazy(self) -> pl.LazyFrame:
        """A query that gives the rows, a piece at a time."""

        def read(
            columns: list[str] | None, predicate: Any, rows: int | None, size: int | None
        ) -> Iterator[pl.DataFrame]:
            for piece in self.pieces():
                yield piece if columns is None else piece.select(columns)

        return register_io_source(read, schema=self.schema)


def write_csv(frame: pl.DataFrame | Frames, path: str | Path, grown: Callable[[], None] = lambda: None) -> None:
    """Writes a CSV file; an existing one is replaced. ``grown`` is called whenever there is more of it, which stays as it is."""
    from .lines import Lines

    lines = Lines()
    rows = 0

    def write() -> None:
        nonlocal rows
        with open(path, "wb") as file:
            pl.DataFrame(schema=frame.schema).write_csv(file)
            for piece in frame.pieces() if isinstance(frame, Frames) else frame.iter_slices(_PIECE):
                if (joined := lines.joined(piece)) is None:
                    piece.write_csv(file, include_header=False)
                else:
                    joined.write_csv(file, include_header=False, quote_style="never")
                file.flush()
                _check_end(path, piece.tail(1).write_csv(include_header=False).encode())
                rows += piece.height
                grown()

    written(write, path)
    if rows != frame.height:
        raise EnvironmentFailure(_STOPPED.format(path=path))


def _check_end(path: str | Path, end: bytes) -> None:
    with open(path, "rb") as file:
        file.seek(max(os.path.getsize(path) - len(end), 0))
        if file.read() != end:
            raise EnvironmentFailure(_STOPPED.format(path=path))


def write_parquet(
    frame: pl.DataFrame | Frames,
    path: str | Path,
    metadata: Mapping[str, str] | Callable[[], Mapping[str, str]],
    types: Mapping[str, pl.DataType] | None = None,
) -> None:
    """Writes a Parquet file, columns cast to ``types``, with ``metadata`` at its end: a function is called when all rows are written.

    Rows are shuffled, so no part of the file has other values than the rest: statistics of its parts would help nobody.
    """
    casts = [pl.col(name).cast(dtype) for name, dtype in (types or {}).items()]

    # polars calls functions for metadata experimental; tests of the folder would see it if they came too early
    def at_the_end(_: object) -> dict[str, str]:
        return dict(metadata() if callable(metadata) else metadata)

    def write() -> None:
        rows = frame.lazy().with_columns(casts)
        rows.sink_parquet(path, metadata=at_the_end, statistics=False, compression_level=_COMPRESSION_LEVEL)

    written(write, path)
    count = -1
    with suppress(*FOREIGN):
        count = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    if count != frame.height:
        raise EnvironmentFailure(_STOPPED.format(path=path))


_PIECE = 2**19
"""Rows of a data frame written together: what is done with them meanwhile ends soon after the last."""

_COMPRESSION_LEVEL = 1
"""Of zstd. Codes of shuffled rows have no patterns: higher levels take longer, and files are no smaller."""

_STOPPED = "Writing {path} stopped before its end; run it again, undisturbed."
"""A signal that somebody else handles makes polars stop early, as if it were done."""

_MAKERS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": _pandas,
    "pyarrow": lambda frame: frame.to_arrow(),
    "duckdb": lambda frame: importlib.import_module("duckdb").from_arrow(frame),
}


def written(write: Callable[[], None], path: str | Path) -> None:
    """Lets ``write`` write a file; what it raises says which system error it was, and nothing else."""
    reason = ""
    try:
        write()
        return
    except PkanonError:
        raise
    except FOREIGN as error:
        # The text of an error may quote a value; the number of a system error cannot.
        found = re.search(r"\(os error (\d+)\)", str(error))
        number = int(found[1]) if found else getattr(error, "errno", None)
        reason = os.strerror(number) if number else "the file format or the disk does not take it"
    raise EnvironmentFailure(f"Cannot write {path}: {reason}.")
