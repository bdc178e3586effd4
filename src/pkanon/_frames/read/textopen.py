"""Opening a delimited text file: which delimiter, which encoding, compressed or not.

gzip and encodings other than UTF-8 are undone in memory, a piece at a time, never in a temporary file: nobody's data
is left on a disk. A plain UTF-8 file is not touched here; polars maps it.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..._errors import DataError, InputError
from ..border import guarded, guarded_steps
from .structure import PIECE
from .textformat import TextFormat, plain_suffix

_TAB_SUFFIXES = (".tsv", ".tab")
_GZIP = b"\x1f\x8b"
_BLANK_LINES = re.compile(rb"\n(\r?\n)+\Z")


def separator_of(path: Path, text: TextFormat) -> str:
    """The character between fields."""
    mark = text.delimiter
    if mark is None:
        return "\t" if plain_suffix(path) in _TAB_SUFFIXES else ","
    mark = "\t" if mark == "\\t" else mark  # what a shell passes on when somebody types '\t'
    if len(mark) != 1 or not mark.isascii() or mark in '"\n\r\0' or mark.isalnum():
        raise InputError("A delimiter is one ASCII character such as ',', ';', '|' or a tab ('\\t').")
    return mark


@dataclass(frozen=True)
class Packed:
    """A text file that polars cannot read as it is: it is compressed, or in another encoding than UTF-8."""

    path: Path
    zipped: bool
    encoding: str | None

    def pieces(self, told: Callable[[float], None] | None = None) -> Iterator[bytes]:
        """The text in UTF-8, a piece at a time; ``told`` hears which share of the file has been read."""
        size = max(self.path.stat().st_size, 1)
        with self.path.open("rb") as file:
            steps = self._unpacked(file)
            if (codec := _codec(self.encoding)) is not None:
                steps = guarded_steps(DataError, not_in(self.path, self.encoding), _recoded(steps, codec))
            for piece in steps:
                if told is not None:
                    told(min(file.tell() / size, 1.0))
                if piece:
                    yield piece

    def _unpacked(self, file: BinaryIO) -> Iterator[bytes]:
        if not self.zipped:
            return iter(lambda: file.read(PIECE), b"")
        unzipped = gzip.GzipFile(fileobj=file)
        return guarded_steps(DataError, damaged_gzip(self.path), iter(lambda: unzipped.read(PIECE), b""))


def packed(path: Path, text: TextFormat) -> Packed | None:
    """How a text file has to be unpacked or recoded; None: the file itself is the text."""
    codec = _codec(text.encoding)
    with path.open("rb") as stream:
        zipped = stream.read(2) == _GZIP
    if path.suffix.lower() == ".gz" and not zipped:
        raise DataError(f"{path} is called .gz but is not a gzip file.")
    return None if not zipped and codec is None else Packed(path, zipped, text.encoding)


def unpacked(path: Path, data: bytes, text: TextFormat) -> bytes:
    """The text of a file with these bytes, in UTF-8; ``path`` is its name in messages."""
    codec = _codec(text.encoding)
    if data.startswith(_GZIP):
        data = guarded(damaged_gzip(path), gzip.decompress, data)
    if codec is None:
        return data
    starts = range(0, len(data), PIECE)
    pieces = _recoded((data[start : start + PIECE] for start in starts), codec)
    return guarded(not_in(path, text.encoding), b"".join, pieces)


def damaged_gzip(path: Path) -> str:
    return f"{path} is a damaged or incomplete gzip file."


def not_in(path: Path, encoding: str | None) -> str:
    return f"{path} is not text in the encoding {encoding}."


def without_blank_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces of a text without blank lines at its very end."""
    held = b""
    for piece in pieces:
        body = piece.rstrip(b"\r\n")
        if body:
            yield held + body if held else body
            held = piece[len(body) :]
        else:
            held += piece
    if held:
        yield b"\n" if held.count(b"\n") > 1 else held


def without_blank_end(path: Path, data: bytes | None) -> bytes | None:
    """The text without blank lines at its very end; None: there are none and the file itself is the text.

    Only for files of several columns: in a file of one, a blank line is a missing value.
    """
    if data is None:
        with path.open("rb") as stream:
            stream.seek(max(path.stat().st_size - 8, 0))
            tail = stream.read()
        if not _BLANK_LINES.search(tail):
            return None
        data = path.read_bytes()
    return data.rstrip(b"\r\n") + b"\n" if _BLANK_LINES.search(data[-8:]) else data


def _codec(encoding: str | None) -> codecs.CodecInfo | None:
    """How to decode; None where nothing has to be done because the text is UTF-8 already."""
    if encoding is None:
        return None
    codec: codecs.CodecInfo | None = None
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)  # refuses codecs that do not make text, such as zlib
    except (LookupError, ValueError):
        codec = None
    if codec is None:
        raise InputError(f"The encoding '{encoding}' is unknown; try utf-8, latin-1, cp1252 or utf-16.")
    return None if codec.name in ("utf-8", "utf-8-sig", "ascii") else codec


def _recoded(pieces: Iterable[bytes], codec: codecs.CodecInfo) -> Iterator[bytes]:
    decoder = codec.incrementaldecoder("strict")
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()
