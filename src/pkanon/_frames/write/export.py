"""The released table to one file in the format that its ending names, for people who use other programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import polars as pl

from ..._errors import InputError
from ..._files import write_file
from ..._schema import Bins, Schema
from .output import write_csv, write_parquet, written
from .spreadsheet import write_sheet
from .statistics import file_names, write_statistics

_STATISTICS = (".sav", ".zsav", ".dta")
_ARROW = (".feather", ".arrow", ".ipc")
EXPORTS = (".csv", ".parquet", *_ARROW, *_STATISTICS, ".xlsx")


def export_suffix(path: Path) -> str:
    """The ending that names the format; refuses any other."""
    suffix = path.suffix.lower()
    if suffix not in EXPORTS:
        raise InputError(f"{path} has an unknown ending; a release is exported to {', '.join(EXPORTS)}.")
    return suffix


def export(
    frame: pl.DataFrame, path: Path, schema: Schema, metadata: Mapping[str, str], about: Sequence[str]
) -> dict[str, str]:
    """Writes the table to a file that does not exist yet; the columns that have another name there, by their own name.

    ``metadata`` goes into a Parquet file, the sentences ``about`` the rows into a workbook, and the order of values into a
    file of SPSS.
    """
    ordinal = {
        a.name for a in schema.randomised if a.released_type == "text" and (a.ordered or isinstance(a.domain, Bins))
    }
    suffix = export_suffix(path)
    write_file(path, lambda unfinished: _write(frame, unfinished, suffix, ordinal, metadata, about))
    if suffix not in _STATISTICS:
        return {}
    return {name: new for name, new in file_names(frame.columns, suffix).items() if new != name}


def _write(
    frame: pl.DataFrame,
    path: Path,
    suffix: str,
    ordinal: Collection[str],
    metadata: Mapping[str, str],
    about: Sequence[str],
) -> None:
    if suffix == ".csv":
        write_csv(frame, path)
    elif suffix == ".parquet":
        write_parquet(frame, path, metadata)
    elif suffix in _ARROW:
        written(lambda: frame.write_ipc(path, compression="zstd"), path)
    elif suffix == ".xlsx":
        written(lambda: write_sheet(frame, path, about), path)
    else:
        written(lambda: write_statistics(frame, path, suffix, ordinal), path)
