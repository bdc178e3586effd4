"""Is the first line of a file a header, or a person's row? A draft would publish it as the names of the columns."""

from __future__ import annotations

import polars as pl

from ..._errors import DataError
from ..border import guarded
from ..read import Source, are_names
from .infer import Seen

UNSURE_HEADER = (
    "Every column holds texts, so nothing shows that the first line of the file names the columns; see that it is no person's "
    "row."
)


def refuse_values_as_names(source: Source) -> None:
    """A first line with a number or a date in it is a person's row, not a header."""
    if source.headed is not None and not are_names(source.names):
        raise DataError(
            f"The first line of {source.headed} holds a number or a date where a name is expected; it must name the columns."
        )


def refuse_repeated_names(source: Source, columns: list[Seen]) -> list[str]:
    """A first line of which a field occurs again below it is a person's row; in a frame, the same is worth a warning."""
    if not any(guarded(f"Column '{column.name}' cannot be counted.", _holds_its_name, column) for column in columns):
        return []
    if source.headed is None:
        return [
            "A column holds its own name as a value; see that the names of the columns are not the first row of a file."
        ]
    raise DataError(
        f"The first line of {source.headed} looks like a row: a field of it occurs again in its own column. It must name "
        "the columns; add such a line, or rename that column."
    )


def _holds_its_name(column: Seen) -> bool:
    if column.table is None or not isinstance(column.table.schema["value"], pl.String):
        return False
    return bool((column.table["value"].str.strip_chars() == column.name.strip()).any())
