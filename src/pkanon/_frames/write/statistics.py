"""A released table to files of SPSS and Stata, by pyreadstat.

Texts, bins and truth values become codes 1, 2, 3 ... (0 and 1 for truth values) with value labels for the whole domain, in the
order of the schema. A missing value is the system's own. Dates are dates. Names that the program does not take are rewritten,
and the name as it was becomes the label of the variable.
"""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..._errors import InputError, missing_package

TITLE = "Randomised rows (pkanon): counts are biased, correct with plan.json"
_TRUTH = {0: "false", 1: "true"}
_LONGEST_LABEL = {".sav": 120, ".zsav": 120, ".dta": 32_000}
_LONGEST_NAME = {".sav": 64, ".zsav": 64, ".dta": 32}
_RESERVED = frozenset(
    (
        *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),  # SPSS
        *("byte", "double", "float", "if", "in", "int", "long", "using", "strl"),  # Stata
    )
)


def write_statistics(
    frame: pl.DataFrame,
    path: Path,
    suffix: str,
    ordinal: Collection[str],
    *,
    title: str = TITLE,
    notes: Sequence[str] = (),
) -> None:
    """Writes a file of SPSS (.sav, .zsav) or Stata (.dta) under a ``title``.

    SPSS is told that the values of ``ordinal`` columns are an order, and gets the ``notes``.
    """
    pyreadstat = _package()
    names = file_names(frame.columns, suffix)
    labels = {names[name]: found for name in frame.columns if (found := _labels(frame[name], suffix))}
    columns = pl.DataFrame([_column(frame[name]).alias(names[name]) for name in frame.columns])
    renamed = {new: old[:80] for old, new in names.items() if new != old}
    if suffix == ".dta":
        pyreadstat.write_dta(
            columns, str(path), file_label=title[:80], column_labels=renamed, variable_value_labels=labels
        )
        return
    pyreadstat.write_sav(
        columns,
        str(path),
        file_label=title[:64],
        note=_lines(notes),
        column_labels=renamed,
        variable_value_labels=labels,
        variable_measure={names[name]: _measure(frame[name], ordinal) for name in frame.columns},
        variable_format={name: "F8.0" for name, dtype in columns.schema.items() if dtype.is_integer()},
        compress=suffix == ".zsav",
        row_compress=suffix == ".sav",
    )


def _lines(notes: Sequence[str]) -> list[str]:
    """Notes as SPSS holds them: plain characters, 80 to a line."""
    plain = " ".join(notes).encode("ascii", "replace").decode()
    return textwrap.wrap(plain, 80)


def file_names(columns: Sequence[str], suffix: str) -> dict[str, str]:
    """The name of each column in the file: its own, or the nearest one that the program takes."""
    most = _LONGEST_NAME[suffix]
    names: dict[str, str] = {}
    taken: set[str] = set()
    for column in columns:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", column)
        if not plain[0].isalpha() or plain.casefold() in _RESERVED or re.fullmatch(r"str[0-9]+", plain):
            plain = "v_" + plain
        name, number = plain[:most], 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain[: most - 4]}_{number}"
        taken.add(name.casefold())
        names[column] = name
    return names


def _labels(column: pl.Series, suffix: str) -> Mapping[int, str]:
    if isinstance(column.dtype, pl.Boolean):
        return _TRUTH
    if not isinstance(column.dtype, pl.Enum):
        return {}
    texts = column.dtype.categories.to_list()
    if any(len(text.encode()) > _LONGEST_LABEL[suffix] for text in texts):
        raise InputError(
            f"Attribute '{column.name}' has a value of more than {_LONGEST_LABEL[suffix]:,} bytes, which {suffix} does not take; "
            "choose another format."
        )
    return dict(enumerate(texts, start=1))


def _column(column: pl.Series) -> pl.Series:
    dtype = column.dtype
    if isinstance(dtype, pl.Enum):
        return column.to_physical().cast(pl.Int32) + 1
    if isinstance(dtype, pl.Boolean):
        return column.cast(pl.Int32)
    if isinstance(dtype, pl.Categorical):
        return column.cast(pl.String)
    if dtype.is_integer() and not isinstance(dtype, pl.Int64):
        return column.cast(pl.Int64)
    if dtype.is_decimal() or isinstance(dtype, pl.Float32):
        return column.cast(pl.Float64)
    return column


def _measure(column: pl.Series, ordinal: Collection[str]) -> str:
    if column.name in ordinal:
        return "ordinal"
    return "scale" if column.dtype.is_numeric() or column.dtype.is_temporal() else "nominal"


def _package() -> Any:
    try:
        return importlib.import_module("pyreadstat")
    except ImportError:
        pass
    raise missing_package("Writing files of SPSS and Stata needs the package pyreadstat", "statistics")
