"""Files of SPSS, Stata and SAS, by pyreadstat, some rows at a time.

What the file says about its codes is kept: value labels, which codes mean missing (they are read as null, and their labels
are no values), and whether the codes are an order. These formats know doubles only, or hardly more: a column of whole numbers
is read as integers. They have no missing texts: an empty text is missing. A text may stand for a number. The encoding of an
old file can be given.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ...._errors import DataError, missing_package
from ...border import guarded
from ..labels import Labels, with_whole_numbers
from ..source import BATCH, Batches, Source

_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_PROGRAMS = {".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS"}
_SLOW_TO_SKIP = (".sas7bdat", ".xpt", ".por", ".zsav")
"""Files in which rows cannot be skipped quickly: they are read in larger steps."""

_RECORD = 80
"""Bytes of which a SAS transport file is a multiple."""


def open_statistics(path: Path, encoding: str | None = None) -> Source:
    """A file of SPSS, Stata or SAS."""
    suffix = path.suffix.lower()
    program = _PROGRAMS.get(suffix, "SPSS")
    pyreadstat = _package(program)
    reader = getattr(pyreadstat, _READERS[suffix])
    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    damaged = f"{path} is not a complete {program} file ({suffix}), or its encoding must be named (--encoding)."

    def read(columns: Sequence[str]) -> Batches:
        step = 2 * BATCH if suffix in _SLOW_TO_SKIP else BATCH
        start, rows = 0, step
        while rows == step:
            frame = guarded(damaged, rows_from, columns, start, step)
            rows = frame.height
            start += rows
            if rows or start == 0:
                yield frame, min(start / total, 1.0) if total else 0.0
        if total and start != total:
            raise DataError(damaged)

    def rows_from(columns: Sequence[str], start: int, count: int) -> pl.DataFrame:
        found, _ = reader(
            str(path), usecols=list(columns), row_offset=start, row_limit=count, output_format="polars", **options
        )
        return pl.DataFrame([_plain(found[name]) for name in columns])

    described = dict(options) if suffix not in (".sav", ".zsav") else {**options, "user_missing": True}
    _, about = guarded(damaged, reader, str(path), metadataonly=True, output_format="polars", **described)
    if suffix == ".xpt" and path.stat().st_size % _RECORD:  # such a file does not say how many rows it has
        raise DataError(damaged)
    names = tuple(about.column_names)
    total = about.number_rows or 0
    if not names:
        raise DataError(f"{path} has no columns.")
    missing: Mapping[str, Any] = about.missing_ranges
    labels = {name: _labels(about.variable_value_labels.get(name, {}), missing.get(name, ())) for name in names}
    return Source(
        "polars",
        names,
        read,
        labels={name: found for name, found in labels.items() if found},
        gaps=frozenset(missing),
        ordinal=frozenset(name for name in names if about.variable_measure.get(name) == "ordinal"),
        untyped=True,
    )


def _labels(labels: Mapping[Any, str], missing: Sequence[Mapping[str, Any]]) -> Labels:
    """The labels of codes that are values, in the order of the codes."""
    kept = {code: label.strip() for code, label in labels.items() if not _is_missing(code, missing)}
    # Stata's missing codes .a to .z come as letters among numbers
    if any(not isinstance(code, str) for code in kept):
        kept = {code: label for code, label in kept.items() if not isinstance(code, str)}
    return {code: kept[code] for code in sorted(kept) if kept[code]}


def _is_missing(code: Any, missing: Sequence[Mapping[str, Any]]) -> bool:
    return any(type(code) is type(each["lo"]) and each["lo"] <= code <= each["hi"] for each in missing)


def _plain(column: pl.Series) -> pl.Series:
    if isinstance(column.dtype, pl.String):
        return column.replace("", None)
    return with_whole_numbers(column)


def _package(program: str) -> Any:
    try:
        return importlib.import_module("pyreadstat")
    except ImportError:
        pass
    raise missing_package(f"Reading files of {program} needs the package pyreadstat", "statistics")
