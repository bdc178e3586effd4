"""What the bytes of a delimited text file say before anybody parses them.

polars is a good but trusting reader: it fills a short line with nulls, and it lets a quoted field
without its closing quote swallow the lines up to the next one. Both would lose or bend people's rows
without a word. The checks here need the bytes only, a piece at a time:

- :func:`look`: is there a NUL byte, is there a quote at all, how many lines, what is the last byte (almost free);
- :func:`records`: how many lines there are outside quotes;
- :func:`stray_quotes`: quotes that neither open nor close a field nor are doubled inside one (RFC 4180);
- :func:`separators`, :func:`uneven_lines`: whether, and how many, lines hold fewer or more fields than the header;
- :func:`whole_lines`: the text in chunks that hold whole rows;
- :func:`is_utf8`: whether the bytes are UTF-8.

A quote flips between inside and outside; a doubled quote inside a field flips twice, so parity alone
tells which separators and line ends count.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 20
"""Bytes read together."""
_PART = 1 << 18
"""Bytes looked at together: large enough for numpy, small enough for the cache."""

QUOTE = ord('"')
LF = ord("\n")
CR = ord("\r")


@dataclass(frozen=True)
class Look:
    """What a first look at the bytes found; whether a quote is ``stray`` is looked at only if asked for."""

    nul: bool
    quotes: int
    lines: int
    last: str
    stray: bool = False


def look(pieces: Iterable[bytes], separator: str | None = None) -> Look:
    """Whether there are NUL bytes, how many quotes and lines, and the last byte; with a ``separator``, whether a quote is stray."""
    nul = False
    lines, last = 0, b""
    quotes = Quotes(separator)
    for piece in pieces:
        nul = nul or b"\0" in piece
        for part in _parts(piece):  # bytes.count takes its time where there are many
            quotes.take(part)
            lines += int(np.count_nonzero(part == LF))
        last = piece[-1:]
    quotes.end()
    return Look(nul, quotes.count, lines + (last not in (b"", b"\n")), last.decode("latin-1"), quotes.stray)


class Quotes:
    """Counts quotes, and finds out whether some quote is not where RFC 4180 allows it, or the last one is not closed.

    Counted from 0, every even quote opens: a separator or line end stands before it, or the quote
    it doubles. Every odd one closes: a separator or line end stands after it, or its double.
    """

    def __init__(self, separator: str | None) -> None:
        self.count = 0
        self.stray = False
        """Stays False without a separator."""
        self._looks = separator is not None
        self._before = np.zeros(256, bool)
        self._before[[ord(separator or ","), LF, QUOTE]] = True
        self._after = self._before.copy()
        self._after[CR] = True
        self._last = LF
        self._closes = False  # whether the last byte is a quote that closes

    def take(self, part: NDArray[np.uint8]) -> None:
        """The next bytes."""
        if not len(part):
            return
        if self._closes:
            self.stray |= not self._after[part[0]]
        is_quote = part == QUOTE
        found = int(np.count_nonzero(is_quote))
        self._closes = False
        if found and self._looks and not self.stray:
            where = np.flatnonzero(is_quote)
            opening, closing = (where[1::2], where[::2]) if self.count % 2 else (where[::2], where[1::2])
            if len(opening) and opening[0] == 0:
                self.stray |= not self._before[self._last]
                opening = opening[1:]
            if len(closing) and closing[-1] == len(part) - 1:
                self._closes = True
                closing = closing[:-1]
            self.stray |= not self._before[part[opening - 1]].all() or not self._after[part[closing + 1]].all()
        self.count += found
        self._last = int(part[-1])

    def end(self) -> None:
        """There are no more bytes."""
        self.stray |= self._looks and bool(self.count % 2)


def records(pieces: Iterable[bytes], separator: str) -> int:
    """How many lines there are when line ends inside quotes do not count."""
    ends, last = 0, b""

    def watched() -> Iterator[bytes]:
        nonlocal last
        for piece in pieces:
            last = piece[-1:]
            yield piece

    for _, line_ends in _outside(watched(), separator):
        ends += int(np.count_nonzero(line_ends))
    return ends + (last not in (b"", b"\n"))


def stray_quotes(pieces: Iterable[bytes], separator: str) -> bool:
    """Whether some quote is not where RFC 4180 allows it, or the last one is not closed: see :class:`Quotes`."""
    quotes = Quotes(separator)
    for piece in pieces:
        for part in _parts(piece):
            quotes.take(part)
    quotes.end()
    return quotes.stray


def separators(pieces: Iterable[bytes], separator: str) -> int:
    """How many separators stand outside quotes; no line is short when all lines together have enough.

    (That no line is longer than the header, polars checks itself.)
    """
    return sum(int(np.count_nonzero(breaks)) for breaks, _ in _outside(pieces, separator))


def uneven_lines(pieces: Iterable[bytes], separator: str, fields: int) -> tuple[int, int]:
    """How many lines, the header included, hold fewer and how many hold more than ``fields`` fields."""
    short = long = 0
    pending = 0  # separators seen since the last line end
    started = False  # whether anything was seen since the last line end
    for breaks, ends in _outside(pieces, separator):
        line_ends = np.flatnonzero(ends)
        rest = breaks
        if len(line_ends):
            counts = np.diff(np.searchsorted(np.flatnonzero(breaks), line_ends), prepend=0)
            counts[0] += pending
            short += int(np.count_nonzero(counts < fields - 1))
            long += int(np.count_nonzero(counts > fields - 1))
            rest = breaks[line_ends[-1] + 1 :]
            pending, started = 0, False
        pending += int(np.count_nonzero(rest))
        started |= len(rest) > 0
    return short + (started and pending < fields - 1), long + (started and pending > fields - 1)


def whole_lines(pieces: Iterable[bytes], skip: int, size: int) -> Iterator[bytes]:
    """The text after its first ``skip`` bytes in chunks of about ``size`` bytes that end where a row ends."""
    chunk = bytearray()
    inside = False  # whether the chunk ends inside quotes
    for piece in pieces:
        if skip >= len(piece):
            skip -= len(piece)
            continue
        rest = piece[skip:] if skip else piece
        skip = 0
        chunk += rest
        inside ^= bool(rest.count(b'"') % 2)
        if len(chunk) >= size and (end := _last_row_end(chunk, inside)):
            yield bytes(chunk[:end])
            del chunk[:end]
            inside = bool(chunk.count(b'"') % 2)
    if chunk:
        yield bytes(chunk)


def _last_row_end(chunk: bytearray, inside: bool) -> int:
    """Where the last row that is complete ends: behind a line end with an even number of quotes before it; 0 if none does."""
    end = len(chunk)
    while True:
        before = chunk.rfind(b"\n", 0, end) + 1
        inside ^= bool(chunk.count(b'"', before, end) % 2)
        if not before or not inside:
            return before
        end = before - 1


def is_utf8(pieces: Iterable[bytes]) -> bool:
    """Whether the bytes are UTF-8 text. Does not keep the decoder's error: it holds the bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in pieces:
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _parts(piece: bytes) -> Iterator[NDArray[np.uint8]]:
    """A piece in parts that stay in the cache."""
    data = np.frombuffer(piece, np.uint8)
    return (data[start : start + _PART] for start in range(0, len(data), _PART))


def _outside(pieces: Iterable[bytes], separator: str) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For each part of the text: where separators and where line ends stand outside quotes."""
    inside = False
    for data in (part for piece in pieces for part in _parts(piece)):
        breaks, ends = data == ord(separator), data == LF
        quotes = data == QUOTE
        if inside or quotes.any():
            within = np.bitwise_xor.accumulate(quotes.view(np.uint8)).view(np.bool_) ^ inside
            inside = bool(within[-1])
            breaks &= ~within
            ends &= ~within
        yield breaks, ends
