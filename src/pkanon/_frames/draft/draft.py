"""A schema proposed from a table, for somebody to confirm.

What is proposed was read off the data, so the schema says ``drafted`` and no release made with it may
claim a guarantee until a person has confirmed that its domains are public knowledge. The notes say
what was done and why; they contain no values. Warnings say what only a person can decide.

Few different values are listed, many numbers or dates get round bins; texts and whole numbers that
differ in every row are dropped, and so are other texts with many values. A draft never makes a column
the id: that it holds no value twice does not make it the number of a person. A table fits its own draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..._errors import DataError, SchemaError
from ..._files import write_new
from ..._progress import Progress, quiet
from ..._schema import Attribute, Schema
from ..border import guarded, rows
from ..read import PLAIN, Source, TextFormat, are_names, check_header, open_source
from .identity import may_be_persons
from .infer import Column, Seen, seen, typed
from .labelled import labelled
from .rounding import round_bins, round_dates

MOST_LISTED = 50
_CLOSE_DATES = 62
"""Days: dates within this span are listed; months would hardly divide them."""

HEADER = """\
# DRAFT. The values below were read off the data. Before this schema protects anybody, somebody must
# confirm that they are public knowledge, complete, and say nothing about the people in the table:
# add values that could occur but happen not to, remove or merge rare ones, and give every column a role:
#   randomise (default) | drop | pass (released as it is, NOT protected)
#   | id (identifies the person: checked to hold no value twice, then dropped)
"""

CONFIRMING = """\
# Then run pkanon confirm on this file: it asks about every column and notes who confirmed it, when, and what the rows
# are. By hand: remove the lines drafted = true, and write [confirmed] with by, on and rows_are. Until then releases are
# refused or claim nothing.
"""

_NEARLY_ALL = 0.98
"""A column with this share of different values looks like an id with a few repetitions."""

_NOUNS = {
    "text": "texts",
    "integer": "whole numbers",
    "number": "numbers",
    "boolean": "truth values",
    "date": "dates",
}


@dataclass(frozen=True)
class Draft:
    """A proposed schema, and one sentence about each column.

    Attributes
    ----------
    schema
        The schema, marked as drafted: its values were read off the data.
    notes
        What was done to each column; they contain no values.
    warnings
        What somebody must look into before the schema is confirmed, a sentence each; they contain no values.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> draft = pk.draft_schema(pl.DataFrame({"sex": ["F", "M", "M"]}))
    >>> draft.schema.drafted, draft.notes
    (True, ('sex: 2 different texts: listed',))
    """

    schema: Schema
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def to_toml(self) -> str:
        """The text of a ``schema.toml`` that says at its top that it is a draft, and what to look into."""
        return HEADER + "".join(f"# ! {line}\n" for line in self.warnings) + CONFIRMING + self.schema.to_toml()

    def save(self, path: str | Path) -> None:
        """Write the draft to the file ``path``, which must not exist yet."""
        write_new(path, self.to_toml())


def draft_schema(table: object, *, text: TextFormat = PLAIN, progress: Progress | None = None) -> Draft:
    """A schema that fits the table, marked as drafted, and what was done to each column.

    Its values were read off the data: a release made with it claims nothing until somebody has confirmed that they are
    public knowledge.

    Parameters
    ----------
    table
        A data frame, the path of a file, or a :class:`TableFile`.
    text
        Delimiter and encoding, if the table is a text file.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> draft = pk.draft_schema(pl.DataFrame({"sex": ["F", "M", "M"], "rooms": [1, 2, 2]}))
    >>> draft.notes
    ('sex: 2 different texts: listed', 'rooms: 2 different whole numbers: a range')
    """
    source = open_source(table, text)
    check_header(source, ())
    _refuse_values_as_names(source)
    columns = seen(source, progress or quiet)
    warnings = _refuse_repeated_names(source, columns)
    attributes, notes = [], []
    types = set()
    for column in columns:
        failure = f"Column '{column.name}' cannot be drafted."
        found = guarded(failure, typed, column)
        by_label = guarded(failure, labelled, source, column)
        attribute, note = by_label or guarded(failure, _proposed, column.name, found)
        attributes.append(attribute)
        notes.append(f"{column.name}: {note}")
        if isinstance(found, Column) and not by_label:
            types.add(found.type)
            warnings += guarded(failure, _identity, found)
    if source.headed is not None and types <= {"text"}:
        warnings.insert(0, _UNSURE_HEADER)
    if all(attribute.role != "randomise" for attribute in attributes):
        raise DataError("No column of the table can be proposed for randomising:\n" + "\n".join(notes))
    return Draft(Schema(attributes, drafted=True), tuple(notes), tuple(warnings))


def _refuse_values_as_names(source: Source) -> None:
    """A first line with a number or a date in it is a person's row, not a header."""
    if source.headed is not None and not are_names(source.names):
        raise DataError(
            f"The first line of {source.headed} holds a number or a date where a name is expected; it must name the columns."
        )


_UNSURE_HEADER = (
    "Every column holds texts, so nothing shows that the first line of the file names the columns; see that it is no person's "
    "row."
)


def _refuse_repeated_names(source: Source, columns: list[Seen]) -> list[str]:
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


def _identity(column: Column) -> list[str]:
    """What somebody must look into if a column may name persons, or cases, visits, forms."""
    name = f"'{column.name}'" if column.name.isprintable() else ascii(column.name)
    if _never_twice(column):
        return [
            f"Column {name} holds no value twice; if it identifies persons (not cases, visits or forms), make it "
            'role = "id".'
        ]
    if may_be_persons(column) or _hardly_twice(column):
        return [
            f"Column {name} repeats and looks like the number or name of a person: rows may not be persons. A person with g "
            "rows has g times epsilon, and no k; make one row per person first."
        ]
    return []


def _never_twice(column: Column) -> bool:
    return len(column.values) == column.rows > 1 and column.type in ("text", "integer")


def _hardly_twice(column: Column) -> bool:
    """Whether a text differs in almost every row, as an id with a few repetitions does."""
    size = len(column.values)
    return (
        column.type == "text"
        and MOST_LISTED < size < column.rows - column.missing
        and size >= _NEARLY_ALL * column.rows
    )


def _proposed(name: str, column: Column | str) -> tuple[Attribute, str]:
    """The attribute for a column and the note about it."""
    if isinstance(column, str):
        return Attribute(name, role="drop"), f"{column}: dropped"
    size = len(column.values)
    if size == 0:
        return Attribute(name, role="drop"), "no values: dropped"
    if size == 1 and not column.missing:
        return Attribute(name, role="drop"), "the same value in every row: dropped"
    if _never_twice(column):
        return Attribute(name, role="drop", type=column.type), "different in every row: dropped"
    found = f"{size:,} different {_NOUNS[column.type] if size > 1 else _NOUNS[column.type].removesuffix('s')}"
    if column.type == "text" and size > MOST_LISTED and size >= _NEARLY_ALL * column.rows:
        return Attribute(name, role="drop"), "different in almost every row: dropped"
    if column.type == "text" and size > MOST_LISTED:
        return Attribute(name, role="drop"), f"{found}: dropped; declare its values to keep it"
    try:
        attribute, note = _domain(column)
    except (SchemaError, OverflowError, ValueError):  # such as bins beyond 64 bits or the year 9999
        return Attribute(name, role="drop"), f"{found}: dropped; declare its bins to keep it"
    if column.missing:
        note += f"; {rows(column.missing, 'have')} no value, which counts as one more value"
    return attribute, f"{found}: {note}"


def _domain(column: Column) -> tuple[Attribute, str]:
    """Listed values, a range, or bins."""
    name, kind, values = column.name, column.type, column.values
    common: dict[str, Any] = {
        "missing": "value" if column.missing else "reject",
        "missing_values": column.missing_values,
    }
    close = kind != "date" or (values[-1] - values[0]).days <= _CLOSE_DATES
    if len(values) <= MOST_LISTED and close:
        if kind == "integer" and len(values) > 1 and values[-1] - values[0] == len(values) - 1:
            return Attribute.ranged(name, values[0], values[-1], **common), "a range"
        return Attribute(name, values.to_list(), type=kind, **common), "listed"
    low, high = _middle(column)
    if kind == "date":
        bins: dict[str, Any] = {"edges": round_dates(low, high)}
    else:
        as_kind = int if kind == "integer" else float
        rounded = round_bins(low, high, whole=kind == "integer")
        bins = dict(zip(("start", "stop", "width"), map(as_kind, rounded), strict=True))
    attribute = Attribute.binned(name, **bins, open="both", type=kind, **common)
    return attribute, f"{attribute.size - bool(column.missing)} bins, open at both ends"


def _middle(column: Column) -> tuple[Any, Any]:
    """Values with about one row in a hundred below and above, so that outliers do not set the bins."""
    share = np.cumsum(column.counts.to_numpy()) / column.counts.sum()
    low, high = (int(np.searchsorted(share, part)) for part in (0.01, 0.99))
    return (column.values[low], column.values[high]) if low < high else (column.values[0], column.values[-1])
