"""The different values of each column with their counts, and the type that fits them all.

A frame's columns have types. A text file's do not: a column is boolean, integer, number or date if
every value is written so, signs for a missing value aside; "007" and "+7" are texts, because
a number would lose how they are written. Where several ways of writing fit, the other columns of the
file decide, or nobody (writing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from ..._errors import DataError
from ..._progress import Progress
from ..border import guarded
from ..read import Source, conversion
from .signs import among_labels, among_numbers, numbers_apart
from .writing import Habits, Writing, all_match, compact_dates, dates, hint, numbers, unclear

_PLAIN: tuple[tuple[str, str], ...] = (
    ("boolean", r"^(?i:true|false)$"),
    ("integer", r"^(?:0|-?[1-9][0-9]{0,17})$"),
    ("number", r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"),
    ("date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"),
)
"""How each type is written in a text file where nobody says otherwise; they are tried in this order."""
_PLAIN_NUMBER = Writing("number", decimal=".")


@dataclass(frozen=True)
class Seen:
    """The different values of a column, as they were read, with their counts; None: they cannot be counted."""

    name: str
    rows: int
    from_text: bool
    table: pl.DataFrame | None


@dataclass(frozen=True)
class Column:
    """The different values of a column in its type, ascending, with their counts, and the number of rows without a value.

    ``missing_values``: the signs for a missing value that were found. ``apart``: how many numbers look like such a sign; they
    are declared as one where the table has texts. ``seems``: what texts seem to be.
    """

    name: str
    type: str
    rows: int
    values: pl.Series
    counts: pl.Series
    missing: int
    missing_values: tuple[str, ...] = ()
    writing: Writing | None = None
    apart: int = 0
    seems: str | None = None


@dataclass(frozen=True)
class Untyped:
    """A column without a type: why, and whether a person could give it one."""

    reason: str
    undecided: bool = False


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


def habits(columns: Sequence[Seen], *, commas: bool) -> Habits:
    """What the clear columns of a text file show about the others; ``commas`` separate its fields."""
    found = [guarded(f"Column '{column.name}' cannot be drafted.", ways, column) for column in columns]
    return Habits.of([way[0] for way in found if len(way) == 1], commas=commas)


def ways(column: Seen) -> list[Writing]:
    """The ways to read every value of a text file's column that depend on how it writes numbers or dates."""
    if not _is_written(column) or not len(texts := _present(column)):
        return []
    plain = _plain_type(texts)
    if plain == "integer":
        return compact_dates(texts)
    if plain == "number":
        marked = texts.str.contains(".", literal=True).any()
        others = [way for way in numbers(texts) if way != _PLAIN_NUMBER]
        return [_PLAIN_NUMBER, *others] if marked else []
    return [] if plain is not None else [*dates(texts), *numbers(texts)]


def _is_written(column: Seen) -> bool:
    return column.from_text and column.table is not None and isinstance(column.table.schema["value"], pl.String)


def _present(column: Seen) -> pl.Series:
    """The texts that are not signs for a missing value among numbers or dates."""
    assert column.table is not None
    texts = column.table["value"].drop_nulls()
    return texts.filter((texts != "") & ~among_numbers(texts))


def _plain_type(texts: pl.Series) -> str | None:
    return next((kind for kind, shape in _PLAIN if all_match(texts, shape)), None)


def typed(column: Seen, file: Habits) -> Column | Untyped:
    """The column in the type that fits all its values, or why there is none."""
    if column.table is None:
        return Untyped("not text, numbers, truth values or dates")
    dtype = column.table.schema["value"]
    if isinstance(dtype, pl.String):
        return _of_texts(column, column.table, file)
    if isinstance(dtype, pl.Datetime):
        return _column(column, column.table, "date") or Untyped("times of day")
    if dtype.is_numeric():
        found = _column(column, column.table, "integer") or _column(column, column.table, "number")
        return _with_apart(found) if found is not None else Untyped("numbers without bounds")
    kind = {pl.Boolean: "boolean", pl.Date: "date"}.get(type(dtype), "text")
    return _column(column, column.table, kind) or Untyped("no type fits")


def _with_apart(column: Column) -> Column:
    return replace(column, apart=len(numbers_apart(column.values)))


def _of_texts(column: Seen, table: pl.DataFrame, file: Habits) -> Column | Untyped:
    present = _present(column) if _is_written(column) else table["value"].clear()
    if len(present):
        fitting = ways(column)
        way = file.choice(fitting) if len(fitting) > 1 else next(iter(fitting), None)
        if fitting and way is None:
            return Untyped(unclear(fitting), undecided=True)
        kind = way.type if way is not None else _plain_type(present)
        signs = tuple(table["value"].drop_nulls().filter(among_numbers(table["value"].drop_nulls())).to_list())
        found = None if kind is None else _column(column, table, kind, signs, way if way != _PLAIN_NUMBER else None)
        if found is not None:
            return found
    # An empty text cannot be a value, so it can only be a missing one; "none" and "-" may be values.
    texts = table["value"].drop_nulls()
    signs = tuple(texts.filter((texts.str.strip_chars() == "") | among_labels(texts)).to_list())
    seems = hint(present if _is_written(column) else texts)
    return _column(column, table, "text", signs, seems=seems) or Untyped("no type fits")


def _column(
    column: Seen,
    table: pl.DataFrame,
    kind: str,
    signs: tuple[str, ...] = (),
    writing: Writing | None = None,
    seems: str | None = None,
) -> Column | None:
    """The column as ``kind`` if no value is lost by it."""
    found = _converted(table, kind, signs, writing)
    if found is None:
        return None
    apart: list[float] = []
    if isinstance(table.schema["value"], pl.String) and kind in ("integer", "number"):
        apart = numbers_apart(_summed(found.filter(~pl.col("missing")).select("value", "count"))["value"])
    if apart:
        more = found.filter(pl.col("value").is_in(apart))["text"].to_list()
        signs = tuple(sorted({*signs, *more}))
        found = _converted(table, kind, signs, writing)
        assert found is not None  # more signs make nothing harder to read
    values = _summed(found.filter(~pl.col("missing")).select("value", "count"))
    if kind == "number" and not values["value"].is_finite().all():
        return None
    missing = column.rows - int(values["count"].sum())
    return Column(
        column.name, kind, column.rows, values["value"], values["count"], missing, signs, writing, len(apart), seems
    )


def _converted(table: pl.DataFrame, kind: str, signs: tuple[str, ...], writing: Writing | None) -> pl.DataFrame | None:
    """The values as ``kind``, which rows have none, and the texts they came from; None if a value is lost by it."""
    texts = table.with_columns(pl.col("value").alias("text"))
    if writing is not None:
        is_sign = pl.col("value").is_in(list(signs))
        texts = texts.with_columns(
            pl.when(is_sign).then("value").otherwise(writing.plain(pl.col("value"))).alias("value")
        )
        lost = texts.filter(pl.col("value").is_null() & pl.col("text").is_not_null() & (pl.col("text") != ""))
        if lost.height:
            return None
    how = conversion("value", texts.schema["value"], kind, signs)
    found = texts.select(how.value.alias("value"), how.missing.alias("missing"), "count", "text")
    return None if found.filter(pl.col("value").is_null() & ~pl.col("missing")).height else found
