"""A table in several files: a pattern such as ``people/*.csv.gz``, or a folder with files in it.

The rows are those of the files in the order of their paths. All files are of one format and have the same columns, in any
order. A folder is searched with the folders in it; names that begin with a dot or an underscore are passed over. A folder
called ``region=north`` adds a column ``region`` with the text ``north`` to the rows of its files. A link to a file that is not
there is refused: people would be missing without a word.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from ..._errors import DataError, InputError
from .place import is_pattern
from .source import Batches, Source
from .textformat import Reading, plain_suffix

_KEY = re.compile(r"([^=/]+)=(.*)")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def files_at(place: Path, suffixes: Sequence[str]) -> list[Path]:
    """The files of a folder or a pattern that have one of these endings, in the order of their paths."""
    if place.is_dir():
        found = [path for path in place.rglob("*") if not _hidden(path.relative_to(place))]
    else:
        found = [Path(path) for path in glob.glob(str(place), recursive=True)]
    named = sorted(path for path in found if plain_suffix(path) in suffixes)
    if lost := [path for path in named if path.is_symlink() and not path.exists()]:
        raise InputError(f"{lost[0]} is a link to a file that is not there.")
    files = [path for path in named if path.is_file()]
    if not files:
        kind = "folder" if place.is_dir() else "pattern"
        raise InputError(f"The {kind} {place} holds no table; a table in several files ends in {', '.join(suffixes)}.")
    if len(kinds := {plain_suffix(path) for path in files}) > 1:
        raise InputError(
            f"{place} holds files of several formats ({', '.join(sorted(kinds))}); give a pattern for one."
        )
    return files


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def open_files(place: Path, files: Sequence[Path], opener: Callable[[Path], Source]) -> Source:
    """The rows of all files as one table."""
    parts = [_Part(path, opener(path), _keys(place, path), path.stat().st_size) for path in files]
    first = parts[0]
    for part in parts:
        if set(part.names) != set(first.names) or len(part.names) != len(first.names):
            raise DataError(f"{part.path} has other columns than {first.path}; the files of one table have the same.")
    return first.source._replace(
        names=first.names, read=lambda columns: _read(parts, columns, None), parts=_Parts(parts)
    )


@dataclass(frozen=True)
class _Part:
    """One file; ``keys`` are the columns that its folders name."""

    path: Path
    source: Source
    keys: Mapping[str, str | None]
    size: int

    def __post_init__(self) -> None:
        if twice := [name for name in self.keys if name in self.source.names]:
            raise DataError(f"{self.path} has a column '{twice[0]}', and a folder names one, too; remove one of them.")

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.source.names, *self.keys)


@dataclass(frozen=True)
class _Parts:
    """What :meth:`Source.batches` reads where a table is in several files."""

    parts: Sequence[_Part]

    def batches(self, columns: Sequence[str], readings: Mapping[str, Reading] | None) -> Batches:
        return _read(self.parts, columns, readings)

    def likely_rows(self) -> float | None:
        """About how many rows there are, judged by the first file."""
        rows = self.parts[0].source.likely_rows()
        return None if rows is None else rows * sum(part.size for part in self.parts) / max(self.parts[0].size, 1)


def _read(parts: Sequence[_Part], columns: Sequence[str], readings: Mapping[str, Reading] | None) -> Batches:
    total, before = max(sum(part.size for part in parts), 1), 0
    for part in parts:
        own = [name for name in columns if name not in part.keys]
        for frame, share in part.source.batches(own or part.source.names[:1], readings):
            keys = [pl.lit(value, pl.String).alias(name) for name, value in part.keys.items() if name in columns]
            yield frame.with_columns(keys), (before + share * part.size) / total
        before += part.size


def _keys(place: Path, path: Path) -> dict[str, str | None]:
    """The columns that the folders between a place and a file name."""
    fixed = place if place.is_dir() else Path(*_before_pattern(place))
    folders = path.parent.relative_to(fixed).parts
    found = [match for folder in folders if (match := _KEY.fullmatch(folder))]
    values = {unquote(match[1]): unquote(match[2]) for match in found}
    return {name: None if value == _NO_VALUE else value for name, value in values.items()}


def _before_pattern(place: Path) -> list[str]:
    parts: list[str] = []
    for part in place.parts:
        if is_pattern(part):
            break
        parts.append(part)
    return parts
