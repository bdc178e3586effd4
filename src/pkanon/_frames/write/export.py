"""The released table to one file in the format that its ending names, for people who use other programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import polars as pl

from ..._errors import InputError
from ..._files import write_file
from ..._schema import Bins, Schema
from .output import Frames, write_csv, write_parquet, written
from .spreadsheet import write_sheet
from .statistics import TITLE, file_names, write_statistics

_STATISTICS = (".sav", ".zsav", ".dta")
ARROW = (".feather", ".arrow", ".ipc")
_STREAMED = (".csv", ".parquet", *ARROW)
"""Formats that are written a piece at a time."""
EXPORTS = (".csv", ".parquet", *ARROW, *_STATISTICS, ".xlsx")


def export_suffix(path: Path) -> str:
    """The ending that names the format; refuses any other."""
    suffix = path.suffix.lower()
    if suffix not in EXPORTS:
        raise InputError(f"{path} has an unknown ending; a release is exported to {', '.join(EXPORTS)}.")
    return suffix


def export(
    frame: pl.DataFrame | Frames,
    path: Path,
    schema: Schema,
    metadata: Mapping[str, str],
    about: Sequence[str],
    *,
    title: str = TITLE,
) -> dict[str, str]:
    """Writes the table to a file that does not exist yet; the columns that have another name there, by their own name.

    ``metadata`` goes into a Parquet file, the sentences ``about`` the rows into a workbook, the ``title`` and the order of values
    into a file of SPSS or Stata.
    """
    ordinal = {
        a.name for a in schema.randomised if a.released_type == "text" and (a.ordered or isinstance(a.domain, Bins))
    }
    suffix = export_suffix(path)
    if isinstance(frame, Frames) and suffix not in _STREAMED:
        frame = frame.lazy().collect()
    write_file(path, lambda unfinished: _write(frame, unfinished, suffix, ordinal, metadata, about, title))
    if suffix not in _STATISTICS:
        return {}
    return {name: new for name, new in file_names(list(frame.schema), suffix).items() if new != name}


def _write(
    frame: pl.DataFrame | Frames,
    path: Path,
    suffix: str,
    ordinal: Collection[str],
    metadata: Mapping[str, str],
    about: Sequence[str],
    title: str,
) -> None:
    if suffix == ".csv":
        write_csv(frame, path)
    elif suffix == ".parquet":
        write_parquet(frame, path, metadata)
    elif suffix in ARROW:
        written(lambda: frame.lazy().sink_ipc(path, compression="zstd"), path)
    elif isinstance(frame, Frames):
        raise AssertionError("this format is not written a piece at a time")
    elif suffix == ".xlsx":
        written(lambda: write_sheet(frame, path, about), path)
    else:
        written(lambda: write_statistics(frame, path, suffix, ordinal, title=title, notes=about), path)
