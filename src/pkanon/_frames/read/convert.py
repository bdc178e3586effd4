"""A column to its declared type, strictly, as polars expressions.

Two expressions say everything: ``value`` is null where nothing of the type is there, ``missing`` is
true where nothing was entered at all; a row that is neither breaks the type. What is accepted:

    integer   integers; text "7", "-7", "+7", "007" (blanks before it are ignored); floats and decimals that
              are whole numbers. Not "7.0", not "1e3", nothing beyond 64 bits.
    number    integers, floats, decimals; text "7", "1.5", "1e3". NaN is missing. Infinity is a number here, but
              no attribute can list it.
    boolean   booleans; text "true" or "false" in any case. Not 0 and 1.
    date      dates; text "2024-02-29"; dates with a time where the time is midnight.
    text      text, categories; integers, booleans and dates, as they are written.

A schema may say that texts are written otherwise (``Notation``): dates as 29/02/2024, numbers as 1.234,5. Then they are read in
that notation and in no other. Columns that are not text are read as ever.

Missing: null, NaN, for every type but text an empty field (for numbers a blank one too), and the
attribute's ``missing_values`` where the column is text. A column of any other type is refused as a
whole: it is a mistake of the table, not of some rows, and ``other`` does not take it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from ..._errors import DataError
from ..._schema import PLAIN_NOTATION, Notation

_BLANKS = " \t"
_NAN = "^(?i:nan)$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


@dataclass(frozen=True, eq=False)
class Conversion:
    """One column on its way to its type; ``value`` has the name of the column.

    ``fault`` describes rows that break the type, after "12 rows hold". ``fatal``: they are refused
    even where the attribute has a label for everything else.
    """

    value: pl.Expr
    missing: pl.Expr
    fault: str
    fatal: bool = False

    @cached_property
    def unchanged(self) -> bool:
        """Whether the value is the column as it is."""
        return self.value.meta.is_column()


def of_categories(name: str, *, numbered: bool) -> Conversion:
    """A column of categories: their numbers, if those are codes, or the column as it is."""
    column = pl.col(name)
    return Conversion(column.to_physical() if numbered else column, column.is_null(), "")


def conversion(
    name: str,
    dtype: pl.DataType,
    type_name: str,
    missing_values: Sequence[str],
    notation: Notation = PLAIN_NOTATION,
) -> Conversion:
    """How the column ``name`` of polars type ``dtype`` becomes the declared type."""
    column = pl.col(name)
    if isinstance(dtype, pl.Null):
        return Conversion(column.cast(_TARGETS[type_name]), column.is_null(), "nothing")
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        column, dtype = column.cast(pl.String), pl.String()
    if isinstance(dtype, pl.String) and type_name != "text":
        return _of_text(column, type_name, missing_values, notation)
    result = _MAKERS[type_name](column, dtype, missing_values)
    if result is None:
        raise DataError(
            f"Column '{name}' has the type {dtype.base_type().__name__}, its schema says {type_name}; convert it or change the schema."
        )
    return result


def _of_text(column: pl.Expr, type_name: str, missing_values: Sequence[str], notation: Notation) -> Conversion:
    missing = column.is_null() | (column == "")
    if missing_values:
        missing |= column.is_in(list(missing_values))
    if type_name in ("integer", "number"):
        # What polars' own reader of numbers in text files does, so that both ways agree.
        plain = column.str.strip_chars_start(_BLANKS)
        missing |= plain == ""
        dtype, fault = (pl.Int64, "a whole number") if type_name == "integer" else (pl.Float64, "a number")
        if notation != PLAIN_NOTATION:
            missing |= plain.str.contains(_NAN) if type_name == "number" else False
            plain, example = _plain_number(plain, type_name, notation)
            fault += f" written as {example}"
        value = plain.cast(dtype, strict=False)
        if type_name == "number" and notation == PLAIN_NOTATION:
            missing |= value.is_nan()
            value = value.fill_nan(None)
    elif type_name == "boolean":
        lower, fault = column.str.to_lowercase(), "true or false"
        value = pl.when(lower.is_in(["true", "false"])).then(lower == "true")
    elif notation.date_format is not None:
        fault = f"a date written as {notation.date_format}"
        value = _formatted_date(column, notation)
    else:
        fault = "a date written as 2024-02-29"
        written = column.str.contains(_DATE) & ~column.str.starts_with("0000")  # there is no year 0
        value = pl.when(written).then(column).str.to_date("%Y-%m-%d", strict=False)
    missing = missing.fill_null(False)
    return Conversion(pl.when(~missing).then(value), missing, f"something that is not {fault}")


def _plain_number(text: pl.Expr, type_name: str, notation: Notation) -> tuple[pl.Expr, str]:
    """The text as numbers are written everywhere, null where it is not in the notation; and an example of that."""
    whole = type_name == "integer"
    pattern = notation.integer_pattern if whole else notation.number_pattern
    plain: pl.Expr = pl.when(text.str.contains(pattern)).then(text)
    if notation.thousands is not None:
        plain = plain.str.replace_all(notation.thousands, "", literal=True)
    if notation.decimal is not None:
        plain = plain.str.replace(notation.decimal, ".", literal=True)
    return plain, notation.integer_example if whole else notation.number_example


def _formatted_date(text: pl.Expr, notation: Notation) -> pl.Expr:
    """The dates of texts in the notation, without a time of day; null for any other text."""
    pattern, date_format = notation.date_pattern, notation.date_format or ""
    written = pl.when(text.str.contains(pattern)).then(text)  # polars alone would take 1/2/24 for a day of the year 24
    match notation.time:
        case "none":
            return written.str.to_date(date_format, strict=False)
        case "complete":
            return written.str.to_datetime(date_format, strict=False).dt.date()
        case _:  # polars refuses an hour alone; to cut it off takes ten times as long
            day = written.str.replace(pattern, "${Y}-${m}-${d}")
            return day.str.to_date(f"%Y-%{notation.month_directive}-%d", strict=False)


def _text(column: pl.Expr, dtype: pl.DataType, missing_values: Sequence[str]) -> Conversion | None:
    if not (isinstance(dtype, (pl.String, pl.Boolean, pl.Date)) or dtype.is_integer()):
        return None
    value = column if isinstance(dtype, pl.String) else column.cast(pl.String)
    missing = value.is_null()
    if missing_values:
        missing |= value.is_in(list(missing_values)).fill_null(False)
        value = pl.when(~missing).then(value)
    return Conversion(value, missing, "something that is not text")


def _integer(column: pl.Expr, dtype: pl.DataType, _: Sequence[str]) -> Conversion | None:
    fault = "something that is not a whole number of 64 bits"
    if dtype.is_integer():
        wide = isinstance(dtype, (pl.UInt64, pl.Int128, pl.UInt128))
        return Conversion(column.cast(pl.Int64, strict=False) if wide else column, column.is_null(), fault)
    if not (dtype.is_float() or dtype.is_decimal()):
        return None
    whole = pl.when(column == column.floor()).then(column).cast(pl.Int64, strict=False)
    missing = column.is_null() | column.is_nan().fill_null(False) if dtype.is_float() else column.is_null()
    return Conversion(whole, missing, fault)


def _number(column: pl.Expr, dtype: pl.DataType, _: Sequence[str]) -> Conversion | None:
    if not dtype.is_numeric():
        return None
    value = column.cast(pl.Float64).fill_nan(None)
    return Conversion(value, value.is_null(), "something that is not a number")


def _boolean(column: pl.Expr, dtype: pl.DataType, _: Sequence[str]) -> Conversion | None:
    return Conversion(column, column.is_null(), "nothing") if isinstance(dtype, pl.Boolean) else None


def _date(column: pl.Expr, dtype: pl.DataType, _: Sequence[str]) -> Conversion | None:
    if isinstance(dtype, pl.Date):
        return Conversion(column, column.is_null(), "nothing")
    if not isinstance(dtype, pl.Datetime):
        return None
    local = column.dt.replace_time_zone(None)
    day = pl.when(local == local.dt.truncate("1d")).then(local.dt.date())
    return Conversion(day, column.is_null(), "a time of day besides the date", fatal=True)


_MAKERS: dict[str, Callable[[pl.Expr, pl.DataType, Sequence[str]], Conversion | None]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
_TARGETS: dict[str, pl.DataType] = {
    "text": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
}
