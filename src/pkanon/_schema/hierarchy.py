"""A hierarchy: raw values and the coarser labels that they belong to, level by level.

The file has the layout of ARX: one row per raw value and one column per level, without a header, with ``;`` or ``,`` between
fields. Level 0 is the raw value, the last level often ``*``:

    9th;secondary;school;*
    10th;secondary;school;*
    Bachelors;degree;university;*

It is a tree: what a label belongs to at the next level is the same wherever the label stands. An attribute takes one level:
its values are the labels of that level in the order of the file, and raw values become them while a table is read.

A hierarchy is public like the schema. Still its errors count rows and quote nothing, because somebody may name the wrong file.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .._errors import InputError, SchemaError

DELIMITERS = (";", ",")


@dataclass(frozen=True, init=False)
class Hierarchy:
    """Raw values, and the label of each at every level.

    :func:`read_hierarchy` reads one from a file and :func:`code_list` gives a ready one.

    Parameters
    ----------
    rows
        One row per raw value: the value, then its label at level 1, at level 2 and so on.
    ordered
        Whether the values stand in an order that means something.
    source
        What errors call it.

    Examples
    --------
    >>> import pkanon as pk
    >>> grades = pk.Hierarchy([("9th", "school"), ("10th", "school"), ("BA", "degree")])
    >>> grades.levels[1]
    {'school': ('9th', '10th'), 'degree': ('BA',)}
    >>> pk.Attribute("education", hierarchy=grades, level=1).code("10th")
    0
    """

    rows: tuple[tuple[str, ...], ...]
    ordered: bool = False
    file: str | None = field(default=None, compare=False)
    """The file it was read from, as the schema names it."""
    path: Path | None = field(default=None, compare=False)
    """The same file, from the root."""
    codes: str | None = field(default=None, compare=False)
    """The name of the code list that it is."""

    def __init__(self, rows: Iterable[Iterable[str]], *, ordered: bool = False, source: str = "the hierarchy") -> None:
        found = tuple(tuple(row) for row in rows)
        if not found:
            raise SchemaError(f"{source} has no rows; write one per value, with its label at every level.")
        for number, row in enumerate(found, 1):
            if not all(isinstance(cell, str) for cell in row):
                raise SchemaError(f"{source}: row {number} holds something that is not text.")
            if len(row) != len(found[0]) or not row:
                raise SchemaError(
                    f"{source}: row {number} has {len(row)} levels and row 1 has {len(found[0])}; give every value a label at "
                    "every level."
                )
            if not all(row):
                raise SchemaError(f"{source}: row {number} has an empty cell; give every value a label at every level.")
        for level in range(len(found[0])):
            _check_level(found, level, source)
        for key, value in (("rows", found), ("ordered", ordered), ("file", None), ("path", None), ("codes", None)):
            object.__setattr__(self, key, value)

    @cached_property
    def levels(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """For each level its labels, in the order of the file, and the raw values of each label."""
        found: list[dict[str, list[str]]] = [{} for _ in self.rows[0]]
        for row in self.rows:
            for level, label in zip(found, row):
                level.setdefault(label, []).append(row[0])
        return tuple({label: tuple(raws) for label, raws in level.items()} for level in found)

    def at(self, level: int, where: str = "the hierarchy") -> dict[str, tuple[str, ...]]:
        """The labels of ``level`` with the raw values of each; refuses one that cannot be taken. Errors name ``where``."""
        if type(level) is not int or not 0 <= level < len(self.levels):
            raise SchemaError(f"{where}: level = {level!r} is not one of the levels 0 to {len(self.levels) - 1}.")
        labels = self.levels[level]
        if any(row[0] != row[level] and row[0] in labels for row in self.rows):
            raise SchemaError(
                f"{where}: level {level} calls some values by the name of a raw value that belongs elsewhere; rename the label."
            )
        return labels

    def keeps_order(self, level: int) -> bool:
        """Whether the values of each label of ``level`` stand together, so that labels have the order of the values."""
        runs = [row[level] for i, row in enumerate(self.rows) if i == 0 or self.rows[i - 1][level] != row[level]]
        return len(runs) == len(set(runs))

    def reference(self, folder: str | Path | None = None) -> str | None:
        """The file as a schema in ``folder`` names it (None: as it was named); None if it came from no file."""
        if folder is None or self.path is None:
            return self.file
        try:
            return Path(os.path.relpath(self.path, Path(folder).absolute())).as_posix()
        except ValueError:  # another drive
            return self.path.as_posix()


def _check_level(rows: tuple[tuple[str, ...], ...], level: int, source: str) -> None:
    """At level 0 no value twice; above, a label belongs to one label of the next level only."""
    seen: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        if level == 0:
            if row[0] in seen:
                raise SchemaError(f"{source}: row {number} repeats the value of an earlier row; write each value once.")
            seen[row[0]] = ""
        elif seen.setdefault(row[level - 1], row[level]) != row[level]:
            raise SchemaError(
                f"{source}: in row {number} a label of level {level - 1} has another label at level {level} than in an "
                "earlier row; a label must belong to one label of the next level."
            )


def traced(
    hierarchy: Hierarchy, *, file: str | None = None, path: Path | None = None, codes: str | None = None
) -> Hierarchy:
    """The hierarchy, with a note of where it came from."""
    for key, value in (("file", file), ("path", path), ("codes", codes)):
        object.__setattr__(hierarchy, key, value)
    return hierarchy


def read_hierarchy(path: str | Path) -> Hierarchy:
    """The hierarchy in a CSV file: one row per value, one column per level, no header (the layout of ARX).

    Refused: rows of different lengths, empty cells, a value in two rows, and a label that belongs to two labels of the next level.

    Parameters
    ----------
    path
        The file: UTF-8, with ``;`` or ``,`` between fields.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "education.csv")
    ...     _ = file.write_text("9th;school;*\\n10th;school;*\\nBA;degree;*\\n")
    ...     hierarchy = pk.read_hierarchy(file)
    >>> [len(level) for level in hierarchy.levels]
    [3, 2, 1]
    """
    return named_hierarchy(str(path), Path())


def named_hierarchy(file: str, folder: Path) -> Hierarchy:
    """The hierarchy in a file as a schema in ``folder`` names it."""
    path = folder / file
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read the hierarchy {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"The hierarchy {path} is not UTF-8 text.") from None
    return traced(Hierarchy(rows_of(text, str(path)), source=str(path)), file=file, path=path.absolute())


def rows_of(text: str, source: str) -> list[list[str]]:
    """The rows of a CSV text; split at the first delimiter that gives rows of one length, else at the first that occurs."""
    splits = [rows for delimiter in DELIMITERS if (rows := _split(text, delimiter)) is not None]
    if not splits:
        raise SchemaError(
            f"{source} has a quote that is not closed or stands inside a field; double every quote in a field."
        )
    for rows in splits:
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return rows
    return next((rows for rows in splits if any(len(row) > 1 for row in rows)), splits[0])


def _split(text: str, delimiter: str) -> list[list[str]] | None:
    """The rows, without blank lines; None if the quotes do not fit this delimiter."""
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error:
        return None
