"""The different values of each column with their counts, and the type that fits them all.

A frame's columns have types. A text file's do not: a column is boolean, integer, number or date if
every value is written so, common signs for a missing value aside; "007" and "+7" are texts, because
a number would lose how they are written.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from ..._errors import DataError
from ..._progress import Progress
from ..border import guarded
from ..read import Source, conversion

SURELY_MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")
COMMON_MISSING = ("NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", "none", "?", "-", ".", "missing")

_WRITTEN: tuple[tuple[str, str], ...] = (
    ("boolean", r"^(?i:true|false)$"),
    ("integer", r"^(?:0|-?[1-9][0-9]{0,17})$"),
    ("number", r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"),
    ("date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
)
"""How each type is written in a text file; they are tried in this order."""


@dataclass(frozen=True)
class Seen:
    """The different values of a column, as they were read, with their counts; None: they cannot be counted."""

    name: str
    rows: int
    from_text: bool
    table: pl.DataFrame | None


@dataclass(frozen=True)
class Column:
    """The different values of a column in its type, ascending, with their counts, and the number of rows without a value."""

    name: str
    type: str
    rows: int
    values: pl.Series
    counts: pl.Series
    missing: int
    missing_values: tuple[str, ...] = ()


def seen(source: Source, progress: Progress) -> list[Seen]:
    """Counts the different values of every column."""
    rows = 0
    parts: dict[str, list[pl.DataFrame] | None] = {name: [] for name in source.names}
    for frame, share in source.batches(source.names):
        rows += frame.height
        for name, counted in parts.items():
            if _uncountable(frame.schema[name]):
                parts[name] = None
            elif counted is not None:
                counted.append(guarded(f"Column '{name}' cannot be counted.", _counted, frame[name]))
        progress("reading", share)
    if not rows:
        raise DataError("The table has no rows.")
    return [Seen(name, rows, source.untyped, _joined(name, counted)) for name, counted in parts.items()]


def _uncountable(dtype: pl.DataType) -> bool:
    return dtype.is_nested() or isinstance(dtype, (pl.Binary, pl.Object, pl.Time, pl.Duration))


def _counted(column: pl.Series) -> pl.DataFrame:
    value = pl.lit(column).alias("value")
    if column.dtype.is_float():
        value = value.fill_nan(None)
    elif isinstance(column.dtype, (pl.Categorical, pl.Enum)):
        value = value.cast(pl.String)
    return pl.select(value).group_by("value").agg(pl.len().cast(pl.Int64).alias("count"))


def _joined(name: str, counted: list[pl.DataFrame] | None) -> pl.DataFrame | None:
    if counted is None:
        return None
    mixed = f"Column '{name}' holds values of several types; convert it to one type."
    return guarded(mixed, _summed, guarded(mixed, pl.concat, counted, how="vertical_relaxed"))


def _summed(table: pl.DataFrame) -> pl.DataFrame:
    return table.group_by("value").agg(pl.col("count").sum()).sort("value")


def typed(column: Seen) -> Column | str:
    """The column in the type that fits all its values, or why there is none."""
    if column.table is None:
        return "not text, numbers, truth values or dates"
    dtype = column.table.schema["value"]
    if isinstance(dtype, pl.String):
        kinds = [kind for kind, _ in _WRITTEN] if column.from_text else []
        for kind in kinds:
            if (found := _written(column, column.table, kind)) is not None:
                return found
        # An empty text cannot be a value, so it can only be a missing one; "none" and "-" may be values.
        signs = column.table.filter(pl.col("value").is_in(["", *SURELY_MISSING]))["value"].to_list()
        return _column(column, column.table, "text", tuple(signs)) or "no type fits"
    if isinstance(dtype, pl.Datetime):
        return _column(column, column.table, "date", ()) or "times of day"
    if dtype.is_numeric():
        whole = _column(column, column.table, "integer", ())
        return whole or _column(column, column.table, "number", ()) or "numbers without bounds"
    kind = {pl.Boolean: "boolean", pl.Date: "date"}.get(type(dtype), "text")
    return _column(column, column.table, kind, ()) or "no type fits"


def _written(column: Seen, table: pl.DataFrame, kind: str) -> Column | None:
    """The column as ``kind`` if every value of a text file is written so."""
    present = table.filter(pl.col("value").is_not_null() & ~pl.col("value").is_in(["", *COMMON_MISSING]))["value"]
    if not len(present) or not present.str.contains(dict(_WRITTEN)[kind]).all():
        return None
    signs = table.filter(pl.col("value").is_in(COMMON_MISSING))["value"].to_list()
    return _column(column, table, kind, tuple(signs))


def _column(column: Seen, table: pl.DataFrame, kind: str, missing_values: tuple[str, ...]) -> Column | None:
    """The column as ``kind`` if no value is lost by it."""
    how = conversion("value", table.schema["value"], kind, missing_values)
    converted = table.select(how.value.alias("value"), how.missing.alias("missing"), "count")
    if converted.filter(pl.col("value").is_null() & ~pl.col("missing")).height:
        return None
    values = _summed(converted.filter(~pl.col("missing")).select("value", "count"))
    if kind == "number" and not values["value"].is_finite().all():
        return None
    present = int(values["count"].sum())
    missing = column.rows - present
    return Column(column.name, kind, column.rows, values["value"], values["count"], missing, missing_values)
