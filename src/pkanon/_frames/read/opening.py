"""Which table is meant: a frame by its class, a file by its ending, a database by its address or its first bytes.

The one way to open a table: every verb and every function that reads one comes through here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..._errors import DataError, InputError
from ..border import guarded
from . import formats
from .formats import ARROW_SUFFIXES, JSON_SUFFIXES, PARQUET_SUFFIXES, SHEET_SUFFIXES, STATISTICS_SUFFIXES
from .place import STANDARD_INPUT, TableFile, is_several
from .source import FRAMES, Source, class_name
from .textformat import TEXT_SUFFIXES, TextFormat, plain_suffix

if TYPE_CHECKING:
    from .textfile import TextFile

DATABASE_SUFFIXES = (".duckdb", ".sqlite", ".sqlite3", ".db")
TABLE_SUFFIXES = (
    *TEXT_SUFFIXES,
    ".zip",
    *PARQUET_SUFFIXES,
    *ARROW_SUFFIXES,
    *JSON_SUFFIXES,
    *STATISTICS_SUFFIXES,
    *SHEET_SUFFIXES,
    *DATABASE_SUFFIXES,
)
ACCEPTED = (
    "a polars DataFrame or LazyFrame, a pandas DataFrame, a pyarrow Table or RecordBatchReader, a duckdb relation, "
    "a TableFile, or the path of a file: " + ", ".join(TEXT_SUFFIXES) + " (also .gz), " + ", ".join(TABLE_SUFFIXES[4:])
)
_FIRST_BYTES = 16


def open_source(table: object, text: TextFormat, *, exact_counts: bool = False) -> Source:
    """The table as a source; refuses what is not a table.

    ``exact_counts``: errors say how many rows are at fault, not only that some are.
    """
    if isinstance(table, (str, os.PathLike)):
        table = TableFile(table)
    if isinstance(table, TableFile):
        how = TextFormat(table.delimiter or text.delimiter, table.encoding or text.encoding)
        return _open(table, how, exact_counts)
    opener = next((FRAMES[key] for key in map(class_name, type(table).__mro__) if key in FRAMES), None)
    if opener is None:
        raise InputError(f"A table is {ACCEPTED}; got an object of type {type(table).__name__}.")
    source = guarded("The names of the table's columns cannot be read.", opener, table)
    if not all(isinstance(name, str) for name in source.names):
        raise DataError("The names of the table's columns must be texts; rename those that are not.")
    return source


def _open(file: TableFile, text: TextFormat, exact_counts: bool) -> Source:
    if file.is_address:
        _refuse_others(file, "query")
        return formats.open_postgres(str(file.place), file.query)
    if file.place == STANDARD_INPUT:
        _refuse_others(file)
        from .textfile import open_bytes

        return _of_text(open_bytes(Path("standard input"), file.standard_input, text, exact_counts=exact_counts))
    path = file.path
    if is_several(path):
        from .several import files_at, open_files

        _refuse_others(file)
        files = files_at(path, (*TEXT_SUFFIXES, *PARQUET_SUFFIXES))
        return open_files(path, files, lambda part: _open(TableFile(part), text, exact_counts))
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    if not path.is_file():
        raise InputError(f"{path} is a pipe or a device and can be read only once; give it as standard input (-).")
    suffix = plain_suffix(path)
    if suffix in TEXT_SUFFIXES:
        from .textfile import open_text

        _refuse_others(file)
        return _of_text(open_text(path, text, exact_counts=exact_counts))
    if suffix not in _OPENERS or (path.suffix.lower() == ".gz" and suffix not in JSON_SUFFIXES):
        endings = ", ".join(TABLE_SUFFIXES)
        raise InputError(f"{path} has an unknown ending; a file ends in {endings} (texts also in .gz).")
    option, opener = _OPENERS[suffix]
    _refuse_others(file, option)
    reason = None
    try:
        return opener(file, text, exact_counts)
    except OSError as error:  # what libraries raise is caught at the border; this is about opening the file
        reason = error.strerror
    raise InputError(f"Cannot read {path}: {reason}.")


def _of_text(file: TextFile) -> Source:
    return Source("polars", file.names, lambda columns: file.batches({}), file, headed=file.path, untyped=True)


def _zipped(file: TableFile, text: TextFormat, exact_counts: bool) -> Source:
    from .textfile import open_bytes

    name, data = formats.unzipped(file.path, file.member)
    return _of_text(open_bytes(name, data, text, exact_counts=exact_counts))


def _database(file: TableFile, *_: object) -> Source:
    """A file of a database, by its first bytes: some endings mean one or the other."""
    with file.path.open("rb") as stream:
        start = stream.read(_FIRST_BYTES)
    if start.startswith(b"SQLite format 3\0"):
        return formats.open_sqlite(file.path, file.query)
    if start[8:12] == b"DUCK":
        return formats.open_duckdb(file.path, file.query)
    raise DataError(f"{file.path} is no SQLite and no DuckDB database.")


_Opener = Callable[[TableFile, TextFormat, bool], Source]


def _by_suffix() -> dict[str, tuple[str | None, _Opener]]:
    """For each ending the option that may go with it, and how to open the file."""
    families: list[tuple[tuple[str, ...], str | None, _Opener]] = [
        ((".zip",), "member", _zipped),
        (PARQUET_SUFFIXES, None, lambda file, *_: formats.open_parquet(file.path)),
        (ARROW_SUFFIXES, None, lambda file, *_: formats.open_arrow(file.path)),
        (JSON_SUFFIXES, None, lambda file, *_: formats.open_json_lines(file.path)),
        (STATISTICS_SUFFIXES, None, lambda file, text, _: formats.open_statistics(file.path, text.encoding)),
        (SHEET_SUFFIXES, "sheet", lambda file, *_: formats.open_sheet(file.path, file.sheet)),
        (DATABASE_SUFFIXES, "query", _database),
    ]
    return {suffix: (option, opener) for suffixes, option, opener in families for suffix in suffixes}


_OPENERS = _by_suffix()
_MEANT = {"sheet": "spreadsheets", "query": "databases", "member": "zip archives"}


def _refuse_others(file: TableFile, option: str | None = None) -> None:
    """An option that the file does not take is a mistake about the file."""
    for name, meant in _MEANT.items():
        if name != option and getattr(file, name) is not None:
            raise InputError(f"{name}= (--{name}) is for {meant}; the table is none.")
