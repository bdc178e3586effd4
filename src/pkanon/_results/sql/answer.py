"""Answer: what a query gives, as data frames, JSON and text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..._schema import MISSING_LABEL
from ..columns import Columns, interval_title
from ..tabular import Tabular, json_rows

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Answer(Tabular):
    """The answer to a query: one row per group, every number with its standard error and its limits.

    ``frame`` is a polars DataFrame; a number called ``count`` stands in the columns ``count``,
    ``count_std_error``, ``count_low_95`` and ``count_high_95`` (by ``level``). ``notes`` say how it was made.
    """

    sql: str
    frame: pl.DataFrame = field(repr=False)
    notes: tuple[str, ...]
    estimates: tuple[str, ...]
    level: float = 0.95

    def columns(self, name: str) -> Columns:
        """The names of the columns of a number: the value of ``name``, its error and its limits."""
        return Columns.named(name, self.level)

    def to_polars(self) -> pl.DataFrame:
        """The answer as a polars DataFrame."""
        return self.frame

    def to_json(self) -> dict[str, Any]:
        """The answer and how it was made, as JSON holds it."""
        return {"sql": self.sql, "level": self.level, "notes": list(self.notes), "rows": json_rows(self.frame)}

    def rows_as_text(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows for people to read: each number as "value ± standard error", then its limits."""
        header: list[str] = []
        columns: list[list[str]] = []
        skipped = {column for name in self.estimates for column in self.columns(name)} - set(self.estimates)
        for name in self.frame.columns:
            if name in skipped:
                continue
            values = self.frame[name].to_list()
            if name not in self.estimates:
                header.append(name)
                columns.append([MISSING_LABEL if value is None else str(value) for value in values])
                continue
            _, errors, lows, highs = (self.frame[column].to_list() for column in self.columns(name))
            header += [name, interval_title(self.level)]
            columns.append([_with_error(value, error) for value, error in zip(values, errors)])
            columns.append([_limits(low, high, error) for low, high, error in zip(lows, highs, errors)])
        return header, [list(row) for row in zip(*columns)]

    def __str__(self) -> str:
        header, rows = self.rows_as_text()
        left = [name not in self.estimates and name != interval_title(self.level) for name in header]
        widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
        lines = [
            "  ".join(
                cell.ljust(width) if flush else cell.rjust(width) for cell, width, flush in zip(row, widths, left)
            ).rstrip()
            for row in (header, ["-" * width for width in widths], *rows)
        ]
        return "\n".join([*lines, "", *self.notes])


def _with_error(value: float | None, error: float | None) -> str:
    if value is None:
        return "-"
    if error is None:  # unknown, which is not zero
        return f"{value:,.4g} ± -"
    return f"{_rounded(value, error)} ± {_rounded(error, error)}"


def _limits(low: float | None, high: float | None, error: float | None) -> str:
    return "-" if low is None or high is None else f"{_rounded(low, error)} to {_rounded(high, error)}"


def _rounded(value: float, error: float | None) -> str:
    """Two digits of the standard error are all that means something; exact numbers in full, to six decimals."""
    if error:
        return f"{value:,.{min(max(1 - math.floor(math.log10(error)), 0), 6)}f}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6f}".rstrip("0").rstrip(".")
