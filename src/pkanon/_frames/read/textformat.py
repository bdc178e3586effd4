"""What is said of a delimited text file before it is opened: how it is written, and how each column is to be read.

Every table may be a text file, so everybody asks for this; what opens and reads one (textopen.py, textfile.py) is loaded for a
text file alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written.

    Parameters
    ----------
    delimiter
        The character between fields; None: by the name of the file (.tsv and .tab: tab, else a comma).
    encoding
        The encoding; None: UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("sex;town\\nF;Forlì\\nF;Forlì\\n", encoding="latin-1")
    ...     pk.anonymity(file, ["sex", "town"], text=pk.TextFormat(delimiter=";", encoding="latin-1"))
    2
    """

    delimiter: str | None = None
    encoding: str | None = None


PLAIN = TextFormat()


def plain_suffix(path: Path) -> str:
    """The suffix that names the format, without ``.gz``, in small letters."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_text_file(path: Path) -> bool:
    """Whether there is such a file, and its name says that it is a delimited text."""
    return plain_suffix(path) in TEXT_SUFFIXES and path.is_file()


class Reading(NamedTuple):
    """How one column of a text file is read: its polars type, and a text that means missing.

    ``takes_anything``: a field that swallowed a line end could pass as a value of this column. ``listed`` is a type that holds
    the declared texts alone, which saves making texts of fields. polars overlooks what follows the quotes of such a field, so
    that quotes have to be looked at.
    """

    dtype: pl.DataType
    missing_text: str | None = None
    takes_anything: bool = False
    listed: pl.Enum | None = None


AS_TEXT = Reading(pl.String(), takes_anything=True)
