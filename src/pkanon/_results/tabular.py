"""Results that leave as a data frame, as JSON, or as a file.

CSV and JSON hold numbers in full precision; a missing value is an empty field, or null.
"""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .._errors import InputError
from .._files import write_new
from .._frames import as_kind

if TYPE_CHECKING:
    import pandas
    import pyarrow

FORMATS = ("csv", "json", "parquet")


class Tabular(ABC):
    """Something that is a table with one row per result. Arguments are those of ``to_polars``."""

    @abstractmethod
    def to_polars(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """The table in polars."""

    @abstractmethod
    def to_json(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The table and how it was made, as JSON holds it."""

    def to_pandas(self, *args: Any, **kwargs: Any) -> pandas.DataFrame:
        """As :meth:`to_polars`, in pandas."""
        return as_kind(self.to_polars(*args, **kwargs), "pandas")

    def to_arrow(self, *args: Any, **kwargs: Any) -> pyarrow.Table:
        """As :meth:`to_polars`, in pyarrow."""
        return as_kind(self.to_polars(*args, **kwargs), "pyarrow")

    def __str__(self) -> str:
        with pl.Config(tbl_rows=60, tbl_cols=20, tbl_hide_dataframe_shape=True, tbl_width_chars=160):
            return str(self.to_polars())

    def save(self, path: str | Path, *, format: str | None = None, **kwargs: Any) -> None:
        """Write the table to a file that does not exist yet: csv, json or parquet, by its ending if not said."""
        chosen = format or Path(path).suffix.removeprefix(".").lower()
        if chosen not in FORMATS:
            raise InputError(f"{path}: results are written as .csv, .json or .parquet; say which one.")
        write_new(path, self.to_bytes(chosen, **kwargs))

    def to_bytes(self, format: str, **kwargs: Any) -> bytes:
        """The content of a file in this format."""
        if format == "json":
            return (json.dumps(self.to_json(**kwargs), indent=1, ensure_ascii=False) + "\n").encode()
        frame = self.to_polars(**kwargs)
        if format == "csv":
            return frame.write_csv().encode()
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()


def free_names(names: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """Names of columns that do not collide with those of results: an underscore is added where they would."""
    chosen: dict[str, str] = {}
    for name in names:
        free = name
        while free in taken or free in chosen.values():
            free += "_"
        chosen[name] = free
    return chosen


def json_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON holds them: dates as texts, no infinities."""
    finite = pl.selectors.float()
    cleaned = frame.with_columns(pl.when(finite.is_finite()).then(finite), pl.selectors.temporal().cast(pl.String))
    return cleaned.to_dicts()
