"""Delimiter and encoding of a text file that nobody described, for a draft only.

A draft is a proposal, so it may guess and say so; a release never does. The delimiter is the character
that splits the header into most fields and the following lines into as many. A text that is not UTF-8 is
taken for Windows-1252 where it has one of its own characters, else for Latin-1; with a byte order mark of
UTF-16, for that.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..border import guarded
from ..read import TextFormat, is_utf8

_DELIMITERS = (",", ";", "\t", "|")
_LINES = 50
_START = 1 << 18
_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"


def described(path: Path, text: TextFormat) -> TextFormat:
    """The format with what nobody gave and the standard does not fit; the given one where the standard fits."""
    encoding = text.encoding or guarded(f"{path} cannot be read.", _encoding, path)
    if text.delimiter is None:
        mark = guarded(f"{path} cannot be read.", _delimiter, path, encoding or "utf-8-sig")
        text = replace(text, delimiter=mark)
    return replace(text, encoding=encoding)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        zipped = stream.read(2) == _GZIP
    with gzip.open(path, "rb") if zipped else path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _encoding(path: Path) -> str | None:
    """What the bytes must be if they are not UTF-8; None if they are."""
    start = next(_pieces(path), b"")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start or is_utf8(_pieces(path)):
        return None  # NUL bytes are no text; the reader says so
    undefined = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
    windows = bytes(byte for byte in range(0x80, 0xA0) if byte not in undefined)
    found = b"".join(piece.translate(None, bytes(range(0x80)) + bytes(range(0xA0, 0x100))) for piece in _pieces(path))
    return "cp1252" if found and set(found) <= set(windows) else "latin-1"


def _delimiter(path: Path, encoding: str) -> str | None:
    """The character between the fields, if it is not the one that the name of the file stands for."""
    start = next(_pieces(path), b"")[:_START]
    lines = codecs.getincrementaldecoder(encoding)("replace").decode(start)
    cut = len(start) == _START
    widths = {mark: _width(lines, mark, cut) for mark in _DELIMITERS}
    usual = "\t" if {suffix.lower() for suffix in path.suffixes[-2:]} & {".tsv", ".tab"} else ","
    best = max(_DELIMITERS, key=lambda mark: (widths[mark], mark == usual))
    return None if best == usual or widths[best] == 1 else best


def _width(lines: str, mark: str, cut: bool) -> int:
    """How many fields every one of the first lines has; 1 if they differ, or if the character splits nothing.

    ``cut``: the last line may not be complete.
    """
    try:
        reader = csv.reader(io.StringIO(lines, newline=""), delimiter=mark, strict=True)
        records = list(itertools.islice(reader, _LINES))
    except csv.Error:
        return 1
    if cut and len(records) < _LINES:
        records = records[:-1]
    widths = {len(record) for record in records if record}
    return widths.pop() if len(widths) == 1 else 1
