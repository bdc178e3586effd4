"""Where a table is, if that takes more than a path to say: a sheet, a query, one file of an archive, standard input.

An address with a password in it is refused at once and never repeated: it would stand in the history of a shell and in
the list of processes. libpq reads passwords from the environment or from a file; so do we.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from ..._errors import EnvironmentFailure, InputError

STANDARD_INPUT = "-"
_MARKS = ("*", "?", "[")
_ADDRESSES = ("postgresql://", "postgres://")
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True)
class TableFile:
    """A file or a database that holds a table, and how to open it.

    Every function that takes a table takes one of these; a path alone will do where nothing else has to be said.

    Parameters
    ----------
    place
        The path of a file; "-" for delimited text on standard input; or the address of a PostgreSQL database, such as
        "postgresql://?service=people". An address must not hold a password: it comes from PGPASSWORD, PGPASSFILE or a
        service file.
    sheet
        The name of a sheet of a spreadsheet; needed where there are several.
    query
        What to read from a database: the name of a table, or a SELECT; needed where there are several tables.
    member
        The name of a file in a zip archive; needed where there are several.
    delimiter
        The character between the fields of a text file.
    encoding
        The encoding of a text file, or of an old file of SPSS, Stata or SAS that does not name its own.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.sqlite")
    ...     with sqlite3.connect(file) as database:
    ...         _ = database.execute("CREATE TABLE people (sex, age)")
    ...         _ = database.executemany("INSERT INTO people VALUES (?, ?)", [("F", 30), ("M", 40), ("F", 30), ("M", 40)])
    ...     database.close()
    ...     pk.anonymity(pk.TableFile(file, query="SELECT sex FROM people WHERE age < 50"), ["sex"])
    2
    """

    place: str | os.PathLike[str]
    sheet: str | None = None
    query: str | None = None
    member: str | None = None
    delimiter: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.place, (str, os.PathLike)):
            raise InputError("A table file is given by its path, by - for standard input, or by postgresql://.")
        if self.is_address:
            _refuse_secrets(str(self.place))

    @property
    def is_address(self) -> bool:
        """Whether the place is a PostgreSQL database."""
        return is_address(self.place)

    @property
    def path(self) -> Path:
        """The place as a path."""
        return Path(self.place)

    @cached_property
    def standard_input(self) -> bytes:
        """Everything on standard input, read once and kept: a table may be read more than once."""
        if sys.stdin is None:
            raise EnvironmentFailure("There is no standard input here.")
        if sys.stdin.isatty():
            raise InputError("Standard input is a terminal; send a file to it, as in: pkanon schema - < people.csv")
        return sys.stdin.buffer.read()


def is_several(place: Path) -> bool:
    """Whether a place is a folder, or a pattern that is not the name of a file."""
    return place.is_dir() or (is_pattern(str(place)) and not place.exists())


def is_pattern(text: str) -> bool:
    """Whether a text could name several files."""
    return any(mark in text for mark in _MARKS)


def is_address(place: object) -> bool:
    """Whether something is the address of a PostgreSQL database."""
    return isinstance(place, str) and place.lower().startswith(_ADDRESSES)


def _refuse_secrets(address: str) -> None:
    try:
        parts = urlsplit(address)
        secret = parts.password is not None or any(key.lower() in _SECRETS for key, _ in parse_qsl(parts.query, True))
    except ValueError:
        parts = None  # its message quotes the address
    if parts is None:
        raise InputError("The address of the database cannot be read; write postgresql://user@host/database.")
    if secret:
        raise InputError(
            "The address of the database holds a password; leave it out, and give it by PGPASSWORD, by a password file "
            "(PGPASSFILE) or by a service file (postgresql://?service=NAME)."
        )
