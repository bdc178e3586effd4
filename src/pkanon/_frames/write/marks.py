"""Rows to one file, with a mark that says what they are.

The mark goes where the format has a place for it: into the metadata of a Parquet file, into the label of a file of SPSS or Stata
(and the notes of SPSS), to a sheet of its own in a workbook. CSV and Arrow have none: a file beside it,
``rows.csv-metadata.json``, says it, in the form that the W3C gave to metadata of CSV files. It is written first and taken away
if the rows cannot be written, so rows without their mark are never left behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ..._files import check_free, write_new
from ..._schema import Schema
from .export import ARROW, export, export_suffix
from .output import Frames


@dataclass(frozen=True)
class Mark:
    """What a file of rows says of itself: a short ``title``, ``sentences``, and ``metadata`` for programs (key and JSON)."""

    title: str
    sentences: Sequence[str]
    metadata: Mapping[str, str]


def beside(path: Path) -> Path | None:
    """The file that holds the mark of another one; None if that has room for it."""
    return path.with_name(f"{path.name}-metadata.json") if export_suffix(path) in (".csv", *ARROW) else None


def export_marked(frame: pl.DataFrame | Frames, path: Path, schema: Schema, mark: Mark) -> dict[str, str]:
    """Writes the rows to a file that does not exist yet; the columns that have another name there, by their own name."""
    note = beside(path)
    if note is None:
        return export(frame, path, schema, mark.metadata, mark.sentences, title=mark.title)
    check_free(path)
    write_new(note, _note(path, frame.schema, mark))
    try:
        return export(frame, path, schema, mark.metadata, mark.sentences, title=mark.title)
    except BaseException:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        raise


def _note(path: Path, columns: Mapping[str, pl.DataType], mark: Mark) -> str:
    about = {
        "@context": "http://www.w3.org/ns/csvw",
        "url": path.name,
        "dc:title": mark.title,
        "dc:description": " ".join(mark.sentences),
        **{key: json.loads(text) for key, text in mark.metadata.items()},
        "tableSchema": {"columns": [{"titles": name} for name in columns]},
    }
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"
