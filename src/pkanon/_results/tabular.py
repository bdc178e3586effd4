"""Results that leave as a data frame, as JSON, as a file, or as a table in a notebook.

CSV and JSON hold numbers in full precision; a missing value is an empty field, or null.
"""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .._errors import InputError
from .._files import write_new
from .._frames import as_kind
from .._plan import notebook
from .text import TextTable

if TYPE_CHECKING:
    import pandas
    import pyarrow

FORMATS = ("csv", "json", "parquet")


class Tabular(ABC):
    """A result that is a table with one row per number."""

    @abstractmethod
    def to_polars(self) -> pl.DataFrame:
        """The table in polars."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The table and how it was made, as JSON holds it."""

    def to_pandas(self) -> pandas.DataFrame:
        """As :meth:`to_polars`, in pandas."""
        return as_kind(self.to_polars(), "pandas")

    def to_arrow(self) -> pyarrow.Table:
        """As :meth:`to_polars`, in pyarrow."""
        return as_kind(self.to_polars(), "pyarrow")

    def to_bytes(self, format: str) -> bytes:
        """The content of a file in this ``format``: csv, json or parquet."""
        return file_content(format, self.to_polars, self.to_json)

    def save(self, path: str | Path, *, format: str | None = None) -> None:
        """Write the table to a file that does not exist yet.

        Parameters
        ----------
        path
            The file.
        format
            csv, json or parquet; by the ending of the file if not set.
        """
        write_new(path, self.to_bytes(format_of(path, format)))

    @abstractmethod
    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read: each number as "value ± standard error"; its first ``most`` rows."""

    @abstractmethod
    def _captions(self) -> Iterable[str]:
        """Sentences that say what the numbers are."""

    def _repr_html_(self) -> str:
        """The table and what its numbers are, as a notebook shows it."""
        table = self.text_table(notebook.MOST_ROWS)
        html = notebook.table(table.header, table.rows, table.left, hidden=table.hidden)
        return html + "".join(map(notebook.paragraph, self._captions()))

    def __str__(self) -> str:
        with pl.Config(tbl_rows=60, tbl_cols=20, tbl_hide_dataframe_shape=True, tbl_width_chars=160):
            return str(self.to_polars())


def format_of(path: str | Path, format: str | None) -> str:
    """The format of a file: ``format``, or else its ending."""
    name = format or Path(path).suffix.removeprefix(".").lower()
    if name not in FORMATS:
        raise InputError(f"{path}: results are written as .csv, .json or .parquet; say which one.")
    return name


def file_content(format: str, frame: Callable[[], pl.DataFrame], data: Callable[[], Mapping[str, Any]]) -> bytes:
    """The content of a file: JSON of ``data``, or ``frame`` as CSV or Parquet. Only that one is computed."""
    match format:
        case "json":
            return (json.dumps(data(), indent=1, ensure_ascii=False) + "\n").encode()
        case "csv":
            return frame().write_csv().encode()
        case "parquet":
            buffer = io.BytesIO()
            frame().write_parquet(buffer)
            return buffer.getvalue()
    raise InputError(f"Results are written as csv, json or parquet, not as '{format}'.")


def json_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON holds them: dates as texts, no infinities."""
    finite = pl.selectors.float()
    cleaned = frame.with_columns(pl.when(finite.is_finite()).then(finite), pl.selectors.temporal().cast(pl.String))
    return cleaned.to_dicts()
