"""Results that leave as a data frame, as JSON, as a file, as a table for a paper, or as a table in a notebook.

CSV, JSON and Parquet hold numbers in full precision; a missing value is an empty field, or null. LaTeX, HTML, Markdown and Excel
hold the table as a paper has it (paper/).
"""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .. import _frames, _plan
from .._errors import InputError
from .._files import write_new

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from .paper import PaperTable
    from .text import TextTable

FORMATS = {
    "csv": "csv",
    "json": "json",
    "parquet": "parquet",
    "latex": "tex",
    "html": "html",
    "markdown": "md",
    "xlsx": "xlsx",
}
"""Every format of a file, and the ending that names it."""
PAPER = ("latex", "html", "markdown", "xlsx")
"""Formats that hold the table as a paper has it."""


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
        return _frames.as_kind(self.to_polars(), "pandas")

    def to_arrow(self) -> pyarrow.Table:
        """As :meth:`to_polars`, in pyarrow."""
        return _frames.as_kind(self.to_polars(), "pyarrow")

    def paper(self, *, caption: str | None = None) -> PaperTable:
        """The table as a paper has it: rounded to the digits of the errors, with a caption and notes.

        Parameters
        ----------
        caption
            What is shown; said by itself if not set.
        """
        from .paper import Cell, PaperTable

        table = self.text_table()
        first, *notes = self._captions()
        labels = next((place for place, words in enumerate(table.left) if not words), len(table.left))
        return PaperTable(
            caption=caption or first.removesuffix("."),
            stub=tuple(table.header[:labels]),
            header=tuple(table.header[labels:]),
            rows=tuple(tuple(map(Cell, row)) for row in table.rows),
            notes=tuple(notes) if caption is None else (first, *notes),
            numbers=self.to_polars(),
        )

    def to_latex(self, *, label: str | None = None, **options: Any) -> str:
        r"""The table in LaTeX, as a float for the package booktabs.

        Parameters
        ----------
        label
            What \ref calls it.
        **options
            Those of :meth:`paper`.
        """
        return self.paper(**options).to_latex(label=label)

    def to_html(self, **options: Any) -> str:
        """The table as a piece of HTML that stands alone; ``options`` are those of :meth:`paper`."""
        return self.paper(**options).to_html()

    def to_markdown(self, **options: Any) -> str:
        """The table in Markdown; ``options`` are those of :meth:`paper`."""
        return self.paper(**options).to_markdown()

    def to_excel(self, path: str | Path, **options: Any) -> None:
        """Write the table to an Excel file that does not exist yet, as it would be printed and with its numbers in full.

        Parameters
        ----------
        path
            The file, which ends in .xlsx.
        **options
            Those of :meth:`paper`.
        """
        self.paper(**options).to_excel(path)

    def to_bytes(self, format: str, **options: Any) -> bytes:
        """The content of a file in this ``format``: csv, json, parquet, latex, html, markdown or xlsx.

        ``options``: in the last four, those of :meth:`paper`.
        """
        if format in PAPER:
            return paper_content(format, self.paper(**options))
        refuse_options(format, options)
        return file_content(format, self.to_polars, self.to_json)

    def save(self, path: str | Path, *, format: str | None = None, **options: Any) -> None:
        """Write the table to a file that does not exist yet.

        Parameters
        ----------
        path
            The file.
        format
            csv, json, parquet, latex, html, markdown or xlsx; by the ending of the file (.tex, .md) if not set.
        **options
            In the last four formats, those of :meth:`paper`.
        """
        write_new(path, self.to_bytes(format_of(path, format), **options))

    @abstractmethod
    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read: each number as "value ± standard error"; its first ``most`` rows."""

    @abstractmethod
    def _captions(self) -> Iterable[str]:
        """Sentences that say what the numbers are."""

    def _repr_html_(self) -> str:
        """The table and what its numbers are, as a notebook shows it."""
        notebook = _plan.notebook
        table = self.text_table(notebook.MOST_ROWS)
        html = notebook.table(table.header, table.rows, table.left, hidden=table.hidden)
        return html + "".join(map(notebook.paragraph, self._captions()))

    def __str__(self) -> str:
        table = self.text_table(_plan.notebook.MOST_ROWS)
        hidden = [f"... and {table.hidden:,} more rows"] if table.hidden else []
        return "\n".join([*table.lines(), *hidden, "", *self._captions()])


def format_of(path: str | Path, format: str | None) -> str:
    """The format of a file: ``format``, or else its ending."""
    ending = Path(path).suffix.removeprefix(".").lower()
    name = format or next((name for name, own in FORMATS.items() if own == ending), None)
    if name not in FORMATS:
        *others, last = (f".{own}" for own in FORMATS.values())
        raise InputError(f"{path}: results are written as {', '.join(others)} or {last}; say which one.")
    return name


def refuse_options(format: str, options: Mapping[str, Any]) -> None:
    """Refuse options of tables for papers in another format, which would ignore them."""
    if options:
        raise TypeError(f"'{next(iter(options))}' is an argument for {', '.join(PAPER)}, not for {format}.")


def paper_content(format: str, table: PaperTable) -> bytes:
    """The content of a file that holds a table as a paper has it; an HTML file is a whole page."""
    match format:
        case "latex":
            return f"{table.to_latex()}\n".encode()
        case "html":
            from .paper import html_document

            return html_document(table.to_html(), table.caption).encode()
        case "markdown":
            return f"{table.to_markdown()}\n".encode()
    return table.excel_bytes()


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
    raise InputError(f"Results are written as {', '.join(FORMATS)}, not as '{format}'.")


def json_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON holds them: dates as texts, no infinities."""
    finite = pl.selectors.float()
    cleaned = frame.with_columns(pl.when(finite.is_finite()).then(finite), pl.selectors.temporal().cast(pl.String))
    return cleaned.to_dicts()
