"""A delimited text file: its header, its columns in batches, and why it cannot be read if it cannot.

The first line is the header; fields are quoted as in RFC 4180. Refused, because a reader would
otherwise lose or bend rows silently: lines shorter or longer than the header (blank ones too, except
at the very end), quotes that are not closed or stand inside a field, NUL bytes, bytes that are not
of the encoding, a damaged gzip file.

Two liberties are polars' own: blanks before a number (a number field of blanks only is an empty one)
and a carriage return at the end of a field are ignored.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from ..._errors import DataError, EnvironmentFailure, InputError
from ..border import Unreadable, guarded, guarded_as, guarded_steps, rows
from .structure import PIECE, Look, is_utf8, look, records, separators, stray_quotes, uneven_lines, whole_lines
from .textformat import Reading, TextFormat
from .textopen import Packed, packed, separator_of, unpacked, without_blank_end, without_blank_lines

_LIKELY_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_HEADER = 1 << 24
CHUNK = 1 << 24
"""Bytes of unpacked text that are read together."""
_LOOKED_AT_FIRST = 1 << 28
"""Bytes of a text from which on it is looked at before it is read."""


@dataclass(frozen=True)
class TextFile:
    """An existing file. Where the file itself cannot be handed to polars, ``data`` is its text in UTF-8, or ``packed`` unpacks it.

    ``exact_counts``: errors say how many lines are at fault, not only that some are.
    """

    path: Path
    separator: str
    delimiter_given: bool
    data: bytes | None
    exact_counts: bool = False
    packed: Packed | None = None

    def pieces(self, told: Callable[[float], None] | None = None) -> Iterator[bytes]:
        """The text, a piece at a time, without the byte order mark; ``told`` hears the share of a packed file."""
        if self.packed is None:
            return self._plain_pieces()
        text = _without_mark(self.packed.pieces(told))
        return without_blank_lines(text) if len(self.names) > 1 else text

    def _plain_pieces(self) -> Iterator[bytes]:
        with self.path.open("rb") if self.data is None else io.BytesIO(self.data) as stream:
            if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
                stream.seek(0)
            while piece := stream.read(PIECE):
                yield piece

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fields of the header as they stand there; polars would rename a repeated one."""
        header = self._header()
        text = guarded(self._wrong_encoding, header.decode)
        if not text.strip():
            raise DataError(f"{self.path} starts with an empty line; its first line must name the columns.")
        if "\r" in text.removesuffix("\n").removesuffix("\r") and '"' not in text:
            raise DataError(f"The lines of {self.path} end with a bare carriage return; save it with LF or CRLF ends.")
        fields = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator, strict=True)
        return tuple(guarded(f"The header of {self.path} has a quote in the wrong place.", next, fields))

    def _header(self) -> bytes:
        """The bytes up to the first line end outside quotes."""
        header = b""
        for piece in self._plain_pieces() if self.packed is None else _without_mark(self.packed.pieces()):
            header += piece
            if b"\0" in piece:
                raise DataError(self._has_nul)
            end = header.find(b"\n")
            while end >= 0 and header.count(b'"', 0, end) % 2:
                end = header.find(b"\n", end + 1)
            if end >= 0:
                return header[: end + 1]
            if len(header) > _LONGEST_HEADER:
                raise DataError(f"The header of {self.path} does not end; is a quote left open?")
        if not header:
            raise DataError(f"{self.path} is empty.")
        return header

    @property
    def likely_delimiter(self) -> str | None:
        """The delimiter that a header of one field seems to be written with; None when there is nothing odd."""
        if len(self.names) != 1:
            return None
        return next((mark for mark in _LIKELY_DELIMITERS if mark != self.separator and mark in self.names[0]), None)

    def batches(self, readings: Mapping[str, Reading]) -> Iterator[tuple[pl.DataFrame, float]]:
        """All columns, some rows at a time, each with the share of the file read so far.

        Raises :class:`Unreadable` when polars gives up; :meth:`diagnosis` then says why. Unwanted
        columns are read too: polars overlooks a long line when some are left out.
        """
        names = self.names
        careful = any(readings[name].takes_anything or readings[name].listed is not None for name in names)
        done, gaps = 0, 0
        options = self._options(readings)
        unreadable = None
        with self._looked_at(self.separator if careful else None) as looked:
            try:
                for frame, share in self._chunks(options) if self.packed else self._scanned(options):
                    done += frame.height
                    gaps += frame[names[-1]].null_count()
                    yield frame, share
            except Unreadable as error:
                unreadable = error
            seen = looked()
        self._refuse(seen)  # what the bytes say comes first
        if unreadable is not None:
            raise unreadable
        # A signal that somebody else handles makes polars stop early, as if the file ended there. Line ends
        # inside quotes are rare, and slow to tell from others: they are looked for only if the plain count differs.
        if done + 1 != seen.lines and not (seen.quotes and done + 1 == records(self.pieces(), self.separator)):
            if seen.quotes and stray_quotes(self.pieces(), self.separator):
                raise DataError(self._stray_quote)
            raise EnvironmentFailure(f"Reading {self.path} stopped before its end; run it again, undisturbed.")
        # polars overlooks one separator too many at the very end, too.
        if (seen.last == self.separator or self._may_be_short(done, gaps)) and (problem := self._uneven()) is not None:
            raise DataError(problem)

    @contextmanager
    def _looked_at(self, separator: str | None) -> Iterator[Callable[[], Look]]:
        """What a look at the bytes finds, once it is asked for; a thread looks while the text is read.

        A long text is looked at before: after a quote that stays open, polars would have all the rest in memory.
        """
        failed = f"{self.path} cannot be read."
        if self.likely_bytes() > _LOOKED_AT_FIRST:
            seen = guarded(failed, look, self.pieces(), separator)
            self._refuse(seen)
            yield lambda: seen
            return
        with ThreadPoolExecutor(1) as pool:
            looking = pool.submit(guarded, failed, look, self.pieces(), separator)
            yield looking.result

    def _refuse(self, seen: Look) -> None:
        if seen.nul:
            raise DataError(self._has_nul)
        if seen.stray or seen.quotes % 2:
            raise DataError(self._stray_quote)

    def _scanned(self, options: Mapping[str, Any]) -> Iterator[tuple[pl.DataFrame, float]]:
        """The rows of a text that polars can look at as a whole, in batches that it cuts."""
        lazy = pl.scan_csv(
            self.path if self.data is None else self.data,
            skip_rows=1,  # the header has been read; polars would rename its columns
            glob=False,
            **options,
        )
        failed = f"{self.path} cannot be read."
        steps = guarded_as(Unreadable, failed, lazy.collect_batches, maintain_order=True)
        done, total = 0, self.likely_rows()
        for frame in guarded_steps(Unreadable, failed, steps):
            done += frame.height
            yield frame, min(done / total, 1.0)

    def _chunks(self, options: Mapping[str, Any]) -> Iterator[tuple[pl.DataFrame, float]]:
        """The rows of a text that is unpacked on the way, some megabytes at a time."""
        share = 0.0

        def told(read: float) -> None:
            nonlocal share
            share = read

        failed = f"{self.path} cannot be read."
        for chunk in whole_lines(self.pieces(told), len(self._header()), CHUNK):
            frame = guarded_as(Unreadable, failed, pl.read_csv, chunk, **options)
            if frame.height:
                yield frame, share

    def _options(self, readings: Mapping[str, Reading]) -> dict[str, Any]:
        nulls = {name: reading.missing_text for name, reading in readings.items() if reading.missing_text is not None}
        return {
            "has_header": False,
            "schema": {name: readings[name].listed or readings[name].dtype for name in self.names},
            "separator": self.separator,
            "null_values": nulls or None,
        }

    def _may_be_short(self, count: int, gaps: int) -> bool:
        """Whether a line may have been filled up with nulls; then the last column has gaps."""
        if not gaps or len(self.names) == 1:
            return False
        return separators(self.pieces(), self.separator) != (len(self.names) - 1) * (count + 1)

    def likely_bytes(self) -> float:
        """The length of the text; a packed one is taken to shrink as much all along as in the first piece."""
        return self._likely_length()[0]

    def likely_rows(self) -> float:
        """The number of rows, judged by the first piece."""
        length, first = self._likely_length()
        return max(length * first.count(b"\n") / max(len(first), 1), 1.0)

    def _likely_length(self) -> tuple[float, bytes]:
        size = self.path.stat().st_size if self.data is None else len(self.data)
        read = 0.0

        def told(share: float) -> None:
            nonlocal read
            read = share

        first = next(self.pieces(told), b"")
        return (len(first) / read if read else size), first

    def diagnosis(self) -> str:
        """Why polars gave up, as far as the bytes tell."""
        if not is_utf8(self.pieces()):
            return self._wrong_encoding
        if stray_quotes(self.pieces(), self.separator):
            return self._stray_quote
        return self._uneven() or f"{self.path} cannot be read as a table."

    def _uneven(self) -> str | None:
        width = len(self.names)
        short, long = uneven_lines(self.pieces(), self.separator, width)
        if short:
            return (
                f"{self.path}: {rows(short, 'have', exact=self.exact_counts)} fewer fields than the header, which has {width}; "
                "complete them (a missing value is an empty field) or delete blank lines."
            )
        if long:
            return (
                f"{self.path}: {rows(long, 'have', exact=self.exact_counts)} more fields than the header, which has {width}; "
                "put fields that contain the delimiter in quotes."
            )
        return None

    @property
    def _has_nul(self) -> str:
        return f"{self.path} has NUL bytes: it is no text, or it is UTF-16; then pass encoding='utf-16' (--encoding)."

    @property
    def _wrong_encoding(self) -> str:
        return f"{self.path} is not UTF-8 text; pass its encoding, for example encoding='latin-1' (--encoding)."

    @property
    def _stray_quote(self) -> str:
        return (
            f"{self.path} has a quote that is not closed or stands inside a field; "
            'put such a field in quotes and double every quote in it ("").'
        )


def open_text(path: Path, text: TextFormat, *, exact_counts: bool = False) -> TextFile:
    """The text file at ``path``; its header has been read."""
    separator = separator_of(path, text)
    try:
        unpacking = packed(path, text)
    except OSError as error:
        reason = error.strerror
    else:
        reason = None
    if reason is not None:
        raise InputError(f"Cannot read {path}: {reason}.")
    return _headed(TextFile(path, separator, text.delimiter is not None, None, exact_counts, unpacking))


def open_bytes(name: Path, data: bytes, text: TextFormat, *, exact_counts: bool = False) -> TextFile:
    """A text file that is in memory already, called ``name`` in messages; its header has been read."""
    separator = separator_of(name, text)
    return _headed(TextFile(name, separator, text.delimiter is not None, unpacked(name, data, text), exact_counts))


def _headed(file: TextFile) -> TextFile:
    if len(file.names) == 1 or file.packed is not None:
        return file
    return replace(file, data=without_blank_end(file.path, file.data))


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces without the byte order mark."""
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= len(codecs.BOM_UTF8):
            break
    if first := first.removeprefix(codecs.BOM_UTF8):
        yield first
    yield from pieces
